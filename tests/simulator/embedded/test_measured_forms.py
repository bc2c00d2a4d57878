"""Objects whose form was measured show what is done to them, as the catalogue's forms do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.episode_source import EpisodeKey
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split
from gym_clalfred.objects import OPENABLE, PICKUPABLE, TOGGLEABLE, ObjectClass
from gym_clalfred.simulator.contract import AgentPose, RenderOptions, Scene, Vector, View
from gym_clalfred.simulator.embedded.catalog import model_of
from gym_clalfred.simulator.embedded.room_model import AGENT_HEIGHT, Block, Fixture
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.object_ids import class_of
from tests.helpers.alfred_data import alfred_data
from tests.helpers.household_room import kitchen

ON, OFF = Action.ToggleObjectOn, Action.ToggleObjectOff
CHANGING = (Action.OpenObject, Action.CloseObject, ON, OFF)

#: Openables always have the catalogue's form.
MEASURED = sorted(one.name for one in TOGGLEABLE - OPENABLE - PICKUPABLE)


def box(size: Vector) -> tuple[Block, ...]:
    """One block that fills a box."""
    width, height, depth = size
    return (Block((-width / 2, 0.0, -depth / 2), (width / 2, height, depth / 2)),)


def hull(size: Vector) -> tuple[Block, ...]:
    """A foot, a stem at the back and a head, as carved out of masks."""
    w, h, d = size[0] / 2, size[1], size[2] / 2
    return (
        Block((-w, 0.0, -d), (w, 0.1 * h, d)),
        Block((-0.3 * w, 0.1 * h, -d), (0.3 * w, 0.7 * h, -0.4 * d)),
        Block((-w, 0.7 * h, -d), (w, h, d)),
    )


def made(name: str, form: Callable[[Vector], tuple[Block, ...]], **more: str) -> Fixture:
    """A fixture of measured form on the far wall."""
    object_class = ObjectClass[name]
    size = model_of(object_class).size(0)
    at = (0.0, min(1.1, 1.8 - size[1]), 1.4)
    return Fixture(f"{name}_a", object_class, at, 180.0, size, blocks=form(size), **more)


def views(*fixtures: Fixture) -> Iterator[NDArray[np.uint8]]:
    """The view of a room while the first of its fixtures is off, on, and off again."""
    room = replace(kitchen(), fixtures=fixtures, items=())
    simulator = EmbeddedSimulator(RenderOptions(image_size=84), lambda number: room)
    simulator.reset(Scene(number=1, start=AgentPose(0.0, AGENT_HEIGHT, 0.5, 0, 0)))
    target = next(iter(simulator.objects))
    yield simulator.frame().rgb[View.FRONT].copy()
    for action in (ON, OFF):
        assert simulator.step(action, target).success
        yield simulator.frame().rgb[View.FRONT].copy()


@pytest.mark.parametrize("form", [box, hull])
@pytest.mark.parametrize("name", MEASURED)
def test_a_measured_form_shows_whether_it_is_on(
    name: str, form: Callable[[Vector], tuple[Block, ...]]
) -> None:
    off, on, off_again = views(made(name, form))
    assert np.count_nonzero((off != on).any(axis=-1)) >= 4
    assert np.array_equal(off, off_again)


def test_a_measured_burner_glows() -> None:
    knob = replace(made("StoveKnob", box, part_of="CounterTop_a"), position=(0.3, 1.1, 1.4))
    burner = replace(made("StoveBurner", box, part_of="CounterTop_a"), size=(0.2, 0.05, 0.2))
    burner = replace(burner, blocks=box(burner.size))
    counter = replace(made("CounterTop", box), position=(0.0, 0.0, 1.4))
    off, on, _ = views(knob, counter, burner)
    left, width = off[:, :42], off.shape[1]
    assert width == 84
    assert np.count_nonzero((left != on[:, :42]).any(axis=-1)) >= 4


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> AlfredStore:
    """ALFRED's four unseen rooms, one of each kind, rebuilt from their own experts."""
    folder = tmp_path_factory.mktemp("unseen")
    alfred_data("layouts_and_splits", folder / "alfred")
    root = alfred_data("json_2.1.0-valid_unseen", folder / "alfred")
    splits = (Split.VALID_UNSEEN,)
    return AlfredStore(import_alfred(root, folder / "store", splits=splits, workers=2).store)


@pytest.mark.alfred
def test_whatever_real_experts_open_or_turn_on_is_seen_to_change(unseen: AlfredStore) -> None:
    simulator = EmbeddedSimulator(RenderOptions(image_size=84), unseen.room)
    shown: dict[tuple[Action, str], int] = {}
    for key in sorted({entry.key.trajectory for entry in unseen.entries(Split.VALID_UNSEEN)}):
        trajectory = unseen.episode(EpisodeKey(Split.VALID_UNSEEN, key, 0)).trajectory
        wanted = {(a.action, a.object_id) for a in trajectory.actions if a.action in CHANGING}
        if wanted <= shown.keys():
            continue
        simulator.reset(trajectory.scene)
        for act in trajectory.actions:
            before = simulator.frame().rgb.copy() if act.action in CHANGING else None
            done = simulator.step(act.action, act.object_id)
            if before is not None and done.success:
                assert act.object_id is not None
                changed = np.count_nonzero((before != simulator.frame().rgb).any(axis=-1))
                assert changed >= 4, (key, act.action, act.object_id)
                shown[act.action, act.object_id] = changed
    classes = {class_of(target) for _, target in shown}
    assert {ObjectClass.Faucet, ObjectClass.FloorLamp, ObjectClass.DeskLamp} <= classes
    assert {ObjectClass.Fridge, ObjectClass.Microwave, ObjectClass.Cabinet} <= classes
