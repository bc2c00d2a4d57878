"""Agents and encoders by name: those of this package and those that other packages add.

Another package adds its own with an entry point in the group ``clalfred.agents`` or
``clalfred.encoders``, or at run time with ``register_agent`` and ``register_encoder``. From then on
``--agent NAME`` and ``--encoder NAME`` know it, and so do checkpoints, workers and ``agent.zip``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from clalfred.agents.agent import Agent, AgentConfig
from clalfred.agents.vision.encoder import VisualEncoder
from gym_clalfred.errors import BadInputError, UnknownAgentError
from gym_clalfred.names import choose

_Entry = TypeVar("_Entry")


class Registry(Generic[_Entry]):
    """Entries by name in any spelling: ``DER++``, ``derpp`` and ``der_pp`` are one name.

    Args:
        kind: of the entries, for error messages.
        group: entry-point group by which other packages add entries.
        built_in: those of this package, as ``module:name``, imported on first use.
        error: raised for an unknown name.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, str],
        error: type[BadInputError] = BadInputError,
    ) -> None:
        self.kind, self.group, self.error = kind, group, error
        self._places = dict(built_in)
        self._entries: dict[str, _Entry] = {}

    def register(self, name: str, entry: _Entry) -> None:
        """Adds one; its name must be new."""
        found = self._find(name)
        if found is not None and self._load(found) is not entry:
            raise BadInputError(f"{self.kind} {name!r} is registered already, as {found!r}")
        if found is None:
            self._entries[name.lower()] = entry

    def names(self) -> tuple[str, ...]:
        """All names, those of this package first."""
        return tuple(dict.fromkeys((*self._places, *self._entries, *self._entry_points())))

    def canonical(self, name: str) -> str:
        """The name under which something is registered; the error gives the closest known one."""
        found = self._find(name)
        if found is not None:
            return found
        return choose(self.kind, name, self.names(), self.error)

    def get(self, name: str) -> _Entry:
        """What is registered under a name."""
        return self._load(self.canonical(name))

    def _load(self, name: str) -> _Entry:
        if name not in self._entries:
            if name in self._places:
                module, _, attribute = self._places[name].partition(":")
                self._entries[name] = getattr(import_module(module), attribute)
            else:
                self._entries[name] = self._entry_points()[name].load()
        return self._entries[name]

    def _find(self, name: str) -> str | None:
        if not isinstance(name, str):
            raise BadInputError(f"{self.kind} {name!r}: expected a name")
        # Entry points of other packages come last, because finding them takes a while.
        for known in (lambda: (*self._places, *self._entries), self.names):
            for one in known():
                if _letters(one) == _letters(name):
                    return one
        return None

    def _entry_points(self) -> dict[str, metadata.EntryPoint]:
        return {entry.name.lower(): entry for entry in metadata.entry_points(group=self.group)}


AGENTS: Registry[type[Agent]] = Registry(
    "agent",
    "clalfred.agents",
    {
        "semantic-map": "clalfred.agents.semantic_map.agent:SemanticMap",
        "two-branch": "clalfred.agents.two_branch.agent:TwoBranch",
        "plain": "clalfred.agents.plain:PlainTwoBranch",
    },
    UnknownAgentError,
)

#: Makes an encoder from the path of a weights file, or ``None`` for the bundled weights.
ENCODERS: Registry[Callable[[Path | None], VisualEncoder]] = Registry(
    "encoder",
    "clalfred.encoders",
    {
        "conv": "clalfred.agents.vision.conv_encoder:ConvEncoder",
        "segmentation": "clalfred.agents.vision.segmentation:SegmentationEncoder",
        "resnet-18": "clalfred.agents.vision.resnet:ResNetEncoder",
    },
)


def register_agent(name: str, agent: type[Agent]) -> None:
    """Adds an agent; its name must be new."""
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        raise BadInputError(f"agent {name!r}: expected a subclass of Agent, found {agent!r}")
    if not getattr(agent, "presets", None):
        raise BadInputError(f"agent {name!r}: expected presets with at least one config")
    AGENTS.register(name, agent)


def register_encoder(name: str, encoder: type[VisualEncoder]) -> None:
    """Adds an encoder; its name must be new."""
    if not (isinstance(encoder, type) and issubclass(encoder, VisualEncoder)):
        raise BadInputError(f"encoder {name!r}: expected a VisualEncoder, found {encoder!r}")
    ENCODERS.register(name, encoder)


def agent_name(name: str) -> str:
    """The canonical name, such as ``two-branch:small``, for any spelling."""
    kind, _, preset = name.partition(":") if isinstance(name, str) else (name, "", "")
    kind = AGENTS.canonical(kind)
    presets = AGENTS.get(kind).presets
    if preset and preset not in presets:
        raise BadInputError(
            f"agent {name!r}: {kind} has no preset {preset!r}; known are {', '.join(presets)}"
        )
    return f"{kind}:{preset}" if preset else kind


def agent_config(name: str, overrides: Mapping[str, Any] | None = None) -> AgentConfig:
    """The config of ``NAME`` (its first preset) or ``NAME:PRESET``, with some settings changed."""
    kind, _, preset = agent_name(name).partition(":")
    presets = AGENTS.get(kind).presets
    config = presets[preset or next(iter(presets))]
    return with_settings(f"setting of agent {kind}", config, overrides or {})


def make_agent(
    name: str,
    config: AgentConfig | None = None,
    encoder: VisualEncoder | None = None,
    seed: int = 0,
) -> Agent:
    """An untrained agent.

    Args:
        name: ``NAME`` or ``NAME:PRESET``.
        config: instead of the preset's.
        encoder: instead of the config's.
        seed: of the initial weights.
    """
    kind = AGENTS.get(agent_name(name).partition(":")[0])
    config = config or agent_config(name)
    if encoder is None and config.encoder:
        encoder = ENCODERS.get(config.encoder)(None)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(config, encoder)


def agent_kind(agent: Agent) -> str:
    """The name under which an agent's class is registered; else the class's own."""
    for name in AGENTS.names():
        if AGENTS.get(name) is type(agent):
            return name
    return type(agent).__name__


def config_from_dict(name: str, values: Mapping[str, Any]) -> AgentConfig:
    """The inverse of ``dataclasses.asdict`` for an agent's config."""
    kind = AGENTS.get(agent_name(name).partition(":")[0])
    preset = next(iter(kind.presets.values()))
    config_class = type(preset)
    known = {one.name for one in fields(config_class)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise BadInputError(
            f"agent {name!r}: has no setting {unknown[0]!r}; it may come from a later release"
        )
    with_settings(f"setting of agent {name!r}", preset, values)  # for the types
    return config_class(**values)


def with_settings(what: str, config: Any, overrides: Mapping[str, Any]) -> Any:
    """A config with some fields changed; a wrong name, type or size gets a clear error."""
    known = [one.name for one in fields(config)]
    for name, value in overrides.items():
        choose(what, name, known)
        kind = type(getattr(config, name))
        # 1 is a fine share, but True is no number.
        fits = type(value) is kind or (kind is float and type(value) is int)
        if kind not in _KINDS or not fits:
            raise BadInputError(f"{name} {value!r}: expected {_KINDS.get(kind, 'no change')}")
        if kind in (int, float) and not abs(value) < TOO_LARGE:
            raise BadInputError(f"{name} {value!r}: expected a number below {TOO_LARGE:g}")
        if isinstance(config, AgentConfig) and kind in (int, float):
            check_range(name, value)
    return replace(config, **overrides)


def check_range(name: str, value: float) -> None:
    """Raises ``BadInputError`` for a number outside the range of an agent's setting."""
    if name in _POSITIVE and not value > 0:
        raise BadInputError(f"{name} {value!r}: expected a number above 0")
    if name == "dropout" and not 0 <= value < 1:
        raise BadInputError(f"{name} {value!r}: expected a number from 0 to below 1")


#: Settings of all agents that must be above 0.
_POSITIVE = ("batch_size", "updates", "learning_rate", "max_gradient_norm", "image_size")

#: Larger than any sensible setting; the comparison also refuses NaN.
TOO_LARGE = 1e12

_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower().replace("+", "p")))


def check_file(path: str | Path, what: str) -> Path:
    """The path of an existing file."""
    if not Path(path).is_file():
        raise BadInputError(f"{what} {str(path)!r}: there is no such file")
    return Path(path)
