"""What a finished run says of itself on a terminal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from clalfred.cl.report.text import description
from tests.helpers.report_runs import invented_results
from tests.helpers.runs import fake_config


@pytest.mark.parametrize(("tier", "noted"), [("tiny", True), ("small", False)])
def test_zeros_on_tiny_are_said_to_be_expected(tier: str, noted: bool) -> None:
    text = description(invented_results(fake_config(tier=tier), 0.0))
    assert ("too small to learn from: expect 0 %" in text) == noted


@pytest.mark.parametrize(
    ("held", "changes", "said"),
    [
        (4, {}, ", 4 of at most 8 episodes in memory"),
        (0, {}, ", 0 episodes in memory"),
        (84, {}, ", 84 episodes in memory"),
        (4, {"overrides": {"memory_bytes": 9000}}, ", 4 episodes in memory"),
    ],
)
def test_what_is_held_is_told_from_what_is_allowed(
    held: int, changes: dict[str, object], said: str
) -> None:
    results = invented_results(fake_config(method="er", **changes), 0.5)
    kept = replace(results.training, held=held, memory=8)
    assert said in description(replace(results, training=kept))
