"""Runs round alike on all processors."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
import torch

from clalfred.agents.agent import Agent
from clalfred.agents.episode import EncodedEpisode, EncodedViews
from clalfred.agents.numerics.arithmetic import (
    PORTABLE,
    TORCH,
    VARIABLES,
    exact_sqrt,
    fingerprint,
    make_portable,
)
from clalfred.agents.registry import make_agent
from clalfred.agents.semantic_map.room_map import BITS, NUMBERS
from clalfred.agents.two_branch.config import TwoBranchConfig
from clalfred.cl.cama import CAMA
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.callbacks import RunCallback
from clalfred.cl.registry import method_names
from tests.helpers.learning import VOCABULARY, demonstration, tiny_agent
from tests.helpers.runs import CoarseEncoder, fake_config, run_fake, untrained_agent

#: Digests of what each method makes of a stream.
WEIGHTS = {
    "finetuning": "875be709259c",
    "ewc++": "f14637e3e147",
    "er": "6209dbe7307c",
    "mir": "0a0b647c4d3d",
    "clib": "223c26fdbb0b",
    "der++": "bd3724935ca7",
    "x-der": "1c51a10c8d0a",
    "cama-without-dc": "3b23d59f63aa",
    "cama": "f0c6221f76ac",
    "er-ace": "e9fc3bf98131",
    "rar": "262080f9c959",
    "star": "5da1e8de1c59",
    "mkd": "5701fc457ed4",
    "pantry": "aa80941d6534",
    "joint": "6ad602bc7b3b",
}

needs_avx2 = pytest.mark.skipif(
    not llvmlite.binding.get_host_cpu_features().get("avx2")
    or torch.__version__.split("+")[0] != TORCH,
    reason=f"rounding is known of x86-64 processors with AVX2 and of torch {TORCH}",
)


def in_new_process(program: str, **variables: str) -> list[str]:
    """What it prints; torch settles its ways once in a process."""
    program = (
        f"import os, torch, warnings\nfrom clalfred.agents.numerics.arithmetic import *\n{program}"
    )
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@needs_avx2
def test_portable_arithmetic_has_a_known_fingerprint() -> None:
    assert in_new_process("print(make_portable(), fingerprint())") == ["True", PORTABLE]


@needs_avx2
def test_tests_run_in_it_too() -> None:
    assert fingerprint() == PORTABLE
    assert make_portable()


@needs_avx2
def test_processes_that_are_started_round_alike() -> None:
    program = """
import multiprocessing
make_portable()
with multiprocessing.get_context("spawn").Pool(1) as pool:
    print(pool.apply(fingerprint), fingerprint())
"""
    assert in_new_process(program) == [PORTABLE] * 2


def test_the_number_of_threads_is_left_as_it_was() -> None:
    program = "torch.set_num_threads(3); fingerprint(); print(torch.get_num_threads())"
    assert in_new_process(program) == ["3"]


@needs_avx2
@pytest.mark.parametrize("loops", [{}, {"ATEN_CPU_CAPABILITY": "avx2"}])
def test_too_late_is_said_and_leaves_no_trace(loops: dict[str, str]) -> None:
    """Whether torch's loops or only MKL have settled already, as on processors without AVX-512."""
    program = """
torch.ones(60, 60) @ torch.ones(60, 60)
before = dict(os.environ)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    made = make_portable()
print(made, len(told), os.environ == before)
"""
    assert in_new_process(program, **loops) == ["False", "1", "True"]


@needs_avx2
@pytest.mark.parametrize(
    ("agent", "expected"),
    [("semantic-map", True), ("two-branch", True), ("two-branch:paper", False)],
)
def test_runs_are_portable_if_their_agent_says_so(
    agent: str, expected: bool, tmp_path: Path
) -> None:
    program = f"""
from clalfred.cl.experiment import RunConfig, train
from gym_clalfred.errors import ClAlfredError
try:
    train(RunConfig(agent={agent!r}, data="nowhere"), {str(tmp_path)!r})
except ClAlfredError:
    print(is_portable(), "MKL_CBWR" in os.environ)
"""
    assert in_new_process(program) == [str(expected)] * 2


@needs_avx2
def test_trained_agents_act_portably(tmp_path: Path) -> None:
    agent = untrained_agent(tmp_path)
    program = f"""
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.callbacks import RunCallback
from clalfred.cl.experiment.run import Run
load_agent({str(agent)!r}, device="cpu")
print(is_portable())
"""
    assert in_new_process(program) == ["True"]


@pytest.mark.parametrize("name", VARIABLES)
def test_who_has_chosen_otherwise_is_left_alone(name: str) -> None:
    other = {"MKL_CBWR": "AUTO", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
    program = "before = dict(os.environ); print(make_portable(), os.environ == before)"
    assert in_new_process(program, **{name: other[name]}) == ["False", "True"]


def test_without_avx2_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch would take our word for it, and the processor would stop the program."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: {"sse4.2": True})
    assert not make_portable()
    assert not any(name in os.environ for name in VARIABLES)


def test_a_single_number_has_a_root_too() -> None:
    assert exact_sqrt(torch.tensor(9.0)) == 3.0


@pytest.mark.parametrize("step", [1, 3])
def test_roots_are_rounded_as_ieee_says(step: int) -> None:
    values = torch.from_numpy(np.random.default_rng(0).random(30_001, dtype=np.float32))[::step]
    expected = values.double().sqrt().float()  # twice the digits and more: no double rounding
    assert torch.equal(exact_sqrt(values), expected)


@needs_avx2
@pytest.mark.parametrize("method", method_names())
def test_updates_give_the_same_weights_on_every_machine(method: str, tmp_path: Path) -> None:
    """Where a change of the weights is meant, write the new digest here and say so in CHANGELOG.md.

    Published results are then of an older release, and have to be made again.
    """
    overrides = {"anchor_every": 4} if method == "ewc++" else {}
    run_fake(fake_config(method=method, overrides=overrides), tmp_path / "run")
    policy, _ = load_agent(tmp_path / "run", encoder=CoarseEncoder())
    assert digest(policy.agent) == WEIGHTS[method]


@needs_avx2
def test_the_small_network_learns_the_same_on_every_machine() -> None:
    config = replace(TwoBranchConfig.small(), vocabulary=VOCABULARY)
    agent = CAMA(tiny_agent(config), device="cpu")
    agent.learn([demonstration(seed, length=12 + seed, words=30 + seed) for seed in range(24)])
    assert agent.num_updates > 0
    assert digest(agent.agent) == "dedb435f70f3"


@needs_avx2
def test_the_semantic_map_agent_learns_the_same_on_every_machine() -> None:
    learner = CAMA(make_agent("semantic-map"), device="cpu")
    learner.learn([mapped_demonstration(seed) for seed in range(24)])
    assert digest(learner.agent) == "659aa07fd2cc"


def mapped_demonstration(seed: int) -> EncodedEpisode:
    """A random episode as the semantic-map agent keeps it."""
    plain = demonstration(seed, length=12 + seed % 7, words=30 + seed)
    generator, steps = torch.Generator().manual_seed(seed), len(plain)
    bits = torch.rand(steps, BITS + -BITS % 8, generator=generator) < 0.1
    numbers = torch.rand(steps, NUMBERS, generator=generator).half()
    views = {
        "bits": torch.from_numpy(np.packbits(bits.numpy(), axis=1)),
        "numbers": numbers,
        "places": torch.randint(0, 119, (steps,), generator=generator).to(torch.uint8),
    }
    return replace(plain, views=EncodedViews(views))


def digest(agent: Agent) -> str:
    found = hashlib.sha256()
    for weight in agent.parameters():
        found.update(weight.detach().contiguous().numpy().tobytes())
    return found.hexdigest()[:12]


def test_a_run_names_the_arithmetic_of_every_process_that_had_a_part_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stop(RunCallback):
        def _on_step(self) -> bool:
            if self.run.learner.num_episodes == 9:
                raise KeyboardInterrupt
            return True

    config = fake_config(method="er")
    monkeypatch.setattr("clalfred.cl.experiment.run.rounding_on", lambda device: f"{device} here")
    with pytest.raises(KeyboardInterrupt):
        run_fake(config, tmp_path / "run", callbacks=[Stop()])
    monkeypatch.setattr("clalfred.cl.experiment.run.rounding_on", lambda device: f"{device} there")
    results = run_fake(config, tmp_path / "run")
    assert results.versions["arithmetic"] == "cpu here+cpu there"
