"""A tiny deterministic household and an in-memory episode source, for tests of what is above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeEntry, EpisodeSource
from gym_clalfred.data.trajectory import (
    Annotation,
    Episode,
    EpisodeKey,
    ExpertAction,
    HighStep,
    Split,
    Trajectory,
)
from gym_clalfred.errors import DataError, SimulatorError
from gym_clalfred.objects import OPENABLE, PICKUPABLE, RECEPTACLES, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.backends import BACKENDS, Backend
from gym_clalfred.simulator.contract import (
    SIGHT_PIXELS,
    SUCCESS,
    AgentPose,
    Failure,
    Frame,
    ObjectState,
    Outcome,
    RenderOptions,
    Scene,
    Sight,
    Simulator,
)
from gym_clalfred.simulator.embedded.room_model import Decor, Rectangle, Room
from gym_clalfred.tasks.spec import TaskSpec, TaskType

APPLE = "Apple|+00.00|+01.00|+01.00"
SECOND_APPLE = "Apple|+00.50|+01.00|+01.00"
TABLE = "DiningTable|+00.00|+00.00|+01.00"
FRIDGE = "Fridge|+01.00|+00.00|+01.00"
LAMP = "DeskLamp|-00.50|+01.00|+01.00"

#: Side of the fake's square floor in grid points.
FLOOR_POINTS = 5


def state(object_id: str, **changes: object) -> ObjectState:
    """An object whose class is what the last part of its id says."""
    last = object_id.split("|")[-1].split("_")[0]
    name = last if last in ObjectClass.__members__ else object_id.split("|")[0]
    plain = ObjectState(
        object_id, ObjectClass[name], (0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.1, 0.1, 0.1)
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


class FakeSimulator(Simulator):
    """Five objects that are always in view, side by side, on a floor of 5 x 5 grid points.

    ``crash_at`` makes the step with that number (counted from 1) raise ``SimulatorError``.
    """

    label = "fake-1"
    crash_at: int | None = None

    def __init__(self, render: RenderOptions, rooms: object = None) -> None:
        self._render = render

    def reset(self, scene: Scene) -> None:
        self._agent = scene.start
        self._held: str | None = None
        self._version = 0
        self._steps = 0
        self._objects = {
            name: state(name, parents=parents)
            for name, parents in [
                (APPLE, (TABLE,)),
                (SECOND_APPLE, (TABLE,)),
                (TABLE, ()),
                (FRIDGE, ()),
                (LAMP, (TABLE,)),
            ]
        }

    def step(self, action: Action, target: str | None = None) -> Outcome:
        self._steps += 1
        if self._steps == self.crash_at:
            raise SimulatorError("the fake was told to crash")
        if action is Action.Stop:
            return SUCCESS
        if action.is_navigation:
            return self._navigate(action)
        if target is None:
            return Outcome(Failure.NO_TARGET)
        failure = self._interact(action, self._objects[target])
        return Outcome(failure) if failure else SUCCESS

    def _navigate(self, action: Action) -> Outcome:
        agent = self._agent
        if action is Action.MoveAhead:
            dx, dz = ((0, 1), (1, 0), (0, -1), (-1, 0))[agent.yaw // 90]
            x, z = agent.x + 0.25 * dx, agent.z + 0.25 * dz
            if not (0 <= x < 0.25 * FLOOR_POINTS and 0 <= z < 0.25 * FLOOR_POINTS):
                return Outcome(Failure.BLOCKED)
            self._agent = replace(agent, x=x, z=z)
        elif action in (Action.RotateLeft, Action.RotateRight):
            turn = 90 if action is Action.RotateRight else -90
            self._agent = replace(agent, yaw=(agent.yaw + turn) % 360)
        else:
            pitch = agent.pitch + (15 if action is Action.LookDown else -15)
            if not -30 <= pitch <= 60:
                return Outcome(Failure.LOOK_LIMIT)
            self._agent = replace(agent, pitch=pitch)
        return SUCCESS

    def _interact(self, action: Action, target: ObjectState) -> Failure | None:
        kind = target.object_class
        if action is Action.PickupObject:
            if kind not in PICKUPABLE:
                return Failure.NOT_PICKUPABLE
            if self._held:
                return Failure.HANDS_FULL
            self._held = target.id
            self._change(target.id, parents=())
        elif action is Action.PutObject:
            if self._held is None:
                return Failure.HANDS_EMPTY
            if kind not in RECEPTACLES:
                return Failure.NOT_RECEPTACLE
            self._change(self._held, parents=(target.id,))
            self._held = None
        elif action in (Action.OpenObject, Action.CloseObject):
            if kind not in OPENABLE:
                return Failure.NOT_OPENABLE
            self._change(target.id, is_open=action is Action.OpenObject)
            if action is Action.CloseObject and kind is ObjectClass.Fridge:
                for name, content in list(self._objects.items()):
                    if target.id in content.parents:
                        self._change(name, cooled=True)
        elif action in (Action.ToggleObjectOn, Action.ToggleObjectOff):
            if kind not in TOGGLEABLE:
                return Failure.NOT_TOGGLEABLE
            self._change(target.id, is_on=action is Action.ToggleObjectOn)
        else:
            return Failure.NO_KNIFE
        return None

    def _change(self, name: str, **changes: object) -> None:
        self._objects[name] = replace(self._objects[name], **changes)  # type: ignore[arg-type]
        self._version += 1

    def _columns(self, size: int) -> NDArray[np.int16]:
        columns = np.arange(size) * len(self._objects) // size + 1
        return np.broadcast_to(columns.astype(np.int16), (size, size)).copy()

    def frame(self) -> Frame:
        size = self._render.image_size
        instances = np.broadcast_to(self._columns(size), (5, size, size)).copy()
        palette = np.array([0, *(s.object_class for s in self._objects.values())], dtype=np.uint8)
        grey = (self._agent.yaw // 2 + self._agent.pitch) % 256
        rgb = np.full((5, size, size, 3), grey, dtype=np.uint8)
        rgb[..., 0] = self._version
        ids = self._render.instances
        return Frame(
            rgb,
            instances if ids else None,
            palette[instances] if ids else None,
            np.ones((5, size, size), dtype=np.float32) if self._render.depth else None,
            tuple(self._objects),
        )

    def sight(self, about: ObjectClass | None = None) -> Sight:
        instances = self._columns(SIGHT_PIXELS)
        names = tuple(self._objects)
        if self._held:
            instances[instances == names.index(self._held) + 1] = 0
        return Sight(instances, names, frozenset(names) - {self._held or ""})

    @property
    def objects(self) -> Mapping[str, ObjectState]:
        return self._objects

    @property
    def version(self) -> int:
        return self._version

    @property
    def agent(self) -> AgentPose:
        return self._agent

    @property
    def held(self) -> str | None:
        return self._held

    def reachable(self) -> NDArray[np.float64]:
        line = np.arange(FLOOR_POINTS) * 0.25
        return np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def teleport(self, pose: AgentPose) -> Outcome:
        self._agent = pose
        return SUCCESS

    def close(self) -> None:
        pass


TASKS = {
    TaskType.PICK_AND_PLACE: TaskSpec(
        TaskType.PICK_AND_PLACE, ObjectClass.Apple, ObjectClass.Fridge
    ),
    TaskType.PICK_TWO_AND_PLACE: TaskSpec(
        TaskType.PICK_TWO_AND_PLACE, ObjectClass.Apple, ObjectClass.Fridge
    ),
    TaskType.EXAMINE: TaskSpec(TaskType.EXAMINE, ObjectClass.Apple, lamp=ObjectClass.DeskLamp),
}

PLAN = (
    HighStep("GotoLocation", ("diningtable",), "loc|0|4|0|30"),
    HighStep("PickupObject", ("apple",)),
    HighStep("GotoLocation", ("fridge",), "loc|4|4|1|15"),
    HighStep("PutObject", ("apple", "fridge")),
    HighStep("NoOp"),
)
EXPERT = (
    *(ExpertAction(Action.MoveAhead, 0) for _ in range(4)),
    ExpertAction(Action.PickupObject, 1, APPLE),
    ExpertAction(Action.RotateRight, 2),
    *(ExpertAction(Action.MoveAhead, 2) for _ in range(4)),
    ExpertAction(Action.LookUp, 2),
    ExpertAction(Action.PutObject, 3, FRIDGE, held_id=APPLE),
)


def trajectory(task: TaskSpec = TASKS[TaskType.PICK_AND_PLACE], room: int = 1) -> Trajectory:
    """A trajectory in the fake household; the expert solves Pick&Place."""
    place = task.receptacle or task.lamp
    assert place is not None
    return Trajectory(
        folder=f"{task.type.value}-{task.target.name}-None-{place.name}-{room}",
        trial="trial_T1",
        task=task,
        scene=Scene(room, AgentPose(0.0, 0.9, 0.0, 0, 30)),
        plan=PLAN,
        actions=EXPERT,
        annotations=(
            Annotation("Put an apple in the fridge.", ("Go to the table.", "Take the apple.")),
            Annotation("Store the caf\u00e9\u2019s apple.", ("Walk ahead.", "Grab it.")),
        ),
    )


class FakeSource(EpisodeSource):
    """Every task of ``TASKS`` in a few rooms, two annotations each, the same in every split."""

    label = "fake-source"

    def __init__(self, rooms: tuple[int, ...] = (1, 2, 301)) -> None:
        self._trajectories = {
            made.key: made for task in TASKS.values() for made in _in_rooms(task, rooms)
        }

    def entries(self, split: Split) -> tuple[EpisodeEntry, ...]:
        return tuple(
            EpisodeEntry(
                EpisodeKey(split, made.key, number), made.task.type, made.room_type, len(EXPERT)
            )
            for made in self._trajectories.values()
            for number in range(len(made.annotations))
        )

    def episode(self, key: EpisodeKey) -> Episode:
        if key.trajectory not in self._trajectories:
            raise DataError(f"no episode {key}")
        return Episode(key, self._trajectories[key.trajectory])

    def room(self, number: int) -> Room:
        grey = (128, 128, 128)
        points = frozenset((0.25 * x, 0.25 * z) for x in range(5) for z in range(5))
        floor = (Rectangle(0, 0, 1.25, 1.25),)
        decor = Decor(grey, "PLAIN", grey, "PLAIN", grey)
        return Room(number, floor, (), 2.5, (), points, (), decor)


def _in_rooms(task: TaskSpec, rooms: tuple[int, ...]) -> list[Trajectory]:
    return [trajectory(task, room) for room in rooms]


# Also in processes that only unpickle a ``FakeSource``.
BACKENDS.setdefault("fake", Backend("tests.helpers.fakes:FakeSimulator"))
