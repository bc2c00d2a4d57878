"""The schema of results: what breaks it is named, what passes can be reported."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clalfred.cl.experiment.results import METRICS, Results, read_results
from clalfred.cl.report.formats import FORMATS
from clalfred.cl.report.html import as_html
from clalfred.cl.report.publish import schema_tables
from clalfred.cl.report.summary import summarise
from clalfred.cl.report.text import summary_table
from gym_clalfred.errors import DataError
from gym_clalfred.schema import parse
from tests import ROOT
from tests.helpers.report_runs import invented_results
from tests.helpers.runs import fake_config


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda document: document.pop("tasks"), "tasks: expected"),
        (lambda document: document.update(format=7), "format: expected 1, found 7"),
        (
            lambda document: document["splits"]["seen"]["metrics"].pop("SR_last"),
            "seen.metrics.SR_last: expected a number from 0 to 1 or null, found nothing",
        ),
        (
            lambda document: document["splits"]["unseen"]["matrix"]["GC"].pop(),
            "unseen.matrix.GC: expected 7 rows of 7, found 6",
        ),
        (
            lambda document: document["splits"]["seen"]["episodes"][0].pop("steps"),
            r"episodes\[0\].steps: expected a whole number from 0, found nothing",
        ),
        (
            lambda document: document["splits"]["seen"].pop("metrics"),
            "splits.seen.metrics: expected an object",
        ),
        (
            lambda document: document["splits"]["unseen"].pop("episodes"),
            "splits.unseen.episodes: expected a list",
        ),
        (
            lambda document: document["splits"]["seen"]["matrix"].update(SR=[None] * 7),
            r"seen.matrix.SR\[0\]: expected a list, found None",
        ),
        (lambda document: document.update(evaluated_at=[1]), "evaluated_at: expected 7 entries"),
        (lambda document: document.update(labels={}), "labels.data: expected a text"),
        (
            lambda document: document["splits"]["seen"].update(after_each_task=[1] * 7),
            r"seen.after_each_task\[0\]: expected an object",
        ),
        (
            lambda document: document["curves"][3].update({"train/loss": "low"}),
            r"curves\[3\].train/loss: expected a number, found 'low'",
        ),
        (
            lambda document: document["splits"]["unseen"]["episodes"][-1].update(on=7),
            "expected after at most 7 and on below it, found 7 and 7",
        ),
        (
            lambda document: document["config"].update(method=[]),
            r"config: method \[\]: expected one value",
        ),
    ],
)
def test_results_that_break_the_schema_are_refused(tmp_path: Path, change: Any, match: str) -> None:
    document = plain(invented_results(fake_config(setup="behavior-il", method="er"), 0.5))
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document))
    read_results(tmp_path)
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match=match) as error:
        read_results(tmp_path)
    assert str(error.value).startswith(f"{path}: ")


def plain(run: Results) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(run.to_dict()))
    return document


JUNK = (None, True, -1, 3, 10**400, 0.5, "x", [], [1], [None], {}, {"SR": 1})
MISSING = object()


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Places of a document: what holds it, under which key; of a list the first element."""
    for key in list(value) if isinstance(value, dict) else range(len(value))[:1]:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from nodes(value[key])


def test_no_malformed_document_gets_past_the_check_and_breaks_a_report() -> None:
    """What is accepted can be reported; what is not is named."""
    document = plain(invented_results(fake_config(method="cama"), 0.5))
    document["curves"] = document["curves"][:1]
    for part in document["splits"].values():
        part["episodes"] = part["episodes"][-1:]
    refusals = []
    for holder, key in list(nodes(document)):
        kept = holder[key]
        for junk in (*JUNK, MISSING):
            holder[key] = junk
            if junk is MISSING:
                del holder[key]
            try:
                run = parse(json.dumps(document), Results, "file")
            except DataError as error:
                refusals.append(str(error))
            else:
                tables = summarise([run])
                assert all(render(tables, METRICS) for render in FORMATS.values())
                assert as_html([run], tables)
                assert summary_table(run)
            if junk is MISSING and isinstance(holder, list):
                holder.insert(key, kept)
        holder[key] = kept
    parse(json.dumps(document), Results, "file")
    assert len(refusals) > 1000
    assert [one for one in refusals if not re.match(r"file: [\w./\[\]-]+: ", one)] == []
    for junk in JUNK:
        with pytest.raises(DataError, match=r"file: (document|format|config): expected"):
            parse(json.dumps(junk), Results, "file")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_what_is_no_number_is_neither_read_nor_written(tmp_path: Path, number: str) -> None:
    run = invented_results(fake_config(method="cama"), 0.5)
    text = re.sub(r'("train/loss": )[0-9.]+', rf"\g<1>{number}", json.dumps(run.to_dict()))
    assert number in text
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(DataError, match=r"results.json: "):
        read_results(tmp_path)
    wrong = replace(run, curves=({"train/loss": float(number)},))
    with pytest.raises(ValueError, match="not JSON compliant"):
        wrong.save(tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "results").rglob("*.json.gz")), ids=lambda path: path.stem
)
def test_published_files_are_the_same_when_written_again(path: Path, tmp_path: Path) -> None:
    read_results(path).save(tmp_path / "again.json.gz")
    again, before = (
        gzip.decompress(one.read_bytes()) for one in (tmp_path / "again.json.gz", path)
    )
    assert again == before


@pytest.mark.parametrize("cut", [0, 5, 40])
def test_a_damaged_copy_is_one_clear_error(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "copy.json.gz"
    invented_results(fake_config(method="er"), 0.5).save(path)
    path.write_bytes(path.read_bytes()[: cut or -9])
    with pytest.raises(DataError, match=r"copy\.json\.gz: "):
        read_results(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gym_clalfred.schema.MOST_BYTES", 1000)
    path = tmp_path / "copy.json.gz"
    path.write_bytes(gzip.compress(b" " * 10**6))
    with pytest.raises(DataError, match="at most 1000 bytes when unpacked"):
        read_results(path)


def test_new_files_are_the_same_when_written_again(tmp_path: Path) -> None:
    run = invented_results(fake_config(method="cama"), 0.5)
    for name, one in {"first": run, "second": None}.items():
        one = one or read_results(tmp_path / "first.json")
        one.save(tmp_path / f"{name}.json")
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()


def test_the_page_is_that_of_the_models() -> None:
    page = (ROOT / "docs" / "RESULTS_SCHEMA.md").read_text()
    for name, table in schema_tables().items():
        assert f"<!-- {name} -->\n{table}\n<!-- /{name} -->" in page, "results schema writes it"
    document = invented_results(fake_config(), 0.5).to_dict()
    part = document["splits"]["seen"]
    names = [*document, *part, *METRICS, *part["episodes"][0], *part["after_each_task"][0]]
    assert [name for name in names if f"| `{name}` |" not in page] == []
    assert "|  |" not in page  # every field says what it is
