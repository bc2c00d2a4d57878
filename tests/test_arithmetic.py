"""Runs round alike on all processors."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import numpy as np
import pytest
import torch
from runs import CoarseEncoder, fake_config, run_fake

from agents.arithmetic import PORTABLE, VARIABLES, exact_sqrt, fingerprint, make_portable
from cl.experiment.agent_file import load_agent
from cl.registry import method_names

#: What is known of rounding is known of this release.
TORCH = "2.13.0"

#: Digests of what each method makes of a stream.
WEIGHTS = {
    "finetuning": "98ba88b398f7",
    "ewc++": "75f71e9b070e",
    "er": "7adfac48c48b",
    "mir": "863dd4eafdb7",
    "clib": "95124293c1f1",
    "der++": "bf569cdcee25",
    "x-der": "2df65eed844f",
    "cama-without-dc": "efde8a2fb89a",
    "cama": "b3273f41faa2",
    "joint": "761bd87db7dc",
}

needs_avx2 = pytest.mark.skipif(
    not llvmlite.binding.get_host_cpu_features().get("avx2")
    or torch.__version__.split("+")[0] != TORCH,
    reason=f"rounding is known of x86-64 processors with AVX2 and of torch {TORCH}",
)


def in_new_process(program: str, **variables: str) -> list[str]:
    """What it prints; torch settles its ways once in a process."""
    program = f"import os, torch, warnings\nfrom agents.arithmetic import *\n{program}"
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


def test_too_late_is_said_and_leaves_no_trace() -> None:
    program = f"""
torch.ones(3).add(1)
if torch.backends.cpu.get_cpu_capability() == "AVX2":
    print("AVX2")
else:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = make_portable()
    print(made, len(told), any(name in os.environ for name in {list(VARIABLES)}))
"""
    found = in_new_process(program)
    if found == ["AVX2"]:
        pytest.skip("torch's loops round alike here whenever they begin")
    expected = "1" if llvmlite.binding.get_host_cpu_features().get("avx2") else "0"
    assert found == ["False", expected, "False"]


@pytest.mark.parametrize("name", VARIABLES)
def test_who_has_chosen_otherwise_is_left_alone(name: str) -> None:
    other = {"MKL_CBWR": "AUTO", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
    program = f"print(make_portable(), os.environ[{name!r}])"
    assert in_new_process(program, **{name: other[name]}) == ["False", other[name]]


def test_without_avx2_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch would take our word for it, and the processor would stop the program."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: {"sse4.2": True})
    assert not make_portable()
    assert not any(name in os.environ for name in VARIABLES)


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
    agent, _ = load_agent(tmp_path / "run", encoder=CoarseEncoder())
    digest = hashlib.sha256()
    for weight in agent.network.parameters():
        digest.update(weight.detach().contiguous().numpy().tobytes())
    assert digest.hexdigest()[:12] == WEIGHTS[method]
