"""A person's score: the episodes of an evaluation, with results in the file that agents write."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from clalfred.agents.acting.result_file import EpisodeResult, locked, read_results, result_writer
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.simulator.backends import make_simulator
from gym_clalfred.simulator.contract import RenderOptions


class PlayScore:
    """The episodes that a person is to do, and what came of those that are done.

    Args:
        path: JSON lines file of results; what is in it is not done again.
        person: who plays.
        source: where the episodes are.
        keys: which, in their order.
        max_steps: actions after which an episode is cut, as for agents.
    """

    def __init__(
        self,
        path: Path,
        person: str,
        source: EpisodeSource,
        keys: Sequence[EpisodeKey],
        max_steps: int,
    ) -> None:
        self.path, self.source, self.max_steps = path, source, max_steps
        self.keys = tuple(keys)
        simulator = make_simulator("embedded", RenderOptions(), source.room)
        backend = simulator.label
        simulator.close()
        conditions = {
            "agent": f"person {person}",
            "data": source.label,
            "backend": backend,
            "max_steps": max_steps,
        }
        with ExitStack() as stack:
            stack.enter_context(locked(path))
            self.results = read_results(path, conditions)
            self._write = stack.enter_context(result_writer(path, conditions))
            self._open = stack.pop_all()

    def __enter__(self) -> PlayScore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def next(self) -> EpisodeKey | None:
        """The first episode that is not done; ``None`` if all are."""
        return next((key for key in self.keys if str(key) not in self.results), None)

    @property
    def done(self) -> int:
        """How many of the episodes are done."""
        return sum(str(key) in self.results for key in self.keys)

    @property
    def succeeded(self) -> int:
        """How many of the episodes were solved."""
        found = (self.results.get(str(key)) for key in self.keys)
        return sum(result.success for result in found if result is not None)

    def add(self, result: EpisodeResult) -> None:
        """Writes a result; the first one of an episode counts."""
        if result.episode not in self.results:
            self._write(result)
            self.results[result.episode] = result
