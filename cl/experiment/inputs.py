"""What a run works with: episodes, an agent, and a store for encoded views."""

from __future__ import annotations

from dataclasses import dataclass

from clalfred.agents.agent import Agent
from clalfred.agents.demonstrations import ViewStore
from clalfred.agents.registry import ENCODERS, check_file, make_agent
from clalfred.agents.vision.encoder import VisualEncoder
from clalfred.cl.experiment.config import RunConfig
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.sources import open_source
from gym_clalfred.errors import BadInputError


@dataclass(frozen=True)
class RunInputs:
    """Made from a config by ``make_inputs``, or given to a run by its caller.

    Args:
        source: the episodes.
        agent: untrained.
        store: keeps what it sees between runs; ``None`` to make that at each use.
    """

    source: EpisodeSource
    agent: Agent
    store: ViewStore | None = None


def make_inputs(config: RunConfig) -> RunInputs:
    """Makes the agent and opens the episodes, generating a tier on first use."""
    agent = new_agent(config)  # before the episodes, which can take minutes
    return RunInputs(open_source(config.tier, config.data), agent, ViewStore())


def new_agent(config: RunConfig, encoder: VisualEncoder | None = None) -> Agent:
    """The untrained agent of a run; ``encoder`` takes the place of the one it names."""
    settings = config.agent_config()
    if config.encoder_weights and not settings.encoder:
        raise BadInputError(
            f"encoder_weights {config.encoder_weights!r}: expected an agent that sees with an "
            f"encoder, and {config.agent} has none; leave them out, or choose --eyes rgb"
        )
    if encoder is None and settings.encoder:
        encoder = make_encoder(settings.encoder, config.encoder_weights)
    return make_agent(config.agent, settings, encoder, config.seed)


def make_encoder(name: str, weights: str | None = None) -> VisualEncoder:
    """An encoder by name, with the weights of a file or those that come with it."""
    encoder = ENCODERS.get(name)
    return encoder(None if weights is None else check_file(weights, "encoder_weights"))
