"""The settings of a run: everything that its results depend on, as plain values."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any

from msgspec import Meta

from clalfred.agents.acting.heuristics import ActionHeuristics
from clalfred.agents.acting.rollout import RolloutConfig
from clalfred.agents.agent import AgentConfig
from clalfred.agents.registry import ENCODERS, agent_config, agent_name, with_settings
from clalfred.agents.vision.augment import Augmentation
from clalfred.cl.base import ContinualLearner, MethodConfig
from clalfred.cl.experiment.settings import LARGEST, Count, check, given, setting
from clalfred.cl.memory import memory_size
from clalfred.cl.registry import canonical_name, get_method
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import (
    BadInputError,
    ClAlfredError,
    UnknownAgentError,
    UnknownMethodError,
    UnknownTaskError,
)
from gym_clalfred.names import choose
from gym_clalfred.setups import ORDERS, Setup, TaskLabel
from gym_clalfred.simulator.backends import check_backend
from gym_clalfred.stream.builders import KINDS
from gym_clalfred.stream.orders import resolve_order

#: The splits of seen and unseen rooms for each value of ``evaluate_on``.
EVALUATED = {
    "valid": {"seen": Split.VALID_SEEN, "unseen": Split.VALID_UNSEEN},
    "test": {"seen": Split.TEST_SEEN, "unseen": Split.TEST_UNSEEN},
}

#: Errors that invalid settings from a file may raise.
MALFORMED = (ClAlfredError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)

#: The prefix of the agent's settings in --set.
OF_AGENT = "agent."

#: Longest name of a run; files allow 255 characters, and some names add to it.
LONGEST_NAME = 160

#: Settings of a method that are settings of a run themselves or are not a single value.
_NOT_OVERRIDDEN = ("memory", "training")


@dataclass(frozen=True)
class RunConfig:
    """One run. Two runs with equal settings give equal results, bit for bit.

    That holds on all x86-64 processors with AVX2, for agents whose config says ``portable`` (see
    ``clalfred.agents.numerics.arithmetic``). ``overrides`` are settings of the method, and of the
    agent as ``agent.NAME``, that differ from their presets'.
    """

    setup: str = setting(
        "behavior-il",
        "What changes along the stream.",
        title="",
        choices=lambda: [one.value for one in Setup],
    )
    method: str = setting(
        "cama", "Continual-learning method, such as er, der++, cama or joint.", title=""
    )
    order: Annotated[int, Meta(ge=1, le=ORDERS)] = setting(
        1, "The paper's task order, 1 to 5.", title=""
    )
    tasks: str | None = setting(
        None,
        "Tasks of the stream by name, in order, such as Heat,Clean.",
        shown="those of the order",
    )
    seed: Annotated[int, Meta(ge=0, le=LARGEST)] = setting(
        0, "Seed of the stream, the weights and the memory.", title=""
    )
    preset: str = setting("paper", "The method's settings: paper or released.", title="")
    overrides: Mapping[str, Any] = field(default_factory=dict)
    schedule: str = setting(
        "disjoint", "How tasks follow each other.", title="", choices=lambda: KINDS
    )
    tier: str = setting(
        "small",
        "Generated episodes: tiny, small or full; made on first use.",
        title="",
        choices=lambda: TIERS,
    )
    data: str | None = setting(
        None, "Folder with other episodes, instead of a tier.", title="", path=True
    )
    split_folder: str | None = setting(
        None, "The authors' split folder of one setup; its stream is used unchanged.", path=True
    )
    backend: str = setting("embedded", "Simulator: embedded or thor.", title="")
    agent: str = setting(
        "semantic-map",
        "Agent, or agent:preset, such as semantic-map or two-branch:paper.",
        title="",
    )
    encoder: str | None = setting(
        None,
        "Visual encoder instead of the agent's own, by name.",
        title="",
        choices=ENCODERS.names,
    )
    encoder_weights: str | None = setting(
        None, "File with the encoder's weights.", title="", path=True
    )
    augment: bool = setting(
        False,
        "Apply one of the paper's seven augmentations, drawn at each use.",
        title="seven augmentations",
    )
    blind: bool = setting(False, "Train and evaluate without views, for comparison.", title="")
    deaf: bool = setting(False, "Train and evaluate without words, for comparison.", title="")
    rules: bool = setting(
        True, "Evaluate with the released agent's rules around the network.", title=""
    )
    memory: Count | None = setting(
        None, "Episodes that the method may keep.", shown="the paper's share of the stream"
    )
    batch_size: Count | None = setting(
        None, "Episodes per update.", title="batch", shown="the agent's"
    )
    episodes_per_task: Count | None = setting(
        None, "Stream only the first N episodes of each task.", letter="t", shown="all"
    )
    evaluate_on: str = setting(
        "valid",
        "Splits to evaluate on: valid while you tune, test for numbers to publish.",
        title="",
        choices=lambda: EVALUATED,
    )
    evaluation_episodes: Count | None = setting(
        None,
        "Evaluate on N episodes per task and split.",
        title="evaluation episodes per task",
        letter="e",
        shown="all",
    )
    interim_episodes: Count | None = setting(
        None,
        "Evaluate on only N episodes per task and split until the last task is learned.",
        title="interim episodes per task",
        letter="i",
        shown="as many as at the end",
    )
    evaluation_annotations: Count | None = setting(
        None,
        "Evaluate on N annotations per trajectory.",
        title="annotations per trajectory",
        letter="a",
        shown="all on full, 1 on smaller tiers",
    )
    evaluate_ahead: bool = setting(
        False, "Also evaluate on tasks before they are learned, for forward transfer.", title=""
    )
    max_steps: Count | None = setting(
        None,
        "Actions after which an evaluation episode is truncated.",
        title="steps",
        shown="100 on tiny and small, else 1000",
    )
    threads: Annotated[int, Meta(ge=1, le=256)] = setting(
        1, "Threads of torch; can change the last bit of a sum.", title=""
    )

    def __post_init__(self) -> None:
        check(self)
        # One method and one agent have one name, in folders and tables.
        object.__setattr__(self, "method", canonical_name(self.method))
        object.__setattr__(self, "agent", agent_name(self.agent))
        choose("preset", self.preset, self.learner.presets)
        check_backend(self.backend)
        if not isinstance(self.overrides, Mapping):
            raise BadInputError(f"overrides {self.overrides!r}: expected settings by name")
        self.agent_config()
        self.stream_order()
        settings = self._method_preset()
        if self.memory is not None or self.batch_size is not None:
            self.method_settings(0)  # refuses ones too small before anything slow begins
        if self.split_folder is not None and self.schedule != "disjoint":
            raise BadInputError(
                f"schedule {self.schedule!r}: the split folder defines the stream; leave "
                "one of the two out"
            )
        if self.split_folder is not None and self.tasks is not None:
            raise BadInputError(
                f"tasks {self.tasks!r}: the split folder says which there are; leave one of the "
                "two out"
            )
        if self.learner.wants_boundaries(settings) and self.schedule == "gaussian":
            raise BadInputError(
                f"{self.method_title} needs task boundaries, which a gaussian schedule does not "
                "have: choose disjoint or blurry"
            )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """From plain values, such as those of a YAML file or a run's folder."""
        return cls(**given(values, cls))

    @classmethod
    def recorded(cls, values: Mapping[str, Any]) -> RunConfig:
        """The config of a finished run, even if its method or agent is unknown here.

        Acting and reporting do not need their classes; only training does.
        """
        try:
            return cls.from_dict(values)
        except UnknownMethodError:
            known = {"method": "finetuning", "preset": "paper"}
        except UnknownAgentError:
            known = {"agent": "two-branch"}
        except UnknownTaskError:
            config = cls.recorded({**values, "tasks": None})
            object.__setattr__(config, "tasks", values["tasks"])
            return config
        config = cls.recorded({**values, **known, "overrides": {}})
        overrides = values.get("overrides", {})
        if not isinstance(overrides, Mapping) or not all(
            isinstance(values.get(name, ""), str) for name in known
        ):
            raise BadInputError("expected method, agent and preset as names, overrides as a table")
        # As recorded and unchecked, because the class that knows its limits is missing.
        for name in known:
            object.__setattr__(config, name, values.get(name, getattr(cls, name)))
        object.__setattr__(config, "overrides", dict(overrides))
        return config

    def to_dict(self) -> dict[str, Any]:
        """The inverse of ``from_dict``."""
        return asdict(self)

    @property
    def task_setup(self) -> Setup:
        """What a task is, and whether tasks are balanced."""
        return Setup(self.setup)

    def stream_order(self) -> int | tuple[TaskLabel, ...]:
        """The number of the order, or the custom list of tasks."""
        if self.tasks is None:
            return self.order
        try:
            return resolve_order(self.task_setup, self.tasks.split(","))
        except BadInputError as error:
            known = ", ".join(task.paper_name for task in self.task_setup.known_tasks)
            raise UnknownTaskError(
                f"tasks {self.tasks!r}: expected some of {known}, each once, with commas between"
            ) from error

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
        parts = [self.setup, self.method]
        if self.schedule != "disjoint":
            parts.insert(1, self.schedule)
        if self.agent != RunConfig.agent:
            parts.insert(1, self.agent.replace(":", "-"))
        if self.preset != "paper":
            parts.append(self.preset)
        if self.tasks is not None:
            parts.append(self.tasks)
        changes = {**self.variant, **self.agent_changes}
        parts += [f"{name}-{value}" for name, value in changes.items()]
        return f"{_short('-'.join(parts))}-order{self.order}-seed{self.seed}"

    @property
    def method_title(self) -> str:
        """The method's name, with the preset if not the paper's, and with its own overrides."""
        notes = [] if self.preset == "paper" else [self.preset]
        notes += [f"{name} {value}" for name, value in self.method_changes.items()]
        notes += ["without rules" if name == "rules" else name for name in self.controls]
        return f"{self.method} ({', '.join(notes)})" if notes else self.method

    @property
    def variant(self) -> dict[str, Any]:
        """In which settings the method differs from its preset, by name."""
        memory = {} if self.memory is None else {"memory": self.memory}
        return {**self.method_changes, **memory, **self.controls}

    @property
    def controls(self) -> dict[str, bool]:
        """What the agent is deprived of for comparison, by name."""
        said = {"blind": self.blind, "deaf": self.deaf, "rules": self.rules}
        return {name: value for name, value in said.items() if value != (name == "rules")}

    @property
    def agent_changes(self) -> dict[str, Any]:
        """In which settings the agent differs from its preset, as ``agent.NAME``."""
        ours = sorted(self.overrides.items())
        return {name: value for name, value in ours if name.startswith(OF_AGENT)}

    @property
    def method_changes(self) -> dict[str, Any]:
        """Settings of the method instead of its preset's, by name."""
        ours = sorted(self.overrides.items())
        return {name: value for name, value in ours if not name.startswith(OF_AGENT)}

    @property
    def step_limit(self) -> int:
        """Actions after which an evaluation episode is truncated."""
        return self.default_step_limit if self.max_steps is None else self.max_steps

    @property
    def default_step_limit(self) -> int:
        """The default step limit on this data."""
        of_tier = TIERS[self.tier].evaluation_steps if self.data is None else None
        return of_tier or RolloutConfig.max_steps

    @property
    def heuristics(self) -> ActionHeuristics:
        """The rules around the network."""
        return ActionHeuristics() if self.rules else ActionHeuristics.off()

    @property
    def augmentations(self) -> tuple[Augmentation, ...]:
        """The augmentations besides the plain views."""
        others = (one for one in Augmentation if one is not Augmentation.NONE)
        return tuple(others) if self.augment else ()

    def agent_config(self) -> AgentConfig:
        """The agent's settings: its preset's with this run's changes."""
        changes = {
            name.removeprefix(OF_AGENT): value
            for name, value in self.overrides.items()
            if name.startswith(OF_AGENT)
        }
        config = agent_config(self.agent, changes)
        if self.encoder is None:
            return config
        if not config.encoder:
            raise BadInputError(f"encoder {self.encoder!r}: agent {self.agent} sees without one")
        return replace(config, encoder=ENCODERS.canonical(self.encoder))

    def method_settings(self, stream_length: int) -> MethodConfig:
        """The preset with this run's memory, and the batch and rate of the agent."""
        settings, agent = self._method_preset(), self.agent_config()
        batch_size = self.batch_size or agent.batch_size
        share = batch_size / settings.training.batch_size
        counts = {
            name: max(1, round(getattr(settings, name) * share))
            for name in settings.per_batch
            if name not in self.overrides
        }
        training = replace(
            settings.training,
            batch_size=batch_size,
            updates=agent.updates,
            learning_rate=agent.learning_rate,
            # The released MIR and EWC++ do not clip.
            max_gradient_norm=max(settings.training.max_gradient_norm, agent.max_gradient_norm),
        )
        preset_stream, replays = settings.stream_size, settings.memory > settings.stream_size
        settings = replace(settings, training=training, **counts)
        if not replays:
            return settings
        if batch_size <= settings.stream_size < preset_stream:
            raise BadInputError(
                f"batch_size {batch_size}: {self.method} replays in the same batch, which has room "
                f"for one episode of the stream only; expected at least {batch_size + 1}"
            )
        memory = self.memory or memory_size(stream_length, batch_size)
        if memory <= settings.stream_size < batch_size:
            raise BadInputError(
                f"memory {memory}: {self.method} gathers {settings.stream_size} episodes at a "
                f"time, so with such a memory it could replay none; expected at least "
                f"{settings.stream_size + 1}"
            )
        return replace(settings, memory=memory)

    def _method_preset(self) -> MethodConfig:
        preset = self.learner.presets[self.preset]
        changes = self.method_changes
        known = [one.name for one in fields(preset) if one.name not in _NOT_OVERRIDDEN]
        for name in changes:
            choose("setting of the method", name, known)
        settings: MethodConfig = with_settings("setting of the method", preset, changes)
        return settings


def _short(name: str) -> str:
    """A valid file name; one that is too long ends in a digest."""
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 13]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
