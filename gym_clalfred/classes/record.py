"""What there is to know about an object class, in one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gym_clalfred.errors import BadInputError

_Vector = tuple[float, float, float]

#: What a class may be, and what can be done with it.
TRAITS = {
    "pickupable": "can be carried",
    "receptacle": "holds other objects",
    "movable": "a receptacle that ALFRED's tasks carry",
    "openable": "has a door, a drawer front or a lid",
    "closed": "a container that hides its contents until opened",
    "inside": "things are in it, not on it",
    "knife": "can slice",
    "heatable": "a target of Heat tasks",
    "coolable": "a target of Cool tasks",
    "cleanable": "a target of Clean tasks",
    "lamp": "of Examine tasks",
    "toggleable": "can be switched on and off",
    "part": "of another object; never stands alone",
    "on_floor": "stands on the floor at a wall",
    "top": "looked at from above rather than at its middle",
    "landmark": "people say by it where furniture is",
    "dish": "may be dirty at the start",
    "breakable": "in AI2-THOR",
    "fillable": "with liquid, in AI2-THOR",
    "dirtyable": "in AI2-THOR, besides dishes",
    "used_up": "can be, in AI2-THOR",
    "cookable": "in AI2-THOR",
    "heat_source": "in AI2-THOR",
    "cold_source": "in AI2-THOR",
    "moveable": "can be pushed, in AI2-THOR",
}


@dataclass(frozen=True)
class ClassRecord:
    """All that is known of an object class but its label and its shape.

    Args:
        size: usual width (x), height (y) and depth (z) in metres, and the share by which styles
            differ from it. Small objects follow the widths that ALFRED's recorded masks show;
            furniture is what one finds at home. Long thin things lie along their own z axis.
        words: what people call it, the usual name first; after "=" stands what cannot be counted
            ("the soap is"), after "+" a plural ("the keys are"). Sliced forms follow their whole.
        traits: of ``TRAITS``.
        material: in AI2-THOR.
        rooms: how many of AI2-THOR's 30 kitchens, living rooms, bedrooms and bathrooms have one.
        copies: shares of rooms with one, two and three.
        goes_in: the receptacles that ALFRED puts it in or on.
        starts_in: more receptacles in or on which it may lie at the start.
        favourites: how much likelier it lies there than other things do.
        tips_in: the receptacles in which it lies on its side.
        target_count: ALFRED's trajectories with it as target.
        receptacle_count: those that end at it.
        movable_count: those that use it as movable receptacle.
        inclination: how much likelier people leave things there than on another of its size.
        thor_item: size, origin and turn of AI2-THOR's objects of the class, for those with few or
            no masks; see ``ItemShape``.
        thor_box: the box of AI2-THOR's furniture of the class: to each side, behind, before, low
            and high in metres, and whether it stands on the floor; see ``UsualBox``.
        draw: for a class of another package, ``module:function`` that draws it, as the functions
            of the catalog do.
    """

    size: tuple[float, float, float, float]
    words: str = ""
    traits: str = ""
    material: str = ""
    rooms: tuple[int, int, int, int] = (0, 0, 0, 0)
    copies: tuple[float, float, float] = (0.3, 0.45, 0.25)
    goes_in: str = ""
    starts_in: str = ""
    favourites: Mapping[str, float] = field(default_factory=dict)
    tips_in: str = ""
    target_count: int = 0
    receptacle_count: int = 0
    movable_count: int = 0
    inclination: float = 0.0
    thor_item: tuple[_Vector, _Vector, float] | None = None
    thor_box: tuple[float, float, float, float, float, bool] | None = None
    draw: str = ""

    def __post_init__(self) -> None:
        unknown = set(self.traits.split()) - TRAITS.keys()
        if unknown:
            raise BadInputError(f"traits {sorted(unknown)}: expected some of {', '.join(TRAITS)}")
