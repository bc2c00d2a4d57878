"""Finds true facts about places, objects and walks for the grammar to put into words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from gym_clalfred.actions import LOOK_DEGREES, Action
from gym_clalfred.language.grammar_facts import Bearing, Leg, Level, Mention, Relation, Turn
from gym_clalfred.objects import PICKUPABLE, ObjectClass, having
from gym_clalfred.simulator.contract import AgentPose, ObjectState, Sight
from gym_clalfred.simulator.geometry import Box, ahead_and_right, span_from

#: Things by which people say where furniture is.
LANDMARKS = having("landmark")

#: Names of one and the same piece of furniture, which is no landmark of itself.
_SAME_PIECE = (
    frozenset({ObjectClass.Sink, ObjectClass.SinkBasin}),
    frozenset({ObjectClass.Bathtub, ObjectClass.BathtubBasin}),
    frozenset({ObjectClass.StoveBurner, ObjectClass.StoveKnob}),
)
_STACKED = frozenset({ObjectClass.Drawer, ObjectClass.Shelf, ObjectClass.Cabinet})

_BESIDE_METRES = 0.4
_NEAR_POINT_METRES = 0.8
_SIDE_METRES = 0.8
_NEIGHBOUR_METRES = 0.25
_NEIGHBOURS = 2
_OVERHEAD_METRES = 1.2
_STACK_METRES = 0.2
_CLEARLY = 0.05

#: By the number of quarter turns to the right.
_TURNS = (Turn.NONE, Turn.RIGHT, Turn.AROUND, Turn.LEFT)


def walk_legs(path: Sequence[Action]) -> tuple[Leg, ...]:
    """The turns and moves of a path; looks are left out."""
    legs: list[Leg] = []
    quarters = moves = 0
    for action in (*path, None):
        if action is Action.MoveAhead:
            moves += 1
            continue
        if action in (Action.RotateLeft, Action.RotateRight) or action is None:
            if moves or action is None:
                if moves or quarters % 4:
                    legs.append(Leg(_TURNS[quarters % 4], moves))
                quarters = moves = 0
            quarters += -1 if action is Action.RotateLeft else 1
    return tuple(legs)


def walk_tilt(path: Iterable[Action]) -> int:
    """Degrees by which a path lowers the camera."""
    change = {Action.LookDown: LOOK_DEGREES, Action.LookUp: -LOOK_DEGREES}
    return sum(change.get(action, 0) for action in path)


def describe_place(
    objects: Mapping[str, ObjectState],
    place_id: str,
    pose: AgentPose,
    point: tuple[float, float] | None = None,
) -> Mention:
    """Describes a receptacle or lamp by landmarks next to the part that matters.

    Args:
        objects: all objects.
        place_id: which one to describe.
        pose: from where it is seen; left and right refer to it.
        point: where on a long counter something happens (x, z); its middle by default.
    """
    state = objects[place_id]
    box = Box.of(state)
    x, z = point if point is not None else (box.centre[0], box.centre[2])
    counts: dict[ObjectClass, int] = {}
    for other in objects.values():
        counts[other.object_class] = counts.get(other.object_class, 0) + 1
    relations = []
    for other in objects.values():
        if not _may_locate(other, state):
            continue
        # A stove has several burners and is still one stove.
        unique = counts[other.object_class] == 1 or other.object_class is ObjectClass.StoveBurner
        other_box = Box.of(other)
        if state.object_class in _STACKED and _built_into(box, other_box):
            bearing: Bearing | None = Bearing.PART
        else:
            bearing = _overhead(box, other_box)
        if bearing is None and not _stands_on(other_box, box):
            bearing = _side(pose, box, other_box, x, z)
        if bearing is None and (
            box.gap(other_box) <= _BESIDE_METRES
            and other_box.distance(x, z) <= _NEAR_POINT_METRES
            and _overlaps_in_height(box, other_box)
        ):
            bearing = Bearing.BESIDE
        if bearing is not None:
            relations.append(Relation(bearing, other.object_class, unique))
    unique_relations = tuple(dict.fromkeys(relations))
    return Mention(state.object_class, _consistent(unique_relations), _level(objects, state, box))


def describe_object(
    objects: Mapping[str, ObjectState], object_id: str, pose: AgentPose, sight: Sight
) -> Mention:
    """Describes a small object by the visible objects next to it."""
    state = objects[object_id]
    if not state.parents:
        return Mention(state.object_class)
    box = Box.of(state)
    siblings = [
        other
        for other in objects.values()
        if other.id != object_id
        and other.parents[:1] == state.parents[:1]
        and other.object_class in PICKUPABLE
    ]
    near = []
    for other in siblings:
        same = [s for s in siblings if s.object_class is other.object_class]
        if other.object_class is state.object_class or len(same) > 1:
            continue
        if other.id not in sight.visible:
            continue
        other_box = Box.of(other)
        gap = box.gap(other_box)
        if gap <= _NEIGHBOUR_METRES:
            bearing = _neighbour_side(pose, box, other_box) or Bearing.BESIDE
            near.append((gap, Relation(bearing, other.object_class)))
    near.sort(key=lambda entry: entry[0])
    return Mention(state.object_class, tuple(relation for _, relation in near[:_NEIGHBOURS]))


def _may_locate(other: ObjectState, state: ObjectState) -> bool:
    if other.object_class not in LANDMARKS or other.object_class is state.object_class:
        return False
    if other.id in state.parents or state.id in other.parents:
        return False
    pair = {other.object_class, state.object_class}
    return not any(pair <= piece for piece in _SAME_PIECE)


def _overhead(box: Box, other: Box) -> Bearing | None:
    if box.covered(other) < 0.5:
        return None
    if box.y0 >= other.y1 - _CLEARLY and box.y0 - other.y1 <= _OVERHEAD_METRES:
        return Bearing.ABOVE
    if box.y1 <= other.y1 - 2 * _CLEARLY and box.centre[1] < other.centre[1] - 2 * _CLEARLY:
        return Bearing.BELOW if other.y0 - box.y1 <= _OVERHEAD_METRES else None
    return None


def _built_into(box: Box, other: Box) -> bool:
    """Whether a drawer belongs to a desk or dresser: it lies within its box."""
    return (
        box.covered(other) >= 0.8
        and box.y0 >= other.y0 - _CLEARLY
        and box.y1 <= other.y1 + _CLEARLY
    )


def _stands_on(box: Box, other: Box) -> bool:
    """Whether something stands on another, which is then neither left nor right of it."""
    return box.y0 >= other.y1 - _CLEARLY and box.covered(other) >= 0.5


def _side(pose: AgentPose, box: Box, other: Box, x: float, z: float) -> Bearing | None:
    """Left or right of a landmark, as seen from a pose; ``None`` unless it is obvious."""
    ahead, right = ahead_and_right(pose, x, z)
    near, far, left_edge, right_edge = span_from(pose, other)
    if not near - _CLEARLY <= ahead <= far + _CLEARLY and not near <= ahead + 0.3 <= far:
        return None
    if other.distance(x, z) > _SIDE_METRES or not _overlaps_in_height(box, other):
        return None
    if right < left_edge - _CLEARLY:
        return Bearing.LEFT
    if right > right_edge + _CLEARLY:
        return Bearing.RIGHT
    return None


def _neighbour_side(pose: AgentPose, box: Box, other: Box) -> Bearing | None:
    ahead, right = ahead_and_right(pose, box.centre[0], box.centre[2])
    other_ahead, other_right = ahead_and_right(pose, other.centre[0], other.centre[2])
    _, _, box_left, box_right = span_from(pose, box)
    _, _, other_left, other_right_edge = span_from(pose, other)
    # In a perspective view left and right follow the angle, so that must agree with the floor plan.
    angle = math.atan2(right, ahead) - math.atan2(other_right, other_ahead)
    if abs(right - other_right) < abs(ahead - other_ahead):
        return None
    if box_right <= other_left and angle < 0:
        return Bearing.LEFT
    if box_left >= other_right_edge and angle > 0:
        return Bearing.RIGHT
    return None


def _overlaps_in_height(box: Box, other: Box) -> bool:
    """Whether two boxes overlap in height: a wall cabinet is over a bin, not beside it."""
    return box.y0 < other.y1 + 0.3 and other.y0 < box.y1 + 0.3


def _consistent(relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """Leaves out landmark classes that are on several sides, which would be ambiguous."""
    bearings: dict[ObjectClass, set[Bearing]] = {}
    for relation in relations:
        bearings.setdefault(relation.landmark, set()).add(relation.bearing)
    return tuple(r for r in relations if len(bearings[r.landmark]) == 1)


def _level(objects: Mapping[str, ObjectState], state: ObjectState, box: Box) -> Level | None:
    if state.object_class not in _STACKED:
        return None
    others = [
        Box.of(other)
        for other in objects.values()
        if other.object_class is state.object_class and other.id != state.id
    ]
    if state.object_class is ObjectClass.Cabinet:
        if box.y0 >= 1.1 and any(other.y0 < 0.9 for other in others):
            return Level.UPPER
        if box.y0 < 0.9 and any(other.y0 >= 1.1 for other in others):
            return Level.LOWER
        return None
    x, _, z = box.centre
    stack = [
        other
        for other in others
        if math.hypot(other.centre[0] - x, other.centre[2] - z) <= _STACK_METRES
    ]
    above = sum(other.y0 > box.y0 + _CLEARLY for other in stack)
    below = sum(other.y0 < box.y0 - _CLEARLY for other in stack)
    if not above and not below:
        return None
    if not above:
        return Level.TOP
    if not below:
        return Level.BOTTOM
    return Level.MIDDLE if above == below == 1 else None
