"""Colours, patterns and light of rooms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.embedded.render.mesh import Colour
from gym_clalfred.simulator.embedded.room_model import Decor

Choice = TypeVar("Choice")

_WALLS: tuple[Colour, ...] = (
    (232, 226, 212),
    (214, 222, 214),
    (205, 217, 228),
    (236, 216, 190),
    (222, 204, 200),
    (198, 206, 190),
    (240, 236, 228),
    (188, 200, 210),
    (226, 210, 170),
    (206, 196, 214),
    (176, 192, 186),
    (228, 190, 168),
)
_WOOD: tuple[Colour, ...] = (
    (150, 108, 70),
    (181, 138, 92),
    (120, 84, 56),
    (200, 164, 120),
    (136, 116, 96),
)
_STONE: tuple[Colour, ...] = (
    (196, 192, 184),
    (150, 148, 146),
    (214, 206, 190),
    (122, 128, 132),
    (206, 190, 170),
    (170, 184, 190),
)
_CARPETS: tuple[Colour, ...] = (
    (166, 150, 132),
    (128, 140, 152),
    (150, 124, 118),
    (132, 146, 124),
    (188, 176, 156),
)

#: Per room type: patterns of walls and floors, the likelier ones more than once.
_WALL_TEXTURES = {
    RoomType.KITCHEN: ("plain", "plain", "tiles", "bricks"),
    RoomType.LIVING_ROOM: ("plain", "plain", "wallpaper", "stripes", "bricks"),
    RoomType.BEDROOM: ("plain", "plain", "wallpaper", "stripes"),
    RoomType.BATHROOM: ("tiles", "tiles", "plain", "marble"),
}
_FLOOR_TEXTURES = {
    RoomType.KITCHEN: ("tiles", "planks", "checks", "terrazzo"),
    RoomType.LIVING_ROOM: ("planks", "planks", "carpet", "wood"),
    RoomType.BEDROOM: ("carpet", "planks", "planks"),
    RoomType.BATHROOM: ("tiles", "checks", "terrazzo", "marble"),
}
_FLOOR_COLOURS = {"planks": _WOOD, "wood": _WOOD, "carpet": _CARPETS}


def make_decor(room_type: RoomType, rng: np.random.Generator) -> Decor:
    """Materials and light for one room."""
    floor_texture = _pick(rng, _FLOOR_TEXTURES[room_type])
    warmth = float(rng.random())
    angle = 2 * math.pi * float(rng.random())
    lift = 0.6 + 0.35 * float(rng.random())
    flat = math.sqrt(1.0 - lift * lift)
    return Decor(
        wall_colour=_vary(rng, _pick(rng, _WALLS)),
        wall_texture=_pick(rng, _WALL_TEXTURES[room_type]),
        floor_colour=_vary(rng, _pick(rng, _FLOOR_COLOURS.get(floor_texture, _STONE))),
        floor_texture=floor_texture,
        ceiling_colour=_vary(rng, (238, 238, 234)),
        light_colour=(1.0, round(0.93 + 0.06 * (1 - warmth), 3), round(1.0 - 0.18 * warmth, 3)),
        light_direction=(
            round(flat * math.cos(angle), 3),
            round(lift, 3),
            round(flat * math.sin(angle), 3),
        ),
        ambient=round(0.42 + 0.2 * float(rng.random()), 3),
    )


def _pick(rng: np.random.Generator, options: Sequence[Choice]) -> Choice:
    return options[int(rng.integers(len(options)))]


def _vary(rng: np.random.Generator, colour: Colour) -> Colour:
    """The colour a little lighter or darker and a little off in hue."""
    shift = int(rng.integers(-12, 13))
    red, green, blue = (
        int(min(250, max(20, value + shift + int(rng.integers(-4, 5))))) for value in colour
    )
    return red, green, blue
