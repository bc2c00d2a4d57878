from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import (
    EpisodeResult,
    RolloutConfig,
    Waiting,
    evaluate,
    read_results,
)
from clalfred.cl.metrics import score
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import DataError, SimulatorError, UsageError
from gym_clalfred.tasks.goals import count_conditions
from tests import ROOT
from tests.helpers.acting import (
    BrokenEncoder,
    TroubledSource,
    fake_agent,
    make_learner,
    trained_learner,
)
from tests.helpers.fakes import FakeSimulator, FakeSource

SOURCE = FakeSource()
KEYS = [entry.key for entry in SOURCE.entries(Split.VALID_SEEN)]


def config(**changes: object) -> RolloutConfig:
    return RolloutConfig(**{"backend": "fake", "max_steps": 12, **changes})  # type: ignore[arg-type]


def test_results_do_not_depend_on_environments_or_processes() -> None:
    # The fake household looks the same after a step, which the rules would take for standing still.
    agent = replace(trained_learner().policy, heuristics=ActionHeuristics.off())
    alone = evaluate(agent, SOURCE, KEYS, config(environments=1, max_steps=30))
    assert [result.episode for result in alone] == [str(key) for key in KEYS]
    assert {result.success for result in alone} == {True, False}
    assert evaluate(agent, SOURCE, KEYS, config(environments=5, max_steps=30)) == alone
    several = config(environments=3, workers=2, max_steps=30)
    assert evaluate(agent, SOURCE, KEYS[:9], several) == alone[:9]


def test_the_experts_steps_and_conditions_are_told() -> None:
    for result, key in zip(evaluate(make_learner().policy, SOURCE, KEYS[:4], config()), KEYS):
        trajectory = SOURCE.episode(key).trajectory
        assert result.expert_steps == len(trajectory.actions)
        assert result.conditions == count_conditions(trajectory.task)
        assert 0 <= result.conditions_met <= result.conditions
        assert result.steps <= 12


def test_environments_stay_in_a_room_and_then_enter_a_new_one() -> None:
    def key(room: int, number: int) -> EpisodeKey:
        folder = f"pick_and_place_simple-Mug-None-Shelf-{room}"
        return EpisodeKey(Split.VALID_SEEN, f"{folder}/trial_{number}", 0)

    keys = [key(room, number) for number in range(3) for room in (1, 2, 3)]
    waiting, taken = Waiting(keys), []
    first = second = None
    for _ in range(4):
        first, second = waiting.take(first), waiting.take(second)
        taken += [first, second]
    rooms = [one.trajectory.split("-")[-1][0] for one in taken if one is not None]
    assert rooms == ["1", "2", "1", "2", "1", "2", "3", "3"]
    assert [waiting.take(None), waiting.take(None)] == [key(3, 2), None]
    assert set(taken) == {one for one in keys if one != key(3, 2)}


@pytest.mark.parametrize("key", KEYS[::2])
def test_conditions_are_counted_as_the_environment_counts_them(key: EpisodeKey) -> None:
    env = ClAlfredEnv(source=SOURCE, backend="fake", image_size=16)
    _, info = env.reset(options={"episode": key})
    assert info["goal_conditions"][1] == count_conditions(env.episode.trajectory.task)
    env.close()


def test_a_crash_of_the_simulator_is_a_failed_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeSimulator, "crash_at", 1)
    results = evaluate(make_learner().policy, SOURCE, KEYS[:3], config())
    crashed = [result for result in results if result.error]
    assert crashed
    assert all("crashed" in result.error and not result.success for result in crashed)
    assert score(results).episodes == 3


def test_an_episode_that_takes_too_long_is_a_failed_one() -> None:
    results = evaluate(make_learner().policy, SOURCE, KEYS[:2], config(timeout_seconds=0.0))
    assert all("longer than 0 seconds" in result.error for result in results)


@pytest.mark.parametrize("environments", [1, 8])
def test_only_an_episodes_own_simulator_counts(
    environments: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count()
    monkeypatch.setattr("clalfred.agents.acting.rollout.time.monotonic", lambda: float(next(ticks)))
    # A step of the simulator takes one tick, whatever is done beside it.
    settings = config(environments=environments, timeout_seconds=12.0)
    results = evaluate(make_learner().policy, SOURCE, KEYS[:8], settings)
    assert not any(result.error for result in results)
    assert max(result.steps for result in results) == 12


def test_an_unreadable_episode_is_a_failed_one() -> None:
    gone = EpisodeKey(Split.VALID_SEEN, "none/such", 0)
    results = evaluate(make_learner().policy, SOURCE, [KEYS[0], gone], config())
    assert results[0].error == ""
    assert "no episode" in results[1].error


def test_a_process_that_dies_costs_one_episode() -> None:
    keys = KEYS[:8]
    results = evaluate(
        make_learner().policy, TroubledSource(keys[3]), keys, config(environments=2, workers=2)
    )
    assert [bool(result.error) for result in results] == [number == 3 for number in range(8)]
    assert "exit code 7" in results[3].error


def test_more_simulators_than_there_may_be_are_no_failed_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*arguments: object) -> None:
        raise UsageError("all places are taken")

    monkeypatch.setattr(FakeSimulator, "reset", refuse)
    with pytest.raises(UsageError, match="all places are taken"):
        evaluate(make_learner().policy, SOURCE, KEYS[:2], config())


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_that_fails_is_no_failed_episode(workers: int, tmp_path: Path) -> None:
    agent = Policy(fake_agent(encoder=BrokenEncoder()))
    path = tmp_path / "results.jsonl"
    with pytest.raises((UsageError, ArithmeticError), match="no such colour"):
        evaluate(agent, SOURCE, KEYS[:4], config(environments=2, workers=workers), path)
    assert read_results(path) == {}


def test_a_process_that_hangs_costs_one_episode() -> None:
    keys = KEYS[:4]
    source = TroubledSource(keys[1], seconds=600)
    results = evaluate(
        make_learner().policy, source, keys, config(environments=1, workers=2, timeout_seconds=6.0)
    )
    assert [bool(result.error) for result in results] == [False, True, False, False]


@pytest.mark.parametrize(("episodes", "expected"), [(1, 1), (8, 1), (9, 2), (30, 3)])
def test_a_process_is_started_only_if_the_others_are_full(episodes: int, expected: int) -> None:
    assert RolloutConfig(environments=8, workers=3).processes(episodes) == expected


KILLED = """
import multiprocessing.connection, os, signal, sys
from clalfred.agents.acting import workers
from tests.agents.test_rollouts import KEYS, SOURCE, config
from tests.helpers.acting import make_learner

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    if sys.argv[1] == "starting":
        multiprocessing.connection.Connection._send = killed
    else:
        workers._receive = killed
    how = config(environments=2, workers=2)
    list(workers.run_in_processes(make_learner().policy, SOURCE, KEYS[:8], how))
"""


@pytest.mark.parametrize("moment", ["starting", "acting"])
def test_processes_without_the_one_that_started_them_end_in_silence(
    moment: str, tmp_path: Path
) -> None:
    (tmp_path / "killed.py").write_text(KILLED)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "killed.py"), moment],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,  # until the last of the processes has closed it
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert "Traceback" not in done.stderr


def test_finished_episodes_are_not_run_again(tmp_path: Path) -> None:
    agent, path = make_learner().policy, tmp_path / "results.jsonl"
    whole = evaluate(agent, SOURCE, KEYS[:6], config())
    evaluate(agent, SOURCE, KEYS[:3], config(), path)
    with path.open("a") as file:
        file.write('{"episode": "cut o')  # as a killed process leaves it
    started: list[EpisodeResult] = []
    results = evaluate(agent, SOURCE, KEYS[:6], config(), path, started.append)
    assert results == whole
    assert {result.episode for result in started} == {str(key) for key in KEYS[3:6]}
    assert len(path.read_text().splitlines()) == 1 + 6
    assert read_results(path) == {result.episode: result for result in whole}


def test_results_of_another_evaluation_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    evaluate(make_learner().policy, SOURCE, KEYS[:1], config(), path)
    before = path.read_text()
    others = {
        "agent is '.*', not '": (make_learner(seed=1).policy, config()),
        "rules is .*turn_if_unseen.*, not": (
            make_learner(heuristics=ActionHeuristics.off()).policy,
            config(),
        ),
        "max_steps is 12, not 5": (make_learner().policy, config(max_steps=5)),
        "backend is 'fake-1', not 'embedded": (make_learner().policy, config(backend="embedded")),
    }
    for match, (agent, how) in others.items():
        with pytest.raises(UsageError, match=f"another evaluation: {match}"):
            evaluate(agent, SOURCE, KEYS[:1], how, path)
        assert path.read_text() == before
    evaluate(make_learner().policy, SOURCE, KEYS[:1], config(environments=1), path)
    assert path.read_text() == before


@pytest.mark.parametrize("content", [b"I am a file", b"\x80\xff\n", b'{"episode": "x"}\n'])
def test_a_file_that_does_not_say_what_it_is_of_is_left_alone(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match="name another file"):
        evaluate(make_learner().policy, SOURCE, KEYS[:1], config(), path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("length", [0, 20])
def test_a_file_that_ends_in_its_first_line_is_begun_anew(length: int, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = evaluate(make_learner().policy, SOURCE, KEYS[:1], config(), path)
    before = path.read_bytes()
    path.write_bytes(before[:length])
    assert evaluate(make_learner().policy, SOURCE, KEYS[:1], config(), path) == whole
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"nonsense": 1}\n' + json.dumps({"episode": "x"}) + "\n")
    with pytest.raises(DataError, match="line 1"):
        read_results(path)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_simulator_that_never_starts_is_an_error_and_no_result(
    workers: int, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    broken = config(backend="dead", environments=4, workers=workers)
    with pytest.raises((SimulatorError, UsageError), match=r"could be started.*no display"):
        evaluate(make_learner().policy, SOURCE, KEYS[:8], broken, path)
    assert read_results(path) == {}


def test_what_could_not_be_finished_is_tried_again_with_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, path = make_learner().policy, tmp_path / "results.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(FakeSimulator, "crash_at", 1)
        first = evaluate(policy, SOURCE, KEYS[:3], config(), path)
    crashed = [result.episode for result in first if result.error]
    assert crashed
    again: list[str] = []
    second = evaluate(
        policy, SOURCE, KEYS[:3], config(), path, lambda result: again.append(result.episode)
    )
    assert sorted(again) == sorted(crashed)
    assert not any(result.error for result in second)
    assert second == evaluate(policy, SOURCE, KEYS[:3], config())


def test_an_unreadable_episode_alone_is_no_broken_simulator(tmp_path: Path) -> None:
    gone, path = EpisodeKey(Split.VALID_SEEN, "none/such", 0), tmp_path / "results.jsonl"
    for _ in range(2):
        (result,) = evaluate(make_learner().policy, SOURCE, [gone], config(), path)
        assert "no episode" in result.error


def test_two_evaluations_do_not_write_to_one_file(tmp_path: Path) -> None:
    path, policy = tmp_path / "results.jsonl", make_learner().policy
    refused: list[str] = []

    def meanwhile(result: EpisodeResult) -> None:
        with pytest.raises(UsageError, match="another process is writing to it") as error:
            evaluate(policy, SOURCE, KEYS[:2], config(), path)
        refused.append(str(error.value))

    evaluate(policy, SOURCE, KEYS[:2], config(), path, meanwhile)
    assert len(refused) == 2
    assert len(path.read_text().splitlines()) == 1 + 2


def test_an_agent_whose_weights_are_no_numbers_is_refused() -> None:
    policy = make_learner().policy
    with torch.no_grad():
        next(policy.agent.parameters())[0] = torch.nan
    with pytest.raises(UsageError, match="are not finite: its training has failed"):
        evaluate(policy, SOURCE, KEYS[:1], config())


@pytest.mark.parametrize("path", ["/dev/full", "/dev"])
def test_results_are_read_from_files_only(path: str) -> None:
    """A device may never end."""
    with pytest.raises(DataError, match="expected a file of JSON lines"):
        read_results(path)
