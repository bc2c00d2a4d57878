"""A rule that is tested for many cases fails with the name of each that breaks it."""

from __future__ import annotations

import pytest

from tests.helpers.cases import for_each


def test_every_case_that_fails_is_named() -> None:
    @for_each([1, 2, 3, 4])
    def rule(number: int) -> None:
        assert number % 2, f"{number} is even"

    with pytest.raises(AssertionError, match=r"2 of 4 cases fail\n2: .*2 is even\n4: .*4 is even"):
        rule()


def test_a_missing_error_counts_and_tuples_are_arguments() -> None:
    @for_each([(0, 1), (1, 0)])
    def rule(over: int, under: int) -> None:
        with pytest.raises(ZeroDivisionError):
            over / under

    with pytest.raises(AssertionError, match=r"1 of 2 cases fail\n\(0, 1\)"):
        rule()
    with pytest.raises(AssertionError, match="no case"):
        for_each([])(rule)
