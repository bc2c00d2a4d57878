"""Exchange with Minari loses nothing that training or evaluation needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from gym_clalfred.actions import Action
from gym_clalfred.data import minari_exchange
from gym_clalfred.data.archive import TrajectoryArchive, write_archive
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.minari_exchange import (
    expert_pairs,
    export_minari,
    import_minari,
    recoverable_spec,
)
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Episode, EpisodeKey, Split
from gym_clalfred.env import ClAlfredEnv
from gym_clalfred.errors import BadInputError, DataError, MissingDependencyError
from gym_clalfred.objects import ObjectClass
from tests.helpers.fakes import FakeSource
from tests.helpers.trajectories import MASK, clean_a_mug

minari = pytest.importorskip("minari")
pytest.importorskip("pyarrow")

NAME = "clalfred/test-v0"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


@pytest.fixture
def source(tmp_path: Path) -> TrajectoryArchive:
    write_archive(tmp_path / "in", Split.TRAIN, [clean_a_mug("trial_A"), clean_a_mug("trial_B")])
    write_archive(tmp_path / "in", Split.VALID_SEEN, [clean_a_mug("trial_C", 401)])
    return TrajectoryArchive(tmp_path / "in", "tiny")


def some_keys(source: EpisodeSource) -> list[EpisodeKey]:
    train = [entry.key for entry in source.entries(Split.TRAIN)]
    seen = [entry.key for entry in source.entries(Split.VALID_SEEN)]
    return [train[4], train[0], seen[1], train[3]]


def test_round_trip(source: TrajectoryArchive, tmp_path: Path) -> None:
    keys = some_keys(source)
    export_minari(source, keys, NAME)
    back, listed = import_minari(NAME, tmp_path / "out")
    assert list(listed) == keys
    for key in keys:
        assert back.episode(key) == source.episode(key)
    assert len(back.entries(Split.TRAIN)) == len(source.entries(Split.TRAIN))
    assert back.label == open_source(data=tmp_path / "out").label


def test_other_data_of_the_same_name_has_another_label(tmp_path: Path) -> None:
    labels = set()
    for number, trial in enumerate(("trial_A", "trial_B")):
        write_archive(tmp_path / trial, Split.TRAIN, [clean_a_mug(trial)])
        source = TrajectoryArchive(tmp_path / trial)
        export_minari(source, [entry.key for entry in source.entries(Split.TRAIN)], NAME)
        labels.add(import_minari(NAME, tmp_path / str(number) / "out")[0].label)
        minari.delete_dataset(NAME)
    assert len(labels) == 2


def test_episodes_of_rooms_that_are_not_generated_do_not_get_generated_ones(
    source: TrajectoryArchive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrajectoryArchive, "has_generated_rooms", False)
    export_minari(source, some_keys(source), NAME)
    assert minari.load_dataset(NAME).total_episodes == 4
    with pytest.raises(DataError, match="in a room of tiny, which the dataset does not hold"):
        import_minari(NAME, tmp_path / "out")


def test_what_minari_reads(source: TrajectoryArchive) -> None:
    keys = some_keys(source)
    export_minari(source, keys, NAME)
    dataset = minari.load_dataset(NAME)
    assert dataset.total_episodes == len(keys)
    for key, episode in zip(keys, dataset.iterate_episodes()):
        trajectory = source.episode(key).trajectory
        assert len(episode) == len(trajectory.actions) + 1
        assert list(episode.actions[0]) == [Action.MoveAhead, ObjectClass.NoObject]
        assert list(episode.actions[3]) == [Action.PutObject, ObjectClass.SinkBasin]
        assert list(episode.actions[-1]) == [Action.Stop, ObjectClass.NoObject]
        assert episode.actions[0] in dataset.action_space
        assert episode.rewards.sum() == episode.rewards[-1] == 1.0
        assert list(np.flatnonzero(episode.terminations)) == [len(episode) - 1]
        assert not episode.truncations.any()
        goals = episode.observations["goal"]
        assert goals == [source.episode(key).annotation.goal] * (len(episode) + 1)
        assert list(episode.infos["high_step"].ravel()) == [0, 0, 0, 1, 2, 2, 2, 2, 3, 3]


class Complete(FakeSource):
    """The fake source with what the format needs: masks, and as many instructions as steps."""

    def episode(self, key: EpisodeKey) -> Episode:
        episode = super().episode(key)
        made = episode.trajectory
        actions = tuple(
            replace(step, mask=MASK) if step.object_id else step for step in made.actions
        )
        annotations = tuple(replace(each, steps=("Go.",) * 4) for each in made.annotations)
        return Episode(key, replace(made, actions=actions, annotations=annotations))


def test_observations_of_an_environment(make_fake_env: Callable[..., ClAlfredEnv]) -> None:
    env = make_fake_env(source=Complete())
    key = EpisodeKey.parse("train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#1")
    export_minari(env.source, [key], NAME, env)
    (episode,) = minari.load_dataset(NAME).iterate_episodes()
    observation, _ = env.reset(options={"episode": key})
    for number, action in enumerate(expert_pairs(env.source.episode(key).trajectory)):
        for name in ("rgb", "classes", "instances"):
            np.testing.assert_array_equal(episode.observations[name][number], observation[name])
        assert episode.observations["goal"][number] == observation["goal"]
        observation, reward, *_ = env.step(action)
        assert episode.rewards[number] == reward


def test_a_demonstration_that_fails_leaves_no_dataset(
    make_fake_env: Callable[..., ClAlfredEnv],
) -> None:
    env = make_fake_env(source=Complete())
    good = EpisodeKey.parse("train/pick_and_place_simple-Apple-None-Fridge-1/trial_T1#0")
    bad = EpisodeKey.parse("train/pick_two_obj_and_place-Apple-None-Fridge-1/trial_T1#0")
    with pytest.raises(DataError, match="does not reach its goal"):
        export_minari(env.source, [good, bad], NAME, env)
    assert NAME not in minari.list_local_datasets()


def test_a_name_that_is_taken(source: TrajectoryArchive) -> None:
    export_minari(source, some_keys(source)[:1], NAME)
    with pytest.raises(BadInputError, match="already"):
        export_minari(source, some_keys(source), NAME)
    assert minari.load_dataset(NAME).total_episodes == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("traj_data"), "no traj_data"),
        (lambda data: data.pop("options"), "no traj_data"),
        (lambda data: data.update(traj_data="{"), "not a JSON document"),
        (
            lambda data: data["options"].update(episode="train/a-b/c#0"),
            "does not name the trajectory",
        ),
        (lambda data: data["options"].update(episode="nonsense"), "expected an episode"),
        (
            lambda data: data.update(
                traj_data=data["traj_data"]
                .replace("LookDown_15", "LookUp_15")
                .replace('"LookDown"', '"LookUp"')
            ),
            "actions are not those",
        ),
    ],
)
def test_damaged_datasets(
    source: TrajectoryArchive,
    tmp_path: Path,
    change: Callable[[dict[str, Any]], Any],
    message: str,
) -> None:
    export_minari(source, some_keys(source)[:1], NAME)
    path = tmp_path / "minari" / NAME / "data" / "0" / "metadata.json"
    metadata = json.loads(path.read_text())
    change(metadata)
    path.write_text(json.dumps(metadata))
    with pytest.raises(DataError, match=message):
        import_minari(NAME, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("package", ["minari", "pyarrow"])
def test_without_the_extra(
    source: TrajectoryArchive, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setattr(minari_exchange, "find_spec", lambda name: name != package or None)
    with pytest.raises(MissingDependencyError, match=rf"{package}.*cl-alfred-gym\[minari\]"):
        export_minari(source, [], NAME)


@pytest.mark.parametrize(
    "name",
    ["clalfred/tiny/train", "bad name-v0", "../out-v0", "", "/abs-v0", "a//b", None, 5],
)
def test_a_bad_name_leaves_the_store_as_it_was(
    source: TrajectoryArchive, tmp_path: Path, name: Any
) -> None:
    export_minari(source, some_keys(source)[:1], NAME)
    before = sorted((tmp_path / "minari").rglob("*"))
    with pytest.raises(BadInputError, match="with a version, such as"):
        export_minari(source, some_keys(source), name)
    with pytest.raises(BadInputError, match="with a version, such as"):
        import_minari(name, tmp_path / "out")
    assert sorted((tmp_path / "minari").rglob("*")) == before
    assert list(minari.list_local_datasets()) == [NAME]


def test_a_dataset_is_not_put_into_another(source: TrajectoryArchive) -> None:
    export_minari(source, some_keys(source)[:1], NAME)
    with pytest.raises(BadInputError, match="inside the dataset"):
        export_minari(source, some_keys(source), f"{NAME}/more-v0")


def test_minari_never_sees_a_dataset_that_is_not_complete(
    source: TrajectoryArchive, tmp_path: Path
) -> None:
    class Interrupted(TrajectoryArchive):
        def episode(self, key: EpisodeKey) -> Episode:
            assert minari.list_local_datasets() == {}
            if key != keys[0]:
                raise KeyboardInterrupt
            return super().episode(key)

    keys = some_keys(source)
    with pytest.raises(KeyboardInterrupt):
        export_minari(Interrupted(source.folder), keys, "clalfred/deep/train-v1")
    assert list((tmp_path / "minari").iterdir()) == []


def test_a_store_that_someone_else_broke_can_be_written_to(
    source: TrajectoryArchive, tmp_path: Path
) -> None:
    (tmp_path / "minari" / "broken" / "data").mkdir(parents=True)
    with pytest.raises(TypeError):
        minari.list_local_datasets()
    assert export_minari(source, some_keys(source), NAME).total_episodes == 4


def test_namespaces_are_minaris_own(source: TrajectoryArchive) -> None:
    from minari.namespace import list_local_namespaces

    export_minari(source, some_keys(source)[:1], "clalfred/tiny/train-v0")
    assert sorted(list_local_namespaces()) == ["clalfred", "clalfred/tiny"]
    assert list(minari.list_local_datasets(latest_version=True)) == ["clalfred/tiny/train-v0"]


def test_an_unknown_dataset(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no dataset 'clalfred/none-v0'.*minari list local"):
        import_minari("clalfred/none-v0", tmp_path / "out")


def test_the_environment_is_recovered(source: TrajectoryArchive, tmp_path: Path) -> None:
    env = ClAlfredEnv("environment-il", source=source, image_size=24, depth=True, rooms=["Kitchen"])
    export_minari(source, some_keys(source)[:1], NAME)
    spec = recoverable_spec(source, env)
    assert spec is not None
    again = gymnasium.make(EnvSpec.from_json(spec.to_json())).unwrapped
    assert isinstance(again, ClAlfredEnv)
    assert again.observation_space == env.observation_space
    assert (again.setup, again.selection) == (env.setup, env.selection)
    assert again.source.label == open_source(data=source.folder).label
    plain = minari.load_dataset(NAME).recover_environment()
    key = some_keys(source)[0]
    assert plain.unwrapped.source.episode(key) == source.episode(key)


@pytest.mark.parametrize("options", [{}, {"max_steps": 500, "reward": "dense"}])
def test_an_environment_that_gymnasium_made_is_recovered(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    env = gymnasium.make(
        "CLAlfred-ImbalancedEnvironmentIL-v0", tier="tiny", image_size=16, **options
    )
    base = env.unwrapped
    assert isinstance(base, ClAlfredEnv)
    key = min(base.source.entries(Split.TRAIN), key=lambda entry: entry.length).key
    export_minari(base.source, [key], NAME, env)
    export_minari(base.source, [key], "clalfred/words-v0")
    for name in (NAME, "clalfred/words-v0"):
        again = minari.load_dataset(name).recover_environment()
        assert again.spec.kwargs["tier"] == "tiny"
        assert again.unwrapped.source.label == base.source.label
        if name == NAME:
            assert again.observation_space == env.observation_space
            assert again.spec.kwargs == env.spec.kwargs
        again.reset(options={"episode": key})
        again.close()
    env.close()
