"""Bathrooms: a tub or shower, a vanity with one or two sinks, a toilet."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.catalog import PEDESTAL
from gym_clalfred.simulator.embedded.catalog.parts import bathtub_basin, bathtub_faucet
from gym_clalfred.simulator.embedded.generator import common
from gym_clalfred.simulator.embedded.generator.counters import Counters
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    FRONT_METRES,
    DoesNotFitError,
    FloorPlan,
    WallPlace,
)
from gym_clalfred.simulator.embedded.generator.living_room import dresser
from gym_clalfred.simulator.embedded.generator.shell import Side
from gym_clalfred.simulator.embedded.room_model import Fixture

_SHOWER_HEIGHT = 2.0


def furnish(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    """Fills a bathroom; see ``kitchen.furnish``."""
    common.add_door(layout)
    if ObjectClass.Bathtub in classes:
        _bathtub(layout, classes)
    else:
        _shower(layout, classes)
    if ObjectClass.CounterTop in classes:
        sinks = _vanity(layout, classes, roominess)
    else:
        sinks = [_pedestal(layout)]
    for k, sink in enumerate(sinks):
        _mirror(layout, sink, k)
    _toilet(layout)
    if ObjectClass.Dresser in classes:
        dresser(layout, classes)
    if ObjectClass.SideTable in classes:
        common.stand(layout, ObjectClass.SideTable, front=0.5)
    if ObjectClass.Cart in classes:
        common.stand(layout, ObjectClass.Cart, front=0.6)
    common.add_garbage_can(layout)
    x, _, z = sinks[0].position
    hand = layout.usual_size(ObjectClass.HandTowelHolder)
    common.hang(layout, ObjectClass.HandTowelHolder, hand, 1.0, near=(x, z))
    towel = layout.usual_size(ObjectClass.TowelHolder)
    place = layout.find(towel, y=0.75, front=0.45, margin=0.02)
    if place is None:
        place = layout.need(towel, y=1.0, margin=0.0)
        layout.at_wall(ObjectClass.TowelHolder, place, towel, y=1.0, solid=False)
    else:
        layout.at_wall(ObjectClass.TowelHolder, place, towel, y=0.75, front=0.45, solid=False)
    if ObjectClass.Shelf in classes:
        common.add_shelves(layout, int(layout.rng.integers(1, 3)), low=0.95)
    if ObjectClass.FloorLamp in classes:
        common.stand(layout, ObjectClass.FloorLamp, where="corner")
    if ObjectClass.HousePlant in classes:
        common.add_plants(layout, 1)
    common.add_windows(layout, classes, 1, sill=1.25, narrow=True)
    common.hang_pictures(layout, classes, {ObjectClass.Painting: 1})


def _bathtub(layout: FloorPlan, classes: frozenset[ObjectClass]) -> None:
    size = layout.usual_size(ObjectClass.Bathtub)
    for scale in (1.0, 0.92, 0.84):
        scaled = (round(size[0] * scale, 2), size[1], size[2])
        place = layout.find((scaled[0], _SHOWER_HEIGHT + 0.1, size[2]), front=0.5, where="corner")
        if place is not None:
            break
    else:
        raise DoesNotFitError("no place for a bathtub")
    tub = layout.at_wall(ObjectClass.Bathtub, place, scaled, front=0.5)
    layout.attach(tub, bathtub_basin(scaled))
    layout.attach(tub, bathtub_faucet(scaled))
    sign = 1 if layout.chance(0.5) else -1
    rim = scaled[1] + 0.01
    tall = round(_SHOWER_HEIGHT - rim, 2)
    if ObjectClass.ShowerHead in classes:
        head = layout.usual_size(ObjectClass.ShowerHead)
        spot = WallPlace(place.side, round(place.t - sign * (scaled[0] / 2 - 0.35), 3))
        layout.at_wall(ObjectClass.ShowerHead, spot, head, y=1.75, solid=False)
    deep = 0.0
    if ObjectClass.ShowerCurtain in classes:
        # Drawn aside, so that one can reach into the tub.
        wide, deep = 0.4, 0.11
        part = ObjectClass.ShowerCurtain
    elif ObjectClass.ShowerDoor in classes:
        wide, deep = 0.6, 0.05
        part = ObjectClass.ShowerDoor
    if deep:
        spot = WallPlace(place.side, round(place.t + sign * (scaled[0] / 2 - wide / 2), 3))
        layout.at_wall(
            part, spot, (wide, tall, deep), y=rim, gap=size[2] - deep - 0.01, solid=False
        )
        if part == ObjectClass.ShowerDoor and ObjectClass.ShowerGlass in classes:
            spot = WallPlace(place.side, round(spot.t - sign * (wide / 2 + 0.16), 3))
            layout.at_wall(
                ObjectClass.ShowerGlass,
                spot,
                (0.3, tall, 0.03),
                y=rim,
                gap=size[2] - 0.05,
                solid=False,
            )


def _shower(layout: FloorPlan, classes: frozenset[ObjectClass]) -> None:
    """A corner behind glass: a fixed pane on one side and the door on the other."""
    for metres in (0.95, 0.85, 0.75):
        size = (metres, _SHOWER_HEIGHT, metres)
        place = layout.find(size, front=0.4, where="corner")
        if place is None:
            continue
        side, t = place.side, place.t
        at_start = t - metres / 2 < 0.05
        if not at_start and t + metres / 2 < side.length - 0.05:
            continue
        if ObjectClass.ShowerHead in classes:
            head = layout.usual_size(ObjectClass.ShowerHead)
            layout.at_wall(ObjectClass.ShowerHead, place, head, y=1.75, solid=False)
        door = (metres, _SHOWER_HEIGHT, 0.05)
        layout.at_wall(ObjectClass.ShowerDoor, place, door, gap=metres - 0.05, front=0.4)
        _pane(layout, side, t + metres / 2 if at_start else t - metres / 2, metres, at_start)
        layout.forbid(
            side.box(t - metres / 2 + 0.04, t + metres / 2 - 0.04, 0.0, metres - 0.06, 0.0, 1.7)
        )
        return
    raise DoesNotFitError("no corner for a shower")


def _pane(layout: FloorPlan, side: Side, t: float, metres: float, at_start: bool) -> None:
    """The fixed pane, at a right angle to the wall."""
    thick = 0.03
    x, z = side.point(t - thick / 2 if at_start else t + thick / 2, (metres - 0.05) / 2)
    layout.add(
        ObjectClass.ShowerGlass,
        (x, 0.0, z),
        side.yaw + (90.0 if at_start else 270.0),
        (round(metres - 0.05, 3), _SHOWER_HEIGHT, thick),
    )


def _vanity(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> list[Fixture]:
    """One or two sinks in a row of counters."""
    cabinets = 4 if ObjectClass.Cabinet in classes else 0
    drawers = 3 + 3 * int(layout.chance(0.4)) if ObjectClass.Drawer in classes else 0
    if ObjectClass.Dresser in classes:
        drawers = 0
    counters = Counters(
        layout, depth=layout.between(0.5, 0.6), height=0.86, cabinets=cabinets, drawers=drawers
    )
    sink = layout.between(0.6, 0.72, 0.02)
    double = roominess > 0.55 and layout.chance(0.5)
    count = 2 if double else 1
    wish = count * sink + (count + 1) * 0.42 + 0.6 * roominess
    for total in (wish, count * sink + 0.84, sink + 0.72, sink + 0.42):
        total = round(total, 2)
        size = (total, 1.9, counters.depth)
        place = layout.find(size, front=FRONT_METRES, where="corner")
        if place is not None:
            break
    else:
        raise DoesNotFitError("no wall for a vanity")
    if total < 2 * sink + 0.4:
        count = 1
    t = place.t - total / 2
    spare = total - count * sink
    if count == 1 and spare < 0.72:
        gaps = [spare, 0.0] if layout.chance(0.5) else [0.0, spare]
    elif count == 1:
        share = 0.5 + 0.3 * (layout.rng.random() - 0.5) if spare > 1.0 else 0.5
        gaps = [spare * share, spare * (1 - share)]
    elif spare < 1.1:
        gaps = [0.0, spare, 0.0]
    else:
        gaps = [spare / 3] * 3
    sinks = []
    for k, gap in enumerate(gaps):
        if gap > 0.05:
            counters.counter(WallPlace(place.side, round(t + gap / 2, 4)), round(gap - 0.001, 4))
            t += gap
        if k < count:
            sinks.append(counters.add_sink(WallPlace(place.side, round(t + sink / 2, 4)), sink))
            t += sink
    wanted = {ObjectClass.Cabinet, ObjectClass.Drawer} & classes
    if ObjectClass.Dresser in classes:
        wanted.discard(ObjectClass.Drawer)
    if any(not layout.of(part) for part in wanted):
        raise DoesNotFitError("the vanity is too small for its cabinets and drawers")
    return sinks


def _pedestal(layout: FloorPlan) -> Fixture:
    counters = Counters(layout, depth=0.46, height=0.86)
    size = (0.56, 1.9, counters.depth)
    place = layout.need(size, front=FRONT_METRES)
    return counters.add_sink(place, size[0], style=layout.style("sink") | PEDESTAL)


def _mirror(layout: FloorPlan, sink: Fixture, k: int) -> None:
    width, height, depth = layout.usual_size(ObjectClass.Mirror)
    size = (min(width, sink.size[0]), min(height, 0.8), depth)
    x, _, z = sink.position
    for scale in (1.0, 0.7):
        scaled = (round(size[0] * scale, 2), size[1], size[2])
        sides = [side for side in layout.shell.sides if side.yaw == sink.yaw]
        place = layout.find(scaled, y=1.2, near=(x, z), sides=sides)
        if place is not None:
            layout.at_wall(ObjectClass.Mirror, place, scaled, y=1.2, solid=False)
            return
    if k == 0:
        raise DoesNotFitError("no wall for the mirror")


def _toilet(layout: FloorPlan) -> None:
    """With the paper hanger on the nearest free piece of wall."""
    size = layout.usual_size(ObjectClass.Toilet)
    place = layout.need((size[0] + 0.3, size[1] + 0.4, size[2]), front=0.5)
    layout.at_wall(ObjectClass.Toilet, place, size, front=0.5, gap=0.02)
    x, z = place.side.point(place.t, size[2])
    hanger = layout.usual_size(ObjectClass.ToiletPaperHanger)
    spot = layout.need(hanger, y=0.68, near=(x, z), front=0.3, margin=0.03)
    layout.at_wall(ObjectClass.ToiletPaperHanger, spot, hanger, y=0.68, front=0.3, solid=False)
