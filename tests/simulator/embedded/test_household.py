"""The rules of the household, tried without a camera."""

from dataclasses import replace

import pytest

from gym_clalfred.errors import BadInputError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Failure, ObjectPose
from gym_clalfred.simulator.embedded.audit import boxes_overlap, problems
from gym_clalfred.simulator.embedded.household import Household
from gym_clalfred.simulator.embedded.placement import Gaze
from gym_clalfred.simulator.embedded.slicing import PIECES
from tests.helpers.household_room import kitchen, on_table, scene

DOWN = Gaze((0.5, 1.6, -1.4), (0.0, -0.5, 0.8660254), 1.2)


@pytest.fixture
def household() -> Household:
    return Household(kitchen(), scene())


def get(household: Household, name: str):
    """The only object of a class."""
    (thing,) = [t for t in household.things if t.alive and t.object_class.name == name]
    return thing


def put(household: Household, holder, gaze: Gaze = DOWN) -> Failure | None:
    places = household.places_for_held(holder, gaze)
    if isinstance(places, Failure):
        return places
    household.put_down(holder, places[0])
    return None


def move(household: Household, name: str, holder: str) -> None:
    assert household.pick_up(get(household, name)) is None
    assert put(household, get(household, holder)) is None


def test_holders_are_inferred_from_positions(household):
    holders = {
        thing.object_class.name: thing.holder.object_class.name
        for thing in household.things
        if thing.holder is not None
    }
    assert holders == {
        "Apple": "DiningTable",
        "Knife": "DiningTable",
        "Bread": "DiningTable",
        "Plate": "DiningTable",
        "Box": "DiningTable",
        "Mug": "Box",
        "Spoon": "DiningTable",
        "Laptop": "DiningTable",
        "Tomato": "CounterTop",
        "Potato": "Fridge",
        "Egg": "Fridge",
        "Lettuce": "Fridge",
        "Cup": "SinkBasin",
    }


def test_settling_moves_nothing(household):
    for pose, thing in zip(kitchen().items, household.things[len(kitchen().fixtures) :]):
        assert thing.position == pytest.approx(pose.position, abs=1e-9)
        assert thing.yaw == pytest.approx(pose.rotation[1] % 360)


def test_positions_of_recorded_scenes_are_a_little_off():
    poses = (
        ObjectPose("Apple_b", (0.4, 0.81, -0.4)),
        ObjectPose("Bread_b", (0.8, 0.73, -0.4)),
        ObjectPose("Book_b", (-1.2, 0.0, -1.2)),
    )
    household = Household(kitchen(), scene(object_poses=poses))
    assert get(household, "Apple").holder is get(household, "DiningTable")
    assert get(household, "Apple").position[1] == pytest.approx(0.76)
    assert get(household, "Bread").holder is get(household, "DiningTable")
    assert get(household, "Book").holder is None


def test_state_lists_all_holders_and_all_contents(household):
    objects = household.objects
    mug, box, table = (get(household, name).id for name in ("Mug", "Box", "DiningTable"))
    assert objects[mug].parents == (box, table)
    assert objects[box].contents == (mug,)
    assert set(objects[table].contents) >= {mug, box}


def test_basin_is_named_after_its_sink(household):
    assert get(household, "SinkBasin").id == f"{get(household, 'Sink').id}|SinkBasin"


def test_twins_at_one_place_get_ids_of_their_own():
    poses = (on_table("Apple_a", 0.4, -0.4), on_table("Apple_a", 0.4, -0.4))
    household = Household(kitchen(), scene(object_poses=poses))
    ids = [thing.id for thing in household.things]
    assert len(set(ids)) == len(ids)


def test_furniture_among_the_poses_is_refused():
    with pytest.raises(BadInputError, match="not pickupable"):
        Household(kitchen(), scene(object_poses=(ObjectPose("Fridge_1", (0, 0, 0)),)))


def test_box_takes_the_mug_along(household):
    box, mug = get(household, "Box"), get(household, "Mug")
    offset = [a - b for a, b in zip(mug.position, box.position)]
    assert household.pick_up(box) is None
    assert mug.id in household.objects[box.id].contents
    assert household.objects[mug.id].parents == (box.id,)
    assert put(household, get(household, "GarbageCan")) is Failure.NO_SPACE
    counter = next(t for t in household.things if t.object_class is ObjectClass.CounterTop)
    assert put(household, counter, Gaze((-0.5, 1.6, 1.0), (0, -0.6, 0.8), 1.2)) is None
    assert household.objects[mug.id].parents == (box.id, counter.id)
    moved = [a - b for a, b in zip(mug.position, box.position)]
    assert moved[1] == pytest.approx(offset[1])
    assert sum(m * m for m in moved) == pytest.approx(sum(o * o for o in offset))


def test_fridge_hides_until_opened_and_cools_when_closed(household):
    fridge, potato = get(household, "Fridge"), get(household, "Potato")
    assert potato.hidden
    assert household.set_open(fridge, True) is None
    assert not potato.hidden
    assert not potato.cooled
    assert household.set_open(fridge, False) is None
    assert potato.hidden
    assert household.objects[potato.id].cooled
    assert not household.objects[get(household, "Apple").id].cooled


def test_marks_stay_when_the_object_leaves(household):
    fridge, potato = get(household, "Fridge"), get(household, "Potato")
    household.set_open(fridge, True)
    household.set_open(fridge, False)
    household.set_open(fridge, True)
    move(household, "Potato", "DiningTable")
    assert household.objects[potato.id].cooled


def test_microwave_heats_what_is_in_it(household):
    microwave = get(household, "Microwave")
    household.pick_up(get(household, "Apple"))
    assert put(household, microwave) is Failure.CLOSED
    household.set_open(microwave, True)
    assert put(household, microwave) is None
    assert household.set_on(microwave, True) is Failure.MUST_BE_CLOSED
    household.set_open(microwave, False)
    assert household.set_on(microwave, True) is None
    assert household.set_open(microwave, True) is Failure.MUST_BE_OFF
    assert household.objects[get(household, "Apple").id].heated
    assert not household.objects[get(household, "Bread").id].heated


def test_faucet_cleans_what_is_in_the_basin_and_in_what_is_in_the_basin():
    household = Household(kitchen(), scene(dirty_and_empty=True))
    move(household, "Spoon", "Plate")
    move(household, "Plate", "SinkBasin")
    knife = get(household, "Knife")
    assert household.set_on(get(household, "Faucet"), True) is None
    for name in ("Plate", "Spoon", "Cup"):
        state = household.objects[get(household, name).id]
        assert state.cleaned
        assert not state.is_dirty
    assert household.objects[knife.id].is_dirty
    assert not household.objects[knife.id].cleaned


def test_dirty_dishes_only_when_asked_for():
    assert not any(s.is_dirty for s in Household(kitchen(), scene()).objects.values())
    dirty = Household(kitchen(), scene(dirty_and_empty=True))
    names = {s.object_class.name for s in dirty.objects.values() if s.is_dirty}
    assert names == {"Knife", "Plate", "Mug", "Spoon", "Cup"}


def test_toggles_of_the_scene_apply_to_every_object_of_the_class():
    toggles = ((ObjectClass.StoveKnob, True), (ObjectClass.Faucet, True))
    household = Household(kitchen(), scene(object_toggles=toggles))
    on = [s.object_class.name for s in household.objects.values() if s.is_on]
    assert on == ["Faucet"] + 4 * ["StoveKnob"]


def test_knob_lights_its_own_burner(household):
    knobs = [t for t in household.things if t.object_class is ObjectClass.StoveKnob]
    burners = [t for t in household.things if t.object_class is ObjectClass.StoveBurner]
    household.set_on(knobs[2], True)
    assert [burner.is_on for burner in burners] == [False, False, True, False]


@pytest.mark.parametrize("name", [whole.name for whole in PIECES])
def test_slicing_replaces_the_whole_in_its_place(name):
    whole = on_table(f"{name}_x", 0.5, -0.6, 30.0)
    household = Household(kitchen(), scene(object_poses=(whole, on_table("Knife_a", 0.0, -0.6))))
    thing, table = get(household, name), get(household, "DiningTable")
    count = len(household.things)
    assert household.cut(thing) is Failure.NO_KNIFE
    household.pick_up(get(household, "Knife"))
    assert household.cut(thing) is None
    pieces = household.things[count:]
    assert len(pieces) == PIECES[ObjectClass[name]]
    assert thing.id not in household.objects
    assert household.get(thing.id) is None
    assert household.things[thing.index] is thing
    for k, piece in enumerate(pieces):
        state = household.objects[piece.id]
        assert state.parents == (table.id,)
        assert state.is_sliced
        assert piece.id.startswith(f"{thing.id}|")
        assert piece.index == count + k
    assert household.cut(pieces[0]) is Failure.NOT_SLICEABLE
    assert not any(boxes_overlap(a, b) for i, a in enumerate(pieces) for b in pieces[:i])


def test_slices_inherit_no_marks(household):
    fridge = get(household, "Fridge")
    household.set_open(fridge, True)
    household.set_open(fridge, False)
    household.set_open(fridge, True)
    household.pick_up(get(household, "Knife"))
    household.cut(get(household, "Potato"))
    slices = [s for s in household.objects.values() if s.object_class.name == "PotatoSliced"]
    assert len(slices) == 8
    assert not any(s.cooled for s in slices)
    assert all(s.parents == (fridge.id,) for s in slices)
    household.set_open(fridge, False)
    slices = [s for s in household.objects.values() if s.object_class.name == "PotatoSliced"]
    assert all(s.cooled for s in slices)


def test_put_fills_a_surface_until_nothing_fits():
    poses = tuple(
        on_table(f"Plate_{k}", -0.1 + 0.25 * (k % 5), -0.9 + 0.25 * (k // 5)) for k in range(15)
    )
    household = Household(kitchen(), scene(object_poses=poses))
    basin = get(household, "SinkBasin")
    plates = [t for t in household.things if t.object_class is ObjectClass.Plate]
    outcomes = []
    for plate in plates:
        household.pick_up(plate)
        outcomes.append(put(household, basin))
        if outcomes[-1] is not None:
            break
    assert outcomes[0] is None
    assert outcomes[-1] is Failure.NO_SPACE
    inside = basin.contents
    assert not any(boxes_overlap(a, b) for i, a in enumerate(inside) for b in inside[:i])


def test_spoon_stands_in_the_mug_and_lies_on_the_table(household):
    spoon = get(household, "Spoon")
    lying = household.objects[spoon.id].size
    move(household, "Spoon", "Mug")
    standing = household.objects[spoon.id].size
    assert standing == (lying[0], lying[2], lying[1])
    move(household, "Spoon", "DiningTable")
    assert household.objects[spoon.id].size == lying


def test_nothing_goes_into_itself_or_its_contents(household):
    box = get(household, "Box")
    household.pick_up(box)
    assert put(household, box) is Failure.NO_SPACE
    assert put(household, get(household, "Mug")) is Failure.NO_SPACE


def test_microwave_on_the_counter_keeps_its_place(household):
    counter = next(t for t in household.things if t.object_class is ObjectClass.CounterTop)
    microwave = get(household, "Microwave")
    household.pick_up(get(household, "Apple"))
    toward = Gaze((-1.6, 1.6, 1.0), (0.0, -0.7, 0.714), 1.2)
    assert put(household, counter, toward) is None
    apple = get(household, "Apple")
    assert (
        abs(apple.position[0] - microwave.position[0]) >= (0.52 + apple.box[0]) / 2
        or abs(apple.position[2] - microwave.position[2]) >= (0.4 + apple.box[2]) / 2
    )


def test_drawer_takes_its_contents_out(household):
    drawer = get(household, "Drawer")
    household.set_open(drawer, True)
    closed = drawer.fixture.position
    assert drawer.position[2] < closed[2] - 0.3
    move(household, "Spoon", "Drawer")
    spoon = get(household, "Spoon")
    before = spoon.position
    household.set_open(drawer, False)
    assert drawer.position == pytest.approx(closed)
    assert spoon.position[2] > before[2] + 0.3
    assert spoon.hidden


def test_laptop_must_be_closed_before_pickup(household):
    laptop = get(household, "Laptop")
    assert household.pick_up(laptop) is Failure.MUST_BE_CLOSED
    assert household.set_open(laptop, False) is None
    assert household.pick_up(laptop) is None


@pytest.mark.parametrize(
    ("act", "failure"),
    [
        (lambda h: h.pick_up(get(h, "Fridge")), Failure.NOT_PICKUPABLE),
        (lambda h: (h.pick_up(get(h, "Apple")), h.pick_up(get(h, "Bread")))[1], Failure.HANDS_FULL),
        (lambda h: put(h, get(h, "DiningTable")), Failure.HANDS_EMPTY),
        (
            lambda h: (h.pick_up(get(h, "Apple")), put(h, get(h, "Bread")))[1],
            Failure.NOT_RECEPTACLE,
        ),
        (lambda h: h.set_open(get(h, "DiningTable"), True), Failure.NOT_OPENABLE),
        (lambda h: h.set_open(get(h, "Fridge"), False), Failure.ALREADY_CLOSED),
        (lambda h: h.set_open(get(h, "Laptop"), True), Failure.ALREADY_OPEN),
        (lambda h: h.set_on(get(h, "Fridge"), True), Failure.NOT_TOGGLEABLE),
        (lambda h: h.set_on(get(h, "Faucet"), False), Failure.ALREADY_OFF),
        (
            lambda h: (h.set_on(get(h, "Faucet"), True), h.set_on(get(h, "Faucet"), True))[1],
            Failure.ALREADY_ON,
        ),
        (lambda h: h.cut(get(h, "Mug")), Failure.NOT_SLICEABLE),
    ],
)
def test_what_cannot_be_done_changes_nothing(household, act, failure):
    assert act(household) is failure
    before = dict(household.objects)
    version = household.version
    assert act(household) in (failure, Failure.HANDS_FULL, Failure.ALREADY_ON)
    assert household.version == version
    assert dict(household.objects) == before


def test_version_grows_with_every_change_and_states_are_cached(household):
    first = household.objects
    assert household.objects is first
    version = household.version
    household.pick_up(get(household, "Apple"))
    assert household.version > version
    assert household.objects is not first
    bread = get(household, "Bread").id
    assert household.objects[bread] is first[bread]


def test_load_of_a_dish_counts_when_it_is_put(household):
    move(household, "Cup", "DiningTable")
    move(household, "Knife", "Plate")
    plate, knife = get(household, "Plate"), get(household, "Knife")
    assert household.pick_up(plate) is None
    basin = get(household, "SinkBasin")
    assert put(household, basin, Gaze((0.0, 1.6, 1.0), (0.0, -0.8, 0.6), 1.2)) is None
    area = basin.surfaces[0].area
    x, z = basin.local(knife.position[0], knife.position[2])
    long = knife.box[2] / 2
    if (knife.yaw - basin.yaw) % 180.0 == 90.0:
        assert area.x0 - 1e-6 <= x - long
        assert x + long <= area.x1 + 1e-6
    else:
        assert area.z0 - 1e-6 <= z - long
        assert z + long <= area.z1 + 1e-6


def test_start_of_the_kitchen_is_sound(household):
    assert problems(household, set(household.objects)) == []


def test_recorded_ids_of_fixtures_are_kept():
    recorded = "Fridge|+01.17|00.00|+01.66"
    room = kitchen()
    fixtures = tuple(
        replace(fixture, name=recorded) if fixture.name == "Fridge_a" else fixture
        for fixture in room.fixtures
    )
    household = Household(replace(room, fixtures=fixtures), scene())
    assert get(household, "Fridge").id == recorded
    assert household.objects[get(household, "Egg").id].parents == (recorded,)
