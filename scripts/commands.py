"""``clalfred``: all commands under one name, and how each starts.

Nothing slow is imported before the command is known; Ctrl-C during imports prints one line.
"""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from functools import partial

#: Every command and what it does; ``clalfred-NAME`` is the same as ``clalfred NAME``.
COMMANDS = {
    "train": "train and evaluate one agent on a stream of tasks",
    "evaluate": "evaluate a trained agent on episodes of your choice",
    "record": "film an agent, the expert or a person",
    "report": "tables and a page from finished runs",
    "sweep": "many runs: methods, setups, orders and seeds",
    "submit": "make submissions to the board from finished runs",
    "verify": "replay submissions to the board and list the verified ones",
    "generate": "make the episodes of a tier",
    "data": "import ALFRED's data, and see what there is",
    "play": "be the agent yourself, in a window or the browser",
    "player": "stand in for AI2-THOR's Unity program",
    "doctor": "check this installation",
}


def main() -> None:
    """Runs the command that the first argument names, or lists all of them."""
    name, *rest = sys.argv[1:] or ["--help"]
    if name in COMMANDS:
        sys.argv[1:] = rest
        start(name, f"clalfred {name}")
    elif name in ("--help", "-h", "help"):
        print(_overview())
    elif name == "--version":
        from gym_clalfred import __version__

        print(f"cl-alfred-gym {__version__}")
    else:
        import difflib

        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        print(f"Error: no command {name!r}: {hint}known are {', '.join(COMMANDS)}", file=sys.stderr)
        sys.exit(2)


def start(name: str, shown: str | None = None) -> None:
    """Imports a command and runs it with the arguments of this process.

    Args:
        name: one of ``COMMANDS``.
        shown: what its help calls it; ``clalfred-NAME`` by default.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")  # a dash that latin-1 lacks is no reason to fail
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # else nobody is to hear it
        signal.signal(signal.SIGINT, _leave)
    command = importlib.import_module(f"clalfred.scripts.{name}").main
    signal.signal(signal.SIGINT, before)
    command(prog_name=shown or f"clalfred-{name}")


def _leave(number: int, frame: object) -> None:
    """Ends at once: an exception could leave an import half done, and be taken for its failure."""
    os.write(2, b"\nInterrupted.\n")
    os._exit(128 + number)


def _overview() -> str:
    lines = [f"  {name:10}{text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: clalfred COMMAND [OPTIONS]",
            "",
            "  Continual learning of household tasks from instructions.",
            "",
            "Commands (clalfred COMMAND --help says more, clalfred-COMMAND is the same):",
            *lines,
        ]
    )


train, evaluate, record, report, sweep, submit, verify, generate, data, play, player, doctor = (
    partial(start, name) for name in COMMANDS
)


if __name__ == "__main__":
    main()
