"""ALFRED's treatments: which action cleans, heats or cools what. The same for every backend.

Switching a faucet on cleans all that is in the sink basin nearest to it, switching a microwave on
heats what is in it, closing a fridge cools what is in it. Marks stay for the rest of the episode;
slices are new objects and do not inherit them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gym_clalfred.actions import Action
from gym_clalfred.objects import CLEANABLE, COOLABLE, HEATABLE, ObjectClass
from gym_clalfred.simulator.contract import ObjectState


@dataclass(frozen=True)
class Treatment:
    """A lasting change of an object.

    Args:
        verb: what people call it.
        mark: the field of ``ObjectState`` that shows it, and what an object is called then.
        step: ALFRED's name of the high-level step.
        place: what the object has to be in.
        action: what does it then,
        device: and to which class.
        classes: the classes that ALFRED treats in this way.
    """

    verb: str
    mark: str
    step: str
    place: ObjectClass
    action: Action
    device: ObjectClass
    classes: frozenset[ObjectClass]

    def is_done(self, state: ObjectState) -> bool:
        """Whether an object has had this treatment."""
        return bool(getattr(state, self.mark))


CLEAN = Treatment(
    verb="clean",
    mark="cleaned",
    step="CleanObject",
    place=ObjectClass.SinkBasin,
    action=Action.ToggleObjectOn,
    device=ObjectClass.Faucet,
    classes=CLEANABLE,
)
HEAT = Treatment(
    verb="heat",
    mark="heated",
    step="HeatObject",
    place=ObjectClass.Microwave,
    action=Action.ToggleObjectOn,
    device=ObjectClass.Microwave,
    classes=HEATABLE,
)
COOL = Treatment(
    verb="cool",
    mark="cooled",
    step="CoolObject",
    place=ObjectClass.Fridge,
    action=Action.CloseObject,
    device=ObjectClass.Fridge,
    classes=COOLABLE,
)

#: All treatments by ALFRED's name of the step.
TREATMENTS = {one.step: one for one in (CLEAN, HEAT, COOL)}

_BY_ACTION = {(one.action, one.device): one for one in TREATMENTS.values()}


def treatment_of(
    action: Action, target: str, objects: Mapping[str, ObjectState]
) -> tuple[Treatment, tuple[str, ...]] | None:
    """What a successful action on ``target`` does to which objects, or ``None`` if nothing.

    Args:
        action: what was done.
        target: id of the object it was done to.
        objects: the state afterwards.
    """
    vessel: ObjectState | None = objects[target]
    assert vessel is not None
    treatment = _BY_ACTION.get((action, vessel.object_class))
    if treatment is None:
        return None
    if treatment is CLEAN:
        vessel = nearest_basin(target, objects)
    return (treatment, vessel.contents) if vessel and vessel.contents else None


def nearest_basin(faucet: str, objects: Mapping[str, ObjectState]) -> ObjectState | None:
    """The sink basin nearest to a faucet, measured horizontally; a bathtub never counts."""
    x, _, z = objects[faucet].position
    basins = [state for state in objects.values() if state.object_class is CLEAN.place]
    return min(
        basins,
        key=lambda basin: (basin.position[0] - x) ** 2 + (basin.position[2] - z) ** 2,
        default=None,
    )
