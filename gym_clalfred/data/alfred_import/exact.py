"""Arithmetic that gives the same bits on every processor.

numpy's sines and logarithms, its sums of products and LAPACK's solutions differ in their last bit
between processors: each has kernels of its own for what it finds. One bit decides which of two
shapes is taken, and the label of a store with it. What is written here uses the C library's
functions, and products and sums one by one in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.simulator.jit import kernel

Floats = NDArray[np.float64]


def sines(degrees: Floats) -> tuple[Floats, Floats]:
    """(N,) sines and cosines of N angles."""
    angles = [math.radians(angle) for angle in degrees.tolist()]
    return np.array([math.sin(a) for a in angles]), np.array([math.cos(a) for a in angles])


def exp(values: Floats) -> Floats:
    """(N,) exponentials."""
    return _each(math.exp, values)


def log(values: Floats) -> Floats:
    """(N,) natural logarithms."""
    return _each(math.log, values)


def log1p(values: Floats) -> Floats:
    """(N,) natural logarithms of one more than the values."""
    return _each(math.log1p, values)


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    return np.array([function(value) for value in values.tolist()], dtype=np.float64)


def along(vectors: NDArray[np.floating], direction: NDArray[np.floating]) -> Floats:
    """(...) products of vectors (..., 3) with one direction (..., 3)."""
    x, y, z = (vectors[..., k] * direction[..., k] for k in range(3))
    return np.asarray(x + y + z)


def normal_equations(jacobian: Floats, weights: Floats, residuals: Floats) -> tuple[Floats, Floats]:
    """(K, K) and (K,) of a least-squares step: weighted squares and products with residuals.

    Args:
        jacobian: (N, K).
        weights: (N,).
        residuals: (N,).
    """
    weighted = jacobian * weights[:, None]
    squares = (weighted[:, :, None] * jacobian[:, None, :]).sum(axis=0)
    return squares, (weighted * residuals[:, None]).sum(axis=0)


@kernel()
def solve(matrix: Floats, right: Floats) -> Floats:
    """(K,) solution of a symmetric positive definite system, by Cholesky's method."""
    count = len(right)
    low = np.zeros((count, count))
    result = right.copy()
    for i in range(count):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= low[i, k] * low[j, k]
            low[i, j] = np.sqrt(total) if i == j else total / low[j, j]
        for k in range(i):
            result[i] -= low[i, k] * result[k]
        result[i] /= low[i, i]
    for back in range(count):
        i = count - 1 - back
        for k in range(i + 1, count):
            result[i] -= low[k, i] * result[k]
        result[i] /= low[i, i]
    return result


def line(
    places: Sequence[float], values: Sequence[float], weights: Sequence[float]
) -> tuple[float, float]:
    """Slope and start of the line that is nearest to at least two points, by weighted squares."""
    squares = [weight * weight for weight in weights]
    total = math.fsum(squares)
    middle = math.fsum(w * x for w, x in zip(squares, places)) / total
    level = math.fsum(w * y for w, y in zip(squares, values)) / total
    spread = math.fsum(w * (x - middle) ** 2 for w, x in zip(squares, places))
    slope = math.fsum(w * (x - middle) * (y - level) for w, x, y in zip(squares, places, values))
    slope /= spread
    return slope, level - slope * middle
