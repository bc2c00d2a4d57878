"""Many runs: methods x setups x orders x seeds, on this machine or on a Ray cluster.

Each run is a process with its own folder, so it does not matter where it runs: local and remote
sweeps give equal results, a killed worker loses only the work since its last checkpoint, and a
finished run is never run again. Runs end with the sweep that started them, however it ends.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clalfred.cl.experiment.children import INTERRUPTED, REFUSED, Children
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.folder import RunFolder, refuse_other_run
from gym_clalfred.data.storage import make_folder, storage_errors
from gym_clalfred.errors import (
    BadInputError,
    ClAlfredError,
    MissingDependencyError,
    UsageError,
)

#: Settings that a sweep may vary, in the order in which runs are listed.
AXES = ("setup", "method", "order", "seed", "schedule", "preset", "overrides", "memory")

#: How long to wait for a Ray cluster's answer.
ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class RunOutcome:
    """The outcome of one run of a sweep.

    Args:
        name: of the run and of its folder.
        status: ``skipped`` (was finished before), ``done`` or ``failed``.
        attempts: how often it was started.
        message: the end of the log of a failed run, or what is wrong with a finished one.
    """

    name: str
    status: str
    attempts: int = 0
    message: str = ""


def expand(settings: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> list[RunConfig]:
    """Every combination of the settings that are lists; others are common to all runs.

    ``seed: order`` gives every order a seed of its own, its number. ``runs`` lists parts of a
    sweep: each has settings that differ from the common ones. A run in two parts is run once.

    Args:
        settings: by name.
        given: settings that override all of them.
    """
    if "runs" not in settings:
        return _combinations({**settings, **(given or {})})
    parts = settings["runs"]
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise BadInputError(f"runs {parts!r}: expected a list of settings by name")
    common = {name: value for name, value in settings.items() if name != "runs"}
    found: dict[str, RunConfig] = {}
    for part in parts:
        for run in _combinations({**common, **part, **(given or {})}):
            if found.setdefault(run.name, run) != run:
                raise BadInputError(f"runs: two parts have other settings for {run.name}")
    if not found:
        raise BadInputError("runs: expected at least one part, got none")
    return list(found.values())


def _combinations(settings: Mapping[str, Any]) -> list[RunConfig]:
    default = RunConfig()
    axes = {name: _as_list(settings.get(name, getattr(default, name))) for name in AXES}
    common = {name: value for name, value in settings.items() if name not in AXES}
    wrong = [name for name, value in common.items() if isinstance(value, list)]
    if wrong:
        raise BadInputError(f"{', '.join(wrong)}: only {', '.join(AXES)} can have several values")
    chosen = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
    for one in chosen:
        if one["seed"] == "order":
            one["seed"] = one["order"]
    runs = [RunConfig.from_dict({**common, **one}) for one in chosen]
    empty = [name for name, values in axes.items() if not values]
    if empty:
        raise BadInputError(f"{', '.join(empty)}: expected at least one value, got none")
    if len({run.name for run in runs}) != len(runs):
        twice = next(name for name, count in Counter(r.name for r in runs).items() if count > 1)
        raise BadInputError(f"a value occurs twice in the sweep, which would run {twice} twice")
    return runs


def sweep(
    runs: Sequence[RunConfig],
    out: str | Path,
    *,
    engine: str = "local",
    jobs: int | None = None,
    retries: int = 2,
    media: bool = False,
    address: str | None = None,
    listen: Callable[[RunOutcome], None] = lambda outcome: None,
) -> list[RunOutcome]:
    """Runs all unfinished runs, each in its own folder below ``out``.

    Args:
        runs: from ``expand``.
        out: the sweep's folder; on a cluster it must be the same place for all machines.
        engine: ``local`` or ``ray``.
        jobs: runs at the same time; by default one per core (local) or as many as Ray has room for.
        retries: further attempts for a run that fails.
        media: whether each run makes plots and videos.
        address: of a running Ray cluster; a local one is started otherwise.
        listen: called with each outcome as it arrives.

    Raises:
        UsageError: if a folder holds a run with the same name and other settings.
    """
    folder = Path(out).resolve()
    for run in runs:
        refuse_other_run(folder / run.name, run)
    before = [outcome for run in runs if (outcome := _finished(folder / run.name, run))]
    outcomes = {outcome.name: outcome for outcome in before}
    for outcome in before:
        listen(outcome)
    waiting = [
        Job(run.to_dict(), str(folder / run.name), retries, media)
        for run in runs
        if run.name not in outcomes
    ]
    if engine not in ENGINES:
        raise BadInputError(f"engine {engine!r}: expected one of {', '.join(ENGINES)}")
    with closing(ENGINES[engine](waiting, jobs, address)) as coming:
        for outcome in coming:
            outcomes[outcome.name] = outcome
            listen(outcome)
    return [outcomes[run.name] for run in runs]


def _finished(folder: Path, run: RunConfig) -> RunOutcome | None:
    """The outcome of a finished run: skipped, or failed if its results are damaged."""
    try:
        with storage_errors(folder):
            there = RunFolder(folder, run).load_results() is not None
    except ClAlfredError as error:
        return RunOutcome(run.name, "failed", 0, str(error))
    return RunOutcome(run.name, "skipped") if there else None


#: Outcomes as they arrive; closing the generator ends the runs in progress.
Outcomes = Generator[RunOutcome, None, None]


@dataclass(frozen=True)
class Job:
    """A run to do, as plain values that can be sent to other machines."""

    config: dict[str, Any]
    folder: str
    retries: int
    media: bool


def do(job: Job, children: Children | None = None) -> RunOutcome:
    """Runs a process until it succeeds or the retries are used up; its output goes to log.txt.

    A run that was interrupted, or whose settings or data are wrong, is not started again.
    """
    children = children or Children()
    folder = Path(job.folder)
    make_folder(folder)
    log = folder / "log.txt"
    for attempt in range(1, job.retries + 2):
        code = children.run(_command(job), log, _environment())
        if code == 0:
            return RunOutcome(folder.name, "done", attempt)
        if code in INTERRUPTED:
            return RunOutcome(folder.name, "failed", attempt, "interrupted")
        if code == REFUSED:
            break
    lines = log.read_text(errors="replace").strip().splitlines()
    message = lines[-1] if lines else f"exit code {code}"
    return RunOutcome(folder.name, "failed", attempt, message)


def _command(job: Job) -> list[str]:
    """The process that does a run."""
    run = [sys.executable, "-m", "clalfred.cl.experiment", json.dumps(job.config), job.folder]
    return [*run, "--with-parent", *([] if job.media else ["--no-media"])]


def _environment() -> dict[str, str]:
    """Makes a process import from the same places as this one."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return {**os.environ, "PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}


def _run_locally(waiting: Sequence[Job], jobs: int | None, address: str | None) -> Outcomes:
    children = Children()
    with ThreadPoolExecutor(max(1, jobs or os.cpu_count() or 1)) as pool:
        try:
            for future in as_completed([pool.submit(do, job, children) for job in waiting]):
                yield future.result()
        finally:
            # Left early, by Ctrl-C for example: start no further runs.
            pool.shutdown(wait=False, cancel_futures=True)
            children.stop()


def _run_on_ray(waiting: Sequence[Job], jobs: int | None, address: str | None) -> Outcomes:
    try:
        import ray
    except ImportError as error:
        raise MissingDependencyError(
            'engine "ray" needs Ray; install it with: pip install "cl-alfred-gym[ray]"'
        ) from error
    started = not ray.is_initialized()
    if started:
        _check_answers(address)
        own: dict[str, Any] = {} if address else {"num_cpus": jobs, "include_dashboard": False}
        try:
            ray.init(address=address, log_to_driver=False, **own)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _no_cluster(address, str(error)) from error
    try:
        # A worker that dies is replaced by Ray, and the run goes on from its last checkpoint.
        remote = ray.remote(num_cpus=1, max_retries=3)(do)
        pending = [remote.remote(job) for job in waiting]
        names = dict(zip(pending, waiting))
        while pending:
            ready, pending = ray.wait(pending, num_returns=1)
            try:
                yield ray.get(ready[0])
            except ray.exceptions.RayError as error:
                name = Path(names[ready[0]].folder).name
                yield RunOutcome(name, "failed", 1, f"lost by Ray: {error}".splitlines()[0])
    finally:
        if started:
            ray.shutdown()


def _check_answers(address: str | None) -> None:
    """Checks the address at once; Ray would retry for a minute and end in a traceback."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str | None, reason: str) -> UsageError:
    first = (reason.strip().splitlines() or ["no answer"])[0]
    return UsageError(
        f"address {address!r}: expected a running Ray cluster, found none ({first}); start one "
        "with 'ray start --head', or leave the address out to use this machine"
    )


ENGINES: dict[str, Callable[[Sequence[Job], int | None, str | None], Outcomes]] = {
    "local": _run_locally,
    "ray": _run_on_ray,
}


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
