"""A callback for Stable-Baselines3 on streams."""

from __future__ import annotations

from stable_baselines3.common.callbacks import BaseCallback


class StopAtStreamEnd(BaseCallback):
    """Ends ``learn`` at the end of a ``TaskStream``, so that every episode is seen once.

    ``learn`` returns as usual. Like every callback that stops SB3's on-policy algorithms, it drops
    the rollout that was being collected; choose an ``n_steps`` much shorter than the stream. With
    several environments, the first stream to end stops ``learn``.

    Example:
        >>> stream = TaskStream(env)                                           # doctest: +SKIP
        >>> model = PPO("MultiInputPolicy", SB3Observation(stream))            # doctest: +SKIP
        >>> model.learn(1_000_000, callback=StopAtStreamEnd())                 # doctest: +SKIP
    """

    def _on_training_start(self) -> None:
        self._before: list[int] = self.training_env.get_attr("passes")

    def _on_step(self) -> bool:
        return self.training_env.get_attr("passes") == self._before
