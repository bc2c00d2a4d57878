"""What a room is: its shell, what stands fixed in it, and where things can be put.

Generated rooms and rooms reconstructed from ALFRED's data are both described by these types, and
the household rules and the renderer know nothing else about a room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gym_clalfred.objects import ObjectClass
from gym_clalfred.rooms import RoomType
from gym_clalfred.simulator.contract import ObjectPose, Vector

#: Height of AI2-THOR's agent above the floor (y = 0); the camera is ``CAMERA_ABOVE_AGENT`` higher.
AGENT_HEIGHT = 0.9

#: Radius of the cylinder that collides with walls and furniture.
AGENT_RADIUS = 0.2


@dataclass(frozen=True)
class Rectangle:
    """An axis-parallel rectangle on the floor plan."""

    x0: float
    z0: float
    x1: float
    z1: float


@dataclass(frozen=True)
class PlacementHint:
    """Where things come to lie that are put on a surface, as it was measured.

    Args:
        object_class: of the things; ``None`` for all others.
        x, z: of their base centres, in the frame of the surface's object.
        turn: their recorded yaw in that frame.
    """

    object_class: ObjectClass | None
    x: float
    z: float
    turn: float = 0.0


@dataclass(frozen=True)
class Surface:
    """A horizontal rectangle of a receptacle on which things stand, in the object's own frame.

    An object's own frame has its origin at the centre of its base, y up, and its front towards +z;
    ``yaw`` turns it clockwise seen from above, so +z becomes (sin yaw, cos yaw) in x, z.

    Args:
        area: where things may stand, edges included.
        y: height of the surface above the object's base.
        clearance: free height above it.
        inside: whether it is hidden and out of reach while the object is closed.
        overhang: share of an item's extent that may stick out over each edge of the area.
        hints: where things are put first, if it was measured.
    """

    area: Rectangle
    y: float
    clearance: float
    inside: bool = False
    overhang: float = 0.25
    hints: tuple[PlacementHint, ...] = ()

    def hint_for(self, object_class: ObjectClass) -> PlacementHint | None:
        """The hint for a class, else the one for all."""
        fitting = [hint for hint in self.hints if hint.object_class in (object_class, None)]
        return max(fitting, key=lambda hint: hint.object_class is not None, default=None)


@dataclass(frozen=True)
class Block:
    """An axis-parallel box in an object's own frame, from its low to its high corner."""

    low: Vector
    high: Vector


@dataclass(frozen=True)
class Fixture:
    """One object that stays where it is: furniture, appliances, parts of them, wall decoration.

    Args:
        name: unique in the room, the class, an underscore and a tag; one with ``|`` in it is the
            object's id itself, for rooms whose ids are recorded.
        object_class: what it is.
        position: centre of its base, in metres.
        yaw: degrees; the front looks towards (sin yaw, cos yaw).
        size: extents (width x, height y, depth z) in its own frame, while closed.
        style: number that selects shape variant and colours.
        part_of: name of the fixture that this one is built into, as a drawer is.
        solid: whether it keeps the agent away; wall decoration, rugs and high cabinets do not.
        surfaces: where it holds things, if not where the catalogue says.
        blocks: its shape, if it was measured; else the catalogue's is drawn.
    """

    name: str
    object_class: ObjectClass
    position: Vector
    yaw: float
    size: Vector
    style: int = 0
    part_of: str | None = None
    solid: bool = True
    surfaces: tuple[Surface, ...] | None = None
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Body:
    """A box that belongs to the room and is no object: a carcass, a leg, a board, a plinth.

    Args:
        low, high: its corners in the room.
        colour: sRGB 0-255.
        texture: name of the renderer's.
    """

    low: Vector
    high: Vector
    colour: tuple[int, int, int]
    texture: str = "plain"


@dataclass(frozen=True)
class Opening:
    """A window or door in a wall: a rectangle along the wall from ``start`` to ``end`` metres."""

    kind: str
    start: float
    end: float
    bottom: float
    top: float


@dataclass(frozen=True)
class Wall:
    """A straight wall from (x0, z0) to (x1, z1); the room is on its right-hand side."""

    x0: float
    z0: float
    x1: float
    z1: float
    openings: tuple[Opening, ...] = ()


@dataclass(frozen=True)
class Decor:
    """Materials and light of a room: colours are sRGB 0-255, textures names of the renderer."""

    wall_colour: tuple[int, int, int]
    wall_texture: str
    floor_colour: tuple[int, int, int]
    floor_texture: str
    ceiling_colour: tuple[int, int, int]
    light_colour: tuple[float, float, float] = (1.0, 1.0, 1.0)
    light_direction: Vector = (0.4, 0.8, 0.3)
    ambient: float = 0.5


@dataclass(frozen=True)
class ItemShape:
    """Size and origin of a pickupable object whose poses do not mean the centre of its base.

    AI2-THOR gives an object's own origin, which may be anywhere in it.

    Args:
        size: extents (width x, height y, depth z).
        origin: from the recorded position to the centre of the base, before the recorded yaw.
        turn: degrees to add to the recorded yaw.
        blocks: its form, if that was measured too; else the catalogue's is drawn.
    """

    size: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    turn: float = 0.0
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Room:
    """A room without an agent in it.

    Args:
        number: AI2-THOR's scene number.
        floor: rectangles whose union is the floor.
        walls: the outline, closed, seen from inside.
        height: of the ceiling.
        fixtures: everything that stays in place, wholes before their parts.
        walkable: grid points (x, z) on which the agent can stand.
        items: default poses of the pickupable objects.
        decor: materials and light.
        shapes: of pickupable objects by name, or by class name for the other names; what is in
            neither has the catalogue's size and is placed by the centre of its base.
        bodies: what else is built into it.
    """

    number: int
    floor: tuple[Rectangle, ...]
    walls: tuple[Wall, ...]
    height: float
    fixtures: tuple[Fixture, ...]
    walkable: frozenset[tuple[float, float]]
    items: tuple[ObjectPose, ...]
    decor: Decor
    shapes: Mapping[str, ItemShape] = field(default_factory=dict, hash=False)
    bodies: tuple[Body, ...] = ()

    @property
    def room_type(self) -> RoomType:
        """Kitchen, living room, bedroom or bathroom."""
        return RoomType.of(self.number)


@dataclass(frozen=True)
class Demand:
    """What an episode needs to find in the room.

    Args:
        object_class: of the objects, not a sliced form.
        count: how many there must be at least; more may lie around.
        not_in: receptacle classes in or on which no object of the class may start.
        only_in: if given, all of them start in or on one of these receptacle classes.
    """

    object_class: ObjectClass
    count: int = 1
    not_in: frozenset[ObjectClass] = frozenset()
    only_in: frozenset[ObjectClass] | None = None

    def allows(self, holder: ObjectClass) -> bool:
        """Whether an object of the class may start in or on a receptacle class."""
        return holder not in self.not_in and (self.only_in is None or holder in self.only_in)
