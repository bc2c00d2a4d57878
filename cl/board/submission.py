"""A submission: what an agent did in every episode, and the scores that are claimed for it.

The file holds JSON lines. The first says what was evaluated, how, and what is claimed; then comes
one line per episode with all its actions; the last is the SHA-256 of everything above it. Nothing
in it is executed, and paths of the machine that wrote it are not in it. The file may be compressed
with gzip.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import platform
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec import to_builtins

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.records import EpisodeResult
from clalfred.agents.acting.rollout import RolloutConfig, conditions_of
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.evaluate_agent import EvaluationSummary
from clalfred.cl.metrics import SCORES, Scores
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.fields import Field
from gym_clalfred.data.manifest import code_fingerprint
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError, ClAlfredError, DataError, UsageError

FORMAT = 1
_MARK = "clalfred-submission"
_GZIP = b"\x1f\x8b"
#: Larger files are not read: the whole validation split of tier full takes a tenth of it.
LARGEST_BYTES = 200_000_000
_MOST_EPISODES = 100_000
_MOST_STEPS = 100_000
_LONGEST_NAME = 80
#: What settings that are not settings may raise.
_MALFORMED = (ClAlfredError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
_PATHS = ("data", "split_folder", "encoder_weights")


@dataclass(frozen=True)
class Submission:
    """One evaluation of one agent.

    Args:
        name: what the board calls it.
        split: the episodes' split.
        tier: of generated data; ``None`` for a folder of other episodes.
        data: label of the data, which is a fingerprint of its contents for generated tiers.
        backend: label of the simulator.
        max_steps: actions after which an episode was cut.
        acting: what the actions depended on besides: a digest of the weights, what was hidden from
            the agent, the rules around it.
        run: settings of the run that trained it.
        versions: of this project and of what it computes with.
        scores: the claims, over all episodes under ``all`` and by task type.
        results: of the episodes, with their actions.
        sha256: of the file's content.
    """

    name: str
    split: Split
    tier: str | None
    data: str
    backend: str
    max_steps: int
    acting: Mapping[str, Any]
    run: RunConfig
    versions: Mapping[str, str]
    scores: Mapping[str, Scores]
    results: tuple[EpisodeResult, ...]
    sha256: str = ""


def make_submission(
    name: str | None,
    policy: Policy,
    run: RunConfig,
    config: RunConfig,
    source: EpisodeSource,
    summary: EvaluationSummary,
) -> Submission:
    """A submission from what ``evaluate_agent`` gave.

    Args:
        name: what the board calls it; the method and the agent if ``None``.
        policy: what was evaluated.
        run: of the training.
        config: what it was evaluated with.
        source: where the episodes are.
        summary: the results.
    """
    for result in summary.results:
        if result.error:
            raise UsageError(
                f"{result.episode}: could not be finished ({result.error}); a submission has every "
                "episode finished, so evaluate again"
            )
        if not result.actions:
            raise UsageError(
                f"{result.episode}: its actions were not kept, since an earlier release evaluated "
                "it; evaluate again with another --lines file"
            )
    name = f"{run.method_title}, {run.agent}" if name is None else name
    rollout = RolloutConfig(max_steps=config.step_limit, backend=config.backend)
    acting = conditions_of(policy, source, rollout)
    return Submission(
        name=check_name(name),
        split=EpisodeKey.parse(summary.results[0].episode).split,
        tier=config.tier if config.data is None else None,
        data=acting.pop("data"),
        backend=acting.pop("backend"),
        max_steps=acting.pop("max_steps"),
        acting=acting,
        run=run,
        versions={
            "cl-alfred-gym": __version__,
            "code": code_fingerprint(),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "numpy": np.__version__,
        },
        scores={"all": summary.overall, **summary.by_task},
        results=summary.results,
    )


def check_name(name: str) -> str:
    """The name itself if a table can show it."""
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise BadInputError(
            f"name {name[:100]!r}: expected 1 to {_LONGEST_NAME} printable characters"
        )
    return name


def write_submission(path: str | Path, submission: Submission) -> Path:
    """Writes the file, at once or not at all; equal submissions give equal bytes.

    A name that ends in ``.gz`` makes it a compressed file.
    """
    content = encode(submission)
    if Path(path).suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    with atomic_file(Path(path)) as file:
        file.write(content)
    return Path(path)


def encode(submission: Submission) -> bytes:
    """The content of the file."""
    run = submission.run.to_dict()
    run |= {name: Path(run[name]).name for name in _PATHS if run[name] is not None}
    head = {
        _MARK: FORMAT,
        "name": submission.name,
        "split": submission.split.value,
        "tier": submission.tier,
        "data": submission.data,
        "backend": submission.backend,
        "max_steps": submission.max_steps,
        "acting": dict(submission.acting),
        "run": run,
        "versions": dict(submission.versions),
        "scores": to_builtins(submission.scores),
        "episodes": len(submission.results),
    }
    return seal([head, *(to_builtins(result) for result in submission.results)])


def seal(lines: Sequence[Any]) -> bytes:
    """JSON lines, and a last one with the SHA-256 of them."""
    text = "".join(
        json.dumps(line, separators=(",", ":"), sort_keys=True, allow_nan=False) + "\n"
        for line in lines
    )
    content = text.encode()
    return content + _last_line(hashlib.sha256(content).hexdigest())


def read_submission(path: str | Path) -> Submission:
    """Reads and checks a file; that its claims hold is for ``verification.verify`` to say.

    Raises:
        DataError: if any byte is not as it was written, or a part is missing or malformed.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise DataError(f"{path}: has over {LARGEST_BYTES} bytes, more than any submission")
        content = path.read_bytes()
        if content.startswith(_GZIP):
            with gzip.open(io.BytesIO(content)) as file:
                content = file.read(LARGEST_BYTES + 1)
            if len(content) > LARGEST_BYTES:
                raise DataError(f"{path}: has over {LARGEST_BYTES} bytes, more than any submission")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"{path}: was changed or cut off after it was compressed ({error})"
        ) from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    end = content.rfind(b"\n", 0, -1) + 1
    digest = hashlib.sha256(content[:end]).hexdigest()
    if not end or content[end:] != _last_line(digest):
        raise DataError(
            f"{path}: was changed or cut off after it was written: its last line is not the "
            "SHA-256 of the lines before it; get the file again"
        )
    lines = content[:end].split(b"\n")[:-1]
    head = Field.parse(lines[0], f"{path}, line 1")
    results = [
        _result(Field.parse(line, f"{path}, line {number}"))
        for number, line in enumerate(lines[1:], start=2)
    ]
    return _submission(head, tuple(results), digest)


def _submission(head: Field, results: tuple[EpisodeResult, ...], digest: str) -> Submission:
    head[_MARK].integer(FORMAT, FORMAT)
    name = head["name"].text()
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        head["name"].fail(f"1 to {_LONGEST_NAME} printable characters")
    split = head["split"]
    if split.value not in [one.value for one in Split]:
        split.fail("a split such as valid_unseen")
    if head["episodes"].integer(1, _MOST_EPISODES) != len(results):
        head["episodes"].fail(f"{len(results)}, as there are lines")
    tier = head["tier"]
    return Submission(
        name=name,
        split=Split(split.value),
        tier=None if tier.value is None else tier.text(),
        data=head["data"].text(),
        backend=head["backend"].text(),
        max_steps=head["max_steps"].integer(1, _MOST_STEPS),
        acting=_acting(head["acting"]),
        run=_run(head["run"]),
        versions={key: one.text() for key, one in _items(head["versions"])},
        scores={key: _scores(one) for key, one in _items(head["scores"])},
        results=results,
        sha256=digest,
    )


def _acting(part: Field) -> dict[str, Any]:
    found: dict[str, Any] = {name: part[name].text() for name in ("agent", "sight")}
    found |= {name: part[name].flag() for name in ("blind", "deaf", "reads_goal")}
    return {**found, "rules": [one.text() for one in part["rules"]]}


def _run(part: Field) -> RunConfig:
    if not isinstance(part.value, dict):
        part.fail("settings by name")
    try:
        return RunConfig.recorded(part.value)
    except _MALFORMED as error:
        raise DataError(
            f"{part.file}: {part.path}: expected settings of a run, but {error}"
        ) from None


def _scores(part: Field) -> Scores:
    shares: dict[str, float] = {}
    for name, field in SCORES.items():
        one = part[name]
        if type(one.value) is not float or not 0 <= one.value <= 1:
            one.fail("a share from 0.0 to 1.0")
        shares[field] = one.value
    return Scores(**shares, episodes=part["episodes"].integer(1, _MOST_EPISODES))


def _result(line: Field) -> EpisodeResult:
    if line["error"].text():
        line["error"].fail("a finished episode")
    return EpisodeResult(
        episode=line["episode"].text(),
        success=line["success"].flag(),
        conditions_met=line["conditions_met"].integer(0, 100),
        conditions=line["conditions"].integer(1, 100),
        steps=line["steps"].integer(0, _MOST_STEPS),
        expert_steps=line["expert_steps"].integer(0, _MOST_STEPS),
        interactions=line["interactions"].text(),
        end=line["end"].text(),
        actions=line["actions"].words(),
    )


def _items(part: Field) -> list[tuple[str, Field]]:
    if not isinstance(part.value, dict):
        part.fail("an object")
    return [(name, part[name]) for name in part.value]


def _last_line(digest: str) -> bytes:
    return f'{{"sha256":"{digest}"}}\n'.encode()
