"""The published results: compact copies of runs, and the page that is made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.rollout import EpisodeResult
from cl.experiment.results import Results, read_results, validate
from cl.failures import Failure, failure_table
from cl.registry import get_method, method_names
from cl.report.paired import Difference, compare, success_rate
from cl.report.paper import paper_value
from cl.report.summary import SPLITS, Statistic, group_title, paired_differences
from cl.report.text import SPLIT_TITLES
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.errors import DataError

#: Points of the learning curves that a published copy keeps.
CURVE_POINTS = 120

#: Against what the others are compared, and who leads in the paper.
WORST, LEADER = "finetuning", "cama"

#: The paper's setups, in the README's table.
HEADLINE = {"behavior-il": "Behavior-IL", "environment-il": "Environment-IL"}

#: Data of published runs that counts as the data named here. The first was made before depth was
#: exact, on another kind of processor. By all that is known of it, it has the same scenes, tasks,
#: actions and words, and a few things that experts put down lie elsewhere (docs/DATA.md).
SAME_DATA = {"small-bb750355": "small-09c0cfc4"}

_DIGITS = 5


def collect(runs: Iterable[Results], folder: Path) -> list[Path]:
    """Writes a compact copy of every run into a folder of published results."""
    made = []
    for run in runs:
        document = compacted(run)
        validate(document)
        path = folder / f"{run.config.name}.json"
        with atomic_file(path) as file:
            file.write((json.dumps(document, separators=(",", ":")) + "\n").encode())
        made.append(path)
    return made


def compacted(run: Results) -> dict[str, Any]:
    """The results with the episodes of the last evaluation only, and thinner curves."""
    document = dict(run.document)
    last = len(run.tasks)
    document["splits"] = {
        split: {**part, "episodes": [one for one in part["episodes"] if one["after"] == last]}
        for split, part in document["splits"].items()
    }
    curves = document["curves"]
    stride = max(1, -(-len(curves) // CURVE_POINTS))
    document["curves"] = [
        {name: round(value, _DIGITS) for name, value in row.items()} for row in curves[::stride]
    ]
    document["seconds"] = {name: round(value) for name, value in document["seconds"].items()}
    return document


def read_published(folder: Path) -> list[Results]:
    """The runs that ``collect`` wrote into a folder; data that is the same has one name."""
    runs = [read_results(path) for path in sorted(folder.glob("*.json"))]
    if not runs:
        raise DataError(f"{folder}: no published results; collect some first")
    return [_with_data_named(run) for run in runs]


def _with_data_named(run: Results) -> Results:
    labels = run.document["labels"]
    data = SAME_DATA.get(labels["data"], labels["data"])
    return replace(run, document={**run.document, "labels": {**labels, "data": data}})


def write_page(folder: Path, page: Path, source: EpisodeSource) -> list[Path]:
    """Writes the page and its figures from a folder of published results.

    ``reading.md`` in that folder is what people wrote about them; its marks ``{{tables}}``,
    ``{{ablations}}``, ``{{failures}}``, ``{{curves}}``, ``{{confidence}}`` and ``{{objects}}`` are
    filled in.

    Args:
        folder: with the files that ``collect`` wrote.
        page: the file to write.
        source: the episodes that the runs were evaluated on.
    """
    # matplotlib is only needed here.
    from cl.report import figures

    runs = read_published(folder)
    shown = folder / "figures"
    made: list[Path] = []

    def link(path: Path) -> str:
        made.append(path)
        return f"![{path.stem}]({path.relative_to(page.parent).as_posix()})"

    curves = []
    for title, group in _groups(_as_they_are(runs)):
        config = group[0].config
        name = f"success-{config.setup}-{config.schedule}.png"
        if len(_by_method(group)) > 1:
            path = figures.success_curves(_by_method(group), shown / name)
            curves.append(f"{title}:\n\n{link(path)}")
    leaders = [run for run in runs if _is_plain(run) and run.config.method == LEADER]
    fillings = {
        "tables": tables(runs),
        "ablations": ablations(runs),
        "curves": "\n\n".join(curves),
        "objects": link(figures.objects_by_behaviour(source, shown / "objects.png")),
        "failures": failures(leaders[0], source) if leaders else "",
        "confidence": link(figures.confidence(leaders[0], shown / "confidence.png"))
        if leaders
        else "",
    }
    text = (folder / "reading.md").read_text()
    for mark, filling in fillings.items():
        text = text.replace(f"{{{{{mark}}}}}", filling)
    with atomic_file(page) as file:
        file.write(text.encode())
    return [page, *made]


def tables(runs: Sequence[Results]) -> str:
    """Markdown: for each setup the scores of methods as they are, and the paired differences."""
    parts = []
    for title, group in _groups(_as_they_are(runs)):
        methods = _by_method(group)
        parts.append(f"### {title}\n\n{_scores(methods)}")
        differences = _differences(methods)
        if differences:
            parts.append(
                "Paired differences in percentage points, same orders and episodes, with 95 % "
                "intervals: of SR last over episodes and orders, of SR avg over orders, where "
                "there are several; bold where the interval excludes 0:\n\n"
                f"{differences}"
            )
    return "\n\n".join(parts)


def ablations(runs: Sequence[Results]) -> str:
    """Markdown: methods with other settings, beside the same methods as they are."""
    header = [f"{name}: {what}" for name in SPLIT_TITLES.values() for what in _ABLATED]
    rows = [["", "setup, order", *header]]
    plain = _as_they_are(runs)
    for run in sorted((run for run in runs if run.config.variant), key=_variant_order):
        config = run.config
        notes = ", ".join(f"{name} {value}" for name, value in config.variant.items())
        row = [f"{config.method}, {notes}", f"{config.setup}, {config.order}"]
        same = [one for one in plain if one.config.method == config.method]
        for split in SPLITS:
            row += [
                _percent(run.metric(split, "SR_last")),
                _percent(run.metric(split, "SR_avg")),
                _gap(compare([run], same, split)),
            ]
        rows.append(row)
    return _markdown(rows) if len(rows) > 1 else ""


_ABLATED = ("SR last", "SR avg", "SR last − as it is")


def failures(run: Results, source: EpisodeSource) -> str:
    """Markdown: why the episodes of a run's last evaluation failed, by task type."""
    parts = []
    for split, title in SPLIT_TITLES.items():
        episodes = run.document["splits"][split]["episodes"]
        last = [one for one in episodes if one["after"] == len(run.tasks)]
        records = [
            EpisodeResult(**{name: one[name] for name in one if name not in ("after", "on")})
            for one in last
        ]
        table = failure_table(source, records)
        total: Counter[str] = sum(table.values(), Counter())
        columns = [name for name in ("solved", *(one.value for one in Failure)) if total[name]]
        rows = [[f"valid {title}", *columns]]
        rows += [
            [name, *(str(row[column]) for column in columns)]
            for name, row in [*table.items(), ("all", total)]
        ]
        parts.append(_markdown(rows))
    return "\n\n".join(parts)


def _scores(methods: dict[str, list[Results]]) -> str:
    header = ["method", "runs"]
    for name in SPLIT_TITLES.values():
        header += [f"{name}: SR last", "SR avg", "GC last", "paper's SR"]
    rows = [[*header, "forgetting, seen", "minutes"]]
    for method, runs in methods.items():
        row = [method, str(len(runs))]
        for split in SPLITS:
            rate = success_rate(runs, split)
            row += [
                "–" if rate is None else f"{_percent(rate.mean)} {_interval(rate)}",
                _mean(runs, split, "SR_avg"),
                _mean(runs, split, "GC_last"),
                _percent(_papers(runs[0], split)),
            ]
        minutes = sum(map(_minutes, runs)) / len(runs)
        row += [_mean(runs, "valid_seen", "forgetting"), f"{minutes:.1f}"]
        rows.append(row)
    return _markdown(rows)


def _papers(run: Results, split: str) -> float | None:
    """The paper's SR last, which has disjoint streams only."""
    config = run.config
    if config.schedule != "disjoint":
        return None
    return paper_value(config.method_title, config.setup, split, "SR_last")


def _differences(methods: dict[str, list[Results]]) -> str:
    header = [f"{name}: {what}" for name in SPLIT_TITLES.values() for what in ("SR last", "SR avg")]
    rows = [["", "orders", *header]]
    pairs = [(name, WORST) for name in methods if name != WORST]
    pairs += [
        (LEADER, name)
        for name in methods
        if name not in (LEADER, WORST) and not get_method(methods[name][0].config.method).offline
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
    plain = [run for run in _as_they_are(runs) if run.config.schedule == "disjoint"]
    rows = [["", *(cell for title in HEADLINE.values() for cell in (title, "paper"))]]
    for method, group in _by_method(plain).items():
        row = [method]
        for setup in HEADLINE:
            here = [run for run in group if run.config.setup == setup]
            ours = " / ".join(_mean(here, split, "SR_last") for split in SPLITS)
            theirs = [_percent(paper_value(method, setup, split, "SR_last")) for split in SPLITS]
            row += [f"{ours} ({len(here)})" if here else "–", " / ".join(theirs)]
        rows.append(row)
    return _markdown(rows)


def fill_in(page: Path, name: str, filling: str) -> None:
    """Replaces what stands between ``<!-- name -->`` and ``<!-- /name -->`` in a page."""
    text = page.read_text()
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise DataError(f"{page}: expected the marks {begin} and {end} once each")
    before, rest = text.split(begin)
    with atomic_file(page) as file:
        file.write(f"{before}{begin}\n{filling}\n{end}{rest.split(end)[1]}".encode())


def _groups(runs: Sequence[Results]) -> list[tuple[str, list[Results]]]:
    """Runs that can be compared."""
    groups: dict[str, list[Results]] = {}
    for run in runs:
        groups.setdefault(group_title(run), []).append(run)
    return sorted(groups.items())


def _by_method(runs: Sequence[Results]) -> dict[str, list[Results]]:
    """In the order of the registry."""
    known = method_names()
    ordered = sorted(
        runs, key=lambda run: (known.index(run.config.method), run.config.method_title)
    )
    methods: dict[str, list[Results]] = {}
    for run in ordered:
        methods.setdefault(run.config.method_title, []).append(run)
    return methods


def _as_they_are(runs: Sequence[Results]) -> list[Results]:
    """Those of methods with the settings of their preset."""
    return [run for run in runs if not run.config.variant]


def _is_plain(run: Results) -> bool:
    """Whether it is of the main setup, as the paper runs it."""
    config = run.config
    main = (config.setup, config.schedule, config.preset) == ("behavior-il", "disjoint", "paper")
    return main and not config.variant


def _variant_order(run: Results) -> tuple[Any, ...]:
    config = run.config
    variant = list(config.variant.items())
    return method_names().index(config.method), config.setup, variant, config.order


def _minutes(run: Results) -> float:
    """Of processor time, or by the clock if the run did not count that."""
    seconds = run.document["seconds"]
    return float(seconds.get("processor") or seconds["train"] + seconds["evaluate"]) / 60


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
