"""Shows the progress of long work: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")

#: Seconds between two lines.
INTERVAL = 15.0


def with_progress(
    items: Iterator[T], total: int, title: str, unit: str
) -> Generator[T, None, None]:
    """Yields the items and reports on stderr how many are done.

    Args:
        items: made one after the other.
        total: how many there will be.
        title: what is being made.
        unit: what the items are, in the plural.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        from tqdm import tqdm

        yield from tqdm(items, total=total, desc=title, unit=f" {unit}")
        return
    say(f"{title}: {total:,} {unit}, made once and kept")
    start = first = spoken = time.monotonic()
    for count, item in enumerate(items, start=1):
        now = time.monotonic()
        first = now if count == 1 else first
        if count == total:
            say(f"{title}: done in {duration(now - start)}")
        elif now - spoken >= INTERVAL:
            # The first item may have waited for a compiler, so it says nothing about the others.
            left = (now - first) * (total - count) / max(count - 1, 1)
            estimate = f", about {duration(left)} left" if count > 1 else ""
            say(f"{title}: {count:,} of {total:,} {unit} ({100 * count // total} %){estimate}")
            spoken = now
        yield item


def say(line: str) -> None:
    """Writes a line to stderr at once; programs without a console have none."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A time for people: ``40 s``, ``2 min 45 s``, ``1 h 5 min``."""
    whole = max(round(seconds), 1)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
