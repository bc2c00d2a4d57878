"""How AI2-THOR words its refusals, with its error codes."""

from __future__ import annotations

from collections.abc import Iterable

from gym_clalfred.simulator.contract import Failure


class RefusedError(Exception):
    """An action that is not done.

    Args:
        message: AI2-THOR's ``errorMessage``.
        code: AI2-THOR's ``errorCode``; most refusals have none.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


_WORDS = {
    Failure.BLOCKED: ("A structure is blocking Agent 0 from moving there.", ""),
    Failure.LOOK_LIMIT: ("The camera cannot look beyond its limits.", ""),
    Failure.UNKNOWN_TARGET: ("Object ID {target} appears to be invalid.", ""),
    Failure.NOT_VISIBLE: (
        "Target object {target} not found within the specified visibility.",
        "ObjectNotVisible",
    ),
    Failure.TOO_FAR: (
        "Target object {target} not found within the specified visibility distance.",
        "ObjectNotVisible",
    ),
    Failure.NOT_PICKUPABLE: (
        "{target} must have the property CanPickup to be picked up.",
        "ObjectNotPickupable",
    ),
    Failure.HANDS_FULL: (
        "Agent hand has something in it already! Can't pick up anything else",
        "InventoryFull",
    ),
    Failure.HANDS_EMPTY: ("Agent's hand is empty! Nothing to put.", "ObjectNotInInventory"),
    Failure.NOT_RECEPTACLE: ("{target} is not a receptacle, cannot place an object in it", ""),
    Failure.CLOSED: ("Target openable Receptacle is CLOSED, can't place if target is not open!",
                     "ReceptacleNotOpen"),
    Failure.NO_SPACE: ("No valid positions to place object found", "ReceptacleFull"),
    Failure.NOT_OPENABLE: ("{target} is not an Openable object", ""),
    Failure.ALREADY_OPEN: ("{target} is already open.", ""),
    Failure.ALREADY_CLOSED: ("{target} is already closed.", ""),
    Failure.MUST_BE_OFF: ("Object's toggle state must be off before opening or closing!", ""),
    Failure.MUST_BE_CLOSED: ("Object must be closed first!", ""),
    Failure.NOT_TOGGLEABLE: ("{target} is not a toggleable object", ""),
    Failure.ALREADY_ON: ("{target} is already On", ""),
    Failure.ALREADY_OFF: ("{target} is already Off", ""),
    Failure.NOT_SLICEABLE: ("{target} Does not have the CanBeSliced property!", ""),
    Failure.NO_KNIFE: ("A knife must be held to slice {target}", ""),
}  # fmt: skip


def refusal(failure: Failure, target: str = "") -> RefusedError:
    """AI2-THOR's words for a failure of the household."""
    words, code = _WORDS.get(failure, (failure.value, ""))
    return RefusedError(words.format(target=target), code)


def unknown_action(action: str) -> RefusedError:
    """For a name that is no action."""
    return RefusedError(f"Invalid action: {action}", "InvalidAction")


def invalid_arguments(
    action: str, invalid: Iterable[str], expected: Iterable[str], given: Iterable[str]
) -> RefusedError:
    """For arguments that an action does not have."""
    names = ", ".join(f"'{name}'" for name in invalid)
    return RefusedError(
        f'Action: "{action}" called with invalid argument(s): {names}'
        f"\n\tExpected arguments: {', '.join(expected)}"
        f"\n\tYour arguments: {', '.join(given)}",
        "InvalidArgument",
    )


def wrong_type(action: str, name: str, value: object, wanted: str) -> RefusedError:
    """For an argument that cannot be converted."""
    return RefusedError(
        f"action: {action} has an invalid argument: {name} (=={value!r}). "
        f"Cannot convert to: {wanted}",
        "InvalidArgument",
    )


def missing_arguments(action: str, names: Iterable[str]) -> RefusedError:
    """For arguments that an action needs."""
    return RefusedError(
        f"action: {action} is missing the following arguments: {','.join(names)}",
        "MissingArguments",
    )


def unsupported(action: str) -> RefusedError:
    """For actions that exist in AI2-THOR but not in this player."""
    return RefusedError(f"{action} is not supported by clalfred-player")
