"""Checkpoints: a zip of one safetensors file and one JSON file, written at once or not at all.

A state is a tree of dictionaries and lists whose leaves are tensors, numbers, texts, booleans or
``None``. Nothing in a checkpoint is executed when it is read.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from gym_clalfred.data.cache import atomic_file
from gym_clalfred.errors import DataError

FORMAT = "clalfred-agent"
VERSION = 1
_TENSORS, _VALUES = "tensors.safetensors", "state.json"
_REFERENCE = "$tensor"

#: What reading a damaged zip may raise, wherever the damage is.
_DAMAGE = (
    zipfile.BadZipFile,
    KeyError,
    ValueError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    RecursionError,
    struct.error,
)


def save_state(path: str | Path, state: Mapping[str, Any]) -> Path:
    """Writes a state; ``.zip`` is added to a path without a suffix, as SB3 does."""
    path = with_suffix(path)
    tensors: dict[str, Tensor] = {}
    values = _pack(dict(state), "", tensors)
    document = {"format": FORMAT, "version": VERSION, "state": values}
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        # A fixed date, so that equal states give equal files.
        archive.writestr(zipfile.ZipInfo(_VALUES), json.dumps(document))
        archive.writestr(zipfile.ZipInfo(_TENSORS), safetensors.torch.save(tensors))
    return path


def load_state(path: str | Path) -> dict[str, Any]:
    """Reads what ``save_state`` wrote; raises ``DataError`` for anything else."""
    path = with_suffix(path)
    try:
        with zipfile.ZipFile(path) as archive:
            document = json.loads(_read(archive, _VALUES))
            tensors = safetensors.torch.load(_read(archive, _TENSORS))
    except FileNotFoundError:
        raise
    except (*_DAMAGE, safetensors.SafetensorError) as error:
        raise DataError(
            f"{path}: not a checkpoint of this project, or a damaged one ({error})"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"{path}: not a checkpoint of this project (no {FORMAT!r} in {_VALUES})")
    if document.get("version") != VERSION:
        raise DataError(
            f"{path}: format version {document.get('version')!r}, this release reads {VERSION}; "
            "load it with the release that wrote it"
        )
    try:
        state = _unpack(document["state"], tensors)
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: lacks a part that it refers to ({error})") from error
    except RecursionError as error:
        raise DataError(f"{path}: its state is nested too deeply, as no agent's is") from error
    if not isinstance(state, dict):
        raise DataError(f"{path}: expected a table as its state, found {type(state).__name__}")
    return state


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """A member of the archive, which cannot be larger than the file: nothing is compressed."""
    found = archive.getinfo(name)
    if found.compress_type != zipfile.ZIP_STORED or found.file_size != found.compress_size:
        raise ValueError(
            f"{name} is compressed, to be {found.file_size} bytes; what this project writes is not"
        )
    return archive.read(name)


def with_suffix(path: str | Path) -> Path:
    """The path of a checkpoint: with ``.zip`` unless it has a suffix."""
    path = Path(path)
    return path if path.suffix else path.with_suffix(".zip")


def _pack(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {_REFERENCE: name}
    if isinstance(value, Mapping):
        return {str(key): _pack(item, f"{name}/{key}", tensors) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_pack(item, f"{name}/{index}", tensors) for index, item in enumerate(value)]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{name or 'state'}: a checkpoint cannot hold a {type(value).__name__}")


def _unpack(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if set(value) == {_REFERENCE}:
            return tensors[value[_REFERENCE]]
        return {key: _unpack(item, tensors) for key, item in value.items()}
    if isinstance(value, list):
        return [_unpack(item, tensors) for item in value]
    return value
