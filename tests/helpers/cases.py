"""One rule for many cases as one test, which names every case that breaks it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Decorates a test of one case (a tuple is several arguments) so that it tests them all."""
    every = list(cases)

    def decorate(rule: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            broken = {}
            for case in every:
                try:
                    rule(*case) if isinstance(case, tuple) else rule(case)
                except (Exception, pytest.fail.Exception) as error:
                    line = traceback.extract_tb(error.__traceback__)[-1]
                    said = (str(error) or str(line.line)).splitlines()[0]
                    broken[repr(case)] = f"{line.name}:{line.lineno}: {said}"
            told = "\n".join(f"{case}: {what}" for case, what in broken.items())
            assert not broken, f"{len(broken)} of {len(every)} cases fail\n{told}"

        assert every, "there is no case"
        test.__name__, test.__doc__, test.__module__ = rule.__name__, rule.__doc__, rule.__module__
        return test

    return decorate
