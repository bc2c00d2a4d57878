"""Room types, scene numbers, which split uses which rooms, and class frequencies."""

from __future__ import annotations

from enum import Enum

from gym_clalfred.classes import INSTALLED
from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import CLASSES, ObjectClass


class RoomType(str, Enum):
    """The four kinds of rooms, which are also the tasks of Environment-IL."""

    KITCHEN = "Kitchen"
    LIVING_ROOM = "LivingRoom"
    BEDROOM = "Bedroom"
    BATHROOM = "Bathroom"

    @property
    def paper_name(self) -> str:
        """The environment's name in the CL-ALFRED paper."""
        return self.value

    @property
    def numbers(self) -> range:
        """AI2-THOR's scene numbers of this room type."""
        first = _FIRST_NUMBER[self]
        return range(first, first + ROOMS_PER_TYPE)

    @property
    def more_numbers(self) -> range:
        """Numbers of rooms of this type that only the embedded household has."""
        first = _FIRST_OF_MORE[self]
        return range(first, first + _MORE_PER_TYPE)

    @classmethod
    def of(cls, number: int) -> RoomType:
        """The type of a room; raises ``BadInputError`` for a number that no room has."""
        for room_type in cls:
            if number in room_type.numbers or number in room_type.more_numbers:
                return room_type
        raise BadInputError(
            f"no room has number {number!r}: expected 1-30 or 1001-1990 (kitchens), 201-230 or "
            "2001-2990 (living rooms), 301-330 or 3001-3990 (bedrooms), 401-430 or 4001-4990 "
            "(bathrooms)"
        )


def is_room(number: int) -> bool:
    """Whether the embedded household has a room of this number."""
    return any(number in kind.numbers or number in kind.more_numbers for kind in RoomType)


def _more(first: int, count: int) -> tuple[int, ...]:
    """A run of rooms of every type that only the embedded household has."""
    return tuple(n for kind in RoomType for n in kind.more_numbers[first : first + count])


ROOMS_PER_TYPE = 30
_FIRST_NUMBER = {
    RoomType.KITCHEN: 1,
    RoomType.LIVING_ROOM: 201,
    RoomType.BEDROOM: 301,
    RoomType.BATHROOM: 401,
}
# AI2-THOR has no scene of four digits, so these stay free of its numbers.
_MORE_PER_TYPE = 33 * ROOMS_PER_TYPE
_FIRST_OF_MORE = {
    RoomType.KITCHEN: 1001,
    RoomType.LIVING_ROOM: 2001,
    RoomType.BEDROOM: 3001,
    RoomType.BATHROOM: 4001,
}

#: Every scene number of AI2-THOR, in order.
ROOM_NUMBERS = tuple(number for room_type in RoomType for number in room_type.numbers)

#: Scenes that only ``valid_unseen`` uses.
VALID_UNSEEN_NUMBERS = (10, 219, 308, 424)

#: Scenes of ALFRED's unpublished tests.
ALFRED_TEST_NUMBERS = (9, 29, 215, 226, 315, 325, 404, 425)

#: Rooms that only ``test_unseen`` uses: ALFRED's test scenes and six more rooms of each type.
TEST_UNSEEN_NUMBERS = (*ALFRED_TEST_NUMBERS, *_more(0, 6))

#: Rooms for the pre-training of encoders, 60 of each type. No split uses any of them.
PRETRAINING_NUMBERS = _more(ROOMS_PER_TYPE, 2 * ROOMS_PER_TYPE)

#: Scenes of ``train``, ``valid_seen`` and ``test_seen``.
TRAIN_NUMBERS = tuple(
    number
    for number in ROOM_NUMBERS
    if number not in VALID_UNSEEN_NUMBERS and number not in ALFRED_TEST_NUMBERS
)


def _frequencies(room_type: RoomType) -> dict[ObjectClass, float]:
    place = list(RoomType).index(room_type)
    return {
        kind: CLASSES[kind].rooms[place] / ROOMS_PER_TYPE
        # Classes of other packages come last, so that furniture is the same without them.
        for kind in sorted(CLASSES, key=lambda kind: (kind.name in INSTALLED, kind.name))
        if CLASSES[kind].rooms[place]
    }


#: Share of AI2-THOR's rooms of a type that contain a class at all.
CLASS_FREQUENCY = {room_type: _frequencies(room_type) for room_type in RoomType}
