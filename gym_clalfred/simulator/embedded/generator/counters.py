"""Runs of counters along walls: appliances in a row, cabinets and drawers below and above."""

from __future__ import annotations

from dataclasses import dataclass, field

from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.catalog import HOLLOW, STOVE
from gym_clalfred.simulator.embedded.catalog.parts import (
    sink_basin,
    sink_faucet,
    stove_burners,
    stove_knobs,
)
from gym_clalfred.simulator.embedded.generator.floor_plan import (
    FRONT_METRES,
    DoesNotFitError,
    FloorPlan,
    WallPlace,
)
from gym_clalfred.simulator.embedded.generator.shell import Side
from gym_clalfred.simulator.embedded.room_model import Fixture

#: Counters narrower than this are left out; the neighbours grow instead.
_NARROWEST = 0.35

_SLAB = 0.04
_KICK = 0.05


@dataclass(frozen=True)
class CounterRun:
    """A stretch of wall with counters on it, from ``t0`` to ``t1``; corners with the next run."""

    side: Side
    t0: float
    t1: float

    @property
    def length(self) -> float:
        """Metres along the wall."""
        return self.t1 - self.t0


@dataclass
class Counters:
    """The counters of one room, in the order in which they were built.

    ``cabinets`` and ``drawers`` are how many more the room may get, ``column`` about how wide.
    """

    layout: FloorPlan
    depth: float
    height: float = 0.9
    cabinets: int = 10
    drawers: int = 6
    column: float = 0.55
    tops: list[Fixture] = field(default_factory=list)
    sinks: list[Fixture] = field(default_factory=list)
    stove: Fixture | None = None

    @property
    def style(self) -> int:
        """The style of all counters in the room."""
        return self.layout.style("counters")

    def fill(self, run: CounterRun, appliances: list[ObjectClass], *, fridge_last: bool) -> None:
        """Builds the appliances in their order along a run, with counters in the gaps.

        ``CounterTop`` in the list stands for a stove. A fridge ends the run: at the high end if
        ``fridge_last``, else at the low one.
        """
        widths = [self._width(appliance) for appliance in appliances]
        spare = run.length - sum(widths)
        if spare < -1e-6:
            raise DoesNotFitError("appliances are longer than their wall")
        gaps = self._gaps(appliances, spare, fridge_last)
        t = run.t0
        for k, gap in enumerate(gaps):
            if gap > 0:
                self.counter(WallPlace(run.side, t + gap / 2), gap)
                t += gap
            if k < len(appliances):
                self._appliance(appliances[k], WallPlace(run.side, t + widths[k] / 2), widths[k])
                t += widths[k]

    def _gaps(self, appliances: list[ObjectClass], spare: float, fridge_last: bool) -> list[float]:
        """Widths of the counters before, between and after the appliances."""
        count = len(appliances) + 1
        usable = [True] * count
        if ObjectClass.Fridge in appliances:
            usable[-1 if fridge_last else 0] = False
        weights = [0.4 + float(self.layout.rng.random()) if use else 0.0 for use in usable]
        while True:
            total = sum(weights)
            if total == 0.0:
                return [0.0] * count
            gaps = [spare * weight / total for weight in weights]
            small = [k for k, gap in enumerate(gaps) if 0.0 < gap < _NARROWEST]
            if not small:
                break
            weights[min(small, key=lambda k: gaps[k])] = 0.0
        gaps = [int(gap * 100) / 100 for gap in gaps]
        return gaps

    def _width(self, appliance: ObjectClass) -> float:
        if appliance == ObjectClass.CounterTop:
            return 0.62 + 0.04 * (self.layout.style("stove") % 4)
        return self.layout.usual_size(appliance)[0]

    def _appliance(self, appliance: ObjectClass, place: WallPlace, width: float) -> None:
        layout = self.layout
        if appliance == ObjectClass.Fridge:
            _, tall, deep = layout.usual_size(ObjectClass.Fridge)
            layout.at_wall(ObjectClass.Fridge, place, (width, tall, deep), front=FRONT_METRES)
            return
        size = (width, self.height, self.depth)
        if appliance == ObjectClass.Sink:
            self.add_sink(place, width)
            return
        self.stove = layout.at_wall(
            ObjectClass.CounterTop, place, size, front=FRONT_METRES, style=self.style | STOVE
        )
        for part in (*stove_burners(size), *stove_knobs(size)):
            layout.attach(self.stove, part)

    def add_sink(self, place: WallPlace, width: float, style: int | None = None) -> Fixture:
        """A sink with basin and faucet, as deep and high as the counters."""
        size = (width, self.height, self.depth)
        sink = self.layout.at_wall(
            ObjectClass.Sink,
            place,
            size,
            front=FRONT_METRES,
            style=self.style if style is None else style,
        )
        self.layout.attach(sink, sink_basin(size))
        self.layout.attach(sink, sink_faucet(size))
        self.sinks.append(sink)
        return sink

    def corner(self, place: WallPlace) -> None:
        """The square piece in which two runs meet; nothing can be built into it."""
        size = (self.depth, self.height, self.depth)
        self.tops.append(self.layout.at_wall(ObjectClass.CounterTop, place, size, style=self.style))

    def counter(self, place: WallPlace, width: float) -> Fixture:
        """A piece of counter with cabinets and drawers as far as the budget reaches."""
        layout = self.layout
        columns = max(1, round(width / self.column))
        kinds = [self._column() for _ in range(columns)]
        style = self.style | (HOLLOW if all(kinds) else 0)
        top = layout.at_wall(
            ObjectClass.CounterTop,
            place,
            (width, self.height, self.depth),
            front=FRONT_METRES,
            style=style,
        )
        self.tops.append(top)
        if all(kinds):
            self.fill_columns(top, kinds)
        return top

    def _column(self) -> str:
        """The kind of the next column of a counter's front; empty when the budget is used up."""
        roll = self.layout.rng.random()
        if self.drawers >= 3 and roll < 0.2:
            self.drawers -= 3
            return "drawers"
        if self.drawers >= 1 and self.cabinets >= 1 and roll < 0.6:
            self.drawers -= 1
            self.cabinets -= 1
            return "both"
        if self.cabinets >= 1:
            self.cabinets -= 1
            return "cabinet"
        if self.drawers >= 3:
            self.drawers -= 3
            return "drawers"
        return ""

    def fill_columns(self, top: Fixture, kinds: list[str]) -> None:
        """Builds the cabinets and drawers of a hollow counter."""
        width, height, depth = top.size
        wide = (width - 0.04) / len(kinds)
        room = height - _SLAB - _KICK
        deep = round(depth - 0.03, 3)
        face = round(wide - 0.01, 3)
        for k, kind in enumerate(kinds):
            x = (k - (len(kinds) - 1) / 2) * wide
            if kind == "drawers":
                tall = room / 3
                for row in range(3):
                    size = (face, round(tall - 0.01, 3), deep)
                    y = _KICK + row * tall
                    self.layout.built_in(top, ObjectClass.Drawer, x, y, size)
                continue
            low = room
            if kind == "both":
                low = room - 0.19
                size = (face, 0.18, deep)
                self.layout.built_in(top, ObjectClass.Drawer, x, _KICK + low, size)
            size = (face, round(low - 0.01, 3), deep)
            self.layout.built_in(top, ObjectClass.Cabinet, x, _KICK, size)

    def wall_cabinets(self, runs: list[CounterRun]) -> None:
        """Hangs cabinets over the counters as far as walls are free and the budget reaches."""
        size, bottom = (0.56, 0.62, 0.34), 1.34
        for run in runs:
            for a, b in self.layout.spans(run.side, size[2], bottom, size[1], 0.0):
                a, b = max(a, run.t0), min(b, run.t1)
                count = int((b - a) / 0.42)
                if count < 1:
                    continue
                count = min(count, max(1, round((b - a) / size[0])), self.cabinets)
                wide = min((b - a) / max(count, 1), 0.7)
                for k in range(count):
                    place = WallPlace(run.side, round(a + (k + 0.5) * wide, 4))
                    self.layout.at_wall(
                        ObjectClass.Cabinet,
                        place,
                        (round(wide - 0.002, 4), size[1], size[2]),
                        y=bottom,
                        style=self.style,
                        solid=False,
                    )
                    self.cabinets -= 1
                if self.cabinets <= 0:
                    return

    def on_counter(self, object_class: ObjectClass) -> Fixture:
        """Stands an appliance at the back of a counter that has space for it."""
        layout = self.layout
        size = layout.usual_size(object_class)
        order = [self.tops[i] for i in layout.rng.permutation(len(self.tops))]
        # Squares in corners are far from where one stands; they come last.
        order.sort(key=lambda top: top.size[0] == top.size[2])
        for top in order:
            half = top.size[0] / 2 - size[0] / 2
            if half < 0:
                continue
            z = -top.size[2] / 2 + size[2] / 2 + 0.03
            for _ in range(8):
                x = round((2 * layout.rng.random() - 1) * half, 3)
                found = layout.try_on_top(top, object_class, x, z, size)
                if found is not None:
                    return found
        raise DoesNotFitError(f"no counter for {object_class.name}")
