"""What one ``traj_data.json`` says, as typed values.

An episode of the benchmark is a trajectory together with one of its annotations.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import SIGHT_PIXELS, Scene, Vector
from gym_clalfred.tasks.spec import TaskSpec

#: Of an annotation's number; people annotated a trajectory a few times.
_MOST_DIGITS = 6


class Split(str, Enum):
    """Parts of the data: one to train on, two to tune with and two for published numbers.

    ALFRED publishes the first three with their demonstrations; its tests have none, so its data
    has no episodes of the last two.
    """

    TRAIN = "train"
    VALID_SEEN = "valid_seen"
    VALID_UNSEEN = "valid_unseen"
    TEST_SEEN = "test_seen"
    TEST_UNSEEN = "test_unseen"


#: The splits that ALFRED publishes with demonstrations.
ALFRED_SPLITS = (Split.TRAIN, Split.VALID_SEEN, Split.VALID_UNSEEN)


@dataclass(frozen=True)
class RunLengthMask:
    """A mask as ALFRED writes it: runs (start, length) over the row-major 300 x 300 image."""

    runs: tuple[tuple[int, int], ...]

    @classmethod
    def encode(cls, mask: NDArray[np.bool_]) -> RunLengthMask:
        """From a (300, 300) boolean array."""
        padded = np.concatenate(([False], mask.ravel(), [False]))
        edges = np.flatnonzero(padded[1:] != padded[:-1])
        starts, ends = edges[::2], edges[1::2]
        return cls(tuple(zip(starts.tolist(), (ends - starts).tolist())))

    def decode(self) -> NDArray[np.bool_]:
        """To a (300, 300) boolean array."""
        mask = np.zeros(SIGHT_PIXELS * SIGHT_PIXELS, dtype=np.bool_)
        for start, length in self.runs:
            mask[start : start + length] = True
        return mask.reshape(SIGHT_PIXELS, SIGHT_PIXELS)


@dataclass(frozen=True)
class ExpertAction:
    """One low-level action of the demonstration.

    Args:
        action: never ``Stop``; that is implied after the last one.
        step: index of the high-level step it belongs to.
        object_id: the target of an interaction; for Put the receptacle.
        held_id: for Put, the object that is put down.
        mask: pixels of the target in the front view at 300 x 300.
    """

    action: Action
    step: int
    object_id: str | None = None
    held_id: str | None = None
    mask: RunLengthMask | None = None


@dataclass(frozen=True)
class Landmark:
    """An object that the planner knew by class and position (metres)."""

    object_class: ObjectClass
    position: Vector


@dataclass(frozen=True)
class HighStep:
    """One step of the high-level plan, such as GotoLocation or PickupObject; never the final NoOp.

    Args:
        action: ALFRED's name of the step.
        args: what it is about, in lower case, such as ``("apple", "fridge")`` for a Put.
        location: ALFRED's ``loc|x|z|r|h`` of a GotoLocation: units of 0.25 m, 90 and 1 degrees.
        object_id: the planner's object; for Clean, Heat and Cool the sink, microwave or fridge.
        receptacle_id: for Put, where the object goes.
        target: class and position of the object, where the planner recorded them.
        receptacle: class and position of what holds the object or is to hold it.
    """

    action: str
    args: tuple[str, ...] = ()
    location: str | None = None
    object_id: str | None = None
    receptacle_id: str | None = None
    target: Landmark | None = None
    receptacle: Landmark | None = None


@dataclass(frozen=True)
class Annotation:
    """One person's (or the grammar's) words: the goal and one instruction per high-level step."""

    goal: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class Trajectory:
    """A task in a scene with an expert's solution and its descriptions.

    Args:
        folder: ALFRED's ``<type>-<object>-<movable|None>-<receptacle|lamp>-<scene>``.
        trial: ALFRED's ``task_id``, unique within a split.
    """

    folder: str
    trial: str
    task: TaskSpec
    scene: Scene
    plan: tuple[HighStep, ...]
    actions: tuple[ExpertAction, ...]
    annotations: tuple[Annotation, ...]

    @property
    def key(self) -> str:
        """``folder/trial``, as the split files name a trajectory."""
        return f"{self.folder}/{self.trial}"

    @property
    def room_type(self) -> RoomType:
        """Where it happens."""
        return RoomType.of(self.scene.number)


def room_of(trajectory: str) -> int:
    """The number of the room that ``folder/trial`` happens in."""
    return int(trajectory.split("/")[0].rsplit("-", 1)[1])


@dataclass(frozen=True)
class EpisodeKey:
    """Names an episode and says what a schedule needs to know about it, without reading it.

    Args:
        trajectory: ``folder/trial``.
        annotation: ALFRED's ``repeat_idx``.
        split: where it is found.
    """

    split: Split
    trajectory: str
    annotation: int

    def __str__(self) -> str:
        return f"{self.split.value}/{self.trajectory}#{self.annotation}"

    @classmethod
    def parse(cls, text: str) -> EpisodeKey:
        """The inverse of ``str``: ``<split>/<folder>/<trial>#<annotation>``."""
        path, _, number = text.rpartition("#")
        split, _, trajectory = path.partition("/")
        known = split in Split._value2member_map_
        if not known or not trajectory or not number.isdecimal() or len(number) > _MOST_DIGITS:
            raise BadInputError(
                f"expected an episode '<split>/<folder>/<trial>#<annotation>' with a split of "
                f"{[each.value for each in Split]}, got {text!r}"
            )
        return cls(Split(split), trajectory, int(number))


@dataclass(frozen=True)
class Episode:
    """A trajectory together with the annotation the agent is given."""

    key: EpisodeKey
    trajectory: Trajectory

    @property
    def annotation(self) -> Annotation:
        """The goal and instructions of this episode."""
        return self.trajectory.annotations[self.key.annotation]
