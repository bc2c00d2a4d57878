"""One word-level tokenizer for generated and human instructions, with a fixed vocabulary.

``vocabulary.txt`` lists one word per line: every word that people used at least five times in
ALFRED's training annotations, the words of the object classes and the words of the grammar. Other
words become ``<unk>``, 0.1 % of what people wrote.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.errors import BadInputError
from gym_clalfred.language.text import plain_text
from gym_clalfred.objects import ObjectClass

PAD, UNKNOWN, GOAL, STEP, STOP = "<pad>", "<unk>", "<goal>", "<step>", "<stop>"

#: Tokens that no text contains; their ids are their positions here.
SPECIALS = (PAD, UNKNOWN, GOAL, STEP, STOP)

#: Longest instruction in tokens; ALFRED's longest has 404.
MAX_TOKENS = 512

#: How often people must have used a word for it to be in the vocabulary.
MIN_COUNT = 5

# Words with an apostrophe stay whole ("you're"), but a possessive is its own token ("table", "'s").
_TOKEN = re.compile(r"[a-z]+(?:'(?!s\b)[a-z]+)?|'s\b|[0-9]+|[^a-z0-9\s]")
_CAMEL_CASE = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_LONGEST_SENTENCE = 10_000


def split_words(text: str) -> list[str]:
    """Lower-case words, numbers and punctuation marks of a text."""
    return _TOKEN.findall(plain_text(text, _LONGEST_SENTENCE).lower())


class Tokenizer:
    """Turns a goal and its instructions into numbers and back.

    Args:
        words: the vocabulary without the specials; ids follow ``SPECIALS`` in this order.
        max_tokens: longer instructions are cut; the last token is ``<stop>`` all the same.
    """

    def __init__(self, words: Sequence[str], max_tokens: int = MAX_TOKENS) -> None:
        if max_tokens < 2:
            raise BadInputError(f"max_tokens {max_tokens!r}: expected at least 2")
        self.words = (*SPECIALS, *words)
        self.max_tokens = max_tokens
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            raise BadInputError("the vocabulary has a word twice")

    @classmethod
    def default(cls) -> Tokenizer:
        """The tokenizer with the vocabulary that comes with the package."""
        return _default()

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self._ids

    @property
    def pad_id(self) -> int:
        """The id that fills up shorter sequences of a batch."""
        return self._ids[PAD]

    @property
    def digest(self) -> str:
        """Identifies the vocabulary; kept with trained weights."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()[:16]

    def encode(self, goal: str, steps: Sequence[str]) -> NDArray[np.int32]:
        """``<goal> ... <step> ... <step> ... <stop>`` as ids, shape (tokens,)."""
        tokens = [GOAL, *split_words(goal)]
        for step in steps:
            tokens += [STEP, *split_words(step)]
        unknown = self._ids[UNKNOWN]
        ids = [self._ids.get(token, unknown) for token in tokens[: self.max_tokens - 1]]
        return np.array([*ids, self._ids[STOP]], dtype=np.int32)

    def decode(self, ids: Iterable[int]) -> tuple[str, tuple[str, ...]]:
        """Goal and steps as words with spaces between them; the inverse up to unknown words."""
        sentences: list[list[str]] = []
        for index in ids:
            if not 0 <= index < len(self.words):
                raise BadInputError(f"token {index!r}: expected 0 to {len(self.words) - 1}")
            word = self.words[index]
            if word in (GOAL, STEP):
                sentences.append([])
            elif word not in (PAD, STOP):
                if not sentences:
                    raise BadInputError(f"token {word!r}: expected {GOAL} first")
                sentences[-1].append(word)
        texts = [" ".join(words) for words in sentences] or [""]
        return texts[0], tuple(texts[1:])


def build_vocabulary(
    counts: Mapping[str, int], required: Iterable[str] = (), min_count: int = MIN_COUNT
) -> tuple[str, ...]:
    """Words used at least ``min_count`` times and all of the required texts', sorted."""
    words = {word for word, count in counts.items() if count >= min_count}
    for text in (*required, *class_words()):
        words.update(split_words(text))
    return tuple(sorted(words))


def count_words(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(split_words(text))
    return counts


def class_words() -> tuple[str, ...]:
    """The classes' names as people write them: ``butter knife`` and ``butterknife``."""
    names = [name for name in ObjectClass.__members__ if name != ObjectClass.NoObject.name]
    return tuple(
        text for name in names for text in (" ".join(_CAMEL_CASE.findall(name)), name.lower())
    )


@lru_cache(maxsize=1)
def _default() -> Tokenizer:
    text = resources.files("gym_clalfred.language").joinpath("vocabulary.txt").read_text("utf-8")
    return Tokenizer(text.split())
