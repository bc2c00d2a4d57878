"""Replays of recorded experts: how they are judged, summed up and shown."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.fidelity import Encounter, Replay, compare
from gym_clalfred.data.fidelity_report import (
    draw_map,
    measure,
    report_json,
    report_text,
    summarise,
    why,
    write_report,
)
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.contract import Failure, Sight
from gym_clalfred.simulator.embedded.generator import make_room
from tests.helpers.alfred_data import alfred_data


def sight_of(mask: np.ndarray) -> Sight:
    return Sight(mask.astype(np.int16), ("Mug|+01.00|+01.00|+01.00",), frozenset())


def square(row: int, column: int, side: int = 10) -> np.ndarray:
    mask = np.zeros((300, 300), dtype=np.bool_)
    mask[row : row + side, column : column + side] = True
    return mask


@pytest.mark.parametrize(
    ("row", "column", "iou", "error"),
    [(50, 50, 1.0, 0.0), (50, 55, 1 / 3, 5.0), (53, 54, 42 / 158, 5.0), (90, 80, 0.0, 50.0)],
)
def test_masks_are_compared_by_overlap_and_centre(
    row: int, column: int, iou: float, error: float
) -> None:
    found = compare(square(50, 50), sight_of(square(row, column)), "Mug|+01.00|+01.00|+01.00")
    assert found == pytest.approx((iou, error))


def test_what_is_not_seen_agrees_with_nothing() -> None:
    assert compare(square(5, 5), sight_of(square(5, 5)), "Cup|+01.00|+01.00|+01.00") == (
        0.0,
        float("inf"),
    )


def encounter(index: int, iou: float, kind: ObjectClass, failure: Failure | None) -> Encounter:
    return Encounter(index, Action.PickupObject, kind, failure, iou, 10 * (1 - iou))


GOOD = Replay(
    "task-7/trial_1", 7, "look", True, 10, 0, (), (encounter(3, 0.9, ObjectClass.Mug, None),), ()
)
BAD = Replay(
    "task-9/trial_2",
    9,
    "look",
    False,
    10,
    1,
    ((4, Failure.NOT_VISIBLE),),
    (encounter(4, 0.3, ObjectClass.Fridge, Failure.NOT_VISIBLE),),
    ("Mug held",),
)


def test_figures_are_means_over_experts_and_masks() -> None:
    summary = summarise([GOOD, BAD])
    assert (summary.experts, summary.solved, summary.moves, summary.blocked) == (2, 1, 20, 1)
    assert summary.iou == pytest.approx(0.6)
    assert summary.small_iou == pytest.approx(0.9)
    assert summary.centre_error == pytest.approx(4.0)


def test_the_report_lists_who_failed_and_why() -> None:
    assert why(BAD) == "action 4, PickupObject Fridge: the target cannot be seen"
    assert why(replace(BAD, failures=())) == "not met at the end: Mug held"
    text = report_text({Split.TRAIN: [GOOD, BAD]})
    assert "50.00%" in text
    assert "- task-9/trial_2: action 4" in text
    assert "task-7/trial_1:" not in text
    assert report_json({Split.TRAIN: [GOOD, BAD]})["train"]["failed"] == {BAD.key: why(BAD)}


def test_maps_show_walkable_points_and_furniture() -> None:
    room = make_room(7)
    pixels = np.asarray(draw_map(room))
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 5
    bare = np.asarray(draw_map(replace(room, fixtures=())))
    assert (pixels != bare).any()


@pytest.mark.alfred
def test_real_experts_replay_by_the_rules(tmp_path: Path) -> None:
    """All valid seen experts of the two rooms that have most of them."""
    root = alfred_data("json_2.1.0-valid_seen", tmp_path / "data") / "json_2.1.0" / "valid_seen"
    tasks = sorted(path for path in root.iterdir() if path.is_dir())
    numbers = [path.name.rsplit("-", 1)[1] for path in tasks]
    most = sorted(set(numbers), key=lambda number: (-numbers.count(number), number))[:2]
    part = tmp_path / "part" / "json_2.1.0" / "valid_seen"
    part.mkdir(parents=True)
    for path, number in zip(tasks, numbers):
        if number in most:
            (part / path.name).symlink_to(path)
    report = import_alfred(tmp_path / "part", tmp_path / "store", workers=1)
    store = AlfredStore(report.store)
    replays = measure(store, Split.VALID_SEEN)
    figures = summarise(replays)
    assert figures.experts >= 10
    assert figures.blocked == 0
    assert figures.solved >= 0.9 * figures.experts
    assert figures.iou > 0.6
    assert figures.small_iou > 0.5
    assert figures.centre_error < 8
    write_report(store, {Split.VALID_SEEN: replays}, tmp_path / "report", pictures=2)
    with Image.open(tmp_path / "report" / "worst" / "valid_seen-00.png") as picture:
        assert picture.size == (600, 300)
    assert len(list((tmp_path / "report" / "maps").iterdir())) == 2


def test_what_is_not_finite_is_null_in_the_document() -> None:
    unseen = replace(GOOD.encounters[0], iou=0.0, centre_error=float("inf"))
    document = report_json({Split.TRAIN: [replace(GOOD, encounters=(unseen,)), BAD]})["train"]
    assert document["rooms"]["7"]["centre_error"] is None
    assert document["rooms"]["9"]["centre_error"] == pytest.approx(7.0)
    json.dumps(document, allow_nan=False)
