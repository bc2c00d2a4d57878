"""Actions that change what an object is like, beyond what ALFRED's household knows of."""

# ruff: noqa: N803 - parameters have AI2-THOR's names

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.player import traits
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.queries import Queries
from gym_clalfred.simulator.player.refusals import RefusedError, unsupported
from gym_clalfred.simulator.player.traits import ThorCondition

LIQUIDS = ("coffee", "water", "wine")


class ConditionActions(Queries):
    """Dirt, damage, cooking, liquids and supplies. Of these only dirt shows in the pictures."""

    @action("DirtyObject", "CleanObject")
    def soil(self, action: str, objectId: str, forceAction: bool = False) -> None:
        """Makes an object dirty or clean."""
        thing = self._capable(objectId, traits.DIRTYABLE, "dirtyable", forceAction)
        dirty = action == "DirtyObject"
        if thing.is_dirty is dirty:
            raise RefusedError(f"{objectId} is already {'dirty' if dirty else 'clean'}!")
        self.world.change(thing, is_dirty=dirty)

    @action("BreakObject")
    def break_object(self, objectId: str, forceAction: bool = False) -> None:
        """Breaks an object; it stays in one piece to look at."""
        thing = self._capable(objectId, traits.BREAKABLE, "CanBreak", forceAction)
        if self.world.condition(thing).is_unbreakable:
            raise RefusedError(f"{objectId} is unbreakable!")
        self._set(thing, "is_broken", True, "broken")

    @action("MakeAllObjectsUnbreakable", "MakeObjectsOfTypeUnbreakable")
    def make_unbreakable(self, objectType: str | None = None) -> None:
        """Has nothing break any more, or nothing of a type."""
        for thing in self.world.household.things:
            if objectType in (None, thing.object_class.name):
                self._set_unbreakable(thing, True)

    @action("MakeObjectBreakable", "MakeObjectUnbreakable")
    def make_breakable(self, action: str, objectId: str) -> None:
        """Has one object break again, or not any more."""
        self._set_unbreakable(self._thing(objectId), action == "MakeObjectUnbreakable")

    @action("ChangeOpenSpeed")
    def change_speed(self, x: float) -> None:
        """Things open at once here, whatever the speed."""

    @action("CookObject")
    def cook(self, objectId: str, forceAction: bool = False) -> None:
        """Cooks an object."""
        thing = self._capable(objectId, traits.COOKABLE, "CanBeCooked", forceAction)
        self._set(thing, "is_cooked", True, "Cooked")

    @action("UseUpObject")
    def use_up(self, objectId: str, forceAction: bool = False) -> None:
        """Uses a supply up."""
        thing = self._capable(objectId, traits.USED_UP, "CanBeUsedUp", forceAction)
        self._set(thing, "is_used_up", True, "used up")

    @action("FillObjectWithLiquid")
    def fill(self, objectId: str, fillLiquid: str = "water", forceAction: bool = False) -> None:
        """Fills an object."""
        if fillLiquid not in LIQUIDS:
            raise RefusedError(f"{fillLiquid} is not a valid Liquid Type: {', '.join(LIQUIDS)}")
        thing = self._capable(objectId, traits.FILLABLE, "CanBeFilled", forceAction)
        if self.world.condition(thing).liquid is not None:
            raise RefusedError(f"{objectId} is already Filled!")
        self._set(thing, "liquid", fillLiquid, "Filled")

    @action("EmptyLiquidFromObject")
    def empty(self, objectId: str, forceAction: bool = False) -> None:
        """Pours a liquid away."""
        thing = self._capable(objectId, traits.FILLABLE, "CanBeFilled", forceAction)
        self._set(thing, "liquid", None, "empty")

    @action("SetStateOfAllObjects")
    def set_all(self, StateChange: str, forceAction: bool = False) -> None:
        """2.1.0's way to make all dishes dirty or clean, or to fill or empty all that holds liquid.

        ``forceAction`` is the state that is wanted.
        """
        if StateChange not in ("CanBeDirty", "CanBeFilled"):
            raise unsupported(f"SetStateOfAllObjects with StateChange={StateChange!r}")
        world = self.world
        if StateChange == "CanBeDirty":
            world.scene = replace(world.scene, dirty_and_empty=forceAction)
            world.set_dirty(forceAction)
            return
        liquid = "water" if forceAction else None
        for thing in world.household.things:
            if thing.alive and thing.object_class in traits.FILLABLE:
                world.set_condition(thing, replace(world.condition(thing), liquid=liquid))

    @action(
        "SetRoomTempDecayTimeForType",
        "SetGlobalRoomTempDecayTime",
        "SetDecayTemperatureBool",
    )
    def set_decay(
        self,
        objectType: str | None = None,
        TimeUntilRoomTemp: float | None = None,
        allowDecayTemperature: bool | None = None,
    ) -> None:
        """Nothing cools down by itself here."""

    def _set_unbreakable(self, thing: Thing, unbreakable: bool) -> None:
        if thing.object_class in traits.BREAKABLE:
            before = self.world.condition(thing)
            self.world.set_condition(thing, replace(before, is_unbreakable=unbreakable))

    def _capable(
        self, object_id: str, kinds: frozenset[ObjectClass], name: str, forced: bool
    ) -> Thing:
        thing = self._thing(object_id)
        if thing.object_class not in kinds:
            raise RefusedError(f"{object_id} does not have {name} property!")
        self._visible_or_forced(object_id, forced)
        return thing

    def _set(self, thing: Thing, field: str, value: Any, word: str) -> None:
        before: ThorCondition = self.world.condition(thing)
        if getattr(before, field) == value:
            raise RefusedError(f"{thing.id} is already {word}!")
        self.world.set_condition(thing, replace(before, **{field: value}))
