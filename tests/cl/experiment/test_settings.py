"""A setting is declared once: its option, its check and its error follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import pytest
from click.testing import CliRunner

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Labels
from clalfred.cl.experiment.settings import (
    Count,
    check,
    declared,
    given,
    setting,
    settings_table,
    type_of,
)
from clalfred.cl.report.ground import common_ground
from clalfred.scripts import options
from gym_clalfred.errors import BadInputError
from gym_clalfred.schema import plain


@dataclass(frozen=True)
class Wider(RunConfig):
    """The settings of a run and one more."""

    patience: Count | None = setting(None, "Tries before it gives up.", shown="no end")


def test_a_new_setting_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "RunConfig", Wider)
    found: dict[str, Any] = {}

    @click.command()
    @options.run_options()
    def command(settings: dict[str, Any]) -> None:
        found.update(settings)

    shown = CliRunner().invoke(command, ["--help"]).output
    assert "--patience" in shown
    assert "Tries before it gives up. [default: no end]" in " ".join(shown.split())
    assert CliRunner().invoke(command, ["--patience", "3"]).exit_code == 0
    assert found == {"patience": 3}
    with pytest.raises(BadInputError, match=r"^patience 0: expected a whole number from 1 to \d+$"):
        Wider(patience=0)
    assert Wider(patience=3).to_dict()["patience"] == 3
    row = (
        "| `patience` | a whole number from 1 to 4294967295 | no end | Tries before it gives up. |"
    )
    assert row in settings_table(Wider).splitlines()
    labels = Labels("small", "embedded", "masks")
    usual, wider = (common_ground(one, labels) for one in (Wider(), Wider(patience=3)))
    assert usual == common_ground(RunConfig(), labels)
    assert wider == f"{usual}, patience 3"


def test_every_setting_says_what_it_is() -> None:
    for name, one in declared(RunConfig).items():
        assert one.metadata["text"].endswith("."), name
        assert plain(type_of(RunConfig, name)[0]) in (str, int, bool), name
    undeclared = set(RunConfig().to_dict()) - set(declared(RunConfig))
    assert undeclared == {"overrides"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"order": 6}, "order 6: expected a whole number from 1 to 5"),
        ({"order": True}, "order True: expected a whole number"),
        ({"order": [1, 2]}, "clalfred-sweep takes several"),
        ({"seed": -1}, "seed -1: expected a whole number from 0"),
        ({"tier": "smal"}, "unknown tier 'smal': did you mean 'small'"),
        ({"augment": "yes"}, "augment 'yes': expected true or false"),
        ({"data": 3}, "data 3: expected a text"),
        ({"tire": "small"}, "unknown setting 'tire': did you mean 'tier'"),
        ({"agent": "semantic"}, "unknown agent 'semantic'"),
        ({"agent": "two-branch:huge"}, "no preset 'huge'"),
        ({"overrides": {"agent.dropout": "much"}}, "dropout 'much': expected a number"),
        ({"overrides": {"agent.drop": 1}}, "did you mean 'dropout'"),
        ({"overrides": {"agent.dropout": 7}}, "dropout 7: expected a number from 0 to below 1"),
        ({"overrides": {"agent.learning_rate": -1.0}}, "expected a number above 0"),
        ({"overrides": {"distillation_weight": 1e15}}, "expected a number below"),
        ({"encoder": "conv"}, "sees without one"),
    ],
)
def test_a_wrong_value_gets_one_clear_line(values: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInputError) as error:
        RunConfig.from_dict(values)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_loose_names_become_registered_ones() -> None:
    config = RunConfig(method="DERpp", agent="Two_Branch:paper")
    assert (config.method, config.agent) == ("der++", "two-branch:paper")


def test_only_declared_fields_are_checked() -> None:
    @dataclass(frozen=True)
    class Plain:
        free: Any = None

    check(Plain())
    with pytest.raises(BadInputError, match="unknown setting 'other'"):
        given({"other": 1}, Plain)
