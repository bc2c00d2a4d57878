"""The trained agent by itself: weights and what is needed to act, without memory and optimiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.rollout import check_weights
from clalfred.agents.agent import Agent
from clalfred.agents.behavior_cloning import find_device
from clalfred.agents.checkpoint import load_state, save_state
from clalfred.agents.numerics.arithmetic import make_portable
from clalfred.agents.registry import config_from_dict, make_agent
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.cl.experiment.bundled import find_agent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.inputs import make_encoder
from gym_clalfred.errors import BadInputError, DataError, UsageError
from gym_clalfred.language.tokenizer import Tokenizer


def save_agent(path: str | Path, agent: Agent, config: RunConfig) -> Path:
    """Writes what ``load_agent`` needs, and the config of the run that made it."""
    return save_state(
        path,
        {
            "kind": "trained",
            "agent": {"name": config.agent, "config": asdict(agent.config)},
            "sight": agent.sight,
            "vocabulary": Tokenizer.default().digest,
            "weights": dict(agent.state_dict()),
            "run": config.to_dict(),
        },
    )


def load_agent(
    path: str | Path,
    *,
    encoder: VisualEncoder | None = None,
    rules: bool = True,
    blind: bool = False,
    deaf: bool = False,
    device: str = "auto",
) -> tuple[Policy, RunConfig]:
    """An agent that can act, with SB3's ``predict``, and the config of its run.

    Args:
        path: ``agent.zip``, a run's folder that has one, or the name of an agent that comes with
            the package, such as ``joint-masks``.
        encoder: what it sees with, if not what the config names.
        rules: whether the released agent's rules help it, which look at the views themselves.
        blind: whether it sees nothing, and gets no help from the rules.
        deaf: whether it reads nothing.
        device: where to compute.
    """
    path = find_agent(path)
    state: Mapping[str, Any] = load_state(path)
    if state.get("kind") != "trained":
        raise DataError(
            f"{path}: is a checkpoint to continue from, not a trained agent; finish the run and "
            "use its agent.zip"
        )
    try:
        config = RunConfig.recorded(state["run"])
        agent = _rebuilt(path, state, config, encoder)
    except (BadInputError, KeyError, TypeError, AttributeError, RuntimeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{path}: does not hold an agent that this release can load "
            f"({' '.join(str(error).split())}); act with the "
            "release that trained it, or train it again"
        ) from error
    heuristics = ActionHeuristics() if rules else ActionHeuristics.off()
    policy = Policy(agent.to(find_device(device)), heuristics, blind, deaf)
    try:
        check_weights(policy)
    except UsageError as error:
        raise DataError(f"{path}: {error}") from None
    return policy, config


def _rebuilt(
    path: Path, state: Mapping[str, Any], config: RunConfig, encoder: VisualEncoder | None
) -> Agent:
    name = state["agent"]["name"]
    settings = config_from_dict(name, state["agent"]["config"])
    if settings.portable:
        make_portable()  # as in its run
    _check_same(path, state, "vocabulary", Tokenizer.default().digest)
    given = encoder is not None
    if encoder is None and settings.encoder:
        encoder = make_encoder(settings.encoder, config.encoder_weights)
    agent = make_agent(name, settings, encoder)
    if not given:
        _check_same(path, state, "sight", agent.sight)
    agent.load_state_dict(state["weights"])
    return agent


def _check_same(path: Path, state: Mapping[str, Any], what: str, here: str) -> None:
    """An agent knows only the eyes and the words that it was trained with."""
    if state[what] != here:
        raise DataError(
            f"{path}: was trained with the {what} {state[what]}, this release has {here}: act with "
            "the release that trained it, or train it again"
        )
