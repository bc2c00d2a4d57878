"""The tables of the published page, in Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import SPLITS
from clalfred.cl.experiment.results import Results
from clalfred.cl.failures import FailureKind, failure_table
from clalfred.cl.registry import is_offline, method_names
from clalfred.cl.report.controls import CONTROLS, control_rates, eyes_of, is_control_subject
from clalfred.cl.report.ground import displayed, group_title
from clalfred.cl.report.paired import Difference, compare, success_rate
from clalfred.cl.report.paper import paper_value
from clalfred.cl.report.questions import HEADLINE, TUNED, answers, asked
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.setups import Setup
from gym_clalfred.tasks.spec import find_task

#: Against what the others are compared.
REFERENCES = ("finetuning", "er")

#: Whose failures and confidence are shown: who leads in the paper.
LEADER = "cama"

SETUP_TITLES = {setup.value: setup.paper_name for setup in Setup}

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
                "Paired differences of SR last in percentage points, same orders and episodes, "
                f"bold where the interval excludes 0:\n\n{differences}"
            )
    return "\n\n".join(parts)


def pooled(runs: Sequence[Results]) -> str:
    """Markdown: the questions and their answers, for each size of memory and way to see."""
    parts = []
    for ground, methods in asked(runs).items():
        found = answers(methods)
        if not found:
            continue
        rows = [["", "difference", "pairs", *SPLITS, "p", "wins", "answer"]]
        for one in found:
            gaps, corrected = one.gaps.values(), one.corrected.values()
            rows.append(
                [
                    one.question,
                    " − ".join(one.pair),
                    str(max(gap.runs for gap in gaps)),
                    *map(_gap, gaps),
                    " / ".join(f"{p:.3f}" for p in corrected),
                    _percent(one.wins),
                    f"**{one.verdict}**",
                ]
            )
        parts.append(f"`{ground}`\n\n{_markdown(rows)}")
    return "\n\n".join(parts)


def memories(runs: Sequence[Results]) -> str:
    """Markdown: SR last, seen / unseen, over both of the paper's setups at every size of memory."""
    sizes: dict[str, dict[str, dict[int, list[Results]]]] = {}
    for ground, methods in asked(as_they_are(runs)).items():
        eyes = re.sub(r", memory \d+", "", ground)
        for method, group in methods.items():
            for run in of_all_methods(group):
                size = run.config.memory or run.training.memory
                if size:
                    row = sizes.setdefault(eyes, {}).setdefault(method, {})
                    row.setdefault(size, []).append(run)
    parts = []
    for eyes, methods_here in sizes.items():
        columns = sorted({size for row in methods_here.values() for size in row})
        if len(columns) < 2:
            continue
        rows = [["method", *(f"{size} episodes" for size in columns)]]
        for row in methods_here.values():
            cells = [_pair_of_means(row.get(size, [])) for size in columns]
            # Limits in bytes differ between sizes.
            title = re.sub(r"[\d,]+ kB", "equal bytes", displayed(next(iter(row.values()))[0]))
            rows.append([title, *cells])
        parts.append(f"`{eyes}`\n\n{_markdown(rows)}")
    return "\n\n".join(parts)


def _pair_of_means(runs: Sequence[Results]) -> str:
    """Seen / unseen, and of how many runs."""
    if not runs:
        return "–"
    return " / ".join(_mean(runs, split, "SR_last") for split in SPLITS) + f" ({len(runs)})"


def controls(folder: Path, runs: Sequence[Results]) -> str:
    """Markdown: Joint agents as they are, and without rules, sight or words."""
    rates = control_rates(folder)
    whole: dict[tuple[str, str], list[Results]] = {}
    for run in runs:
        taken = " ".join(run.config.controls)
        if is_control_subject(replace(run.config, blind=False, deaf=False)):
            title = f"trained {taken}" if taken else "unchanged"
            whole.setdefault((eyes_of(run), title), []).append(run)
    for control, group in whole.items():
        solved = {split: success_rate(group, split) for split in SPLITS}
        rates[control] = {split: rate for split, rate in solved.items() if rate is not None}
    order = ["unchanged", *CONTROLS]
    rows = [["eyes", "Joint", "runs", "episodes", *(f"{split}: SR" for split in SPLITS)]]
    for (eyes, name), found in sorted(
        rates.items(),
        key=lambda one: (one[0][0], order.index(one[0][1]) if one[0][1] in order else len(order)),
    ):
        cells = [
            f"{_percent(found[split].mean)} {_interval(found[split])}" if split in found else "–"
            for split in SPLITS
        ]
        episodes = " / ".join(f"{found[split].episodes}" for split in SPLITS if split in found)
        runs_there = str(max(one.runs for one in found.values()))
        rows.append([eyes, name, runs_there, episodes, *cells])
    return _markdown(rows) if len(rows) > 1 else ""


def behaviours(runs: Sequence[Results]) -> str:
    """Markdown: how much Joint agents of Behavior-IL solve of each behaviour, in %."""
    joint = [run for run in as_they_are(runs) if is_control_subject(run.config)]
    if not joint:
        return ""
    titles = {one.paper_name: name for name in joint[0].tasks if (one := find_task(name))}
    rows = [["rooms", *sorted(titles)]]
    for split in SPLITS:
        last = [dict(zip(run.tasks, run.matrix(split)[-1])) for run in joint]
        rates = [
            [rate for row in last if (rate := row[titles[title]]) is not None]
            for title in sorted(titles)
        ]
        rows.append([split, *(_percent(sum(some) / len(some) if some else None) for some in rates)])
    return _markdown(rows)


def data_curve(runs: Sequence[Results]) -> str:
    """Markdown: success against the number of trajectories, at an equal number of updates."""
    part = [run for run in runs if run.config.episodes_per_task is not None]
    shared = {_curve_key(run.config) for run in part}
    whole = [
        run
        for run in as_they_are(runs)
        if run not in part and not run.config.agent_changes and _curve_key(run.config) in shared
    ]
    rows = [["trajectories", *(f"{split}: SR" for split in SPLITS)]]
    for run in sorted([*part, *whole], key=lambda run: run.stream.length):
        rates = [success_rate([run], split) for split in SPLITS]
        cells = ["–" if one is None else f"{_percent(one.mean)} {_interval(one)}" for one in rates]
        rows.append([f"{run.stream.length:,}", *cells])
    return _markdown(rows) if part else ""


def _curve_key(config: RunConfig) -> tuple[Any, ...]:
    return config.method, config.agent, config.setup, config.schedule, config.order, config.memory


def cost(runs: Sequence[Results]) -> str:
    """How many runs there are and what they took, in words."""
    hours = sum(map(_minutes, runs)) / 60
    return f"{len(runs)} runs, {hours:.1f} hours of one core"


def ablations(runs: Sequence[Results]) -> str:
    """Markdown: methods with other settings, beside the same methods as they are."""
    header = [f"{name}: {what}" for name in SPLITS for what in _ABLATED]
    rows = [["", "setup", "orders", *header]]
    variants: dict[tuple[str, str], list[Results]] = {}
    usual = {run.config.method_title for run in runs if not run.config.variant}
    for run in sorted(runs, key=_variant_order):
        if run.config.controls:
            continue
        # Another memory is a variant only of what there is with the usual one.
        if not _other_settings(run.config) and (
            not run.config.variant or _plain_title(run) not in usual
        ):
            continue
        config = run.config
        title = displayed(run)
        if config.memory is not None:
            title += f", memory {config.memory}"
        variants.setdefault((title, SETUP_TITLES[config.setup]), []).append(run)
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


_ABLATED = ("SR last", "SR avg", "change of SR last")


def failures(run: Results, source: EpisodeSource) -> str:
    """Markdown: why the episodes of a run's last evaluation failed, by task type."""
    parts = []
    for split in SPLITS:
        table = failure_table(source, run.last_episodes(split))
        total: Counter[str] = sum(table.values(), Counter())
        columns = [name for name in ("solved", *(one.value for one in FailureKind)) if total[name]]
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
    rows = [[*header, "forgetting, seen", "passes", "kB kept", "minutes"]]
    for runs in methods.values():
        row = [displayed(runs[0]) + told(runs[0]), str(len(runs))]
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
        row += [_mean(runs, "seen", "forgetting"), _passes(runs)]
        row += [f"{kept:,.0f}", f"{minutes:.1f}"]
        rows.append(row)
    return _markdown(rows)


def told(run: Results) -> str:
    """A mark for methods that are told more than episodes."""
    marks = {"needs_boundaries": BOUNDARIES, "needs_labels": LABELS}
    return "".join(mark for name, mark in marks.items() if getattr(run.training, name))


def _papers(run: Results, split: str) -> float | None:
    config = run.config
    return paper_value(config.method_title, config.setup, split, "SR_last", config.schedule)


def _differences(methods: dict[str, list[Results]]) -> str:
    rows = [["", "orders", *SPLITS]]
    for second in REFERENCES:
        for first in methods:
            rival = first not in REFERENCES or second == REFERENCES[0]
            if first == second or second not in methods or not rival:
                continue
            if second != REFERENCES[0] and is_offline(methods[first][0].config.method):
                continue
            gaps = [compare(methods[first], methods[second], split) for split in SPLITS]
            pairs = max(gap.runs if gap else 0 for gap in gaps)
            if pairs:
                title = " − ".join(displayed(methods[one][0]) for one in (first, second))
                rows.append([title, str(pairs), *map(_gap, gaps)])
    return _markdown(rows) if len(rows) > 1 else ""


def headline(runs: Sequence[Results]) -> str:
    """Markdown: SR last, seen / unseen, in the paper's setups, and the paper's own.

    Of all methods that have as many runs in both setups as the one that has most.
    """
    plain = [run for run in as_they_are(runs) if run.config.schedule == "disjoint"]
    titles = [SETUP_TITLES[setup] for setup in HEADLINE]
    rows = [["", *(cell for title in titles for cell in (title, "paper"))]]
    # Of several memories, the one that most runs have.
    setups = {group[0].config.setup: group for group in sorted(groups(plain), key=len)}
    found = {setup: by_method(setups.get(setup, [])) for setup in HEADLINE}
    methods = by_method(plain)
    least = {name: min(len(found[setup].get(name, ())) for setup in HEADLINE) for name in methods}
    for method, group in methods.items():
        if least[method] < max(least.values()):
            continue
        row = [displayed(group[0])]
        for setup in HEADLINE:
            here = found[setup].get(method, [])
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
    other = config.agent != RunConfig.agent, config.schedule != "disjoint"
    return *other, config.memory or 0, config.schedule, setups.index(config.setup)


def heading(group: Sequence[Results]) -> str:
    """What people call the setup and schedule of a group."""
    config = group[0].config
    parts = [SETUP_TITLES[config.setup]]
    if config.schedule != "disjoint":
        parts.append(f"{config.schedule} schedule")
    if config.agent != RunConfig.agent:
        parts.append(f"agent {config.agent}")
    if config.memory is not None:
        parts.append(f"memory of {config.memory}")
    return ", ".join(parts)


def of_all_methods(runs: Sequence[Results]) -> list[Results]:
    """Those of the orders that every method is run on, so that their means can be compared."""
    return [run for run in runs if run.config.order in ORDERS]


def on_most_orders(methods: Mapping[str, list[Results]]) -> dict[str, list[Results]]:
    """The main methods of a group: those that ran on more orders than the others."""
    most = max(map(len, methods.values()), default=0)
    return {name: runs for name, runs in methods.items() if len(runs) == most}


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
    """Those of methods with the settings of their preset, or distilling as strongly as is best.

    The size of their memory does not matter, nor whether it is packed.
    """
    return [run for run in runs if not _other_settings(run.config)]


def _other_settings(config: RunConfig) -> set[str]:
    tuned = {"distillation_weight"} if TUNED in config.method_title else set()
    return config.variant.keys() - {"memory", "memory_bytes", "packed"} - tuned


def _plain_title(run: Results) -> str:
    """The method with its preset and its limit in bytes, without other settings."""
    ours = {name: one for name, one in run.config.overrides.items() if name == "memory_bytes"}
    return RunConfig.recorded({**run.config.to_dict(), "overrides": ours}).method_title


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
    budget = run.training.budget or {}
    # Older files count passes among the bytes.
    return sum(value for name, value in budget.items() if name != "forwards") / 1000


def _passes(runs: Sequence[Results]) -> str:
    """Thousands of episodes that went forwards and backwards through a network in training."""
    means = []
    for name in ("forwards", "backwards"):
        there = [count for run in runs if (count := getattr(run.training, name))]
        means.append(f"{sum(there) / len(there) / 1000:.0f} k" if there else "–")
    return " / ".join(means)


def _minutes(run: Results) -> float:
    """Of processor time."""
    return float(run.seconds.processor or 0) / 60


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


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines)
