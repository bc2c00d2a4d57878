"""Replays a submission in the embedded simulator and recomputes every number in it.

The simulator gives the same outcome everywhere, so nobody has to be trusted with the scores. What a
replay cannot show is how the actions were found: which agent chose them, and what it knew.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import asdict

from clalfred.agents.acting.result_file import EpisodeResult, read_actions
from clalfred.cl.board.submission import Submission
from clalfred.cl.experiment.evaluate_agent import select
from clalfred.cl.metrics import Scores, score
from gym_clalfred.actions import Action
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import EpisodeKey
from gym_clalfred.env import IMAGE_SIZES, ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError
from gym_clalfred.simulator.embedded.simulator import EmbeddedSimulator
from gym_clalfred.stream import group_by_task


@dataclass(frozen=True)
class Verified:
    """A submission whose claims hold.

    Args:
        submission: what was replayed.
        available: how many episodes a complete submission has.
        missing: how many of those it left out.
    """

    submission: Submission
    available: int
    missing: int

    @property
    def scores(self) -> Scores:
        """Over all its episodes."""
        return self.submission.scores["all"]


def verify(
    submission: Submission,
    data: str | Path | EpisodeSource | None = None,
    on_episode: Callable[[EpisodeResult], None] = lambda result: None,
) -> Verified:
    """Replays every episode and compares everything that is claimed.

    Args:
        submission: from ``read_submission``.
        data: the episodes, if they are not of a generated tier.
        on_episode: called after each episode.

    Raises:
        DataError: for the first claim that does not hold; the message says which.
    """
    if submission.backend != EmbeddedSimulator.label:
        raise DataError(
            f"backend {submission.backend!r}: only episodes of {EmbeddedSimulator.label} can be "
            "replayed with the same outcome everywhere"
        )
    source = _source(submission, data)
    keys = _keys(submission)
    with closing(_env(submission, source)) as env:
        for key, claimed in zip(keys, submission.results):
            _compare(claimed, replay(env, key, claimed.actions))
            on_episode(claimed)
    _check_scores(submission, source)
    asked = _asked(submission, source, set(keys))
    return Verified(submission, len(asked), len(asked - set(keys)))


def _asked(
    submission: Submission, source: EpisodeSource, found: set[EpisodeKey]
) -> set[EpisodeKey]:
    """The episodes of a complete submission: the whole split, or what its setup evaluates on.

    Environment-IL evaluates on equally many episodes of each room type.
    """
    tier = None if submission.tier is None else TIERS[submission.tier]
    annotations = tier.evaluated_annotations if tier else None
    whole = set(select(source, submission.split.value, annotations=annotations))
    setup = submission.run.task_setup
    if whole <= found or not setup.is_balanced_by_room:
        return whole
    entries = [entry for entry in source.entries(submission.split) if entry.key in whole]
    try:
        groups = group_by_task(entries, setup)
    except BadInputError:  # the data lacks a task
        return whole
    balanced = {key for keys in groups.values() for key in keys}
    return balanced if balanced <= found else whole


def replay(env: ClAlfredEnv, key: EpisodeKey, log: str) -> EpisodeResult:
    """What comes of an episode when the actions of a log are done again.

    Raises:
        DataError: if they do not lead exactly to its end.
    """
    try:
        actions = read_actions(log)
    except BadInputError as error:
        raise DataError(f"{key}: {error}") from None
    _, info = env.reset(options={"episode": key})
    interactions, end = [], ""
    for number, (action, object_class) in enumerate(actions, start=1):
        *_, terminated, truncated, info = env.step((action, object_class))
        if action.is_interaction and info["action_success"]:
            interactions.append(f"{action.name} {object_class.name}")
        if terminated or truncated:
            stopped = "stop" if action is Action.Stop else "failures"
            end = stopped if terminated else "limit"
            if number < len(actions):
                raise DataError(
                    f"{key}: ended after {number} actions ({end}), but the log goes on to "
                    f"{len(actions)}"
                )
    if not end:
        raise DataError(f"{key}: has not ended after the log's {len(actions)} actions")
    met, conditions = info["goal_conditions"]
    return EpisodeResult(
        episode=str(key),
        success=bool(info["success"]),
        conditions_met=int(met),
        conditions=int(conditions),
        steps=int(info["steps"]),
        expert_steps=len(env.episode.trajectory.actions),
        interactions=", ".join(interactions),
        end=end,
        actions=log,
    )


def _source(submission: Submission, data: str | Path | EpisodeSource | None) -> EpisodeSource:
    if data is None and submission.tier is None:
        raise DataError(f"data {submission.data!r}: is no generated tier; give its folder (--data)")
    if data is None and submission.tier not in TIERS:
        raise DataError(f"tier {submission.tier!r}: expected one of {', '.join(TIERS)}")
    source = open_source(submission.tier or "", data)
    if source.label != submission.data:
        raise DataError(
            f"data {submission.data!r}: the episodes here are {source.label}; verify with release "
            f"{submission.versions.get('cl-alfred-gym', 'unknown')}, which wrote the submission"
        )
    return source


def _keys(submission: Submission) -> list[EpisodeKey]:
    keys: list[EpisodeKey] = []
    for result in submission.results:
        try:
            key = EpisodeKey.parse(result.episode)
        except BadInputError as error:
            raise DataError(str(error)) from None
        if key.split is not submission.split:
            raise DataError(f"{key}: is not an episode of {submission.split.value}")
        keys.append(key)
    (most, times), *_ = Counter(keys).most_common(1)
    if times > 1:
        raise DataError(f"{most}: is there {times} times; every episode counts once")
    return keys


def _env(submission: Submission, source: EpisodeSource) -> ClAlfredEnv:
    """The size of the images does not change what happens, so they are as small as they can be."""
    return ClAlfredEnv(
        source=source, image_size=IMAGE_SIZES[0], masks=False, max_steps=submission.max_steps
    )


def _compare(claimed: EpisodeResult, replayed: EpisodeResult) -> None:
    found = asdict(replayed)
    for name, value in asdict(claimed).items():
        if value != found[name]:
            raise DataError(
                f"{claimed.episode}: claims {name} {value!r}, but the replay gives {found[name]!r}"
            )


def _check_scores(submission: Submission, source: EpisodeSource) -> None:
    types = {str(one.key): one.task_type.paper_name for one in source.entries(submission.split)}
    groups: dict[str, list[EpisodeResult]] = {"all": list(submission.results)}
    for result in submission.results:
        groups.setdefault(types[result.episode], []).append(result)
    if set(groups) != set(submission.scores):
        raise DataError(
            f"scores: expected those of {', '.join(sorted(groups))}, found "
            f"{', '.join(sorted(submission.scores))[:200]}"
        )
    for name, results in groups.items():
        claims, found = asdict(submission.scores[name]), asdict(score(results))
        for what, value in claims.items():
            # Sums may be rounded differently by another release of numpy.
            if not math.isclose(value, found[what], rel_tol=1e-9, abs_tol=1e-12):
                raise DataError(
                    f"scores of {name}: claims {what} {value!r}, but the replay gives "
                    f"{found[what]!r}"
                )
