"""What the expert can do: each skill walks to a good pose and carries out a high-level step there.

A skill is carried out in the simulator as it is planned. When something does not work from one
pose, the recorder goes back to the beginning of the skill and the next pose is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import HighStep
from gym_clalfred.expert.describe import describe_object, describe_place, walk_legs, walk_tilt
from gym_clalfred.expert.navigation import Routes
from gym_clalfred.expert.poses import ViewTarget, candidate_poses
from gym_clalfred.expert.recorder import DemonstrationRecorder, StepFailedError, location_of
from gym_clalfred.language.grammar_facts import Mention, StepFacts
from gym_clalfred.objects import CLOSED_AT_START, LAMPS, SLICED_FORM, ObjectClass, having
from gym_clalfred.simulator.contract import AgentPose, ObjectState, Scene, Simulator
from gym_clalfred.simulator.geometry import Box
from gym_clalfred.simulator.treatments import CLEAN, Treatment

#: How many poses are looked at, and how many of the good ones are tried, before a step is given up.
_POSES_SEEN = 60
_POSES_TRIED = 6

#: Receptacles to look at from above rather than at their middle.
_TOP = having("top")

T = TypeVar("T")
R = TypeVar("R")


class UnsolvableError(Exception):
    """The expert found no way to do a step; the message says which and why."""


@dataclass(frozen=True)
class Access:
    """How objects can be acted on from where the agent is.

    Args:
        names: the objects meant, all of one class.
        container: the closed container to open before and close afterwards.
    """

    names: tuple[str, ...]
    container: str | None = None


class Skills:
    """The high-level steps of ALFRED's plans, done in a simulator and recorded."""

    def __init__(self, simulator: Simulator, scene: Scene, longest: int | None = None) -> None:
        self.recorder = DemonstrationRecorder(simulator, scene, longest)
        self._sim = simulator
        self._visited: set[str] = set()
        self._picked: set[ObjectClass] = set()

    def all_of(self, object_class: ObjectClass, outside: Collection[str] = ()) -> list[str]:
        """Ids of what exists of a class and is not in or on certain receptacles."""
        return [
            state.id
            for state in self._sim.objects.values()
            if state.object_class is object_class
            and not _is_remains(state)
            and set(outside).isdisjoint(state.parents)
        ]

    def nearest_first(self, names: list[str]) -> list[str]:
        """The objects by their distance from the agent."""
        pose, objects = self._sim.agent, self._sim.objects
        return sorted(
            names, key=lambda name: (Box.of(objects[name]).distance(pose.x, pose.z), name)
        )

    def pick_up(self, names: Sequence[str]) -> str:
        """Picks up the one of several objects that is easiest to get; gives its id."""

        def act(access: Access) -> str:
            return self._take(access)

        return self._at_a_pose(
            names, lambda: self._access(names), act, self._where, f"pick up {_join(names)}"
        )

    def cut(self, names: Sequence[str]) -> None:
        """Slices one of several objects with the held knife."""

        def act(access: Access) -> None:
            self._slice(access)

        self._at_a_pose(names, lambda: self._access(names), act, self._where, f"cut {_join(names)}")

    def put(self, places: Sequence[str]) -> str:
        """Puts the held object in or on one of several receptacles; gives its id."""

        def act(access: Access) -> str:
            self._put(access)
            return access.names[0]

        return self._at_a_pose(
            places,
            lambda: self._receptacle(places),
            act,
            lambda access: access.names[0],
            f"put something in {_join(places)}",
        )

    def load(self, movables: Sequence[str]) -> None:
        """Puts the held object in a movable receptacle and picks that up, from one pose."""

        def act(access: Access) -> None:
            self._put(access)
            again = self._access(access.names)
            if again is None:
                raise StepFailedError(f"{access.names[0]} cannot be picked up from here")
            self._take(again)

        self._at_a_pose(
            movables,
            lambda: self._receptacle(movables),
            act,
            self._where,
            f"fill {_join(movables)}",
        )

    def treat(self, treatment: Treatment) -> None:
        """Cleans, heats or cools the held object."""
        places, devices = self.all_of(treatment.place), self.all_of(treatment.device)
        chosen = self.recorder.chosen

        def find() -> str | None:
            apart = treatment.device is not treatment.place
            if apart and chosen(treatment.device, devices) is None:
                return None
            return chosen(treatment.place, places)

        def act(place: str) -> None:
            self._treat(treatment, place)

        purpose = f"{treatment.step} in {_join(places)}"
        self._at_a_pose(places, find, act, lambda place: place, purpose)

    def switch_on(self, names: Sequence[str]) -> None:
        """Switches on one of several lamps."""
        chosen = self.recorder.chosen
        kind = self._kind(names[0])

        def act(name: str) -> None:
            self.recorder.begin(HighStep("ToggleObject", (_argument(kind),)))
            self.recorder.interact(Action.ToggleObjectOn, kind, [name])
            self.recorder.explain(StepFacts("ToggleObject", Mention(kind), held=self._held_kind()))

        self._at_a_pose(
            names,
            lambda: chosen(kind, names),
            act,
            lambda name: name,
            f"switch on {_join(names)}",
        )

    def _at_a_pose(
        self,
        names: Sequence[str],
        find: Callable[[], T | None],
        act: Callable[[T], R],
        place_of: Callable[[T], str],
        purpose: str,
    ) -> R:
        """Walks to the best pose where ``find`` finds what to act on and ``act`` succeeds."""
        sim, recorder = self._sim, self.recorder
        start, mark = sim.agent, recorder.mark()
        picked, visited = set(self._picked), set(self._visited)
        targets = [target for name in names for target in self._view_targets(name)]
        routes = recorder.grid.routes(start)
        tried = 0
        reason = "no pose shows it"
        for pose in candidate_poses(routes, targets)[:_POSES_SEEN]:
            if not sim.teleport(pose).success:
                continue
            found = find()
            if found is None:
                continue
            place = place_of(found)
            sim.teleport(start)
            try:
                self._go(recorder.grid.routes(start) if tried else routes, pose, place)
                return act(found)
            except StepFailedError as error:
                reason = str(error)
                recorder.rewind(mark)
                self._picked, self._visited = set(picked), set(visited)
                if error.anywhere and len(names) == 1:
                    break
            tried += 1
            if tried == _POSES_TRIED:
                break
        sim.teleport(start)
        raise UnsolvableError(f"cannot {purpose}: {reason}")

    def _go(self, routes: Routes, pose: AgentPose, place: str) -> None:
        path = routes.path(pose)
        if path is None:
            raise StepFailedError("the way is blocked")
        if not path:
            return
        start, recorder = self._sim.agent, self.recorder
        box = Box.of(self._sim.objects[place])
        recorder.begin(HighStep("GotoLocation", (_argument(self._kind(place)),), location_of(pose)))
        recorder.walk(path)
        recorder.explain(
            StepFacts(
                "GotoLocation",
                place=self._describe(place),
                held=self._held_kind(),
                repeated=place in self._visited,
                legs=walk_legs(path),
                distance=math.hypot(pose.x - start.x, pose.z - start.z),
                nearer=box.distance(start.x, start.z) - box.distance(pose.x, pose.z),
                tilt=walk_tilt(path),
            )
        )
        self._visited.add(place)

    def _access(self, names: Sequence[str]) -> Access | None:
        """How one of the objects can be acted on from here.

        The class rule must lead to one of them, or to the closed container that has one inside.
        """
        containers = {name: self._closed_container(name) for name in names}
        in_open = [name for name in names if containers[name] is None]
        for kind in dict.fromkeys(map(self._kind, in_open)):
            found = self.recorder.chosen(kind, in_open)
            if found is not None:
                return Access((found,))
        for container in dict.fromkeys(filter(None, containers.values())):
            if self.recorder.chosen(self._kind(container), [container]) is not None:
                inside = [name for name in names if containers[name] == container]
                kind = self._kind(inside[0])
                return Access(tuple(name for name in inside if self._kind(name) is kind), container)
        return None

    def _receptacle(self, places: Sequence[str]) -> Access | None:
        """How one of the receptacles can be filled from here; it may itself have to be opened."""
        access = self._access(places)
        if access is None or access.container is not None:
            return access
        state = self._sim.objects[access.names[0]]
        closed = state.object_class in CLOSED_AT_START and not state.is_open
        return Access(access.names, state.id if closed else None)

    def _take(self, access: Access) -> str:
        sim, recorder = self._sim, self.recorder
        kind = self._kind(access.names[0])
        recorder.begin(HighStep("PickupObject", (_argument(kind),)))
        self._open(access.container)
        if kind is ObjectClass.Laptop:
            lids = [name for name in access.names if sim.objects[name].is_open]
            if recorder.chosen(kind, lids) is not None:
                recorder.interact(Action.CloseObject, kind, lids)
        name = self._must_choose(kind, access.names)
        holder = self._holder(name)
        facts = StepFacts(
            "PickupObject",
            target=describe_object(sim.objects, name, sim.agent, sim.sight()),
            place=self._describe(holder, name) if holder is not None else None,
            within=self._within(access, holder),
            filling=self._filling(name),
            opened=access.container is not None and holder == access.container,
            repeated=kind in self._picked,
        )
        recorder.interact(Action.PickupObject, kind, [name])
        self._close(access.container)
        recorder.explain(facts)
        self._picked.add(kind)
        return name

    def _put(self, access: Access) -> None:
        sim, recorder = self._sim, self.recorder
        held, place = sim.held, access.names[0]
        assert held is not None
        kind = self._kind(place)
        recorder.begin(HighStep("PutObject", (_argument(self._kind(held)), _argument(kind))))
        self._open(access.container)
        recorder.interact(Action.PutObject, kind, access.names)
        if place not in sim.objects[held].parents:
            raise StepFailedError(f"{held} did not end in {place}")
        facts = StepFacts(
            "PutObject",
            target=describe_object(sim.objects, held, sim.agent, sim.sight()),
            place=self._describe(place, held),
            within=self._within(access, place),
            filling=self._filling(held),
            opened=access.container == place,
        )
        self._close(access.container)
        recorder.explain(facts)

    def _slice(self, access: Access) -> None:
        sim, recorder = self._sim, self.recorder
        kind = self._kind(access.names[0])
        recorder.begin(HighStep("SliceObject", (_argument(kind),)))
        self._open(access.container)
        name = self._must_choose(kind, access.names)
        holder = self._holder(name)
        facts = StepFacts(
            "SliceObject",
            target=describe_object(sim.objects, name, sim.agent, sim.sight()),
            place=self._describe(holder, name) if holder is not None else None,
            within=self._within(access, holder),
            held=self._held_kind(),
            opened=access.container is not None and holder == access.container,
        )
        recorder.interact(Action.SliceObject, kind, [name])
        self._close(access.container)
        recorder.explain(facts)

    def _treat(self, treatment: Treatment, place: str) -> None:
        sim, recorder = self._sim, self.recorder
        target = sim.held
        assert target is not None
        kind, what = self._kind(place), self._kind(target)
        step, switched = treatment.step, treatment.action is Action.ToggleObjectOn
        recorder.begin(HighStep(step, (_argument(what),)))
        facts = StepFacts(step, target=Mention(what), place=self._describe(place), held=what)
        if treatment is CLEAN:
            recorder.interact(Action.PutObject, kind, [place])
            faucets = self.all_of(treatment.device)
            used = recorder.interact(Action.ToggleObjectOn, treatment.device, faucets)
            recorder.interact(Action.ToggleObjectOff, treatment.device, [used])
            recorder.interact(Action.PickupObject, what, [target])
        else:
            self._open(place)
            recorder.interact(Action.PutObject, kind, [place])
            self._close(place)
            if switched:
                recorder.interact(Action.ToggleObjectOn, kind, [place])
                recorder.interact(Action.ToggleObjectOff, kind, [place])
            self._open(place)
            recorder.interact(Action.PickupObject, what, [target])
            self._close(place)
        if not treatment.is_done(sim.objects[target]):
            raise StepFailedError(f"{step} left {target} as it was")
        recorder.explain(facts)

    def _open(self, container: str | None) -> None:
        if container is not None:
            self.recorder.interact(Action.OpenObject, self._kind(container), [container])

    def _close(self, container: str | None) -> None:
        if container is not None:
            self.recorder.interact(Action.CloseObject, self._kind(container), [container])

    def _must_choose(self, kind: ObjectClass, names: Sequence[str]) -> str:
        name = self.recorder.chosen(kind, names)
        if name is None:
            raise StepFailedError(f"none of {_join(names)} can be reached from here")
        return name

    def _closed_container(self, name: str) -> str | None:
        """The outermost closed container that an object is in."""
        objects = self._sim.objects
        closed = [
            parent
            for parent in objects[name].parents
            if objects[parent].object_class in CLOSED_AT_START and not objects[parent].is_open
        ]
        return closed[-1] if closed else None

    def _where(self, access: Access) -> str:
        """What an object stands in or on, as people would say where to go for it."""
        return access.container or self._holder(access.names[0]) or access.names[0]

    def _within(self, access: Access, place: str | None) -> Mention | None:
        """The container that is opened to get at a place, if it is not the place itself."""
        if access.container is None or access.container == place:
            return None
        return self._describe(access.container)

    def _holder(self, name: str) -> str | None:
        parents = self._sim.objects[name].parents
        return parents[0] if parents else None

    def _kind(self, name: str) -> ObjectClass:
        return self._sim.objects[name].object_class

    def _held_kind(self) -> ObjectClass | None:
        held = self._sim.held
        return None if held is None else self._kind(held)

    def _filling(self, name: str) -> ObjectClass | None:
        contents = self._sim.objects[name].contents
        return self._kind(contents[0]) if contents else None

    def _view_targets(self, name: str) -> tuple[ViewTarget, ...]:
        """Where to look for an object; in a closed container, where it will be seen once open."""
        container = self._closed_container(name)
        if container is None:
            return (self._aim(name),)
        hidden, shut = self._aim(name), self._aim(container)
        return (replace(hidden, away=shut.away), shut)

    def _aim(self, name: str) -> ViewTarget:
        state = self._sim.objects[name]
        height = 1.0 if state.object_class in _TOP else 0.5
        # Before a door or drawer that opens towards the agent it steps back a little.
        away = 0.9 if state.object_class in CLOSED_AT_START | LAMPS else 0.65
        return ViewTarget(Box.of(state), height, away)

    def _describe(self, place: str, around: str | None = None) -> Mention:
        """A place with its landmarks near where the agent looks or where an object is."""
        objects, pose = self._sim.objects, self._sim.agent
        if around is None:
            point = self._aim(place).point(pose.x, pose.z)
        else:
            point = Box.of(objects[around]).centre
        return describe_place(objects, place, pose, (point[0], point[2]))


def _is_remains(state: ObjectState) -> bool:
    """Whether only slices are left of an object."""
    return state.is_sliced and state.object_class in SLICED_FORM


def _argument(object_class: ObjectClass) -> str:
    """ALFRED's spelling of a class in a step's arguments: the whole's name in lower case."""
    return object_class.name.replace("Sliced", "").replace("Cracked", "").lower()


def _join(names: Sequence[str]) -> str:
    return " or ".join(names[:3]) + (" or another one" if len(names) > 3 else "")
