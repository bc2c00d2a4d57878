"""Reads the CL-ALFRED authors' split folders and ALFRED's own ``oct21.json``.

A split folder, such as ``embodied_split/behavior_il``, holds
``embodied_data_disjoint_rand<order>_cls1_task<n>.json`` for the stream and ``valid_seen.json`` and
``valid_unseen.json`` for evaluation. Their episodes are used unchanged, in their sequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from gym_clalfred.data.fields import Field
from gym_clalfred.data.index import TrajectoryName
from gym_clalfred.data.trajectory import ALFRED_SPLITS, EpisodeKey, Split
from gym_clalfred.errors import DataError
from gym_clalfred.rooms import RoomType
from gym_clalfred.tasks.spec import TaskType

_STREAM_FILE = re.compile(r"embodied_data_disjoint_rand([0-9]{1,3})_cls1_task([0-9]{1,3})\.json")


class SplitFolder:
    """The authors' stream of one setup.

    Args:
        path: the folder with the files of one setup.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._files: dict[int, dict[int, Path]] = {}
        if self.path.is_dir():
            for file in sorted(self.path.iterdir()):
                match = _STREAM_FILE.fullmatch(file.name)
                if match:
                    self._files.setdefault(int(match[1]), {})[int(match[2])] = file
        if not self._files:
            raise DataError(
                f"{self.path}: not a split folder: expected files such as "
                "embodied_data_disjoint_rand1_cls1_task0.json"
            )

    @property
    def orders(self) -> tuple[int, ...]:
        """The numbers of the orders that the folder has."""
        return tuple(sorted(self._files))

    def stream(self, order: int) -> tuple[tuple[EpisodeKey, ...], ...]:
        """The training episodes of an order, task by task, in the files' sequence."""
        if order not in self._files:
            raise DataError(f"{self.path}: has no order {order!r}, but {list(self.orders)}")
        files = self._files[order]
        if sorted(files) != list(range(len(files))):
            raise DataError(f"{self.path}: order {order} has the tasks {sorted(files)}, not all")
        return tuple(
            tuple(_key(entry["task"], Split.TRAIN) for entry in Field.read(files[number]))
            for number in range(len(files))
        )

    def evaluation(self, split: Split) -> tuple[EpisodeKey, ...]:
        """The episodes of ``valid_seen.json`` or ``valid_unseen.json``."""
        split = Split(split)
        path = self.path / f"{split.value}.json"
        return tuple(_key(entry, split) for entry in Field.read(path))


def read_alfred_splits(path: str | Path) -> dict[Split, tuple[EpisodeKey, ...]]:
    """ALFRED's ``oct21.json``: the episodes of the published splits, without the tests."""
    document = Field.read(Path(path))
    return {
        split: tuple(_key(entry, split) for entry in document[split.value])
        for split in ALFRED_SPLITS
    }


def common_task(keys: Iterable[EpisodeKey]) -> TaskType | RoomType | None:
    """The room type or behaviour that all episodes share, if any.

    If they share both, such as Heat in kitchens, it is the behaviour.
    """
    names = [TrajectoryName.parse(key.trajectory) for key in keys]
    types = {name.task_type for name in names if name}
    rooms = {RoomType.of(name.number) for name in names if name}
    if len(types) == 1:
        return types.pop()
    return rooms.pop() if len(rooms) == 1 else None


def _key(entry: Field, split: Split) -> EpisodeKey:
    task = entry["task"]
    if TrajectoryName.parse(task.text()) is None:
        task.fail("<type>-<object>-<movable>-<receptacle>-<scene>/<trial>")
    return EpisodeKey(split, task.text(), entry["repeat_idx"].integer(0, 10_000))
