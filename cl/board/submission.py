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
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import torch
from msgspec import Meta, Struct, structs, to_builtins

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.result_file import EpisodeResult, read_results
from clalfred.agents.acting.rollout import RolloutConfig, conditions_of
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.config import MALFORMED, RunConfig
from clalfred.cl.experiment.evaluate_agent import EvaluationSummary, summarize
from clalfred.cl.experiment.folder import RunFolder, finished_runs
from clalfred.cl.metrics import Scores
from gym_clalfred import __version__
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.manifest import code_fingerprint
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey, Split
from gym_clalfred.errors import BadInputError, DataError, UsageError
from gym_clalfred.schema import convert, parse, said

_GZIP = b"\x1f\x8b"
#: Larger files are not read: the whole validation split of tier full takes a tenth of it.
LARGEST_BYTES = 200_000_000
_MOST_EPISODES = 100_000
_MOST_STEPS = 100_000
_MOST_CONDITIONS = 100
_LONGEST_NAME = 80
_PATHS = ("data", "split_folder", "encoder_weights")


Steps = Annotated[int, Meta(ge=0, le=_MOST_STEPS)]


class Claim(EpisodeResult, frozen=True, kw_only=True):
    """A finished episode with all its actions."""

    conditions_met: Annotated[int, Meta(ge=0, le=_MOST_CONDITIONS)]
    conditions: Annotated[int, Meta(ge=1, le=_MOST_CONDITIONS)]
    steps: Steps
    expert_steps: Steps
    error: Annotated[str, said("a finished episode", max_length=0)]
    actions: Annotated[str, said("all actions", pattern=r"\S")]


class Acting(Struct, frozen=True):
    """What the actions depended on besides episodes and simulator.

    Args:
        agent: a digest of the weights.
        sight: how the agent sees.
        blind: whether it was shown nothing.
        deaf: whether it read nothing.
        rules: those around it.
        reads_goal: whether it reads the goal.
    """

    agent: str
    sight: str
    blind: bool
    deaf: bool
    rules: tuple[str, ...]
    reads_goal: bool


class Submission(Struct, frozen=True, kw_only=True, dict=True):
    """One evaluation of one agent.

    Args:
        format: of the file.
        name: what the board calls it.
        split: the episodes' split.
        tier: of generated data; ``None`` for a folder of other episodes.
        data: label of the data, which is a fingerprint of its contents for generated tiers.
        backend: label of the simulator.
        max_steps: actions after which an episode was cut.
        acting: what the actions depended on besides.
        settings: of the run that trained it.
        versions: of this project and of what it computes with.
        scores: the claims, over all episodes under ``all`` and by task type.
        episodes: how many there are.
        results: of the episodes, with their actions; each is a line of its own.
        sha256: of the file's content.
    """

    format: Literal[1] = msgspec.field(name="clalfred-submission")
    name: str
    split: Split
    tier: str | None
    data: str
    backend: str
    max_steps: Annotated[int, Meta(ge=1, le=_MOST_STEPS)]
    acting: Acting
    settings: dict[str, Any] = msgspec.field(name="run")
    versions: dict[str, str]
    scores: dict[str, Scores]
    episodes: Annotated[int, Meta(ge=1, le=_MOST_EPISODES)]
    results: tuple[Claim, ...] = ()
    sha256: str = ""

    def __post_init__(self) -> None:
        """Refuses names that no table can show, and settings of no run."""
        check_name(self.name)
        try:
            _ = self.run
        except MALFORMED as error:
            raise BadInputError(f"run: expected settings of a run, but {error}") from None

    @cached_property
    def run(self) -> RunConfig:
        """The run that trained the agent."""
        return RunConfig.recorded(self.settings)


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
        format=1,
        name=name,
        split=EpisodeKey.parse(summary.results[0].episode).split,
        tier=config.tier if config.data is None else None,
        data=acting.pop("data"),
        backend=acting.pop("backend"),
        max_steps=acting.pop("max_steps"),
        acting=convert(acting, Acting),
        settings=run.to_dict(),
        versions={
            "cl-alfred-gym": __version__,
            "code": code_fingerprint(),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "numpy": np.__version__,
        },
        scores={"all": summary.overall, **summary.by_task},
        episodes=len(summary.results),
        results=tuple(Claim(**structs.asdict(result)) for result in summary.results),
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
    head = to_builtins(structs.replace(submission, results=()))
    del head["results"], head["sha256"]
    paths = {name: head["run"].get(name) for name in _PATHS}
    head["run"] |= {name: Path(path).name for name, path in paths.items() if path is not None}
    return seal([head, *map(to_builtins, submission.results)])


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
    head = parse(lines[0], Submission, f"{path}, line 1")
    results = tuple(
        parse(line, Claim, f"{path}, line {number}")
        for number, line in enumerate(lines[1:], start=2)
    )
    if head.episodes != len(results):
        raise DataError(
            f"{path}, line 1: episodes: expected {len(results)}, as there are lines, found "
            f"{head.episodes}"
        )
    return structs.replace(head, results=results, sha256=digest)


def _last_line(digest: str) -> bytes:
    return f'{{"sha256":"{digest}"}}\n'.encode()


def run_submissions(folder: str | Path, name: str | None = None) -> list[Submission]:
    """One submission for each split that a finished run was evaluated on.

    They hold all episodes of the evaluation after the last task. Nothing is evaluated again.

    Args:
        folder: of the run.
        name: what the board calls it; the method and the order if ``None``.

    Raises:
        UsageError: if the run is not finished.
        DataError: if the records are missing, or of another agent than the run's.
    """
    folder = Path(folder)
    if folder not in finished_runs(folder):
        raise UsageError(f"{folder}: expected the folder of a finished run; finish it first")
    policy, config = load_agent(folder, rules=True, device="cpu")
    if config.controls:
        policy, config = load_agent(
            folder, rules=config.rules, blind=config.blind, deaf=config.deaf, device="cpu"
        )
    source = open_source(config.tier, config.data)
    run = RunFolder(folder, config)
    records = run.evaluation(1).parent.glob("after-*.jsonl")
    found = sorted(int(path.stem.partition("-")[2]) for path in records)
    if not found:
        raise DataError(
            f"{folder}: expected records of its evaluations, found none; make a submission with "
            "clalfred-evaluate --submission instead"
        )
    rollout = RolloutConfig(max_steps=config.step_limit, backend=config.backend)
    results = read_results(run.evaluation(found[-1]), conditions_of(policy, source, rollout))
    groups: dict[Split, list[EpisodeResult]] = {}
    for key in sorted(map(EpisodeKey.parse, results), key=str):
        groups.setdefault(key.split, []).append(results[str(key)])
    name = name or f"{config.method_title}, order {config.order}"
    return [
        make_submission(name, policy, config, config, source, summarize(group, source))
        for group in groups.values()
    ]
