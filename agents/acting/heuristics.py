"""The released agent's three rules around the network, each an option."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.objects import ObjectClass

LOOP_LENGTH = 10


@dataclass(frozen=True)
class EpisodeTrace:
    """Checksums of the front views so far and the last action."""

    fronts: tuple[int, ...] = ()
    action: Action | None = None

    @property
    def stands_still(self) -> bool:
        """Whether the last action changed nothing that is seen ahead."""
        return len(self.fronts) > 1 and self.fronts[-1] == self.fronts[-2]

    @property
    def loops(self) -> bool:
        """Whether the last ten views are also a run of ten before them."""
        last = self.fronts[-LOOP_LENGTH:]
        starts = range(len(self.fronts) - 2 * LOOP_LENGTH + 1)
        return any(
            self.fronts[start] == last[0] and self.fronts[start : start + LOOP_LENGTH] == last
            for start in starts
        )


@dataclass(frozen=True)
class ActionHeuristics:
    """Which rules are on; all are in the released agent.

    Args:
        turn_if_unseen: if no instance of the chosen class is in view, take the likelier of the two
            rotations instead of the interaction.
        vary_if_still: if the front view did not change, do not repeat the last action.
        vary_if_looping: if the last ten views came before, take another navigation action.
    """

    turn_if_unseen: bool = True
    vary_if_still: bool = True
    vary_if_looping: bool = True

    @classmethod
    def off(cls) -> ActionHeuristics:
        """The network's own choices."""
        return cls(False, False, False)

    def choose(
        self,
        scores: NDArray[np.float32],
        object_class: ObjectClass,
        front: NDArray[Any],
        front_classes: NDArray[np.uint8] | None,
        trace: EpisodeTrace,
    ) -> tuple[Action, EpisodeTrace]:
        """The action to take, and the trace that goes with the next step.

        Args:
            scores: (A,) the network's preferences.
            object_class: the class it would interact with.
            front: (H, W, 3) the front view.
            front_classes: (H, W) its classes; without them nothing counts as unseen.
            trace: of the episode so far.
        """
        seen = EpisodeTrace(
            (*trace.fronts, zlib.crc32(np.ascontiguousarray(front).data)), trace.action
        )
        allowed = scores.copy()
        if self.vary_if_still and seen.stands_still and seen.action is not None:
            allowed[seen.action] = -np.inf
        action = Action(int(allowed.argmax()))
        if self.vary_if_looping and seen.loops:
            allowed[action] = -np.inf
            action = Action(int(allowed[: Action.LookDown + 1].argmax()))
        unseen = front_classes is not None and not (front_classes == object_class).any()
        if self.turn_if_unseen and action.is_interaction and unseen:
            left, right = allowed[Action.RotateLeft], allowed[Action.RotateRight]
            action = Action.RotateLeft if left >= right else Action.RotateRight
        return action, EpisodeTrace(seen.fronts, action)
