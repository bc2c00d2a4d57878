"""``clalfred-evaluate --backend thor`` with the player: the records of ``--backend embedded``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("ai2thor")

import torch
from click.testing import CliRunner

from clalfred.agents.demonstrations import EpisodeReader
from clalfred.cl.experiment import RunConfig
from clalfred.cl.experiment.agent_file import save_agent
from clalfred.cl.experiment.inputs import make_inputs
from clalfred.scripts.evaluate import main
from gym_clalfred.data.trajectory import Split
from gym_clalfred.stream import demonstration_of
from gym_clalfred.tasks.spec import TaskType
from tests.helpers.runs import MICRO
from tests.helpers.thor_players import set_options

TASK = TaskType.PICK_AND_PLACE


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent that knows the shortest episode of a task by heart and errs in the others."""
    # The tests run side by side; more threads than cores would slow all of them down.
    torch.set_num_threads(1)
    config = RunConfig(
        method="finetuning", agent="two-branch", tier="tiny", overrides=MICRO, batch_size=4
    )
    inputs = make_inputs(config)
    agent, source = inputs.agent, inputs.source
    learner = config.learner(agent, method=config.method_settings(84), device="cpu")
    entries = [e for e in source.entries(Split.TRAIN) if e.task_type is TASK]
    episodes = [source.episode(entry.key) for entry in entries]
    shortest = min(episodes, key=lambda episode: len(episode.trajectory.actions))
    lesson = EpisodeReader(source, agent)(demonstration_of(shortest, source))
    for _ in range(160):
        learner.learn([lesson])
    folder = tmp_path_factory.mktemp("agent")
    save_agent(folder / "agent.zip", agent, config)
    return folder


def test_the_command_gives_the_same_records(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_options(monkeypatch)
    records = {}
    for backend in ("thor", "embedded"):
        lines = tmp_path / f"{backend}.jsonl"
        options = ["--backend", backend, "--split", "train", "--task", TASK.paper_name]
        options += ["--max-steps", "25", "--lines", str(lines)]
        run = CliRunner().invoke(main, [str(trained), *options])
        assert run.exit_code == 0, run.output
        assert f"backend {backend}" in run.output
        first, *rest = map(json.loads, lines.read_text().splitlines())
        assert first["conditions"]["backend"].startswith(backend)
        records[backend] = {record["episode"]: record for record in rest}
    assert records["thor"] == records["embedded"]
    outcomes = [record["success"] for record in records["thor"].values()]
    assert len(outcomes) > 3
    assert any(outcomes)
    assert not all(outcomes)
    assert not any(record["error"] for record in records["thor"].values())
