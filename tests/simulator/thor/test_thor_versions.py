"""Packages of AI2-THOR between ALFRED's 2.1.0 and 5.0.0, with the player in Unity's place.

The tests run this file again in environments with those versions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.helpers.thor_players import environment_with
from tests.helpers.thor_versions import python_with

pytestmark = pytest.mark.slow

VERSIONS = ("2.4.12", "2.7.4", "3.3.5", "4.3.0")


def look_around() -> dict[str, Any]:
    """Starts the player and looks at an object with all kinds of pictures."""
    import ai2thor
    import numpy as np
    from ai2thor.controller import Controller

    # Where xdpyinfo is installed, old versions would insist on an X server.
    Controller.check_x_display = lambda self, display: None
    display = {} if ai2thor.__version__.startswith("2.") else {"x_display": ":0"}
    controller = Controller(
        local_executable_path=f"{sys.executable} -m clalfred.scripts.player",
        scene="FloorPlan3",
        width=320,
        height=240,
        fieldOfView=60,
        renderDepthImage=True,
        renderInstanceSegmentation=True,
        renderSemanticSegmentation=True,
        renderObjectImage=True,
        renderClassImage=True,
        **display,
    )
    entries = controller.last_event.metadata["objects"]
    fridge = next(e["objectId"] for e in entries if e["objectType"] == "Fridge")
    poses = controller.step(action="GetInteractablePoses", objectId=fridge, horizons=[0.0])
    pose = poses.metadata["actionReturn"][0]
    event = controller.step(action="TeleportFull", **pose)
    mask = np.asarray(event.instance_masks[fridge])
    rows, columns = np.nonzero(mask)
    found = {
        "version": ai2thor.__version__,
        "success": bool(event.metadata["lastActionSuccess"]),
        "frame": event.frame.shape,
        "mask": [int(mask.sum()), int(rows.min()), int(columns.min())],
        "shape": mask.shape,
        "classes": int(np.asarray(event.class_masks["Fridge"]).sum()),
        "masks": sorted(name for name in event.instance_masks if "|" in name),
        "depth": round(float(np.median(event.depth_frame[mask])), 1),
        "opened": bool(
            controller.step(action="OpenObject", objectId=fridge).metadata["lastActionSuccess"]
        ),
    }
    controller.stop()
    return found


@pytest.fixture(scope="module")
def present() -> dict[str, Any]:
    """What the installed version finds."""
    pytest.importorskip("ai2thor")
    return run(Path(sys.executable))


@pytest.mark.parametrize("version", VERSIONS)
def test_masks_and_depth_are_those_of_the_installed_version(
    version: str, present: dict[str, Any]
) -> None:
    other = run(python_with(version))
    assert other == {**present, "version": version}
    assert other["success"]
    assert other["opened"]
    assert other["shape"] == [240, 320]


def run(python: Path) -> dict[str, Any]:
    """What ``look_around`` finds in an environment."""
    code = (
        "import json, tests.simulator.thor.test_thor_versions as tests\n"
        "print('RESULT', json.dumps(tests.look_around()), flush=True)"
    )
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        env=environment_with(PYTHONPATH=str(ROOT)),
        check=False,
        timeout=300,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-4000:]
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
    return found
