"""Whether AI2-THOR works here, step by step, and what to do about the first thing that does not."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gym_clalfred.actions import Action
from gym_clalfred.errors import ClAlfredError, UsageError
from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene
from gym_clalfred.simulator.thor.options import ThorOptions


@dataclass(frozen=True)
class ConnectionCheck:
    """One step on the way to a frame.

    Args:
        name: what was looked at.
        passed: whether it is as it should be.
        detail: what was found.
        advice: what to do if it is not.
    """

    name: str
    passed: bool
    detail: str
    advice: str = ""


def check_thor(options: ThorOptions | None = None, start: bool = True) -> Iterator[ConnectionCheck]:
    """The checks in their order, up to the first that fails.

    Args:
        options: as for ``ThorSimulator``; by default what the environment says.
        start: whether to start AI2-THOR, load a room and look around in it.
    """
    try:
        chosen = ThorOptions.from_environment() if options is None else options
    except ClAlfredError as error:
        yield ConnectionCheck(
            "options", False, str(error), "correct the CLALFRED_THOR_... variables"
        )
        return
    steps: list[Callable[[ThorOptions], ConnectionCheck]] = [_package, _display, _build]
    if start:
        steps.append(_frame)
    for step in steps:
        check = step(chosen)
        yield check
        if not check.passed:
            return


def _package(options: ThorOptions) -> ConnectionCheck:
    if find_spec("ai2thor") is None:
        return ConnectionCheck(
            "package", False, "not installed", 'pip install "cl-alfred-gym[thor]"'
        )
    from gym_clalfred.simulator.thor.link import installed_version

    version = installed_version()
    tried = version in ("2.1.0", "5.0.0")
    return ConnectionCheck(
        "package", True, version if tried else f"{version} (tried are 2.1.0 and 5.0.0)"
    )


def _build(options: ThorOptions) -> ConnectionCheck:
    if options.command is not None:
        try:
            options.check_program()
        except UsageError as error:
            detail, _, advice = str(error).partition("; ")
            return ConnectionCheck("build", False, detail, advice)
        return ConnectionCheck("build", True, f"{options.build}: {options.command}")
    releases = Path.home() / ".ai2thor" / "releases"
    builds = sorted(path.name for path in releases.glob("thor-*")) if releases.is_dir() else []
    if not builds:
        return ConnectionCheck(
            "build",
            False,
            f"none downloaded in {releases}",
            "run once with network access: "
            'python -c "from ai2thor.controller import Controller; Controller().stop()"',
        )
    return ConnectionCheck("build", True, ", ".join(builds))


def _display(options: ThorOptions) -> ConnectionCheck:
    if options.is_player:
        return ConnectionCheck("display", True, "the player needs none")
    if options.platform == "CloudRendering":
        found = shutil.which("vulkaninfo") is not None
        return ConnectionCheck(
            "display",
            found,
            "CloudRendering" if found else "CloudRendering, but no vulkaninfo",
            "install the NVIDIA driver and vulkan-tools",
        )
    display = options.display or os.environ.get("DISPLAY")
    dead = "DISPLAY is not set" if not display else "" if answers(display) else "no X server"
    return ConnectionCheck(
        "display",
        not dead,
        " ".join(part for part in (display, dead) if part),
        "start an X server (Xvfb :1 -screen 0 1024x768x24 & export DISPLAY=:1), or set "
        "CLALFRED_THOR_PLATFORM=CloudRendering on a machine with a GPU",
    )


def answers(display: str) -> bool:
    """Whether an X server listens at a display of this machine; others are taken to be there."""
    host, _, number = display.rpartition(":")
    if host not in ("", "unix"):
        return True
    path = f"/tmp/.X11-unix/X{number.split('.')[0]}"
    for address in (path, f"\0{path}"):
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.connect(address)
            return True
    return False


def _frame(options: ThorOptions) -> ConnectionCheck:
    from gym_clalfred.simulator.thor.link import make_link
    from gym_clalfred.simulator.thor.simulator import label_of

    # Loading does not put the agent anywhere, so any start will do.
    scene = Scene(ROOM_NUMBERS[0], AgentPose(0.0, 0.9, 0.0, 0, 30))
    link = make_link(RenderOptions(), options)
    try:
        objects = link.load(scene).metadata["objects"]
        link.turn(Action.RotateRight.name, 90)
        view = link.sight(None)
    except Exception as error:
        return ConnectionCheck(
            "frame",
            False,
            f"{type(error).__name__}: {error}",
            "see ~/.ai2thor/log/unity.log, and Unity's own Player.log",
        )
    finally:
        link.close()
    shown = "a picture" if view.rgb.std() > 1.0 else "a blank picture"
    return ConnectionCheck(
        "frame",
        view.rgb.std() > 1.0 and bool(objects),
        f"{label_of(options)}: {shown} and {len(objects)} objects",
        "a blank picture mostly means a display without GLX",
    )
