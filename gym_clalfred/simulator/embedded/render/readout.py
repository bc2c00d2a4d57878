"""Compiled kernels that read depth and instances off a drawn view.

What an agent may reach for and where it puts things down rest on them, so they have to be exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.embedded.render.arrays import (
    F32,
    I16,
    I32,
    LANES,
    ONE,
    U8,
    U64,
    ZERO,
    Scratch,
)
from gym_clalfred.simulator.embedded.render.raster import Region
from gym_clalfred.simulator.jit import exact, inlined

#: Pixels that are searched for runs, and shaded, together.
STRETCH = 256

#: Nothing is farther away than 100 m.
LEAST_INVERSE = np.float32(0.01)


@inlined
def find_runs(
    names: NDArray[Any],
    line: np.uint64,
    size: int,
    changes: U8,
    words: U64,
    ends: I32,
) -> int:
    """Number of runs of equal values in a row; ``ends`` gets where each stops.

    ``words`` is the same memory as ``changes``, read eight pixels at a time.
    """
    last = np.uint64(size - 1)
    for k in range(last):
        changes[k] = names[line + k] != names[line + k + np.uint64(1)]
    count = np.uint64(0)
    for k in range(last, min((last | np.uint64(7)) + np.uint64(1), np.uint64(len(changes)))):
        changes[k] = 0
    for w in range((size + 7) >> 3):
        if words[w] != 0:
            at = np.uint64(w << 3)
            for k in range(at, at + np.uint64(8)):
                ends[count] = np.int32(k) + 1
                count += np.uint64(changes[k])
    ends[count] = size
    return int(count) + 1


@exact
def write_depth(inverse_depth: F32, out: F32) -> None:
    """Metres along the optical axis."""
    for k in range(len(out)):
        out[k] = ONE / max(inverse_depth[k], LEAST_INVERSE)


@exact
def write_instances(size: int, owners: I16, scratch: Scratch, out: I16) -> None:
    """Instance of each pixel's polygon; the room's 0 where there is none.

    Like all that is written in blocks, ``out`` is longer than what counts.
    """
    polygons = scratch.polygons
    changes, words, ends = scratch.changes, scratch.words, scratch.ends
    for start in range(0, size * size, STRETCH):
        line = np.uint64(start)
        begin = line
        count = min(STRETCH, size * size - start)
        for run in range(find_runs(polygons, line, count, changes, words, ends)):
            name, end = polygons[begin], line + np.uint64(ends[run])
            owner = owners[np.uint64(np.int32(max(name, ZERO)))] if name >= ZERO else np.int16(0)
            for block in range((end - begin + LANES - np.uint64(1)) // LANES):
                for lane in range(LANES):
                    out[begin + block * LANES + lane] = owner
            begin = end


@exact
def count_instances(
    size: int,
    region: Region,
    owners: I16,
    scratch: Scratch,
    out: I16,
    sums: NDArray[np.int64],
) -> None:
    """Instance of each pixel's polygon within a region, and what ``look`` says of ``sums``.

    Like all that is written in blocks, ``out`` is longer than what counts.
    """
    polygons = scratch.polygons
    changes, words, ends = scratch.changes, scratch.words, scratch.ends
    top, bottom, left, right = region
    for row in range(top, bottom):
        line = np.uint64(row * size + left)
        begin = 0
        # Neighbours mostly show the same thing, so runs are counted rather than pixels.
        for run in range(find_runs(polygons, line, right - left, changes, words, ends)):
            name, end = polygons[line + np.uint64(begin)], int(ends[run])
            owner = owners[np.uint64(np.int32(name))] if name >= ZERO else np.int16(0)
            length = end - begin
            for block in range((np.uint64(length) + LANES - np.uint64(1)) // LANES):
                for lane in range(LANES):
                    out[line + np.uint64(begin) + block * LANES + lane] = owner
            sums[owner, 0] += length
            sums[owner, 1] += length * row
            sums[owner, 2] += length * (2 * left + begin + end - 1) // 2
            begin = end
        for lane in range(LANES):
            out[np.uint64(row * size + right) + lane] = 0
