"""From class or mask to instance, on hand-painted views."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from gym_clalfred.errors import BadInputError
from gym_clalfred.interaction import Pointing, as_sight_mask, choose_by_class, choose_by_mask
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import LEAST_PIXELS, SIGHT_PIXELS, Failure, Sight
from tests.helpers.fakes import state

MUG_A, MUG_B, MUG_C = (f"Mug|+0{n}.00|+01.00|+01.00" for n in range(3))
POT = "Pot|+00.00|+01.00|+01.00"
WINDOW = "Window|+00.00|+01.00|+01.00"
NAMES = (MUG_A, MUG_B, MUG_C, POT, WINDOW)
OBJECTS = {name: state(name) for name in NAMES}

Patch = tuple[int, int, int, int]


def paint(patches: dict[str, Patch], out_of_reach: tuple[str, ...] = ()) -> Sight:
    """A view with rectangles (row, column, height, width); later ones hide earlier ones."""
    instances = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.int16)
    for name, (row, column, height, width) in patches.items():
        instances[row : row + height, column : column + width] = NAMES.index(name) + 1
    pixels = np.bincount(instances.ravel(), minlength=len(NAMES) + 1)[1:]
    shown = {name for name, count in zip(NAMES, pixels) if count >= LEAST_PIXELS}
    return Sight(instances, NAMES, frozenset(shown) - set(out_of_reach))


def box(row: int, column: int, height: int, width: int) -> NDArray[np.bool_]:
    mask = np.zeros((SIGHT_PIXELS, SIGHT_PIXELS), dtype=np.bool_)
    mask[row : row + height, column : column + width] = True
    return mask


def test_the_largest_is_chosen_first() -> None:
    sight = paint({MUG_A: (10, 10, 20, 20), MUG_B: (200, 200, 30, 30), POT: (100, 100, 60, 60)})
    choice = choose_by_class(ObjectClass.Mug, sight, OBJECTS)
    assert choice.object_id == MUG_B
    assert choice.pointing == Pointing(ObjectClass.Mug, (214.5, 214.5))


def test_of_equally_large_ones_the_most_central() -> None:
    sight = paint({MUG_A: (10, 10, 20, 20), MUG_B: (130, 150, 20, 20), MUG_C: (0, 100, 20, 20)})
    assert choose_by_class(ObjectClass.Mug, sight, OBJECTS).object_id == MUG_B


@pytest.mark.parametrize(
    ("previous", "chosen"), [(ObjectClass.Mug, MUG_A), (ObjectClass.Pot, MUG_B)]
)
def test_the_previous_interaction_attracts_its_own_class(
    previous: ObjectClass, chosen: str
) -> None:
    sight = paint({MUG_A: (10, 10, 20, 20), MUG_B: (200, 200, 30, 30)})
    near_a = Pointing(previous, (20.0, 20.0))
    assert choose_by_class(ObjectClass.Mug, sight, OBJECTS, near_a).object_id == chosen


def test_what_is_out_of_reach_never_counts() -> None:
    patches: dict[str, Patch] = {MUG_A: (10, 10, 20, 20), MUG_B: (200, 200, 30, 30)}
    near = paint(patches, out_of_reach=(MUG_B,))
    assert choose_by_class(ObjectClass.Mug, near, OBJECTS).object_id == MUG_A
    far = paint(patches, out_of_reach=(MUG_A, MUG_B))
    choice = choose_by_class(ObjectClass.Mug, far, OBJECTS)
    assert (choice.object_id, choice.failure) == (None, Failure.TOO_FAR)


def test_what_shows_in_too_few_pixels_is_not_called_far_away() -> None:
    sight = paint({MUG_A: (10, 10, 2, 2)}, out_of_reach=(MUG_A,))
    choice = choose_by_class(ObjectClass.Mug, sight, OBJECTS)
    assert (choice.object_id, choice.failure) == (None, Failure.NOT_VISIBLE)


def visible_too(sight: Sight, *names: str) -> Sight:
    """The view of a simulator that calls more visible than it shows, as AI2-THOR may."""
    return replace(sight, visible=sight.visible | set(names))


@pytest.mark.parametrize("specks", [{}, {MUG_A: (0, 0, 2, 2)}])
@pytest.mark.parametrize("previous", [None, Pointing(ObjectClass.Mug, (20.0, 20.0))])
def test_what_hardly_a_pixel_shows_is_not_chosen(
    specks: dict[str, Patch], previous: Pointing | None
) -> None:
    sight = visible_too(paint({**specks, MUG_B: (200, 200, 30, 30)}), MUG_A)
    assert choose_by_class(ObjectClass.Mug, sight, OBJECTS, previous).object_id == MUG_B
    alone = visible_too(paint({**specks, POT: (200, 200, 30, 30)}), MUG_A)
    choice = choose_by_class(ObjectClass.Mug, alone, OBJECTS, previous)
    assert (choice.object_id, choice.failure) == (None, Failure.NOT_VISIBLE)


def test_what_is_no_object_any_more_is_passed_over() -> None:
    sight = paint({MUG_A: (10, 10, 40, 40), MUG_B: (200, 200, 30, 30)})
    left = {name: state for name, state in OBJECTS.items() if name != MUG_A}
    assert choose_by_class(ObjectClass.Mug, sight, left).object_id == MUG_B
    assert choose_by_mask(box(10, 10, 40, 40), sight, left).failure is Failure.NOT_VISIBLE
    both = box(10, 10, 220, 220)
    assert choose_by_mask(both, sight, left).object_id == MUG_B


def test_none_in_view() -> None:
    sight = paint({POT: (100, 100, 60, 60)})
    assert choose_by_class(ObjectClass.Mug, sight, OBJECTS).failure is Failure.NOT_VISIBLE
    assert choose_by_class(ObjectClass.NoObject, sight, OBJECTS).failure is Failure.NO_TARGET


def test_a_mask_means_the_instance_it_agrees_with_best() -> None:
    # The pot covers more of the mask, but most of the pot lies outside it.
    sight = paint({POT: (0, 0, 200, 200), MUG_A: (90, 90, 20, 20)})
    choice = choose_by_mask(box(88, 88, 30, 30), sight, OBJECTS)
    assert choice.object_id == MUG_A
    assert choice.pointing is not None
    assert choice.pointing.object_class is ObjectClass.Mug


def test_a_mask_over_nothing_or_over_the_house_points_at_nothing() -> None:
    sight = paint({WINDOW: (0, 0, 100, 100)})
    for mask in (box(200, 200, 10, 10), box(10, 10, 10, 10), box(0, 0, 0, 0)):
        choice = choose_by_mask(mask, sight, OBJECTS)
        assert (choice.object_id, choice.failure) == (None, Failure.NOT_VISIBLE)


@given(
    st.dictionaries(
        st.sampled_from(NAMES[:4]),
        st.tuples(*(st.integers(0, 250),) * 2, *(st.integers(3, 90),) * 2),
        min_size=1,
    )
)
def test_an_exact_mask_finds_its_instance(patches: dict[str, Patch]) -> None:
    sight = paint(patches)
    for name in sight.visible:
        assert choose_by_mask(sight.mask(name), sight, OBJECTS).object_id == name


@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(*(st.integers(0, 250),) * 2, *(st.integers(3, 90),) * 2),
        min_size=1,
    ),
    st.sampled_from([ObjectClass.Mug, ObjectClass.Pot]),
    st.none() | st.tuples(st.floats(0, 299), st.floats(0, 299)),
)
def test_a_choice_is_visible_and_of_the_class(
    patches: dict[str, Patch], wanted: ObjectClass, centre: tuple[float, float] | None
) -> None:
    sight = paint(patches)
    previous = None if centre is None else Pointing(wanted, centre)
    choice = choose_by_class(wanted, sight, OBJECTS, previous)
    fitting = {name for name in sight.visible if OBJECTS[name].object_class is wanted}
    assert (choice.object_id in fitting) if fitting else (choice.object_id is None)


@pytest.mark.parametrize("size", [30, 84, 128])
def test_small_masks_are_enlarged(size: int) -> None:
    small = np.zeros((size, size), dtype=np.uint8)
    small[: size // 2] = 1
    large = as_sight_mask(small, size)
    assert large.shape == (SIGHT_PIXELS, SIGHT_PIXELS)
    assert large[:150].all()
    assert not large[150:].any()


@pytest.mark.parametrize(
    "mask",
    [np.zeros((5, 5)), np.zeros(300), np.zeros((300, 299)), np.full((300, 300), 0.5), "mask"],
)
def test_masks_of_the_wrong_form(mask: object) -> None:
    with pytest.raises(BadInputError, match="expected a mask"):
        as_sight_mask(mask, 84)
