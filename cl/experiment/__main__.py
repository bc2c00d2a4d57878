"""``python -m clalfred.cl.experiment CONFIG_JSON FOLDER``: one run, for sweeps.

With ``--no-media`` it makes no plots and videos. With ``--with-parent`` it ends when its input
does, and waits for a run that is just ending in this way.
"""

from __future__ import annotations

import json
import signal
import sys
from types import FrameType

from clalfred.cl.experiment.children import PATIENCE_SECONDS, REFUSED, end_with_parent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.run import train
from gym_clalfred.errors import ClAlfredError, SimulatorError, StorageError

#: What may go better another time.
_PASSING = (SimulatorError, StorageError)


def main(arguments: list[str]) -> int:
    """Gives the exit code; errors end in one line."""
    config, folder, *rest = arguments
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt_once)
    with_parent = "--with-parent" in rest
    if with_parent:
        end_with_parent()
    try:
        train(
            RunConfig.from_dict(json.loads(config)),
            folder,
            device="cpu",
            media="--no-media" not in rest,
            wait_seconds=1.5 * PATIENCE_SECONDS if with_parent else 0.0,
        )
    except ClAlfredError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1 if isinstance(error, _PASSING) else REFUSED
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """Ctrl-C comes from the terminal and from the sweep; the second must not disturb the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
