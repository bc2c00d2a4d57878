"""Procedural textures, computed once per process: a seamless tile with its levels of detail each.

A texel multiplies the polygon's colour. Patterns may also tint, so a texture is not only grey. The
smaller levels are means of the larger ones, which keeps distant patterns from flickering.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.mesh import Texture
from gym_clalfred.simulator.embedded.render.placing import TILE

Grid = NDArray[np.float64]

#: A texel of this value leaves the colour as it is; larger ones brighten.
NEUTRAL = 204

LEVELS = 9

_RNG_SEED = 20240507

_ROWS, _COLUMNS = np.mgrid[0:TILE, 0:TILE] / TILE

#: (T,) pattern repeats per tile; ``Paint.scale`` is metres per repeat.
REPEATS = np.ones(len(Texture), dtype=np.float32)
for _texture, _repeats in {
    Texture.WOOD: 2,
    Texture.PLANKS: 8,
    Texture.TILES: 4,
    Texture.BRICKS: 4,
    Texture.MARBLE: 2,
    Texture.STRIPES: 4,
    Texture.CHECKS: 4,
    Texture.WALLPAPER: 4,
    Texture.TERRAZZO: 2,
}.items():
    REPEATS[_texture] = _repeats


def _random(seed: int) -> np.random.Generator:
    return np.random.default_rng(_RNG_SEED + seed)


def _noise(rows: int, columns: int, seed: int) -> Grid:
    """Smooth seamless noise in 0-1 with this many bumps down and across."""
    lattice = _random(seed).random((rows, columns))
    y, x = _ROWS[:, 0] * rows, _COLUMNS[0] * columns
    j, i = y.astype(int), x.astype(int)
    t, s = y - j, x - i
    t, s = (t * t * (3 - 2 * t))[:, None], (s * s * (3 - 2 * s))[None]
    top = lattice[j][:, i] * (1 - s) + lattice[j][:, (i + 1) % columns] * s
    low_rows = lattice[(j + 1) % rows]
    low = low_rows[:, i] * (1 - s) + low_rows[:, (i + 1) % columns] * s
    return top * (1 - t) + low * t


def _clouds(rows: int, columns: int, seed: int, octaves: int = 4) -> Grid:
    """Noise on several scales, in about 0-1."""
    total = np.zeros((TILE, TILE))
    weight = 0.0
    for k in range(octaves):
        share = 0.5**k
        total += share * _noise(min(rows << k, TILE), min(columns << k, TILE), seed + 31 * k)
        weight += share
    return total / weight


def _grey(value: Grid) -> Grid:
    return np.repeat(value[..., None], 3, axis=2)


def _tint(amount: Grid, colour: tuple[float, float, float], onto: Grid) -> Grid:
    """Mixes ``colour`` (1 = the polygon's own) into ``onto`` by ``amount``."""
    return onto * (1 - amount[..., None]) + np.array(colour) * amount[..., None]


def _step(edge: float, value: Grid, width: float = 0.02) -> Grid:
    """0 below the edge, 1 above it, soft over ``width``."""
    return np.clip((value - edge) / width + 0.5, 0, 1)


def _per_cell(rows: int, columns: int, seed: int) -> Grid:
    """One random number in 0-1 for each cell of a grid."""
    cells = _random(seed).random((rows, columns))
    return cells[(_ROWS * rows).astype(int), (_COLUMNS * columns).astype(int)]


def _grain(seed: int) -> Grid:
    """Wood grain along the columns: stretched fibres and wavy year rings."""
    wave = _clouds(3, 1, seed, 3)
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (5 * _ROWS + 3.0 * wave))
    fibres = _clouds(64, 2, seed + 7, 2)
    return 0.86 + 0.13 * rings**1.5 + 0.14 * (fibres - 0.5)


def _plain() -> Grid:
    return _grey(np.ones((TILE, TILE)))


def _wood() -> Grid:
    grain = _grain(1)
    return np.stack([grain, grain**1.15, grain**1.3], axis=2)


def _planks() -> Grid:
    row = (_ROWS * 8).astype(int)
    shift = np.array([0.0, 0.42, 0.17, 0.68, 0.31, 0.85, 0.1, 0.55])[row]
    along = (_COLUMNS + shift) % 1.0
    board = (along * 2).astype(int)
    tone = _random(3).random((8, 2))[row, board]
    grain = _clouds(64, 3, 5, 2)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * (24 * _ROWS + 5 * _clouds(8, 2, 9, 2) + 3 * tone))
    value = 0.84 + 0.2 * tone + 0.12 * (grain - 0.5) + 0.05 * wave
    gap_row = np.minimum((_ROWS * 8) % 1, 1 - (_ROWS * 8) % 1)
    gap_end = np.minimum((along * 2) % 1, 1 - (along * 2) % 1) * 4
    gap = 1 - _step(0.045, np.minimum(gap_row, gap_end), 0.04)
    value = value * (1 - 0.45 * gap)
    return np.stack([value, value**1.1, value**1.22], axis=2)


def _tiles() -> Grid:
    x, y = (_COLUMNS * 4) % 1, (_ROWS * 4) % 1
    edge = np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    grout = 1 - _step(0.022, edge, 0.02)
    bevel = 0.05 * (1 - _step(0.05, edge, 0.05))
    value = 0.97 + 0.06 * _per_cell(4, 4, 11) + 0.05 * (_clouds(8, 8, 12, 3) - 0.5) - bevel
    return _tint(grout, (0.72, 0.71, 0.69), _grey(value))


def _bricks() -> Grid:
    row = (_ROWS * 8).astype(int)
    x = (_COLUMNS * 4 + 0.5 * (row % 2)) % 4
    y = (_ROWS * 8) % 1
    brick = x.astype(int)
    tone = _random(13).random((8, 4))[row, brick]
    edge = np.minimum(np.minimum(x % 1, 1 - x % 1) * 2, np.minimum(y, 1 - y))
    mortar = 1 - _step(0.07, edge, 0.05)
    value = 0.8 + 0.28 * tone + 0.18 * (_clouds(16, 16, 14, 3) - 0.5)
    return _tint(mortar, (1.02, 1.05, 1.1), _grey(value))


def _marble() -> Grid:
    warp = _clouds(2, 2, 15, 5)
    veins = np.abs(np.sin(np.pi * (2 * _COLUMNS + 2 * _ROWS + 3.2 * warp)))
    fine = np.abs(np.sin(np.pi * (3 * _COLUMNS - 2 * _ROWS + 4.5 * _clouds(3, 3, 17, 5))))
    value = 1.04 - 0.3 * (1 - veins) ** 7 - 0.16 * (1 - fine) ** 9 + 0.07 * (warp - 0.5)
    return np.stack([value, value * 0.995, value**0.96], axis=2)


def _fabric() -> Grid:
    threads = 48
    x, y = np.sin(2 * np.pi * threads * _COLUMNS), np.sin(2 * np.pi * threads * _ROWS)
    over = np.where(x * y > 0, np.abs(x), np.abs(y))
    value = (
        0.9 + 0.1 * over + 0.1 * (_clouds(32, 32, 19, 3) - 0.5) + 0.06 * (_clouds(3, 3, 20) - 0.5)
    )
    return _grey(value)


def _carpet() -> Grid:
    value = 0.98 + 0.42 * (_noise(128, 128, 21) - 0.5) + 0.16 * (_clouds(4, 4, 22, 5) - 0.5)
    return _grey(value)


def _metal() -> Grid:
    brushed = 0.6 * _noise(256, 2, 23) + 0.4 * _noise(128, 4, 24)
    sheen = 0.06 * np.sin(2 * np.pi * (_ROWS + 0.2 * np.sin(2 * np.pi * _COLUMNS)))
    return _grey(1.0 + 0.12 * (brushed - 0.5) + sheen)


def _stripes() -> Grid:
    x = (_COLUMNS * 4) % 1
    band = _step(0.5, x, 0.03) - _step(0.98, x, 0.03)
    thread = 0.04 * (_noise(128, 128, 25) - 0.5)
    return _grey(1.02 - 0.36 * band + thread)


def _checks() -> Grid:
    x, y = (_COLUMNS * 4) % 1 < 0.5, (_ROWS * 4) % 1 < 0.5
    value = 1.08 - 0.26 * x - 0.26 * y
    return _grey(value + 0.05 * (_noise(128, 128, 26) - 0.5))


def _blots(count: int, low: float, high: float, seed: int) -> tuple[Grid, NDArray[np.int64]]:
    """Round spots: how much each texel is covered, and which spot covers it."""
    random = _random(seed)
    covered, which = np.zeros((TILE, TILE)), np.zeros((TILE, TILE), dtype=np.int64)
    for k in range(count):
        y, x, radius = random.integers(TILE), random.integers(TILE), random.uniform(low, high)
        stretch, angle = random.uniform(0.5, 1.0), random.uniform(0, np.pi)
        reach = int((radius + 0.01) * TILE) + 1
        offset = np.arange(-reach, reach + 1)
        dy, dx = offset[:, None] / TILE, offset[None] / TILE
        a, b = dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)
        cover = 1 - _step(radius, np.hypot(a, b / stretch), 0.008)
        window = np.ix_((y + offset) % TILE, (x + offset) % TILE)
        which[window] = np.where(cover > 0.3, k, which[window])
        covered[window] = np.maximum(covered[window], cover)
    return covered, which


def _speckles() -> Grid:
    dark, _ = _blots(90, 0.006, 0.016, 27)
    light, _ = _blots(60, 0.005, 0.014, 28)
    value = 1.0 + 0.06 * (_clouds(8, 8, 29) - 0.5)
    return _grey(value - 0.28 * dark + 0.14 * light)


def _leaves() -> Grid:
    covered, which = _blots(70, 0.05, 0.1, 30)
    tone = _random(31).random(70)[which]
    value = 0.55 + covered * (0.25 + 0.4 * tone)
    return np.stack([value * 0.95, value * 1.05, value * 0.9], axis=2)


def _picture() -> Grid:
    """A painting: hills under a sun, in shades around the polygon's colour, in a light mount."""
    sky = _grey(1.15 - 0.35 * _ROWS + 0.1 * (_clouds(3, 2, 33) - 0.5))
    sky = sky * np.array([1.05, 1.0, 0.95])
    sun = 1 - _step(0.1, np.hypot(_COLUMNS - 0.66, _ROWS - 0.32), 0.01)
    sky = _tint(sun, (1.25, 1.1, 0.6), sky)
    tints = ((0.6, 0.75, 1.0), (0.85, 0.6, 0.55), (0.45, 0.6, 0.5), (0.3, 0.32, 0.45))
    for k, colour in enumerate(tints):
        ridge = 0.45 + 0.14 * k + 0.09 * np.sin(2 * np.pi * (_COLUMNS * (1 + 0.5 * k) + 0.3 * k))
        sky = _tint(_step(0.0, _ROWS - ridge, 0.01), colour, sky)
    sky *= (0.96 + 0.1 * _clouds(32, 32, 34, 2))[..., None]
    edge = np.minimum(np.minimum(_COLUMNS, 1 - _COLUMNS), np.minimum(_ROWS, 1 - _ROWS))
    return _tint(1 - _step(0.07, edge, 0.01), (1.2, 1.2, 1.18), sky)


def _text() -> Grid:
    """Lines of words on paper."""
    line = (_ROWS * 12) % 1
    row = (_ROWS * 12).astype(int)
    words = _random(35).random((12, 40))[row, (_COLUMNS * 40).astype(int)] > 0.22
    inside = (_COLUMNS > 0.08) & (_COLUMNS < 0.92) & (line > 0.35) & (line < 0.72)
    return _grey(np.where(inside & words, 0.42, 1.02))


def _glass() -> Grid:
    streak = (_COLUMNS + _ROWS) % 1
    shine = np.exp(-(((streak - 0.3) / 0.06) ** 2)) + 0.6 * np.exp(-(((streak - 0.45) / 0.03) ** 2))
    return _grey(0.96 + 0.2 * shine + 0.06 * (0.5 - _ROWS))


def _sky() -> Grid:
    """The view from a window: sky, clouds, far hills and near trees."""
    blue = np.stack([0.55 + 0.38 * _ROWS, 0.75 + 0.24 * _ROWS, np.full_like(_ROWS, 1.06)], axis=2)
    cloud = np.clip((_clouds(4, 3, 36, 5) - 0.5) * 4.5, 0, 1) * (1 - _ROWS) ** 0.4
    view = _tint(cloud * 0.9, (1.12, 1.12, 1.14), blue)
    hills = 0.72 + 0.04 * np.sin(2 * np.pi * _COLUMNS) + 0.02 * np.sin(6 * np.pi * _COLUMNS + 1)
    view = _tint(_step(0.0, _ROWS - hills, 0.01), (0.55, 0.7, 0.72), view)
    trees = 0.8 + 0.09 * (_clouds(1, 10, 37, 3)[0] - 0.5)[None]
    foliage = 0.7 + 0.6 * _clouds(24, 24, 38, 3)
    green = foliage[..., None] * np.array([0.34, 0.5, 0.26])
    amount = _step(0.0, _ROWS - trees, 0.012)[..., None]
    return view * (1 - amount) + green * amount


def _bread() -> Grid:
    pores, _ = _blots(120, 0.006, 0.018, 39)
    return _grey(1.0 + 0.12 * (_clouds(12, 12, 40) - 0.5) - 0.16 * pores)


def _burner() -> Grid:
    """Concentric rings of a hob, to the polygon's edge."""
    radius = np.hypot(_COLUMNS - 0.5, _ROWS - 0.5)
    rings = 0.5 + 0.5 * np.cos(2 * np.pi * radius * 9)
    value = np.where(radius < 0.46, 0.55 + 0.6 * _step(0.5, rings, 0.3), 0.75)
    return _grey(value)


def _keys() -> Grid:
    """Rows of keys, as on a keyboard, a remote control or a phone."""
    row = (_ROWS * 5).astype(int)
    x, y = (_COLUMNS * 12 + 0.4 * (row % 2)) % 1, (_ROWS * 5) % 1
    edge = np.minimum(np.minimum(x, 1 - x), np.minimum(y, 1 - y))
    key = _step(0.12, edge, 0.06)
    space = (row == 4) & (_COLUMNS > 0.3) & (_COLUMNS < 0.7) & (y > 0.12) & (y < 0.88)
    return _grey(0.6 + 0.55 * np.maximum(key, space))


def _wallpaper() -> Grid:
    """A quiet damask: diamonds of small flowers in two tones."""
    row = (_ROWS * 4).astype(int)
    x, y = ((_COLUMNS * 4 + 0.5 * (row % 2)) % 1) - 0.5, ((_ROWS * 4) % 1) - 0.5
    angle, radius = np.arctan2(y, x), np.hypot(x, y)
    flower = 1 - _step(0.2 + 0.1 * 1.0, radius + 0.09 * np.cos(6 * angle), 0.05)
    heart = 1 - _step(0.08, radius, 0.03)
    stripe = 0.012 * np.sin(2 * np.pi * 4 * _COLUMNS)
    return _grey(1.0 - 0.085 * flower + 0.07 * heart + stripe + 0.02 * (_noise(128, 128, 41) - 0.5))


def _terrazzo() -> Grid:
    covered, which = _blots(160, 0.012, 0.034, 42)
    tints = _random(43).uniform(0.72, 1.16, (160, 3))
    tints = 0.6 * tints + 0.4 * tints.mean(axis=1, keepdims=True)
    ground = _grey(1.0 + 0.05 * (_noise(64, 64, 44) - 0.5))
    return ground * (1 - covered[..., None]) + tints[which] * covered[..., None]


_MAKERS: dict[Texture, Callable[[], Grid]] = {
    Texture.PLAIN: _plain,
    Texture.WOOD: _wood,
    Texture.PLANKS: _planks,
    Texture.TILES: _tiles,
    Texture.BRICKS: _bricks,
    Texture.MARBLE: _marble,
    Texture.FABRIC: _fabric,
    Texture.CARPET: _carpet,
    Texture.METAL: _metal,
    Texture.STRIPES: _stripes,
    Texture.CHECKS: _checks,
    Texture.SPECKLES: _speckles,
    Texture.LEAVES: _leaves,
    Texture.PICTURE: _picture,
    Texture.TEXT: _text,
    Texture.GLASS: _glass,
    Texture.SKY: _sky,
    Texture.BREAD: _bread,
    Texture.BURNER: _burner,
    Texture.KEYS: _keys,
    Texture.WALLPAPER: _wallpaper,
    Texture.TERRAZZO: _terrazzo,
}


@cache
def texture_atlas() -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """All texels, red | green << 8 | blue << 16, and (T, LEVELS) where each level begins."""
    sheets = np.zeros((len(Texture), TILE + TILE // 2, TILE), dtype=np.uint32)
    starts = np.zeros((len(Texture), LEVELS), dtype=np.int32)
    for texture in Texture:
        sheet = sheets[texture]
        # Means are taken of light (about the square), not of display values.
        light = np.square(np.clip(_MAKERS[texture](), 0, 1.25).astype(np.float32))
        for level in range(LEVELS):
            values = np.rint(np.sqrt(light) * NEUTRAL).astype(np.uint32)
            packed = values[..., 0] | values[..., 1] << 8 | values[..., 2] << 16
            # Smaller levels lie side by side in rows as long as the tile's.
            row, column = (0, 0) if level == 0 else (TILE, TILE - 2 * len(light))
            sheet[row : row + len(light), column : column + len(light)] = packed
            starts[texture, level] = texture * sheet.size + row * TILE + column
            if level + 1 < LEVELS:
                half = len(light) // 2
                light = light.reshape(half, 2, half, 2, 3).mean(axis=(1, 3))
    return sheets.reshape(-1), starts
