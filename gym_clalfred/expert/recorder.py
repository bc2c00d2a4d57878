"""Acts in a simulator as the environment would, and records a demonstration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gym_clalfred.actions import ROTATE_DEGREES, Action
from gym_clalfred.data.trajectory import ExpertAction, HighStep, RunLengthMask
from gym_clalfred.expert.navigation import NavigationGrid
from gym_clalfred.interaction import Pointing, choose_by_class
from gym_clalfred.language.grammar_facts import StepFacts
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import GRID_METRES, AgentPose, Failure, Scene, Simulator

#: A target that shows fewer pixels than this is no good example to imitate.
MIN_TARGET_PIXELS = 40


#: Failures of an interaction that standing elsewhere does not change.
_ANYWHERE = frozenset({Failure.NO_SPACE, Failure.NOT_RECEPTACLE})


class StepFailedError(Exception):
    """An action of the plan did not do what was expected.

    Args:
        message: what happened.
        anywhere: whether it would fail from every pose.
    """

    def __init__(self, message: str, anywhere: bool = False) -> None:
        super().__init__(message)
        self.anywhere = anywhere


class TooLongError(Exception):
    """The solution needs more actions than allowed."""


@dataclass(frozen=True)
class Mark:
    """A moment of the demonstration to which the recorder can return."""

    actions: int
    steps: int
    previous: Pointing | None


class DemonstrationRecorder:
    """A demonstration in the making.

    Interactions name a class, and the environment's rule picks the instance; an interaction counts
    only if that instance is one the plan means, so that replaying (action, class) repeats it.

    Args:
        simulator: where to act.
        scene: reset to when the recorder is made, and whenever it goes back.
        longest: actions that there may be; any number for ``None``.
    """

    def __init__(self, simulator: Simulator, scene: Scene, longest: int | None = None) -> None:
        self.simulator = simulator
        self._longest = longest
        self.actions: list[ExpertAction] = []
        self.steps: list[HighStep] = []
        self.facts: list[StepFacts] = []
        self._scene = scene
        self._previous: Pointing | None = None
        simulator.reset(scene)
        self.grid = NavigationGrid(simulator.reachable())

    def mark(self) -> Mark:
        """The current moment."""
        return Mark(len(self.actions), len(self.steps), self._previous)

    def rewind(self, mark: Mark) -> None:
        """Goes back to a moment by replaying the actions before it."""
        del self.actions[mark.actions :]
        del self.steps[mark.steps :]
        del self.facts[mark.steps :]
        self._previous = mark.previous
        self.simulator.reset(self._scene)
        for done in self.actions:
            outcome = self.simulator.step(done.action, done.object_id)
            if not outcome.success:
                raise StepFailedError(f"{done.action.name} cannot be repeated: {outcome.failure}")

    def begin(self, step: HighStep) -> None:
        """Starts a high-level step; the actions that follow belong to it."""
        self.steps.append(step)

    def explain(self, facts: StepFacts) -> None:
        """Sets the facts about the current high-level step, for the grammar."""
        self.facts.append(facts)

    def walk(self, path: Sequence[Action]) -> None:
        """Moves, turns and looks; an interaction has to follow."""
        self._check_length(len(path) + 1)
        for action in path:
            before = self.simulator.agent
            outcome = self.simulator.step(action)
            if not outcome.success:
                if outcome.failure is Failure.BLOCKED:
                    self.grid.block(before)
                raise StepFailedError(f"{action.name} from {before}: {outcome.failure}")
            self.actions.append(ExpertAction(action, len(self.steps) - 1))

    def chosen(self, object_class: ObjectClass, wanted: Collection[str]) -> str | None:
        """The instance that an interaction with a class would mean now, if it is a wanted one."""
        sight = self.simulator.sight()
        choice = choose_by_class(object_class, sight, self.simulator.objects, self._previous)
        if choice.object_id is None or choice.object_id not in wanted:
            return None
        if int(sight.mask(choice.object_id).sum()) < MIN_TARGET_PIXELS:
            return None
        return choice.object_id

    def interact(self, action: Action, object_class: ObjectClass, wanted: Collection[str]) -> str:
        """Acts on the instance that the class means, which must be a wanted one; gives its id."""
        self._check_length(1)
        simulator = self.simulator
        sight = simulator.sight()
        choice = choose_by_class(object_class, sight, simulator.objects, self._previous)
        if choice.object_id is None or choice.object_id not in wanted:
            raise StepFailedError(
                f"{action.name} {object_class.name} would mean {choice.object_id}"
            )
        mask = sight.mask(choice.object_id)
        if int(mask.sum()) < MIN_TARGET_PIXELS:
            raise StepFailedError(f"{choice.object_id} can hardly be seen")
        held = simulator.held if action is Action.PutObject else None
        outcome = simulator.step(action, choice.object_id)
        if not outcome.success:
            raise StepFailedError(
                f"{action.name} {choice.object_id}: {outcome.failure}",
                anywhere=outcome.failure in _ANYWHERE,
            )
        self.actions.append(
            ExpertAction(
                action,
                len(self.steps) - 1,
                choice.object_id,
                held,
                RunLengthMask.encode(mask),
            )
        )
        self._previous = choice.pointing
        return choice.object_id

    def _check_length(self, more: int) -> None:
        if self._longest is not None and len(self.actions) + more > self._longest:
            raise TooLongError(f"the solution has more than {self._longest} actions")


def location_of(pose: AgentPose) -> str:
    """ALFRED's ``loc|x|z|r|h`` of a pose."""
    x, z = round(pose.x / GRID_METRES), round(pose.z / GRID_METRES)
    return f"loc|{x}|{z}|{pose.yaw // ROTATE_DEGREES}|{pose.pitch}"
