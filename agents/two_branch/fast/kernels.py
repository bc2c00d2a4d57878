"""Compiled kernels of the network's recurrences on a CPU, in float32.

At a step of a recurrence there are few rows, and most of the time goes into calling a dozen
routines. One kernel does all steps of an LSTM here, and products are made in the simplest order:
row times matrix, four terms of the sums at a time, all columns side by side. That is quicker than
the usual libraries at these sizes, a row's result does not depend on its neighbours, and since
nothing is reordered or approximated by the processor's own means, it is the same everywhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

F32 = NDArray[np.float32]
I64 = NDArray[np.int64]

#: Rows and columns that are multiplied together: their results stay in the first cache.
ROWS = np.uint64(16)
COLUMNS = np.uint64(256)

ZERO, HALF, ONE, TWO = (np.float32(value) for value in (0.0, 0.5, 1.0, 2.0))
_N0, _N1, _N2, _N3, _N4 = (np.uint64(value) for value in range(5))

#: Beyond this, exp is held constant, so that powers of two stay normal numbers.
_FARTHEST = np.float32(87.0)

#: tanh is 1 beyond this.
_SATURATED = np.float32(10.0)

#: Below this, tanh is a polynomial: 1 - 2 / (exp(2 x) + 1) would lose digits.
_NEAR_ZERO = np.float32(0.625)

_PER_LN2 = np.float32(1 / np.log(2))
#: ln 2 in two parts, the first of few digits, so that whole multiples of it are exact.
_LN2_HIGH = np.float32(0.693359375)
_LN2_LOW = np.float32(np.log(2) - 0.693359375)

# Best approximations by polynomials: (exp(x) - 1 - x) / x^2 for |x| <= ln(2) / 2, with a relative
# error of exp of 3e-9, and (tanh(x) - x) / x^3 in x^2 for |x| <= 0.625, 4e-9.
_E0, _E1, _E2, _E3, _E4 = (
    np.float32(value)
    for value in (0.49999994, 0.16666521, 0.04166839, 0.00836871, 0.001381461)
)  # fmt: skip
_T0, _T1, _T2, _T3, _T4 = (
    np.float32(value)
    for value in (-0.3333328, 0.13331442, -0.05373971, 0.020639079, -0.0057049785)
)  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def exp(x: np.float32) -> np.float32:
    """e to the power of x, within two units of the last place for |x| <= 87."""
    x = _FARTHEST if x > _FARTHEST else x  # as comparisons, which vector instructions can do
    x = -_FARTHEST if x < -_FARTHEST else x
    whole = np.floor(x * _PER_LN2 + HALF)
    rest = x - whole * _LN2_HIGH - whole * _LN2_LOW
    tail = (((_E4 * rest + _E3) * rest + _E2) * rest + _E1) * rest + _E0
    power = np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)
    return (ONE + rest + rest * rest * tail) * power


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + e^-x)."""
    return ONE / (ONE + exp(-x))


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def tanh(x: np.float32) -> np.float32:
    """The hyperbolic tangent."""
    size = -x if x < ZERO else x
    size = _SATURATED if size > _SATURATED else size
    square = size * size
    tail = (((_T4 * square + _T3) * square + _T2) * square + _T1) * square + _T0
    near = size + size * square * tail
    far = ONE - TWO / (exp(TWO * size) + ONE)
    found = near if size < _NEAR_ZERO else far
    return found if x >= ZERO else -found


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _add_to_tile(
    x: F32,
    first: np.uint64,
    height: np.uint64,
    matrix: F32,
    left: int,
    width: np.uint64,
    tile: F32,
) -> None:
    """``add_rows`` for ``height`` rows of x and ``width`` columns of the matrix from ``left`` on.

    Two rows share what is read of the matrix. Without a second one the last counts twice, and
    what becomes of it in the tile is not used.
    """
    terms = np.uint64(matrix.shape[0])
    whole = terms - terms % _N4
    for k in range(_N0, whole, _N4):
        for i in range(_N0, height, _N2):
            one, other = first + i, first + min(i + _N1, height - _N1)
            a, b, c, d = x[one, k], x[one, k + _N1], x[one, k + _N2], x[one, k + _N3]
            e, f, g, h = x[other, k], x[other, k + _N1], x[other, k + _N2], x[other, k + _N3]
            to = i * COLUMNS
            for j in range(width):
                p, q = matrix[k, left + j], matrix[k + _N1, left + j]
                r, s = matrix[k + _N2, left + j], matrix[k + _N3, left + j]
                tile[to + j] = tile[to + j] + a * p + b * q + c * r + d * s
                tile[to + COLUMNS + j] = tile[to + COLUMNS + j] + e * p + f * q + g * r + h * s
    for k in range(whole, terms):
        for i in range(height):
            a, to = x[first + i, k], i * COLUMNS
            for j in range(width):
                tile[to + j] = tile[to + j] + a * matrix[k, left + j]


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(
    x: F32, first: int, count: int, matrix: F32, out: F32, place: int, fresh: bool = False
) -> None:
    """Adds the product of ``count`` rows of x, from ``first`` on, to rows of out from ``place`` on.

    Args:
        x: (N, k).
        first: row of x.
        count: how many.
        matrix: (k, m).
        out: (M, m).
        place: row of out.
        fresh: whether to take these rows of out for zeros, whatever they hold.
    """
    columns = np.uint64(matrix.shape[1])
    source, target, rows = np.uint64(first), np.uint64(place), np.uint64(count)
    # One array with constant distances tells the compiler that rows do not overlap.
    tile = np.zeros(ROWS * COLUMNS, np.float32)
    for left in range(_N0, columns, COLUMNS):
        width = min(COLUMNS, columns - left)
        for begin in range(_N0, rows, ROWS):
            height = min(ROWS, rows - begin)
            for i in range(height):
                for j in range(width):
                    tile[i * COLUMNS + j] = ZERO if fresh else out[target + begin + i, left + j]
            _add_to_tile(x, source + begin, height, matrix, left, width, tile)
            for i in range(height):
                for j in range(width):
                    out[target + begin + i, left + j] = tile[i * COLUMNS + j]


@njit(cache=True, nogil=True, error_model="numpy")
def add_products(x: F32, matrices: F32, out: F32) -> None:
    """Adds x (D, n, k) times matrices (D, k, m) to out (D, n, m)."""
    for d in range(len(x)):
        add_rows(x[d], 0, x.shape[1], matrices[d], out[d], 0)


@njit(cache=True, nogil=True, error_model="numpy")
def read_forward(
    gates: F32,
    weights: F32,
    active: I64,
    before: F32,
    hidden: F32,
    cells: F32,
    squashed: F32,
) -> None:
    """All steps of D LSTMs over ragged sequences, whose steps are laid out time by time.

    Args:
        gates: (D, N, 4 H) the inputs' part of the gates; becomes the open shares of input and
            forget gate, the candidate and the open share of the output gate.
        weights: (D, H, 4 H) from the hidden state.
        active: (T,) how many sequences have a step at each time, falling.
        before: (D, N, H) out: the hidden state before each step.
        hidden: (D, N, H) out: after it.
        cells: (D, N, H) out: the cell state after it.
        squashed: (D, N, H) out: its tanh.
    """
    width = np.uint64(weights.shape[1])
    for d in range(len(weights)):
        gate, state, cell, flat, last = gates[d], hidden[d], cells[d], squashed[d], before[d]
        start, earlier = 0, 0
        for t in range(len(active)):
            n = active[t]
            if t == 0:
                last[:n] = ZERO
            else:
                last[start : start + n] = state[earlier : earlier + n]
                add_rows(last, start, n, weights[d], gate, start)
            for i in range(n):
                row, old = np.uint64(start + i), np.uint64(earlier + i)
                # Many short loops: of one over everything the compiler would make no vectors.
                for j in range(_N2 * width):
                    gate[row, j] = sigmoid(gate[row, j])
                for j in range(_N2 * width, _N3 * width):
                    gate[row, j] = tanh(gate[row, j])
                for j in range(_N3 * width, _N4 * width):
                    gate[row, j] = sigmoid(gate[row, j])
                for j in range(width):
                    cell[row, j] = gate[row, j] * gate[row, _N2 * width + j]
                if t > 0:
                    for j in range(width):
                        cell[row, j] = gate[row, width + j] * cell[old, j] + cell[row, j]
                for j in range(width):
                    flat[row, j] = tanh(cell[row, j])
                for j in range(width):
                    state[row, j] = gate[row, _N3 * width + j] * flat[row, j]
            earlier = start
            start += n


@njit(cache=True, nogil=True, error_model="numpy")
def read_backward(
    gradient: F32,
    gates: F32,
    weights: F32,
    active: I64,
    cells: F32,
    squashed: F32,
    d_gates: F32,
) -> None:
    """Gradients of the gates' inputs, of what ``read_forward`` did.

    Args:
        gradient: (D, N, H) of the hidden states.
        gates: (D, N, 4 H) as ``read_forward`` left them.
        weights: (D, 4 H, H) its weights, turned.
        active: (T,) as there.
        cells: (D, N, H) from there.
        squashed: (D, N, H) from there.
        d_gates: (D, N, 4 H) out.
    """
    width, most = np.uint64(weights.shape[2]), active[0]
    d_state = np.empty((most, weights.shape[2]), np.float32)
    d_cell = np.empty((most, weights.shape[2]), np.float32)
    for d in range(len(weights)):
        gate, cell, flat, slope, wanted = gates[d], cells[d], squashed[d], d_gates[d], gradient[d]
        d_state[:], d_cell[:] = ZERO, ZERO
        start = gradient.shape[1]
        for t in range(len(active) - 1, -1, -1):
            n = active[t]
            start -= n
            earlier = start - active[t - 1] if t > 0 else 0
            for i in range(n):
                row, old, at = np.uint64(start + i), np.uint64(earlier + i), np.uint64(i)
                for j in range(width):
                    d_state[at, j] = wanted[row, j] + d_state[at, j]
                for j in range(width):
                    output, soft = gate[row, _N3 * width + j], flat[row, j]
                    slope[row, _N3 * width + j] = d_state[at, j] * (
                        soft * (output - output * output)
                    )
                for j in range(width):
                    output, soft = gate[row, _N3 * width + j], flat[row, j]
                    d_cell[at, j] = d_state[at, j] * (output - output * soft * soft) + d_cell[at, j]
                for j in range(width):
                    enter, candidate = gate[row, j], gate[row, _N2 * width + j]
                    slope[row, j] = d_cell[at, j] * (candidate * (enter - enter * enter))
                for j in range(width):
                    enter, candidate = gate[row, j], gate[row, _N2 * width + j]
                    slope[row, _N2 * width + j] = d_cell[at, j] * (
                        enter - enter * candidate * candidate
                    )
                if t > 0:
                    for j in range(width):
                        forget = gate[row, width + j]
                        slope[row, width + j] = d_cell[at, j] * (
                            cell[old, j] * (forget - forget * forget)
                        )
                else:
                    slope[row, width : _N2 * width] = ZERO
                for j in range(width):
                    d_cell[at, j] = d_cell[at, j] * gate[row, width + j]
            if t > 0:
                d_state[:n] = ZERO
                add_rows(slope, start, n, weights[d], d_state, 0)
