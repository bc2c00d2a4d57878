"""Why an interaction is refused, by what AI2-THOR says of its target. The same in every version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_clalfred.actions import Action
from gym_clalfred.objects import CLOSED_AT_START, KNIVES, ObjectClass
from gym_clalfred.simulator.contract import Failure


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
