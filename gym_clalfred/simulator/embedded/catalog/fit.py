"""The rule by which an item fits on a surface, and the posture it takes there.

An item stands with its own axes parallel to its holder's, turned by a multiple of 90 degrees. Its
footprint may stick out over an edge of the surface by ``Surface.overhang`` of its extent, its
height must not exceed the clearance. A few items change posture in a few holders: cutlery stands in
a mug, a towel hangs, a bottle lies in a drawer. All of these are one turn about the item's own
x axis, called tipped: extents (w, h, d) become (w, d, h).
"""

from __future__ import annotations

from gym_clalfred.objects import CLASSES, ObjectClass, classes
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.room_model import Rectangle, Surface

#: Slack in metres for positions that went through rounding.
TOLERANCE = 1e-6

_TIPPED_IN = {kind: classes(one.tips_in) for kind, one in CLASSES.items() if one.tips_in}


def is_tipped(item: ObjectClass, holder: ObjectClass | None) -> bool:
    """Whether ``item`` takes its tipped posture in ``holder`` (None: held or on nothing)."""
    return holder is not None and holder in _TIPPED_IN.get(item, ())


def posed_size(size: Vector, tipped: bool) -> Vector:
    """Extents in the posture the item takes, before its yaw."""
    return (size[0], size[2], size[1]) if tipped else size


def centres(surface: Surface, size: Vector, sideways: bool = False) -> Rectangle | None:
    """Where the centre of an item may be so that it fits on an empty ``surface``.

    Args:
        surface: of the holder, in the holder's frame.
        size: extents of the item in the posture it takes there (``posed_size``).
        sideways: the item's yaw relative to the holder is 90 or 270 degrees.

    Returns:
        The allowed rectangle in the holder's frame, possibly a single point; None if it cannot fit.
    """
    width, height, depth = size
    if sideways:
        width, depth = depth, width
    if height > surface.clearance + TOLERANCE:
        return None
    reach = 0.5 - surface.overhang
    area = surface.area
    x0, x1 = area.x0 + reach * width, area.x1 - reach * width
    z0, z1 = area.z0 + reach * depth, area.z1 - reach * depth
    if x1 < x0 - TOLERANCE or z1 < z0 - TOLERANCE:
        return None
    return Rectangle(min(x0, x1), min(z0, z1), max(x0, x1), max(z0, z1))


def fits(surface: Surface, size: Vector) -> bool:
    """Whether an item of these extents fits on the empty surface, turned one way or the other."""
    return any(centres(surface, size, sideways) is not None for sideways in (False, True))
