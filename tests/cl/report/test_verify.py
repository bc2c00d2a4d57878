"""Repeated runs beside published ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import UNSET
from msgspec.structs import replace

import clalfred.scripts.results
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results, Seconds
from clalfred.cl.report.publish import collect
from clalfred.cl.report.verify import Comparison, agreement, compare_with_published, summary
from tests.helpers.report_runs import invented_results, write_runs

CONFIG = RunConfig(method="er")


def rounded(run: Results, arithmetic: str) -> Results:
    return replace(run, versions={**run.versions, "arithmetic": arithmetic})


@pytest.fixture
def published(tmp_path: Path) -> Path:
    collect([rounded(invented_results(CONFIG, 0.4), "cafe")], tmp_path)
    return tmp_path


def found(run: Results, folder: Path) -> Comparison:
    comparison = compare_with_published(run, folder)
    assert comparison is not None
    return comparison


def test_only_the_machine_may_differ(published: Path) -> None:
    run = rounded(invented_results(CONFIG, 0.4), "beef")
    again = found(replace(run, seconds=Seconds(9.0, 1.0)), published)
    assert again.different == ()
    assert str(again) == "behavior-il-er-order1-seed0: equal"


def test_one_point_of_a_curve_is_a_difference(published: Path) -> None:
    run = invented_results(CONFIG, 0.4)
    first = {**run.curves[0], "train/loss": run.curves[0]["train/loss"] + 0.001}
    other = replace(run, curves=(first, *run.curves[1:]))
    assert found(other, published).different == ("curves",)


def test_what_older_copies_lack_is_no_difference(published: Path) -> None:
    path = published / f"{CONFIG.name}.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes()))
    del document["evaluated_at"], document["config"]["augment"]
    path.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert found(invented_results(CONFIG, 0.4), published).different == ()


def test_a_part_that_is_missing_is_a_difference(published: Path) -> None:
    run = replace(invented_results(CONFIG, 0.4), evaluated_at=UNSET)
    assert found(run, published).different == ("evaluated_at",)


def test_other_settings_under_the_same_name_are_a_difference(published: Path) -> None:
    run = invented_results(RunConfig(method="er", max_steps=50), 0.4)
    assert run.config.name == CONFIG.name
    assert "config" in found(run, published).different


def test_what_differs_is_said_with_both_scores(published: Path) -> None:
    run = rounded(invented_results(CONFIG, 0.9), "beef")
    apart = found(run, published)
    assert apart.different == ("splits",)
    there, here = apart.success["seen"]
    assert here == run.metric("seen", "SR_last")
    assert there != here
    assert "SR {:.1f} / {:.1f} there".format(
        *(100 * one[0] for one in apart.success.values())
    ) in str(apart)
    assert str(apart).endswith("arithmetic cafe there, beef here")


def test_what_is_not_published_cannot_be_compared(published: Path) -> None:
    assert compare_with_published(invented_results(RunConfig(), 0.4), published) is None


def test_the_summary_is_the_mean_distance_of_those_that_differ() -> None:
    both = ("", "")
    same = Comparison("a", (), both, {"seen": (0.5, 0.5)})
    some = Comparison("b", ("splits",), both, {"seen": (0.5, 0.4), "unseen": (0, 0.1)})
    more = Comparison("c", ("splits",), both, {"seen": (0.2, 0.5), "unseen": (0, 0)})
    assert (
        summary([same, some, more]) == "1 of 3 equal; SR of the others is 20.0 / 5.0 points apart"
    )
    assert summary([same]) == "1 of 1 equal"


def test_the_command_fails_where_a_run_differs(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clalfred.scripts.results, "PUBLISHED", published)
    runs = {"good": 0.4, "bad": 0.9}
    for name, skill in runs.items():
        invented_results(CONFIG, skill).save(_new(tmp_path / name) / "results.json")
    good = CliRunner().invoke(clalfred.scripts.results.main, ["verify", str(tmp_path / "good")])
    assert (good.exit_code, good.output.splitlines()[-1]) == (0, "1 of 1 equal")
    bad = CliRunner().invoke(clalfred.scripts.results.main, ["verify", str(tmp_path / "bad")])
    assert bad.exit_code == 1
    assert "differs in splits" in bad.output


def test_verifying_nothing_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clalfred.scripts.results, "PUBLISHED", tmp_path / "none")
    invented_results(CONFIG, 0.4).save(_new(tmp_path / "run") / "results.json")
    done = CliRunner().invoke(clalfred.scripts.results.main, ["verify", str(tmp_path / "run")])
    assert done.exit_code == 1
    assert "not published" in done.output


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def runs_with(**skills: float) -> list[Results]:
    configs = [
        (RunConfig(method=name, order=order), name) for name in skills for order in (1, 2, 3)
    ]
    return [invented_results(config, skills[name]) for config, name in configs]


def test_equal_runs_agree_in_everything() -> None:
    runs = runs_with(er=0.4, finetuning=0.1, joint=0.9)
    both = agreement(runs, runs)
    assert (both.differences, both.inside, both.reversed) == (6, 6, ())
    assert both.certain == both.again == 6
    assert [(one.runs, set(one.single.values())) for one in both.moves] == [(9, {0.0})]


def test_how_far_runs_moved_is_their_distance_and_that_of_their_means() -> None:
    first, second = runs_with(er=0.4, cama=0.5), runs_with(er=0.4, cama=0.7)
    (moves,) = agreement(first, second).moves
    rates = [
        [run.metric("seen", "SR_last") or 0.0 for run in runs if run.config.method == "cama"]
        for runs in (first, second)
    ]
    by_hand = [b - a for a, b in zip(*rates)]
    assert moves.single["seen"] == pytest.approx(sum(map(abs, by_hand)) / 6)
    name, farthest = moves.farthest["seen"]
    assert (name, farthest) == ("cama", pytest.approx(sum(by_hand) / 3))


def test_a_difference_that_turns_round_is_named(tmp_path: Path) -> None:
    first, second = runs_with(er=0.8, cama=0.2), runs_with(er=0.2, cama=0.8)
    turned = agreement(first, second)
    assert (turned.differences, turned.inside, turned.certain, turned.again) == (2, 0, 2, 0)
    assert turned.reversed[0].startswith("behavior-il, disjoint, seen: cama \u2212 er -")
    # Orders that only one set has do not count, nor do changed settings.
    variant = invented_results(RunConfig(method="cama", overrides={"alpha": 0.5}), 0.5)
    assert agreement([*first, variant], [*second[:3], *second[4:], variant]).differences == 2
    for folder, runs in (("before", first), ("after", second)):
        collect(runs, tmp_path / folder)
    arguments = ["agree", str(tmp_path / "before"), str(tmp_path / "after")]
    shown = CliRunner().invoke(clalfred.scripts.results.main, arguments)
    assert shown.exit_code == 0, shown.output
    moves, differences = shown.output.splitlines()[:2]
    assert moves.startswith("behavior-il, disjoint: 6 runs ")
    assert differences.startswith("2 differences between two methods")
    assert "2 have the other sign" in shown.output


def test_an_installed_package_is_no_place_for_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a wheel, beside which there is no docs folder."""
    write_runs(tmp_path / "runs", ("er",), ("behavior-il",), (1,), (0,))
    site = tmp_path / "site-packages" / "docs"
    monkeypatch.setattr(clalfred.scripts.results, "ROOT", site)
    monkeypatch.setattr(clalfred.scripts.results, "PUBLISHED", site / "results")
    for words in (["collect", str(tmp_path / "runs")], ["write"], ["verify", str(tmp_path)]):
        done = CliRunner().invoke(clalfred.scripts.results.main, words)
        assert done.exit_code == 1
        assert "expected the docs of a checkout" in done.output
        assert done.output.count("\n") == 1
    assert not site.exists()
    words = ["collect", str(tmp_path / "runs"), "--to", str(tmp_path / "copies")]
    done = CliRunner().invoke(clalfred.scripts.results.main, words)
    assert done.exit_code == 0, done.output
    (copy,) = (tmp_path / "copies").iterdir()
    assert done.output == f"{copy}\n"
