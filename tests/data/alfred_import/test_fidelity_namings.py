"""Replays by id, class and mask in generated rooms; held-out halves; surveys of rooms."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.alfred_import.layouts import Layout, Standing
from gym_clalfred.data.fidelity import Naming, replay
from gym_clalfred.data.fidelity_check import HeldOut, check, halves
from gym_clalfred.data.fidelity_report import report_json, report_text
from gym_clalfred.data.fidelity_rooms import survey, survey_text
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.tiers import tier_source
from gym_clalfred.data.trajectory import RunLengthMask, Split, Trajectory
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import AgentPose, RenderOptions
from gym_clalfred.simulator.embedded.generator import make_room
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from tests.helpers.alfred_data import alfred_data


@pytest.fixture(scope="module")
def expert() -> Trajectory:
    source = tier_source("tiny")
    return source.episode(source.entries(Split.TRAIN)[0].key).trajectory


@pytest.fixture(scope="module")
def simulator() -> EmbeddedSimulator:
    return EmbeddedSimulator(RenderOptions(image_size=8))


@pytest.mark.parametrize("naming", Naming)
def test_experts_of_generated_rooms_replay_by_every_naming(
    naming: Naming, expert: Trajectory, simulator: EmbeddedSimulator
) -> None:
    found = replay(simulator, expert, naming)
    assert found.success
    assert not found.failures
    assert bool(found.encounters) == (naming is Naming.ID)


def test_a_mask_that_points_at_nothing_fails(
    expert: Trajectory, simulator: EmbeddedSimulator
) -> None:
    nothing = RunLengthMask.encode(np.zeros((300, 300), dtype=np.bool_))
    blind = replace(
        expert,
        actions=tuple(replace(act, mask=nothing) if act.mask else act for act in expert.actions),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_id = replay(simulator, blind, Naming.ID)
    assert by_id.success
    assert {(one.iou, one.centre_error) for one in by_id.encounters} == {(0.0, float("inf"))}
    found = replay(simulator, blind, Naming.MASK)
    assert not found.success
    assert found.failures


def test_by_class_another_object_may_be_chosen(
    expert: Trajectory, simulator: EmbeddedSimulator
) -> None:
    index = next(k for k, act in enumerate(expert.actions) if act.action is Action.PickupObject)
    act = expert.actions[index]
    parts = (act.object_id or "").split("|")
    elsewhere = "|".join((parts[0], "+09.99", *parts[2:]))
    actions = list(expert.actions)
    actions[index] = replace(act, object_id=elsewhere)
    other = replace(expert, actions=tuple(actions))
    assert not replay(simulator, other, Naming.ID).success
    found = replay(simulator, other, Naming.CLASS)
    assert found.success
    assert found.strays == ((index, act.object_id),)


def test_an_expert_who_begins_in_a_wall_is_not_solved(
    expert: Trajectory, simulator: EmbeddedSimulator
) -> None:
    start = AgentPose(30.0, 0.9, 30.0, 0, 30)
    lost = replace(expert, scene=replace(expert.scene, start=start))
    found = replay(simulator, lost)
    assert not found.success
    assert found.blocked == found.moves


def keys(*names: str) -> list[tuple[Split, str]]:
    return [(Split.TRAIN, name) for name in names]


def test_every_second_trial_is_left_out_room_by_room() -> None:
    experts = keys("a-1/t1", "a-1/t2", "b-1/t3", "b-1/t4", "a-2/t5")
    first, second = halves(experts, HeldOut.TRIAL)
    assert first == keys("a-1/t1", "b-1/t3", "a-2/t5")
    assert second == keys("a-1/t2", "b-1/t4")


def test_all_trials_of_a_task_are_on_one_side() -> None:
    experts = keys("a-1/t1", "b-1/t3", "a-1/t2", "b-1/t4", "c-1/t6", "a-2/t5")
    first, second = halves(experts, HeldOut.TASK)
    assert first == keys("a-1/t1", "a-1/t2", "c-1/t6", "a-2/t5")
    assert second == keys("b-1/t3", "b-1/t4")


def test_a_survey_counts_what_is_missing(expert: Trajectory) -> None:
    room = make_room(expert.scene.number)
    missing = "Fridge|+09.00|+00.00|+09.00"
    here = room.fixtures[0]
    listed = {here.name: Standing(0, 0, 0, 0), missing: Standing(0, 0, 0, 0)}
    layout = Layout(frozenset(), listed, frozenset({here.object_class, ObjectClass.Cart}))
    found = survey(room, layout, [expert])
    assert (found.listed, found.standing) == (2, 1)
    assert found.classes == 2
    assert found.shown >= 1
    assert found.floating == 0
    pose = expert.scene.object_poses[0]
    raised = replace(pose, position=(pose.position[0], 1.9, pose.position[2]))
    scene = replace(expert.scene, object_poses=(raised, *expert.scene.object_poses[1:]))
    assert survey(room, layout, [replace(expert, scene=scene)]).floating >= 1
    assert "1 of 2 (50.0%)" in survey_text([found])


def test_the_report_has_all_namings(expert: Trajectory, simulator: EmbeddedSimulator) -> None:
    solved = replay(simulator, expert)
    failed = replace(solved, success=False, strays=((3, "Mug|+01.00|+01.00|+01.00"),))
    others = {Naming.CLASS: {Split.TRAIN: [solved, failed]}}
    text = report_text({Split.TRAIN: [solved]}, others)
    assert "| by class | experts | solved |" in text
    assert "| train | 2 | 50.00% | 1 |" in text
    assert "do not replay by class (1)" in text
    document = report_json({Split.TRAIN: [solved]}, others)
    assert document["train"]["solved_by"] == {"class": 1}


@pytest.mark.alfred
def test_held_out_rooms_are_rebuilt_without_who_is_replayed(tmp_path: Path) -> None:
    root = alfred_data("json_2.1.0-valid_unseen", tmp_path / "data") / "json_2.1.0"
    layouts = alfred_data("layouts_and_splits", tmp_path / "data") / "gen"
    part = tmp_path / "part" / "json_2.1.0" / "valid_unseen"
    part.mkdir(parents=True)
    for path in sorted((root / "valid_unseen").iterdir()):
        if path.name.endswith("-424"):
            (part / path.name).symlink_to(path)
    (tmp_path / "part" / "gen").symlink_to(layouts)
    store = AlfredStore(import_alfred(tmp_path / "part", tmp_path / "store", workers=1).store)
    whole = check(store, [Split.VALID_UNSEEN], namings=["class"])
    (room,) = whole.surveys
    assert room.standing >= 0.97 * room.listed
    # A bathroom with many things on walls, and shapes from its own 27 trials only.
    assert room.floating <= 0.08 * room.things
    solved = [one.success for one in whole.by_id[Split.VALID_UNSEEN]]
    assert sum(solved) >= 0.95 * len(solved)
    assert len(whole.others[Naming.CLASS][Split.VALID_UNSEEN]) == len(solved)
    parted = check(store, [Split.VALID_UNSEEN], held_out="trial").by_id[Split.VALID_UNSEEN]
    assert len(parted) == len(solved) // 2
    assert sum(one.success for one in parted) >= 0.8 * len(parted)
