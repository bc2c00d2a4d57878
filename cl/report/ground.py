"""What runs must have in common to be compared."""

from __future__ import annotations

from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Labels, Results
from clalfred.cl.experiment.settings import titles
from clalfred.cl.registry import method_names


def displayed(run: Results) -> str:
    """What tables call the method of a run, with its settings: ``CAMA (180 kB, packed)``."""
    config = run.config
    known = config.method in method_names()  # others' methods may not be installed here
    title = config.learner.title if known else config.method
    notes = [] if config.preset == "paper" else [config.preset]
    notes += [_note(name, value) for name, value in config.method_changes.items()]
    notes += ["without rules" if name == "rules" else name for name in config.controls]
    return f"{title} ({', '.join(notes)})" if notes else title


def _note(name: str, value: object) -> str:
    if name == "memory_bytes" and isinstance(value, int):
        return f"{value / 1000:,.0f} kB"
    if isinstance(value, bool):
        return name if value else f"not {name}"
    return f"{name.replace('_', ' ')} {value}"


def group_title(run: Results) -> str:
    """What the runs of one table have in common."""
    return common_ground(run.config, run.labels) + update_note(run)


def update_note(run: Results) -> str:
    """Says how many updates a streamed episode called for, unless it was one, as in the paper."""
    config, repeats = run.config, 1
    if config.method in method_names():  # others' methods may not be installed here
        settings = config.learner.presets[config.preset]
        repeats = config.overrides.get("repeats", getattr(settings, "repeats", 1))
    rate = round(run.training.updates / max(1, run.stream.length * repeats), 1)
    return "" if rate == 1 else f", {rate} updates per episode"


def common_ground(config: RunConfig, labels: Labels) -> str:
    """All that results depend on but method, order and seed, in words.

    Evaluating ahead is not among it: that adds scores and changes none.

    Args:
        config: of a run.
        labels: what its data, backend and eyes call themselves.
    """
    if config.step_limit == config.default_step_limit:
        config = type(config).recorded({**config.to_dict(), "max_steps": None})
    return ", ".join(
        [
            *(config.setup, config.schedule, config.evaluate_on),
            *(labels.data, labels.backend, config.agent, labels.sight),
            *(f"{name} {value}" for name, value in config.agent_changes.items()),
            *titles(config),
        ]
    )
