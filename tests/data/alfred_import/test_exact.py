"""The arithmetic of the import: right, and the same bits whatever the processor can do."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from gym_clalfred.data.alfred_import import exact
from gym_clalfred.data.alfred_import.importer import import_alfred
from gym_clalfred.data.alfred_import.items import ItemView, fit_items
from gym_clalfred.data.alfred_import.trim import blocked_by
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.room_json import dump_room
from gym_clalfred.data.store import AlfredStore, write_rooms
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.embedded.catalog import Appearance, build_mesh, model_of
from tests.helpers.household_room import kitchen
from tests.helpers.trajectories import clean_a_mug

_AS_ON_HASWELL = {
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+avx,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe,+popcnt,+sse4.2",
}


def made_of_masks() -> dict[str, str]:
    """Digests, to the last bit, of shapes and of a room that masks lead to."""
    rng = np.random.default_rng(0)
    views = {f"{name}_{k}": _random_views(rng) for name in ("Mug", "Knife") for k in range(4)}
    mesh = build_mesh(ObjectClass.Fridge, model_of(ObjectClass.Fridge).size(0), 0, Appearance())
    hidden = blocked_by(mesh, (0.0, 0.0, 0.0), 40.0, rng.uniform(-2, 2, (500, 6)))
    trajectory = clean_a_mug()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "alfred"
        path = root / "json_2.1.0" / "train" / trajectory.key
        path.mkdir(parents=True)
        (path / "traj_data.json").write_bytes(encode_trajectory(trajectory))
        report = import_alfred(root, Path(folder) / "store", workers=1)
        room = dump_room(AlfredStore(report.store).room(7))
    made = {"shapes": fit_items(views), "hidden": hidden.tolist(), "room": room}
    digests = {k: hashlib.sha256(repr(v).encode()).hexdigest() for k, v in made.items()}
    return {**digests, "label": report.info.label}


def _random_views(rng: np.random.Generator) -> list[ItemView]:
    views = []
    for _ in range(9):
        left, top = rng.integers(80, 160, 2).tolist()
        wide, high = rng.integers(10, 60, 2).tolist()
        eye, turn = tuple(rng.uniform(-0.4, 0.4, 2).tolist()), float(rng.uniform(0, 360))
        position = (float(rng.uniform(-0.2, 0.2)), 0.9, float(rng.uniform(0.9, 1.4)))
        views.append(ItemView(eye, 0, 30, position, turn, (left, top, left + wide, top + high)))
    return views


def elsewhere(**settings: str) -> dict[str, str]:
    """What a process with these settings makes of the same masks."""
    code = "import json; from tests.data.alfred_import.test_exact import made_of_masks as made\n"
    code += "if __name__ == '__main__': print(json.dumps(made()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **settings},
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _dispatched() -> str:
    """The features of this processor for which numpy has kernels of their own."""
    core = np._core._multiarray_umath
    return " ".join(name for name in core.__cpu_dispatch__ if core.__cpu_features__[name])


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="as here"),
        pytest.param({"OPENBLAS_CORETYPE": "Haswell"}, id="LAPACK of Haswell"),
        pytest.param({"OPENBLAS_CORETYPE": "Prescott"}, id="LAPACK of Prescott"),
        pytest.param({"NPY_DISABLE_CPU_FEATURES": _dispatched()}, id="plain numpy"),
        pytest.param(_AS_ON_HASWELL, id="kernels of Haswell", marks=pytest.mark.slow),
    ],
)
def test_masks_lead_to_the_same_bits_on_other_processors(settings: dict[str, str]) -> None:
    assert elsewhere(**settings) == made_of_masks()


def test_the_digest_of_rooms_does_not_depend_on_their_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = kitchen()
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first = write_rooms(tmp_path / "a", [room])
    monkeypatch.setattr(zlib, "Z_DEFAULT_COMPRESSION", 0)
    assert write_rooms(tmp_path / "b", [room]) == first
    sizes = [(tmp_path / name / "rooms.zip").stat().st_size for name in "ab"]
    assert sizes[0] < sizes[1]


def test_a_system_of_equations_is_solved() -> None:
    rng = np.random.default_rng(1)
    jacobian, weights, off = rng.normal(size=(40, 6)), rng.uniform(size=40), rng.normal(size=40)
    normal, pull = exact.normal_equations(jacobian, weights, off)
    np.testing.assert_allclose(normal, jacobian.T @ np.diag(weights) @ jacobian)
    np.testing.assert_allclose(pull, jacobian.T @ (weights * off))
    np.testing.assert_allclose(exact.solve(normal, pull), np.linalg.solve(normal, pull))


def test_a_line_is_the_nearest_by_weighted_squares() -> None:
    places, values, weights = [0.0, 1.0, 3.0, 4.0], [0.1, 0.4, 0.8, 1.3], [1.0, 2.0, 3.0, 0.5]
    np.testing.assert_allclose(
        exact.line(places, values, weights), np.polyfit(places, values, 1, w=weights)
    )


def test_functions_are_those_of_their_names() -> None:
    values = np.array([0.1, 1.0, 7.5])
    np.testing.assert_allclose(exact.exp(values), np.exp(values))
    np.testing.assert_allclose(exact.log(values), np.log(values))
    np.testing.assert_allclose(exact.log1p(values), np.log1p(values))
    np.testing.assert_allclose(
        exact.sines(values), [np.sin(np.radians(values)), np.cos(np.radians(values))]
    )
    vectors = np.arange(12.0).reshape(4, 3)
    np.testing.assert_allclose(exact.along(vectors, values), vectors @ values)
