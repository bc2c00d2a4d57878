"""Tiers: ALFRED's counts, and a cache that is made once, checked, and made again when damaged."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from gym_clalfred.data import pool, tiers
from gym_clalfred.data.archive import TrajectoryArchive, archive_path
from gym_clalfred.data.cache import file_lock
from gym_clalfred.data.episode_source import EpisodeSource
from gym_clalfred.data.manifest import (
    MANIFEST_NAME,
    ArchiveEntry,
    Manifest,
    code_fingerprint,
    read_manifest,
)
from gym_clalfred.data.quotas import TIERS, Quota, Scope, Tier
from gym_clalfred.data.tiers import (
    foreign_tiers,
    make_tier,
    tier_folder,
    tier_source,
    verify_tier,
)
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import BadInputError, DataError, StorageError
from gym_clalfred.rooms import PRETRAINING_NUMBERS, RoomType
from gym_clalfred.schema import parse
from gym_clalfred.tasks import ALFRED_TASKS
from gym_clalfred.tasks.spec import TaskType

_CELL = (Quota(TaskType.PICK_AND_PLACE, RoomType.BATHROOM, 1, 2),)
NANO = Tier("nano", dict.fromkeys(Split, _CELL), seed=3)


@pytest.fixture
def nano(monkeypatch: pytest.MonkeyPatch) -> Tier:
    """A tier of one trajectory for each split, registered."""
    monkeypatch.setitem(TIERS, "nano", NANO)
    return NANO


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the tier, to be copied by tests that damage it."""
    cache = tmp_path_factory.mktemp("cache")
    make_tier(NANO, tier_folder(NANO, cache), workers=1)
    return cache


@pytest.fixture
def cache(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def count_makes(monkeypatch: pytest.MonkeyPatch, made: Path) -> list[Path]:
    """Grows by one whenever a tier would be generated; a copy of the ready one stands for it."""
    calls: list[Path] = []

    def copied(tier: Tier, folder: Path, workers: int | None = None) -> Manifest:
        calls.append(folder)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tier_folder(tier, made), folder)
        return read_manifest(folder)

    monkeypatch.setattr(tiers, "make_tier", copied)
    return calls


def sums(split: Split) -> tuple[dict[str, int], dict[str, int]]:
    behaviours: Counter[str] = Counter()
    rooms: Counter[str] = Counter()
    for quota in TIERS["full"].quotas[split]:
        behaviours[quota.task_type.paper_name] += quota.episodes
        rooms[quota.room_type.value] += quota.episodes
    return dict(behaviours), dict(rooms)


NAMES = ("Pick2&Place", "Pick&Place", "Movable", "Cool", "Heat", "Clean", "Examine")
ROOMS = ("Kitchen", "LivingRoom", "Bedroom", "Bathroom")


@pytest.mark.parametrize(
    ("split", "trajectories", "behaviours", "rooms"),
    [
        (
            Split.TRAIN,
            6574,
            (3554, 3245, 3244, 2944, 2943, 2842, 2251),
            (11056, 3456, 3370, 3141),
        ),
        (Split.VALID_SEEN, 251, (124, 142, 115, 126, 107, 112, 94), (432, 129, 106, 153)),
        (Split.VALID_UNSEEN, 255, (81, 100, 109, 109, 136, 113, 173), (468, 146, 120, 87)),
        (Split.TEST_SEEN, 251, (124, 142, 115, 126, 107, 112, 94), (432, 129, 106, 153)),
        (Split.TEST_UNSEEN, 255, (81, 100, 109, 109, 136, 113, 173), (468, 146, 120, 87)),
    ],
)
def test_full_has_alfreds_counts(
    split: Split, trajectories: int, behaviours: tuple[int, ...], rooms: tuple[int, ...]
) -> None:
    assert TIERS["full"].trajectories(split) == trajectories
    assert sums(split) == (dict(zip(NAMES, behaviours)), dict(zip(ROOMS, rooms)))


@pytest.mark.parametrize("name", TIERS)
def test_every_split_has_all_behaviours_and_rooms(name: str) -> None:
    for split in Split:
        quotas = TIERS[name].quotas[split]
        assert {quota.task_type for quota in quotas} == set(ALFRED_TASKS)
        assert {quota.room_type for quota in quotas} == set(RoomType)


@pytest.mark.parametrize(("name", "annotations"), [("tiny", 3), ("small", 1), ("full", 3)])
def test_annotations_add_up(name: str, annotations: int) -> None:
    for quota in (quota for split in Split for quota in TIERS[name].quotas[split]):
        counts = [quota.annotations(position) for position in range(quota.trajectories)]
        assert sum(counts) == quota.episodes
        assert min(counts) >= annotations
        assert max(counts) - min(counts) <= 1


def test_small_is_enough_for_both_setups() -> None:
    tasks, rooms = Counter[TaskType](), Counter[RoomType]()
    for quota in TIERS["small"].quotas[Split.TRAIN]:
        tasks[quota.task_type] += quota.episodes
        rooms[quota.room_type] += quota.episodes
    assert set(tasks.values()) == {480}
    # Balanced Environment-IL takes as many of each room type as the smallest has.
    assert len(RoomType) * min(rooms.values()) >= 1800


def test_small_is_tested_on_enough_episodes_spread_evenly() -> None:
    for split in (Split.TEST_SEEN, Split.TEST_UNSEEN):
        tasks = Counter[TaskType]()
        for quota in TIERS["small"].quotas[split]:
            tasks[quota.task_type] += quota.episodes
        assert set(tasks.values()) == {32}
        assert TIERS["small"].episodes(split) >= 210


def test_rooms_that_are_kept_for_others_cannot_be_trained_in(tmp_path: Path) -> None:
    for number in (9, 424, 4001, PRETRAINING_NUMBERS[-1]):
        tier = replace(NANO, scope=Scope(rooms=(402, number)))
        with pytest.raises(BadInputError, match=f"would train in rooms .{number}."):
            make_tier(tier, tmp_path / "kept", workers=1)


def test_tiny_is_the_same_on_every_machine() -> None:
    """A name says what is in a tier, so another one here means other data.

    Where that is meant, write the new name, and say in CHANGELOG.md what changed; where it is not,
    something depends on the processor or on a library.
    """
    assert tier_source("tiny").label == "tiny-5a282465"


def test_first_use_makes_and_second_finds(
    nano: Tier, count_makes: list[Path], tmp_path: Path
) -> None:
    first = tier_source("nano", cache=tmp_path)
    second = tier_source("nano", cache=tmp_path)
    assert len(count_makes) == 1
    assert first.label == second.label
    assert first.label.startswith("nano-")
    for split in Split:
        assert len(second.entries(split)) == 2
        assert second.episode(second.entries(split)[1].key).annotation.goal


def test_one_and_two_workers_give_equal_bytes(made: Path, nano: Tier, tmp_path: Path) -> None:
    make_tier(nano, tmp_path / "two", workers=2)
    one, two = tier_folder(nano, made), tmp_path / "two"
    assert (one / MANIFEST_NAME).read_bytes() == (two / MANIFEST_NAME).read_bytes()
    for split in Split:
        assert archive_path(one, split).read_bytes() == archive_path(two, split).read_bytes()


def test_one_process_compiles_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a new machine each worker would compile the same kernels at the same time."""
    log: list[str] = []
    all_three = threading.Barrier(3)

    class Worker:
        def __init__(self) -> None:
            log.append("start")

        def ask(self, work: object, request: int) -> int:
            if request:
                all_three.wait(timeout=60)
            log.append("made")
            return request

        def kill(self) -> None:
            pass

        def close(self) -> None:
            log.append("end")

    monkeypatch.setattr(pool, "_WorkerProcess", Worker)
    assert list(tiers._generate_all(range(7), 3)) == list(range(7))  # type: ignore[arg-type]
    assert log[:2] == ["start", "made"]
    assert [log.count(word) for word in ("start", "made", "end")] == [3, 7, 3]


def test_another_seed_gives_other_data(made: Path, tmp_path: Path) -> None:
    other = make_tier(Tier("nano", NANO.quotas, seed=4), tmp_path / "other", workers=1)
    first = read_manifest(tier_folder(NANO, made))
    assert other.splits["train"].content_sha256 != first.splits["train"].content_sha256


def flip_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0xFF
    path.write_bytes(bytes(content))


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def other_generator(path: Path) -> None:
    manifest = path.with_name(MANIFEST_NAME)
    manifest.write_bytes(manifest.read_bytes().replace(code_fingerprint().encode(), b"0" * 16))


def broken_manifest(path: Path) -> None:
    path.with_name(MANIFEST_NAME).write_text("{")


@pytest.mark.parametrize(
    "damage", [flip_byte, cut_short, os.unlink, other_generator, broken_manifest]
)
def test_damaged_and_foreign_caches_are_made_again(
    cache: Path, nano: Tier, count_makes: list[Path], damage: object
) -> None:
    path = archive_path(tier_folder(nano, cache), Split.VALID_SEEN)
    good = path.read_bytes()
    tier_source("nano", cache=cache)
    assert not count_makes
    assert callable(damage)
    damage(path)
    source = tier_source("nano", cache=cache)
    assert len(count_makes) == 1
    assert path.read_bytes() == good
    assert verify_tier("nano", cache=cache)
    assert len(source.entries(Split.VALID_SEEN)) == 2


def test_damage_behind_an_unchanged_time_is_found_on_demand(cache: Path, nano: Tier) -> None:
    path = archive_path(tier_folder(nano, cache), Split.TRAIN)
    assert verify_tier("nano", cache=cache)
    times = path.stat()
    flip_byte(path)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not verify_tier("nano", cache=cache)


def test_a_touched_but_whole_cache_is_kept(
    cache: Path, nano: Tier, count_makes: list[Path]
) -> None:
    os.utime(archive_path(tier_folder(nano, cache), Split.TRAIN))
    tier_source("nano", cache=cache)
    assert not count_makes


def test_other_code_leaves_a_tier_that_is_in_use_alone(
    cache: Path, made: Path, nano: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = TrajectoryArchive(tier_folder(nano, made)).entries(Split.TRAIN)
    opened = tier_source("nano", cache=cache)
    monkeypatch.setattr(tiers, "code_fingerprint", lambda: "0" * 16)
    monkeypatch.setitem(TIERS, "nano", Tier("nano", NANO.quotas, seed=4))
    other = tier_source("nano", cache=cache, workers=1)
    assert other.label != opened.label
    assert other.entries(Split.TRAIN) != expected
    # Archives are opened when they are first asked for, here after the other code was at work.
    assert opened.entries(Split.TRAIN) == expected


def test_tiers_of_other_code_are_listed(
    cache: Path, nano: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tier_folder(nano, cache)
    assert foreign_tiers(cache) == []
    assert foreign_tiers(cache / "nothing") == []
    older = folder.with_name("nano")
    shutil.copytree(folder, older)
    assert foreign_tiers(cache) == [older]
    monkeypatch.setattr(tiers, "code_fingerprint", lambda: "0" * 16)
    assert foreign_tiers(cache) == [older, folder]


def test_an_interrupted_making_leaves_nothing(
    nano: Tier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(tiers, "write_manifest", fail)
    monkeypatch.setattr(tiers, "_make_splits", lambda *_: {})
    with pytest.raises(KeyboardInterrupt):
        make_tier(nano, tier_folder(nano, tmp_path))
    assert list((tmp_path / "tiers").iterdir()) == []


def test_leftovers_of_a_killed_process_are_removed(
    nano: Tier, count_makes: list[Path], tmp_path: Path
) -> None:
    folder = tier_folder(nano, tmp_path)
    leftover = folder.with_name(f".{folder.name}.abc")
    leftover.mkdir(parents=True)
    (leftover / "train.zip").write_bytes(b"half")
    other = folder.with_name(f".{folder.name}0.abc")
    other.mkdir()
    tier_source("nano", cache=tmp_path)
    assert len(count_makes) == 1
    assert not leftover.exists()
    assert other.exists()


def test_unknown_tiers_are_named() -> None:
    with pytest.raises(BadInputError, match="tiny, small, full"):
        tier_source("huge")


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from gym_clalfred.data.cache import file_lock\n"
        "with file_lock(Path(sys.argv[1])):\n print('held', flush=True)\n time.sleep(600)\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    waiter = multiprocessing.get_context("spawn").Process(target=_take_lock, args=(lock,))
    waiter.start()
    waiter.join(timeout=1.0)
    assert waiter.is_alive()
    holder.kill()
    holder.wait()
    waiter.join(timeout=60.0)
    assert waiter.exitcode == 0


def _take_lock(path: Path) -> None:
    with file_lock(path):
        pass


def test_manifests_are_read_back_and_bad_ones_refused(tmp_path: Path) -> None:
    entry = ArchiveEntry(1, 2, 3, "a", "b")
    manifest = Manifest("tiny", 0, "f", {"train": entry})
    assert parse(manifest.encode(), Manifest, "m") == manifest
    for content in (b"[]", b'{"tier": 1}', manifest.encode().replace(b'"seed": 0', b'"seed": -1')):
        with pytest.raises(DataError):
            parse(content, Manifest, "m")


def test_sources_open_in_a_script_without_a_main_guard(tmp_path: Path) -> None:
    """Workers must not run the user's script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "print('started', flush=True)\n"
        "from gym_clalfred.data.quotas import TIERS, Quota, Tier\n"
        "from gym_clalfred.data.tiers import tier_source\n"
        "from gym_clalfred.data.trajectory import Split\n"
        "from gym_clalfred.rooms import RoomType\nfrom gym_clalfred.tasks.spec import TaskType\n"
        "cell = (Quota(TaskType.PICK_AND_PLACE, RoomType.BATHROOM, 1, 2),)\n"
        "TIERS['nano'] = Tier('nano', {split: cell for split in Split}, seed=3)\n"
        f"print(tier_source('nano', cache={str(tmp_path)!r}, workers=2).label)\n"
    )
    result = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True
    )
    started, label = result.stdout.split()
    assert started == "started"
    assert label == read_manifest(tier_folder(NANO, tmp_path)).label
    assert {line.split(":")[0] for line in result.stderr.splitlines()} == {"generating tier nano"}


def test_the_source_survives_pickling(cache: Path, nano: Tier) -> None:
    import pickle

    source = tier_source("nano", cache=cache)
    copy: EpisodeSource = pickle.loads(pickle.dumps(source))
    assert copy.label == source.label
    assert copy.entries(Split.TRAIN) == source.entries(Split.TRAIN)


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match="for the cache with CLALFRED_CACHE"):
        tier_source("tiny", cache=tmp_path / "file" / "cache")


def test_a_folder_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInputError, match="is not a tier"):
        make_tier(NANO, tmp_path / "own", workers=1)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInputError, match="is not a tier"):
        make_tier(NANO, tmp_path / "file", workers=1)
    assert (tmp_path / "own" / "thesis.tex").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "own"]


@pytest.mark.parametrize(("trajectories", "episodes"), [(0, 0), (3, 2), (-1, 1)])
def test_a_trajectory_without_episodes_is_no_quota(trajectories: int, episodes: int) -> None:
    with pytest.raises(BadInputError, match="an episode for each"):
        Quota(TaskType.HEAT, RoomType.KITCHEN, trajectories, episodes)


def test_tiers_that_cannot_be_made_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="has no quotas for valid_seen, valid_unseen"):
        make_tier(Tier("own", {Split.TRAIN: _CELL}), tmp_path / "own")
    kitchens = replace(NANO, scope=Scope(rooms=(1, 2)))
    with pytest.raises(BadInputError, match="in a bathroom, but its scope has no such room"):
        make_tier(kitchens, tmp_path / "own")
    assert list(tmp_path.iterdir()) == []


def test_a_tier_may_lack_a_split(tmp_path: Path) -> None:
    alone = Tier("own", {**dict.fromkeys(Split, ()), Split.TRAIN: _CELL}, seed=3)
    make_tier(alone, tmp_path / "own", workers=1)
    source = TrajectoryArchive(tmp_path / "own")
    assert [len(source.entries(split)) for split in Split] == [2, 0, 0, 0, 0]


def test_modules_in_the_current_folder_are_not_taken_for_pythons(
    nano: Tier, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "random.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path / "work")
    source = tier_source("nano", cache=tmp_path, workers=2)
    assert source.label == read_manifest(tier_folder(NANO, made)).label
