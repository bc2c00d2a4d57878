"""Reports: figures equal those made by hand, every format says the same, the page works."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec import UNSET, structs

from clalfred.agents.acting.recording import write_film
from clalfred.agents.vision.conv_encoder import ConvEncoder
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import METRICS, Labels, Results, Seconds, read_results
from clalfred.cl.report.formats import as_csv, as_latex, as_markdown, as_text
from clalfred.cl.report.ground import group_title
from clalfred.cl.report.html import as_html
from clalfred.cl.report.paired import compare, success_rate
from clalfred.cl.report.paper import paper_value
from clalfred.cl.report.plots import plot_all, plot_tasks, plot_training, task_borders
from clalfred.cl.report.publish import collect, compacted
from clalfred.cl.report.summary import SPLITS, Table, load_runs, statistic, summarise
from clalfred.scripts.report import main
from gym_clalfred.errors import BadInputError, DataError, UnknownMethodError
from gym_clalfred.tables import TEXT_WIDTH, fitted
from tests.helpers.report_runs import EPISODES, invented_results, write_runs
from tests.helpers.runs import fake_config, run_fake

DEFAULT_SIGHT = ConvEncoder().name
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    fake_config()
    path = tmp_path_factory.mktemp("runs")
    write_runs(path)
    return path


@pytest.fixture(scope="module")
def tables(folder: Path) -> list[Table]:
    return summarise(load_runs(folder), "er")


def by_hand(folder: Path, method: str, split: str, metric: str) -> list[float]:
    """From the per-episode records alone, in the order of orders and seeds."""
    values = []
    for order in (1, 2):
        for seed in (0, 1):
            path = (
                folder
                / f"behavior-il-two-branch-{method}-memory-8-order{order}-seed{seed}"
                / "results.json"
            )
            document = json.loads(path.read_text())
            episodes = document["splits"][split]["episodes"]
            last = [one for one in episodes if one["after"] == 7]
            assert len(last) == 7 * EPISODES
            if metric == "SR_last":
                values.append(sum(one["success"] for one in last) / len(last))
            else:
                met = sum(one["conditions_met"] for one in last)
                values.append(met / sum(one["conditions"] for one in last))
    return values


@pytest.mark.parametrize("split", ["seen", "unseen"])
@pytest.mark.parametrize("metric", ["SR_last", "GC_last"])
def test_figures_equal_those_made_by_hand(
    folder: Path, tables: list[Table], split: str, metric: str
) -> None:
    mine, theirs = (np.array(by_hand(folder, name, split, metric)) for name in ("cama", "er"))
    row = next(row for row in tables[0].rows if row.method == "cama")
    found = row.statistics[split, metric]
    assert found.mean == pytest.approx(mine.mean())
    assert found.deviation == pytest.approx(mine.std(ddof=1))
    if metric == "SR_last":
        runs = [run for run in load_runs(folder) if group_title(run) == tables[0].title]
        rate = success_rate([run for run in runs if run.config.method == "cama"], split)
        assert rate is not None
        assert (found.low, found.high) == (rate.low, rate.high)
    else:
        assert (found.low, found.high) == (None, None)
    gap = row.differences[split, metric]
    assert gap.mean == pytest.approx((mine - theirs).mean())
    assert gap.deviation == pytest.approx((mine - theirs).std(ddof=1))


def test_methods_stand_in_the_papers_order_and_the_best_is_no_upper_bound(
    tables: list[Table],
) -> None:
    assert [row.method for row in tables[0].rows] == ["finetuning", "er", "cama", "joint"]
    assert tables[0].best("seen", "SR_last") == {"cama"}
    assert [table.setup for table in tables] == ["behavior-il", "environment-il"]


def test_less_forgetting_is_better(tables: list[Table]) -> None:
    drops = {
        row.method: row.statistics["seen", "forgetting"].mean
        for row in tables[0].rows
        if ("seen", "forgetting") in row.statistics
    }
    assert tables[0].best("seen", "forgetting") == {min(drops, key=lambda name: drops[name])}


def test_a_single_run_has_no_deviation() -> None:
    assert statistic([0.25]).deviation is None
    assert statistic([0.25]).low is None


def test_only_what_is_known_of_single_episodes_has_an_interval(tmp_path: Path) -> None:
    found = statistic([0.2, 0.4])
    assert found.deviation == pytest.approx(0.2 / math.sqrt(2))
    assert (found.low, found.high) == (None, None)
    write_runs(tmp_path, ("er", "cama"), ("behavior-il",), (1, 2), (0,))
    runs = load_runs(tmp_path)
    tables = summarise(runs, "er")
    for text in (as_text(tables), as_markdown(tables), as_latex(tables)):
        assert "±" in text or "\\pm" in text
        assert "[" in text
    page = as_html(runs, tables, ("SR_avg", "GC_last"))
    assert not re.search(r'nterval": "\[', page)
    assert re.search(r'nterval": "\[', as_html(runs, tables))


def test_the_best_is_of_methods_with_equal_orders_and_seeds() -> None:
    def runs_of(method: str, skill: float, *orders: int) -> list[Results]:
        configs = [RunConfig(method=method, order=order) for order in orders]
        return [invented_results(config, skill) for config in configs]

    main_ones = [*runs_of("finetuning", 0.1, 1, 2), *runs_of("er", 0.4, 1, 2)]
    (table,) = summarise([*main_ones, *runs_of("cama", 0.9, 1), *runs_of("mir", 0.8, 1)])
    assert table.best("seen", "SR_last") == {"er"}
    (table,) = summarise([*main_ones[2:], *runs_of("cama", 0.9, 1)])
    assert table.best("seen", "SR_last") == set()
    (table,) = summarise([*runs_of("er", 0.4, 2), *runs_of("cama", 0.9, 1)])
    assert table.best("seen", "SR_last") == set()
    (table,) = summarise([*main_ones, *runs_of("cama", 0.9, 1, 2), *runs_of("joint", 1.0, 1, 2)])
    assert table.best("seen", "SR_last") == {"cama"}


def test_all_formats_hold_the_same_numbers(tables: list[Table]) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(tables))))
    chosen = next(
        row
        for row in rows
        if (row["method"], row["split"], row["metric"]) == ("cama", "seen", "SR_last")
    )
    mean, deviation = 100 * float(chosen["mean"]), 100 * float(chosen["deviation"])
    assert float(chosen["paper"]) == 0.3071
    assert f"{mean:.2f} ± {deviation:.2f} *" in as_text(tables)
    assert f"**{mean:.2f} ± {deviation:.2f}**" in as_markdown(tables)
    assert f"\\textbf{{{mean:.2f} $\\pm$ {deviation:.2f}}}" in as_latex(tables)
    for text in (as_text(tables), as_markdown(tables), as_latex(tables)):
        assert "30.71" in text
        assert "not comparable" in text


def test_text_fits_a_terminal_and_loses_no_column(tables: list[Table]) -> None:
    text = as_text(tables, METRICS)
    assert max(map(len, text.splitlines())) <= TEXT_WIDTH
    for metric in METRICS:
        assert re.search(rf"(^| ){metric}( |$)", text, re.MULTILINE), metric
    rows = [["method", "first", "second"], ["er", "1", "2"]]
    assert fitted(rows, 15).split("\n\n") == [
        "method  first\n------  -----\ner          1",
        "method  second\n------  ------\ner           2",
    ]
    assert fitted(rows, 3) == fitted(rows, 15)
    assert fitted(rows).splitlines()[0] == "method  first  second"


def test_latex_escapes_what_it_must(tables: list[Table]) -> None:
    body = [line for line in as_latex(tables).splitlines() if not line.startswith("%")]
    assert not re.search(r"(?<!\\)[%_]", "\n".join(body))


def test_the_papers_numbers_are_only_where_the_paper_has_them() -> None:
    assert paper_value("cama", "environment-il", "unseen", "SR_last") == 0.1460
    assert paper_value("cama", "imbalanced-environment-il", "seen", "SR_last") == 0.3232
    assert paper_value("joint", "imbalanced-environment-il", "seen", "SR_last") is None
    assert paper_value("my-method", "behavior-il", "seen", "SR_last") is None
    assert paper_value("cama", "behavior-il", "seen", "GC_last") is None
    assert paper_value("cama", "behavior-il", "seen", "SR_last", "blurry") is None


@pytest.mark.parametrize("schedule", ["blurry", "gaussian"])
def test_other_schedules_do_not_stand_beside_the_papers_numbers(schedule: str) -> None:
    runs = [
        invented_results(RunConfig(method=method, schedule=schedule), 0.5)
        for method in ("er", "cama")
    ]
    tables = summarise(runs)
    for render in (as_text, as_markdown, as_latex):
        assert "paper" not in render(tables)
    assert {row["paper"] for row in csv.DictReader(io.StringIO(as_csv(tables)))} == {""}
    assert '"paper": 0.' not in as_html(runs, tables)
    assert '"paper": 0.' in as_html(runs, [replace(table, schedule="disjoint") for table in tables])


def test_runs_that_cannot_be_compared_get_tables_of_their_own(tmp_path: Path) -> None:
    write_runs(tmp_path, ("er",), ("behavior-il", "environment-il"), (1,), (0,))
    assert len(summarise(load_runs(tmp_path))) == 2


def test_rebuilt_alfred_generated_rooms_and_ai2thor_never_share_a_table() -> None:
    runs = []
    for data, backend in (
        ("small-73a177bc", "embedded-1"),
        ("alfred-2.1.0-embedded-7f273d83", "embedded-1"),
        ("alfred-2.1.0-embedded-8ad47a71", "embedded-1"),
        ("alfred-2.1.0", "ai2thor-2.1.0"),
    ):
        run = invented_results(RunConfig(method="er"), 0.5)
        runs.append(structs.replace(run, labels=Labels(data, backend, "none")))
    tables = summarise(runs)
    assert len(tables) == len({group_title(run) for run in runs}) == len(runs)
    assert all(
        compare([one], [other], "seen") is None
        for one in runs
        for other in runs[:1]
        if one is not other
    )
    text = as_markdown(tables)
    assert all(run.labels.data in text for run in runs)


@pytest.mark.parametrize(
    ("changes", "sight", "title"),
    [
        ({}, DEFAULT_SIGHT, ""),
        ({"max_steps": 100, "evaluate_ahead": True, "threads": 2}, DEFAULT_SIGHT, ""),
        ({"max_steps": 50}, DEFAULT_SIGHT, ", steps 50"),
        ({"split_folder": "/data/ours/"}, DEFAULT_SIGHT, ", split folder ours"),
        ({"encoder_weights": "other.safetensors"}, "conv-0123", ""),
        ({"overrides": {"agent.dropout": 0.5}}, DEFAULT_SIGHT, ", agent.dropout 0.5"),
    ],
)
def test_what_changes_results_is_in_the_tables_title(
    changes: dict[str, Any], sight: str, title: str
) -> None:
    runs = []
    for config in (RunConfig(method="er"), RunConfig(method="er", **changes)):
        run = invented_results(config, 0.5)
        labels = structs.replace(run.labels, sight=sight if runs else DEFAULT_SIGHT)
        runs.append(structs.replace(run, labels=labels))
    plain = f"behavior-il, disjoint, valid, invented, none, semantic-map, {DEFAULT_SIGHT}"
    found = [group_title(run) for run in runs]
    assert found[0] == plain
    assert found[1].replace(f", {sight}", "") == plain.replace(f", {DEFAULT_SIGHT}", "") + title
    assert (compare(runs[:1], runs[1:], "seen") is None) == (found[0] != found[1])
    assert (found[0] != found[1]) == bool(title or sight != DEFAULT_SIGHT)


def test_evaluating_ahead_changes_no_score_of_learned_tasks(tmp_path: Path) -> None:
    runs = [
        run_fake(fake_config(method="er", evaluate_ahead=ahead), tmp_path / str(ahead))
        for ahead in (False, True)
    ]
    for split in SPLITS:
        for metric in set(METRICS) - {"forward_transfer"}:
            assert runs[0].metric(split, metric) == runs[1].metric(split, metric)
        episodes = [run.split(split).episodes for run in runs]
        assert episodes[0] == tuple(one for one in episodes[1] if one.on < one.after)


def test_an_unknown_baseline_is_named(folder: Path) -> None:
    with pytest.raises(BadInputError, match=r"baseline 'mir'; there are cama, er"):
        summarise(load_runs(folder), "mir")


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    with pytest.raises(DataError, match="no finished runs"):
        load_runs(tmp_path)


def test_runs_of_methods_and_agents_from_elsewhere_are_reported(tmp_path: Path) -> None:
    write_runs(tmp_path, ("er",), ("behavior-il",), (1,), (0,))
    (known,) = load_runs(tmp_path)
    for name, changes in {
        "theirs": {"method": "theirs", "preset": "odd", "overrides": {"zeal": 3}},
        "others": {"agent": "others:big", "overrides": {"agent.zeal": 3}},
        "usual steps": {"method": "lazy", "max_steps": None},
    }.items():
        other = structs.replace(known, settings={**known.settings, **changes})
        other.save(tmp_path / name / "results.json")
    runs = load_runs(tmp_path)
    assert {run.config.method_title for run in runs} == {"er", "lazy", "theirs (odd, zeal 3)"}
    assert sum("others:big" in group_title(run) for run in runs) == 1
    shown = CliRunner().invoke(main, [str(tmp_path), "--baseline", "er"])
    assert shown.exit_code == 0, shown.output
    assert "theirs (odd, zeal 3)" in shown.output
    # To run it, the class is needed.
    with pytest.raises(UnknownMethodError, match="unknown method 'theirs'"):
        RunConfig.from_dict({**known.settings, "method": "theirs"})


def test_a_copied_run_counts_once(tmp_path: Path) -> None:
    (run,) = write_runs(tmp_path, ("er",), ("behavior-il",), (1,), (0,))
    name = run.config.name
    first = tmp_path / name / "results.json"
    copy = structs.replace(run, seconds=Seconds(1.0, 2.0))
    copy.save(tmp_path / "copy" / "results.json")
    collect([run], tmp_path / "published")
    notices: list[str] = []
    assert len(load_runs(tmp_path, notices.append)) == 1
    copies = (tmp_path / "copy" / "results.json", tmp_path / "published" / f"{name}.json.gz")
    assert notices == [f"{copy}: the same run as {first}, counted once" for copy in copies]
    shown = CliRunner().invoke(main, [str(tmp_path)])
    assert all(notice in shown.output for notice in notices)


def test_two_results_of_the_same_settings_are_refused(tmp_path: Path) -> None:
    (run,) = write_runs(tmp_path, ("er",), ("behavior-il",), (1,), (0,))
    other = invented_results(replace(run.config, threads=2), 0.9)
    other.save(tmp_path / "other" / "results.json")
    paths = [str(tmp_path / name / "results.json") for name in (run.config.name, "other")]
    with pytest.raises(DataError, match="er, order 1, seed 0 of the same settings") as error:
        load_runs(tmp_path)
    assert str(error.value).startswith(" and ".join(paths))


def test_published_copies_are_reported_like_the_runs(folder: Path, tmp_path: Path) -> None:
    runs = load_runs(folder)
    collect(runs, tmp_path / "results")
    (tmp_path / "results" / "notes.json").write_text("[]")
    copies = load_runs(tmp_path)
    assert as_csv(summarise(copies, "er")) == as_csv(summarise(runs, "er"))
    options = [str(tmp_path / "results"), "--out", str(tmp_path / "page")]
    shown = CliRunner().invoke(main, options)
    assert shown.exit_code == 0, shown.output
    assert "behavior-il" in (tmp_path / "page" / "index.html").read_text()


def test_every_plot_is_made(folder: Path, tmp_path: Path) -> None:
    results = read_results(folder / "behavior-il-two-branch-cama-memory-8-order1-seed0")
    made = plot_all(results, tmp_path)
    names = ["tasks.png", "matrix.png", "training.png", "confidence.png"]
    assert [path.name for path in made] == names
    assert all(path.stat().st_size > 10_000 for path in made)
    other = plot_all(
        read_results(folder / "behavior-il-two-branch-joint-memory-8-order1-seed0"), tmp_path
    )
    assert [path.name for path in other] == names[:3]


def test_tasks_end_where_they_were_evaluated() -> None:
    ends = (450, 828, 1278, 2520)
    run = invented_results(fake_config(setup="imbalanced-environment-il", method="er"), 0.5, ends)
    assert task_borders(run) == [450, 828, 1278]
    right = plot_training(run).axes[1]
    drawn = [line.get_xdata()[0] for line in right.lines if line.get_linestyle() == ":"]
    assert drawn == [450, 828, 1278]
    assert task_borders(compacted(run)) == [450, 828, 1278]
    joint = invented_results(fake_config(method="joint"), 0.5)
    assert joint.evaluated_at == (None, None, None, 400)
    assert task_borders(joint) == []


@pytest.mark.parametrize(
    ("setup", "expected"),
    [("environment-il", [100, 200, 300]), ("imbalanced-environment-il", [])],
)
def test_results_without_positions_have_equal_parts_where_that_is_so(
    setup: str, expected: list[float]
) -> None:
    run = invented_results(fake_config(setup=setup, method="er"), 0.5)
    assert task_borders(structs.replace(run, evaluated_at=UNSET)) == expected


def test_a_plot_names_the_setup_as_the_config_does() -> None:
    run = invented_results(fake_config(setup="imbalanced-environment-il", order=2), 0.5)
    title = plot_tasks(run).get_suptitle()
    assert title == "cama · imbalanced-environment-il, disjoint, order 2 · seed 0 · invented"


def test_the_command_writes_all_formats(folder: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke(main, [str(folder), "--baseline", "er", "--out", str(tmp_path)])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "table.txt").read_text() in run.output
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"table.txt", "table.md", "table.tex", "table.csv", "index.html"}


def test_the_page_needs_no_network_and_cannot_be_broken_by_names(folder: Path) -> None:
    runs = load_runs(folder)
    table = Table("</script><script>alert(1)</script>", "behavior-il", summarise(runs)[0].rows)
    page = as_html(runs, [table])
    assert "</script><script>alert" not in page
    assert page.count("</script>") == 1
    addresses = set(re.findall(r"https?://[^\"' ]+", page)) - {"http://www.w3.org/2000/svg"}
    assert addresses == set()


#: Put into a copy of the page: uses it as a person would and writes down what happened.
VISITOR = """
<script>
(async () => {
  const seen = { errors: window.visitErrors };
  const rows = () => document.querySelectorAll("#tables tr[data-method]").length;
  seen.before = rows();
  document.querySelector('#methods input[value="er"]').click();
  seen.withoutEr = rows();
  seen.erRows = document.querySelectorAll('#tables tr[data-method="er"]').length;
  document.querySelector('#setups input[value="environment-il"]').click();
  seen.oneSetup = rows();
  seen.curves = document.querySelectorAll("#curves svg").length;
  seen.keys = [...document.querySelector("#curves .keys").children].map((one) => one.textContent);
  seen.point = document.querySelector("#curves circle title").textContent;
  seen.cells = document.querySelectorAll("#matrices td.cell").length;
  const video = [...document.querySelectorAll("#videos video")]
    .find((one) => !one.parentElement.hidden);
  seen.videos = document.querySelectorAll("#videos > :not([hidden])").length;
  video.muted = true;
  await video.play();
  for (let i = 0; i < 100 && video.currentTime < 0.2; i += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
  seen.played = video.currentTime > 0 && video.videoWidth > 0;
  document.querySelector('#schedules input[value="disjoint"]').click();
  seen.otherSchedule = rows();
  seen.otherRuns = document.querySelectorAll("#run option").length;
  seen.otherVideos = document.querySelectorAll("#videos > :not([hidden])").length;
  document.body.innerHTML = "";
  document.body.append("RESULT" + JSON.stringify(seen) + "END");
})().catch((error) => { document.body.append("RESULT{\\"failed\\": \\"" + error + "\\"}END"); });
</script>
"""
WATCH = """<script>window.visitErrors = [];
addEventListener("error", (event) => visitErrors.push(String(event.message)));
console.error = (...parts) => visitErrors.push(parts.join(" "));</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_the_page_in_a_browser(folder: Path, tmp_path: Path) -> None:
    runs = load_runs(folder)
    runs += [
        invented_results(fake_config(setup="behavior-il", method=method, schedule="blurry"), 0.5)
        for method in ("finetuning", "cama")
    ]
    frames = [np.full((64, 96, 3), shade, dtype=np.uint8) for shade in range(0, 250, 25)]
    for method in ("cama", "er"):
        place = (
            folder
            / f"behavior-il-two-branch-{method}-memory-8-order1-seed0"
            / "videos"
            / "success.mp4"
        )
        write_film(place, frames)
    plain = [run for run in runs if run.config.method == "finetuning"]
    tables = summarise(runs, "er")
    curves = [
        run.splits.seen.after_each_task[0].sr
        for run in plain
        if group_title(run) == tables[0].title
    ]
    first = sum(curves) / len(curves)
    page = as_html(runs, tables)
    assert page.count("data:video/mp4") == 2
    page = page.replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{VISITOR}</body>", 1)
    (tmp_path / "index.html").write_text(page)
    command = [
        *(str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"),
        *("--autoplay-policy=no-user-gesture-required", "--timeout=30000"),
        *("--virtual-time-budget=20000", f"--user-data-dir={tmp_path / 'profile'}"),
        (tmp_path / "index.html").as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    match = re.search(r"RESULT(\{.*?\})END", done.stdout, re.DOTALL)
    assert match, done.stdout[-2000:] + done.stderr[-2000:]
    assert json.loads(match[1]) == {
        "errors": [],
        "before": 20,
        "withoutEr": 16,
        "erRows": 0,
        "oneSetup": 10,
        "curves": 4,
        "keys": ["finetuning", "cama", "joint"],
        "point": f"finetuning: {100 * first:.2f} % after task 1",
        "cells": 56,
        "videos": 1,
        "played": True,
        "otherSchedule": 4,
        "otherRuns": 2,
        "otherVideos": 0,
    }
