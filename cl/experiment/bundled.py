"""Trained agents that come with the package, found by name wherever a path is taken.

Their weights are stored as float16, half as large as those of a run's ``agent.zip``, and become
float32 again when they are loaded, which changes no value. So a bundled agent is the rounded one:
what it does is what its file says, on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
import yaml

from clalfred import agents
from clalfred.agents.checkpoint import load_state, save_state, with_suffix
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.folder import finished_runs, read_config
from gym_clalfred.errors import BadInputError, DataError, DivergenceError
from gym_clalfred.names import did_you_mean

#: Where they are.
FOLDER = Path(agents.__file__).parent / "trained"

#: Says how they are trained.
RECIPES = "agents.yaml"

#: The size limit of all of them together.
MOST_BYTES = 30_000_000


def bundled_agents(folder: Path | None = None) -> dict[str, Path]:
    """Their files by name."""
    return {path.stem: path for path in sorted((folder or FOLDER).glob("*.zip"))}


def find_agent(path: str | Path) -> Path:
    """The file of an agent: of a path, of a run's folder, or of a bundled agent's name.

    What is there under a path goes before a name.

    Raises:
        DataError: if there is none; the message lists the bundled ones.
    """
    given = Path(path)
    found = with_suffix(given / "agent.zip" if given.is_dir() else given)
    if found.is_file():
        return found
    bundled = bundled_agents()
    if str(path) in bundled and not given.is_dir():
        return bundled[str(path)]
    names = f", or one of {', '.join(bundled)}" if bundled else ""
    raise DataError(
        f"{found}: there is no trained agent; {did_you_mean(path, bundled)}give an agent.zip, the "
        f"folder of a finished run{names}"
    )


def read_recipes(path: str | Path | None = None) -> dict[str, RunConfig]:
    """The runs that train them, by name, from a YAML file of ``name: {setting: value}``."""
    path = Path(path or FOLDER / RECIPES)
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BadInputError(f"{path}: not a YAML file ({' '.join(str(error).split())})") from error
    if not isinstance(document, Mapping) or not document:
        raise BadInputError(f"{path}: expected lines such as 'joint-masks: {{method: joint}}'")
    recipes = {}
    for name, settings in document.items():
        if not isinstance(name, str) or not isinstance(settings, Mapping) or "/" in name:
            raise BadInputError(f"{path}: {name!r}: expected a name and settings of a run")
        try:
            recipes[name] = RunConfig.from_dict(settings)
        except BadInputError as error:
            raise BadInputError(f"{path}: {name}: {error}") from error
    return recipes


@dataclass(frozen=True)
class Bundled:
    """An agent that was put into the folder.

    Args:
        path: its file.
        unchanged: whether a file with the same bytes was there before.
    """

    path: Path
    unchanged: bool


def make_bundled(name: str, config: RunConfig, runs: Path, folder: Path | None = None) -> Bundled:
    """Trains an agent, or continues, and puts it into the folder of bundled ones.

    Args:
        name: what it will be called.
        config: the run.
        runs: the run's folder will be below this one.
        folder: of the bundled agents.
    """
    # Training needs what acting does not.
    from clalfred.cl.experiment.run import train

    train(config, runs / name, media=False)
    return take_bundled(name, runs / name, folder)


def take_bundled(name: str, run: Path, folder: Path | None = None) -> Bundled:
    """Puts the agent of a finished run into the folder of bundled ones.

    Args:
        name: what it will be called.
        run: the run's folder.
        folder: of the bundled agents.
    """
    target = (folder or FOLDER) / f"{name}.zip"
    before = target.read_bytes() if target.is_file() else b""
    store(run / "agent.zip", target)
    return Bundled(target, target.read_bytes() == before)


def find_run(config: RunConfig, folder: str | Path) -> Path | None:
    """The first finished run below a folder with exactly these settings, if there is one."""
    runs = (run for run in finished_runs(folder) if read_config(run / "config.json") == config)
    return next(runs, None)


def store(trained: str | Path, target: str | Path) -> Path:
    """Copies an ``agent.zip`` with its weights as float16; equal agents give equal bytes."""
    state = load_state(trained)
    weights = {name: _half(name, value) for name, value in state["weights"].items()}
    return save_state(target, {**state, "weights": weights})


def _half(name: str, value: torch.Tensor) -> torch.Tensor:
    if not value.is_floating_point():
        return value
    half = value.half()
    if not bool(torch.isfinite(half).all()):
        raise DivergenceError(f"weights {name!r}: expected numbers below 65,504, found larger ones")
    return half
