"""What every object class looks like, how large it is and where it holds things.

``model_of`` finds the model of a class, ``build_mesh`` its cached mesh, ``style_of`` the style that
a name stands for. How items fit on surfaces is in ``fit``, where basins, faucets, burners and knobs
sit in ``parts``.
"""

from __future__ import annotations

from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.catalog.fit import centres, fits, is_tipped, posed_size
from gym_clalfred.simulator.embedded.catalog.measured import build_blocks
from gym_clalfred.simulator.embedded.catalog.models import Model, build_mesh, model_of
from gym_clalfred.simulator.embedded.catalog.style import (
    BOARD,
    HOLLOW,
    MIRRORED,
    NO_SHELVES,
    ONE_DOOR,
    PEDESTAL,
    STOVE,
    style_of,
)

__all__ = [
    "BOARD",
    "HOLLOW",
    "MIRRORED",
    "NO_SHELVES",
    "ONE_DOOR",
    "PEDESTAL",
    "STOVE",
    "Appearance",
    "Model",
    "build_blocks",
    "build_mesh",
    "centres",
    "fits",
    "is_tipped",
    "model_of",
    "posed_size",
    "style_of",
]
