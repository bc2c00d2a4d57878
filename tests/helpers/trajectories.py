"""Hand-made and generated trajectories for tests of the data and stream layers."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_reader import HIGH_ACTIONS, folder_name
from gym_clalfred.data.alfred_writer import complete_plan
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.index import IndexRow, episode_entries
from gym_clalfred.data.quotas import quotas_of
from gym_clalfred.data.trajectory import (
    Annotation,
    Episode,
    EpisodeKey,
    ExpertAction,
    HighStep,
    RunLengthMask,
    Split,
    Trajectory,
)
from gym_clalfred.objects import LAMPS, MOVABLE_RECEPTACLES, PICKUPABLE, SLICED_FORM, ObjectClass
from gym_clalfred.rooms import ROOM_NUMBERS, RoomType
from gym_clalfred.simulator.contract import AgentPose, ObjectPose, Scene
from gym_clalfred.simulator.embedded.room_model import Room
from gym_clalfred.simulator.object_ids import format_id
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskSpec, TaskType

MUG = "Mug|+01.25|+00.90|-00.40"
SINK = "Sink|-01.79|+00.90|-03.75|SinkBasin"
FAUCET = "Faucet|-01.79|+01.10|-03.90"
SHELF = "Shelf|+00.10|+01.40|+02.00"
MASK = RunLengthMask(((45_000, 20), (45_300, 20)))


def clean_a_mug(trial: str = "trial_T1", number: int = 7, annotations: int = 3) -> Trajectory:
    """Take a mug, clean it in the sink, put it on a shelf."""
    task = TaskSpec(TaskType.CLEAN, ObjectClass.Mug, ObjectClass.Shelf)
    plan = (
        HighStep("GotoLocation", ("countertop",), "loc|4|-2|1|30"),
        HighStep("PickupObject", ("mug",)),
        HighStep("CleanObject", ("mug",)),
        HighStep("PutObject", ("mug", "shelf")),
    )
    actions = (
        ExpertAction(Action.MoveAhead, 0),
        ExpertAction(Action.LookDown, 0),
        ExpertAction(Action.PickupObject, 1, MUG, None, MASK),
        ExpertAction(Action.PutObject, 2, SINK, MUG, MASK),
        ExpertAction(Action.ToggleObjectOn, 2, FAUCET, None, MASK),
        ExpertAction(Action.ToggleObjectOff, 2, FAUCET, None, MASK),
        ExpertAction(Action.PickupObject, 2, MUG, None, MASK),
        ExpertAction(Action.PutObject, 3, SHELF, MUG, MASK),
    )
    return completed(
        Trajectory(
            folder=folder_name(task, number),
            trial=trial,
            task=task,
            scene=Scene(
                number,
                AgentPose(0.25, 0.9, -1.0, 90, 30),
                (ObjectPose("Mug_1a2b", (1.25, 0.9, -0.4), (0.0, 45.0, 0.0)),),
                ((ObjectClass.DeskLamp, False),),
                random_seed=12345,
            ),
            plan=plan,
            actions=actions,
            annotations=tuple(
                Annotation(
                    f"Put a clean mug on the shelf, way {n}.",
                    ("Go to the counter.", "Take the mug.", "Rinse it.", "Put it on the shelf."),
                )
                for n in range(annotations)
            ),
        )
    )


def completed(trajectory: Trajectory) -> Trajectory:
    """With the ids and positions in the plan that writing would fill in."""
    return replace(trajectory, plan=complete_plan(trajectory))


class ListSource(EpisodeSource):
    """Episodes in memory: ``size`` trajectories of every task type in every room given."""

    label = "list"

    def __init__(self, size: int = 2, rooms: tuple[int, ...] = (1, 201, 301, 401)) -> None:
        rows = []
        for task_type in ALFRED_TASKS:
            for number in rooms:
                for count in range(size):
                    folder = f"{task_type.value}-Mug-None-Shelf-{number}"
                    annotations = 1 + (count + number + len(task_type.value)) % 3
                    rows.append(IndexRow(f"{folder}/trial_{count}", annotations, 50))
        self._rows = rows

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        return episode_entries(split, self._rows)

    def episode(self, key: EpisodeKey) -> Episode:
        return Episode(key, clean_a_mug())

    def room(self, number: int) -> Room:
        raise NotImplementedError


# Hypothesis strategies: whatever they make is a trajectory that ALFRED's format can hold.

_metres = st.floats(-50, 50, allow_nan=False)
_vectors = st.tuples(_metres, _metres, _metres)
_classes = st.sampled_from([kind for kind in ObjectClass if kind is not ObjectClass.NoObject])
_sentences = (
    st.text(min_size=1, max_size=30)
    .filter(lambda text: text.strip() != "")
    .filter(lambda text: not any("\ud800" <= letter <= "\udfff" for letter in text))
)
_object_ids = st.builds(format_id, _classes, st.tuples(*[st.floats(-9, 9)] * 3))


@st.composite
def masks(draw: st.DrawFn) -> RunLengthMask:
    """Runs with gaps between them."""
    edges = draw(st.lists(st.integers(0, 90_000), min_size=2, max_size=12, unique=True))
    edges = sorted(edges)[: len(edges) // 2 * 2]
    return RunLengthMask(tuple((a, b - a) for a, b in zip(edges[::2], edges[1::2])))


@st.composite
def tasks(draw: st.DrawFn) -> TaskSpec:
    """Any task that the format can say."""
    kind = draw(st.sampled_from(list(ALFRED_TASKS)))
    target = draw(st.sampled_from(sorted(PICKUPABLE)))
    examine = kind is TaskType.EXAMINE
    return TaskSpec(
        kind,
        target,
        receptacle=None if examine else draw(_classes),
        movable=(
            draw(st.sampled_from(sorted(MOVABLE_RECEPTACLES))) if kind is TaskType.MOVABLE else None
        ),
        lamp=draw(st.sampled_from(sorted(LAMPS))) if examine else None,
        sliced=target in SLICED_FORM and draw(st.booleans()),
    )


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A scene with a few objects."""
    poses = st.builds(
        ObjectPose,
        st.sampled_from(sorted(kind.name for kind in PICKUPABLE)).map(lambda name: f"{name}_0a"),
        _vectors,
        st.tuples(*[st.floats(-360, 360)] * 3),
    )
    return Scene(
        draw(st.sampled_from(ROOM_NUMBERS)),
        AgentPose(
            draw(_metres),
            draw(_metres),
            draw(_metres),
            draw(st.sampled_from((0, 90, 180, 270))),
            draw(st.sampled_from((-30, 0, 30, 60))),
        ),
        tuple(draw(st.lists(poses, max_size=3))),
        tuple(draw(st.lists(st.tuples(_classes, st.booleans()), max_size=2))),
        draw(st.booleans()),
        draw(st.integers(0, 2**32)),
    )


@st.composite
def _steps(draw: st.DrawFn) -> HighStep:
    action = draw(st.sampled_from(HIGH_ACTIONS))
    location = None
    if action == "GotoLocation":
        x, z = draw(st.integers(-99, 99)), draw(st.integers(-99, 99))
        location = f"loc|{x}|{z}|{draw(st.integers(0, 3))}|{draw(st.sampled_from((-30, 0, 45)))}"
    return HighStep(action, tuple(draw(st.lists(_sentences, max_size=2))), location)


@st.composite
def _expert_actions(draw: st.DrawFn, step: int) -> ExpertAction:
    action = draw(st.sampled_from([action for action in Action if action is not Action.Stop]))
    if action.is_navigation:
        return ExpertAction(action, step)
    held = draw(_object_ids) if action is Action.PutObject else None
    return ExpertAction(action, step, draw(_object_ids), held, draw(masks()))


@st.composite
def trajectories(draw: st.DrawFn) -> Trajectory:
    """Any trajectory, sensible or not, that is well-formed."""
    task, scene = draw(tasks()), draw(scenes())
    plan = tuple(draw(st.lists(_steps(), min_size=1, max_size=3)))
    indices = sorted(draw(st.lists(st.integers(0, len(plan) - 1), min_size=1, max_size=5)))
    texts = st.lists(_sentences, min_size=len(plan), max_size=len(plan)).map(tuple)
    annotations = st.lists(st.builds(Annotation, _sentences, texts), min_size=1, max_size=2)
    return completed(
        Trajectory(
            folder=folder_name(task, scene.number),
            trial=f"trial_T{draw(st.integers(0, 999))}",
            task=task,
            scene=scene,
            plan=plan,
            actions=tuple(draw(_expert_actions(index)) for index in indices),
            annotations=tuple(draw(annotations)),
        )
    )


def rooms_of(task_type: TaskType) -> list[RoomType]:
    """The room types in which the tiers have a task type."""
    asked = [one.room_type for part in quotas_of([task_type], "full").values() for one in part]
    return [room_type for room_type in RoomType if room_type in asked]
