"""A run from its first episode to its results; it can be killed and continued at any time.

Bit-equality after a kill rests on three things: a checkpoint holds all state, including the random
generators; it is replaced atomically; and everything after it depends on that state alone.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from msgspec import structs, to_builtins
from stable_baselines3.common.callbacks import BaseCallback

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import RolloutConfig, torch_threads
from clalfred.agents.behavior_cloning import find_device
from clalfred.agents.demonstrations import CHUNK, EpisodeReader
from clalfred.agents.numerics.allocation import keep_freed_memory
from clalfred.agents.numerics.arithmetic import fingerprint, make_portable
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.callbacks import (
    CheckpointCallback,
    CurvesCallback,
    EvaluationCallback,
    RunCallback,
    RunLogger,
    quiet_board,
)
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluation import (
    SPLITS,
    Record,
    evaluate_tasks,
    evaluation_sets,
    thinned,
)
from clalfred.cl.experiment.folder import RunFolder
from clalfred.cl.experiment.inputs import RunInputs, make_inputs
from clalfred.cl.experiment.results import (
    Evaluation,
    Labels,
    Results,
    Seconds,
    StreamInfo,
    TrainingInfo,
    make_results,
)
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.storage import storage_errors
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError, UsageError
from gym_clalfred.schema import convert
from gym_clalfred.stream import Schedule, TaskStream, build_schedule, from_split_folder


def train(
    config: RunConfig,
    out: str | Path,
    *,
    inputs: RunInputs | None = None,
    device: str = "auto",
    workers: int = 1,
    checkpoint_seconds: float = 30.0,
    media: bool = True,
    callbacks: Sequence[BaseCallback] = (),
    wait_seconds: float = 0.0,
) -> Results:
    """Trains, evaluates after each task and writes the results; continues an interrupted run.

    Args:
        config: what to run.
        out: the run's folder; see ``clalfred.cl.experiment.folder`` for what is in it.
        inputs: episodes and agent, instead of those that the config names.
        device: where to compute; ``auto`` is a GPU if there is one.
        workers: processes that evaluate; more than one use the CPU, on which results do not depend
            on their number.
        checkpoint_seconds: minimum time between two checkpoints.
        media: whether to make plots and videos at the end.
        callbacks: SB3's, called after each episode; a ``RunCallback`` also after evaluations.
        wait_seconds: how long to wait for another process that works on this run.
    """
    keep_freed_memory()
    if config.agent_config().portable:
        make_portable()
    find_device(device)  # reports a wrong one before anything slow begins
    folder = RunFolder(out, config)
    with folder.open(wait_seconds), storage_errors(folder.path), torch_threads(config.threads):
        results = folder.load_results()
        if results is None:
            run = Run(config, folder, inputs or make_inputs(config), device, workers)
            results = run.complete(callbacks, checkpoint_seconds, media)
    for callback in callbacks:
        if isinstance(callback, RunCallback):
            callback.on_finished(results)
    return results


class Run:
    """A run in memory; ``complete`` takes it from its present state to the end."""

    def __init__(
        self, config: RunConfig, folder: RunFolder, inputs: RunInputs, device: str, workers: int
    ) -> None:
        self.config, self.folder, self.inputs = config, folder, inputs
        self.schedule = limited(schedule_for(config, inputs.source), config.episodes_per_task)
        self.sets = evaluation_sets(config, inputs.source, self.schedule.tasks)
        self.env = ClAlfredEnv(
            config.setup,
            order=config.order,
            backend=config.backend,
            image_size=inputs.agent.image_size,
            source=inputs.source,
        )
        self.reader = EpisodeReader(
            inputs.source,
            inputs.agent,
            inputs.store,
            config.backend,
            config.augmentations,
            blind=config.blind,
            deaf=config.deaf,
        )
        self.learner = config.learner(
            inputs.agent,
            self.env,
            policy=Policy(inputs.agent, config.heuristics, config.blind, config.deaf),
            method=config.method_settings(len(self.schedule)),
            reader=self.reader,
            seed=config.seed,
            device=device,
        )
        self.stream = TaskStream(self.env, self.schedule, self.learner)
        self.rollout = RolloutConfig(
            workers=workers, max_steps=config.step_limit, backend=config.backend
        )
        #: Of all processes that had a part in this run.
        self.arithmetic = {rounding_on(self.learner.device)}
        self.evaluations: list[Evaluation] = []
        self.seconds = {"train": 0.0, "evaluate": 0.0, "processor": 0.0}
        self.saved_at = self._since = time.monotonic()
        self.save_cost = 0.0
        self.logger = RunLogger(None)
        self._activity: str | None = None
        self._worked = processor_seconds()
        self._listeners: list[RunCallback] = []

    def complete(
        self, callbacks: Sequence[BaseCallback], checkpoint_seconds: float, media: bool
    ) -> Results:
        """Continues to the end and returns the results."""
        every = [
            CurvesCallback(),
            *callbacks,
            CheckpointCallback(checkpoint_seconds),
            EvaluationCallback(),
        ]
        self._listeners = [one for one in every if isinstance(one, RunCallback)]
        with quiet_board():
            try:
                return self._complete(every, media)
            finally:
                self.logger.close()
                self.reader.close()
                self.env.close()

    def _complete(self, callbacks: list[BaseCallback], media: bool) -> Results:
        state = self.folder.load_checkpoint()
        self.logger = RunLogger(self.folder.tensorboard)
        self.learner.set_logger(self.logger)
        if state is not None:
            self.load_state_dict(state)
        for listener in self._listeners:
            listener.run = self
        self._prepare()
        with self._timed("train"):
            self.learner.learn(self.stream, callbacks, log_interval=None)
        if not self.stream.exhausted:
            self.save()
            raise UsageError("a callback has stopped the run; the same command continues it")
        return self._conclude(media)

    def evaluation_points(self) -> tuple[int, ...]:
        """Positions of the stream at which a task counts as learned."""
        tasks, ends = len(self.schedule.tasks), self.schedule.block_ends
        if len(ends) == tasks:
            return ends
        return tuple(round((task + 1) * len(self.schedule) / tasks) for task in range(tasks))

    @cached_property
    def labels(self) -> dict[str, str]:
        """The labels of the data, the simulator and the agent's way of seeing."""
        return {
            "data": self.inputs.source.label,
            "backend": self.env.simulator.label,
            "sight": self.inputs.agent.sight,
        }

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to continue."""
        return {
            "labels": self.labels,
            "arithmetic": sorted(self.arithmetic),
            "learner": self.learner.state_dict(),
            "stream": self.stream.state_dict(),
            "logger": self.logger.state_dict(),
            "evaluations": to_builtins(self.evaluations),
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
            self.arithmetic.update(state["arithmetic"])
            self.learner.load_state_dict(state["learner"], self.reader.find)
            self.stream.load_state_dict(state["stream"])
            self.logger.load_state_dict(state["logger"])
            self.evaluations = convert(state["evaluations"], list[Evaluation])
            self.seconds = dict(state["seconds"])
        except (BadInputError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.folder.checkpoint}: lacks what this release needs to continue ({error!r}); "
                "continue with the release that wrote it, or choose another folder"
            ) from error

    def save(self) -> None:
        """Replaces the checkpoint."""
        began = time.monotonic()
        self._count_time()
        self.folder.save_checkpoint(self.state_dict())
        self.saved_at = time.monotonic()
        self.save_cost = self.saved_at - began

    def evaluate(self, learned: int) -> None:
        """Evaluates after the given number of tasks, unless that has been done."""
        if any(one.learned == learned for one in self.evaluations):
            return
        count = len(self.schedule.tasks)
        tasks = range(learned)
        if self.config.evaluate_ahead:
            tasks = range(min(learned + 1, count) if learned else count)
        self.save()
        for listener in self._listeners:
            listener.on_evaluating(learned)
        with self._timed("evaluate"):
            records = evaluate_tasks(
                self.learner.policy,
                self.inputs.source,
                self.sets if learned == count else thinned(self.sets, self.config.interim_episodes),
                tasks,
                self.rollout,
                self.folder.evaluation(learned),
                self._on_record,
            )
        evaluation = Evaluation(learned, self.stream.position, tuple(records))
        self.evaluations.append(evaluation)
        self._log(learned)
        self.save()
        for listener in self._listeners:
            listener.on_evaluated(evaluation)

    def _prepare(self) -> None:
        """Encodes all demonstrations once, in as many processes as evaluation uses."""
        if self.rollout.workers < 2 or self.config.backend != "embedded":
            return
        missing = self.reader.missing(self.schedule.keys)
        if len(missing) < CHUNK:
            return
        for done in self.reader.prepare(missing, self.rollout.workers):
            for listener in self._listeners:
                listener.on_prepared(done, len(missing))

    def _on_record(self, record: Record, total: int) -> None:
        for listener in self._listeners:
            listener.on_evaluated_episode(record, total)

    def _log(self, learned: int) -> None:
        """Writes scores to TensorBoard only; the curves in the results are those of training."""
        if not learned:
            return
        values: dict[str, float] = {}
        results = self.results()
        for split in SPLITS:
            scores = results.split(split).after_each_task[learned - 1]
            values |= {
                f"{split}/{name}": value for name, value in to_builtins(scores or {}).items()
            }
            row = results.matrix(split)[learned - 1]
            values |= {
                f"{split}/SR_{task}": rate
                for task, rate in zip(self.schedule.tasks, row)
                if rate is not None
            }
        self.logger.board(values, self.learner.num_updates)

    def results(self) -> Results:
        """The results so far."""
        learner = self.learner
        return make_results(
            self.config,
            self.schedule.tasks,
            self.evaluations,
            stream=StreamInfo(
                self.schedule.name, self.schedule.digest, len(self.schedule), self.stream.position
            ),
            labels=Labels(**self.labels),
            arithmetic="+".join(sorted(self.arithmetic)),
            training=TrainingInfo(
                updates=learner.num_updates,
                forwards=learner.num_forwards,
                backwards=learner.num_backwards,
                steps_seen=learner.num_timesteps,
                parameters=sum(one.numel() for one in learner.agent.parameters()),
                memory=learner.method.memory,
                held=learner.held,
                budget=learner.budget(),
                needs_boundaries=learner.needs_boundaries,
                needs_labels=learner.needs_labels,
            ),
            curves=self.logger.curves.rows,
            seconds=Seconds(**self.seconds),
        )

    def _conclude(self, media: bool) -> Results:
        save_agent(self.folder.agent, self.learner.policy.agent, self.config)
        results = structs.replace(self.results(), folder=self.folder.path)
        results.save(self.folder.results)
        if media:
            for listener in self._listeners:
                listener.on_illustrating()
            from clalfred.cl.experiment.media import make_media

            try:
                make_media(results, self.learner.policy, self.inputs.source, self.folder.path)
            except Exception as error:  # the results are written; a failed plot must not lose them
                warnings.warn(
                    f"{self.folder.path}: plots or videos could not be made "
                    f"({type(error).__name__}: {str(error).partition(chr(10))[0]}); the results "
                    "are complete. clalfred-doctor says whether ffmpeg works",
                    stacklevel=2,
                )
        return results

    @contextmanager
    def _timed(self, activity: str) -> Iterator[None]:
        """Counts the time of the block for this activity, not for the enclosing one."""
        self._count_time()
        before, self._activity = self._activity, activity
        yield
        self._count_time()
        self._activity = before

    def _count_time(self) -> None:
        now, worked = time.monotonic(), processor_seconds()
        if self._activity is not None:
            self.seconds[self._activity] += now - self._since
            self.seconds["processor"] += worked - self._worked
        self._since, self._worked = now, worked


def rounding_on(device: torch.device) -> str:
    """The fingerprint of a device's rounding; for a GPU, its name."""
    return fingerprint() if device.type == "cpu" else str(device)


def processor_seconds() -> float:
    """Processor time of this process and its finished children."""
    return sum(os.times()[:4])


def schedule_for(config: RunConfig, source: EpisodeSource) -> Schedule:
    """The whole stream of a run: the authors' own, or one built from its settings."""
    if config.split_folder is not None:
        return from_split_folder(config.split_folder, config.order)
    return build_schedule(
        source,
        config.task_setup,
        kind=config.schedule,
        order=config.stream_order(),
        balanced=config.task_setup.is_balanced_by_room,
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
