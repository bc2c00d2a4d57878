"""Writes goal sentences and step-by-step instructions for a demonstration, worded in many ways."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gym_clalfred.actions import LOOK_DEGREES
from gym_clalfred.data.trajectory import Annotation
from gym_clalfred.errors import BadInputError
from gym_clalfred.language import grammar_templates as templates
from gym_clalfred.language.grammar_facts import Leg, Mention, Relation, StepFacts, Turn
from gym_clalfred.language.grammar_lexicon import (
    NOUNS,
    Noun,
    put_words,
    rest_words,
    take_words,
    with_article,
)
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.treatments import TREATMENTS
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskSpec

_SLOT = re.compile(r"\{(\w+)\}")
_WORD = re.compile(r"[a-z0-9']+")
_FAR_METRES = 3.0
_NEARLY_METRES = 0.2
_MOST_LEGS = 4
_SIDESTEP_MOVES = 2
_FEW_MOVES = 4


class Voice:
    """One annotator, who keeps the same nouns and habits throughout an annotation.

    Args:
        rng: the source of all choices.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._nouns: dict[ObjectClass, Noun] = {}
        self._detail = float(rng.random())
        self._capitals = float(rng.random()) < 0.85
        self._full_stops = float(rng.random()) < 0.8

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return float(self._rng.random()) < probability

    def choose(self, options: Sequence[str]) -> str:
        """One of the options."""
        return options[int(self._rng.integers(len(options)))]

    def noun(self, object_class: ObjectClass, countable: bool = False) -> Noun:
        """The annotator's name for a class."""
        if object_class not in self._nouns:
            # The usual name comes first in the lexicon and is what most people say.
            names = NOUNS[object_class]
            index = 0 if self.chance(0.4) else int(self._rng.integers(len(names)))
            self._nouns[object_class] = names[index]
        noun = self._nouns[object_class]
        if countable and not noun.countable:
            return next(name for name in NOUNS[object_class] if name.countable)
        return noun

    def the(self, object_class: ObjectClass) -> str:
        """The class with the definite article."""
        return f"the {self.noun(object_class).one}"

    def a(self, object_class: ObjectClass, adjective: str = "") -> str:
        """The class with the indefinite article and an adjective."""
        noun = self.noun(object_class, countable=True)
        return with_article(f"{adjective} {noun.one}".strip())

    def relation(self, relation: Relation) -> str:
        """Such as "to the left of the fridge"."""
        words = self.choose(templates.RELATIONS[relation.bearing])
        name = self.the if relation.unique else self.a
        return f"{words} {name(relation.landmark)}"

    def thing(self, thing: Mention, landmark: float = 0.5) -> str:
        """A noun phrase such as "the upper cabinet by the sink"; ``landmark`` is a probability."""
        noun = self.noun(thing.object_class).one
        if thing.level is not None and self.chance(0.7):
            noun = f"{self.choose(templates.LEVELS[thing.level])} {noun}"
        words = f"the {noun}"
        if thing.relations and self.chance(landmark):
            words += " " + self.relation(
                thing.relations[int(self._rng.integers(len(thing.relations)))]
            )
        return words

    def fill(self, pattern: str, slots: dict[str, str]) -> str:
        """Fills the slots of a pattern with the given words, or else with interchangeable ones."""

        def word(match: re.Match[str]) -> str:
            name = match.group(1)
            return slots[name] if name in slots else self.choose(templates.PHRASES[name])

        return " ".join(_SLOT.sub(word, pattern).split()).replace(" ,", ",")

    def sentence(self, words: str) -> str:
        """A sentence with or without capital letter and full stop, by the annotator's habit."""
        if self._capitals:
            words = words[0].upper() + words[1:]
        return words + "." if self._full_stops else words

    def wants_detail(self) -> bool:
        """Whether to describe the whole way instead of only its end."""
        return self.chance(0.1 + 0.6 * self._detail)


def annotate(task: TaskSpec, steps: Sequence[StepFacts], rng: np.random.Generator) -> Annotation:
    """One annotation: a goal sentence and one instruction for each step of the plan.

    Args:
        task: what the goal sentence is about.
        steps: what each instruction is about.
        rng: the source of all choices of words.
    """
    voice = Voice(rng)
    goal = voice.sentence(_goal(voice, task))
    return Annotation(goal, tuple(voice.sentence(_instruction(voice, step)) for step in steps))


def write_annotations(
    task: TaskSpec, steps: Sequence[StepFacts], rng: np.random.Generator, count: int
) -> tuple[Annotation, ...]:
    """``count`` annotations by different annotators, all with different goals and instructions."""
    found: list[Annotation] = []
    while len(found) < count:
        candidate = annotate(task, steps, rng)
        if all(candidate.goal != a.goal and candidate.steps != a.steps for a in found):
            found.append(candidate)
    return tuple(found)


def grammar_words() -> frozenset[str]:
    """Every word, in lower case, that the grammar can write for ALFRED's task types."""
    return frozenset(word for text in _all_texts() for word in _WORD.findall(text.lower()))


def _goal(voice: Voice, task: TaskSpec) -> str:
    target = task.goal_class
    treatment, adjective = task.type.treatment, ""
    if treatment is not None:
        adjective = voice.choose(templates.PHRASES[treatment.mark])
    noun = voice.noun(target, countable=True)
    slots = {
        "a": voice.a(target, adjective),
        "the": f"the {adjective} {noun.one}",
        "plain": voice.a(target),
        "two": f"two {noun.many}",
        "many": noun.many,
        **{one.place.name: voice.the(one.place) for one in TREATMENTS.values()},
    }
    patterns = task.type.goals
    if task.lamp is not None:
        slots["lamp"] = voice.the(task.lamp)
        slots["lamp_noun"] = voice.noun(task.lamp).one
    if task.receptacle is not None:
        place = voice.the(task.receptacle)
        slots["place"] = place
        slots["in"] = f"{voice.choose(put_words(task.receptacle))} {place}"
        slots["at"] = f"{voice.choose(rest_words(task.receptacle))} {place}"
        patterns += task.type.goals_at.get(task.receptacle, ())
    if task.movable is not None:
        slots["movable"] = voice.a(task.movable)
        slots["the_movable"] = voice.the(task.movable)
        slots["in_movable"] = f"{voice.choose(put_words(task.movable))} {voice.a(task.movable)}"
        slots["in_it"] = f"{rest_words(task.movable)[0]} it"
    slots |= task.type.slots(task, voice)
    pattern = voice.choose(patterns)
    if not _fillable([pattern], slots):
        raise BadInputError(
            f"{task.type!r}: the goal sentence {pattern!r} has slots without words; expected some "
            f"of {', '.join(sorted({*slots, *templates.PHRASES}))}"
        )
    return voice.fill(pattern, slots)


def _instruction(voice: Voice, step: StepFacts) -> str:
    if step.action == "GotoLocation":
        return _walk(voice, step)
    assert step.target is not None
    target, again = _target(voice, step), voice.the(step.target.object_class)
    plural = voice.noun(step.target.object_class).plural and target.startswith(again)
    slots = {"target": target, "target_again": again}
    if step.filling is None:  # "the plate with the fork on it that is on the table" is too much
        slots["is"] = "are" if plural else "is"
    if step.within is not None:
        slots["container"] = voice.thing(step.within, landmark=0.3)
        slots["container_again"] = voice.the(step.within.object_class)
    if step.place is not None:
        holder = step.place.object_class
        # What stands in a container is not found by the furniture around it.
        place = voice.thing(step.place, landmark=0.0 if step.within else 0.3)
        put = voice.choose(put_words(holder))
        slots["place"] = place
        slots["place_again"] = voice.the(holder)
        slots["door"] = "drawer" if holder is ObjectClass.Drawer else "door"
        slots["in"] = f"{put if step.action == 'PutObject' else put_words(holder)[0]} {place}"
        slots["on"] = f"{voice.choose(rest_words(holder))} {place}"
        slots["from"] = f"{voice.choose(take_words(holder))} {place}"
    beside = step.target.relations if step.action == "PutObject" else ()
    if step.place is not None and beside and voice.chance(0.35):
        # What is put down may be placed by its new neighbours instead of the receptacle's.
        holder = step.place.object_class
        near = voice.relation(beside[0])
        slots["in"] = f"{put_words(holder)[0]} {voice.the(holder)} {near}"
    if step.held is not None:
        slots["held"] = voice.the(step.held)
    return voice.fill(voice.choose(_fillable(_patterns(step), slots)), slots)


def _patterns(step: StepFacts) -> tuple[str, ...]:
    if step.within is not None:
        return templates.WITHIN[step.action]
    return (templates.OPENED if step.opened else templates.ACTIONS)[step.action]


def _target(voice: Voice, step: StepFacts) -> str:
    assert step.target is not None
    target = step.target
    if step.action == "PickupObject":
        if step.filling is not None:
            kind = rest_words(target.object_class)[0]
            return f"{voice.the(target.object_class)} with {voice.the(step.filling)} {kind} it"
        if step.repeated and voice.chance(0.7):
            other = voice.choose(templates.PHRASES["other"])
            return f"the {other} {voice.noun(target.object_class, countable=True).one}"
        if target.object_class.name.endswith("Sliced"):
            return voice.a(target.object_class)
        return voice.thing(target, landmark=0.35)
    if step.action == "PutObject" and step.filling is not None and voice.chance(0.4):
        kind = rest_words(target.object_class)[0]
        return f"{voice.the(target.object_class)} with {voice.the(step.filling)} {kind} it"
    if step.action == "SliceObject":
        return voice.thing(target, landmark=0.2)
    return voice.the(target.object_class)


def _walk(voice: Voice, step: StepFacts) -> str:
    assert step.place is not None
    slots = {"to": voice.thing(step.place, landmark=0.6)}
    if step.held is not None:
        slots["held"] = voice.the(step.held)
    if not step.legs:
        return voice.fill(voice.choose(templates.GOTO_LOOK_ONLY[step.tilt > 0]), slots)
    slots["first"] = voice.choose(templates.TURNS[step.legs[0].turn])
    slots["last"] = voice.choose(templates.TURNS[step.legs[-1].turn])
    moved = any(leg.moves for leg in step.legs)
    if not moved:
        walked = voice.fill(voice.choose(templates.GOTO_TURN_ONLY), slots)
    elif _is_sidestep(step.legs):
        near = step.legs[0].moves <= _SIDESTEP_MOVES
        ways = templates.SIDESTEPS if near else templates.SHIFTS
        slots["sidestep"] = voice.choose(ways[step.legs[0].turn])
        walked = voice.fill(voice.choose(templates.GOTO_SIDESTEP), slots)
    elif len(step.legs) <= _MOST_LEGS and voice.wants_detail():
        slots["legs"] = _legs(voice, step.legs)
        facing = step.legs[-1].moves == 0
        patterns = templates.GOTO_ALL_FACING if facing else templates.GOTO_ALL_AHEAD
        walked = voice.fill(voice.choose(patterns), slots)
    else:
        walked = voice.fill(voice.choose(_summaries(step)), slots)
    if abs(step.tilt) >= 2 * LOOK_DEGREES and voice.wants_detail():
        slots["walked"] = walked
        slots["tilt"] = voice.choose(templates.TILTS[step.tilt > 0])
        walked = voice.fill(voice.choose(templates.GOTO_TILT), slots)
    return walked


def _summaries(step: StepFacts) -> tuple[str, ...]:
    """The patterns that describe a walk truthfully without its whole way."""
    first, last = step.legs[0], step.legs[-1]
    few = sum(leg.moves for leg in step.legs) <= _FEW_MOVES
    if few and step.nearer < -_NEARLY_METRES and last.turn is Turn.AROUND:
        return templates.GOTO_STEP_BACK
    if step.nearer < _NEARLY_METRES:
        # Nobody would say "walk to" of a place that the agent is at already, nor "adjust your
        # position" of a walk to the other end of it.
        if few:
            return templates.GOTO_ADJUST
        turned = first.turn is not Turn.NONE
        return templates.GOTO_TURN_ALONG if turned else templates.GOTO_ALONG
    patterns: tuple[str, ...] = templates.GOTO_DIRECT
    if first.turn is not Turn.NONE:
        patterns += templates.GOTO_FIRST_TURN * 2
    if len(step.legs) == 2 and last.moves == 0 and first.turn is Turn.NONE:
        patterns += templates.GOTO_LAST_TURN
    if len(step.legs) == 2 and last.moves == 0 and first.turn is not Turn.NONE:
        patterns += templates.GOTO_BOTH_TURNS * 2
    if step.distance >= _FAR_METRES:
        patterns += templates.GOTO_FAR
    if step.held is not None:
        patterns += templates.GOTO_CARRYING
    if step.repeated:
        patterns += templates.GOTO_BACK
    return patterns


def _legs(voice: Voice, legs: Sequence[Leg]) -> str:
    parts = []
    for leg in legs:
        turn = voice.choose(templates.TURNS[leg.turn])
        if leg.moves == 0:
            parts.append(turn)
            continue
        moves = _moves(voice, leg.moves)
        parts.append(f"{turn} and {moves}" if turn else moves)
    if len(parts) == 1:
        return parts[0]
    then = voice.choose(templates.PHRASES["then"])
    return f"{', '.join(parts[:-1])}, {then} {parts[-1]}"


def _moves(voice: Voice, count: int) -> str:
    pattern = next(ways for most, ways in templates.MOVES if count <= most)
    return voice.fill(voice.choose(pattern), {})


def _is_sidestep(legs: Sequence[Leg]) -> bool:
    """Whether the agent ends a few steps to the side, facing the same way as before."""
    if len(legs) != 2 or not 1 <= legs[0].moves <= _FEW_MOVES or legs[1].moves != 0:
        return False
    return {legs[0].turn, legs[1].turn} == {Turn.LEFT, Turn.RIGHT}


def _fillable(patterns: Iterable[str], slots: dict[str, str]) -> tuple[str, ...]:
    known = {*slots, *templates.PHRASES}
    return tuple(p for p in patterns if set(_SLOT.findall(p)) <= known)


def _all_texts() -> Iterator[str]:
    """Everything literal that the grammar is made of."""

    def strings(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield _SLOT.sub(" ", value)
        elif isinstance(value, dict):
            for part in value.values():
                yield from strings(part)
        elif isinstance(value, tuple):
            for part in value:
                yield from strings(part)

    for name, value in vars(templates).items():
        if name.isupper():
            yield from strings(value)
    for task_type in ALFRED_TASKS:
        yield from strings((task_type.goals, dict(task_type.goals_at)))
    for object_class, nouns in NOUNS.items():
        for noun in nouns:
            yield f"a an the two {noun.one} {noun.many}"
        for words in (put_words, rest_words, take_words):
            yield from words(object_class)
    yield "it is are with and door drawer"
