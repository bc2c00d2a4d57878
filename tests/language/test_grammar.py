"""The grammar's sentences: true, varied, deterministic, and all in known words."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gym_clalfred.language.grammar import annotate, grammar_words, write_annotations
from gym_clalfred.language.grammar_facts import (
    Bearing,
    Leg,
    Level,
    Mention,
    Relation,
    StepFacts,
    Turn,
)
from gym_clalfred.language.grammar_lexicon import NOUNS, with_article
from gym_clalfred.language.tokenizer import Tokenizer, split_words
from gym_clalfred.objects import PICKUPABLE, RECEPTACLES
from gym_clalfred.objects import ObjectClass as C
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskSpec, TaskType

TASKS = {
    TaskType.EXAMINE: TaskSpec(TaskType.EXAMINE, C.Book, lamp=C.DeskLamp),
    TaskType.PICK_AND_PLACE: TaskSpec(TaskType.PICK_AND_PLACE, C.KeyChain, C.Sofa),
    TaskType.PICK_TWO_AND_PLACE: TaskSpec(TaskType.PICK_TWO_AND_PLACE, C.Bread, C.Fridge),
    TaskType.CLEAN: TaskSpec(TaskType.CLEAN, C.Apple, C.GarbageCan),
    TaskType.HEAT: TaskSpec(TaskType.HEAT, C.Potato, C.Fridge, sliced=True),
    TaskType.COOL: TaskSpec(TaskType.COOL, C.Mug, C.CounterTop),
    TaskType.MOVABLE: TaskSpec(TaskType.MOVABLE, C.Spoon, C.DiningTable, movable=C.Cup),
}
COUNTER = Mention(
    C.CounterTop, (Relation(Bearing.LEFT, C.Fridge), Relation(Bearing.BESIDE, C.Sink))
)
WALK = StepFacts("GotoLocation", place=COUNTER, legs=(Leg(Turn.LEFT, 6), Leg(Turn.RIGHT, 0)))
STEPS = (
    WALK,
    StepFacts("PickupObject", Mention(C.Knife, (Relation(Bearing.BESIDE, C.Mug),)), COUNTER),
    StepFacts("SliceObject", Mention(C.Potato), COUNTER, held=C.Knife),
    StepFacts("PutObject", Mention(C.Knife), Mention(C.Drawer, level=Level.TOP), opened=True),
    StepFacts("GotoLocation", place=Mention(C.Sink), held=C.PotatoSliced, tilt=30),
    StepFacts("CleanObject", Mention(C.PotatoSliced), Mention(C.SinkBasin), held=C.PotatoSliced),
    StepFacts("HeatObject", Mention(C.PotatoSliced), Mention(C.Microwave), held=C.PotatoSliced),
    StepFacts("CoolObject", Mention(C.PotatoSliced), Mention(C.Fridge), held=C.PotatoSliced),
    StepFacts("PickupObject", Mention(C.Cup), Mention(C.Cabinet), filling=C.Spoon, opened=True),
    StepFacts("ToggleObject", Mention(C.DeskLamp), held=C.Book),
)


def texts(task: TaskSpec, count: int) -> list[tuple[str, tuple[str, ...]]]:
    found = [annotate(task, STEPS, np.random.default_rng(seed)) for seed in range(count)]
    return [(annotation.goal, annotation.steps) for annotation in found]


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.type.paper_name)
def test_goals_have_many_wordings_without_leftovers(task: TaskSpec) -> None:
    goals = [goal for goal, _ in texts(task, 200)]
    assert len(set(goals)) > 60
    for goal in goals:
        assert not re.search(r"[{}]|  | ,|,,", goal)
        assert goal.strip() == goal


@pytest.mark.parametrize("task_type", ALFRED_TASKS)
def test_every_task_type_has_at_least_eight_patterns(task_type: TaskType) -> None:
    assert len(set(task_type.goals)) >= 8


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_instructions_vary(step: int) -> None:
    wordings = {steps[step] for _, steps in texts(TASKS[TaskType.HEAT], 150)}
    assert len(wordings) >= 9
    assert not any(re.search(r"[{}]|  ", wording) for wording in wordings)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.type.paper_name)
def test_all_words_are_known(task: TaskSpec) -> None:
    known = grammar_words()
    vocabulary = Tokenizer.default()
    for goal, steps in texts(task, 100):
        for word in split_words(" ".join((goal, *steps))):
            assert word in known or not word.isalnum()
            assert word in vocabulary


def test_the_vocabulary_covers_everything_the_grammar_can_write() -> None:
    vocabulary = Tokenizer.default()
    assert [word for word in sorted(grammar_words()) if word not in vocabulary] == []


def test_every_carried_or_holding_class_has_a_countable_name() -> None:
    unspoken = {C.EggCracked}
    for object_class in (PICKUPABLE | RECEPTACLES) - unspoken:
        assert any(noun.countable for noun in NOUNS[object_class]), object_class


@pytest.mark.parametrize(
    ("turn", "right", "wrong"),
    [
        (Turn.LEFT, "left", ("right", "around")),
        (Turn.RIGHT, "right", ("left", "around")),
        (Turn.AROUND, "around", ("left", "right")),
    ],
)
def test_turns_are_named_as_they_are(turn: Turn, right: str, wrong: tuple[str, ...]) -> None:
    step = StepFacts("GotoLocation", place=Mention(C.Fridge), legs=(Leg(turn, 0),))
    for seed in range(60):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        assert right in text.split() or right in text.strip(".").split()
        assert not set(wrong) & set(text.strip(".").split())


@pytest.mark.parametrize(("moves", "adjusts"), [(3, True), (9, False)])
def test_only_a_short_walk_adjusts_a_position(moves: int, adjusts: bool) -> None:
    legs = (Leg(Turn.NONE, moves), Leg(Turn.LEFT, 0))
    step = StepFacts("GotoLocation", place=Mention(C.Sofa), legs=legs, nearer=0.0)
    texts = [
        annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0].lower()
        for seed in range(60)
    ]
    assert any(re.match("adjust|change|move (so|to a better)", text) for text in texts) == adjusts


@pytest.mark.parametrize(("turn", "other"), [(Turn.LEFT, "right"), (Turn.RIGHT, "left")])
@pytest.mark.parametrize("moves", [1, 4])
def test_steps_aside_are_told_by_their_side(turn: Turn, other: str, moves: int) -> None:
    back = Turn.LEFT if turn is Turn.RIGHT else Turn.RIGHT
    step = StepFacts("GotoLocation", place=Mention(C.Sofa), legs=(Leg(turn, moves), Leg(back, 0)))
    for seed in range(60):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        assert turn.name.lower() in split_words(text)
        assert other not in split_words(text)


def test_verbs_agree_with_names_that_are_plural() -> None:
    step = StepFacts("PickupObject", Mention(C.KeyChain), Mention(C.Sofa))
    texts = [
        " ".join(annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps)
        for seed in range(200)
    ]
    assert any("the keys that are" in text for text in texts)
    assert any("the set of keys that is" in text for text in texts)
    assert not any("the keys that is" in text or "chain that are" in text for text in texts)


def test_a_walk_straight_ahead_mentions_no_turn() -> None:
    step = StepFacts("GotoLocation", place=Mention(C.Fridge), legs=(Leg(Turn.NONE, 7),))
    for seed in range(80):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        assert not {"turn", "left", "right", "around"} & set(split_words(text))


def test_only_true_relations_are_told() -> None:
    place = Mention(C.CounterTop, (Relation(Bearing.RIGHT, C.Fridge),))
    step = StepFacts("GotoLocation", place=place, legs=(Leg(Turn.NONE, 7),))
    told = 0
    for seed in range(80):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        mentions = {noun.one for noun in NOUNS[C.Fridge]} & set(split_words(text))
        told += bool(mentions)
        assert bool(mentions) == ("right" in split_words(text))
        assert "left" not in split_words(text)
    assert told > 20


def test_closing_is_told_only_of_what_was_opened() -> None:
    step = StepFacts("PickupObject", Mention(C.Apple), Mention(C.CounterTop))
    for seed in range(80):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        assert not {"open", "close", "shut"} & set(split_words(text))


@pytest.mark.parametrize("action", ["PickupObject", "PutObject", "SliceObject"])
def test_a_container_around_the_place_is_opened_and_closed(action: str) -> None:
    pot = Mention(C.Pot, (Relation(Bearing.LEFT, C.CoffeeMachine),))
    step = StepFacts(action, Mention(C.Apple), pot, within=Mention(C.Fridge), held=C.Knife)
    fridge = {noun.one for noun in NOUNS[C.Fridge]}
    for seed in range(60):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        words = set(split_words(text))
        assert words & fridge
        assert words & {"close", "shut"}
        assert "left" not in words


@pytest.mark.parametrize(("action", "opened"), [("PickupObject", False), ("PutObject", True)])
def test_a_filled_thing_is_not_followed_by_another_clause(action: str, opened: bool) -> None:
    step = StepFacts(action, Mention(C.Plate), Mention(C.Fridge), filling=C.Fork, opened=opened)
    for seed in range(80):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0]
        assert "on it that" not in text
        assert "on it in it" not in text


def test_several_annotations_differ_and_follow_the_seed() -> None:
    task = TASKS[TaskType.CLEAN]
    first = write_annotations(task, STEPS, np.random.default_rng(5), 6)
    assert first == write_annotations(task, STEPS, np.random.default_rng(5), 6)
    assert first != write_annotations(task, STEPS, np.random.default_rng(6), 6)
    assert len({a.goal for a in first}) == len({a.steps for a in first}) == 6
    assert all(len(a.steps) == len(STEPS) for a in first)


def test_articles_and_plurals() -> None:
    assert with_article("egg") == "an egg"
    assert with_article("slice of apple") == "a slice of apple"
    plural = {noun.one: noun.many for nouns in NOUNS.values() for noun in nouns}
    assert plural["knife"] == "knives"
    assert plural["potato"] == "potatoes"
    assert plural["loaf of bread"] == "loaves of bread"
    assert plural["watch"] == "watches"
    assert plural["shelf"] == "shelves"
    assert plural["set of keys"] == "sets of keys"


@pytest.mark.parametrize(
    ("kind", "verb"),
    [
        (C.SoapBar, "is"),
        (C.Bread, "is"),
        (C.ToiletPaper, "is"),
        (C.KeyChain, "are"),
        (C.Boots, "are"),
    ],
)
def test_verbs_agree_with_their_nouns(kind: C, verb: str) -> None:
    step = StepFacts("PickupObject", target=Mention(kind), place=COUNTER)
    mass = {noun.one: noun.plural for noun in NOUNS[kind] if not noun.countable}
    found = set()
    for seed in range(400):
        text = annotate(TASKS[TaskType.HEAT], (step,), np.random.default_rng(seed)).steps[0].lower()
        match = re.search(r"the ([a-z ]+) that (is|are) ", text)
        if match:
            plural = mass.get(match[1], False)
            assert match[2] == ("are" if plural else "is"), text
            found.add((match[1] in mass, match[2]))
    assert (True, verb) in found
