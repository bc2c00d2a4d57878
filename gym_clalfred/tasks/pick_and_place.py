"""Pick & Place: with one object, with two, and by way of a movable receptacle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from gym_clalfred.actions import Action
from gym_clalfred.compatibility import ACCEPTS, MOVABLE_COUNTS, RECEPTACLE_COUNTS
from gym_clalfred.objects import SLICED_FORM, ObjectClass
from gym_clalfred.tasks.goals import Condition, GoalState, name_of
from gym_clalfred.tasks.spec import Needed, Purpose, TaskSpec, TaskType

if TYPE_CHECKING:
    from gym_clalfred.expert.planner import Expert

_THROW_AWAY = (
    "throw {a} away {in}",
    "throw out {a} {in}",
    "{put} {a} {in} to throw it away",
)


class PickAndPlace(TaskType):
    """The target is in or on the receptacle."""

    value = "pick_and_place_simple"
    paper_name = "Pick&Place"
    sliced_share = 0.19
    goals: ClassVar[tuple[str, ...]] = (
        "{put} {a} {in}",
        "{put} {the} {in}",
        "move {a} to {place}",
        "{carry} {a} to {place}",
        "{pick_up} {a} and {put} it {in}",
        "find {a} and {put} it {in}",
        "leave {a} {at}",
        "transfer {the} to {place}",
        "get {a} and {put} it {in}",
        "move {the} {in}",
    )
    goals_at: ClassVar[Mapping[ObjectClass, tuple[str, ...]]] = {
        ObjectClass.GarbageCan: _THROW_AWAY
    }
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "1 1 1 1", "valid": "0 0 1 0", "test": "0 0 1 0"},
        "small": {"train": "48 120 144 168", "valid": "3 4 4 5", "test": "8 8 8 8"},
        "full": {
            "train": "141/457 248/776 295/914 350/1098",
            "seen": "5/15 11/33 8/24 22/70",
            "unseen": "9/30 6/20 7/21 9/29",
        },
    }

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether the target is where it belongs."""
        description = f"{task.goal_class.name} in or on {name_of(task.receptacle)}"
        return [Condition(description, bool(world.in_goal(world.targets)))]

    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Fetches a target, prepares it and puts it down."""
        goals = expert.all_of(task.receptacle)
        expert.fetch(task, outside=goals)
        self.prepare(task, expert, goals)
        expert.put(goals)

    def prepare(self, task: TaskSpec, expert: Expert, goals: list[str]) -> None:
        """Override: what the expert does with the held target before putting it down."""

    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """Every receptacle in which ALFRED puts the target, weighted by how often it does."""
        form = SLICED_FORM[target] if sliced else target
        for receptacle, count in self.receptacles(fixtures):
            if form in ACCEPTS[receptacle]:
                yield TaskSpec(self, target, receptacle, sliced=sliced), count

    def receptacles(self, fixtures: Collection[ObjectClass]) -> Iterator[tuple[ObjectClass, float]]:
        """The possible goal receptacles of a room, weighted by ALFRED's frequencies."""
        for receptacle, count in RECEPTACLE_COUNTS.items():
            if receptacle in fixtures and receptacle not in self.never_in:
                yield receptacle, count

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """Takes the target and puts it in or on the receptacle."""
        return (
            Needed.of(Purpose.FIND, Action.PickupObject, task.goal_class),
            Needed.of(Purpose.BRING, Action.PutObject, task.receptacle),
        )


class PickTwoAndPlace(PickAndPlace):
    """Two targets are in or on the same receptacle."""

    value = "pick_two_obj_and_place"
    paper_name = "Pick2&Place"
    copies = 2
    never_in = frozenset(
        {ObjectClass.CoffeeMachine, ObjectClass.HandTowelHolder, ObjectClass.ToiletPaperHanger}
    )
    sliced_share = 0.12
    goals = (
        "{put} {two} {in}",
        "move {two} to {place}",
        "{carry} {two} to {place}",
        "{put} {a} {in} and then {put} another one there",
        "{pick_up} {two} and {put} them {in}",
        "find {two} and {put} them {in}",
        "{put} both {many} {in}",
        "leave {two} {at}",
        "transfer {two} to {place}",
        "get {two} {in}",
    )
    goals_at: ClassVar[Mapping[ObjectClass, tuple[str, ...]]] = {}
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "1 1 1 1", "valid": "0 0 0 1", "test": "0 0 0 1"},
        "small": {"train": "48 120 144 168", "valid": "3 4 4 5", "test": "8 8 8 8"},
        "full": {
            "train": "184/601 264/838 281/923 379/1192",
            "seen": "6/26 9/36 6/21 12/41",
            "unseen": "9/30 4/14 4/13 8/24",
        },
    }

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether one target is there, and whether two are."""
        held = (
            sum(holder.id in state.parents for state in world.targets)
            for holder in world.receptacles()
        )
        best, name, place = max(held, default=0), task.goal_class.name, name_of(task.receptacle)
        return [
            Condition(f"one {name} in or on {place}", best >= 1),
            Condition(f"two {name} in or on the same {place}", best >= 2),
        ]

    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Puts two targets in the same place."""
        goals = expert.all_of(task.receptacle)
        expert.fetch(task, outside=goals)
        place = expert.put(goals)
        expert.fetch(task, outside=[place])
        expert.put_in(place)

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """The interactions of one target, twice."""
        return super().interactions(task) * 2


class Movable(PickAndPlace):
    """The target is in or on the movable receptacle, which is in or on the goal receptacle."""

    value = "pick_and_place_with_movable_recep"
    paper_name = "Movable"
    params = ("receptacle", "movable")
    sliced_share = 0.25
    goals = (
        "{put} {movable} with {a} {in_it} {in}",
        "{put} {a} {in_movable} and {put} both {in}",
        "move {movable} that has {a} {in_it} to {place}",
        "{put} {movable} holding {a} {in}",
        "{carry} {movable} with {a} {in_it} to {place}",
        "{put} {a} {in_movable}, then {put} {the_movable} {in}",
        "{pick_up} {a}, {put} it {in_movable} and move {the_movable} to {place}",
        "{put} {movable} containing {a} {in}",
        "leave {movable} with {a} {in_it} {at}",
        "get {a} {in_movable} and {carry} {the_movable} to {place}",
    )
    goals_at: ClassVar[Mapping[ObjectClass, tuple[str, ...]]] = {}
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "2 1 1 0", "valid": "1 0 0 0", "test": "1 0 0 0"},
        "small": {"train": "288 120 72 0", "valid": "8 4 4 0", "test": "16 8 8 0"},
        "full": {
            "train": "645/2120 201/664 142/460 0",
            "seen": "25/88 4/12 5/15 0",
            "unseen": "26/84 5/15 3/10 0",
        },
    }

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether the target and the movable receptacle are in place, each and together."""
        carriers = world.carriers()
        used = {holder for state in world.targets for holder in state.parents}
        placed = world.in_goal(carriers)
        name = task.goal_class.name
        movable, place = name_of(task.movable), name_of(task.receptacle)
        return [
            Condition(f"{name} in {movable}", any(state.id in used for state in carriers)),
            Condition(f"{movable} in or on {place}", bool(placed)),
            Condition(f"{movable} with {name} in or on {place}", any(s.id in used for s in placed)),
        ]

    def prepare(self, task: TaskSpec, expert: Expert, goals: list[str]) -> None:
        """Puts the target in the movable receptacle and picks that up."""
        expert.load(expert.all_of(task.movable, outside=goals))

    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """Every movable receptacle for the target, with every receptacle for that one."""
        form = SLICED_FORM[target] if sliced else target
        movables = [
            movable
            for movable in MOVABLE_COUNTS
            if movable in items and movable is not target and form in ACCEPTS[movable]
        ]
        for receptacle, count in self.receptacles(fixtures):
            for movable in movables:
                if movable in ACCEPTS[receptacle]:
                    task = TaskSpec(self, target, receptacle, movable, sliced=sliced)
                    yield task, count * MOVABLE_COUNTS[movable]

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """Fills the movable receptacle, then brings it."""
        take, put = super().interactions(task)
        fill = Needed.of(Purpose.BRING, Action.PutObject, task.movable)
        lift = Needed.of(Purpose.BRING, Action.PickupObject, task.movable)
        return take, fill, lift, put
