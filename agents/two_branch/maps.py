"""Feature maps of a batch's views, every distinct view of a demonstration kept once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clalfred.agents.episode import Batch, EncodedViews
from clalfred.agents.vision.encoder import VisualEncoder, view_digest

#: Maps of a batch up to this size are put together, which makes them quicker to look up.
MAX_JOINED_BYTES = 64_000_000


def distinct_views(
    encoder: VisualEncoder, frames: Iterable[NDArray[np.uint8]]
) -> dict[str, Tensor]:
    """Encodes frames (V, H, W, 3), every distinct view once: turning left shows a known view.

    Gives ``views`` (U, C, S), the maps of the U distinct views, int8 standing for value / 127, and
    ``index`` (T, V), the row of ``views`` that each view shows at each step.
    """
    rows: dict[bytes, int] = {}
    distinct: list[NDArray[np.uint8]] = []
    index: list[list[int]] = []
    for frame in frames:
        step = []
        for view in frame:
            digest = view_digest(view)
            if digest not in rows:
                rows[digest] = len(distinct)
                distinct.append(view)
            step.append(rows[digest])
        index.append(step)
    return {
        "views": encoder.encode(np.stack(distinct)),
        "index": torch.tensor(index, dtype=torch.int32),
    }


def dense_views(maps: Tensor) -> dict[str, Tensor]:
    """From maps (T, V, C, h, w) or (T, V, C, S) without looking for equal views."""
    steps, views = maps.shape[:2]
    index = torch.arange(steps * views, dtype=torch.int32).view(steps, views)
    return {"views": maps.flatten(3).flatten(0, 1), "index": index}


def dense(views: EncodedViews) -> Tensor:
    """(T, V, C, S) maps of every view at every step, as stored."""
    return views["views"][views["index"].long()]


def scale_of(maps: Tensor) -> float:
    """What turns the numbers of stored maps into feature values."""
    return 1 / 127 if maps.dtype == torch.int8 else 1.0


class BatchMaps:
    """The maps of a batch; together they would often need too much memory."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._index = [one["index"].long() for one in batch.views]
        self._views = [one["views"] for one in batch.views]
        self.scale = scale_of(self._views[0])

    def at(self, episodes: Sequence[int], step: int) -> Tensor:
        """(n, V, C, S) what n episodes show at a step, as stored, before ``scale``."""
        if self._joined is None:
            views, index = self._views[episodes[0]], self._index[episodes[0]]
            maps = views.new_empty(len(episodes), index.shape[1], *views.shape[1:])
            for episode, place in zip(episodes, maps):
                torch.index_select(self._views[episode], 0, self._index[episode][step], out=place)
            return maps
        all_views, all_rows = self._joined
        rows = all_rows[self._batch.first_rows[episodes] + step]
        # Several times as fast as an index of two dimensions, which copies number by number.
        return all_views.index_select(0, rows.flatten()).unflatten(0, rows.shape)

    @cached_property
    def _joined(self) -> tuple[Tensor, Tensor] | None:
        """The maps of all episodes as one table, unless it would take too much memory."""
        if sum(one.numel() * one.element_size() for one in self._views) > MAX_JOINED_BYTES:
            return None
        index, offset = [], 0
        for views, rows in zip(self._views, self._index):
            index.append(rows + offset)
            offset += len(views)
        return torch.cat(self._views), torch.cat(index)
