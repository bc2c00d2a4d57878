"""Joint training: i.i.d. batches over all tasks, the reference without forgetting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import torch

from clalfred.agents.behavior_cloning import ViewLookup
from clalfred.agents.episode import EncodedEpisode
from clalfred.agents.training import TrainingConfig
from clalfred.cl.base import ContinualLearner, MethodConfig


class Joint(ContinualLearner):
    """All training episodes shuffled together, with as many updates as any other method.

    Update: ``min L(x)`` on shuffled batches of all episodes, epoch after epoch; it begins when the
    stream has ended.

    Stores: every episode, so it is not a continual learner; it shows the cost of being one.
    Boundaries: none.
    """

    offline = True
    presets: ClassVar[Mapping[str, MethodConfig]] = {
        "paper": MethodConfig(stream_size=32, memory=0),
        "released": MethodConfig(
            stream_size=32, memory=0, training=TrainingConfig.released(distillation=False)
        ),
    }

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._episodes: list[EncodedEpisode] = []
        self._order: list[int] = []

    def observe(self, episode: EncodedEpisode) -> None:
        """Keeps the episode for later."""
        self._check_needs(episode)
        self._episodes.append(episode)
        self.num_episodes += 1
        self.num_timesteps += len(episode)

    def finish(self) -> Iterator[None]:
        """As many updates as other methods make, each on a batch from all tasks."""
        while self.num_updates < int(self.num_episodes * self.training.updates):
            self.update(self._next_batch(), ())
            yield

    def state_dict(self) -> dict[str, Any]:
        """With all episodes and the rest of the current shuffle."""
        episodes = [episode.state_dict() for episode in self._episodes]
        return {**super().state_dict(), "episodes": episodes, "order": self._order}

    def load_state_dict(self, state: Mapping[str, Any], views: ViewLookup | None = None) -> None:
        """Continues from ``state_dict``."""
        super().load_state_dict(state, views)
        self._order = list(state["order"])
        self._episodes = [EncodedEpisode.from_state_dict(one, views) for one in state["episodes"]]

    def _next_batch(self) -> tuple[EncodedEpisode, ...]:
        size = min(self.training.batch_size, len(self._episodes))
        while len(self._order) < size:
            shuffled = torch.randperm(len(self._episodes), generator=self.generator)
            self._order += shuffled.tolist()
        chosen, self._order = self._order[:size], self._order[size:]
        return tuple(self._episodes[index] for index in chosen)
