"""Results of evaluated episodes in a file of JSON lines; the first says what they depend on.

A stopped evaluation continues such a file, but only if agent, data and limits are
those of its first line: results of another agent must not be taken for this one's.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout
from msgspec import Struct
from torch import nn

from gym_clalfred.actions import Action
from gym_clalfred.data.storage import make_folder
from gym_clalfred.errors import BadInputError, DataError, UsageError
from gym_clalfred.objects import ObjectClass
from gym_clalfred.schema import Natural, parse

#: What the first line holds.
_CONDITIONS = "conditions"


class EpisodeOutcome(Struct, frozen=True, kw_only=True):
    """What came of one evaluation episode; a crashed one counts as failed.

    Args:
        episode: `<split>/<folder>/<trial>#<annotation>`
        success: whether all goal conditions were met at the end
        conditions_met: how many goal conditions were met at the end
        conditions: how many there are
        steps: actions of the agent, Stop not counted
        expert_steps: actions of the expert, Stop not counted
        error: why the episode could not be finished, or empty; such an episode counts as failed
        interactions: those that worked, in order: `PickupObject Mug, OpenObject Fridge`;
            `clalfred.cl.failures` reads them
        end: what ended it: `stop`, `failures` (the tenth failed action), `limit` (too many steps),
            or empty after an error
    """

    episode: str
    success: bool
    conditions_met: Natural
    conditions: Natural
    steps: Natural
    expert_steps: Natural
    error: str = ""
    interactions: str = ""
    end: str = ""

    def outcome(self) -> dict[str, Any]:
        """The fields of every outcome, by name, without those of a subclass."""
        return {name: getattr(self, name) for name in EpisodeOutcome.__struct_fields__}


class EpisodeResult(EpisodeOutcome, frozen=True, kw_only=True):
    """An outcome and what was done.

    Args:
        actions: all that were given to the environment, see ``written_action``; empty in files of
            releases that did not keep them, and after an error
    """

    actions: str = ""


def written_action(action: Action, object_class: ObjectClass) -> str:
    """An action as logs have it: ``MoveAhead``, or ``PickupObject:Mug`` for an interaction."""
    return f"{action.name}:{object_class.name}" if action.is_interaction else action.name


def read_actions(text: str) -> tuple[tuple[Action, ObjectClass], ...]:
    """The actions of a log, which are separated by single spaces.

    Raises:
        BadInputError: if one of them is not written as ``written_action`` does.
    """
    return tuple(map(_read_action, text.split(" "))) if text else ()


def _read_action(text: str) -> tuple[Action, ObjectClass]:
    name, colon, target = text.partition(":")
    try:
        pair = Action[name], ObjectClass[target] if colon else ObjectClass.NoObject
    except KeyError:
        pair = None
    if pair is None or written_action(*pair) != text:
        raise BadInputError(
            f"action {text[:60]!r}: expected one such as MoveAhead, or PickupObject:Mug"
        )
    return pair


def read_results(
    path: str | Path, conditions: Mapping[str, Any] | None = None
) -> dict[str, EpisodeResult]:
    """The finished episodes in a file; a last line cut off by a crash is left out.

    Episodes that could not be finished are left out too, so that they are tried again.

    Args:
        path: the file; without it there are no results.
        conditions: what they must depend on, as plain values by name; ``None`` for anything.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: expected a file of JSON lines, found a folder or a device")
    try:
        lines = path.read_bytes().decode().split("\n")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a file of JSON lines ({error}); name another file") from error
    if conditions is not None:
        if _first_line(conditions).startswith("\n".join(lines)):
            return {}
        _check(path, lines[0], conditions)
    found = {}
    for number, line in enumerate(lines):
        if not line or (number == 0 and _conditions_in(line) is not None):
            continue
        try:
            result = parse(line, EpisodeResult, f"{path}, line {number + 1}")
        except DataError:
            if number == len(lines) - 1:
                break
            raise
        found[result.episode] = result
    return {name: result for name, result in found.items() if not result.error}


def read_conditions(path: str | Path) -> dict[str, Any]:
    """What the results in a file depend on, as its first line says.

    Raises:
        DataError: if there is no such file, or its first line says nothing of that kind.
    """
    path = Path(path)
    try:
        line = path.read_bytes().decode().partition("\n")[0]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not a file of results ({error})") from error
    found = _conditions_in(line)
    if found is None:
        raise DataError(f"{path}: expected a file that clalfred-play --score or --lines wrote")
    return found


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Keeps a file of results to this process; raises ``UsageError`` if another one has it."""
    path = Path(path)
    make_folder(path.parent)
    lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"{path}: another process is writing to it; wait for it or name another file"
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def result_writer(
    path: str | Path, conditions: Mapping[str, Any]
) -> Iterator[Callable[[EpisodeResult], None]]:
    """Adds results to a file, which ``read_results`` has found to be of these conditions."""
    path = Path(path)
    if path.exists():
        # A line cut off by a crash would spoil the next one.
        os.truncate(path, path.read_bytes().rfind(b"\n") + 1)
    with path.open("a", encoding="utf-8") as file:
        if not file.tell():
            file.write(_first_line(conditions))

        def write(result: EpisodeResult) -> None:
            file.write(json.dumps(msgspec.to_builtins(result), allow_nan=False) + "\n")
            file.flush()

        yield write


def weights_digest(network: nn.Module) -> str:
    """Names a network's weights."""
    digest = hashlib.sha256()
    for name, value in sorted(network.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]


def _check(path: Path, line: str, conditions: Mapping[str, Any]) -> None:
    found = _conditions_in(line)
    if found is None:
        raise DataError(
            f"{path}: its first line does not say which agent was evaluated, and how, so its "
            "results cannot be told from another agent's; name another file, or delete this one"
        )
    differences = [
        f"{name} is {found.get(name)!r}, not {conditions.get(name)!r}"
        for name in {**conditions, **found}
        if found.get(name) != conditions.get(name)
    ]
    if differences:
        raise UsageError(
            f"{path}: has results of another evaluation: {'; '.join(differences)}. Name another "
            "file, or delete this one to begin anew"
        )


def _conditions_in(line: str) -> dict[str, Any] | None:
    try:
        document = json.loads(line)
    except ValueError:
        return None
    found = document.get(_CONDITIONS) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else None


def _first_line(conditions: Mapping[str, Any]) -> str:
    return json.dumps({_CONDITIONS: dict(conditions)}) + "\n"
