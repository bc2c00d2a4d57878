"""One tokenizer for generated and human text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_clalfred.errors import BadInputError
from gym_clalfred.language.grammar import grammar_words
from gym_clalfred.language.tokenizer import (
    GOAL,
    MAX_TOKENS,
    PAD,
    SPECIALS,
    STEP,
    STOP,
    UNKNOWN,
    Tokenizer,
    build_vocabulary,
    class_words,
    count_words,
    split_words,
)

DEFAULT = Tokenizer.default()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Turn LEFT, walk 2 steps.", "turn left , walk 2 steps ."),
        ("the table's edge", "the table 's edge"),
        ("once you're there don’t stop", "once you're there don't stop"),
        ("left/right (180-degree)", "left / right ( 180 - degree )"),
        ("  \n\t ", ""),
        ("café", "cafe"),
        ("go2table", "go 2 table"),
        ("'quoted'", "' quoted '"),
        ("\u4f60\u597d mug", "mug"),
    ],
)
def test_words(text: str, words: str) -> None:
    assert split_words(text) == words.split()


def test_encoding() -> None:
    tokenizer = Tokenizer(["a", "go", "mug"])
    ids = tokenizer.encode("A mug", ["Go", "", "flarb!"])
    assert ids.dtype == np.int32
    assert [tokenizer.words[index] for index in ids] == [
        GOAL, "a", "mug", STEP, "go", STEP, STEP, UNKNOWN, UNKNOWN, STOP,
    ]  # fmt: skip
    assert tokenizer.decode(ids) == ("a mug", ("go", "", f"{UNKNOWN} {UNKNOWN}"))
    assert tokenizer.pad_id == 0
    assert len(tokenizer) == len(SPECIALS) + 3


def test_padding_is_not_decoded() -> None:
    ids = DEFAULT.encode("Put a mug on the desk.", ["Turn left."])
    padded = np.concatenate([ids, np.full(7, DEFAULT.pad_id, dtype=np.int32)])
    assert DEFAULT.decode(padded) == DEFAULT.decode(ids)


def test_long_texts_are_cut_and_still_end() -> None:
    ids = DEFAULT.encode("go " * 5000, ["turn"] * 100)
    assert len(ids) == MAX_TOKENS
    assert DEFAULT.words[ids[-1]] == STOP
    assert len(Tokenizer(["go"], max_tokens=4).encode("go go go go", [])) == 4


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_has_an_encoding(goal: str, steps: list[str]) -> None:
    ids = DEFAULT.encode(goal, steps)
    assert ids.min() >= 0
    assert ids.max() < len(DEFAULT)
    words = [DEFAULT.words[index] for index in ids]
    assert (words[0], words[-1]) == (GOAL, STOP)
    assert words.count(STEP) == len(steps)
    assert words.count(GOAL) == words.count(STOP) == 1
    assert PAD not in words


@given(st.lists(st.sampled_from(DEFAULT.words[len(SPECIALS) :]), max_size=20))
def test_known_words_survive(words: list[str]) -> None:
    text = " ".join(word for word in words if word.isalpha())
    assert DEFAULT.decode(DEFAULT.encode(text, [text])) == (text, (text,))


def test_specials_in_a_text_are_only_text() -> None:
    ids = DEFAULT.encode("<stop> <pad> <goal>", ["<step>"])
    words = [DEFAULT.words[index] for index in ids]
    assert (words.count(GOAL), words.count(STEP), words.count(STOP)) == (1, 1, 1)


def test_the_vocabulary_covers_classes_and_grammar() -> None:
    needed = {word for text in (*class_words(), *grammar_words()) for word in split_words(text)}
    assert len(needed) > 200
    missing = sorted(word for word in needed if word not in DEFAULT)
    assert missing == []


def test_the_vocabulary_covers_what_people_say() -> None:
    goal = "Place a chilled tomato slice in the microwave."
    steps = [
        "Turn around, and walk over to the fridge to your left.",
        "Open the drawer that's right of the sink; it's below the toaster, take out the knife.",
        "Put the 2nd saltshaker behind the spray bottle on the nightstand's top shelf.",
    ]
    unknown = DEFAULT.words.index(UNKNOWN)
    ids = DEFAULT.encode(goal, steps)
    assert np.mean(ids == unknown) < 0.05


def test_building_a_vocabulary() -> None:
    counts = count_words(["Go go GO go go to the mug", "typpo", "to to to to"])
    words = build_vocabulary(counts, ["Zigzag there!"])
    assert words == tuple(sorted(words))
    assert {"go", "to", "zigzag", "there", "!", "butterknife", "butter", "knife"} <= set(words)
    assert "typpo" not in words
    assert build_vocabulary(counts, min_count=1).count("typpo") == 1


def test_bad_input() -> None:
    with pytest.raises(BadInputError, match="twice"):
        Tokenizer(["a", "a"])
    with pytest.raises(BadInputError, match="at least 2"):
        Tokenizer(["a"], max_tokens=1)
    with pytest.raises(BadInputError, match="expected 0 to 5"):
        Tokenizer(["a"]).decode([6])
    with pytest.raises(BadInputError, match="first"):
        Tokenizer(["a"]).decode([5])


def test_the_digest_names_the_vocabulary() -> None:
    assert Tokenizer(["a"]).digest == Tokenizer(["a"]).digest
    assert Tokenizer(["a"]).digest != Tokenizer(["b"]).digest
