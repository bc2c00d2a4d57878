"""The schema of results: what breaks it is named, what passes can be reported."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clalfred.cl.experiment.results import METRICS, Results, read_results, validate
from clalfred.cl.report.formats import FORMATS
from clalfred.cl.report.html import as_html
from clalfred.cl.report.summary import summarise
from clalfred.cl.report.text import summary_table
from gym_clalfred.errors import BadInputError, DataError
from tests import ROOT
from tests.helpers.report_runs import invented_results
from tests.helpers.runs import fake_config


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda document: document.pop("tasks"), "tasks: expected"),
        (lambda document: document.update(format=7), "format: expected 1"),
        (
            lambda document: document["splits"]["seen"]["metrics"].pop("SR_last"),
            "seen.metrics.SR_last",
        ),
        (
            lambda document: document["splits"]["unseen"]["matrix"]["GC"].pop(),
            r"unseen.matrix.GC: expected 7 rows of 7",
        ),
        (
            lambda document: document["splits"]["seen"]["episodes"][0].pop("steps"),
            r"episodes\[0\]",
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
            r"seen.matrix.SR: expected 7 rows of 7",
        ),
        (lambda document: document.update(evaluated_at=[1]), "evaluated_at: expected 7 entries"),
        (lambda document: document.update(labels={}), "labels.data: expected a text"),
        (
            lambda document: document["splits"]["seen"].update(after_each_task=[1] * 7),
            r"seen.after_each_task\[0\]: expected an object",
        ),
        (
            lambda document: document["config"].update(method=[]),
            r"config: method \[\]: expected one value",
        ),
    ],
)
def test_results_that_break_the_schema_are_refused(tmp_path: Path, change: Any, match: str) -> None:
    document = dict(invented_results(fake_config(setup="behavior-il", method="er"), 0.5).document)
    validate(document)
    change(document)
    (tmp_path / "results.json").write_text(json.dumps(document))
    with pytest.raises(DataError, match=match):
        read_results(tmp_path)


JUNK = (None, True, -1, 3, 10**400, 0.5, math.nan, "x", [], [1], [None], {}, {"SR": 1})
MISSING = object()


def nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Places of a document: what holds it, under which key; of a list the first element."""
    for key in list(value) if isinstance(value, dict) else range(len(value))[:1]:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from nodes(value[key])


def test_no_malformed_document_gets_past_the_check_and_breaks_a_report() -> None:
    """What is accepted can be reported; what is not is named."""
    document = dict(invented_results(fake_config(method="cama"), 0.5).document)
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
                validate(document)
            except BadInputError as error:
                refusals.append(str(error))
            else:
                run = Results(document)
                tables = summarise([run])
                assert all(render(tables, METRICS) for render in FORMATS.values())
                assert as_html([run], tables)
                assert summary_table(run)
            if junk is MISSING and isinstance(holder, list):
                holder.insert(key, kept)
        holder[key] = kept
    validate(document)
    assert len(refusals) > 1000
    assert [one for one in refusals if not re.match(r"[\w.\[\]]+: ", one)] == []
    for junk in JUNK:
        with pytest.raises(BadInputError, match=r"document|format"):
            validate(junk)


def test_the_documented_schema_names_every_field() -> None:
    text = (ROOT / "docs" / "RESULTS_SCHEMA.md").read_text()
    document = invented_results(fake_config(), 0.5).document
    part = document["splits"]["seen"]
    names = [*document, *part, *METRICS, *part["episodes"][0]]
    assert [name for name in names if f"`{name}`" not in text] == []
