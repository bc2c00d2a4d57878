"""The tables of the published page, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from clalfred.agents.acting.records import EpisodeResult
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results
from clalfred.cl.failures import Failure, failure_table
from clalfred.cl.registry import is_offline, method_names
from clalfred.cl.report.paired import (
    Difference,
    compare,
    holm,
    probability_of_improvement,
    success_rate,
)
from clalfred.cl.report.paper import paper_value
from clalfred.cl.report.summary import SPLITS, Statistic, group_title, paired_differences
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.setups import Setup

#: Against what the others are compared, and who leads in the paper.
WORST, LEADER = "finetuning", "cama"

SETUP_TITLES = {setup.value: setup.paper_name for setup in Setup}

#: The paper's setups, in the README's table.
HEADLINE = ("behavior-il", "environment-il")

#: What is asked of the two setups together: does the first method solve more than the second?
QUESTIONS = (
    ("pantry", "er"),
    ("pantry", "der++"),
    ("pantry", "cama"),
    ("cama", "der++"),
    ("cama", "er"),
    ("der++", "er"),
    ("er", "finetuning"),
    ("joint", "er"),
)

#: Marks of methods that are told where tasks begin, or what the task is.
BOUNDARIES, LABELS = "†", "‡"

#: Orders that every method is run on; more of them count in differences only, where both sides
#: have them.
ORDERS = (1, 2, 3)


def tables(runs: Sequence[Results]) -> str:
    """Markdown: for each setup the scores of methods as they are, and the paired differences."""
    parts = []
    for group in groups(as_they_are(runs)):
        scores = _scores(by_method(of_all_methods(group)))
        if BOUNDARIES in scores or LABELS in scores:
            scores += f"\n\n{BOUNDARIES} is told where tasks begin; {LABELS} is told the task."
        parts.append(f"### {heading(group)}\n\n`{group_title(group[0])}`\n\n{scores}")
        differences = _differences(by_method(group))
        if differences:
            parts.append(
                "Paired differences in percentage points, same orders and episodes, with 95 % "
                "intervals: of SR last over\nepisodes (unseen: rooms) and orders, of SR avg over "
                "orders, where there are several; bold where the interval excludes 0:\n\n"
                f"{differences}"
            )
    return "\n\n".join(parts)


def pooled(runs: Sequence[Results]) -> str:
    """Markdown: differences between pairs of methods over both of the paper's setups together."""
    memories: dict[int | None, list[Results]] = {}
    for run in as_they_are(runs):
        if run.config.schedule == "disjoint" and run.config.setup in HEADLINE:
            memories.setdefault(run.config.memory, []).append(run)
    parts = []
    for memory, group in memories.items():
        table = _questions(by_method(group))
        if table:
            title = "the paper's share of the stream" if memory is None else f"{memory} episodes"
            parts.append(f"Memory: {title}.\n\n{table}")
    return "\n\n".join(parts)


def _questions(methods: dict[str, list[Results]]) -> str:
    asked: list[tuple[str, list[Difference], float | None]] = []
    for first, second in _pairs(methods):
        ours, theirs = methods[first], methods[second]
        gaps = [compare(ours, theirs, split) for split in SPLITS]
        found = [gap for gap in gaps if gap is not None]
        if len(found) == len(SPLITS):
            wins = probability_of_improvement(ours, theirs, "unseen")
            asked.append((f"{first} − {second}", found, wins))
    corrected = iter(holm([gap.p for _, found, _ in asked for gap in found]))
    rows = [["", "pairs", *(cell for one in SPLITS for cell in (f"{one}: SR last", "p")), "wins"]]
    for title, found, wins in asked:
        cells = [cell for gap in found for cell in (_gap(gap), f"{next(corrected):.3f}")]
        rows.append([title, str(found[0].runs), *cells, _percent(wins)])
    return _markdown(rows) if asked else ""


def _pairs(methods: Collection[str]) -> Iterator[tuple[str, str]]:
    """The questions, also asked of methods with a limit in bytes."""
    for first, second in QUESTIONS:
        for title in methods:
            limited = title.startswith(f"{first} (memory_bytes")
            if (title == first or limited) and second in methods:
                yield title, second


def ablations(runs: Sequence[Results]) -> str:
    """Markdown: methods with other settings, beside the same methods as they are."""
    header = [f"{name}: {what}" for name in SPLITS for what in _ABLATED]
    rows = [["", "setup", "orders", *header]]
    variants: dict[tuple[str, str], list[Results]] = {}
    usual = {run.config.method_title for run in runs if not run.config.variant}
    for run in sorted(runs, key=_variant_order):
        # Another memory is a variant only of what there is with the usual one.
        changed = run.config.variant.keys() - {"memory", "memory_bytes"}
        if not changed and (not run.config.variant or _plain_title(run) not in usual):
            continue
        config = run.config
        notes = ", ".join(f"{name} {value}" for name, value in config.variant.items())
        variants.setdefault((f"{_plain_title(run)}, {notes}", heading([run])), []).append(run)
    for (title, setup), group in variants.items():
        row = [title, setup, ", ".join(str(run.config.order) for run in group)]
        plain = _plain_title(group[0])
        # Another memory is compared with the usual one, other settings with the same memory.
        memory = group[0].config.memory if group[0].config.variant.keys() != {"memory"} else None
        same = [
            one
            for one in as_they_are(runs)
            if one.config.method_title == plain and one.config.memory == memory
        ]
        for split in SPLITS:
            row += [
                _mean(group, split, "SR_last"),
                _mean(group, split, "SR_avg"),
                _gap(compare(group, same, split)),
            ]
        rows.append(row)
    return _markdown(rows) if len(rows) > 1 else ""


_ABLATED = ("SR last", "SR avg", "SR last − as it is")


def failures(run: Results, source: EpisodeSource) -> str:
    """Markdown: why the episodes of a run's last evaluation failed, by task type."""
    parts = []
    for split in SPLITS:
        episodes = run.document["splits"][split]["episodes"]
        last = [one for one in episodes if one["after"] == len(run.tasks)]
        records = [
            EpisodeResult(**{name: one[name] for name in one if name not in ("after", "on")})
            for one in last
        ]
        table = failure_table(source, records)
        total: Counter[str] = sum(table.values(), Counter())
        columns = [name for name in ("solved", *(one.value for one in Failure)) if total[name]]
        rows = [[f"{split} rooms", *columns]]
        rows += [
            [name, *(str(row[column]) for column in columns)]
            for name, row in [*table.items(), ("all", total)]
        ]
        parts.append(_markdown(rows))
    return "\n\n".join(parts)


def _scores(methods: dict[str, list[Results]]) -> str:
    header = ["method", "runs"]
    for name in SPLITS:
        header += [f"{name}: SR last", "SR avg", "GC last", "paper's SR"]
    rows = [[*header, "forgetting, seen", "kB kept", "minutes"]]
    for method, runs in methods.items():
        row = [method + told(runs[0]), str(len(runs))]
        for split in SPLITS:
            rate = success_rate(runs, split)
            row += [
                "–" if rate is None else f"{_percent(rate.mean)} {_interval(rate)}",
                _mean(runs, split, "SR_avg"),
                _mean(runs, split, "GC_last"),
                _percent(_papers(runs[0], split)),
            ]
        minutes = sum(map(_minutes, runs)) / len(runs)
        kept = sum(map(_kilobytes, runs)) / len(runs)
        row += [_mean(runs, "seen", "forgetting"), f"{kept:,.0f}", f"{minutes:.1f}"]
        rows.append(row)
    return _markdown(rows)


def told(run: Results) -> str:
    """A mark for methods that are told more than episodes."""
    training = run.document["training"]
    marks = {"needs_boundaries": BOUNDARIES, "needs_labels": LABELS}
    return "".join(mark for name, mark in marks.items() if training.get(name))


def _papers(run: Results, split: str) -> float | None:
    config = run.config
    return paper_value(config.method_title, config.setup, split, "SR_last", config.schedule)


def _differences(methods: dict[str, list[Results]]) -> str:
    header = [f"{name}: {what}" for name in SPLITS for what in ("SR last", "SR avg")]
    rows = [["", "orders", *header]]
    pairs = [(name, WORST) for name in methods if name != WORST]
    pairs += [
        (LEADER, name)
        for name in methods
        if name not in (LEADER, WORST) and not is_offline(methods[name][0].config.method)
    ]
    for first, second in pairs:
        if first not in methods or second not in methods:
            continue
        averages = paired_differences(methods[first], methods[second])
        gaps = {split: compare(methods[first], methods[second], split) for split in SPLITS}
        row = [f"{first} − {second}", str(max(gap.runs if gap else 0 for gap in gaps.values()))]
        for split, gap in gaps.items():
            row += [_gap(gap), _average_gap(averages.get((split, "SR_avg")))]
        rows.append(row)
    return _markdown(rows) if len(rows) > 1 else ""


def headline(runs: Sequence[Results]) -> str:
    """Markdown: SR last, seen / unseen, of every method in the paper's setups, and the paper's."""
    plain = [run for run in as_they_are(runs) if run.config.schedule == "disjoint"]
    titles = [SETUP_TITLES[setup] for setup in HEADLINE]
    rows = [["", *(cell for title in titles for cell in (title, "paper"))]]
    # Of several memories, the one that most runs have.
    setups = {group[0].config.setup: group for group in sorted(groups(plain), key=len)}
    for method in by_method(of_all_methods(plain)):
        row = [method]
        for setup in HEADLINE:
            here = by_method(of_all_methods(setups.get(setup, []))).get(method, [])
            ours = " / ".join(_mean(here, split, "SR_last") for split in SPLITS)
            theirs = [_percent(paper_value(method, setup, split, "SR_last")) for split in SPLITS]
            row += [f"{ours} ({len(here)})" if here else "–", " / ".join(theirs)]
        rows.append(row)
    return _markdown(rows)


def groups(runs: Sequence[Results]) -> list[list[Results]]:
    """Runs that can be compared, the paper's setups first."""
    found: dict[str, list[Results]] = {}
    for run in runs:
        found.setdefault(group_title(run), []).append(run)
    return sorted(found.values(), key=_group_order)


def _group_order(group: Sequence[Results]) -> tuple[Any, ...]:
    config = group[0].config
    setups = list(SETUP_TITLES)
    return config.schedule != "disjoint", config.schedule, setups.index(config.setup)


def heading(group: Sequence[Results]) -> str:
    """What people call the setup and schedule of a group."""
    config = group[0].config
    title = SETUP_TITLES[config.setup]
    return title if config.schedule == "disjoint" else f"{title}, {config.schedule} schedule"


def of_all_methods(runs: Sequence[Results]) -> list[Results]:
    """Those of the orders that every method is run on, so that their means can be compared."""
    return [run for run in runs if run.config.order in ORDERS]


def by_method(runs: Sequence[Results]) -> dict[str, list[Results]]:
    """In the order of the registry."""
    known = method_names()
    ordered = sorted(
        runs, key=lambda run: (known.index(run.config.method), run.config.method_title)
    )
    methods: dict[str, list[Results]] = {}
    for run in ordered:
        methods.setdefault(run.config.method_title, []).append(run)
    return methods


def as_they_are(runs: Sequence[Results]) -> list[Results]:
    """Those of methods with the settings of their preset, whatever the size of their memory."""
    return [run for run in runs if not run.config.variant.keys() - {"memory", "memory_bytes"}]


def _plain_title(run: Results) -> str:
    """The method with its preset, without the settings that were changed."""
    return RunConfig.recorded({**run.config.to_dict(), "overrides": {}}).method_title


def is_plain(run: Results) -> bool:
    """Whether it is of the main setup, as the paper runs it."""
    config = run.config
    main = (config.setup, config.schedule, config.preset) == ("behavior-il", "disjoint", "paper")
    return main and bool(as_they_are([run]))


def _variant_order(run: Results) -> tuple[Any, ...]:
    config = run.config
    variant = list(config.variant.items())
    return method_names().index(config.method), config.setup, variant, config.order


def _kilobytes(run: Results) -> float:
    """What a method keeps besides the agent: episodes, logits, other models."""
    budget = run.document["training"].get("budget", {})
    return sum(value for name, value in budget.items() if name != "forwards") / 1000


def _minutes(run: Results) -> float:
    """Of processor time."""
    return float(run.document["seconds"]["processor"]) / 60


def _mean(runs: Sequence[Results], split: str, metric: str) -> str:
    values = [run.metric(split, metric) for run in runs]
    there = [value for value in values if value is not None]
    return _percent(sum(there) / len(there)) if there else "–"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _interval(value: Difference) -> str:
    return f"[{100 * value.low:.1f}, {100 * value.high:.1f}]"


def _gap(value: Difference | None) -> str:
    if value is None:
        return "–"
    text = f"{100 * value.mean:+.1f} {_interval(value)}"
    return f"**{text}**" if value.excludes_zero else text


def _average_gap(value: Statistic | None) -> str:
    if value is None:
        return "–"
    if value.low is None or value.high is None:
        return f"{100 * value.mean:+.1f}"
    return _gap(Difference(value.mean, value.low, value.high, 0, value.runs))


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)
