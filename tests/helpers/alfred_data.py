"""Finds the real ALFRED data for tests; they skip with a reason where it is not there.

``CLALFRED_ALFRED_DATA`` names a folder with ``json_2.1.0``, ``embodied_split`` and ``data/splits``,
or with archives of them, which are unpacked into a temporary folder; else ``../shared/alfred``.
"""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

from tests import ROOT

VARIABLE = "CLALFRED_ALFRED_DATA"
ARCHIVES = ROOT.parent / "shared" / "alfred"


def alfred_data(part: str, scratch: Path) -> Path:
    """A folder that contains a part of the data, unpacked into ``scratch`` if need be.

    Args:
        part: ``json_2.1.0-train``, ``json_2.1.0-valid_seen``, ``cl_alfred_embodied_split`` or
            ``layouts_and_splits``.
        scratch: where archives may be unpacked.
    """
    chosen = os.environ.get(VARIABLE)
    archive = (Path(chosen) if chosen else ARCHIVES) / f"{part}.tar.xz"
    if chosen and not archive.is_file():
        return Path(chosen)
    if not archive.is_file():
        pytest.skip(f"no real ALFRED data: {VARIABLE} is not set and {archive} is not there")
    with tarfile.open(archive, "r:xz") as file:
        file.extractall(scratch, filter="data")
    return scratch
