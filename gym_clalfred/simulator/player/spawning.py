"""Moves the pickupable objects of a room to places chosen at random: ``InitialRandomSpawn``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gym_clalfred.compatibility import ACCEPTS
from gym_clalfred.objects import PICKUPABLE, RECEPTACLES, ObjectClass
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import Spot, extents, footprint, overlaps
from gym_clalfred.simulator.embedded.putting import extents_with_contents
from gym_clalfred.simulator.embedded.room_model import Surface
from gym_clalfred.simulator.embedded.things import HIDING, Thing


@dataclass(frozen=True)
class Wishes:
    """How objects are to be moved.

    Args:
        seed: of the random choices.
        outside: whether nothing may go where it is hidden.
        attempts: random points that are tried on each receptacle.
        excluded: ids of objects that stay where they are.
        closed_to: classes of receptacles into which nothing goes.
        counts: of some classes, how many objects to place; missing ones are copied.
        free: of some classes, how many receptacles get nothing.
    """

    seed: int = 0
    outside: bool = False
    attempts: int = 5
    excluded: frozenset[str] = frozenset()
    closed_to: frozenset[ObjectClass] = frozenset()
    counts: Mapping[ObjectClass, int] = field(default_factory=dict)
    free: Mapping[ObjectClass, int] = field(default_factory=dict)


@dataclass
class SpawnResult:
    """What came of it.

    Args:
        placed: things that have a new place.
        left: things that found none and stay where they are.
        copies: new things, each with what it is a copy of.
    """

    placed: list[Thing] = field(default_factory=list)
    left: list[Thing] = field(default_factory=list)
    copies: list[tuple[Thing, Thing]] = field(default_factory=list)


def shuffle(household: Household, wishes: Wishes) -> SpawnResult:
    """Moves what may be moved; the household is to be built anew afterwards."""
    return _Shuffle(household, wishes).run()


class _Shuffle:
    def __init__(self, household: Household, wishes: Wishes) -> None:
        self._household = household
        self._wishes = wishes
        self._rng = np.random.default_rng(wishes.seed)
        self._result = SpawnResult()
        self._kept_free = self._choose_free()

    def run(self) -> SpawnResult:
        movers = self._movers()
        order = self._rng.permutation(len(movers)).tolist()
        # What is in something is moved before what it is in.
        order.sort(key=lambda k: -len(list(movers[k].holders())))
        for k in order:
            placed = self._place(movers[k])
            (self._result.placed if placed else self._result.left).append(movers[k])
        for kind, count in sorted(self._wishes.counts.items()):
            originals = [thing for thing in movers if thing.object_class is kind]
            for _ in range(count - len(originals) if originals else 0):
                self._copy(originals[int(self._rng.integers(len(originals)))])
        return self._result

    def _movers(self) -> list[Thing]:
        """What may be moved; what holds something excluded would take it along, so it stays."""
        wishes, movers = self._wishes, []
        seen: dict[ObjectClass, int] = {}
        for thing in self._household.things:
            kind = thing.object_class
            if not thing.alive or thing.fixture is not None or kind not in PICKUPABLE:
                continue
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] > wishes.counts.get(kind, seen[kind]):
                continue
            if not any(inner.id in wishes.excluded for inner in thing.tree()):
                movers.append(thing)
        return movers

    def _choose_free(self) -> set[int]:
        chosen: set[int] = set()
        for kind, count in sorted(self._wishes.free.items()):
            alike = [t.index for t in self._household.things if t.object_class is kind]
            chosen.update(self._rng.permutation(alike)[:count].tolist())
        return chosen

    def _copy(self, original: Thing) -> None:
        household = self._household
        copy = replace(
            original,
            index=len(household.things),
            id=f"{original.id}|{len(household.things)}",
            holder=None,
            surface=None,
            contents=[],
            state=None,
        )
        household._register(copy)
        if self._place(copy):
            self._result.copies.append((copy, original))
        else:
            household.things.pop()
            del household._by_id[copy.id]

    def _place(self, thing: Thing) -> bool:
        holders = [each for each in self._household.things if self._may_hold(each, thing)]
        for k in self._rng.permutation(len(holders)):
            holder = holders[k]
            for s in self._rng.permutation(len(holder.surfaces)):
                surface = holder.surfaces[s]
                if self._wishes.outside and surface.inside and holder.object_class in HIDING:
                    continue
                spot = self._spot(holder, surface, thing)
                if spot is not None:
                    self._move(thing, holder, surface, spot)
                    return True
        return False

    def _may_hold(self, holder: Thing, thing: Thing) -> bool:
        kind = holder.object_class
        if not holder.alive or kind not in RECEPTACLES or kind in self._wishes.closed_to:
            return False
        if thing.object_class not in ACCEPTS.get(kind, ()) or holder.index in self._kept_free:
            return False
        if holder.fixture is None:
            # What is in a dish is moved with it, so dishes that hold something get no more.
            held = self._household.held
            carried = held is not None and holder in held.tree()
            if carried or holder.contents or holder.tipped or holder in thing.tree():
                return False
            shut = any(outer.is_shut for outer in holder.holders())
            if holder.id in self._wishes.excluded or (shut and self._wishes.outside):
                return False
        return True

    def _spot(self, holder: Thing, surface: Surface, thing: Thing) -> Spot | None:
        """A random free spot that carries the whole thing."""
        household, rng = self._household, self._rng
        size = extents_with_contents(thing, holder)
        height = holder.position[1] + surface.y
        if size[1] > min(surface.clearance, household._headroom(holder, height)):
            return None
        own = {part.index for part in thing.tree()}
        for each in household.things:
            # For an agent what is hidden takes no space; here only what is to be moved does not.
            each.hidden = each.index in own
        taken = household._taken(holder, surface, size, own_only=False)
        area = surface.area
        for _ in range(self._wishes.attempts):
            yaw = 90.0 * int(rng.integers(4))
            share_x, share_z = (float(value) for value in rng.random(2))
            width, depth = extents(size, yaw)
            room_x, room_z = area.x1 - area.x0 - width, area.z1 - area.z0 - depth
            if room_x < 0.0 or room_z < 0.0:
                continue
            x = area.x0 + width / 2 + share_x * room_x
            z = area.z0 + depth / 2 + share_z * room_z
            if not any(overlaps(footprint(size, x, z, yaw), other) for other in taken):
                return Spot(x, surface.y, z, yaw)
        return None

    def _move(self, thing: Thing, holder: Thing, surface: Surface, spot: Spot) -> None:
        if self._household.held is thing:
            self._household.held = None
        thing.detach()
        thing.attach(holder, surface, spot)
