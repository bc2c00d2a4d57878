"""Published results: paired intervals, compact copies, and the page."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results, read_results
from clalfred.cl.report.ground import displayed
from clalfred.cl.report.paired import (
    bootstrap,
    compare,
    holm,
    last_success,
    probability_of_improvement,
    room_of,
    success_rate,
)
from clalfred.cl.report.publish import collect, compacted, fill_in, is_published, write_page
from clalfred.cl.report.published_tables import ablations, headline, pooled, tables
from clalfred.cl.report.summary import summarise
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import DataError
from tests.helpers.fakes import FakeSource
from tests.helpers.report_runs import EPISODES, invented_results

SKILLS = {"finetuning": 0.1, "er": 0.45, "cama": 0.5, "joint": 0.9}

TITLES = ("Finetuning", "ER", "CAMA", "Joint")


def runs_of(method: str, orders: tuple[int, ...] = (1, 2)) -> list[Results]:
    configs = [RunConfig(method=method, order=order) for order in orders]
    return [invented_results(config, SKILLS[method]) for config in configs]


def test_a_difference_is_the_mean_over_episodes_and_runs() -> None:
    first, second = runs_of("er"), runs_of("finetuning")
    gap = compare(first, second, "seen")
    assert gap is not None
    by_hand = [
        np.mean([s[name] - float(t[name]) for name in s])
        for s, t in (
            (last_success(a, "seen"), last_success(b, "seen")) for a, b in zip(first, second)
        )
    ]
    assert gap.mean == pytest.approx(np.mean(by_hand))
    assert gap.episodes == 7 * EPISODES
    assert gap.runs == 2
    assert gap.low < gap.mean < gap.high
    assert gap.excludes_zero


def test_a_method_does_not_differ_from_itself() -> None:
    gap = compare(runs_of("er"), runs_of("er"), "unseen")
    assert gap is not None
    assert (gap.mean, gap.low, gap.high) == (0.0, 0.0, 0.0)
    assert not gap.excludes_zero


def test_only_runs_of_the_same_order_and_setup_are_paired() -> None:
    assert compare(runs_of("er", (1,)), runs_of("cama", (2,)), "seen") is None
    other = [invented_results(RunConfig(method="cama", setup="environment-il"), 0.5)]
    assert compare(runs_of("er", (1,)), other, "seen") is None
    gap = compare(runs_of("er", (1, 2)), runs_of("cama", (2, 3)), "seen")
    assert gap is not None
    assert gap.runs == 1


def test_the_interval_of_a_rate_is_that_of_a_binomial() -> None:
    values = {str(number): float(number < 30) for number in range(100)}
    rate = bootstrap([values])
    assert rate.mean == 0.3
    half = 1.96 * np.sqrt(0.3 * 0.7 / 100)
    assert (rate.low, rate.high) == pytest.approx((0.3 - half, 0.3 + half), abs=0.015)
    # The same outcomes in three runs tell as much about other episodes as those of one.
    thrice = bootstrap([values] * 3)
    assert (thrice.low, thrice.high) == pytest.approx((rate.low, rate.high), abs=0.015)


def test_the_interval_covers_how_much_runs_differ() -> None:
    def run(solved: int) -> dict[str, float]:
        return {str(number): float(number < solved) for number in range(100)}

    alike, apart = bootstrap([run(50), run(50)]), bootstrap([run(20), run(80)])
    assert alike.mean == apart.mean == 0.5
    assert alike.high - alike.low == pytest.approx(2 * 1.96 * 0.05, abs=0.02)
    # Half of the resamples draw one run twice.
    assert apart.low < 0.25
    assert apart.high > 0.75


def test_episodes_of_one_room_are_drawn_together() -> None:
    solved = {
        f"valid/task-{room}/trial_{n}#0": float(room < 20) for room in range(40) for n in range(9)
    }
    alone, together = bootstrap([solved]), bootstrap([solved], room_of)
    assert alone.mean == together.mean == 0.5
    # By hand: 40 rooms, half of them solved, so the mean's deviation is sqrt(1 / 4 / 40).
    half = 1.96 * np.sqrt(0.25 / 40)
    assert together.high - together.low == pytest.approx(2 * half, abs=0.03)
    assert alone.high - alone.low == pytest.approx(2 * half / 3, abs=0.02)


def test_holm_corrects_for_many_questions() -> None:
    # By hand: 0.01 * 3, then 0.02 * 2, then 0.03, which must not fall below what came before.
    assert holm([0.02, 0.03, 0.01]) == pytest.approx([0.04, 0.04, 0.03])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_the_probability_of_improvement_counts_pairs_of_runs() -> None:
    def runs(method: str, rates: list[float]) -> list[Results]:
        return [
            invented_results(RunConfig(method=method, order=order), rate)
            for order, rate in enumerate(rates, start=1)
        ]

    assert probability_of_improvement(runs("er", [0.0, 1.0]), runs("cama", [0.0]), "seen") == 0.75
    assert probability_of_improvement(runs("er", [0.0]), [], "seen") is None


def test_pooled_differences_join_both_setups() -> None:
    runs = [
        invented_results(
            RunConfig(method=method, setup=setup, order=order, memory=20), SKILLS[method]
        )
        for method in SKILLS
        for setup in ("behavior-il", "environment-il")
        for order in (1, 2)
    ]
    text = pooled(runs)
    assert "memory 20`" in text
    assert "| Does replay help? | ER − Finetuning | 4 | **+" in text
    assert pooled([]) == ""


def test_runs_need_not_have_the_same_episodes() -> None:
    both = bootstrap([{"a": 1.0, "b": 1.0}, {"b": 0.0, "c": 0.0}])
    assert both.mean == 0.5
    assert (both.low, both.high) == (0.0, 1.0)
    assert (both.episodes, both.runs) == (3, 2)


def test_a_compact_copy_says_the_same_in_fewer_bytes() -> None:
    run = runs_of("cama")[0]
    copy = compacted(run)
    assert success_rate([copy], "seen") == success_rate([run], "seen")
    assert summarise([copy])[0].rows == summarise([run])[0].rows
    assert len(json.dumps(copy.to_dict())) < 0.5 * len(json.dumps(run.to_dict()))


def test_runs_are_collected_under_their_names(tmp_path: Path) -> None:
    limited = invented_results(RunConfig(method="er", memory=30), 0.4)
    paths = collect([*runs_of("er"), limited], tmp_path)
    assert [path.name for path in paths] == [
        "behavior-il-er-order1-seed0.json.gz",
        "behavior-il-er-order2-seed0.json.gz",
        "behavior-il-er-memory-30-order1-seed0.json.gz",
    ]
    assert read_results(paths[0]).config == RunConfig(method="er", order=1)


def test_the_tables_name_every_method_and_mark_what_is_certain() -> None:
    runs = [run for method in SKILLS for run in runs_of(method)]
    text = tables(runs)
    for title in TITLES:
        assert f"| {title} | 2 |" in text
    # Of 90 seconds of processor time each.
    scores = tuple(f"| {title} | 2 |" for title in TITLES)
    assert all(row.endswith("| 1.5 |") for row in text.splitlines() if row.startswith(scores))
    assert "| Joint − Finetuning | 2 | **+" in text
    assert "| CAMA − ER | " in text
    assert "| CAMA − Joint |" not in text


def test_methods_that_are_told_more_are_marked() -> None:
    free, helped = runs_of("er", (1,))[0], runs_of("cama", (1,))[0]
    budget = {"views": 5000, "forwards": 900_000}
    told = structs.replace(helped.training, needs_labels=True, budget=budget)
    helped = structs.replace(helped, training=told)
    text = tables([free, helped])
    assert "| ER | 1 |" in text
    assert "| CAMA‡ | 1 |" in text
    assert "| 5 | 1.5 |" in text
    assert "‡ is told the task" in text
    assert "‡" not in tables([free])


def test_the_headline_is_the_mean_over_orders_beside_the_papers() -> None:
    runs = [run for method in SKILLS for run in runs_of(method)]
    runs += [
        invented_results(RunConfig(method="er", setup="environment-il"), 0.5),
        invented_results(RunConfig(method="er", schedule="blurry"), 0.9),
        invented_results(RunConfig(method="er", memory=30), 0.0),
    ]
    rows = {row.split(" | ")[0]: row.split(" | ")[1:] for row in headline(runs).splitlines()}
    rates = [
        100 * np.mean([run.metric(split, "SR_last") for run in runs_of("er")])
        for split in ("seen", "unseen")
    ]
    assert rows["| ER"][:2] == [f"{rates[0]:.1f} / {rates[1]:.1f} (2)", "26.7 / 9.4"]
    assert rows["| ER"][2].endswith("(1)")
    assert "| CAMA" not in rows  # it has no run in the other setup


def test_further_orders_count_where_both_methods_have_them() -> None:
    runs = [*runs_of("finetuning", (1, 2, 3, 4)), *runs_of("er", (1, 2, 3, 4))]
    runs += runs_of("cama", (1, 2, 3))
    text = tables(runs)
    for title in ("Finetuning", "ER", "CAMA"):
        assert f"| {title} | 3 |" in text
    assert "| ER − Finetuning | 4 |" in text
    assert "| CAMA − ER | 3 |" in text


def test_the_headline_has_the_methods_that_ran_on_all_orders() -> None:
    pairs = [("er", (1, 2, 3, 4)), ("finetuning", (1, 2, 3, 4)), ("cama", (1, 2, 3))]
    runs = [
        invented_results(RunConfig(method=method, setup=setup, order=order), 0.5)
        for setup in ("behavior-il", "environment-il")
        for method, orders in pairs
        for order in orders
    ]
    text = headline(runs)
    assert text.count("(4)") == 4
    assert "CAMA" not in text


def test_the_papers_setups_come_first() -> None:
    kinds: list[dict[str, Any]] = [
        {"schedule": "blurry"},
        {"setup": "imbalanced-environment-il"},
        {"setup": "environment-il"},
        {},
    ]
    runs = [invented_results(RunConfig(method="er", **kind), 0.5) for kind in kinds]
    assert [line for line in tables(runs).splitlines() if line.startswith("#")] == [
        "### Behavior-IL",
        "### Environment-IL",
        "### Imbalanced Environment-IL",
        "### Behavior-IL, blurry schedule",
    ]


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("a\n<!-- results -->\nold\n<!-- /results -->\nb\n")
    fill_in(page, "results", "new")
    assert page.read_text() == "a\n<!-- results -->\nnew\n<!-- /results -->\nb\n"
    with pytest.raises(DataError, match="expected the marks <!-- other -->"):
        fill_in(page, "other", "new")
    assert "new" in page.read_text()


def test_other_settings_stand_beside_the_method_as_it_is() -> None:
    half = RunConfig(method="cama", memory=30)
    slow = RunConfig(method="cama", overrides={"alpha": 0.5})
    runs = [*runs_of("cama"), *runs_of("er")]
    runs += [invented_results(half, 0.2), invented_results(slow, 0.5)]
    runs.append(invented_results(replace(slow, order=2), 0.4))
    assert "alpha" not in tables(runs)
    assert "memory 30" in tables(runs)  # a table of its own
    rows = ablations(runs).splitlines()
    assert [row.split(" | ")[:3] for row in rows[2:]] == [
        ["| CAMA (alpha 0.5)", "Behavior-IL", "1, 2"],
        ["| CAMA, memory 30", "Behavior-IL", "1"],
    ]
    for row, variant, orders in ((rows[2], runs[-2:], (1, 2)), (rows[3], [runs[-3]], (1,))):
        gap = compare(variant, runs_of("cama", orders), "seen")
        assert gap is not None
        assert f"| {100 * gap.mean:+.1f} [" in row.replace("**", "")
    assert ablations(runs_of("er")) == ""


def test_the_page_has_what_was_written_and_what_was_measured(tmp_path: Path) -> None:
    folder, page, source = tmp_path / "results", tmp_path / "RESULTS.md", FakeSource()
    folder.mkdir()
    with pytest.raises(DataError, match="no published results"):
        write_page(folder, page, source)
    splits = {"seen": Split.VALID_SEEN, "unseen": Split.VALID_UNSEEN}
    keys = {name: str(source.entries(split)[0].key) for name, split in splits.items()}
    for run in (*runs_of("cama", (1,)), *runs_of("finetuning", (1,))):
        document = compacted(run).to_dict()
        for split, part in document["splits"].items():
            part["episodes"] = [{**part["episodes"][0], "episode": keys[split]}]
        copy = folder / f"{run.config.name}.json.gz"
        copy.write_bytes(gzip.compress(json.dumps(document).encode()))
    (folder / "reading.md").write_text(
        "# Ours\n\n{{overview}}\n\n{{tables}}\n{{ablations}}\n{{failures}}\n{{curves}}\n{{full}}\n"
    )
    made = write_page(folder, page, source)
    assert made[0] == page
    assert all(path.stat().st_size for path in made)
    text = page.read_text()
    assert text.startswith("# Ours")
    assert "| CAMA | 1 |" in text
    assert "| seen rooms | " in text
    assert "(results/figures/overview.png)" in text
    assert "(results/figures/success-behavior-il-disjoint.png)" in text
    assert "{{" not in text
    assert text.endswith("Not run yet.\n")
    collect(runs_of("joint", (1,)), folder / "full")
    write_page(folder, page, source)
    assert "| Joint | 1 |" in page.read_text()


def test_copies_say_nothing_about_the_machine(tmp_path: Path) -> None:
    config = RunConfig(method="er", data=str(tmp_path / "store"), split_folder="/a/behavior_il")
    (copy,) = collect([invented_results(config, 0.4)], tmp_path)
    there = read_results(copy).config
    assert (there.data, there.split_folder) == ("store", "behavior_il")
    collect([invented_results(config, 0.4)], tmp_path)  # the same again


def test_a_copy_of_other_settings_is_not_overwritten(tmp_path: Path) -> None:
    collect(runs_of("er"), tmp_path)
    before = (tmp_path / "behavior-il-er-order1-seed0.json.gz").read_bytes()
    other = invented_results(RunConfig(method="er", tier="tiny"), 0.4)
    with pytest.raises(DataError, match="of other settings"):
        collect([other], tmp_path)
    assert (tmp_path / "behavior-il-er-order1-seed0.json.gz").read_bytes() == before
    collect(runs_of("er"), tmp_path)


def test_the_headline_does_not_mix_what_cannot_be_compared() -> None:
    other = invented_results(RunConfig(method="er", order=3, agent="plain"), 0.9)
    assert headline([*runs_of("er"), other]) == headline(runs_of("er"))


def test_other_settings_are_compared_within_their_preset() -> None:
    slow = RunConfig(method="cama", overrides={"alpha": 0.5})
    released = RunConfig(method="cama", preset="released", order=1)
    runs = [*runs_of("cama"), invented_results(slow, 0.5)]
    alone = ablations(runs)
    assert ablations([*runs, invented_results(released, 0.0)]) == alone
    both = ablations([*runs, invented_results(replace(slow, preset="released"), 0.5)])
    assert [row.split(" | ")[0] for row in both.splitlines()[2:]] == [
        "| CAMA (alpha 0.5)",
        "| CAMA (released, alpha 0.5)",
    ]


def test_a_published_run_is_known_by_its_settings_and_its_data(tmp_path: Path) -> None:
    config = RunConfig(method="er", data="somewhere/store", memory=20)
    run = invented_results(config, 0.5)
    collect([run], tmp_path)
    label = run.labels.data
    assert is_published(config, label, tmp_path)
    assert is_published(replace(config, data="elsewhere/my-episodes"), label, tmp_path)
    assert not is_published(config, "other-data", tmp_path)
    for other in ({"order": 2}, {"max_steps": 5}, {"memory": 21}, {"method": "mir"}):
        assert not is_published(replace(config, **other), label, tmp_path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "title"),
    [
        ({"method": "cama-without-dc"}, "CAMA w/o DC"),
        ({"distillation_weight": 0.02, "method": "der++"}, "DER++ (distillation weight 0.02)"),
        ({"memory_bytes": 180_000, "packed": True, "method": "er"}, "ER (180 kB, packed)"),
        ({"packed": False, "method": "pantry"}, "Pantry (not packed)"),
    ],
)
def test_methods_are_called_as_in_their_papers(settings: dict[str, Any], title: str) -> None:
    config = RunConfig(method=settings.pop("method"), overrides=settings)
    assert displayed(invented_results(config, 0.5)) == title
    blind = replace(config, blind=True)
    assert "blind" in displayed(invented_results(blind, 0.5))
