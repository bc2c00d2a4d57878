"""A task type of your own: two different things into one place, such as a fork and a cup.

It is one class in one file: when it is done, how the expert does it, what it asks of a room, how
people put it, how much of it there is and what went wrong where it failed. The rest follows: it is
generated, streamed beside ALFRED's types, learned, evaluated and listed in tables.

An installed package registers it by an entry point, and every command knows it:

    [project.entry-points."clalfred.tasks"]
    pick-pair = "my_package.tasks:PICK_PAIR"
"""

import argparse
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from gym_clalfred.actions import Action
from gym_clalfred.compatibility import ACCEPTS, TARGET_COUNTS
from gym_clalfred.data.quotas import Scope, Tier, quotas_of
from gym_clalfred.data.tiers import make_tier
from gym_clalfred.expert.planner import Expert
from gym_clalfred.language.grammar import Voice
from gym_clalfred.objects import ObjectClass
from gym_clalfred.tasks.goals import Condition, GoalState, name_of
from gym_clalfred.tasks.pick_and_place import PickAndPlace
from gym_clalfred.tasks.spec import Needed, Purpose, TaskSpec, TaskType, register_task


class PickPair(PickAndPlace):
    """A target and another thing are in or on the same receptacle."""

    value = "pick_pair_and_place"
    paper_name = "PickPair"
    params = ("receptacle", "others")
    never_in = frozenset({ObjectClass.CoffeeMachine})
    sliced_share = 0.0
    goals = (
        "{put} {a} and {other} {in}",
        "{put} {other} and {a} {in}",
        "move {a} and {other} to {place}",
        "{carry} both {a} and {other} to {place}",
        "{put} {a} {in}, then {put} {other} there",
        "find {a} and {other} and {put} them {in}",
        "{pick_up} {a} and {put} it {in}, then get {other} and {put} it there",
        "leave {a} and {other} {at}",
    )
    goals_at: ClassVar[Mapping[ObjectClass, tuple[str, ...]]] = {}
    counts: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "tiny": {"train": "2 0 2 0", "valid": "1 0 1 0", "test": "1 0 1 0"},
        "small": {"train": "240 0 240 0", "valid": "8 0 8 0", "test": "16 0 16 0"},
    }

    def conditions(self, task: TaskSpec, world: GoalState) -> list[Condition]:
        """Whether each is there, and whether both are in or on the same receptacle."""
        place, others = name_of(task.receptacle), world.movable(task.others[0])
        things = {task.goal_class.name: world.targets, task.others[0].name: others}
        together = any(
            all(any(holder.id in state.parents for state in found) for found in things.values())
            for holder in world.receptacles()
        )
        return [
            *(
                Condition(f"{name} in or on {place}", bool(world.in_goal(found)))
                for name, found in things.items()
            ),
            Condition(f"{' and '.join(things)} in or on the same {place}", together),
        ]

    def plan(self, task: TaskSpec, expert: Expert) -> None:
        """Puts the other thing where the first one is."""
        goals = expert.all_of(task.receptacle)
        expert.fetch(task, outside=goals)
        place = expert.put(goals)
        expert.pick_up(expert.all_of(*task.others, outside=[place]))
        expert.put_in(place)

    def choices(
        self,
        target: ObjectClass,
        sliced: bool,
        fixtures: Collection[ObjectClass],
        items: Collection[ObjectClass],
    ) -> Iterator[tuple[TaskSpec, float]]:
        """Any other thing of the room that goes where the target goes."""
        for receptacle, count in self.receptacles(fixtures):
            accepted = ACCEPTS[receptacle].intersection(items, TARGET_COUNTS) - {target}
            for other in sorted(accepted) if target in ACCEPTS[receptacle] else ():
                yield TaskSpec(self, target, receptacle, others=(other,)), count

    def interactions(self, task: TaskSpec) -> tuple[Needed, ...]:
        """Takes and brings the one, then the other."""
        take, put = super().interactions(task)
        return take, put, Needed.of(Purpose.FIND, Action.PickupObject, task.others[0]), put

    def slots(self, task: TaskSpec, voice: Voice) -> dict[str, str]:
        """The other thing, with its article."""
        return {"other": voice.a(task.others[0])}


PICK_PAIR = register_task(PickPair())


def main() -> None:
    """Generates episodes of it, trains an agent on a stream with it and says why it failed."""
    from clalfred.cl.experiment import RunConfig, train
    from clalfred.cl.experiment.agent_file import load_agent
    from clalfred.cl.experiment.evaluate_agent import evaluate_agent, select
    from clalfred.cl.failures import failure_table, format_failures
    from clalfred.cl.report.text import evaluation_table, scores_table
    from gym_clalfred.data import Split, open_source

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="runs/examples/own-task", type=Path)
    parser.add_argument("--max-steps", type=int, default=50)
    parser.add_argument("--agent", default="semantic-map")
    arguments: Any = parser.parse_args()

    scope = Scope(sliced=0.0, hidden=0.0, nearest=True)
    tasks = (TaskType.PICK_AND_PLACE, PICK_PAIR)
    make_tier(Tier("pairs", quotas_of(tasks, "tiny"), scope=scope), arguments.out / "data", 1)
    source = open_source(data=arguments.out / "data")
    for entry in source.entries(Split.TRAIN):
        if entry.task_type is PICK_PAIR:
            episode = source.episode(entry.key)
            print(f"{len(episode.trajectory.actions):3} actions: {episode.annotation.goal}")

    config = RunConfig(
        method="er", agent=arguments.agent, data=str(arguments.out / "data"),
        tasks="Pick&Place,PickPair", max_steps=arguments.max_steps,
    )  # fmt: skip
    results = train(config, arguments.out / "run", media=False)
    print(evaluation_table(results, learned=2))
    policy, config = load_agent(arguments.out / "run")
    tested = evaluate_agent(policy, config, source, select(source, "test_unseen"))
    print(scores_table(tested.by_task))
    print(format_failures(failure_table(source, tested.results)))


if __name__ == "__main__":
    main()
