"""What is asked of pairs of methods over both of the paper's setups, and the answer by a rule.

A question is answered on a split if its p-value, corrected for all questions of a table (Holm), is
below 5 %. The answer is yes or no if it is so on one split at least and not the other way round on
the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import Results
from clalfred.cl.report.ground import displayed, group_title
from clalfred.cl.report.paired import Difference, compare, holm, probability_of_improvement

#: The paper's setups, over which questions are asked.
HEADLINE = ("behavior-il", "environment-il")

#: A limit of the memory in bytes, whatever their number; the configs give as many as ER takes.
BYTES = "bytes"
PACKED = f"pantry ({BYTES})"

#: Of fewer pairs of runs nothing is asked: resampling them would say little.
PAIRS = 3

#: Chance of a false answer that is taken.
LEVEL = 0.05

#: How strongly to distil, as chosen on validation (``tuning.yaml``).
TUNED = "distillation_weight 0.02"

_DERPP, _CAMA = f"der++ ({TUNED})", f"cama ({TUNED})"
_EQUAL = f"der++ ({TUNED}, replay_weight 1.0)"
_WITHOUT = "der++ (distillation_weight 0.0, replay_weight 1.0)"
_SAME_K = "er (stream_size 3)"
_PACKED_TUNED = f"{TUNED}, {BYTES}, packed True"

#: Question, and the two methods: does the first solve more than the second?
QUESTIONS = (
    ("Does replay help?", "er", "finetuning"),
    ("Does EWC++'s penalty help beside replay?", "ewc++", "er"),
    ("Does DER++ need a weight tuned for this agent?", _DERPP, "der++"),
    ("Does CAMA need one?", _CAMA, "cama"),
    ("Do logits that follow the network help?", _CAMA, _EQUAL),
    ("Do dynamic coefficients help?", _CAMA, f"cama-without-dc ({TUNED})"),
    ("Does distillation help, all else equal?", _EQUAL, _WITHOUT),
    ("Does DER++ beat ER at its k?", _EQUAL, _SAME_K),
    ("Does CAMA beat ER at its k?", _CAMA, _SAME_K),
    ("Does a smaller k help ER?", _SAME_K, "er"),
    ("Does more weight on replay help DER++?", _EQUAL, _DERPP),
    ("Does it help to choose what to replay?", "mir", "er"),
    ("Do averaged weights help?", "er (average 0.01)", "er"),
    ("Does packing help at equal bytes?", PACKED, f"er ({BYTES})"),
    ("Does keeping kinds equally often help?", f"pantry ({BYTES}, varied True)", PACKED),
    ("Does packing help at equal episodes?", "pantry", "er"),
    ("Is Pantry ahead of packed DER++ at equal bytes?", PACKED, f"der++ ({_PACKED_TUNED})"),
    ("Is Pantry ahead of packed CAMA at equal bytes?", PACKED, f"cama ({_PACKED_TUNED})"),
    ("Is CAMA ahead of DER++?", _CAMA, _DERPP),
    ("Is CAMA ahead of ER?", _CAMA, "er"),
    ("Is DER++ ahead of ER?", _DERPP, "er"),
    ("Is there room above ER?", "joint", "er"),
)

#: Asked of the best of the others, whichever that is.
AHEAD = "Is Pantry ahead of the best other method?"

#: The methods of the paper that learn along the stream.
RIVALS = ("finetuning", "ewc++", "er", "mir", "clib", "der++", "x-der", "cama-without-dc", "cama")


@dataclass(frozen=True)
class Answer:
    """What came of one question.

    Args:
        question: in words.
        pair: the two methods.
        gaps: by split.
        corrected: p-values by split, for all questions of the table.
        wins: the probability of improvement on unseen rooms.
    """

    question: str
    pair: tuple[str, str]
    gaps: Mapping[str, Difference]
    corrected: Mapping[str, float]
    wins: float | None

    @property
    def verdict(self) -> str:
        """By the rule."""
        signs = {gap.mean > 0 for split, gap in self.gaps.items() if self.corrected[split] < LEVEL}
        if len(signs) != 1:
            return "it depends" if signs else "not sure"
        return "yes" if signs.pop() else "no, it costs"


def asked(runs: Sequence[Results]) -> dict[str, dict[str, list[Results]]]:
    """Runs that a question can be asked of: by what they share but the setup, then by method."""
    found: dict[str, dict[str, list[Results]]] = {}
    for run in runs:
        config = run.config
        if config.schedule == "disjoint" and config.setup in HEADLINE and config.preset == "paper":
            ground = group_title(run).partition(", ")[2]
            title = re.sub(r"memory_bytes \d+", BYTES, config.method_title)
            found.setdefault(ground, {}).setdefault(title, []).append(run)
    return found


def answers(methods: Mapping[str, Sequence[Results]]) -> list[Answer]:
    """To all questions of which there are runs of both methods."""
    questions = [one for one in QUESTIONS if one[1] in methods and one[2] in methods]
    rival = best(methods)
    if PACKED in methods and rival is not None:
        questions.append((AHEAD, PACKED, rival))
    found = []
    for question, first, second in questions:
        gaps = {split: compare(methods[first], methods[second], split) for split in SPLITS}
        there = {split: gap for split, gap in gaps.items() if gap is not None}
        if len(there) == len(SPLITS) and min(gap.runs for gap in there.values()) >= PAIRS:
            found.append((question, first, second, there))
    corrected = iter(holm([gap.p for *_, gaps in found for gap in gaps.values()]))
    return [
        Answer(
            question,
            (displayed(methods[first][0]), displayed(methods[second][0])),
            gaps,
            {split: next(corrected) for split in gaps},
            probability_of_improvement(methods[first], methods[second], "unseen"),
        )
        for question, first, second, gaps in found
    ]


def best(methods: Mapping[str, Sequence[Results]]) -> str | None:
    """The method of the paper that solves most in unseen rooms, by default or distilling as tuned.

    ``None`` if none ran.
    """
    rates = {}
    for name, runs in methods.items():
        if name.removesuffix(f" ({TUNED})") not in RIVALS:
            continue
        setups = {run.config.setup for run in runs}
        values = [run.metric("unseen", "SR_last") for run in runs]
        there = [value for value in values if value is not None]
        if there and setups == set(HEADLINE):
            rates[name] = sum(there) / len(there)
    return max(rates, key=rates.__getitem__) if rates else None
