"""Furniture that no mask shows: where it is listed, turned to where it is used from.

ALFRED lists receptacles with a place to stand, and its plans name the receptacle of what is picked
up. Both tell a position but no size: the box is the usual one of the class around that position,
cut back from where agents stand and from its neighbours in the same front.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gym_clalfred.data.alfred_import.layouts import Standing
from gym_clalfred.data.alfred_import.surfaces import HOLDS_PANELS
from gym_clalfred.data.alfred_import.usual_boxes import USUAL_BOXES
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Vector
from gym_clalfred.simulator.embedded.placement import turn
from gym_clalfred.simulator.object_ids import class_of

BoxArray = NDArray[np.float64]

#: Yaw and box of fixtures by id.
Boxes = Mapping[str, tuple[int, BoxArray]]

#: What is built side by side into one front.
_PANELS = frozenset({ObjectClass.Cabinet, ObjectClass.Drawer})

#: Points before a front are so far from it at most, so far beside it, and so many of them count.
_AHEAD = 1.1
_ASIDE = 0.3
_MOST_POINTS = 6

#: What other signs of a front count, in points before it: where ALFRED stands to use the thing, and
#: each neighbour in the same plane whose front is known.
_STANDS = 2.0
_NEIGHBOUR = 4.0

#: Fronts are in one plane up to this distance, neighbours within this one.
_PLANE = 0.12
_BESIDE = 1.5

#: Hinges of cabinets: on one level up to this difference, next to each other up to this distance,
#: and of a pair of doors at these.
_LEVEL = 0.15
_NEXT = 0.15
_PAIR = (0.65, 1.35)

#: How far before a drawer's position its front may be.
_DRAWER_FRONTS = (-0.06, 0.35)

#: Air around points on which agents stand, and the height above which they walk under things.
_AIR = 0.1
_OVERHEAD = 1.8

#: Nothing is cut smaller, nor by more than this share for one point.
_LEAST = 0.1
_MOST_CUT = 0.6

#: How far panels stand out of what they are built into.
_STAND_OUT = 0.015


@dataclass(frozen=True)
class Place:
    """Where something is known to be, without what it looks like.

    Args:
        name: its id.
        anchor: recorded position, its height from the floor.
        standing: where it is used from, if it is listed.
    """

    name: str
    anchor: Vector
    standing: Standing | None = None


def place_all(
    places: Sequence[Place], measured: Boxes, walked: NDArray[np.float64]
) -> dict[str, tuple[int, BoxArray]]:
    """Yaws and boxes of all furniture, with that which no mask shows.

    Args:
        places: of furniture that no mask shows.
        measured: furniture that masks show.
        walked: (N, 2) points on which agents stand.
    """
    yaws = {place.name: front_of(place, walked, measured) for place in places}
    everywhere = [*places, *(Place(name, _middle(box)) for name, (_, box) in measured.items())]
    planes = [
        (yaw, _plane(yaw, box), float(_middle(box)[2 if yaw % 180 else 0]))
        for name, (yaw, box) in measured.items()
        if class_of(name) in _PANELS
    ]
    for place in places:
        if class_of(place.name) is ObjectClass.Cabinet:
            axis = 0 if yaws[place.name] % 180 else 2
            planes.append((yaws[place.name], place.anchor[axis], place.anchor[2 - axis]))
    found: dict[str, tuple[int, BoxArray]] = {}
    for place in places:
        yaw, object_class = yaws[place.name], class_of(place.name)
        shift, front = 0.0, None
        if object_class is ObjectClass.Cabinet:
            shift = _hinge_side(place, yaw, everywhere)
        elif object_class is ObjectClass.Drawer:
            front = _front_plane(place, yaw, planes)
        box = usual_box(place, yaw, shift, front)
        found[place.name] = yaw, clear_floor(box, place.anchor, walked)
    anchors = {place.name: place.anchor for place in places}
    for name in sorted(found):
        if class_of(name) in _PANELS:
            yaw, box = found[name]
            found[name] = yaw, _between(name, yaw, box, anchors, {**measured, **found})
    everything = {**measured, **found}
    for name in anchors:
        yaw, box = everything[name]
        if class_of(name) in _PANELS:
            everything[name] = yaw, _before_body(yaw, box, anchors[name], everything)
    return everything


def front_of(place: Place, walked: NDArray[np.float64], known: Boxes) -> int:
    """Yaw of a front: where it is used from; of panels also the floor and neighbours before it."""
    standing = place.standing
    if standing is not None and class_of(place.name) not in _PANELS:
        return (standing.yaw + 180) % 360
    x, _, z = place.anchor
    scores = {}
    for yaw in (0, 90, 180, 270):
        local = np.array([turn(a - x, b - z, -yaw) for a, b in walked]).reshape(-1, 2)
        ahead = (local[:, 1] > 0.1) & (local[:, 1] < _AHEAD) & (np.abs(local[:, 0]) < _ASIDE)
        score = float(min(int(np.count_nonzero(ahead)), _MOST_POINTS))
        if standing is not None and (standing.yaw + 180) % 360 == yaw:
            score += _STANDS
        scores[yaw] = score + _NEIGHBOUR * sum(
            _are_flush(place, yaw, name, *other) for name, other in known.items()
        )
    return max(scores, key=lambda yaw: scores[yaw])


def usual_box(place: Place, yaw: int, shift: float = 0.0, front: float | None = None) -> BoxArray:
    """The box that things of a class usually have around their recorded position.

    Args:
        place: where it is.
        yaw: of its front.
        shift: by which it is moved to its own +x.
        front: how far before the position its front is, if not as usual.
    """
    x, y, z = place.anchor
    usual = USUAL_BOXES[class_of(place.name)]
    ahead = usual.front if front is None else front
    back = min(-usual.back, ahead - usual.front - usual.back)
    x0, z0 = turn(shift - usual.aside, back, yaw)
    x1, z1 = turn(shift + usual.aside, ahead, yaw)
    low = 0.0 if usual.on_floor else max(y + usual.low, 0.0)
    high = max(usual.high, y) if usual.on_floor else y + usual.high
    box = (x + min(x0, x1), low, z + min(z0, z1), x + max(x0, x1), high, z + max(z0, z1))
    return np.array(box, dtype=np.float64)


def _hinge_side(place: Place, yaw: int, others: Iterable[Place]) -> float:
    """By how much the middle of a cabinet is beside its position, which is that of its hinge.

    Two hinges next to each other belong to doors that open to both sides; two that are far apart
    to a pair of doors that meet between them. A single door is where one stands to open it.
    """
    x, y, z = place.anchor
    half = USUAL_BOXES[ObjectClass.Cabinet].aside
    nearest: float | None = None
    for other in others:
        if class_of(other.name) is not ObjectClass.Cabinet or other.name == place.name:
            continue
        aside, ahead = turn(other.anchor[0] - x, other.anchor[2] - z, -yaw)
        level = abs(ahead) < _PLANE and abs(other.anchor[1] - y) < _LEVEL
        if level and (nearest is None or abs(aside) < abs(nearest)):
            nearest = aside
    if nearest is not None and abs(nearest) < _NEXT:
        return -half if nearest > 0 else half
    if nearest is not None and _PAIR[0] < abs(nearest) < _PAIR[1]:
        return nearest / 4
    if place.standing is None:
        return 0.0
    aside, _ = turn(place.standing.x - x, place.standing.z - z, -yaw)
    return half if aside > 0 else -half


def _front_plane(
    place: Place, yaw: int, planes: Iterable[tuple[int, float, float]]
) -> float | None:
    """How far before a drawer's position the front is that it shares with its neighbours.

    Args:
        planes: yaw, plane and place along it of known fronts.
    """
    axis = 0 if yaw % 180 else 2
    sign = 1.0 if yaw in (0, 90) else -1.0
    best: tuple[float, float] | None = None
    for other_yaw, plane, along in planes:
        ahead = sign * (plane - place.anchor[axis])
        beside = abs(along - place.anchor[2 - axis])
        fits = other_yaw == yaw and _DRAWER_FRONTS[0] < ahead < _DRAWER_FRONTS[1]
        if fits and beside < _BESIDE and (best is None or beside < best[0]):
            best = beside, ahead
    return None if best is None else best[1]


def clear_floor(box: BoxArray, anchor: Vector, walked: NDArray[np.float64]) -> BoxArray:
    """The box without the parts in which agents stand, cut where that costs least."""
    if box[1] >= _OVERHEAD:
        return box
    box = box.copy()
    near = walked[np.argsort(np.abs(walked - np.array(anchor)[::2]).sum(axis=1), kind="stable")]
    for x, z in near:
        inside = box[0] - _AIR < x < box[3] + _AIR and box[2] - _AIR < z < box[5] + _AIR
        if not inside:
            continue
        cuts = [
            (abs(value - box[face]) / (box[axis + 3] - box[axis]), face, value)
            for axis, at in ((0, x), (2, z))
            for face, value in ((axis, at + _AIR), (axis + 3, at - _AIR))
        ]
        share, face, value = min(cuts)
        rest = abs(box[(face + 3) % 6] - value)
        if share <= _MOST_CUT and rest >= _LEAST:
            box[face] = value
    return box


def _middle(box: BoxArray) -> Vector:
    x, y, z = ((box[:3] + box[3:]) / 2).tolist()
    return x, y, z


def _plane(yaw: int, box: BoxArray) -> float:
    """Coordinate of a front along its axis."""
    axis = 0 if yaw % 180 else 2
    return float(box[axis + 3] if yaw in (0, 90) else box[axis])


def _are_flush(place: Place, yaw: int, name: str, other_yaw: int, box: BoxArray) -> bool:
    """Whether a panel would be in one front with another."""
    if yaw != other_yaw or not {class_of(place.name), class_of(name)} <= _PANELS:
        return False
    axis = 0 if yaw % 180 else 2
    beside = abs(place.anchor[2 - axis] - (box[2 - axis] + box[5 - axis]) / 2)
    return beside < _BESIDE and abs(_plane(yaw, box) - place.anchor[axis]) < _PLANE


def _between(
    name: str, yaw: int, box: BoxArray, anchors: Mapping[str, Vector], others: Boxes
) -> BoxArray:
    """A panel cut back from its neighbours; two of which no mask shows meet halfway."""
    box, axis = box.copy(), 0 if yaw % 180 else 2
    here = np.array(_middle(box))
    for other, (other_yaw, taken) in others.items():
        if other == name or other_yaw != yaw or class_of(other) not in _PANELS:
            continue
        if abs(_plane(yaw, taken) - _plane(yaw, box)) > _PLANE:
            continue
        overlap = np.minimum(box[3:], taken[3:]) - np.maximum(box[:3], taken[:3])
        if overlap[1] <= 0.0 or overlap[2 - axis] <= 0.0:
            continue
        there = np.array(_middle(taken))
        along = 1 if abs(here[1] - there[1]) > abs(here[2 - axis] - there[2 - axis]) else 2 - axis
        above = here[along] > there[along]
        edge = taken[along + 3] if above else taken[along]
        if other in anchors:
            edge = (here[along] + there[along]) / 2
        if above:
            box[along] = min(max(box[along], edge), box[along + 3] - _LEAST)
        else:
            box[along + 3] = max(min(box[along + 3], edge), box[along] + _LEAST)
    return box


def _before_body(yaw: int, box: BoxArray, anchor: Vector, others: Boxes) -> BoxArray:
    """A panel moved out of the furniture that it is built into, so that it is seen."""
    axis = 0 if yaw % 180 else 2
    for name, (_, body) in others.items():
        inside = (body[:3] - 0.05 < anchor).all() and (np.array(anchor) < body[3:] + 0.05).all()
        if class_of(name) in HOLDS_PANELS and inside:
            sign = 1.0 if yaw in (0, 90) else -1.0
            front = float(body[axis + 3] if sign > 0 else body[axis])
            shift = sign * max(sign * (front + sign * _STAND_OUT - _plane(yaw, box)), 0.0)
            box = box.copy()
            box[axis] += shift
            box[axis + 3] += shift
    return box
