"""The folder of a run: its files, its lock, and clear errors when it cannot be used.

| name | what it holds |
|---|---|
| ``config.json`` | what the run is; written first, final once something else is saved |
| ``checkpoint.zip`` | all that continuing needs; replaced at once or not at all |
| ``evaluations/after-N.jsonl`` | one line per evaluated episode, while it runs |
| ``tensorboard/`` | TensorBoard's files |
| ``agent.zip`` | the trained agent, for ``clalfred-evaluate`` and ``clalfred-record`` |
| ``plots/``, ``videos/`` | pictures and films of the finished run |
| ``results.json`` | written last; a run that has it is finished |
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from clalfred.agents.checkpoint import load_state, save_state
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.results import Results, read_results
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.storage import make_folder, storage_errors
from gym_clalfred.errors import ClAlfredError, DataError, StorageError, UsageError

#: Raised by one when a run folder of an older release can no longer be continued.
FORMAT = 1


class RunFolder:
    """One run's folder; made if it is not there.

    Args:
        path: where it is.
        config: what the run is; a folder in which another run has saved something is refused.
    """

    def __init__(self, path: str | Path, config: RunConfig) -> None:
        self.path = Path(path)
        self.config = config

    @property
    def checkpoint(self) -> Path:
        """The file that continuing starts from."""
        return self.path / "checkpoint.zip"

    @property
    def agent(self) -> Path:
        """The trained agent."""
        return self.path / "agent.zip"

    @property
    def results(self) -> Path:
        """What the run came to; exists when it is finished."""
        return self.path / "results.json"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's files."""
        return self.path / "tensorboard"

    def evaluation(self, number: int) -> Path:
        """Records of an evaluation that may be under way."""
        return self.path / "evaluations" / f"after-{number}.jsonl"

    @contextmanager
    def open(self, wait_seconds: float = 0.0) -> Iterator[RunFolder]:
        """Takes the folder for this process alone, after checking that it is this run's.

        Args:
            wait_seconds: how long to wait for another process that has it.
        """
        with storage_errors(self.path):
            refuse_unprintable(self.path)
            refuse_other_run(self.path, self.config)
            make_folder(self.path)
            lock = FileLock(self.path / "run.lock", timeout=wait_seconds)
            try:
                lock.acquire()
            except Timeout:
                raise StorageError(
                    f"{self.path}: another process is working on this run; wait for it or choose "
                    "another folder"
                ) from None
            try:
                refuse_other_run(self.path, self.config)  # it may have saved something just now
                self._claim()
                self._remove_leftovers()
                yield self
            finally:
                lock.release()

    def load_checkpoint(self) -> dict[str, Any] | None:
        """The state to continue from, ``None`` at the beginning."""
        if not self.checkpoint.exists():
            return None
        try:
            return load_state(self.checkpoint)
        except DataError as error:
            raise DataError(
                f"{self.checkpoint} is damaged, so the run cannot go on from it ({error}). Nothing "
                "was changed. Restore the file from a backup, or delete the folder "
                f"{self.path} to start this run anew"
            ) from error

    def save_checkpoint(self, state: dict[str, Any]) -> None:
        """Replaces the checkpoint."""
        if not (self.path / "config.json").exists():  # it would be the only file of a new folder
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self.checkpoint))
        save_state(self.checkpoint, state)

    def load_results(self) -> Results | None:
        """What the finished run came to, ``None`` before that."""
        if not self.results.exists():
            return None
        try:
            return read_results(self.results)
        except DataError as error:
            advice = f"restore it, or delete the folder {self.path} to start this run anew"
            if self.checkpoint.exists():
                advice = "delete it and repeat the command, which makes it from the checkpoint"
            raise DataError(
                f"{error}. The run is finished, but this file of it is damaged: {advice}"
            ) from error

    def _claim(self) -> None:
        """Says whose folder this is, unless that is said; it may be a run's that saved nothing."""
        path = self.path / "config.json"
        if path.exists() and read_config(path) == self.config:
            return
        shutil.rmtree(self.tensorboard, ignore_errors=True)
        document = {"format": FORMAT, "version": __version__, "config": self.config.to_dict()}
        with atomic_file(path) as file:
            file.write(json.dumps(document, indent=2, allow_nan=False).encode())

    def _remove_leftovers(self) -> None:
        """Temporary files of a process that was killed while it wrote; nobody else is here."""
        names = ("checkpoint", "config", "agent", "results")
        for path in self.path.glob(".*"):
            if path.is_file() and path.name.split(".")[1] in names:
                path.unlink()


#: What a run that got nowhere does not have.
SAVED = ("checkpoint.zip", "evaluations", "agent.zip", "results.json")


def refuse_unprintable(folder: Path) -> None:
    """Raises a clear error for a name that is no text, which TensorBoard cannot write to."""
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError:
        raise StorageError(
            f"{folder}: expected a folder whose name is UTF-8; choose another folder"
        ) from None


def refuse_other_run(folder: Path, config: RunConfig) -> None:
    """Raises a clear error if a folder holds anything but this run, or the beginning of it.

    A run that ended before it had saved anything, because of a wrong option for example, does not
    keep its folder from the next one.
    """
    if folder.exists() and not folder.is_dir():
        raise StorageError(f"{folder}: expected a folder, found a file")
    path = folder / "config.json"
    if path.exists():
        found = read_config(path)
        if any((folder / name).exists() for name in SAVED):
            check_same_run(folder, found, config)
    elif folder.exists() and any(
        not one.name.startswith(".") and one.name not in ("run.lock", "log.txt")
        for one in folder.iterdir()
    ):
        raise UsageError(
            f"{folder}: is not empty and not a run's folder (no config.json); choose another folder"
        )


def finished_runs(folder: str | Path) -> list[Path]:
    """The folders of finished runs, this one or any below it, in the order of their paths."""
    names = ("config.json", "agent.zip", "results.json")
    found = (path.parent for path in sorted(Path(folder).rglob("results.json")))
    return [path for path in found if all((path / name).is_file() for name in names)]


def read_config(path: Path) -> RunConfig:
    """The config of a run's folder, of this release's format."""
    try:
        document = json.loads(path.read_text())
        found, version = document["format"], document["version"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a run's config, or a damaged one ({error!r})") from error
    if found != FORMAT:
        raise DataError(
            f"{path}: written by release {version} in format {found}, this release "
            f"{__version__} continues format {FORMAT}; finish the run with the release that began "
            "it, or choose another folder"
        )
    try:
        return RunConfig.from_dict(document["config"])
    except (ClAlfredError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: written by release {version}, has settings that this release "
            f"{__version__} does not know ({error}); choose another folder"
        ) from error


def check_same_run(folder: Path, found: RunConfig, wanted: RunConfig) -> None:
    """Raises ``UsageError`` if the run that a folder belongs to is not the one wanted."""
    theirs = found.to_dict()
    differences = [
        f"{name} is {theirs[name]!r}, not {value!r}"
        for name, value in wanted.to_dict().items()
        if theirs[name] != value
    ]
    if differences:
        raise UsageError(
            f"{folder}: belongs to another run: {'; '.join(differences)}. Choose another "
            "folder, or repeat the command that made this one"
        )
