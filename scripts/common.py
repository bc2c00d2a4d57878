"""What all commands share: one-line errors and settings from files, without importing torch."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click
import yaml

from gym_clalfred import __version__
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.storage import storage_errors
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, ClAlfredError
from gym_clalfred.names import choose
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import task_types

Command = Callable[..., Any]

#: The option --version.
version_option = click.version_option(__version__, message="cl-alfred-gym %(version)s")

CONFIGS = Path(__file__).parent / "configs"

#: A count of at least one.
COUNT = click.IntRange(min=1)

#: Help of --workers in commands that evaluate.
WORKERS = "Processes that evaluate at most; one is started per 8 episodes."


def check_names(**given: str | None) -> None:
    """Refuses a misspelt split, tier, task or room before anything slow begins."""
    known = {
        "split": [one.value for one in Split],
        "tier": list(TIERS),
        "task": [one.paper_name for one in task_types()],
        "room": [one.value for one in RoomType],
    }
    for what, name in given.items():
        if name is not None:
            choose(what, name, known[what])


@dataclass(frozen=True)
class EpisodeOptions:
    """The options that select the episodes of a command and the simulator."""

    split: str
    task: str | None = None
    room: str | None = None
    tier: str | None = None
    data: str | None = None
    backend: str | None = None
    max_steps: int | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """The settings of an agent's run that these options change."""
        return {name: getattr(self, name) for name in ("tier", "data", "backend", "max_steps")}

    def check(self) -> None:
        """Refuses misspelt names before anything slow begins."""
        check_names(split=self.split, task=self.task, room=self.room, tier=self.tier)


def episode_options(
    split: str, tier: str, backend: str | None = None, max_steps: str | None = None
) -> Callable[[Command], Command]:
    """Adds these options; the command gets them as ``episodes``.

    Args:
        split: the default.
        tier: what the help says about the default, as for ``backend`` and ``max_steps``, which are
            left out if nothing is said about them.
    """
    splits = ", ".join(one.value for one in Split)
    options = [
        click.option("--split", default=split, show_default=True, help=f"One of {splits}."),
        click.option("--task", help="Only this task type, such as Heat or Pick2&Place."),
        click.option("--room", help="Only this room type, such as Kitchen."),
        click.option("--tier", help=f"Generated episodes.  [default: {tier}]"),
        click.option("--data", type=click.Path(), help="Folder with other episodes."),
    ]
    if backend is not None:
        options.append(click.option("--backend", help=f"Simulator.  [default: {backend}]"))
    if max_steps is not None:
        text = f"Cut episodes after this many steps.  [default: {max_steps}]"
        options.append(click.option("--max-steps", type=COUNT, help=text))

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**arguments: Any) -> Any:
            names = [one.name for one in fields(EpisodeOptions) if one.name in arguments]
            episodes = EpisodeOptions(**{name: arguments.pop(name) for name in names})
            return command(episodes=episodes, **arguments)

        for option in reversed(options):
            option(wrapped)
        return wrapped

    return decorate


def read_settings(name: str | None) -> dict[str, Any]:
    """Settings from a YAML file, given as a path or as the name of a bundled one."""
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
        raise BadInputError(f"{path}: not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(settings, dict):
        raise BadInputError(f"{path}: expected settings as 'name: value' lines")
    return settings


#: Whether a command, given these options, can be continued.
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
        before, threading.excepthook = threading.excepthook, _hear_no_thread
        try:
            with storage_errors(Path.cwd()):
                return command(**options)
        except ClAlfredError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            how = " The same command again continues." if continues(options) else ""
            click.echo(f"\nInterrupted.{how}", err=True)
            # Python ends by the signal itself, whatever the exit code, once an interrupt has left
            # code compiled from a string (dataclasses have some); compiling any forgets it.
            exec("")
            sys.exit(130)
        finally:
            threading.excepthook = before

    return wrapped


def _hear_no_thread(failed: threading.ExceptHookArgs) -> None:
    """Suppresses write errors of TensorBoard's thread; the run reports them itself."""
    if not issubclass(failed.exc_type, OSError):
        threading.__excepthook__(failed)


def on_terminal() -> bool:
    """Whether output goes to a terminal, so that progress bars make sense."""
    return sys.stderr.isatty()
