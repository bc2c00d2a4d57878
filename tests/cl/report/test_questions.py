"""Questions about pairs of methods, answered by a rule."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results
from clalfred.cl.experiment.sweep import expand
from clalfred.cl.report.ground import group_title
from clalfred.cl.report.paired import Difference
from clalfred.cl.report.published_tables import cost, memories, pooled
from clalfred.cl.report.questions import QUESTIONS, Answer, answers, asked, best
from clalfred.scripts.common import read_settings
from tests.helpers.report_runs import invented_results

SETUPS = ("behavior-il", "environment-il")


def runs_of(method: str, skill: float, **changes: Any) -> list[Results]:
    """Both setups, three orders."""
    return [
        invented_results(RunConfig(method=method, setup=setup, order=order, **changes), skill)
        for setup in SETUPS
        for order in (1, 2, 3)
    ]


def gap(mean: float, p: float) -> Difference:
    return Difference(mean, mean - 0.1, mean + 0.1, 10, 2, p)


@pytest.mark.parametrize(
    ("seen", "unseen", "verdict"),
    [
        ((0.2, 0.01), (0.2, 0.01), "yes"),
        ((0.2, 0.01), (-0.2, 0.5), "yes"),
        ((-0.2, 0.01), (0.0, 0.5), "no, it costs"),
        ((0.2, 0.06), (0.2, 0.5), "not sure"),
        ((0.2, 0.01), (-0.2, 0.01), "it depends"),
    ],
)
def test_the_answer_follows_the_rule(
    seen: tuple[float, float], unseen: tuple[float, float], verdict: str
) -> None:
    gaps = {"seen": gap(*seen), "unseen": gap(*unseen)}
    corrected = {"seen": seen[1], "unseen": unseen[1]}
    assert Answer("?", ("a", "b"), gaps, corrected, 0.5).verdict == verdict


def test_answers_are_corrected_for_the_number_of_questions() -> None:
    runs = [*runs_of("er", 0.6), *runs_of("finetuning", 0.1), *runs_of("mir", 0.6)]
    (methods,) = asked(runs).values()
    found = {one.question: one for one in answers(methods)}
    replay, choice = found["Does replay help?"], found["Does it help to choose what to replay?"]
    assert replay.verdict == "yes"
    assert replay.wins == 1.0
    # By hand: four p-values; the smallest possible one times four.
    assert min(replay.corrected.values()) == pytest.approx(4 / 10_000)
    assert choice.pair == ("MIR", "ER")
    alone = answers({name: methods[name] for name in ("er", "finetuning")})
    assert min(alone[0].corrected.values()) == pytest.approx(2 / 10_000)


def test_limits_in_bytes_are_asked_about_whatever_their_number() -> None:
    limit = {"memory_bytes": 180000}
    runs = [*runs_of("er", 0.2, memory=20), *runs_of("er", 0.3, memory=20, overrides=limit)]
    runs += runs_of("pantry", 0.9, memory=20, overrides=limit)
    text = pooled(runs)
    assert "| Does packing help at equal bytes? | Pantry (180 kB) − ER (180 kB) | 6 |" in text
    # Of the paper's methods only ER ran.
    assert "| Is Pantry ahead of the best other method? | Pantry (180 kB) − ER | 6 |" in text


def test_the_best_other_method_solves_most_in_unseen_rooms() -> None:
    runs = [*runs_of("er", 0.3), *runs_of("cama", 0.7), *runs_of("joint", 0.9)]
    # A method of one setup alone does not compete.
    runs += [one for one in runs_of("der++", 1.0) if one.config.setup == SETUPS[0]]
    (methods,) = asked(runs).values()
    assert best(methods) == "cama"
    # A weight that was tuned on validation counts, any other does not.
    for weight, skill in ((0.02, 0.95), (0.3, 1.0)):
        runs += runs_of("der++", skill, overrides={"distillation_weight": weight})
    (methods,) = asked(runs).values()
    assert best(methods) == "der++ (distillation_weight 0.02)"
    assert best({}) is None


def test_sizes_of_memory_and_ways_to_see_are_not_mixed() -> None:
    runs = [*runs_of("er", 0.5, memory=20), *runs_of("finetuning", 0.1, memory=20)]
    runs += [*runs_of("er", 0.6, memory=80), *runs_of("finetuning", 0.1, memory=80)]
    runs += runs_of("er", 0.6, memory=20, agent="two-branch:paper")
    grounds = [ground.rpartition(", ")[2] for ground in asked(runs)]
    assert grounds == ["memory 20", "memory 80", "memory 20"]
    assert pooled(runs).count("Does replay help?") == 2
    table = memories(runs)
    assert "| method | 20 episodes | 80 episodes |" in table
    assert table.count("(6)") == 4


def test_other_numbers_of_updates_are_named_and_not_compared() -> None:
    run = runs_of("rar", 0.5)[0]
    assert "updates per episode" in group_title(run)  # half as many as its two repeats make
    twice = replace(run, training=replace(run.training, updates=2 * run.training.updates))
    assert "updates per episode" not in group_title(twice)


def test_every_question_can_be_answered_by_the_configs() -> None:
    """At the larger memory there are no bounds, and nothing that is told tasks or packed."""
    for memory in (20, 80):
        runs = [
            run
            for name in ("main", "others", "questions")
            for run in expand(read_settings(name))
            if (run.memory, run.setup, run.order) == (memory, "behavior-il", 1)
        ]
        named = [invented_results(run, 0.5) for run in {run.name: run for run in runs}.values()]
        there = set().union(*asked(named).values())
        missing = {one for one in QUESTIONS if not {one[1], one[2]} <= there}
        left_out = {"finetuning", "joint", "ewc++", "der++", "cama", "pantry"}
        assert all(
            memory == 80 and ({first, second} & left_out or "packed" in second)
            for _, first, second in missing
        )


def test_the_cost_is_what_the_runs_took() -> None:
    assert cost(runs_of("er", 0.5)) == "6 runs, 0.1 hours of one core"


def test_one_pair_of_runs_answers_nothing() -> None:
    first, second = runs_of("er", 0.9), runs_of("finetuning", 0.1)
    (methods,) = asked([first[0], second[0]]).values()
    assert answers(methods) == []
    (methods,) = asked([*first, *second]).values()
    assert answers(methods)
