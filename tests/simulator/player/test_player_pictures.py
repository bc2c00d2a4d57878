"""The player's pictures: sizes, colours of objects, cameras."""

from __future__ import annotations

import numpy as np
import pytest

from gym_clalfred.objects import ObjectClass
from tests.helpers.player_script import Answers, ask


def depth_of(content: bytes, answers: Answers) -> np.ndarray:
    """(48, 64) metres, read as the packages do."""
    if answers.agent()["depthFormat"] == "Meters":
        return np.frombuffer(content, np.float32).reshape(48, 64)
    parts = np.frombuffer(content, np.uint8).reshape(48, 64, 3) / [1.0, 256.0, 65536.0]
    planes = answers.agent(2)["actionReturn"]
    return parts.sum(axis=-1) / 256.0 * (planes["cameraFarPlane"] - planes["cameraNearPlane"])


def test_frames_come_in_the_asked_size_and_bottom_up_and_in_the_form_of_the_version() -> None:
    size = {"action": "ChangeResolution", "x": 64, "y": 48}
    forms = {}
    for client, channels in ((None, 3), ("3.3.5", 3), ("5.0.0", 4)):
        arguments = {"renderInstanceSegmentation": True, "renderDepthImage": True}
        answers = ask(size, {"action": "Pass"}, client=client, **arguments)
        images = dict(answers.messages[-1].images)
        assert len(images["image"]) == 64 * 48 * 3
        ids = np.frombuffer(images["image_ids"], np.uint8).reshape(48, 64, channels)
        forms[client] = ids[..., :3], depth_of(images["image_depth"], answers)
    depth = forms["5.0.0"][1]
    for ids, other in forms.values():
        np.testing.assert_array_equal(ids, forms["5.0.0"][0])
        np.testing.assert_allclose(other, depth, atol=2e-6)
    # The camera looks ahead: the floor below is nearer than what is far ahead.
    assert depth[0].max() < depth[30].max()


def test_pictures_can_be_left_out() -> None:
    assert ask({"action": "Pass", "renderImage": False}).messages[-1].images == []


def test_segmentation_colours_are_named() -> None:
    answers = ask(renderInstanceSegmentation=True, renderSemanticSegmentation=True)
    names = {tuple(c["color"]): c["name"] for c in answers.agent()["colors"]}
    assert len(names) == len(answers.agent()["colors"])
    images = dict(answers.messages[-1].images)
    for field, is_id in (("image_ids", True), ("image_classes", False)):
        pixels = np.unique(np.frombuffer(images[field], np.uint8).reshape(-1, 3), axis=0)
        found = [names[tuple(int(v) for v in p)] for p in pixels if p.any()]
        assert found
        assert all(("|" in name) == is_id for name in found)
        if not is_id:
            assert all(name in ObjectClass.__members__ for name in found)


@pytest.mark.parametrize(
    ("legacy", "wanted"), [(False, "renderInstanceSegmentation"), (True, "renderObjectImage")]
)
def test_colours_are_named_with_pictures_only(legacy: bool, wanted: str) -> None:
    """As in Unity's ``AgentManager``: without pictures there is nothing to name."""
    answers = ask(
        {"action": "Pass", "renderImage": False},
        {"action": "Pass"},
        legacy=legacy,
        **{wanted: True},
    )
    assert [bool(answers.agent(k)["colors"]) for k in (2, 3, 4)] == [True, False, True]
    assert answers.agent(3)["colors"] is None
    assert ask(legacy=legacy).agent()["colors"] is None


def test_2_1_0_names_no_colours_for_classes_alone() -> None:
    assert ask(renderSemanticSegmentation=True).agent()["colors"]
    assert ask(legacy=True, renderClassImage=True).agent()["colors"] is None


def test_a_camera_at_the_eye_sees_what_the_agent_sees() -> None:
    eye = ask(fieldOfView=60).agent()
    answers = ask(
        {
            "action": "AddThirdPartyCamera",
            "position": eye["cameraPosition"],
            "rotation": {"x": eye["agent"]["cameraHorizon"], "y": 0.0, "z": 0.0},
            "fieldOfView": 60,
        },
        {"action": "RotateRight"},
        {
            "action": "UpdateThirdPartyCamera",
            "thirdPartyCameraId": 0,
            "rotation": {"x": 0.0, "y": 90.0, "z": 0.0},
        },
        fieldOfView=60,
    )
    for number, same in ((3, True), (4, False), (5, True)):
        images = dict(answers.messages[number].images)
        assert (images["image"] == images["image-thirdParty-camera"]) is same


def test_a_map_of_the_room_shows_it_from_above() -> None:
    properties = ask({"action": "GetMapViewCameraProperties"}).agent()["actionReturn"]
    answers = ask({"action": "AddThirdPartyCamera", **properties}, renderInstanceSegmentation=True)
    assert answers.agent()["lastActionSuccess"]
    ids = np.frombuffer(dict(answers.messages[-1].images)["image_thirdParty_image_ids"], np.uint8)
    assert len(np.unique(ids.reshape(-1, 3), axis=0)) > 10


@pytest.mark.parametrize("legacy", [True, False])
def test_versions_before_4_get_boxes_of_colours(legacy: bool) -> None:
    answers = ask(legacy=legacy, renderObjectImage=True)
    agent = answers.agent()
    assert agent["colorBounds"]
    for box in agent["colorBounds"]:
        left, bottom, right, top = box["bounds"]
        assert 0 <= left <= right < 300
        assert 0 <= bottom <= top < 300
    assert len(dict(answers.messages[-1].images)["image_ids"]) == 300 * 300 * 3
