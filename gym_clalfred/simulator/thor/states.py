"""What AI2-THOR says of its objects: their states, and why an interaction is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gym_clalfred.actions import Action
from gym_clalfred.objects import CLOSED_AT_START, KNIVES, SLICED_FORM, ObjectClass
from gym_clalfred.simulator.contract import AgentPose, Failure, ObjectState, Vector

#: Extents of objects of which AI2-THOR does not tell them, as 2.1.0 of furniture.
UNKNOWN_SIZE: Vector = (0.1, 0.1, 0.1)

_PIECES = frozenset(SLICED_FORM.values())

#: Types that have other names in newer versions.
_RENAMED = {"Bottle": "Glassbottle"}


@dataclass(frozen=True)
class PriorPlace:
    """Where an object was before it was picked up."""

    position: Vector
    rotation: Vector


def pose_of(metadata: Mapping[str, Any]) -> AgentPose:
    """Where the agent is and looks; angles are whole degrees."""
    agent = metadata["agent"]
    x, y, z = (round(float(agent["position"][axis]), 4) for axis in "xyz")
    yaw = round(float(agent["rotation"]["y"])) % 360
    pitch = (round(float(agent["cameraHorizon"])) + 180) % 360 - 180
    return AgentPose(x, y, z, yaw, pitch)


def class_of_entry(entry: Mapping[str, Any]) -> ObjectClass | None:
    """The class of an object of AI2-THOR, or ``None`` if ALFRED does not know its type."""
    name = str(entry["objectType"])
    return ObjectClass.__members__.get(_RENAMED.get(name, name))


def is_remains(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is what AI2-THOR keeps of an object that was sliced."""
    return bool(entry.get("isSliced")) and class_of_entry(entry) not in _PIECES


def place_of(entry: Mapping[str, Any]) -> PriorPlace:
    """The base centre and the rotation of an object."""
    corners = _corner_points(entry)
    x, y, z = (float(entry["position"][axis]) for axis in "xyz")
    if corners:
        # AI2-THOR's position may be anywhere in the object.
        xs, ys, zs = ([corner[k] for corner in corners] for k in range(3))
        x, y, z = _near(_middle(xs), x), _near(min(ys), y), _near(_middle(zs), z)
    turned = entry["rotation"]
    return PriorPlace((x, y, z), (float(turned["x"]), float(turned["y"]), float(turned["z"])))


def size_of(entry: Mapping[str, Any], yaw: float) -> Vector:
    """The extents of an object before its yaw."""
    oriented = _oriented_corners(entry)
    if oriented:
        return _unturned_extents(oriented, yaw)
    box = (entry.get("axisAlignedBoundingBox") or {}).get("size")
    if not box:
        return UNKNOWN_SIZE
    width, height, depth = (float(box[axis]) for axis in "xyz")
    sine, cosine = abs(math.sin(math.radians(yaw))), abs(math.cos(math.radians(yaw)))
    scale = cosine * cosine - sine * sine
    if abs(scale) < 0.2:
        # Near 45 degrees the box tells too little; its own extents are an upper bound.
        return (width, height, depth)
    return (
        _clean((width * cosine - depth * sine) / scale),
        height,
        _clean((depth * cosine - width * sine) / scale),
    )


def states_of(
    entries: Sequence[Mapping[str, Any]],
    marks: Mapping[str, set[str]],
    held: Mapping[str, PriorPlace],
) -> dict[str, ObjectState]:
    """All objects that ALFRED knows, by id.

    Args:
        entries: ``metadata["objects"]``.
        marks: ids that were ``cleaned``, ``heated`` or ``cooled``.
        held: where what is held now was before.
    """
    known = [e for e in entries if class_of_entry(e) is not None and not is_remains(e)]
    ids = {str(entry["objectId"]) for entry in known}
    contents = {str(e["objectId"]): _ids(e, "receptacleObjectIds", ids) for e in known}
    states = {}
    for entry in known:
        name = str(entry["objectId"])
        kind = class_of_entry(entry)
        assert kind is not None
        now = place_of(entry)
        place = held.get(name, now)
        states[name] = ObjectState(
            id=name,
            object_class=kind,
            position=place.position,
            rotation=place.rotation,
            size=size_of(entry, now.rotation[1]),
            parents=_innermost_first(_ids(entry, "parentReceptacles", ids), contents),
            contents=_all_contents(name, contents),
            is_open=bool(entry["isOpen"]),
            is_on=bool(entry["isToggled"]),
            is_sliced=kind in _PIECES,
            is_dirty=bool(entry["isDirty"]),
            **{mark: name in marked for mark, marked in marks.items()},
        )
    return states


def _ids(entry: Mapping[str, Any], key: str, known: set[str]) -> tuple[str, ...]:
    return tuple(str(name) for name in entry.get(key) or () if str(name) in known)


def _all_contents(name: str, contents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Direct and indirect contents, in AI2-THOR's order, each once."""
    found: dict[str, None] = {}
    waiting = list(contents.get(name, ()))
    while waiting:
        inner = waiting.pop(0)
        if inner not in found and inner != name:
            found[inner] = None
            waiting += contents.get(inner, ())
    return tuple(found)


def _innermost_first(
    parents: tuple[str, ...], contents: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Parents in the order of nesting: what holds another parent comes after it."""

    def depth(name: str) -> int:
        return sum(name in contents.get(other, ()) for other in parents)

    return tuple(sorted(parents, key=lambda name: -depth(name)))


def _corner_points(entry: Mapping[str, Any]) -> list[list[float]]:
    box = entry.get("axisAlignedBoundingBox") or {}
    return box.get("cornerPoints") or _oriented_corners(entry)


def _oriented_corners(entry: Mapping[str, Any]) -> list[list[float]]:
    box = entry.get("objectOrientedBoundingBox")
    if box:
        return list(box["cornerPoints"])
    bounds = entry.get("objectBounds")
    if bounds:
        return [[c["x"], c["y"], c["z"]] for c in bounds["objectBoundsCorners"]]
    return []


def _unturned_extents(corners: list[list[float]], yaw: float) -> Vector:
    sine, cosine = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    xs = [x * cosine - z * sine for x, _, z in corners]
    zs = [x * sine + z * cosine for x, _, z in corners]
    ys = [y for _, y, _ in corners]
    return (_clean(max(xs) - min(xs)), max(ys) - min(ys), _clean(max(zs) - min(zs)))


def _middle(values: list[float]) -> float:
    return (min(values) + max(values)) / 2


def _near(value: float, reported: float) -> float:
    """A computed coordinate, or the reported one if they differ by rounding only."""
    return reported if abs(value - reported) < 1e-6 else value


def _clean(value: float) -> float:
    """Without the last digits, which are rounding."""
    return round(value, 9)


def refusal_of(
    action: Action, kind: ObjectClass, entry: Mapping[str, Any], holding: ObjectClass | None
) -> Failure | None:
    """The reason that can be known without trying, or ``None``.

    Args:
        action: an interaction.
        kind: class of its target.
        entry: what AI2-THOR says of the target.
        holding: class of the held object.
    """
    if action == Action.PickupObject:
        if not entry["pickupable"]:
            return Failure.NOT_PICKUPABLE
        if holding is not None:
            return Failure.HANDS_FULL
        return Failure.MUST_BE_CLOSED if kind is ObjectClass.Laptop and entry["isOpen"] else None
    if action == Action.PutObject:
        if holding is None:
            return Failure.HANDS_EMPTY
        if not entry["receptacle"]:
            return Failure.NOT_RECEPTACLE
        shut = kind in CLOSED_AT_START and entry["openable"] and not entry["isOpen"]
        return Failure.CLOSED if shut else None
    if action == Action.SliceObject:
        if not entry["sliceable"]:
            return Failure.NOT_SLICEABLE
        return None if holding in KNIVES else Failure.NO_KNIFE
    if action in (Action.OpenObject, Action.CloseObject):
        return _refusal_to_open(action == Action.OpenObject, kind, entry)
    return _refusal_to_switch(action == Action.ToggleObjectOn, kind, entry)


def _refusal_to_open(is_open: bool, kind: ObjectClass, entry: Mapping[str, Any]) -> Failure | None:
    if not entry["openable"]:
        return Failure.NOT_OPENABLE
    if bool(entry["isOpen"]) is is_open:
        return Failure.ALREADY_OPEN if is_open else Failure.ALREADY_CLOSED
    running = kind is ObjectClass.Microwave and entry["isToggled"]
    return Failure.MUST_BE_OFF if is_open and running else None


def _refusal_to_switch(is_on: bool, kind: ObjectClass, entry: Mapping[str, Any]) -> Failure | None:
    if not entry["toggleable"]:
        return Failure.NOT_TOGGLEABLE
    if bool(entry["isToggled"]) is is_on:
        return Failure.ALREADY_ON if is_on else Failure.ALREADY_OFF
    ajar = kind is ObjectClass.Microwave and entry["isOpen"]
    return Failure.MUST_BE_CLOSED if is_on and ajar else None
