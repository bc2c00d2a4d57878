"""What a reader takes from a report: the best, no false signs, colours, episodes, words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import METRICS, read_results
from clalfred.cl.report.formats import as_latex, as_markdown, as_text, interval, number
from clalfred.cl.report.html import as_html, distinct_colours
from clalfred.cl.report.summary import Row, Statistic, Table, load_runs, summarise
from clalfred.cl.report.text import percent
from clalfred.scripts.report import main
from gym_clalfred.errors import DataError
from tests.helpers.browser import CHROMIUM, browser
from tests.helpers.report_runs import EPISODES, invented_results, write_runs
from tests.helpers.runs import fake_config


def table_of(**means: float) -> Table:
    """Methods with one run each and these success rates."""
    rows = (
        Row(method, ((1, 0),), {("seen", "SR_last"): Statistic(mean, None, None, None, 1)}, {})
        for method, mean in means.items()
    )
    return Table("a tie", "behavior-il", tuple(rows))


def test_all_that_tie_are_the_best() -> None:
    # The third differs in digits that nobody sees.
    table = table_of(finetuning=0.1, er=0.230769, cama=0.2307694)
    assert table.best("seen", "SR_last") == {"er", "cama"}
    metrics = ("SR_last",)
    assert as_text([table], metrics).count("23.08 *") == 2
    assert as_markdown([table], metrics).count("**23.08**") == 2
    assert as_latex([table], metrics).count("\\textbf{23.08}") == 2
    assert as_html([], [table], metrics).count('"best": true') == 2
    assert table_of(finetuning=0.0, er=0.0).best("seen", "SR_last") == {"finetuning", "er"}


@pytest.mark.parametrize("share", [-1e-9, -0.0, 0.0, 1e-9])
def test_nothing_is_minus_zero(share: float) -> None:
    nearly = Statistic(share, 0.0, share, share, 3)
    assert percent(share) == "0.00"
    assert number(nearly) == "0.00 ± 0.00"
    assert number(nearly, signed=True) == "+0.00 ± 0.00"
    assert interval(nearly) == "[0.00, 0.00]"
    assert percent(-0.001) == "-0.10"


@pytest.mark.parametrize("count", [1, 7, 12, 14, 40, 200])
def test_every_method_has_a_colour_of_its_own(count: int) -> None:
    colours = distinct_colours(count)
    assert len(set(colours)) == len(colours) == count
    assert all(re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in colours)
    assert colours == distinct_colours(count + 1)[:count]


def test_methods_have_their_colours_on_the_page() -> None:
    table = table_of(**{f"method{number}": 0.1 for number in range(14)})
    page = as_html([], [table], ("SR_last",))
    match = re.search(r'"colours": (\{.*?\})', page)
    assert match
    colours = json.loads(match[1])
    assert list(colours) == [row.method for row in table.rows]
    assert len(set(colours.values())) == 14


def test_tables_and_page_tell_the_number_of_episodes(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, ("finetuning", "er"), ("behavior-il",), (1,), (0,))
    tables = summarise(runs)
    told = f"{7 * EPISODES} test episodes per run"
    for text in (as_text(tables), as_markdown(tables), as_latex(tables), as_html(runs, tables)):
        assert text.count(told) == 2
    fewer = replace(tables[0], episodes={"seen": (1,), "unseen": (20, 40)})
    assert "seen rooms, 1 test episode per run" in as_text([fewer])
    assert "unseen rooms, 20–40 test episodes per run" in as_text([fewer])


def test_the_page_explains_every_metric() -> None:
    page = as_html([], [table_of(er=0.1, cama=0.2)])
    words = re.search(r"<dl>.*</dl>", page, re.DOTALL)
    assert words
    for name in METRICS:
        stem = re.sub(r"_(last|avg)$", "", name).removesuffix("_SR").removesuffix("_GC")
        assert f"<dt>{stem}</dt>" in words[0], name


def test_one_damaged_file_is_left_out_and_named(tmp_path: Path) -> None:
    write_runs(tmp_path, ("finetuning", "er"), ("behavior-il",), (1,), (0,))
    damaged = next(iter(sorted(tmp_path.rglob("results.json"))))
    damaged.write_text(damaged.read_text()[:1000])
    notices: list[str] = []
    runs = load_runs(tmp_path, notices.append)
    assert len(runs) == 1
    assert len(notices) == 1
    assert notices[0].startswith(f"{damaged}: not a JSON document")
    assert notices[0].endswith(": left out")
    shown = CliRunner().invoke(main, [str(tmp_path)])
    assert shown.exit_code == 0
    assert notices[0] in shown.output
    assert "\n" not in notices[0]


def test_only_damaged_files_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(DataError, match=r"results\.json: format: expected 1"):
        load_runs(tmp_path)


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        ("SR_last", 7.5, "0 to 1"),
        ("SR_last", -0.1, "0 to 1"),
        ("GC_avg", 1.01, "0 to 1"),
        ("forgetting", -1.5, "-1 to 1"),
        ("backward_transfer", 2, "-1 to 1"),
    ],
)
def test_metrics_that_are_no_shares_are_refused(
    tmp_path: Path, metric: str, value: float, expected: str
) -> None:
    document = invented_results(fake_config(setup="behavior-il", method="er"), 0.5).to_dict()
    document["splits"]["seen"]["metrics"][metric] = value
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    with pytest.raises(
        DataError,
        match=rf"seen.metrics.{metric}: expected a number from {expected} or null, found {value}",
    ):
        read_results(path)


@pytest.mark.parametrize(("metric", "value"), [("forgetting", -1), ("SR_last", 1.0)])
def test_the_ends_of_the_range_are_fine(tmp_path: Path, metric: str, value: float) -> None:
    document = invented_results(fake_config(setup="behavior-il", method="er"), 0.5).to_dict()
    document["splits"]["seen"]["metrics"][metric] = value
    (tmp_path / "results.json").write_text(json.dumps(document))
    assert read_results(tmp_path).metric("seen", metric) == value


def test_the_table_with_the_most_runs_comes_first() -> None:
    one = RunConfig(method="joint", agent="two-branch", overrides={"agent.dropout": 0.1})
    several = [
        RunConfig(method=method, order=order) for method in ("er", "cama") for order in (1, 2)
    ]
    tables = summarise([invented_results(config, 0.5) for config in (one, *several)])
    assert [len(table.rows) for table in tables] == [2, 1]


def test_a_stream_of_own_tasks_does_not_stand_beside_the_papers_numbers() -> None:
    (table,) = summarise([invented_results(RunConfig(method="er"), 0.5)])
    assert table.paper(table.rows[0], "seen", "SR_last") == 0.2671
    (own,) = summarise([invented_results(RunConfig(method="er", tasks="Heat"), 0.5)])
    assert own.paper(own.rows[0], "seen", "SR_last") is None
    assert "paper" not in as_text([own])


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_page_of_long_names_fits_into_its_window(tmp_path: Path) -> None:
    configs = [
        RunConfig(method=method, order=order, overrides=overrides)
        for order in (1, 2, 3)
        for method, overrides in (
            ("er", {}),
            ("cama", {"distillation_weight": 0.02, "queue_length": 20, "memory_bytes": 180_000}),
        )
    ]
    runs = [invented_results(config, 0.5) for config in configs]
    path = tmp_path / "index.html"
    path.write_text(as_html(runs, summarise(runs, "er")), encoding="utf-8")
    with browser(tmp_path / "profile", size="1400,1000") as open_tab:
        tab = open_tab(path.as_uri())
        tab.wait("document.querySelectorAll('.card table').length > 0")
        assert tab.value("document.documentElement.scrollWidth <= innerWidth")
        assert tab.value(
            "[...document.querySelectorAll('.card')].every(e => e.scrollWidth <= e.clientWidth + 1)"
        )
        assert tab.errors == []
