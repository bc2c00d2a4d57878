"""How whole rebuilt rooms are: what of ALFRED's lists stands in them, and what hangs in the air."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gym_clalfred.data.alfred_import.layouts import Layout
from gym_clalfred.data.trajectory import Trajectory
from gym_clalfred.objects import PICKUPABLE
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.room_model import Body, Room
from gym_clalfred.simulator.embedded.things import Thing

#: What is lower lies on the floor; how far from a body's top something may be that rests on it.
_ON_FLOOR = 0.06
_ON_BODY = 0.06
_IN_BODY = 0.2
_BESIDE = 0.02


@dataclass(frozen=True)
class RoomSurvey:
    """What is in a room.

    Args:
        number: of the room.
        listed: receptacles that ALFRED lists.
        standing: of them, how many stand in the room.
        classes: classes that ALFRED lists, all objects of AI2-THOR's room.
        shown: of them, how many are in the room in some trial.
        fixtures: furniture and fittings in the room.
        starts: trials that were looked at.
        things: small things at their starts.
        on_bodies: of them, how many rest on something that is no object.
        floating: of them, how many rest on nothing.
    """

    number: int
    listed: int
    standing: int
    classes: int
    shown: int
    fixtures: int
    starts: int
    things: int
    on_bodies: int
    floating: int


def survey(room: Room, layout: Layout, trajectories: Iterable[Trajectory]) -> RoomSurvey:
    """Looks at a room at the starts of some trajectories."""
    names = {fixture.name for fixture in room.fixtures}
    shown = {fixture.object_class for fixture in room.fixtures}
    starts = things = on_bodies = floating = 0
    for trajectory in trajectories:
        starts += 1
        for thing in Household(room, trajectory.scene).things:
            if thing.object_class not in PICKUPABLE:
                continue
            shown.add(thing.object_class)
            things += 1
            if thing.holder is None and thing.position[1] > _ON_FLOOR:
                rests = any(_rests_on(thing, body) for body in room.bodies)
                on_bodies += rests
                floating += not rests
    return RoomSurvey(
        number=room.number,
        listed=len(layout.receptacles),
        standing=sum(name in names for name in layout.receptacles),
        classes=len(layout.classes),
        shown=len(layout.classes & shown),
        fixtures=len(room.fixtures),
        starts=starts,
        things=things,
        on_bodies=on_bodies,
        floating=floating,
    )


def survey_text(surveys: Sequence[RoomSurvey]) -> str:
    """The surveys summed up in words, Markdown.

    AI2-THOR's own count is not published; at least the listed receptacles, one object of each other
    listed class and the small things of a trial are in its rooms.
    """
    listed, standing = sum(s.listed for s in surveys), sum(s.standing for s in surveys)
    classes, shown = sum(s.classes for s in surveys), sum(s.shown for s in surveys)
    things = sum(s.things for s in surveys)
    rooms, starts = max(len(surveys), 1), max(sum(s.starts for s in surveys), 1)
    on_bodies, floating = sum(s.on_bodies for s in surveys), sum(s.floating for s in surveys)
    lines = [
        f"## Rooms ({len(surveys)})",
        "",
        f"- listed receptacles that stand in their rooms: {standing} of {listed} "
        f"({standing / max(listed, 1):.1%})",
        f"- listed classes of which the room shows something: {shown} of {classes} "
        f"({shown / max(classes, 1):.1%})",
        f"- small things that float: {floating} of {things} ({floating / max(things, 1):.2%}); "
        f"another {on_bodies / max(things, 1):.2%} rest on shelves or plinths that are no objects",
        f"- per room on average: {sum(s.fixtures for s in surveys) / rooms:.1f} fixtures "
        f"({listed / rooms:.1f} receptacles and {classes / rooms:.1f} classes are listed), "
        f"{things / starts:.1f} small things",
    ]
    return "\n".join(lines)


def _rests_on(thing: Thing, body: Body) -> bool:
    x, y, z = thing.position
    return (
        body.low[0] - _BESIDE <= x <= body.high[0] + _BESIDE
        and body.low[2] - _BESIDE <= z <= body.high[2] + _BESIDE
        and -_IN_BODY <= y - body.high[1] <= _ON_BODY
    )
