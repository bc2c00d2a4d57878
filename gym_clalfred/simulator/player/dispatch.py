"""Finds the method of an action and checks its arguments as AI2-THOR's dispatcher does."""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from gym_clalfred.simulator.player.refusals import (
    RefusedError,
    invalid_arguments,
    missing_arguments,
    unknown_action,
    unsupported,
    wrong_type,
)

#: Arguments that every action may come with; they are about the request, not the action.
COMMON = frozenset(
    [
        "action",
        "sequenceId",
        "agentId",
        "renderImage",
        "renderObjectImage",
        "renderClassImage",
        "renderDepthImage",
        "renderNormalsImage",
        "renderInstanceSegmentation",
        "renderSemanticSegmentation",
        "renderFlowImage",
        "visibilityDistance",
        "manualInteract",
    ]
)

#: Actions of AI2-THOR that this household has nothing for.
UNSUPPORTED = frozenset(
    [
        "CreateHouse",
        "CreateObject",
        "CreateObjectAtLocation",
        "DirectionalPush",
        "FlyAhead",
        "FlyTo",
        "GetAssetDatabase",
        "GetCoordinateFromRaycast",
        "GetSpawnCoordinatesAboveReceptacle",
        "GetVisibilityPoints",
        "MakeAllObjectsMoveable",
        "MoveAgent",
        "MoveArm",
        "MoveHand",
        "MoveHandAhead",
        "MoveHandBack",
        "MoveHandDelta",
        "MoveHandDown",
        "MoveHandLeft",
        "MoveHandRight",
        "MoveHandUp",
        "MoveHeldObject",
        "MoveHeldObjectAhead",
        "MoveMidLevelArm",
        "PlaceHeldObject",
        "PlaceObjectAtPoint",
        "PullObject",
        "PushObject",
        "RandomizeColors",
        "RandomizeLighting",
        "RandomizeMaterials",
        "ResetColors",
        "ResetMaterials",
        "RotateAgent",
        "RotateHand",
        "RotateHeldObject",
        "ScaleObject",
        "SetSkybox",
        "SpawnAsset",
        "SpawnTargetCircle",
        "ThrowObject",
        "TouchThenApplyForce",
    ]
)

#: Arguments that are vectors if they are dictionaries.
_VECTORS = frozenset(["position", "rotation", "target"])

F = TypeVar("F", bound=Callable[..., Any])


def action(*names: str) -> Callable[[F], F]:
    """Marks a method as an action, under its AI2-THOR names."""

    def mark(method: F) -> F:
        method.action_names = names  # type: ignore[attr-defined]
        return method

    return mark


_FOUND: dict[type, dict[str, str]] = {}


def actions_of(owner: type) -> dict[str, str]:
    """Methods of a class by the names of the actions they do."""
    if owner in _FOUND:
        return _FOUND[owner]
    found: dict[str, str] = {}
    _FOUND[owner] = found
    for attribute in dir(owner):
        for name in getattr(getattr(owner, attribute), "action_names", ()):
            found[name] = attribute
    return found


@dataclass(frozen=True)
class _Form:
    """What a method takes: its parameters' types, which it must have, whether it takes others."""

    types: dict[str, Any]
    required: tuple[str, ...]
    takes_all: bool


@lru_cache(maxsize=256)
def _form(function: Callable[..., Any]) -> _Form:
    parameters = dict(inspect.signature(function).parameters)
    parameters.pop("self")
    rest = [name for name, each in parameters.items() if each.kind is each.VAR_KEYWORD]
    for name in rest:
        del parameters[name]
    hints = typing.get_type_hints(function)
    required = (name for name, each in parameters.items() if each.default is each.empty)
    return _Form(
        {name: hints.get(name, Any) for name in parameters},
        tuple(name for name in required if name != "action"),
        bool(rest),
    )


def call(owner: Any, request: dict[str, Any], strict: bool) -> Any:
    """Does what a request asks for; raises ``RefusedError`` if that is not possible.

    Args:
        owner: has the actions as methods marked with ``action``.
        request: the message, with ``action`` and the arguments.
        strict: whether unknown arguments are refused, as since AI2-THOR 3, or ignored.
    """
    name = str(request.get("action"))
    attribute = actions_of(type(owner)).get(name)
    if attribute is None:
        raise unsupported(name) if name in UNSUPPORTED else unknown_action(name)
    if request.get("agentId") not in (None, 0):
        raise RefusedError(
            f"agentId {request['agentId']!r}: clalfred-player has one agent, number 0"
        )
    form = _form(getattr(type(owner), attribute))
    given = {key: value for key, value in request.items() if value is not None}
    unknown = sorted(given.keys() - form.types.keys() - COMMON)
    if unknown and strict and not form.takes_all:
        raise invalid_arguments(name, unknown, form.types, sorted(given.keys() - COMMON))
    missing = [key for key in form.required if key not in given]
    if missing:
        raise missing_arguments(name, missing)
    arguments = {
        key: value if key == "action" else _convert(name, key, value, form.types[key], strict)
        for key, value in given.items()
        if key in form.types
    }
    if form.takes_all:
        rest = {k: v for k, v in given.items() if k not in arguments and k != "action"}
        arguments.update({k: _convert(name, k, v, Any, strict) for k, v in rest.items()})
    return getattr(owner, attribute)(**arguments)


def _convert(action: str, name: str, value: Any, hint: Any, strict: bool) -> Any:
    """The value as the type that the method declares; 2.1.0 also takes numbers as text."""
    kinds = [kind for kind in _alternatives(hint) if kind is not type(None)]
    if not _is_finite(value):
        raise wrong_type(action, name, value, "a finite number")
    if isinstance(value, dict) and name in _VECTORS:
        _check_vector(action, name, value)
    if Any in kinds:
        return value
    for kind in kinds:
        origin = typing.get_origin(kind) or kind
        if origin is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if origin is not float and isinstance(value, origin):
            return value
    if not strict and float in kinds and isinstance(value, str):
        with suppress(ValueError):
            return float(value)
    wanted = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
    raise wrong_type(action, name, value, wanted)


def _is_finite(value: Any) -> bool:
    """Whether there is no infinite number, and none that is NaN, in a value."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else True


def _check_vector(action: str, name: str, value: dict[str, Any]) -> None:
    for axis in "xyz":
        part = value.get(axis)
        if isinstance(part, bool) or not isinstance(part, (int, float, type(None))):
            raise wrong_type(action, name, value, "Vector3")


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        return typing.get_args(hint)
    return (hint,)
