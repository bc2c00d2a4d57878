"""The compiled kernels of the recurrences: against plain formulas, and the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit
from numpy.typing import NDArray

from clalfred.agents.two_branch.fast import kernels, products, recurrence
from clalfred.agents.two_branch.fast.products import multiply, product

F32 = NDArray[np.float32]


def over(function: Callable[[np.float32], np.float32], values: F32) -> F32:
    """Applies a kernel's function as kernels do."""

    @njit(error_model="numpy")
    def apply(values: F32, out: F32) -> None:
        for i in range(np.uint64(len(values))):
            out[i] = function(values[i])

    out = np.empty_like(values)
    apply(values, out)
    return out


SPREAD = np.concatenate(
    [
        np.linspace(-12, 12, 20_001),
        np.linspace(-87, 87, 9_999),
        np.random.default_rng(0).normal(0, 1e-3, 20_000),
    ]
).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (kernels.exp, np.exp),
        (kernels.tanh, np.tanh),
        (kernels.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    ],
)
def test_functions_are_right_to_two_units_of_the_last_place(
    function: Callable[[np.float32], np.float32], expected: Callable[[F32], F32]
) -> None:
    exact = expected(SPREAD.astype(np.float64))
    np.testing.assert_allclose(over(function, SPREAD), exact, rtol=2 * 2**-23)


def test_functions_end_well() -> None:
    ends = np.array([-np.inf, -1e30, -100, 0, 100, 1e30, np.inf], dtype=np.float32)
    assert over(kernels.tanh, ends).tolist() == [-1, -1, -1, 0, 1, 1, 1]
    shares = over(kernels.sigmoid, ends)
    assert shares[3] == 0.5
    assert (shares[4:] == 1).all()
    assert ((shares[:3] >= 0) & (shares[:3] < 1e-37)).all()
    assert math.isnan(over(kernels.tanh, np.array([np.nan], dtype=np.float32))[0])


def added_in_order(x: F32, matrix: F32, out: F32) -> F32:
    """What ``add_rows`` promises: every term rounded, then added to the sum, first to last."""
    for k in range(len(matrix)):
        out = out + x[:, k : k + 1] * matrix[k]
    return out


numbers = st.floats(-100, 100, width=32)


@given(st.data(), st.integers(1, 20), st.integers(0, 9), st.integers(1, 20))
@settings(max_examples=40)
def test_products_are_sums_in_order_bit_by_bit(data: st.DataObject, n: int, k: int, m: int) -> None:
    x, matrix, out = (
        data.draw(arrays(np.float32, shape, elements=numbers)) for shape in ((n, k), (k, m), (n, m))
    )
    expected = added_in_order(x, matrix, out)
    kernels.add_products(x[None], matrix[None], out[None])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("n", [1, 16, 17, 34])
@pytest.mark.parametrize("m", [255, 256, 300, 515])
def test_products_wider_than_a_tile_are_sums_in_order_too(n: int, m: int) -> None:
    x, matrix, out = (draw(*shape).numpy() for shape in ((n, 11), (11, m), (n, m)))
    expected = added_in_order(x, matrix, out)
    kernels.add_products(x[None], matrix[None], out[None])
    np.testing.assert_array_equal(out, expected)


def draw(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator)


@pytest.mark.parametrize("n", [1, 2, 17])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("more", [False, True])
def test_a_product_leaves_what_it_is_given(n: int, biased: bool, more: bool) -> None:
    matrices, bias, x, add = draw(2, 7, 5), draw(2, 1, 5), draw(2, n, 7), draw(2, n, 5)
    given_ = [one.clone() for one in (matrices, bias, x, add)]
    made = product(matrices, bias if biased else None)(x, add if more else None)
    assert all(torch.equal(one, old) for one, old in zip((matrices, bias, x, add), given_))
    expected = x @ matrices + (bias if biased else 0) + (add if more else 0)
    torch.testing.assert_close(made, expected)


def test_a_rows_product_does_not_depend_on_its_neighbours() -> None:
    matrices, x = draw(2, 33, 21), draw(2, 40, 33)
    together = multiply(x, matrices)
    for row in (0, 15, 16, 39):
        assert torch.equal(multiply(x[:, row : row + 1], matrices), together[:, row : row + 1])


def test_views_are_multiplied_as_they_look() -> None:
    matrices, x = draw(2, 5, 7).transpose(1, 2), draw(3, 2, 7).transpose(0, 1)
    torch.testing.assert_close(multiply(x, matrices), x @ matrices)


@pytest.mark.parametrize("active", [(1,), (3, 3, 2, 1), (5, 5, 5), (4, 1, 1, 1, 1)])
def test_all_steps_at_once_equal_step_by_step(
    active: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = draw(3, sum(active), 4 * 6).requires_grad_()
    weights = draw(3, 6, 4 * 6).requires_grad_()
    upstream = draw(3, sum(active), 6)
    found = []
    for least in (products.SMALL_BYTES, 0):
        monkeypatch.setattr(products, "SMALL_BYTES", least)
        hidden = recurrence.run_lstm(inputs, weights, active)
        found.append([hidden, *torch.autograd.grad(hidden, (inputs, weights), upstream)])
    assert type(found[0][0].grad_fn) is not type(found[1][0].grad_fn)
    for together, by_step in zip(*found):
        torch.testing.assert_close(together, by_step, rtol=1e-5, atol=1e-6)


def test_reading_leaves_inputs_and_weights() -> None:
    inputs, weights = draw(2, 5, 8), draw(2, 2, 8)
    before = inputs.clone(), weights.clone()
    hidden = recurrence.run_lstm(inputs.requires_grad_(), weights.requires_grad_(), (3, 2))
    hidden.sum().backward()
    assert torch.equal(inputs, before[0])
    assert torch.equal(weights, before[1])
