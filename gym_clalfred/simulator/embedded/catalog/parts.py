"""Where the parts of a fixture sit: basins, faucets, burners and knobs.

There is no class for a cooking range: it is a ``CounterTop`` with the style bit ``STOVE``, whose
burners and knobs are fixtures of their own. A ``Sink`` is a whole piece of counter (or a pedestal,
style bit ``PEDESTAL``) with a hole for its ``SinkBasin``; it stands between counters of the same
height and depth. A ``CounterTop`` with the style bit ``HOLLOW`` has a slab, sides and back only, to
be filled with cabinets; drawers may be built into any solid body, their front 1 cm before its
front.
"""

from __future__ import annotations

from dataclasses import dataclass

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector

#: Thickness of a counter's slab.
SLAB = 0.04


@dataclass(frozen=True)
class Part:
    """A part's class, the centre of its base in the frame of the whole, and its extents."""

    object_class: ObjectClass
    offset: Vector
    size: Vector


def sink_basin(size: Vector) -> Part:
    """The basin of a ``Sink``: the hole in its top, open above."""
    width, height, depth = size
    wide, deep = min(0.62, width - 0.16), min(0.42, depth - 0.18)
    low = 0.18 if height > 0.5 else 0.6 * height
    return Part(
        ObjectClass.SinkBasin, (0.0, height - low, 0.03 if depth > 0.4 else 0.0), (wide, low, deep)
    )


def sink_faucet(size: Vector) -> Part:
    """The faucet that stands behind the basin of a ``Sink``; its water falls into the basin."""
    basin = sink_basin(size)
    behind = basin.offset[2] - basin.size[2] / 2
    reach = 0.5 * basin.size[2] + 0.05
    deep = round(min(0.2, reach), 3)
    return Part(ObjectClass.Faucet, (0.0, size[1], behind - 0.055 + deep / 2), (0.2, 0.28, deep))


def bathtub_basin(size: Vector) -> Part:
    """The basin of a ``Bathtub``: its hollow inside."""
    width, height, depth = size
    return Part(
        ObjectClass.BathtubBasin, (0.0, 0.1, 0.0), (width - 0.16, height - 0.1, depth - 0.16)
    )


def bathtub_faucet(size: Vector) -> Part:
    """The faucet of a ``Bathtub``, on the rim at its back."""
    return Part(ObjectClass.Faucet, (0.0, size[1], -size[2] / 2 + 0.1), (0.16, 0.2, 0.18))


def stove_area(size: Vector) -> float:
    """Width of the part of a range's top, at its middle, that belongs to the burners."""
    return min(size[0], 0.76)


def stove_burners(size: Vector) -> tuple[Part, ...]:
    """Four burners on top of a range of at least 0.55 x 0.55 m."""
    x, z = 0.25 * stove_area(size), 0.22 * size[2]
    return tuple(
        Part(ObjectClass.StoveBurner, (side * x, size[1], row * z), (0.22, 0.018, 0.22))
        for row in (-1, 1)
        for side in (-1, 1)
    )


def stove_knobs(size: Vector) -> tuple[Part, ...]:
    """Four knobs in the panel at the front of a range, one per burner in the same order."""
    return tuple(
        Part(
            ObjectClass.StoveKnob,
            (k * 0.2 * stove_area(size), size[1] - 0.105, size[2] / 2 + 0.015),
            (0.046, 0.046, 0.03),
        )
        for k in (-1.5, -0.5, 0.5, 1.5)
    )
