"""The trained agent by itself: weights and what is needed to act, without memory and optimiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clalfred.agents.arithmetic import make_portable
from clalfred.agents.behavior_cloning import BehaviorCloning
from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.config import NetworkConfig
from clalfred.agents.encoder import ClosedEyes, VisualEncoder
from clalfred.agents.helpers import RolloutHelpers
from clalfred.agents.policy import Policy
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.tools import make_encoder
from gym_clalfred.errors import DataError
from gym_clalfred.language.tokenizer import Tokenizer


def save_agent(path: str | Path, agent: BehaviorCloning, config: RunConfig) -> Path:
    """Writes what ``load_agent`` needs, and the config of the run that made it."""
    assert agent.policy is not None
    return save_state(
        path,
        {
            "kind": "trained",
            "encoder": agent.policy.encoder.name,
            "vocabulary": Tokenizer.default().digest,
            "network_config": asdict(agent.config),
            "network": dict(agent.network.state_dict()),
            "run": config.to_dict(),
        },
    )


def load_agent(
    path: str | Path,
    *,
    encoder: VisualEncoder | None = None,
    helpers: bool = True,
    blind: bool = False,
    device: str = "auto",
) -> tuple[BehaviorCloning, RunConfig]:
    """An agent that can act, and the config of its run.

    Args:
        path: ``agent.zip`` or a run's folder that has one.
        encoder: what it sees with, if not what the config names.
        helpers: whether the released agent's rules help it, which look at the views themselves.
        blind: whether it sees nothing, without helpers, and has to act by the words alone.
        device: where to compute.
    """
    path = Path(path)
    path = path / "agent.zip" if path.is_dir() else path
    try:
        state: Mapping[str, Any] = load_state(path)
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no trained agent; give an agent.zip or the folder of a finished run"
        ) from None
    if state.get("kind") != "trained":
        raise DataError(
            f"{path}: is a checkpoint to continue from, not a trained agent; finish the run and "
            "use its agent.zip"
        )
    config = RunConfig.from_dict(state["run"])
    if config.network != "paper":
        make_portable()  # as in its run
    eyes = encoder or make_encoder(config)
    _check_same(path, state, "vocabulary", Tokenizer.default().digest)
    if encoder is None:
        _check_same(path, state, "encoder", eyes.name)
    agent = BehaviorCloning(
        NetworkConfig(**state["network_config"]),
        policy=Policy(
            ClosedEyes(eyes) if blind else eyes,
            RolloutHelpers() if helpers and not blind else RolloutHelpers.off(),
            config.reads_goal,
        ),
        device=device,
    )
    agent.network.load_state_dict(state["network"])
    return agent, config


def _check_same(path: Path, state: Mapping[str, Any], what: str, here: str) -> None:
    """An agent knows only the eyes and the words that it was trained with."""
    there = state.get(what, here)  # files of earlier releases do not say
    if there != here:
        raise DataError(
            f"{path}: was trained with the {what} {there}, this release has {here}: act with the "
            "release that trained it, or train it again"
        )
