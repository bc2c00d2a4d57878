"""Makes trajectories: samples a task and a scene, has the expert solve it, and words it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from gym_clalfred.compatibility import TARGET_COUNTS
from gym_clalfred.data.alfred_reader import folder_name
from gym_clalfred.data.requests import Request
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.errors import SimulatorError
from gym_clalfred.expert.planner import TooLongError, UnsolvableError, solve
from gym_clalfred.language.grammar import write_annotations
from gym_clalfred.objects import CLOSED_AT_START, SLICED_FORM, ObjectClass
from gym_clalfred.rooms import CLASS_FREQUENCY
from gym_clalfred.simulator.contract import AgentPose, Scene, Vector
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.generator.arrange import ArrangementError, arrange
from gym_clalfred.simulator.embedded.generator.contents import holders_of
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Room
from gym_clalfred.tasks.spec import TaskSpec, TaskType

#: Attempts per request; if all fail, something is wrong with the rooms or the simulator.
MAX_ATTEMPTS = 60

#: Of this many solutions that are too long, the shortest is taken: some rooms are large.
MAX_LONG = 12

#: How near a target the agent starts in tiers with short ways.
NEAR_METRES = 2.0

START_PITCH = 30


class TrajectoryGenerator:
    """Fulfils requests one after the other with one simulator."""

    def __init__(self) -> None:
        from gym_clalfred.simulator.contract import RenderOptions
        from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator

        # Only sight is used, whose size is fixed.
        self._simulator = EmbeddedSimulator(RenderOptions(image_size=32, instances=False))

    def make(self, request: Request) -> Trajectory:
        """The trajectory of a request: always the same for the same request and version."""
        reasons, long = [], []
        for attempt in range(MAX_ATTEMPTS):
            try:
                return self._attempt(request, attempt, request.scope.longest)
            except TooLongError:
                long.append(attempt)
                if len(long) == MAX_LONG:
                    break
            except (UnsolvableError, ArrangementError) as error:
                reasons.append(str(error))
        found = list(self._in_full(request, long))
        if found:
            return min(found, key=lambda trajectory: len(trajectory.actions))
        raise SimulatorError(
            f"no {request.task_type.paper_name} could be solved in {MAX_ATTEMPTS} attempts for "
            f"{request}: expected most to be solvable; the last reasons were {reasons[-3:]}"
        )

    def close(self) -> None:
        """Frees the simulator."""
        self._simulator.close()

    def _in_full(self, request: Request, attempts: Iterable[int]) -> Iterator[Trajectory]:
        """The complete solutions of attempts that were given up as too long."""
        for attempt in attempts:
            with contextlib.suppress(UnsolvableError):
                yield self._attempt(request, attempt, None)

    def _attempt(self, request: Request, attempt: int, longest: int | None) -> Trajectory:
        rng, room = request.rng(attempt), make_room(request.room(attempt))
        scope = request.scope
        task = sample_task(room, request.task_type, rng, sliced=scope.sliced)
        if task is None:
            raise UnsolvableError(f"room {room.number} has no task of this type")
        hidden = None if scope.hidden is None else bool(rng.random() < scope.hidden)
        scene = sample_scene(room, task, rng, hidden=hidden, near=scope.nearest)
        demonstration = solve(
            self._simulator, scene, task, rng, nearest=scope.nearest, longest=longest
        )
        return Trajectory(
            folder=folder_name(task, room.number),
            trial=request.trial,
            task=task,
            scene=scene,
            plan=demonstration.plan,
            actions=demonstration.actions,
            annotations=write_annotations(task, demonstration.facts, rng, request.annotations),
        )


def sample_scene(
    room: Room,
    task: TaskSpec,
    rng: np.random.Generator,
    *,
    hidden: bool | None = None,
    near: bool = False,
) -> Scene:
    """An arrangement in which the task is possible and not yet done, and a place to start.

    Args:
        room: where.
        task: what for.
        rng: all choices come from it.
        hidden: ``True`` if the targets start in closed containers, where the room has suitable
            ones; ``False`` if nothing that the task needs does; ``None`` if it does not matter.
        near: start within ``NEAR_METRES`` of a target if possible, instead of anywhere.

    Raises:
        ArrangementError: if the room has no space for what the task needs.
    """
    if hidden:
        hidden = bool(_closed_holders(room, task))
    demands = task.type.demands(task, hidden)
    poses = arrange(room, rng, required=demands, keep_free=_keep_free(task))
    points = sorted(room.walkable)
    if near:
        targets = [pose.position for pose in poses if pose.object_class is task.target]
        points = [point for point in points if _distance(point, targets) <= NEAR_METRES] or points
    x, z = points[int(rng.integers(len(points)))]
    yaw = 90 * int(rng.integers(4))
    return Scene(
        number=room.number,
        start=AgentPose(x, AGENT_HEIGHT, z, yaw, START_PITCH),
        object_poses=poses,
        random_seed=int(rng.integers(2**31)),
    )


def _distance(point: tuple[float, float], targets: Sequence[Vector]) -> float:
    """From a point (x, z) to the nearest of some positions."""
    return min((math.dist(point, (x, z)) for x, _, z in targets), default=math.inf)


def _closed_holders(room: Room, task: TaskSpec) -> frozenset[ObjectClass]:
    """Closed containers of a room in which the target of a task may start."""
    (demand, *_) = task.type.demands(task, hidden=True)
    holders = {fixture.object_class for fixture in room.fixtures} & holders_of(task.target)
    return frozenset(holder for holder in holders if demand.allows(holder))


def _keep_free(task: TaskSpec) -> frozenset[ObjectClass]:
    """Small receptacles that the task fills; large ones have space for more."""
    small = CLOSED_AT_START | {
        ObjectClass.CoffeeMachine,
        ObjectClass.GarbageCan,
        ObjectClass.SinkBasin,
        ObjectClass.StoveBurner,
        ObjectClass.Toilet,
        ObjectClass.ToiletPaperHanger,
    }
    treatment = task.type.treatment
    used = {task.receptacle, treatment.place if treatment is not None else None}
    return frozenset(place for place in used if place is not None and place in small)


T = TypeVar("T")

_CUT = frozenset(SLICED_FORM) - {ObjectClass.Egg}


def sample_task(
    room: Room, task_type: TaskType, rng: np.random.Generator, *, sliced: float | None = None
) -> TaskSpec | None:
    """A task that makes sense in the room, or ``None`` if there is none of that type.

    The target is drawn with ALFRED's frequency of targets, then where it goes with ALFRED's
    frequency of receptacles.

    Args:
        room: where.
        task_type: the behaviour.
        rng: all choices come from it.
        sliced: share of kitchen tasks whose target has to be cut; ``None`` for ALFRED's.
    """
    fixtures = {fixture.object_class for fixture in room.fixtures}
    items = CLASS_FREQUENCY[room.room_type]
    share = task_type.sliced_share
    if sliced is not None and share:
        share = sliced
    cut = bool(rng.random() < share) and bool(_CUT & items.keys())
    treatment = task_type.treatment
    options: dict[ObjectClass, list[tuple[TaskSpec, float]]] = {}
    for target in TARGET_COUNTS:
        if target not in items or (cut and target not in _CUT):
            continue
        if treatment is not None and target not in treatment.classes:
            continue
        found = list(task_type.choices(target, cut, fixtures, items))
        if found:
            options[target] = found
    if not options:
        return None
    # A class that few rooms of the type have is asked for in few of them.
    weights = [TARGET_COUNTS[target] * items[target] for target in options]
    tasks = options[_draw(list(options), weights, rng)]
    return _draw([task for task, _ in tasks], [weight for _, weight in tasks], rng)


def _draw(options: list[T], weights: list[float], rng: np.random.Generator) -> T:
    shares = np.array(weights, dtype=np.float64)
    return options[int(rng.choice(len(options), p=shares / shares.sum()))]
