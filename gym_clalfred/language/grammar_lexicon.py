"""The words for every object class, as people say them."""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import CLASSES, SLICED_FORM, ObjectClass, having


@dataclass(frozen=True)
class Noun:
    """A name of a class.

    Args:
        one: singular; without an article.
        many: plural.
        countable: whether it takes "a" and a plural; otherwise it is only used with "the".
        plural: whether a single one is grammatically plural, as in "the keys are".
    """

    one: str
    many: str
    countable: bool = True
    plural: bool = False


def with_article(phrase: str) -> str:
    """ "a" or "an" before a phrase."""
    return f"{'an' if phrase[0] in 'aeiou' else 'a'} {phrase}"


def _plural(word: str) -> str:
    head, of, rest = word.partition(" of ")
    if head.endswith(("s", "x", "ch", "sh")):
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    elif head.endswith("fe"):
        head = head[:-2] + "ves"
    elif head.endswith("f"):
        head = head[:-1] + "ves"
    elif head.endswith(("tomato", "potato")):
        head += "es"
    else:
        head += "s"
    return head + of + rest


def _nouns(words: str) -> tuple[Noun, ...]:
    """From "a, =b, +c": names that can be counted, and names used only with "the".

    After "=" stands something that cannot be counted ("the soap is"), after "+" a plural ("the keys
    are").
    """
    nouns = []
    for word in (entry.strip() for entry in words.split(",")):
        name = word.lstrip("=+")
        if name == word:
            nouns.append(Noun(name, _plural(name)))
        else:
            nouns.append(Noun(name, name, countable=False, plural=word.startswith("+")))
    return tuple(nouns)


_SLICED_WORDS = "{0} slice, slice of {0}, piece of {0}, cut {0} piece"

#: Class -> its names, at least one of them countable; classes that no sentence names are absent.
NOUNS: dict[ObjectClass, tuple[Noun, ...]] = {
    **{kind: _nouns(one.words) for kind, one in CLASSES.items() if one.words},
    **{
        sliced: _nouns(_SLICED_WORDS.format(whole.name.lower()))
        for whole, sliced in SLICED_FORM.items()
        if whole is not ObjectClass.Egg
    },
}

_INSIDE = having("inside")


def put_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that goes in or on a receptacle."""
    return ("in", "inside", "into") if receptacle in _INSIDE else ("on", "onto", "on top of")


def rest_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that is in or on a receptacle."""
    return ("in", "inside") if receptacle in _INSIDE else ("on", "on top of")


def take_words(receptacle: ObjectClass) -> tuple[str, ...]:
    """Prepositions for something that is taken from a receptacle."""
    return ("from", "out of") if receptacle in _INSIDE else ("from", "off of", "off")
