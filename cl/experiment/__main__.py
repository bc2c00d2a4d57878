"""``python -m cl.experiment CONFIG_JSON FOLDER [--no-media]``: one run, for sweeps."""

from __future__ import annotations

import json
import sys

from cl.experiment.config import RunConfig
from cl.experiment.run import train
from gym_clalfred.errors import ClAlfredError


def main(arguments: list[str]) -> int:
    """Gives the exit code; errors end in one line."""
    config, folder, *rest = arguments
    try:
        train(
            RunConfig.from_dict(json.loads(config)),
            folder,
            device="cpu",
            media="--no-media" not in rest,
        )
    except ClAlfredError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
