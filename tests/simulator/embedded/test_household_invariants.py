"""Whatever a random agent does, in whatever room: nothing is lost, nothing is in two places."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gym_clalfred.actions import Action
from gym_clalfred.objects import OPENABLE, PICKUPABLE, RECEPTACLES, SLICEABLE, TOGGLEABLE
from gym_clalfred.rooms import ROOM_NUMBERS
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.audit import problems
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.embedded.slicing import PIECES
from gym_clalfred.simulator.random_agent import random_step
from tests.helpers.household_room import AT_FRIDGE, AT_MICROWAVE, AT_SINK, AT_TABLE, kitchen, scene
from tests.helpers.random_agent import random_scene

POSES = (AT_TABLE, AT_SINK, AT_MICROWAVE, AT_FRIDGE)
MARKS = ("cleaned", "heated", "cooled")


class HouseholdMachine(RuleBasedStateMachine):
    """Any order of actions in the hand-made kitchen."""

    simulator = EmbeddedSimulator(RenderOptions(image_size=8), kitchen)

    @initialize(dirty=st.booleans())
    def start(self, dirty):
        self.simulator.reset(scene(dirty_and_empty=dirty))
        self.ids = set(self.simulator.objects)
        self.marked = set()

    def visible(self, classes):
        objects = self.simulator.objects
        return [
            name
            for name in sorted(self.simulator.sight().visible)
            if objects[name].object_class in classes
        ]

    @rule(pose=st.sampled_from(POSES))
    def go(self, pose):
        assert self.simulator.teleport(pose).success

    @rule(action=st.sampled_from([a for a in Action if a.is_navigation]))
    def move(self, action):
        version = self.simulator.version
        self.simulator.step(action)
        assert self.simulator.version == version

    @precondition(lambda self: self.simulator.held is None)
    @rule(data=st.data())
    def take_and_put_back(self, data):
        names = self.visible(PICKUPABLE)
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        before = self.simulator.objects[name]
        if not self.simulator.step(Action.PickupObject, name).success:
            assert before.is_open
            return
        assert self.simulator.held == name
        assert self.simulator.objects[name].parents == ()
        assert self.simulator.objects[name].contents == before.contents
        if before.parents and data.draw(st.booleans()):
            outcome = self.simulator.step(Action.PutObject, before.parents[0])
            if outcome.success:
                assert self.simulator.objects[name].parents == before.parents
                assert self.simulator.held is None

    @precondition(lambda self: self.simulator.held is not None)
    @rule(data=st.data())
    def put(self, data):
        names = self.visible(RECEPTACLES)
        if not names:
            return
        held = self.simulator.held
        contents = self.simulator.objects[held].contents
        target = data.draw(st.sampled_from(names))
        if self.simulator.step(Action.PutObject, target).success:
            state = self.simulator.objects[held]
            assert state.parents[0] == target
            assert state.contents == contents
            for content in contents:
                assert target in self.simulator.objects[content].parents
        else:
            assert self.simulator.held == held

    @rule(data=st.data(), opening=st.booleans())
    def swing(self, data, opening):
        names = self.visible(OPENABLE)
        if names:
            name = data.draw(st.sampled_from(names))
            action = Action.OpenObject if opening else Action.CloseObject
            if self.simulator.step(action, name).success:
                assert self.simulator.objects[name].is_open is opening

    @rule(data=st.data(), on=st.booleans())
    def switch(self, data, on):
        names = self.visible(TOGGLEABLE)
        if names:
            name = data.draw(st.sampled_from(names))
            action = Action.ToggleObjectOn if on else Action.ToggleObjectOff
            if self.simulator.step(action, name).success:
                assert self.simulator.objects[name].is_on is on

    @rule(data=st.data())
    def cut(self, data):
        names = self.visible(SLICEABLE)
        if not names:
            return
        name = data.draw(st.sampled_from(names))
        whole = self.simulator.objects[name]
        if self.simulator.step(Action.SliceObject, name).success:
            pieces = [
                state
                for state in self.simulator.objects.values()
                if state.id.startswith(f"{name}|")
            ]
            assert len(pieces) == PIECES[whole.object_class]
            assert all(piece.parents == whole.parents for piece in pieces)

    @invariant()
    def nothing_is_lost_or_twice(self):
        assert problems(self.simulator.household, self.ids) == []

    @invariant()
    def marks_stay(self):
        objects = self.simulator.objects
        self.marked = {key for key in self.marked if key[0] in objects}
        now = {(s.id, mark) for s in objects.values() for mark in MARKS if getattr(s, mark)}
        assert self.marked <= now
        self.marked = now

    @invariant()
    def what_is_closed_hides(self):
        sight, objects = self.simulator.sight(), self.simulator.objects
        for state in objects.values():
            shut = any(
                objects[parent].object_class in OPENABLE and not objects[parent].is_open
                for parent in state.parents
            )
            if shut:
                assert state.id not in sight.visible
                assert not sight.mask(state.id).any()


HouseholdMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None
)
TestHousehold = HouseholdMachine.TestCase


@pytest.mark.parametrize("numbers", [ROOM_NUMBERS[k::4] for k in range(4)])
def test_random_agents_break_nothing_in_any_room(numbers):
    simulator = EmbeddedSimulator(RenderOptions(image_size=8))
    done = 0
    for number in numbers:
        rng = np.random.default_rng(number)
        simulator.reset(random_scene(make_room(number), rng))
        ids = set(simulator.objects)
        indices = list(simulator.frame().object_ids)
        assert problems(simulator.household, ids) == []
        for _ in range(40):
            done += random_step(simulator, rng).success
        assert problems(simulator.household, ids) == []
        assert list(simulator.frame().object_ids[: len(indices)]) == indices
    assert done > 15 * len(numbers)
