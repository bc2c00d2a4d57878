"""The objects of a household: what each is, where it is, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gym_clalfred.objects import CLOSED_AT_START, OPENABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectState, Vector
from gym_clalfred.simulator.embedded.catalog import is_tipped, model_of, posed_size
from gym_clalfred.simulator.embedded.catalog.effects import Appearance
from gym_clalfred.simulator.embedded.placement import Spot, sine_cosine, turn
from gym_clalfred.simulator.embedded.room_model import Block, Fixture, Surface

#: Classes whose contents are out of sight and reach while they are closed.
HIDING = OPENABLE & CLOSED_AT_START


@dataclass(eq=False, slots=True)
class Thing:
    """One object. Its place is relative to what holds it, so that whatever moves takes it along.

    Args:
        index: position in the household's list; never changes within an episode.
        id: AI2-THOR's object id.
        object_class: what it is.
        size: extents in its usual posture.
        style: selects shape variant and colours.
        surfaces: where it holds things, in its own frame.
        place: base centre and turn in the holder's frame, or in the room's without a holder.
        fixture: the room's fixture that it is, ``None`` for what can be carried.
        blocks: its form, if that was measured.
        holder: what it stands in or on.
        surface: the holder's surface that it stands on.
        tipped: whether it is turned about its own x axis, as cutlery in a mug is.
        contents: what stands directly in or on it, in the order it came.
        alive: ``False`` once it was sliced.
        position: base centre in the room; for what is held, where it was last.
        yaw: degrees in the room.
        hidden: whether it is in something closed.
        state: cached description.
    """

    index: int
    id: str
    object_class: ObjectClass
    size: Vector
    style: int
    surfaces: tuple[Surface, ...]
    place: Spot
    fixture: Fixture | None = None
    blocks: tuple[Block, ...] = ()
    holder: Thing | None = None
    surface: Surface | None = None
    tipped: bool = False
    contents: list[Thing] = field(default_factory=list)
    alive: bool = True
    is_open: bool = False
    is_on: bool = False
    is_sliced: bool = False
    is_dirty: bool = False
    cleaned: bool = False
    heated: bool = False
    cooled: bool = False
    position: Vector = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    hidden: bool = False
    state: ObjectState | None = None

    @property
    def box(self) -> Vector:
        """Extents in the posture it has now, before its yaw."""
        return posed_size(self.size, self.tipped)

    @property
    def look(self) -> Appearance:
        """What of its state shows."""
        return Appearance(
            is_open=self.is_open,
            is_on=self.is_on,
            is_dirty=self.is_dirty,
            heated=self.heated,
            cooled=self.cooled,
            tipped=self.tipped,
        )

    @property
    def is_shut(self) -> bool:
        """Whether its contents are out of reach."""
        return self.object_class in HIDING and not self.is_open

    def holders(self) -> Iterator[Thing]:
        """What holds it, the innermost first."""
        holder = self.holder
        while holder is not None:
            yield holder
            holder = holder.holder

    def tree(self) -> Iterator[Thing]:
        """Itself and all that is directly or indirectly in it."""
        yield self
        for thing in self.contents:
            yield from thing.tree()

    def settle(self) -> None:
        """Works out where it and its contents are in the room, and what of them is hidden."""
        place, holder = self.place, self.holder
        x, y, z, yaw = place.x, place.y, place.z, place.yaw
        self.hidden = False
        if holder is not None:
            x, z = turn(x, z, holder.yaw)
            x, y, z = x + holder.position[0], y + holder.position[1], z + holder.position[2]
            yaw = (yaw + holder.yaw) % 360.0
            shut = holder.is_shut and self.surface is not None and self.surface.inside
            self.hidden = holder.hidden or shut
        slide = model_of(self.object_class).slide(self.size, self.is_open)
        if slide:
            sine, cosine = sine_cosine(yaw)
            x, z = x + sine * slide, z + cosine * slide
        self.position, self.yaw = (x, y, z), yaw
        self.state = None
        for thing in self.contents:
            thing.settle()

    def local(self, x: float, z: float) -> tuple[float, float]:
        """A point of the room's floor plan in the thing's own frame."""
        return turn(x - self.position[0], z - self.position[2], -self.yaw)

    def tips_in(self, holder: Thing) -> bool:
        """Whether it would take its tipped posture there; what holds something stays upright."""
        return not self.contents and is_tipped(self.object_class, holder.object_class)

    def attach(self, holder: Thing, surface: Surface, spot: Spot, tip: bool = True) -> None:
        """Stands the thing on a surface of another, in the posture it takes there."""
        self.holder, self.surface, self.place = holder, surface, spot
        self.tipped = tip and self.tips_in(holder)
        holder.contents.append(self)
        self.settle()

    def detach(self) -> None:
        """Takes the thing out of its holder, back in its usual posture; it keeps its contents."""
        if self.holder is not None:
            self.holder.contents.remove(self)
        self.holder, self.surface, self.tipped = None, None, False
        self.place = Spot(*self.position, self.yaw)
        self.settle()

    def describe(self) -> ObjectState:
        """The thing's state, cached until something about it changes."""
        if self.state is None:
            self.state = ObjectState(
                id=self.id,
                object_class=self.object_class,
                position=self.position,
                rotation=(0.0, self.yaw, 0.0),
                size=self.box,
                parents=tuple(holder.id for holder in self.holders()),
                contents=tuple(thing.id for thing in self.tree() if thing is not self),
                is_open=self.is_open,
                is_on=self.is_on,
                is_sliced=self.is_sliced,
                is_dirty=self.is_dirty,
                cleaned=self.cleaned,
                heated=self.heated,
                cooled=self.cooled,
            )
        return self.state
