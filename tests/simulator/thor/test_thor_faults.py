"""Unity's bad days: the episode fails, the next goes on, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import pytest

pytest.importorskip("ai2thor")

from gym_clalfred.actions import Action
from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import SimulatorError, UsageError
from gym_clalfred.simulator.player.faults import FAULT_VARIABLE, Kind
from gym_clalfred.simulator.thor.options import ThorOptions
from gym_clalfred.simulator.thor.processes import SimulatorSlot, Supervised
from gym_clalfred.simulator.thor.simulator import ThorSimulator
from tests import ROOT
from tests.helpers.thor_players import (
    OPTIONS,
    PixelPolicy,
    alive,
    environment_with,
    session_members,
    set_options,
    tiny,
    trajectories,
)

TURN = np.array([Action.RotateRight, 0])

#: The message at which a fault happens: a few steps into the first episode.
MID_EPISODE = 40


@pytest.fixture
def pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pipes are made while a test runs."""
    folder = tmp_path / "pipes"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def leftovers(pipes: Path) -> list[Path]:
    return [path for path in pipes.iterdir() if not path.name.startswith("clalfred-thor-")]


def leader(env: ClAlfredEnv) -> int:
    simulator = env.simulator
    assert isinstance(simulator, ThorSimulator)
    pid: int = simulator._link._controller.unity_pid  # type: ignore[union-attr]
    return pid


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.DEAF])
def test_a_fault_fails_the_episode_and_the_next_one_works(
    kind: Kind, tmp_path: Path, pipes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_options(monkeypatch, step_timeout=3, start_timeout=120)
    monkeypatch.setenv(FAULT_VARIABLE, f"{kind.value}:{MID_EPISODE}:{tmp_path / 'happened'}")
    source = tiny()
    keys = [entry.key for entry in source.entries(Split.TRAIN)[:2]]
    env = ClAlfredEnv(backend="thor", image_size=64, source=source)
    try:
        env.reset(options={"episode": keys[0]})
        first = leader(env)
        assert len(session_members(first)) >= 2
        for _ in range(30):
            _, _, terminated, _, info = env.step(TURN)
            if terminated:
                break
        assert terminated
        assert info["crashed"]
        assert not info["success"]
        assert session_members(first) == []
        assert leftovers(pipes) == []
        env.reset(options={"episode": keys[1]})
        second = leader(env)
        assert second != first
        for _ in range(15):
            *_, info = env.step(TURN)
            assert info["action_success"]
    finally:
        env.close()
    assert session_members(second) == []
    assert leftovers(pipes) == []


def test_a_simulator_that_always_dies_before_the_handshake_stops_the_evaluation(
    tmp_path: Path, pipes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = pytest.importorskip("clalfred.agents.acting.rollout")
    set_options(monkeypatch, tries=1, start_timeout=120)
    monkeypatch.setenv(FAULT_VARIABLE, Kind.DEAF.value)
    source = tiny()
    keys = [entry.key for entry in source.entries(Split.TRAIN)[:2]]
    config = rollout.RolloutConfig(environments=1, backend="thor")
    with pytest.raises(SimulatorError, match=r"could be started: .*process ended"):
        list(rollout.run_episodes(PixelPolicy(), source, keys, config))
    assert leftovers(pipes) == []


def test_a_start_is_tried_again(
    tmp_path: Path, pipes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAULT_VARIABLE, f"{Kind.DEAF.value}:0:{tmp_path / 'happened'}")
    simulator = ThorSimulator(options=OPTIONS)
    scene = next(iter(trajectories(tiny()).values()))[0].scene
    try:
        simulator.reset(scene)
        assert (tmp_path / "happened").exists()
        assert simulator.agent == scene.start
    finally:
        simulator.close()
    assert leftovers(pipes) == []


def test_a_command_that_does_not_exist_is_named_and_not_tried_again(pipes: Path) -> None:
    options = ThorOptions(executable="/nowhere/thor", start_timeout=30)
    simulator = ThorSimulator(options=options)
    with pytest.raises(UsageError, match="executable /nowhere/thor: no such program"):
        simulator.reset(next(iter(trajectories(tiny()).values()))[0].scene)
    assert leftovers(pipes) == []


# Who is started in the background by a shell has SIGINT ignored, so it is asked for.
CLIENT = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.helpers.thor_players import OPTIONS, tiny, trajectories
from gym_clalfred.simulator.thor.simulator import ThorSimulator
simulator = ThorSimulator(options=OPTIONS)
simulator.reset(next(iter(trajectories(tiny()).values()))[0].scene)
print(simulator._link._controller.unity_pid, flush=True)
{end}
"""


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("time.sleep(600)", signal.SIGKILL),
        ("time.sleep(600)", signal.SIGINT),
        ("", None),
    ],
)
def test_nothing_survives_its_parent(
    end: str, how: signal.Signals | None, tmp_path: Path, pipes: Path
) -> None:
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT.format(end=end)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_with(TMPDIR=str(pipes)),
        cwd=ROOT,
    )
    assert client.stdout is not None
    session = int(client.stdout.readline())
    if how is not None:
        assert len(session_members(session)) >= 2
        os.kill(client.pid, how)
    client.wait()
    client.stdout.close()
    for _ in range(300):
        if not session_members(session) and not leftovers(pipes):
            break
        time.sleep(0.1)
    assert not alive(session)
    assert session_members(session) == []
    assert leftovers(pipes) == []


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    with open(tmp_path / "log", "w+b") as file:
        yield file


def started(command: str, log: IO[bytes]) -> tuple[Supervised, int]:
    """A shell under a supervisor, and the process whose number it prints."""
    process = Supervised(["sh", "-c", command], os.environ, log)
    for _ in range(300):
        log.seek(0)
        if text := log.read().strip():
            return process, int(text)
        time.sleep(0.05)
    process.end()
    raise AssertionError("the shell did not start")


def gone(*pids: int) -> bool:
    for _ in range(100):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("sleeper", ["sleep 77777", "setsid sleep 77777"])
def test_a_process_ends_with_all_that_it_started(sleeper: str, log: IO[bytes]) -> None:
    process, inner = started(f"{sleeper} & echo $!; wait; true", log)
    assert alive(inner)
    assert process.poll() is None
    process.end()
    assert not alive(inner)
    assert session_members(process.popen.pid) == []
    process.end()


def test_what_a_process_leaves_when_it_ends_is_ended(log: IO[bytes]) -> None:
    process, inner = started("sleep 77777 & echo $!; exit 3", log)
    assert process.popen.wait(30) == 3
    assert not alive(inner)
    process.end()


def test_all_ends_although_the_supervisor_was_killed(log: IO[bytes]) -> None:
    process, inner = started("sleep 77777 & echo $!; wait; true", log)
    os.kill(process.popen.pid, signal.SIGKILL)
    process.end()
    assert gone(inner)
    assert session_members(process.popen.pid) == []


def test_places_are_bounded_and_come_back(tmp_path: Path) -> None:
    options = ThorOptions(max_processes=2, start_timeout=0.3)
    first, second = SimulatorSlot(options, tmp_path), SimulatorSlot(options, tmp_path)
    with pytest.raises(UsageError, match=r"machine is 2 .* CLALFRED_THOR_MAX_PROCESSES"):
        SimulatorSlot(options, tmp_path)
    first.release()
    third = SimulatorSlot(options, tmp_path)
    for slot in (second, third):
        slot.release()


def test_too_many_environments_are_told_of_once(
    pipes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is tried again: each try would wait as long as the first."""
    set_options(monkeypatch, max_processes=1, start_timeout=0.3, tries=3)
    waits = []

    def slot(options: ThorOptions) -> SimulatorSlot:
        waits.append(options)
        return SimulatorSlot(options)

    monkeypatch.setattr("gym_clalfred.simulator.thor.current.SimulatorSlot", slot)
    other = SimulatorSlot(ThorOptions.from_environment())
    source = tiny()
    env = ClAlfredEnv(backend="thor", image_size=64, source=source)
    try:
        with pytest.raises(UsageError, match="the limit on this machine is 1 "):
            env.reset(options={"episode": source.entries(Split.TRAIN)[0].key})
        assert len(waits) == 1
    finally:
        env.close()
        other.release()
    assert leftovers(pipes) == []
