"""Evaluation in rollouts: many environments in lockstep, in one or several processes.

The outcome of an episode depends on the agent and the episode alone, never on the number of
environments or processes; see ``acting.policy``. An episode that crashes or takes too long counts
as failed. Results are written line by line, and finished episodes are not run again.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from clalfred.agents.acting.policy import EpisodeState, Policy
from clalfred.agents.acting.result_file import (
    EpisodeResult,
    locked,
    read_results,
    result_writer,
    weights_digest,
    written_action,
)
from clalfred.agents.agent import Agent
from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import DataError, SimulatorError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.backends import make_simulator
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.tasks.goals import count_conditions

#: Called with each result as soon as it is available.
OnResult = Callable[[EpisodeResult], None]


@dataclass(frozen=True)
class RolloutConfig:
    """How to evaluate.

    Args:
        environments: run side by side in each process.
        workers: maximum number of processes; 1 runs in this one.
        max_steps: actions after which an episode is truncated.
        timeout_seconds: an episode whose simulator takes longer counts as failed.
        backend: the simulator.
    """

    environments: int = 8
    workers: int = 1
    max_steps: int = 1000
    timeout_seconds: float = 600.0
    backend: str = "embedded"

    def processes(self, episodes: int) -> int:
        """How many processes are worth their start-up time: another only if all others are full."""
        return min(self.workers, math.ceil(episodes / self.environments))


def evaluate(
    policy: Policy,
    source: EpisodeSource,
    keys: Sequence[EpisodeKey],
    config: RolloutConfig | None = None,
    results: str | Path | None = None,
    on_result: OnResult | None = None,
) -> list[EpisodeResult]:
    """Runs an agent in each episode and returns the results in the order of the keys.

    Args:
        policy: the agent with its rules.
        source: of the episodes.
        keys: the episodes to run.
        config: how.
        results: a JSON lines file; finished episodes in it are taken from there, new ones added.
        on_result: called with each new result.

    Raises:
        UsageError: if the file has results of another agent or under other conditions, or
            another process writes to it.
        SimulatorError: if the simulator cannot be started at all.
    """
    config = config or RolloutConfig()
    check_weights(policy)
    found: dict[str, EpisodeResult] = {}
    with ExitStack() as stack:
        write: OnResult = lambda result: None  # noqa: E731
        if results is not None:
            conditions = conditions_of(policy, source, config)
            stack.enter_context(locked(results))
            found = read_results(results, conditions)
            write = stack.enter_context(result_writer(results, conditions))
        missing = [key for key in keys if str(key) not in found]
        for result in roll_out(policy, source, missing, config):
            found[result.episode] = result
            write(result)
            if on_result is not None:
                on_result(result)
    return [found[str(key)] for key in keys]


def check_weights(policy: Policy) -> None:
    """Raises ``UsageError`` if an agent's weights are not finite."""
    for name, value in policy.agent.state_dict().items():
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise UsageError(
                f"the agent's weights {name!r} are not finite: its training has failed, and what "
                "it would do means nothing; train it again"
            )


def conditions_of(policy: Policy, source: EpisodeSource, config: RolloutConfig) -> dict[str, Any]:
    """What results depend on besides the episode, as plain values."""
    simulator = make_simulator(config.backend, RenderOptions(), source.room)
    label = simulator.label
    simulator.close()
    return {
        "agent": weights_digest(policy.agent),
        "sight": policy.agent.sight,
        "blind": policy.blind,
        "deaf": policy.deaf,
        "rules": [name for name, on in asdict(policy.heuristics).items() if on],
        "reads_goal": policy.agent.config.reads_goal,
        "data": source.label,
        "backend": label,
        "max_steps": config.max_steps,
    }


def roll_out(
    policy: Policy,
    source: EpisodeSource,
    keys: Sequence[EpisodeKey],
    config: RolloutConfig | None = None,
) -> Iterator[EpisodeResult]:
    """Yields results as they arrive, in any order, from one or several processes."""
    config = config or RolloutConfig()
    if config.processes(len(keys)) > 1:
        from clalfred.agents.acting.workers import run_in_processes

        yield from run_in_processes(policy, source, keys, config)
        return
    with torch_threads(1):
        yield from run_episodes(policy, source, keys, config)


def run_episodes(
    policy: Policy,
    source: EpisodeSource,
    keys: Iterable[EpisodeKey],
    config: RolloutConfig,
    on_start: Callable[[EpisodeKey], None] | None = None,
) -> Iterator[EpisodeResult]:
    """Episodes in lockstep in this process; a finished one makes room for the next.

    Raises:
        SimulatorError: if none of the first episodes can be started.
    """
    waiting, starts = Waiting(keys), _Starts()
    slots = [_RunningEpisode(source, policy, config) for _ in range(config.environments)]
    try:
        while True:
            for slot in slots:
                while slot.state is None and (key := waiting.take(slot.key)) is not None:
                    if on_start is not None:
                        on_start(key)
                    failed = slot.begin(key)
                    yield from starts.note(failed, slot.unreadable)
            busy = [slot for slot in slots if slot.state is not None]
            if not busy:
                starts.check_any()
                return
            observations = [slot.observation for slot in busy]
            states = tuple(slot.state for slot in busy if slot.state is not None)
            actions, states = policy.act(observations, states)
            for slot, action, state in zip(busy, actions, states):
                if (result := slot.act(action, state)) is not None:
                    yield result
    finally:
        for slot in slots:
            slot.close()


class _Starts:
    """Distinguishes a faulty episode from a simulator that cannot be started."""

    _MOST = 3

    def __init__(self) -> None:
        self._any = False
        self._failed: list[EpisodeResult] = []

    def note(self, failed: EpisodeResult | None, unreadable: bool) -> Iterator[EpisodeResult]:
        """Records one start; returns the failures known to be the episodes' own."""
        self._any = self._any or failed is None
        if failed is not None and unreadable:
            yield failed  # no simulator would help
        elif failed is not None:
            self._failed.append(failed)
        if self._any:
            yield from self._failed
            self._failed = []
        elif len(self._failed) >= self._MOST:
            self.check_any()

    def check_any(self) -> None:
        """Raises if all starts have failed."""
        if self._failed:
            raise SimulatorError(
                f"none of the first {len(self._failed)} episodes could be started: "
                f"{self._failed[0].error}"
            )


class Waiting:
    """Episodes still to run, preferably in a room that an environment has already built."""

    def __init__(self, keys: Iterable[EpisodeKey]) -> None:
        self._rooms: dict[str, deque[EpisodeKey]] = {}
        for key in keys:
            self._rooms.setdefault(_room_of(key), deque()).append(key)
        self._entered: set[str] = set()

    def take(self, last: EpisodeKey | None) -> EpisodeKey | None:
        """The next episode for an environment that ran ``last``; ``None`` if there is none left.

        From the same room if possible, else from one that no environment has been in.
        """
        if not self._rooms:
            return None
        room = None if last is None else _room_of(last)
        if room not in self._rooms:
            rooms = self._rooms
            room = max(rooms, key=lambda one: (one not in self._entered, len(rooms[one])))
        self._entered.add(room)
        key = self._rooms[room].popleft()
        if not self._rooms[room]:
            del self._rooms[room]
        return key


def _room_of(key: EpisodeKey) -> str:
    """What follows the last hyphen of ALFRED's folder names; only a hint."""
    return key.trajectory.partition("/")[0].rpartition("-")[2]


class _RunningEpisode:
    """One environment and the episode that runs in it."""

    def __init__(
        self,
        source: EpisodeSource,
        policy: Policy,
        config: RolloutConfig,
    ) -> None:
        self._source, self._policy, self._config = source, policy, config
        self._env: ClAlfredEnv | None = None
        self._info: dict[str, Any] = {}
        self._spent = 0.0
        self._interactions: list[str] = []
        self._actions: list[str] = []
        self.key: EpisodeKey | None = None
        self.state: EpisodeState | None = None
        self.observation: dict[str, Any] = {}
        self.unreadable = False

    def begin(self, key: EpisodeKey) -> EpisodeResult | None:
        """Starts an episode; returns a result at once if that is impossible."""
        self.key, self._info, self._spent = key, {}, 0.0
        self._interactions, self._actions, self.unreadable = [], [], False
        try:
            if self._env is None:
                self._env = env_for(
                    self._policy.agent,
                    self._source,
                    max_steps=self._config.max_steps,
                    backend=self._config.backend,
                )
            self.observation, self._info = self._env.reset(options={"episode": key})
            self.state = self._policy.start(self.observation)
        except UsageError:
            raise  # too many simulators, for example: no fault of this episode
        except Exception as error:
            self.unreadable = isinstance(error, DataError)
            return self._end(f"{type(error).__name__}: {error}")
        return None

    def act(self, action: Any, state: EpisodeState) -> EpisodeResult | None:
        """Does one action; returns the result if it ended the episode."""
        assert self._env is not None
        self.state = state
        try:
            began = time.monotonic()
            self.observation, _, terminated, truncated, self._info = self._env.step(action)
            self._spent += time.monotonic() - began
        except Exception as error:
            return self._end(f"{type(error).__name__}: {error}")
        if self._info.get("crashed"):
            return self._end(f"the simulator crashed: {self._info.get('reason')}")
        done, target = Action(int(action[0])), ObjectClass(int(action[1]))
        self._actions.append(written_action(done, target))
        if done.is_interaction and self._info["action_success"]:
            self._interactions.append(f"{done.name} {target.name}")
        if terminated or truncated:
            stopped = "stop" if done is Action.Stop else "failures"
            return self._end(end=stopped if terminated else "limit")
        if self._spent > self._config.timeout_seconds:
            limit = f"{self._config.timeout_seconds:g} seconds"
            return self._end(f"its simulator took longer than {limit}")
        return None

    def close(self) -> None:
        """Frees the environment."""
        if self._env is not None:
            self._env.close()
        self._env = self.state = None

    def _end(self, error: str = "", end: str = "") -> EpisodeResult:
        assert self.key is not None
        self.state = None
        if error:
            self.close()
            steps = int(self._info.get("steps", 0))
            return failed_result(self._source, self.key, error, steps)
        assert self._env is not None
        met, conditions = self._info["goal_conditions"]
        return EpisodeResult(
            episode=str(self.key),
            success=bool(self._info["success"]),
            conditions_met=int(met),
            conditions=int(conditions),
            steps=int(self._info["steps"]),
            expert_steps=len(self._env.episode.trajectory.actions),
            interactions=", ".join(self._interactions),
            end=end,
            actions=" ".join(self._actions),
        )


def failed_result(
    source: EpisodeSource, key: EpisodeKey, error: str, steps: int = 0
) -> EpisodeResult:
    """The result of an episode that could not be finished: no condition met."""
    try:
        trajectory = source.episode(key).trajectory
        conditions = count_conditions(trajectory.task)
        expert_steps = len(trajectory.actions)
    except DataError:
        conditions, expert_steps = 1, 1
    return EpisodeResult(
        episode=str(key),
        success=False,
        conditions_met=0,
        conditions=conditions,
        steps=steps,
        expert_steps=expert_steps,
        error=error,
    )


def env_for(agent: Agent, source: EpisodeSource, **options: Any) -> ClAlfredEnv:
    """An environment with the observations that an agent uses; other options are passed on."""
    return ClAlfredEnv(
        source=source,
        image_size=agent.image_size,
        depth="depth" in agent.observes,
        **options,
    )


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Computes with a fixed number of threads, because it affects the rounding of sums."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
