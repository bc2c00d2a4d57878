"""Finds the object instance that a class or a pixel mask points at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import (
    OPENABLE,
    PICKUPABLE,
    RECEPTACLES,
    SLICEABLE,
    TOGGLEABLE,
    ObjectClass,
)
from gym_clalfred.simulator.contract import (
    LEAST_PIXELS,
    SIGHT_PIXELS,
    Failure,
    ObjectState,
    Sight,
)

#: Classes that some action can be done on; a mask over anything else points at nothing.
INTERACTABLE = PICKUPABLE | RECEPTACLES | OPENABLE | TOGGLEABLE | SLICEABLE

#: An episode ends at this many failed actions.
MAX_FAILURES = 10

_CENTRE = ((SIGHT_PIXELS - 1) / 2, (SIGHT_PIXELS - 1) / 2)


@dataclass(frozen=True)
class Pointing:
    """The object of the previous interaction: its class and the centre of its mask.

    ``centre`` is (row, column) in the 300 x 300 view of that moment.
    """

    object_class: ObjectClass
    centre: tuple[float, float]


@dataclass(frozen=True)
class Choice:
    """The chosen instance, or why there is none."""

    object_id: str | None
    failure: Failure | None = None
    pointing: Pointing | None = None


def choose_by_class(
    wanted: ObjectClass,
    sight: Sight,
    objects: Mapping[str, ObjectState],
    previous: Pointing | None = None,
) -> Choice:
    """The visible instance of a class on which an interaction acts.

    If the previous interaction was with the same class, it is the instance nearest to the centre of
    that interaction's mask. Otherwise it is the one with the largest mask, the most central of
    several. The held object is not in ``sight`` and so is never chosen.
    """
    extents = {
        name: sight.extent(name)
        for name in sight.object_ids
        if name in sight.visible and _is_a(wanted, name, objects)
    }
    # AI2-THOR also calls visible what hardly a pixel shows, and what has no mask has no centre.
    candidates = [name for name, (pixels, _) in extents.items() if pixels >= LEAST_PIXELS]
    if not candidates:
        return Choice(None, _why_none_is_visible(wanted, sight, objects))
    if previous is not None and previous.object_class is wanted:
        anchor = previous.centre
    else:
        anchor = _CENTRE
        most = max(extents[name][0] for name in candidates)
        candidates = [name for name in candidates if extents[name][0] == most]
    chosen = min(candidates, key=lambda name: _distance(extents[name][1], anchor))
    return Choice(chosen, pointing=Pointing(wanted, extents[chosen][1]))


def choose_by_mask(
    mask: NDArray[np.bool_], sight: Sight, objects: Mapping[str, ObjectState]
) -> Choice:
    """The instance whose pixels agree best (intersection over union) with a (300, 300) mask.

    Objects with which nothing can be done are passed over, as in ALFRED's evaluation.
    """
    names = sight.object_ids
    overlap = np.bincount(sight.instances[mask], minlength=len(names) + 1)
    areas = np.bincount(sight.instances.ravel(), minlength=len(names) + 1)
    scores = overlap / np.maximum(areas + int(mask.sum()) - overlap, 1)
    scores[0] = 0.0
    for index in np.argsort(-scores, kind="stable"):
        if scores[index] <= 0.0:
            break
        name = names[index - 1]
        if name in objects and (kind := objects[name].object_class) in INTERACTABLE:
            return Choice(name, pointing=Pointing(kind, sight.extent(name)[1]))
    return Choice(None, Failure.NOT_VISIBLE)


def as_sight_mask(mask: object, image_size: int) -> NDArray[np.bool_]:
    """Checks a user's mask and resizes it to 300 x 300.

    Args:
        mask: (300, 300) or (image_size, image_size), boolean or 0 and 1.
        image_size: side of the observation's images.
    """
    array = np.asarray(mask)
    sizes = (SIGHT_PIXELS, image_size)
    expected = " or ".join(f"({size}, {size})" for size in dict.fromkeys(sizes))
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] not in sizes:
        raise BadInputError(f"expected a mask of shape {expected}, got shape {array.shape}")
    if array.dtype != np.bool_:
        if not np.isin(array, (0, 1)).all():
            raise BadInputError(
                f"expected a mask of booleans or of 0 and 1, got {array.dtype} with other values; "
                "compare with a threshold first, for example mask > 0.5"
            )
        array = array.astype(np.bool_)
    if array.shape[0] != SIGHT_PIXELS:
        source = (np.arange(SIGHT_PIXELS) * array.shape[0]) // SIGHT_PIXELS
        array = array[np.ix_(source, source)]
    return array


def _is_a(wanted: ObjectClass, name: str, objects: Mapping[str, ObjectState]) -> bool:
    """Whether an instance is of a class; what was sliced is of none, though it keeps its name."""
    return name in objects and objects[name].object_class is wanted


def _distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2


def _why_none_is_visible(
    wanted: ObjectClass, sight: Sight, objects: Mapping[str, ObjectState]
) -> Failure:
    if wanted is ObjectClass.NoObject:
        return Failure.NO_TARGET
    in_view = any(
        sight.extent(name)[0] >= LEAST_PIXELS
        for name in sight.object_ids
        if _is_a(wanted, name, objects)
    )
    return Failure.TOO_FAR if in_view else Failure.NOT_VISIBLE
