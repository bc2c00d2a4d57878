"""What a run is: everything that its results depend on, as plain values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from clalfred.agents.augment import Augmentation
from clalfred.agents.config import NetworkConfig
from clalfred.agents.rollout import RolloutConfig
from clalfred.cl.base import ContinualLearner, MethodConfig
from clalfred.cl.memory import memory_size
from clalfred.cl.registry import canonical_name, get_method
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.errors import BadInputError
from gym_clalfred.scenarios import ORDERS, Scenario
from gym_clalfred.simulator.backends import check_backend
from gym_clalfred.stream import Setup
from gym_clalfred.stream.builders import KINDS

SETUPS = {
    "behavior-il": Scenario.BEHAVIOR_IL,
    "environment-il": Scenario.ENVIRONMENT_IL,
    "imbalanced-environment-il": Scenario.IMBALANCED_ENVIRONMENT_IL,
}

#: Networks by name: ``micro`` is for tests only, it learns nothing of use.
NETWORKS = ("small", "paper", "micro")

#: Settings that are a text, and those that are a text or nothing.
_TEXTS = ("setup", "method", "preset", "schedule", "tier", "backend", "network")
_PATHS = ("data", "split_folder", "encoder_weights")

#: Settings that are a number or nothing.
_LIMITS = (
    "memory",
    "batch_size",
    "episodes_per_task",
    "evaluation_episodes",
    "evaluation_annotations",
    "max_steps",
)

#: Settings that are true or false.
_SWITCHES = ("augment", "reads_goal", "evaluate_ahead")

#: Settings of a method that have their own place in a run's settings or are no single value.
_NOT_OVERRIDDEN = ("memory", "stream_size", "training")

#: Episodes per update and learning rate of the small network: a quarter of the paper's batch and
#: three times its rate learn more in the same time, see docs/TUNING.md.
SMALL_BATCH, SMALL_RATE = 8, 3e-3

#: Share of the small network's episodes that are learned from their words alone.
SMALL_BLIND = 0.5


@dataclass(frozen=True)
class RunConfig:
    """One run. Two runs with equal settings give equal results, bit for bit.

    That holds on all x86-64 processors with AVX2, of the network ``paper`` on one kind of processor
    (see ``clalfred.agents.arithmetic``).

    Args:
        setup: ``behavior-il``, ``environment-il`` or ``imbalanced-environment-il``.
        method: a name that ``clalfred.cl.registry`` knows.
        order: the paper's task order, 1 to 5.
        seed: of the stream, the weights, dropout and the memory.
        preset: of the method: ``paper`` or ``released``.
        overrides: settings of the method that differ from the preset's, by name.
        schedule: ``disjoint``, ``blurry`` or ``gaussian``.
        tier: generated episodes: ``tiny``, ``small`` or ``full``.
        data: a folder with other episodes, instead of a tier.
        split_folder: the authors' folder of one setup; its stream is taken as it is.
        backend: the simulator.
        network: ``small`` (with the small encoder), ``paper`` (42 million parameters on ResNet-18
            maps) or ``micro`` (for tests).
        encoder_weights: a file with the encoder's weights; the paper's network needs one.
        augment: draw one of the paper's seven looks of an episode each time that it is trained on.
        reads_goal: read the goal sentence before the instructions; the paper's network does not.
        memory: episodes that a method may keep; ``None``: the paper's 500 at ALFRED's size, the
            same share of a smaller stream.
        batch_size: episodes per update; ``None``: the preset's 32, with the small network 8.
        episodes_per_task: stream only the first so many of each task.
        evaluation_episodes: evaluate on so many of each task and split, evenly spread.
        evaluation_annotations: evaluate on so many annotations of each trajectory; ``None``: all of
            them on ``full`` and on other data, one on the smaller tiers.
        evaluate_ahead: evaluate also on the next task before it is learned, and all tasks before
            the first: what forward transfer needs.
        max_steps: actions after which an evaluation episode is cut; ``None``: ALFRED's 1000, on the
            tier ``small``, whose experts need 40 or little more, 100.
        threads: of torch; part of the settings because it can change the last bit of a sum.
    """

    setup: str = "behavior-il"
    method: str = "cama"
    order: int = 1
    seed: int = 0
    preset: str = "paper"
    overrides: Mapping[str, Any] = field(default_factory=dict)
    schedule: str = "disjoint"
    tier: str = "small"
    data: str | None = None
    split_folder: str | None = None
    backend: str = "embedded"
    network: str = "small"
    encoder_weights: str | None = None
    augment: bool = False
    reads_goal: bool = True
    memory: int | None = None
    batch_size: int | None = None
    episodes_per_task: int | None = None
    evaluation_episodes: int | None = None
    evaluation_annotations: int | None = None
    evaluate_ahead: bool = False
    max_steps: int | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        for name in (*_TEXTS, *_PATHS):
            _check_text(name, getattr(self, name), optional=name in _PATHS)
        # One method has one name, in folders and tables.
        object.__setattr__(self, "method", canonical_name(self.method))
        method = get_method(self.method)
        choose("setup", self.setup, SETUPS)
        choose("preset", self.preset, method.presets)
        _check_overrides(self.overrides, method.presets[self.preset])
        choose("schedule", self.schedule, KINDS)
        choose("tier", self.tier, TIERS)
        choose("network", self.network, NETWORKS)
        check_backend(self.backend)
        if self.split_folder is not None and self.schedule != "disjoint":
            raise BadInputError(
                f"schedule {self.schedule!r}: the split folder's stream is taken as it is; leave "
                "one of the two out"
            )
        settings = replace(method.presets[self.preset], **self.overrides)
        if method.wants_boundaries(settings) and self.schedule == "gaussian":
            raise BadInputError(
                f"{self.method_title} needs task boundaries, which a gaussian schedule does not "
                "have: choose disjoint or blurry"
            )
        for name, least in (("order", 1), ("seed", 0), ("threads", 1)):
            _check_number(name, getattr(self, name), least)
        if self.order > ORDERS:
            raise BadInputError(f"order {self.order}: expected a number from 1 to {ORDERS}")
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise BadInputError(f"{name} {getattr(self, name)!r}: expected true or false")
        for name in _LIMITS:
            if getattr(self, name) is not None:
                _check_number(name, getattr(self, name), 1)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """From plain values, as a YAML file or a run folder has them."""
        known = [field.name for field in fields(cls)]
        for name in values:
            choose("setting", name, known)
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """The inverse of ``from_dict``."""
        return asdict(self)

    @property
    def scenario(self) -> Scenario:
        """The environment's scenario."""
        return SETUPS[self.setup]

    @property
    def task_setup(self) -> Setup:
        """What a task is: a behaviour or a kind of room."""
        behavior = self.scenario is Scenario.BEHAVIOR_IL
        return Setup.BEHAVIOR_IL if behavior else Setup.ENVIRONMENT_IL

    @property
    def learner(self) -> type[ContinualLearner]:
        """The method's class."""
        return get_method(self.method)

    @property
    def evaluated_annotations(self) -> int | None:
        """How many annotations of a trajectory are evaluated on; ``None`` for all."""
        if self.evaluation_annotations is not None or self.data is not None:
            return self.evaluation_annotations
        return TIERS[self.tier].evaluated_annotations

    @property
    def name(self) -> str:
        """A folder name that tells runs of one sweep apart."""
        parts = [self.setup, self.method, f"order{self.order}", f"seed{self.seed}"]
        if self.schedule != "disjoint":
            parts.insert(1, self.schedule)
        if self.preset != "paper":
            parts.insert(-2, self.preset)
        for name, value in self.variant.items():
            parts.insert(-2, f"{name}-{value}")
        return "-".join(parts)

    @property
    def method_title(self) -> str:
        """The method's name, with the preset if that is not the paper's, and with overrides."""
        notes = [] if self.preset == "paper" else [self.preset]
        notes += [f"{name} {value}" for name, value in sorted(self.overrides.items())]
        return f"{self.method} ({', '.join(notes)})" if notes else self.method

    @property
    def variant(self) -> dict[str, Any]:
        """In which settings the method differs from its preset, by name."""
        memory = {} if self.memory is None else {"memory": self.memory}
        return {**dict(sorted(self.overrides.items())), **memory}

    @property
    def step_limit(self) -> int:
        """Actions after which an evaluation episode is cut."""
        if self.max_steps is not None:
            return self.max_steps
        of_tier = TIERS[self.tier].evaluation_steps if self.data is None else None
        return of_tier or RolloutConfig.max_steps

    @property
    def augmentations(self) -> tuple[Augmentation, ...]:
        """The looks besides the plain one."""
        others = (one for one in Augmentation if one is not Augmentation.NONE)
        return tuple(others) if self.augment else ()

    def method_settings(self, stream_length: int) -> MethodConfig:
        """The preset with this run's memory and batch."""
        settings = replace(self.learner.presets[self.preset], **self.overrides)
        training = settings.training
        batch_size = self.batch_size or training.batch_size
        if self.network == "small":
            batch_size = self.batch_size or SMALL_BATCH
            training = replace(training, learning_rate=SMALL_RATE, blind=SMALL_BLIND)
        replays = settings.memory > settings.stream_size
        share = batch_size / training.batch_size
        counts = {
            name: max(1, round(getattr(settings, name) * share))
            for name in settings.per_batch
            if name not in self.overrides
        }
        settings = replace(settings, training=replace(training, batch_size=batch_size), **counts)
        if not replays:
            return settings
        memory = self.memory or memory_size(stream_length, settings.training.batch_size)
        return replace(settings, memory=memory)

    def network_config(self, vocabulary: int, channels: int, cells: int) -> NetworkConfig:
        """Sizes of the network on an encoder's maps."""
        if self.network == "paper":
            return NetworkConfig(vocabulary, channels=channels, cells=cells)
        if self.network == "small":
            return replace(NetworkConfig.small(vocabulary, channels), cells=cells)
        return NetworkConfig(
            vocabulary,
            channels=channels,
            cells=cells,
            word_dim=8,
            language_dim=8,
            attention_dim=8,
            filters=2,
            action_dim=8,
            action_hidden=16,
            class_hidden=16,
        )


def choose(what: str, name: str, known: Iterable[str]) -> str:
    """The name itself if it is known; else an error with the list and the closest match."""
    names = list(known)
    if name in names:
        return name
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise BadInputError(f"unknown {what} {name!r}: {hint}known are {', '.join(names)}")


def _check_overrides(overrides: object, settings: MethodConfig) -> None:
    if not isinstance(overrides, Mapping):
        raise BadInputError(f"overrides {overrides!r}: expected settings by name")
    known = [one.name for one in fields(settings) if one.name not in _NOT_OVERRIDDEN]
    for name, value in overrides.items():
        choose("setting of the method", name, known)
        kind = type(getattr(settings, name))
        # 1 is a fine share, but True is no number.
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or not abs(value) < _TOO_LARGE:
            raise BadInputError(f"{name} {value!r}: expected {_KINDS[kind]}")
    # The settings themselves know how large they may be.
    replace(settings, **overrides)


#: The largest seed, and larger than any count.
_LARGEST = 2**32 - 1

#: No setting is nearly as large; not a number is not smaller either.
_TOO_LARGE = 1e12

_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


def _check_text(name: str, value: object, optional: bool) -> None:
    if not isinstance(value, str) and not (optional and value is None):
        _refuse_several(name, value)
        raise BadInputError(f"{name} {value!r}: expected a text")


def _check_number(name: str, value: object, least: int) -> None:
    _refuse_several(name, value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInputError(f"{name} {value!r}: expected a whole number from {least}")
    if value > _LARGEST:
        raise BadInputError(f"{name} {value}: expected a whole number to {_LARGEST}")


def _refuse_several(name: str, value: object) -> None:
    if isinstance(value, list | tuple):
        raise BadInputError(
            f"{name} {value!r}: expected one value, since this is one run; clalfred-sweep takes "
            "several"
        )
