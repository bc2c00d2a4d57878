"""Submissions of a finished run, made from the actions that its last evaluation recorded."""

from __future__ import annotations

from pathlib import Path

from clalfred.agents.acting.records import EpisodeResult, read_results
from clalfred.agents.acting.rollout import RolloutConfig, conditions_of
from clalfred.cl.board.submission import Submission, make_submission
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.evaluate_agent import summarize
from clalfred.cl.experiment.folder import RunFolder, finished_runs
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import DataError, UsageError


def run_submissions(folder: str | Path, name: str | None = None) -> list[Submission]:
    """One submission for each split that a finished run was evaluated on.

    They hold all episodes of the evaluation after the last task. Nothing is evaluated again.

    Args:
        folder: of the run.
        name: what the board calls it; the method and the order if ``None``.

    Raises:
        UsageError: if the run is not finished.
        DataError: if the records are missing, or of another agent than the run's.
    """
    folder = Path(folder)
    if folder not in finished_runs(folder):
        raise UsageError(f"{folder}: expected the folder of a finished run; finish it first")
    policy, config = load_agent(folder, rules=True, device="cpu")
    if config.controls:
        policy, config = load_agent(
            folder, rules=config.rules, blind=config.blind, deaf=config.deaf, device="cpu"
        )
    source = open_source(config.tier, config.data)
    run = RunFolder(folder, config)
    found = sorted(int(path.stem.partition("-")[2]) for path in _records(run))
    if not found:
        raise DataError(
            f"{folder}: expected records of its evaluations, found none; make a submission with "
            "clalfred-evaluate --submission instead"
        )
    rollout = RolloutConfig(max_steps=config.step_limit, backend=config.backend)
    records = read_results(run.evaluation(found[-1]), conditions_of(policy, source, rollout))
    groups: dict[Split, list[EpisodeResult]] = {}
    for key in sorted(map(EpisodeKey.parse, records), key=str):
        groups.setdefault(key.split, []).append(records[str(key)])
    name = name or f"{config.method_title}, order {config.order}"
    return [
        make_submission(name, policy, config, config, source, summarize(results, source))
        for results in groups.values()
    ]


def _records(run: RunFolder) -> list[Path]:
    return list(run.evaluation(1).parent.glob("after-*.jsonl"))
