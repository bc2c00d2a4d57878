"""Actions about what pictures and metadata show of the objects."""

# ruff: noqa: N803 - parameters have AI2-THOR's names

from __future__ import annotations

from gym_clalfred.simulator.contract import Failure
from gym_clalfred.simulator.embedded.things import Thing
from gym_clalfred.simulator.player.dispatch import action
from gym_clalfred.simulator.player.queries import Queries
from gym_clalfred.simulator.player.refusals import RefusedError, refusal

#: Colours of masked and of emphasised objects.
BLACK, MAGENTA = (0, 0, 0), (255, 0, 255)


class DisplayActions(Queries):
    """Hidden, masked and emphasised objects, and those that the metadata tells of."""

    @action("HideObject", "DisableObject", "UnhideObject", "EnableObject")
    def hide(self, action: str, objectId: str) -> None:
        """Leaves an object out of the pictures, or shows it again."""
        if not self.world.hide(objectId, action in ("HideObject", "DisableObject")):
            raise refusal(Failure.UNKNOWN_TARGET, objectId)

    @action("MaskObject")
    def mask(self, objectId: str) -> None:
        """Shows an object in plain black."""
        self.world.masks[self._thing(objectId).id] = BLACK

    @action("UnmaskObject")
    def unmask(self, objectId: str) -> None:
        """Shows an object in its own colours again."""
        self.world.masks.pop(self._thing(objectId).id, None)

    @action("EmphasizeObject")
    def emphasize(self, objectId: str) -> None:
        """Shows an object in plain magenta, and nothing else."""
        thing = self._thing(objectId)
        self.unemphasize()
        for other in self._standing():
            if other is not thing:
                self.world.hide(other.id, True)
        self.world.hide(objectId, False)
        self.world.masks[objectId] = MAGENTA
        self.world.emphasized = objectId

    @action("UnemphasizeAll")
    def unemphasize(self) -> None:
        """Shows all objects in their own colours again."""
        self.world.masks.clear()
        self.world.emphasized = None
        for thing in self._standing():
            if thing.id in self.world.hidden:
                self.world.hide(thing.id, False)

    @action("SetObjectFilter")
    def set_filter(self, objectIds: list) -> None:
        """Has the metadata tell of these objects only."""
        unknown = [name for name in objectIds if self.world.household.get(str(name)) is None]
        if unknown:
            raise RefusedError(f"Object ID {unknown[0]} appears to be invalid.", "InvalidArgument")
        self.world.listed = frozenset(map(str, objectIds))

    @action("ResetObjectFilter")
    def reset_filter(self) -> None:
        """Has the metadata tell of all objects again."""
        self.world.listed = None

    def _standing(self) -> list[Thing]:
        """All objects that are not in or on others, which are hidden and shown with them."""
        return [t for t in self.world.household.things if t.alive and t.holder is None]
