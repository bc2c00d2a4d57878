"""``clalfred-player --data``: real ALFRED's rooms over the wire."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("ai2thor")

from alfred_data import alfred_data
from thor_players import OPTIONS

from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.store import AlfredStore
from gym_clalfred.data.trajectory import Split
from gym_clalfred.simulator.contract import RenderOptions
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.simulator.thor import ThorSimulator


@pytest.mark.alfred
def test_recorded_experts_act_in_the_rooms_of_a_store(tmp_path: Path) -> None:
    from test_thor_simulator import assert_same_frames, assert_same_objects, assert_same_sight

    root = alfred_data("json_2.1.0-valid_seen", tmp_path / "data") / "json_2.1.0" / "valid_seen"
    tasks = sorted(path for path in root.iterdir() if path.is_dir())
    number = tasks[0].name.rsplit("-", 1)[1]
    part = tmp_path / "part" / "json_2.1.0" / "valid_seen"
    part.mkdir(parents=True)
    for path in tasks:
        if path.name.rsplit("-", 1)[1] == number:
            (part / path.name).symlink_to(path)
    store = AlfredStore(import_alfred(tmp_path / "part", tmp_path / "store", workers=1).store)
    options = replace(OPTIONS, executable=f"player --data {store.folder}")
    assert options.build == "clalfred-player"
    wire = ThorSimulator(RenderOptions(depth=True), options=options)
    local = EmbeddedSimulator(RenderOptions(depth=True), store.room)
    entries = {entry.key.trajectory: entry for entry in store.entries(Split.VALID_SEEN)}
    done = 0
    try:
        for entry in list(entries.values())[:3]:
            trajectory = store.episode(entry.key).trajectory
            for simulator in (wire, local):
                simulator.reset(trajectory.scene)
            assert_same_objects(wire, local)
            for count, step in enumerate(trajectory.actions):
                outcomes = [each.step(step.action, step.object_id) for each in (wire, local)]
                assert outcomes[0].failure == outcomes[1].failure, (entry.key, count, step)
                done += outcomes[1].success
                if step.action.is_interaction or count % 10 == 0:
                    assert_same_frames(wire, local)
                    assert_same_sight(wire, local)
            assert_same_objects(wire, local)
    finally:
        wire.close()
    assert done > 50
