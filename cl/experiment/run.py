"""A run from its first episode to its results; killed at any moment, it goes on where it was.

Bit-equality after a kill rests on three things: a checkpoint holds all state, the random generators
included; it is replaced at once or not at all; and what follows depends on that state alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from clalfred.agents.allocation import keep_freed_memory
from clalfred.agents.arithmetic import fingerprint, make_portable
from clalfred.agents.behavior_cloning import find_device
from clalfred.agents.features import EpisodeReader
from clalfred.agents.policy import Policy
from clalfred.cl.base import ContinualLearner
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.curves import RunLogger
from clalfred.cl.experiment.evaluation import Record, evaluate_tasks, evaluation_sets
from clalfred.cl.experiment.folder import RunFolder, storage_errors
from clalfred.cl.experiment.listener import Listener
from clalfred.cl.experiment.results import Evaluation, Results, make_results
from clalfred.cl.experiment.rollouts import make_evaluate
from clalfred.cl.experiment.tools import Tools, make_tools
from gym_clalfred.data.source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import DataError
from gym_clalfred.language.tokenizer import Tokenizer
from gym_clalfred.stream import Schedule, TaskStream, build_schedule, from_split_folder

#: Part of the time that may go into writing checkpoints.
CHECKPOINT_SHARE = 0.05

#: Updates between two points of the learning curves at most; a smaller group makes it fewer.
CURVE_UPDATES = 8


def train(
    config: RunConfig,
    out: str | Path,
    *,
    tools: Tools | None = None,
    device: str = "auto",
    workers: int = 1,
    checkpoint_seconds: float = 30.0,
    media: bool = True,
    listener: Listener | None = None,
) -> Results:
    """Trains, evaluates after each task, and writes the results; continues what was begun.

    Args:
        config: what to run.
        out: the run's folder; see ``clalfred.cl.experiment.folder`` for what is in it.
        tools: episodes and encoder, if not those that the config names.
        device: where to compute; ``auto`` is a GPU if there is one.
        workers: processes that evaluate; several of them use the CPU, and on it the results do not
            depend on their number.
        checkpoint_seconds: least time between two checkpoints.
        media: whether to make plots and videos at the end.
        listener: is told how it goes.
    """
    if config.network == "paper":
        keep_freed_memory()
    else:
        make_portable()
    find_device(device)  # a wrong one is said before anything slow begins
    listener = listener or Listener()
    folder = RunFolder(out, config)
    with folder.open(), storage_errors(folder.path), torch_threads(config.threads):
        results = folder.load_results()
        if results is None:
            run = Run(config, folder, tools or make_tools(config), device, workers, listener)
            run.checkpoint_seconds = checkpoint_seconds
            results = run.complete(media)
    listener.finished(results)
    return results


class Run:
    """A run in memory; ``complete`` takes it from wherever it is to the end."""

    def __init__(
        self,
        config: RunConfig,
        folder: RunFolder,
        tools: Tools,
        device: str,
        workers: int,
        listener: Listener,
    ) -> None:
        self.config, self.folder, self.tools, self.listener = config, folder, tools, listener
        self.checkpoint_seconds = 30.0
        self.schedule = limited(schedule_for(config, tools.source), config.episodes_per_task)
        self.sets = evaluation_sets(config, tools.source, self.schedule.tasks)
        self.env = ClAlfredEnv(
            config.scenario.value,
            order=config.order,
            backend=config.backend,
            image_size=tools.encoder.image_size,
            source=tools.source,
        )
        self.reader = EpisodeReader(
            tools.source,
            tools.encoder,
            tools.store,
            config.backend,
            config.augmentations,
            config.reads_goal,
        )
        self.agent = make_agent(config, tools, len(self.schedule), device)
        #: Of all processes that had a part in this run.
        self.arithmetic = {rounding_on(self.agent.device)}
        self.stream = TaskStream(self.env, self.schedule, self.agent)
        self.evaluate = make_evaluate(config, tools, workers)
        self.evaluations: list[Evaluation] = []
        self.seconds = {"train": 0.0, "evaluate": 0.0, "processor": 0.0}
        self._activity: str | None = None
        self._since = self._saved = time.monotonic()
        self._worked = processor_seconds()
        self._save_cost = 0.0
        self.logger = RunLogger(None)

    def complete(self, media: bool = True) -> Results:
        """Goes on to the end and gives the results."""
        try:
            state = self.folder.load_checkpoint()
            self.logger = RunLogger(self.folder.tensorboard)
            self.agent.set_logger(self.logger)
            if state is not None:
                self.load_state_dict(state)
            self.listener.started(self)
            if self.config.evaluate_ahead:
                self._evaluate(0)
            for learned, end in enumerate(self.evaluation_points(), start=1):
                self._learn_until(end)
                if end == len(self.schedule) or not self.agent.offline:
                    self._evaluate(learned)
            return self._conclude(media)
        finally:
            self.logger.close()
            self.env.close()

    def evaluation_points(self) -> tuple[int, ...]:
        """Positions of the stream at which a task counts as learned."""
        tasks, ends = len(self.schedule.tasks), self.schedule.block_ends
        if len(ends) == tasks:
            return ends
        return tuple(round((task + 1) * len(self.schedule) / tasks) for task in range(tasks))

    @cached_property
    def labels(self) -> dict[str, str]:
        """What the data, the simulator and the encoder call themselves, with their versions."""
        return {
            "data": self.tools.source.label,
            "backend": self.env.simulator.label,
            "encoder": self.tools.encoder.name,
        }

    def state_dict(self) -> dict[str, Any]:
        """All that continuing needs."""
        return {
            "labels": self.labels,
            "arithmetic": sorted(self.arithmetic),
            "agent": self.agent.state_dict(),
            "stream": self.stream.state_dict(),
            "logger": self.logger.state_dict(),
            "evaluations": [
                {
                    "learned": one.learned,
                    "episodes": one.episodes,
                    "records": [record.to_dict() for record in one.records],
                }
                for one in self.evaluations
            ],
            "seconds": self.seconds,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues from ``state_dict``."""
        try:
            if state["labels"] != self.labels:
                raise DataError(
                    f"{self.folder.path}: began with {state['labels']}, but now there is "
                    f"{self.labels}; a run cannot change its data, simulator or encoder: finish it "
                    "with the release that began it, or choose another folder"
                )
            # Older checkpoints do not say.
            self.arithmetic.update(state.get("arithmetic", ["unknown"]))
            self.agent.load_state_dict(state["agent"], self.reader.find)
            self.stream.load_state_dict(state["stream"])
            self.logger.load_state_dict(state["logger"])
            self.evaluations = [
                Evaluation(
                    one["learned"],
                    one["episodes"],
                    tuple(Record.from_dict(record) for record in one["records"]),
                )
                for one in state["evaluations"]
            ]
            self.seconds = dict(state["seconds"])
        except (KeyError, TypeError) as error:
            raise DataError(
                f"{self.folder.checkpoint}: lacks what this release needs to continue ({error!r}); "
                "continue with the release that wrote it, or choose another folder"
            ) from error

    def save(self) -> None:
        """Replaces the checkpoint."""
        began = time.monotonic()
        self._count_time()
        self.folder.save_checkpoint(self.state_dict())
        self._saved = time.monotonic()
        self._save_cost = self._saved - began

    def _learn_until(self, end: int) -> None:
        with self._timed("train"):
            while self.stream.position < end:
                self.agent.observe(self.reader(self.stream.next_demonstration()))
                self._after_step()
            if self.stream.exhausted:
                for _ in self.agent.finish():
                    self._after_step()
                self._dump()

    def _after_step(self) -> None:
        rows = self.logger.curves.rows
        shown = int(rows[-1]["updates"]) if rows else 0
        if self.agent.num_updates - shown >= min(CURVE_UPDATES, self.agent.group_size):
            self._dump()
        self.listener.learned(self)
        waited = time.monotonic() - self._saved
        if waited > max(self.checkpoint_seconds, self._save_cost / CHECKPOINT_SHARE):
            self.save()

    def _dump(self) -> None:
        if self.logger.name_to_value:
            self.logger.record("train/episodes", self.agent.num_episodes)
            self.logger.dump(self.agent.num_updates)

    def _evaluate(self, learned: int) -> None:
        if any(one.learned == learned for one in self.evaluations):
            return
        count = len(self.schedule.tasks)
        tasks = range(learned)
        if self.config.evaluate_ahead:
            tasks = range(min(learned + 1, count) if learned else count)
        self.save()
        self.listener.evaluating(self, learned)
        with self._timed("evaluate"):
            records = evaluate_tasks(
                self.agent,
                self.sets,
                tasks,
                self.folder.evaluation(learned),
                self.evaluate,
                self.listener.evaluated_episode,
            )
        evaluation = Evaluation(learned, self.stream.position, tuple(records))
        self.evaluations.append(evaluation)
        self._log(learned)
        self.save()
        self.listener.evaluated(self, evaluation)

    def _log(self, learned: int) -> None:
        """TensorBoard only: the curves are those of training."""
        if learned:
            splits = self.results().document["splits"]
            self.logger.board(
                {
                    f"{split}/{name}": value
                    for split, part in splits.items()
                    for name, value in (part["after_each_task"][learned - 1] or {}).items()
                },
                self.agent.num_updates,
            )

    def results(self) -> Results:
        """The results so far."""
        return make_results(
            self.config,
            self.schedule.tasks,
            self.evaluations,
            stream={
                "name": self.schedule.name,
                "digest": self.schedule.digest,
                "length": len(self.schedule),
                "position": self.stream.position,
            },
            labels=self.labels,
            arithmetic="+".join(sorted(self.arithmetic)),
            training={
                "updates": self.agent.num_updates,
                "steps_seen": self.agent.num_timesteps,
                "parameters": sum(one.numel() for one in self.agent.network.parameters()),
                "memory": self.agent.method.memory,
                "held": self.agent.held,
                "needs_boundaries": self.agent.needs_boundaries,
                "needs_labels": self.agent.needs_labels,
            },
            curves=self.logger.curves.rows,
            seconds=self.seconds,
        )

    def _conclude(self, media: bool) -> Results:
        save_agent(self.folder.agent, self.agent, self.config)
        results = replace(self.results(), folder=self.folder.path)
        if media:
            self.listener.illustrating(self)
            from clalfred.cl.experiment.media import make_media

            make_media(results, self.agent, self.tools, self.folder.path)
        results.save(self.folder.results)
        return results

    @contextmanager
    def _timed(self, activity: str) -> Iterator[None]:
        self._count_time()
        self._activity = activity
        yield
        self._count_time()
        self._activity = None

    def _count_time(self) -> None:
        now, worked = time.monotonic(), processor_seconds()
        if self._activity is not None:
            self.seconds[self._activity] += now - self._since
            if "processor" in self.seconds:  # checkpoints of earlier runs did not count it
                self.seconds["processor"] += worked - self._worked
        self._since, self._worked = now, worked


def rounding_on(device: torch.device) -> str:
    """How sums are rounded there; a GPU is named by itself."""
    return fingerprint() if device.type == "cpu" else str(device)


def processor_seconds() -> float:
    """What this process and its finished children have used of all processors."""
    return sum(os.times()[:4])


def make_agent(
    config: RunConfig, tools: Tools, stream_length: int, device: str
) -> ContinualLearner:
    """The untrained learner of a run."""
    encoder = tools.encoder
    vocabulary = len(Tokenizer.default().words)
    return config.learner(
        config.network_config(vocabulary, encoder.channels, encoder.cells),
        method=config.method_settings(stream_length),
        policy=Policy(encoder, reads_goal=config.reads_goal),
        seed=config.seed,
        device=device,
    )


def schedule_for(config: RunConfig, source: EpisodeSource) -> Schedule:
    """The whole stream of a run: the authors' own, or one that is made by its settings."""
    if config.split_folder is not None:
        return from_split_folder(config.split_folder, config.order)
    return build_schedule(
        source,
        config.task_setup,
        kind=config.schedule,
        order=config.order,
        balanced=config.scenario.is_balanced_by_room,
        seed=config.seed,
    )


def limited(schedule: Schedule, episodes_per_task: int | None) -> Schedule:
    """The schedule with only the first few episodes of each task."""
    if episodes_per_task is None:
        return schedule
    counts = [0] * len(schedule.tasks)
    kept: list[tuple[EpisodeKey, int]] = []
    starts: list[int] = []
    for position, (key, task) in enumerate(zip(schedule.keys, schedule.task_ids)):
        if position in schedule.block_starts:
            starts.append(len(kept))
        if counts[task] < episodes_per_task:
            counts[task] += 1
            kept.append((key, task))
    return Schedule(
        f"{schedule.name}-first{episodes_per_task}",
        schedule.tasks,
        tuple(key for key, _ in kept),
        tuple(task for _, task in kept),
        tuple(start for start in sorted(set(starts)) if start < len(kept)),
    )


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Computes with a fixed number of threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
