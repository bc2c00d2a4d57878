"""Kitchens: counters along one to three walls, appliances, a table or an island."""

from __future__ import annotations

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.generator import common
from gym_clalfred.simulator.embedded.generator.counters import CounterRun, Counters
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    FRONT_METRES,
    DoesNotFitError,
    FloorPlan,
    WallPlace,
)
from gym_clalfred.simulator.embedded.generator.shell import Side
from gym_clalfred.simulator.embedded.room_model import Fixture

_APPLIANCES = (ObjectClass.Fridge, ObjectClass.Sink, ObjectClass.CounterTop)


def furnish(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    """Fills a kitchen; ``roominess`` is 0 for the smallest of all kitchens and 1 for the largest.

    Raises:
        DoesNotFitError: if something that the kitchen must have finds no place.
    """
    counters = Counters(
        layout,
        depth=0.62,
        cabinets=99,
        drawers=int(layout.rng.integers(3, 9)) if ObjectClass.Drawer in classes else 0,
    )
    runs = _choose_runs(layout, counters, roominess)
    # Long counters get wide fronts rather than very many.
    counters.column = min(0.8, max(0.5, (sum(run.length for run in runs) - 2.3) / 8))
    others = [side for side in layout.shuffled_sides() if side not in [run.side for run in runs]]
    appliances, fridge_last = _distribute(layout, runs)
    for run, row in zip(runs, appliances):
        counters.fill(run, row, fridge_last=fridge_last)
    common.add_door(layout, [*others, *(run.side for run in runs)])
    if roominess > 0.75 and layout.chance(0.6):
        _island(layout, counters)
    sink_sides = [run.side for run in runs]
    common.add_windows(
        layout,
        classes,
        1 + int(roominess > 0.5 and layout.chance(0.6)),
        sides=[*sink_sides, *others] if layout.chance(0.7) else [*others, *sink_sides],
        sill=1.1,
    )
    _microwave(layout, counters)
    counters.on_counter(ObjectClass.CoffeeMachine)
    counters.on_counter(ObjectClass.Toaster)
    built_in = len(layout.of(ObjectClass.Cabinet))
    counters.cabinets = max(2, min(5, 13 - built_in))
    counters.wall_cabinets(runs)
    common.add_garbage_can(layout)
    _table(layout, classes, roominess)
    if ObjectClass.SideTable in classes:
        common.stand(layout, ObjectClass.SideTable, front=0.5)
    if ObjectClass.Safe in classes:
        common.stand(layout, ObjectClass.Safe, front=FRONT_METRES)
    if ObjectClass.Shelf in classes:
        common.add_shelves(layout, 1 + int(layout.chance(0.5)), low=0.98)
    if ObjectClass.HousePlant in classes:
        common.add_plants(layout, 1)
    common.hang_pictures(layout, classes, {ObjectClass.Mirror: 1})


def _choose_runs(layout: FloorPlan, counters: Counters, roominess: float) -> list[CounterRun]:
    """The walls that get counters: one, two facing each other, or two or three in a row."""
    depth, sides = counters.depth, layout.shell.sides
    count = len(sides)
    wish = 4.3 + 2.6 * roominess + 0.6 * float(layout.rng.random())
    plans: list[list[Side]] = []
    for i in range(count):
        chain = [sides[i]]
        plans.append(list(chain))
        for k in (1, 2):
            previous, following = sides[(i + k - 1) % count], sides[(i + k) % count]
            if following.along != previous.inward:
                break
            chain.append(following)
            plans.append(list(chain))
    plans += [
        [a, b]
        for i, a in enumerate(sides)
        for b in sides[i + 1 :]
        if a.along == (-b.along[0], -b.along[1])
    ]
    for i in layout.rng.permutation(len(plans)):
        runs = _measure(layout, counters, plans[i], wish, depth)
        if runs is not None:
            return runs
    raise DoesNotFitError("no walls for the counters")


def _measure(
    layout: FloorPlan, counters: Counters, plan: list[Side], wish: float, depth: float
) -> list[CounterRun] | None:
    """Cuts a plan's walls to the wished length of counters; ``None`` if they are too short."""
    linked = len(plan) > 1 and plan[1].along == plan[0].inward
    if len(plan) == 3 and plan[1].length < 2 * depth + 1.15:
        return None
    if len(plan) == 2 and not linked:
        _, _, d0, _ = plan[0].local(plan[1].box(0.0, plan[1].length, 0.0, 0.01, 0.0, 1.0))
        if d0 < 2 * depth + 1.0:
            return None
    spans = []
    for k, side in enumerate(plan):
        t0 = depth if linked and k > 0 else 0.0
        t1 = side.length - (depth if linked and k < len(plan) - 1 else 0.0)
        if t1 - t0 < 0.75:
            return None
        spans.append([t0, t1])
    total = sum(t1 - t0 for t0, t1 in spans)
    least = 4.0 if len(plan) == 1 else 3.9
    if total < least:
        return None
    excess = max(0.0, total - wish)
    # Only free ends can be cut back: the start of the first wall and the end of the last.
    for k, end in ((0, 0), (len(plan) - 1, 1)):
        if not linked and len(plan) == 2:
            end = int(layout.rng.integers(2))
        room = spans[k][1] - spans[k][0] - (1.6 if len(plan) > 1 else least)
        cut = min(excess, max(0.0, room))
        if len(plan) > 1 and k == 0:
            cut = min(cut, excess * float(layout.rng.random()))
        cut = int(cut * 20) / 20
        spans[k][end] += cut if end == 0 else -cut
        excess -= cut
        if len(plan) == 1:
            break
    runs = [CounterRun(side, round(t0, 3), round(t1, 3)) for side, (t0, t1) in zip(plan, spans)]
    if linked:
        for side in plan[:-1]:
            counters.corner(WallPlace(side, round(side.length - depth / 2, 3)))
    return runs


def _distribute(layout: FloorPlan, runs: list[CounterRun]) -> tuple[list[list[ObjectClass]], bool]:
    """Which appliances go to which run, in order, and whether the fridge ends the last run."""
    widths = {
        ObjectClass.Fridge: 0.9,
        ObjectClass.Sink: 0.82,
        ObjectClass.CounterTop: 0.75,
    }
    for _ in range(30):
        plan: list[list[ObjectClass]] = [[] for _ in runs]
        rest = [_APPLIANCES[1 + i] for i in layout.rng.permutation(2)]
        for appliance in rest:
            plan[int(layout.rng.integers(len(runs)))].append(appliance)
        last = layout.chance(0.5)
        if last:
            plan[-1].append(ObjectClass.Fridge)
        else:
            plan[0].insert(0, ObjectClass.Fridge)
        needs = [sum(widths[a] for a in row) + (0.4 if len(row) > 1 else 0.0) for row in plan]
        if all(need <= run.length for need, run in zip(needs, runs)):
            return plan, last
    raise DoesNotFitError("appliances do not fit the counters")


def _microwave(layout: FloorPlan, counters: Counters) -> None:
    """On a counter, or hung over the stove."""
    stove = counters.stove
    assert stove is not None
    size = layout.usual_size(ObjectClass.Microwave)
    if layout.chance(0.3):
        side = next(s for s in layout.shell.sides if s.yaw == stove.yaw and _is_at(s, stove))
        t = _along(side, stove)
        box = side.box(t - size[0] / 2, t + size[0] / 2, 0.0, size[2], 1.3, 1.3 + size[1])
        if layout.is_free(box):
            layout.at_wall(ObjectClass.Microwave, WallPlace(side, t), size, y=1.3, solid=False)
            return
    counters.on_counter(ObjectClass.Microwave)


def _along(side: Side, fixture: Fixture) -> float:
    x, _, z = fixture.position
    return round((x - side.start[0]) * side.along[0] + (z - side.start[1]) * side.along[1], 4)


def _is_at(side: Side, fixture: Fixture) -> bool:
    x, _, z = fixture.position
    away = (x - side.start[0]) * side.inward[0] + (z - side.start[1]) * side.inward[1]
    return 0.0 < away < 0.6 and 0.0 < _along(side, fixture) < side.length


def _island(layout: FloorPlan, counters: Counters) -> None:
    """A piece of counter in the middle of the floor, cabinets on one side."""
    size = (layout.between(1.2, 1.8), counters.height, 0.7)
    island = common.free_standing(
        layout,
        ObjectClass.CounterTop,
        size,
        around=0.85,
        yaws=(0.0, 90.0, 180.0, 270.0),
        required=False,
    )
    if island is not None:
        counters.tops.append(island)


def _table(layout: FloorPlan, classes: frozenset[ObjectClass], roominess: float) -> None:
    chairs = int(layout.rng.integers(2, 5)) if ObjectClass.Chair in classes else 0
    if ObjectClass.DiningTable in classes:
        wide = layout.between(1.0, 1.3) if roominess < 0.6 else layout.between(1.3, 1.7)
        size = (wide, 0.76, layout.between(0.75, 0.9))
        table = common.free_standing(
            layout, ObjectClass.DiningTable, size, around=0.7, required=False
        )
        if table is None:
            size = (wide, 0.76, 0.75)
            table = common.stand(layout, ObjectClass.DiningTable, size=size, front=0.7)
        assert table is not None
        chairs -= common.add_chairs(layout, table, chairs)
        if chairs <= 0 or layout.of(ObjectClass.Chair):
            return
    if chairs:
        common.stand(layout, ObjectClass.Chair, where="corner")
        if layout.chance(0.4):
            common.stand(layout, ObjectClass.Chair, where="corner", required=False)
