"""The manifest of a generated tier, ``manifest.json``: seed, generator, counts and hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct, to_builtins

import gym_clalfred
from gym_clalfred.classes import INSTALLED
from gym_clalfred.data.archive import archive_path
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.trajectory import Split
from gym_clalfred.schema import Natural, read
from gym_clalfred.source_code import code_of

MANIFEST_NAME = "manifest.json"
_STAMP_NAME = "stamp.json"
#: All that a tier's folder consists of.
FILE_NAMES = frozenset(
    {MANIFEST_NAME, _STAMP_NAME, *(archive_path(Path(), split).name for split in Split)}
)
#: Files of the package that decide what is generated.
_DECIDING = (
    "actions.py",
    "classes/*.py",
    "compatibility.py",
    "interaction.py",
    "objects.py",
    "rooms.py",
    "data/alfred_reader.py",
    "data/alfred_writer.py",
    "data/archive.py",
    "data/generate.py",
    "data/index.py",
    "data/quotas.py",
    "data/requests.py",
    "data/trajectory.py",
    "expert/*.py",
    "language/grammar*.py",
    "simulator/*.py",
    "simulator/embedded/**/*.py",
    "tasks/__init__.py",
    "tasks/examine.py",
    "tasks/goals.py",
    "tasks/*_and_place.py",
    "tasks/spec.py",
)
#: Files among them that decide only colours, which no mask depends on.
_ONLY_LOOKS = frozenset({"shading.py", "shadows.py", "textures.py"})
_BLOCK = 1 << 20


class ArchiveEntry(Struct, frozen=True):
    """One split's archive: its counts, its size and hash on disk, and the hash of its contents."""

    trajectories: Natural
    episodes: Natural
    bytes: Natural
    sha256: str
    content_sha256: str


class Manifest(Struct, frozen=True):
    """Identifies a tier: equal manifests mean equal data.

    Args:
        tier: its name.
        seed: of everything random.
        generator: fingerprint of the code that made it, see ``code_fingerprint``.
        splits: what was written.
    """

    tier: str
    seed: Natural
    generator: str
    splits: Mapping[str, ArchiveEntry]

    def encode(self) -> bytes:
        """The document; equal manifests give equal bytes."""
        return (json.dumps(to_builtins(self), indent=1, sort_keys=True) + "\n").encode()

    @property
    def label(self) -> str:
        """How results name the data, such as ``small-1a2b3c4d``: by its contents alone."""
        contents = [(name, self.splits[name].content_sha256) for name in sorted(self.splits)]
        digest = hashlib.sha256(json.dumps([self.tier, contents]).encode()).hexdigest()
        return f"{self.tier}-{digest[:8]}"


@cache
def code_fingerprint() -> str:
    """Hash of all code that decides what is generated; tiers made by other code are made again.

    A version number would not do: whoever forgets to raise it lets old data pass for new.
    """
    package = Path(gym_clalfred.__file__).parent
    files = (path for pattern in _DECIDING for path in package.glob(pattern))
    own = hash_of_code(path for path in files if path.name not in _ONLY_LOOKS)
    return _with_installed(own) if INSTALLED else own


def _with_installed(fingerprint: str) -> str:
    """With the object classes of other packages, and the modules that draw them."""
    digest = hashlib.sha256(f"{fingerprint}{sorted(INSTALLED.items())}".encode())
    for record in INSTALLED.values():
        module = find_spec(record.draw.partition(":")[0])
        if module is not None and module.origin is not None:
            digest.update(code_of(Path(module.origin).read_text("utf-8")).encode())
    return digest.hexdigest()[:16]


def hash_of_code(files: Iterable[Path]) -> str:
    """Hash of source files of the package: of their names and code, without comments."""
    package = Path(gym_clalfred.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(files):
        content = code_of(path.read_text("utf-8")).encode()
        digest.update(f"{path.relative_to(package).as_posix()}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def file_sha256(path: Path) -> str:
    """Hash of a file, read in blocks."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes the manifest of a folder whose archives are all there."""
    with atomic_file(folder / MANIFEST_NAME) as file:
        file.write(manifest.encode())
    _write_stamp(folder)


def read_manifest(folder: Path) -> Manifest:
    """Reads a folder's manifest; raises ``DataError`` if it is missing or damaged."""
    return read(folder / MANIFEST_NAME, Manifest)


def is_intact(folder: Path, manifest: Manifest, thorough: bool = False) -> bool:
    """Whether a folder's archives are what the manifest says.

    Sizes and times of change are compared with those noted when the archives were last known to be
    right, which takes no time; only if they differ, or on demand, everything is hashed.
    """
    for name, entry in manifest.splits.items():
        path = archive_path(folder, Split(name))
        if not path.is_file() or path.stat().st_size != entry.bytes:
            return False
    if not thorough and _read_stamp(folder) == _stamp(folder):
        return True
    for name, entry in manifest.splits.items():
        if file_sha256(archive_path(folder, Split(name))) != entry.sha256:
            return False
    _write_stamp(folder)
    return True


def _stamp(folder: Path) -> dict[str, list[int]]:
    files = [archive_path(folder, split) for split in Split] + [folder / MANIFEST_NAME]
    return {
        path.name: [path.stat().st_size, path.stat().st_mtime_ns]
        for path in files
        if path.is_file()
    }


def _read_stamp(folder: Path) -> object:
    try:
        return json.loads((folder / _STAMP_NAME).read_bytes())
    except (OSError, ValueError):
        return None


def _write_stamp(folder: Path) -> None:
    try:
        with atomic_file(folder / _STAMP_NAME) as file:
            file.write(json.dumps(_stamp(folder), sort_keys=True).encode())
    except OSError:
        # A cache on a read-only disk is checked by hash each time.
        return
