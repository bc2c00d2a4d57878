"""How AI2-THOR is started and how long one waits for it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from gym_clalfred.errors import BadInputError, UsageError

#: Every option can be set by ``CLALFRED_THOR_<NAME>`` in the environment.
PREFIX = "CLALFRED_THOR_"

#: The value of ``executable`` that means this project's own player.
PLAYER = "player"

#: What runs when that name is given.
PLAYER_MODULE = "clalfred.scripts.player"

PLATFORMS = (None, "Linux64", "CloudRendering")


@dataclass(frozen=True)
class ThorOptions:
    """Options of ``ThorSimulator``.

    Args:
        executable: command line of a local build; ``player``, with its options, for
            ``clalfred-player``; ``None`` for the build that the installed ``ai2thor`` downloads.
        display: X display such as ``:0``; the environment's ``DISPLAY`` by default.
        platform: ``CloudRendering`` to render on a GPU without a display, ``Linux64`` for X.
        quality: AI2-THOR's name of a rendering quality.
        start_timeout: seconds from starting the process to the first frame.
        step_timeout: seconds for one action.
        tries: how often a start or a reset is tried before the episode counts as failed.
        back_off: seconds before the second try; doubles with each further one.
        max_processes: simulators at once on this machine, of all programs; 0 for as many as the
            memory allows.
        process_megabytes: memory that one process is taken to need.
    """

    executable: str | None = None
    display: str | None = None
    platform: str | None = None
    quality: str = "MediumCloseFitShadows"
    start_timeout: float = 120.0
    step_timeout: float = 30.0
    tries: int = 3
    back_off: float = 1.0
    max_processes: int = 0
    process_megabytes: int = 1000

    def __post_init__(self) -> None:
        if self.platform not in PLATFORMS:
            raise BadInputError(f"expected a platform of {PLATFORMS}, got {self.platform!r}")
        for name in ("start_timeout", "step_timeout", "tries", "process_megabytes"):
            if not getattr(self, name) > 0:  # nan is not
                raise BadInputError(f"expected {name} to be positive, got {getattr(self, name)}")
        for name in ("back_off", "max_processes"):
            if not getattr(self, name) >= 0:
                raise BadInputError(
                    f"expected {name} not to be negative, got {getattr(self, name)}"
                )
        try:
            shlex.split(self.executable or "")
        except ValueError as error:
            raise BadInputError(f"executable {self.executable}: {error}") from None
        if self.executable is not None and not self.executable.strip():
            raise BadInputError("expected executable to be a command, got nothing")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> ThorOptions:
        """The defaults with what ``CLALFRED_THOR_...`` variables say."""
        environment = os.environ if environment is None else environment
        chosen: dict[str, str | float | int] = {}
        for option in fields(cls):
            variable = PREFIX + option.name.upper()
            text = environment.get(variable)
            if not text:
                continue
            kind: Any = type(option.default) if option.default is not None else str
            try:
                chosen[option.name] = kind(text)
            except ValueError:
                raise BadInputError(
                    f"expected {variable} to be a {kind.__name__}, got {text!r}"
                ) from None
        known = {PREFIX + option.name.upper() for option in fields(cls)}
        unknown = sorted(n for n in environment if n.startswith(PREFIX) and n not in known)
        if unknown:
            raise BadInputError(f"unknown variables {unknown}: expected some of {sorted(known)}")
        return cls(**chosen)  # type: ignore[arg-type]

    @property
    def command(self) -> str | None:
        """The command line of the local build, or ``None``."""
        name, _, rest = (self.executable or "").partition(" ")
        if name == PLAYER:
            return f"{shlex.join([sys.executable, '-m', PLAYER_MODULE])} {rest}".strip()
        return self.executable

    def check_program(self) -> None:
        """Raises ``UsageError`` if the local build is not there."""
        program = shlex.split(self.command or sys.executable)[0]
        if shutil.which(program) is None:
            raise UsageError(
                f"executable {program}: no such program; give the path of a Unity build, or "
                f"'{PLAYER}', in {PREFIX}EXECUTABLE"
            )

    @property
    def is_player(self) -> bool:
        """Whether the local build is this project's player."""
        words = shlex.split(self.command or "")
        return PLAYER_MODULE in words or any("clalfred-player" in word for word in words)

    @property
    def build(self) -> str | None:
        """A name for the local build, for results; ``None`` without one."""
        if self.executable is None:
            return None
        if self.is_player:
            return "clalfred-player"
        return f"local-{Path(shlex.split(self.command or '')[0]).name}"
