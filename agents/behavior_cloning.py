"""Behaviour cloning of demonstrations, in the manner of Stable-Baselines3's algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ConvertCallback
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import configure_logger, get_device
from torch import Tensor
from tqdm import tqdm
from typing_extensions import Self

from clalfred.agents.acting.policy import Policy, PolicyState
from clalfred.agents.agent import Agent, Outputs
from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.episode import Batch, EncodedEpisode, EncodedViews
from clalfred.agents.losses import imitation_losses
from clalfred.agents.numerics.adam import Adam
from clalfred.agents.registry import agent_kind, config_from_dict, make_agent
from clalfred.agents.training import TrainingConfig
from gym_clalfred.errors import BadInputError, DataError, DivergenceError, UsageError
from gym_clalfred.stream import Demonstration, TaskStream

#: Makes tensors of a demonstration, see ``clalfred.agents.demonstrations.EpisodeReader``.
Reader = Callable[[Demonstration], EncodedEpisode]

#: Finds stored views by name, see ``clalfred.agents.demonstrations.ViewStore``.
ViewLookup = Callable[[str], EncodedViews]


def find_device(name: torch.device | str) -> torch.device:
    """An available device; ``auto`` is a GPU if there is one, else the CPU."""
    if name == "auto":
        return get_device("auto")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise BadInputError(f"device {name!r}: expected cpu, cuda, cuda:1 or auto") from error
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise BadInputError(
            f"device {str(name)!r}: torch cannot compute there ({reason}); choose cpu or auto"
        ) from error
    return device


class BehaviorCloning:
    """Trains an agent on demonstrations that arrive one at a time.

    Episodes are gathered into a group of a batch's size, followed by as many updates as episodes:
    one update per episode on average. The last group may be smaller.

    Args:
        agent: an ``Agent``, or the name of a registered one.
        env: only for callbacks that ask the model for its environment.
        training: optimiser settings; by default the agent's batch and learning rate.
        policy: how it acts; with the released agent's rules by default.
        reader: encodes the stream's demonstrations; not needed for encoded episodes.
        seed: of weights, dropout, augmentation and memory.
        device: where to compute; ``auto`` is a GPU if there is one.
        verbose: 1 prints the logger's tables.
        tensorboard_log: folder for TensorBoard.
    """

    #: Task information that the learner needs beyond the task-free protocol; the stream obeys.
    needs_boundaries: bool = False
    needs_labels: bool = False

    def __init__(
        self,
        agent: Agent | str,
        env: Any = None,
        *,
        training: TrainingConfig | None = None,
        policy: Policy | None = None,
        reader: Reader | None = None,
        seed: int = 0,
        device: torch.device | str = "auto",
        verbose: int = 0,
        tensorboard_log: str | None = None,
    ) -> None:
        agent = make_agent(agent, seed=seed) if isinstance(agent, str) else agent
        self.agent = agent.to(find_device(device))
        self.training = training or TrainingConfig(
            self.agent.config.batch_size, self.agent.config.learning_rate
        )
        if not self.training.teacher_forcing and not self.agent.can_feed_back:
            raise BadInputError(
                f"{type(self.agent).__name__} can be trained with teacher forcing only: choose "
                "another preset of the method"
            )
        self.policy = policy or Policy(self.agent)
        self.reader = reader
        self.seed = seed
        self.verbose = verbose
        self.tensorboard_log = tensorboard_log
        self.generator = torch.Generator().manual_seed(seed)
        self.optimizer = Adam(self.agent.parameters(), self.training.learning_rate)
        self.num_timesteps = 0
        self.num_episodes = 0
        self.num_updates = 0
        self.num_forwards = 0
        self.num_backwards = 0
        self._env = env
        self._gathered: list[EncodedEpisode] = []
        self._logger: Logger | None = None

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.agent.device

    @property
    def group_size(self) -> int:
        """How many streamed episodes are gathered before they are trained on."""
        return self.training.batch_size

    def learn(
        self,
        stream: TaskStream | Iterable[EncodedEpisode | Demonstration],
        callback: BaseCallback | list[BaseCallback] | Callable[..., bool] | None = None,
        log_interval: int | None = 100,
        tb_log_name: str = "run",
        progress_bar: bool = False,
    ) -> Self:
        """Learns from a stream to its end, or until a callback says stop.

        Args:
            stream: the episodes, each seen once; a ``TaskStream`` is told what this learner needs.
            callback: SB3's; ``on_step`` is called after each episode, not after each time step.
            log_interval: episodes between two lines of the logger; ``None`` if a callback writes.
            tb_log_name: name of the run in TensorBoard.
            progress_bar: whether to show a progress bar.
        """
        if self._logger is None:
            self._logger = configure_logger(self.verbose, self.tensorboard_log, tb_log_name)
        callbacks = _as_callback(callback)
        callbacks.init_callback(self)  # type: ignore[arg-type]  # it has what callbacks use
        callbacks.on_training_start(locals(), globals())
        count = stream.remaining if isinstance(stream, TaskStream) else None
        with tqdm(total=count, unit="episode", disable=not progress_bar) as bar:
            for _ in self._lessons(stream):
                bar.update()
                if log_interval is not None and self.num_episodes % log_interval == 0:
                    self.dump_logs()
                if not callbacks.on_step():
                    break
        callbacks.on_training_end()
        return self

    def observe(self, episode: EncodedEpisode) -> None:
        """Receives one streamed episode, and trains once enough are gathered."""
        self._check_needs(episode)
        if episode.starts_task:
            if self._gathered:
                self._train_gathered()
            self.on_boundary()
        self._gathered.append(episode)
        self.num_episodes += 1
        self.num_timesteps += len(episode)
        if len(self._gathered) == self.group_size:
            self._train_gathered()

    def finish(self) -> Iterator[None]:
        """The work left at the end of the stream, in steps between which one may save."""
        if self._gathered:
            self._train_gathered()
            yield

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Any = None,
        episode_start: NDArray[np.bool_] | None = None,
        deterministic: bool = True,
    ) -> tuple[NDArray[np.int64], PolicyState]:
        """SB3's ``predict``: actions (n, 2) for n environments, or (2,) for one, and the state."""
        return self.policy.predict(observation, state, episode_start, deterministic, self.generator)

    def forward(self, batch: Batch) -> Outputs:
        """The agent's training forward pass, with dropout."""
        return self._run(batch, self.generator)

    def plain_forward(self, batch: Batch) -> Outputs:
        """As ``forward``, without dropout."""
        return self._run(batch, None)

    def losses(self, outputs: Outputs) -> Tensor:
        """(B,) imitation losses of each episode."""
        return imitation_losses(outputs, self.training.loss)

    def make_batch(self, episodes: Sequence[EncodedEpisode], augment: bool = True) -> Batch:
        """A batch on the agent's device; an augmentation of each episode is drawn."""
        return self.agent.collate(episodes, self.generator if augment else None)

    def step(self, loss: Tensor) -> None:
        """One optimiser step on a loss.

        Raises:
            DivergenceError: if the loss or its gradient is not finite; weights stay unchanged.
        """
        self._check_finite("loss", float(loss.detach()))
        self.optimizer.zero_grad()
        loss.backward()
        self.on_gradients()
        norm = torch.nn.utils.clip_grad_norm_(
            self.agent.parameters(), self.training.max_gradient_norm
        )
        self._check_finite("gradient", float(norm))
        self.optimizer.learning_rate = self.learning_rate
        self.optimizer.step()
        self.num_updates += 1
        self.logger.record_mean("train/loss", float(loss.detach()))
        self.logger.record_mean("train/clipped", float(norm > self.training.max_gradient_norm))
        self.logger.record("train/updates", self.num_updates)

    @property
    def learning_rate(self) -> float:
        """The rate of the next update."""
        return self.training.rate(self.num_updates)

    @property
    def logger(self) -> Logger:
        """SB3's logger."""
        if self._logger is None:
            self._logger = Logger(folder=None, output_formats=[])
        return self._logger

    def set_logger(self, logger: Logger) -> None:
        """Uses another logger of SB3's."""
        self._logger = logger

    def dump_logs(self) -> None:
        """Writes what was recorded."""
        self.logger.record("time/episodes", self.num_episodes)
        self.logger.dump(self.num_timesteps)

    def get_env(self) -> Any:
        """The environment, for SB3's callbacks."""
        return self._env

    def get_vec_normalize_env(self) -> None:
        """Always ``None``; asked for by SB3's callbacks."""
        return None

    def save(self, path: str | Path) -> Path:
        """Writes everything needed to continue; see ``clalfred.agents.checkpoint``."""
        return save_state(path, self.state_dict())

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: Any = None,
        views: ViewLookup | None = None,
        agent: Agent | None = None,
        **arguments: Any,
    ) -> Self:
        """A learner that continues exactly where ``save`` was called.

        Args:
            path: the checkpoint.
            env: as for the constructor.
            views: finds the views of gathered and stored episodes that came from a store.
            agent: an untrained agent of the same kind, if it cannot be made by name.
            arguments: the constructor's ``policy``, ``reader``, ``device`` and so on.
        """
        state = load_state(path)
        if not isinstance(state.get("learner"), str):
            raise DataError(
                f"{path}: was written by a run, not by {cls.__name__}.save; continue the run with "
                "clalfred.cl.experiment.train, or act with its agent.zip (load_agent)"
            )
        if state["learner"] != cls.__name__:
            raise DataError(
                f"{path}: holds a {state['learner']}, not a {cls.__name__}; load it with "
                f"{state['learner']}.load"
            )
        if agent is None:
            name = state["agent"]["name"]
            agent = make_agent(name, config_from_dict(name, state["agent"]["config"]))
        learner = cls(agent, env, **arguments)
        learner.load_state_dict(state, views)
        return learner

    def state_dict(self) -> dict[str, Any]:
        """Everything that further learning depends on, as tensors and plain values."""
        return {
            "learner": type(self).__name__,
            "agent": {"name": agent_kind(self.agent), "config": asdict(self.agent.config)},
            "training": asdict(self.training),
            "weights": dict(self.agent.state_dict()),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "counts": [
                self.num_timesteps,
                self.num_episodes,
                self.num_updates,
                self.num_forwards,
                self.num_backwards,
            ],
            "gathered": [episode.state_dict() for episode in self._gathered],
        }

    def load_state_dict(self, state: Mapping[str, Any], views: ViewLookup | None = None) -> None:
        """Continues from a state of the same kind of learner with the same settings."""
        wanted, found = asdict(self.training), state["training"]
        if found != wanted:
            raise DataError(
                f"the checkpoint was made with training settings {found}, this "
                f"{type(self).__name__} has {wanted}: load it with the same training="
            )
        self.agent.load_state_dict(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"])
        (
            self.num_timesteps,
            self.num_episodes,
            self.num_updates,
            self.num_forwards,
            self.num_backwards,
        ) = state["counts"]
        self._gathered = [EncodedEpisode.from_state_dict(one, views) for one in state["gathered"]]

    def _run(self, batch: Batch, generator: torch.Generator | None) -> Outputs:
        self.num_forwards += len(batch)
        # Whoever asks for a graph goes back through it.
        self.num_backwards += len(batch) if torch.is_grad_enabled() else 0
        outputs: Outputs = self.agent(batch, generator, self.training.teacher_forcing)
        return outputs

    def _check_finite(self, what: str, value: float) -> None:
        if not np.isfinite(value):
            raise DivergenceError(
                f"the {what} of update {self.num_updates + 1} is {value}: training has failed; "
                "lower the learning rate, or look at the method's loss. The last checkpoint is "
                "from before"
            )

    def _lessons(
        self, stream: TaskStream | Iterable[EncodedEpisode | Demonstration]
    ) -> Iterator[None]:
        if isinstance(stream, TaskStream):
            stream = stream.for_learner(self).demonstrations()
        for given in stream:
            self.observe(given if isinstance(given, EncodedEpisode) else self._read(given))
            yield
        yield from self.finish()

    def _read(self, demonstration: Demonstration) -> EncodedEpisode:
        if self.reader is None:
            raise UsageError(
                "the stream gives demonstrations without features: give the agent a "
                "reader=EpisodeReader(...), or stream EncodedEpisode objects"
            )
        return self.reader(demonstration)

    def _check_needs(self, episode: EncodedEpisode) -> None:
        for need, value in (("boundaries", episode.starts_task), ("labels", episode.label)):
            needed = getattr(self, f"needs_{need}")
            if needed and value is None:
                raise UsageError(
                    f"{type(self).__name__} needs task {need}, but the stream gives none: make the "
                    f"stream for this learner, TaskStream(env, learner=agent)"
                )
            if not needed and value is not None:
                raise UsageError(
                    f"{type(self).__name__} is task-free, but episode {episode.key!r} carries task "
                    f"{need}: make the stream for this learner"
                )

    def _train_gathered(self) -> None:
        group, self._gathered = tuple(self._gathered), []
        self.train_on(group)

    def train_on(self, group: tuple[EncodedEpisode, ...]) -> None:
        """Override: makes the updates due for a group of gathered episodes."""
        for _ in range(self.updates_due(len(group))):
            self.step(self.losses(self.forward(self.make_batch(group))).mean())

    def updates_due(self, group: int) -> int:
        """The number of updates due after this many new episodes."""
        before = self.num_episodes - group
        share = self.training.updates
        return int(self.num_episodes * share) - int(before * share)

    def on_boundary(self) -> None:
        """Override: a task begins with the next episode; only if ``needs_boundaries``."""

    def on_gradients(self) -> None:
        """Override: after the backward pass, before clipping."""


def _as_callback(
    callback: BaseCallback | list[BaseCallback] | Callable[..., bool] | None,
) -> BaseCallback:
    if isinstance(callback, BaseCallback):
        return callback
    if isinstance(callback, list):
        return CallbackList(callback)
    return ConvertCallback(callback)
