"""What an expert saw: replays a demonstration in the simulator."""

from __future__ import annotations

from collections.abc import Iterator

from gym_clalfred.data.trajectory import Episode
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.contract import Frame, Simulator


def replay(simulator: Simulator, episode: Episode) -> Iterator[Frame]:
    """The frame before each of the expert's actions, and the one before Stop.

    Raises ``DataError`` if an action fails: the data does not belong to this simulator.
    """
    simulator.reset(episode.trajectory.scene)
    for number, step in enumerate(episode.trajectory.actions):
        yield simulator.frame()
        outcome = simulator.step(step.action, step.object_id)
        if not outcome.success:
            raise DataError(
                f"{episode.key}: action {number} ({step.action.name} {step.object_id or ''}) fails "
                f"in {simulator.label}: {outcome.failure.value if outcome.failure else ''}"
            )
    yield simulator.frame()
