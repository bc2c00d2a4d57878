"""Where an agent can stand: what is listed, where experts stood, and one step farther."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.contract import GRID_METRES
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS

#: What begins higher is walked under, and what ends lower is walked over, in metres.
_OVERHEAD = 1.8
_UNDERFOOT = 0.1

_STEPS = ((GRID_METRES, 0.0), (-GRID_METRES, 0.0), (0.0, GRID_METRES), (0.0, -GRID_METRES))


def fill_in(
    points: NDArray[np.float64], boxes: NDArray[np.float64]
) -> frozenset[tuple[float, float]]:
    """Grid points on which an agent can stand.

    ALFRED's layouts leave out the outermost row of what AI2-THOR's agent reaches on many sides: a
    neighbour of a known point is one too if the agent's body is clear of all furniture there.

    Args:
        points: (N, 2) known to be free.
        boxes: (M, 6) of everything solid.
    """
    known = {(float(x), float(z)) for x, z in points}
    beside = {(x + dx, z + dz) for x, z in known for dx, dz in _STEPS} - known
    solid = boxes[(boxes[:, 1] < _OVERHEAD) & (boxes[:, 4] > _UNDERFOOT)]
    for x, z in beside:
        dx = np.maximum.reduce([solid[:, 0] - x, x - solid[:, 3], np.zeros(len(solid))])
        dz = np.maximum.reduce([solid[:, 2] - z, z - solid[:, 5], np.zeros(len(solid))])
        if not (np.hypot(dx, dz) < AGENT_RADIUS).any():
            known.add((x + 0.0, z + 0.0))
    return frozenset(known)
