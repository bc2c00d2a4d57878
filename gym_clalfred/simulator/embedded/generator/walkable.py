"""Where the agent can stand: grid points at which its cylinder touches neither wall nor fixture."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gym_clalfred.simulator.contract import GRID_METRES
from gym_clalfred.simulator.embedded.generator.floor_plan import BODY_METRES, box_of
from gym_clalfred.simulator.embedded.generator.shell import Shell
from gym_clalfred.simulator.embedded.room_model import AGENT_RADIUS, Fixture


def free_points(shell: Shell, fixtures: Iterable[Fixture]) -> set[tuple[int, int]]:
    """All free grid points, in units of ``GRID_METRES``, connected or not."""
    b, radius = shell.bounds, AGENT_RADIUS - 1e-6
    i0, i1 = np.ceil((b.x0 + radius) / GRID_METRES), np.floor((b.x1 - radius) / GRID_METRES)
    j0, j1 = np.ceil((b.z0 + radius) / GRID_METRES), np.floor((b.z1 - radius) / GRID_METRES)
    i, j = np.arange(int(i0), int(i1) + 1), np.arange(int(j0), int(j1) + 1)
    solids = [box_of(f.position, f.size, f.yaw) for f in fixtures if f.solid]
    boxes = [(s.x0, s.x1, s.z0, s.z1) for s in solids if s.y0 < BODY_METRES and s.y1 > 0.02]
    if shell.notch is not None:
        boxes.append((shell.notch.x0, shell.notch.x1, shell.notch.z0, shell.notch.z1))
    x0, x1, z0, z1 = (np.array(column) for column in zip(*boxes))
    x, z = i * GRID_METRES, j * GRID_METRES
    dx = np.maximum(np.maximum(x0 - x[:, None], x[:, None] - x1), 0.0)
    dz = np.maximum(np.maximum(z0 - z[:, None], z[:, None] - z1), 0.0)
    blocked = (dx[:, None, :] ** 2 + dz[None, :, :] ** 2 < radius**2).any(axis=2)
    return {(int(i[a]), int(j[b])) for a, b in np.argwhere(~blocked)}


def largest_component(points: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The largest set of points that moves of one grid step connect."""
    best: set[tuple[int, int]] = set()
    rest = set(points)
    for start in sorted(points):
        if start not in rest:
            continue
        rest.remove(start)
        component, edge = {start}, [start]
        while edge:
            i, j = edge.pop()
            for neighbour in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if neighbour in rest:
                    rest.remove(neighbour)
                    component.add(neighbour)
                    edge.append(neighbour)
        if len(component) > len(best):
            best = component
    return best
