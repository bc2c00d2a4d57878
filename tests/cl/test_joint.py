"""Joint training goes through all episodes, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clalfred.agents.episode import Batch, EncodedEpisode
from tests.helpers.learning import learner, stream_for


def test_every_episode_is_used_equally_often() -> None:
    agent = learner("joint", batch_size=4)
    used: Counter[str] = Counter()
    make_batch = agent.make_batch

    def noted(episodes: Sequence[EncodedEpisode]) -> Batch:
        used.update(episode.key for episode in episodes)
        return make_batch(episodes)

    agent.make_batch = noted  # type: ignore[method-assign]
    agent.learn(stream_for(agent, 12))
    # Twelve updates of four episodes.
    assert sorted(used.values()) == [4] * 12
