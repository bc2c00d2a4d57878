"""What an expert saw: replays a demonstration in the simulator."""

from __future__ import annotations

from collections.abc import Iterator

from gym_clalfred.data.trajectory import Episode
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.contract import Simulator


def replay(simulator: Simulator, episode: Episode, rebuilt: bool = False) -> Iterator[int]:
    """Brings the simulator to where the expert was before each action, and before Stop.

    Gives the number of each step; ``simulator.frame()`` then is what the expert saw. Raises
    ``DataError`` if an action fails: the data does not belong to this simulator.

    Args:
        simulator: where to replay.
        episode: with the expert's actions.
        rebuilt: whether the rooms are rebuilt from recordings, which allow nearly every recorded
            action; one that fails changes nothing, and the expert goes on.
    """
    simulator.reset(episode.trajectory.scene)
    for number, step in enumerate(episode.trajectory.actions):
        yield number
        outcome = simulator.step(step.action, step.object_id)
        if not outcome.success and not rebuilt:
            raise DataError(
                f"{episode.key}: action {number} ({step.action.name} {step.object_id or ''}) fails "
                f"in {simulator.label}: {outcome.failure.value if outcome.failure else ''}"
            )
    yield len(episode.trajectory.actions)
