"""Exchange with Minari, so that tools for offline reinforcement learning read demonstrations.

Needs the extra ``minari`` (``pip install "cl-alfred-gym[minari]"``). Datasets are Minari's own
Arrow format in Minari's own folder. An episode's metadata holds the key of the episode, as
``options["episode"]``, and the whole trajectory, as ``traj_data``; so an import gives back exactly
what was exported, masks and annotations included. Rooms are not exported: episodes
in rooms that are not the generated ones need the store that they came from to be played.
``recover_environment`` gives the environment of an export, or one with the same episodes.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from gym_clalfred.actions import Action
from gym_clalfred.data.alfred_reader import parse_trajectory
from gym_clalfred.data.alfred_writer import encode_trajectory
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.cache import atomic_file
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.index import IndexedSource
from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.tiers import tier_folder
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split, Trajectory
from gym_clalfred.errors import BadInputError, DataError, MissingDependencyError
from gym_clalfred.language.text import CHARACTERS, plain_lines
from gym_clalfred.objects import ObjectClass
from gym_clalfred.simulator.object_ids import class_of

_GOAL_CHARACTERS = 512
_INSTRUCTIONS_CHARACTERS = 4096

#: What a dataset without an environment has as observations: the words alone.
WORDS_SPACE = spaces.Dict(
    {
        "goal": spaces.Text(_GOAL_CHARACTERS, min_length=0, charset=CHARACTERS),
        "instructions": spaces.Text(_INSTRUCTIONS_CHARACTERS, min_length=0, charset=CHARACTERS),
    }
)


def export_minari(
    source: EpisodeSource,
    keys: Iterable[EpisodeKey],
    dataset_id: str,
    env: gym.Env[Any, Any] | None = None,
) -> Any:
    """Writes episodes as a Minari dataset, one at a time, and returns the ``MinariDataset``.

    The dataset appears when it is complete.

    Actions are (action, class) pairs of the environment's action space, the last one Stop; infos
    hold ``high_step``, the high-level step that each action belongs to.

    Args:
        source: where the episodes are.
        keys: which ones, in this order.
        dataset_id: Minari's name, such as ``clalfred/small/train-v0``; must be new.
        env: replays the demonstrations and gives observations and rewards; without it the
            observations are the goal and the instructions.
    """
    minari = _minari()
    target = _new_path(dataset_id)
    space = spaces.MultiDiscrete([len(Action), len(ObjectClass)])
    documents: list[dict[str, str]] = []

    def buffers() -> Iterator[Any]:
        for key in keys:
            episode = source.episode(key)
            document = {"traj_data": encode_trajectory(episode.trajectory).decode()}
            if not source.has_generated_rooms:
                document["rooms_of"] = source.label
            documents.append(document)
            yield _buffer(episode, env)

    with _complete_or_nothing(target) as folder:
        storage = minari.dataset.minari_storage.MinariStorage.new(
            folder / "data",
            action_space=space,
            observation_space=env.observation_space if env else WORDS_SPACE,
            env_spec=recoverable_spec(source, env),
            data_format="arrow",
            jpeg_encoding=False,
        )
        storage.update_metadata(
            {
                "dataset_id": dataset_id,
                "algorithm_name": "expert",
                "description": f"CL-ALFRED demonstrations, {source.label}",
                "minari_version": minari.__version__,
                "requirements": ["cl-alfred-gym"],
            }
        )
        storage.update_episodes(buffers())
        storage.update_episode_metadata(documents)
        _add_namespaces(target)
    return minari.load_dataset(dataset_id)


def import_minari(
    dataset_id: str, folder: str | Path
) -> tuple[EpisodeSource, tuple[EpisodeKey, ...]]:
    """Turns a dataset that ``export_minari`` wrote into an archive of trajectories.

    Returns the opened archive, which has every annotation of each trajectory, and the episodes
    that the dataset lists, in its order.

    Args:
        dataset_id: Minari's name.
        folder: where the archive is written.
    """
    dataset = _load(dataset_id)
    keys: list[EpisodeKey] = []
    found: dict[Split, dict[str, int]] = {}
    described = dataset.storage.get_episode_metadata(dataset.episode_indices)
    for number, metadata in enumerate(described):
        name = f"{dataset_id}, episode {number}"
        if "traj_data" not in metadata or "episode" not in (metadata.get("options") or {}):
            raise DataError(f"{name}: not a dataset that export_minari wrote: no traj_data")
        if "rooms_of" in metadata:
            raise DataError(
                f"{name}: is in a room of {metadata['rooms_of']}, which the dataset does not hold; "
                "give that folder as data= instead"
            )
        try:
            key = EpisodeKey.parse(metadata["options"]["episode"])
        except BadInputError as error:
            raise DataError(f"{name}: {error}") from None
        trajectory = parse_trajectory(metadata["traj_data"], name)
        if trajectory.key != key.trajectory or key.annotation >= len(trajectory.annotations):
            raise DataError(f"{name}: {key} does not name the trajectory {trajectory.key} in it")
        if not np.array_equal(dataset[number].actions, expert_pairs(trajectory)):
            raise DataError(f"{name}: its actions are not those of its trajectory")
        keys.append(key)
        found.setdefault(key.split, {}).setdefault(key.trajectory, number)
    for split, numbers in found.items():
        write_archive(folder, split, _trajectories(dataset, numbers.values()))
    return open_source(data=folder), tuple(keys)


def expert_pairs(trajectory: Trajectory) -> NDArray[np.int64]:
    """(T + 1, 2) actions and target classes of a demonstration, Stop at the end."""
    pairs = [
        (step.action, class_of(step.object_id) if step.object_id else ObjectClass.NoObject)
        for step in trajectory.actions
    ]
    return np.array([*pairs, (Action.Stop, ObjectClass.NoObject)], dtype=np.int64)


def _buffer(episode: Episode, env: gym.Env[Any, Any] | None) -> Any:
    from minari.data_collector import EpisodeBuffer

    trajectory = episode.trajectory
    actions = expert_pairs(trajectory)
    if env is None:
        observations: list[Any] = [_words(episode)] * (len(actions) + 1)
        rewards = [0.0] * (len(actions) - 1) + [1.0]
    else:
        observations, rewards = _replay(episode, actions, env)
    last = len(trajectory.plan) - 1
    steps = [0, *(step.step for step in trajectory.actions), last]
    return EpisodeBuffer(
        options={"episode": str(episode.key)},
        observations={name: [each[name] for each in observations] for name in observations[0]},
        actions=actions,
        rewards=rewards,
        terminations=[False] * (len(actions) - 1) + [True],
        truncations=[False] * len(actions),
        infos={"high_step": np.array(steps, dtype=np.int64)[:, None]},
    )


def _replay(
    episode: Episode, actions: NDArray[np.int64], env: gym.Env[Any, Any]
) -> tuple[list[Any], list[float]]:
    observation, info = env.reset(options={"episode": episode.key})
    observations, rewards = [observation], []
    for number, action in enumerate(actions):
        observation, reward, terminated, truncated, info = env.step(action)
        observations.append(observation)
        rewards.append(float(reward))
        if (terminated or truncated) != (number == len(actions) - 1):
            raise DataError(f"{episode.key}: the replay ended after action {number + 1}")
    if not info.get("success"):
        raise DataError(f"{episode.key}: the replayed demonstration does not reach its goal")
    return observations, rewards


def _words(episode: Episode) -> dict[str, str]:
    return {
        "goal": plain_lines([episode.annotation.goal], _GOAL_CHARACTERS),
        "instructions": plain_lines(episode.annotation.steps, _INSTRUCTIONS_CHARACTERS),
    }


def _trajectories(dataset: Any, numbers: Iterable[int]) -> Iterator[Trajectory]:
    indices = [dataset.episode_indices[number] for number in numbers]
    for metadata in dataset.storage.get_episode_metadata(indices):
        yield parse_trajectory(metadata["traj_data"], str(metadata["id"]))


def _load(dataset_id: str) -> Any:
    minari = _minari()
    path = _path(dataset_id)
    if not (path / "data").is_dir():
        raise DataError(
            f"Minari has no dataset {dataset_id!r}: expected it in {path}; "
            "`minari list local` shows which there are, `minari download` gets others"
        )
    return minari.load_dataset(dataset_id)


def _path(dataset_id: str) -> Path:
    """The folder of a Minari dataset; raises for an invalid name."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage import get_dataset_path

    try:
        parse_dataset_id(dataset_id)
    except (TypeError, ValueError):
        raise BadInputError(
            f"expected a Minari dataset's name of letters, digits, - and _, with a version, such "
            f"as 'clalfred/small/train-v0', got {dataset_id!r}"
        ) from None
    return Path(get_dataset_path(dataset_id))


def _new_path(dataset_id: str) -> Path:
    """As ``_path``, for a new dataset that Minari would find there."""
    path = _path(dataset_id)
    if path.exists():
        raise BadInputError(f"Minari has a dataset {dataset_id!r} already: choose another name")
    outer = next((folder for folder in path.parents if (folder / "data").is_dir()), None)
    if outer is not None:
        raise BadInputError(f"{dataset_id!r} would be inside the dataset {outer}: choose another")
    return path


@contextmanager
def _complete_or_nothing(target: Path) -> Iterator[Path]:
    """A folder to write to that takes its name when the block ends without an error.

    Until then it is hidden from Minari, which fails on folders that hold no whole dataset.
    """
    from minari.storage import get_dataset_path

    unfinished = Path(tempfile.mkdtemp(prefix=".clalfred-", dir=get_dataset_path()))
    try:
        yield unfinished
        os.chmod(unfinished, 0o755)
        os.replace(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _add_namespaces(target: Path) -> None:
    """Makes the folders that a dataset's name begins with known to Minari."""
    from minari.namespace import NAMESPACE_METADATA_FILENAME
    from minari.storage import get_dataset_path

    root = Path(get_dataset_path())
    target.parent.mkdir(parents=True, exist_ok=True)
    for folder in target.parents:
        if folder == root:
            break
        path = folder / NAMESPACE_METADATA_FILENAME
        if not path.exists():
            with atomic_file(path) as file:
                file.write(b"{}")


def _minari() -> Any:
    for package in ("minari", "pyarrow"):
        if find_spec(package) is None:
            raise MissingDependencyError(
                f"{package} is not installed: pip install 'cl-alfred-gym[minari]'"
            )
    import minari
    import minari.dataset.minari_storage

    return minari


def recoverable_spec(source: EpisodeSource, env: gym.Env[Any, Any] | None = None) -> EnvSpec | None:
    """The spec of an environment, or without one, of the default environment with some episodes.

    An opened source cannot be written down; the tier or the folder that it was opened from stands
    in its place. ``None`` for sources that come from neither.

    Args:
        source: the episodes, if there is no environment.
        env: an environment of this package, also in wrappers.
    """
    if env is None:
        from gym_clalfred import ENV_IDS

        return _with_episodes(copy.deepcopy(gym.spec(ENV_IDS[0])), source)
    spec = copy.deepcopy(env.spec)
    if spec is None:
        base: Any = env.unwrapped
        spec = copy.deepcopy(gym.spec(base.setup.env_id))
        spec.kwargs.update(base._ezpickle_kwargs)
    if spec.kwargs.get("source") is not None:
        return _with_episodes(spec, spec.kwargs["source"])
    return _writable(spec)


def _with_episodes(spec: EnvSpec, source: EpisodeSource) -> EnvSpec | None:
    spec.kwargs = {
        name: value for name, value in spec.kwargs.items() if name not in ("source", "tier", "data")
    }
    if not isinstance(source, IndexedSource):
        return None
    tiers = {tier_folder(tier): name for name, tier in TIERS.items()}
    if source.folder in tiers:
        spec.kwargs["tier"] = tiers[source.folder]
    else:
        spec.kwargs["data"] = str(source.folder)
    return _writable(spec)


def _writable(spec: EnvSpec) -> EnvSpec:
    """With settings as JSON has them: paths as text, and no ``None``, which is the default."""
    settings = {name: value for name, value in spec.kwargs.items() if value is not None}
    spec.kwargs = json.loads(json.dumps(settings, default=str))
    return spec
