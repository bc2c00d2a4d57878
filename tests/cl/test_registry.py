from __future__ import annotations

from importlib import metadata

import pytest

from clalfred.cl.er import ER
from clalfred.cl.registry import METHODS, canonical_name, get_method, method_names, register
from gym_clalfred.errors import BadInputError


class Own(ER):
    """A method from elsewhere."""


@pytest.fixture(autouse=True)
def _untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METHODS, "_entries", dict(METHODS._entries))


def test_the_papers_ten_methods_are_there() -> None:
    assert set(method_names()) >= {
        "finetuning", "ewc++", "er", "mir", "clib", "der++", "x-der", "cama-without-dc", "cama",
        "joint",
    }  # fmt: skip


def test_names_are_forgiving_about_case_and_signs() -> None:
    assert canonical_name("DERpp") == canonical_name("der_++") == "der++"
    assert get_method("CAMA_without_DC") is get_method("cama-without-dc")
    assert get_method("DERpp") is get_method("der++")
    assert get_method("XDER") is get_method("x-der")


@pytest.mark.parametrize(
    ("wrong", "right"), [("cema", "cama"), ("der+", "der++"), ("ewc", "ewc++")]
)
def test_an_unknown_name_gets_the_closest_match_and_the_list(wrong: str, right: str) -> None:
    with pytest.raises(BadInputError, match="unknown method") as error:
        get_method(wrong)
    assert f"did you mean {right!r}" in str(error.value)
    assert "joint" in str(error.value)


def test_a_registered_method_is_listed_and_found() -> None:
    register("own", Own)
    assert get_method("own") is Own
    assert "own" in method_names()
    register("own", Own)
    with pytest.raises(BadInputError, match="registered already"):
        register("own", ER)
    with pytest.raises(BadInputError, match="subclass of ContinualLearner"):
        register("other", dict)  # type: ignore[arg-type]


def test_an_entry_point_of_another_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = metadata.EntryPoint("theirs", f"{__name__}:Own", METHODS.group)
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: [entry] if group == "clalfred.methods" else []
    )
    assert get_method("theirs").__name__ == "Own"
    assert "theirs" in method_names()
