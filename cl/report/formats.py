"""The tables as text, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterator, Sequence

from clalfred.cl.report.paper import SOURCE
from clalfred.cl.report.summary import MAIN_METRICS, SPLITS, Row, Statistic, Table
from clalfred.cl.report.text import hundredths, percent
from gym_clalfred.tables import TEXT_WIDTH, fitted

Render = Callable[[Sequence[Table], Sequence[str]], str]


def as_text(tables: Sequence[Table], metrics: Sequence[str] = MAIN_METRICS) -> str:
    """For a terminal; the best has a star."""
    parts = []
    for table, split, title in _by_split(tables):
        rows = [_header(table, metrics)]
        rows += [_cells(table, split, row, metrics, lambda text: f"{text} *") for row in table.rows]
        parts.append(f"{textwrap.fill(title, TEXT_WIDTH, break_on_hyphens=False)}\n{fitted(rows)}")
    return (
        "\n\n".join([*parts, textwrap.fill(_notes(tables, metrics, "a star"), TEXT_WIDTH)]) + "\n"
    )


def as_markdown(tables: Sequence[Table], metrics: Sequence[str] = MAIN_METRICS) -> str:
    """For a README; the best is bold."""
    parts = []
    for table, split, title in _by_split(tables):
        rows = [_header(table, metrics)]
        rows.append(["---", *["---:"] * (len(rows[0]) - 1)])
        rows += [
            _cells(table, split, row, metrics, lambda text: f"**{text}**") for row in table.rows
        ]
        body = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        parts.append(f"### {title}\n\n{body}")
    return "\n\n".join([*parts, _notes(tables, metrics, "bold type")]) + "\n"


def as_latex(tables: Sequence[Table], metrics: Sequence[str] = MAIN_METRICS) -> str:
    """With booktabs; the best is bold."""
    parts = []
    for table, split, title in _by_split(tables):
        header = _header(table, metrics)
        rows = [
            _cells(table, split, row, metrics, lambda text: f"\\textbf{{{text}}}")
            for row in table.rows
        ]
        lines = [
            f"% {title}",
            f"\\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            "\\toprule",
            " & ".join(map(_escaped, header)) + " \\\\",
            "\\midrule",
            *(" & ".join(map(_escaped, row)) + " \\\\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, f"% {_notes(tables, metrics, 'bold type')}"]) + "\n"


def as_csv(tables: Sequence[Table], metrics: Sequence[str] = MAIN_METRICS) -> str:
    """One line per table, method, split and metric; shares in 0..1, nothing rounded."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    columns = ("mean", "deviation", "low", "high", "runs")
    differences = [f"difference_{name}" for name in columns]
    writer.writerow(
        ["table", "method", "split", "metric", *columns, "baseline", *differences, "paper"]
    )
    for table in tables:
        for row in table.rows:
            for split in SPLITS:
                for metric in metrics:
                    there = row.statistics.get((split, metric))
                    gap = row.differences.get((split, metric))
                    paper = table.paper(row, split, metric)
                    writer.writerow(
                        [
                            table.title,
                            row.method,
                            split,
                            metric,
                            *(_blank(there, name) for name in columns),
                            table.baseline or "",
                            *(_blank(gap, name) for name in columns),
                            "" if paper is None else paper,
                        ]
                    )
    return buffer.getvalue()


FORMATS: dict[str, Render] = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
}


def number(statistic: Statistic | None, signed: bool = False) -> str:
    """Mean and deviation in %, as the paper prints them."""
    if statistic is None:
        return "\u2013"
    mean = f"{hundredths(statistic.mean):{'+' if signed else ''}.2f}"
    if statistic.deviation is None:
        return mean
    return f"{mean} \u00b1 {100 * statistic.deviation:.2f}"


def interval(statistic: Statistic | None) -> str:
    """The 95 % interval in %, empty where there is none."""
    if statistic is None or statistic.low is None or statistic.high is None:
        return ""
    return f"[{percent(statistic.low)}, {percent(statistic.high)}]"


def _by_split(tables: Sequence[Table]) -> Iterator[tuple[Table, str, str]]:
    for table in tables:
        for split in SPLITS:
            yield table, split, f"{split} rooms{tested(table, split)}: {table.title}"


def tested(table: Table, split: str) -> str:
    """How many episodes the figures of a split are about; they may differ between runs."""
    counts = table.episodes.get(split, ())
    if not counts:
        return ""
    number = "\u2013".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return f", {number} test {'episode' if counts[-1] == 1 else 'episodes'} per run"


def _header(table: Table, metrics: Sequence[str]) -> list[str]:
    first = metrics[0]
    names = ["method", "runs", *metrics, f"{first}, 95 %"]
    if table.baseline:
        names.append(f"{first} - {table.baseline}, 95 %")
    if _has_paper(table, metrics):
        names.append(f"{first} in the paper")
    return names


def _cells(
    table: Table, split: str, row: Row, metrics: Sequence[str], emphasise: Callable[[str], str]
) -> list[str]:
    cells = [row.method, str(len(row.runs))]
    for metric in metrics:
        text = number(row.statistics.get((split, metric)))
        cells.append(emphasise(text) if row.method in table.best(split, metric) else text)
    cells.append(interval(row.statistics.get((split, metrics[0]))) or "\u2013")
    if table.baseline:
        gap = row.differences.get((split, metrics[0]))
        cells.append(f"{number(gap, signed=True)} {interval(gap)}".strip())
    if _has_paper(table, metrics):
        value = table.paper(row, split, metrics[0])
        cells.append("\u2013" if value is None else f"{100 * value:.2f}")
    return cells


def _has_paper(table: Table, metrics: Sequence[str]) -> bool:
    return any(table.paper(row, SPLITS[0], metrics[0]) is not None for row in table.rows)


def _notes(tables: Sequence[Table], metrics: Sequence[str], emphasis: str) -> str:
    notes = [
        f"In %, mean \u00b1 standard deviation over runs; the best has {emphasis} (of the methods "
        "with the most runs of equal orders and seeds; joint is an upper bound and does not "
        "compete); 95 % intervals of SR_last from resampling runs and episodes, in unseen rooms "
        "runs and rooms."
    ]
    for baseline in sorted({table.baseline for table in tables if table.baseline}):
        notes.append(f"'- {baseline}': paired differences over equal orders and seeds.")
    if any(_has_paper(table, metrics) for table in tables):
        notes.append(f"'in the paper': {SOURCE}.")
    return " ".join(notes)


def _blank(statistic: Statistic | None, name: str) -> object:
    value = None if statistic is None else getattr(statistic, name)
    return "" if value is None else value


def _escaped(text: str) -> str:
    """For LaTeX, outside of the commands that we put in ourselves."""
    text = text.replace("%", "\\%").replace("_", "\\_").replace("&", "\\&")
    return text.replace("\u00b1", "$\\pm$").replace("\u2013", "--")
