"""The facts about a demonstration that the grammar puts into words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gym_clalfred.objects import ObjectClass


class Turn(Enum):
    """A change of heading before walking on."""

    NONE = 0
    LEFT = 1
    RIGHT = 2
    AROUND = 3


class Bearing(Enum):
    """Where something is, seen from the pose in which the agent arrives."""

    BESIDE = "beside"
    LEFT = "left"
    RIGHT = "right"
    ABOVE = "above"
    BELOW = "below"
    PART = "part"


class Level(Enum):
    """How high a cabinet, drawer or shelf is compared with the others."""

    UPPER = "upper"
    LOWER = "lower"
    TOP = "top"
    BOTTOM = "bottom"
    MIDDLE = "middle"


@dataclass(frozen=True)
class Leg:
    """A turn and the number of moves that follow it."""

    turn: Turn
    moves: int


@dataclass(frozen=True)
class Relation:
    """Where an object is relative to a landmark; ``unique`` if the room has only one such."""

    bearing: Bearing
    landmark: ObjectClass
    unique: bool = True


@dataclass(frozen=True)
class Mention:
    """One object that a sentence names, and what can be said about where it is."""

    object_class: ObjectClass
    relations: tuple[Relation, ...] = ()
    level: Level | None = None


@dataclass(frozen=True)
class StepFacts:
    """One step of ALFRED's high-level plan.

    Args:
        action: ALFRED's name, such as GotoLocation or HeatObject.
        target: what is picked up, put down, treated or switched; for GotoLocation what is there.
        place: the receptacle that the target is taken from or put in; for GotoLocation where to.
        within: the container that has the place inside and is opened and closed for it, such as the
            fridge when something is put in a pot that stands there.
        held: what the agent carries when the step begins.
        filling: what a picked-up or carried receptacle contains.
        opened: whether the place is opened and closed for it.
        repeated: whether the agent has been there, or done the same to another one, before.
        legs: the walk of a GotoLocation.
        distance: metres between start and end of the walk, as the crow flies.
        nearer: metres by which the walk brings the agent nearer to the place; negative if it steps
            back.
        tilt: degrees by which the camera ends lower (positive) or higher than it began.
    """

    action: str
    target: Mention | None = None
    place: Mention | None = None
    within: Mention | None = None
    held: ObjectClass | None = None
    filling: ObjectClass | None = None
    opened: bool = False
    repeated: bool = False
    legs: tuple[Leg, ...] = ()
    distance: float = 0.0
    nearer: float = 1.0
    tilt: int = 0
