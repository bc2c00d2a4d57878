"""A player compiles before its first answer, while its client waits for it to start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gym_clalfred.simulator.player import rehearsal
from gym_clalfred.simulator.player.player import Player
from gym_clalfred.simulator.player.transport import Pipes

#: What programs do, in rooms of all kinds; prints the kernels that the rehearsal left out.
PROGRAM = """
from gym_clalfred.simulator import jit

used = []
load = jit._Cache.load_overload
jit._Cache.load_overload = lambda self, *a: (used.append(self._py_func.__name__), load(self, *a))[1]

from gym_clalfred.simulator.player.rehearsal import rehearse
from tests.helpers.player_script import Talk

rehearse()
assert used
used.clear()
FULL = {"renderInstanceSegmentation": True, "renderDepthImage": True}
for scene in (3, 5, 202, 306, 403):
    for legacy in (False, True):
        talk = Talk(f"FloorPlan{scene}", legacy, **FULL)
        world = talk.world
        ids = [thing.id for thing in world.items()][:3]

        def do(action, **arguments):
            result = talk._player._do({"action": action, **arguments})
            talk._player._answer(result, {})
            return result.value

        for name in ids:
            for pose in (do("GetInteractablePoses", objectId=name) or [])[:1]:
                do("TeleportFull", **pose)
                do("PickupObject", objectId=name)
                do("RotateRight")
                for holder in sorted(world._observe().sight.visible)[:2]:
                    do("OpenObject", objectId=holder)
                    do("PutObject", objectId=holder)
                do("DropHeldObject")
                do("PositionsFromWhichItemIsInteractable", objectId=name)
                do("TeleportObject", objectId=name, position={"x": 0.0, "y": 1.0, "z": 0.0})
        do("InitialRandomSpawn", randomSeed=1)
        do("ObjectNavExpertAction", objectType="GarbageCan")
        do("AddThirdPartyCamera", position={"x": 0, "y": 2, "z": 0}, rotation={"x": 60})
        do("ChangeResolution", x=200, y=100)
print(used)
"""


def test_after_the_rehearsal_nothing_is_left_to_compile() -> None:
    root = Path(__file__).resolve().parents[3]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


def test_the_command_rehearses_before_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clalfred.scripts.player import main

    done: list[str] = []
    monkeypatch.setattr(rehearsal, "rehearse", lambda: done.append("rehearse"))
    monkeypatch.setattr(Player, "serve", lambda self: done.append("serve"))
    monkeypatch.setattr(Pipes, "connect", lambda self: True)
    pipes = [str(tmp_path / name) for name in ("server", "client")]
    for path in pipes:
        os.mkfifo(path)
    run = CliRunner().invoke(main, ["--pipes", *pipes])
    assert run.exit_code == 0, run.output
    assert done == ["rehearse", "serve"]
