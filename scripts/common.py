"""What the commands share: errors in one line, options of a run, and progress on a terminal."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import yaml

from clalfred.cl.experiment.config import NETWORKS, SETUPS, RunConfig, choose
from clalfred.cl.experiment.folder import storage_errors
from clalfred.cl.registry import method_names
from gym_clalfred import __version__
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, ClAlfredError
from gym_clalfred.rooms import RoomType
from gym_clalfred.stream.builders import KINDS
from gym_clalfred.tasks.spec import TaskType

Command = Callable[..., Any]

#: The option --version.
version_option = click.version_option(__version__, message="cl-alfred-gym %(version)s")

CONFIGS = Path(__file__).parent / "configs"

#: A number of things that makes sense only from one.
COUNT = click.IntRange(min=1)

#: Settings of a run as options: (option, type, help). Defaults are those of ``RunConfig``.
RUN_OPTIONS: tuple[tuple[str, Any, str], ...] = (
    ("setup", click.Choice(list(SETUPS)), "What changes along the stream."),
    ("method", str, f"One of {', '.join(method_names())}."),
    ("order", int, "The paper's task order, 1 to 5."),
    ("seed", int, "Of the stream, the weights and the memory."),
    ("preset", str, "The method's settings: paper or released."),
    ("schedule", click.Choice(KINDS), "How tasks follow each other."),
    ("tier", str, "Generated episodes: tiny, small or full; made on first use."),
    ("data", click.Path(), "Folder with other episodes, instead of a tier."),
    (
        "split-folder",
        click.Path(),
        "The authors' folder of one setup, whose stream is taken as it is.",
    ),
    ("backend", str, "Simulator: embedded or thor."),
    (
        "network",
        click.Choice(NETWORKS),
        "Size of the agent; paper has 42 million parameters, micro is for tests.",
    ),
    ("encoder-weights", click.Path(), "Weights of the visual encoder, for --network paper."),
    ("augment", bool, "Show training episodes in one of the paper's seven looks at each use."),
    ("reads-goal", bool, "Read the goal before the instructions; the paper's network does not."),
    (
        "memory",
        int,
        "Episodes that the method may keep, if it keeps any.  [default: the paper's share]",
    ),
    ("batch-size", int, "Episodes per update.  [default: 8 with the small network, else 32]"),
    ("episodes-per-task", int, "Stream only the first so many of each task.  [default: all]"),
    ("evaluation-episodes", int, "Evaluate on so many per task and split.  [default: all]"),
    (
        "evaluation-annotations",
        int,
        "Evaluate on so many per trajectory.  [default: all on full, 1 on smaller tiers]",
    ),
    (
        "max-steps",
        int,
        "Actions after which an evaluation episode is cut.  [default: 100 on small, else 1000]",
    ),
    ("threads", int, "Threads of torch."),
)


def run_options(*without: str) -> Callable[[Command], Command]:
    """Adds the options of a run; the command gets those that were given as ``settings``."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**arguments: Any) -> Any:
            settings = {
                name: arguments.pop(name)
                for name in (option.replace("-", "_") for option, _, _ in options)
            }
            ahead, changes = arguments.pop("evaluate_ahead"), arguments.pop("changes")
            given = {name: value for name, value in settings.items() if value is not None}
            if ahead:
                given["evaluate_ahead"] = True
            if changes:
                given["overrides"] = changes
            return command(settings=given, **arguments)

        options = [option for option in RUN_OPTIONS if option[0] not in without]
        click.option(
            "--evaluate-ahead",
            is_flag=True,
            help="Evaluate also on tasks before they are learned, for forward transfer.",
        )(wrapped)
        click.option(
            "--set",
            "changes",
            metavar="NAME=VALUE",
            multiple=True,
            callback=lambda context, option, texts: dict(map(_setting, texts)),
            help="A setting of the method instead of the preset's, such as alpha=0.5; can be "
            "repeated. A wrong name is answered with all that there are.",
        )(wrapped)
        for name, kind, text in reversed(options):
            default = getattr(RunConfig, name.replace("-", "_"))
            shown = "" if default is None else f"  [default: {default}]"
            click.option(f"--{name}", type=kind, default=None, help=text + shown)(wrapped)
        return wrapped

    return decorate


def _setting(text: str) -> tuple[str, Any]:
    """Name and value of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise click.BadParameter(f"{text!r}: expected NAME=VALUE, such as alpha=0.5")
    try:
        return name.strip(), json.loads(value)
    except ValueError:
        return name.strip(), value.strip()


def check_names(**given: str | None) -> None:
    """Refuses a misspelt split, tier, task or room before anything slow begins."""
    known = {
        "split": [one.value for one in Split],
        "tier": list(TIERS),
        "task": [one.paper_name for one in TaskType],
        "room": [one.value for one in RoomType],
    }
    for what, name in given.items():
        if name is not None:
            choose(what, name, known[what])


def read_settings(name: str | None) -> dict[str, Any]:
    """Settings from a YAML file, or from one that comes with the package, by its name."""
    if name is None:
        return {}
    shipped = CONFIGS / f"{name}.yaml"
    path = shipped if shipped.exists() else Path(name)
    try:
        settings = yaml.safe_load(path.read_bytes().decode())
    except FileNotFoundError:
        known = ", ".join(sorted(one.stem for one in CONFIGS.glob("*.yaml")))
        raise BadInputError(
            f"config {name!r}: there is no such file, and none of that name comes with the "
            f"package; it has {known}"
        ) from None
    except IsADirectoryError:
        raise BadInputError(f"config {name!r}: expected a YAML file, found a folder") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: not YAML ({error})") from error
    if not isinstance(settings, dict):
        raise BadInputError(f"{path}: expected settings as 'name: value' lines")
    return settings


#: Whether a command, given these options, goes on from where it was.
Continues = Callable[[dict[str, Any]], bool]


def clear_errors(command: Command) -> Command:
    """Expected errors become one message and exit code 1, Ctrl-C becomes one line and 130."""
    return _clear_errors(command, lambda options: False)


def clear_errors_resumable(
    continues: Continues = lambda options: True,
) -> Callable[[Command], Command]:
    """``clear_errors`` for a command that continues what was begun; Ctrl-C says so."""
    return functools.partial(_clear_errors, continues=continues)


def _clear_errors(command: Command, continues: Continues) -> Command:
    @functools.wraps(command)
    def wrapped(**options: Any) -> Any:
        try:
            with storage_errors(Path.cwd()):
                return command(**options)
        except ClAlfredError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            how = " The same command again continues." if continues(options) else ""
            click.echo(f"\nInterrupted.{how}", err=True)
            sys.exit(130)

    return wrapped


def on_terminal() -> bool:
    """Whether progress bars would be seen by a person."""
    return sys.stderr.isatty()
