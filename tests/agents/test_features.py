from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clalfred.agents.demonstrations import EpisodeReader, ViewStore, replay
from clalfred.agents.episode import EncodedViews
from clalfred.agents.two_branch.alfred_features import FILE_NAMES, read_alfred_features
from clalfred.agents.two_branch.maps import dense, distinct_views
from clalfred.agents.vision.appearance import appearance_of
from clalfred.agents.vision.augment import Augmentation, augment
from clalfred.agents.vision.conv_encoder import ConvEncoder, default_weights
from clalfred.agents.vision.resnet import BasicBlock, ResNet18, ResNetEncoder, load_resnet
from gym_clalfred.data.store import StoreInfo, write_info
from gym_clalfred.data.trajectory import Split
from gym_clalfred.errors import DataError
from gym_clalfred.simulator.backends import appearance_label, make_simulator
from gym_clalfred.simulator.contract import RenderOptions, View
from gym_clalfred.simulator.thor import ThorOptions, ThorSimulator
from gym_clalfred.simulator.thor.simulator import label_of
from gym_clalfred.stream import Demonstration, TaskHint, demonstration_of
from tests.helpers.acting import FakeEncoder, fake_agent
from tests.helpers.fakes import FakeSimulator, FakeSource

SOURCE = FakeSource()
KEY = SOURCE.entries(Split.TRAIN)[0].key


def demonstration(hint: TaskHint | None = None) -> Demonstration:
    return demonstration_of(SOURCE.episode(KEY), SOURCE, hint)


def frames(count: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(0)
    views = rng.integers(0, 256, (3, 16, 16, 3), dtype=np.uint8)
    return views[rng.integers(0, 3, (count, 5))]


def test_distinct_views_are_encoded_once_and_found_again() -> None:
    seen = frames(6)
    views = EncodedViews(distinct_views(FakeEncoder(), iter(seen)))
    assert len(views["views"]) == 3
    for step in range(6):
        assert torch.equal(dense(views)[step], FakeEncoder().encode(seen[step]))


def test_a_reader_replays_encodes_and_tokenises() -> None:
    encoder = FakeEncoder()
    episode = EpisodeReader(SOURCE, fake_agent(), backend="fake")(demonstration())
    simulator = make_simulator("fake", RenderOptions(16), SOURCE.room)
    for step in replay(simulator, SOURCE.episode(KEY)):
        shown = encoder.encode(simulator.frame().rgb)
        assert torch.equal(dense(episode.views)[step], shown)
    assert len(episode) == step + 1
    assert episode.label is None
    assert episode.starts_task is None


def test_hints_reach_the_episode() -> None:
    reader = EpisodeReader(SOURCE, fake_agent(), backend="fake")
    episode = reader(demonstration(TaskHint(starts_block=True, label="Heat")))
    assert (episode.starts_task, episode.label) == (True, "Heat")


def test_a_stored_trajectory_is_not_rendered_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ViewStore(tmp_path)
    made = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")(demonstration())
    assert made.views.name
    with monkeypatch.context() as patch:
        patch.delattr(FakeSimulator, "frame")  # whoever renders now fails
        found = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")(demonstration())
    assert torch.equal(dense(found.views), dense(made.views))
    assert torch.equal(dense(store.load(made.views.name)), dense(made.views))


def test_maps_of_another_look_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ViewStore(tmp_path)
    EpisodeReader(SOURCE, fake_agent(), store, backend="fake")(demonstration())
    monkeypatch.setattr(FakeSimulator, "label", "fake-2")
    EpisodeReader(SOURCE, fake_agent(), store, backend="fake")(demonstration())
    assert len(list(tmp_path.rglob("*.safetensors"))) == 2


def test_a_run_with_unity_finds_no_maps_of_the_players_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ai2thor")
    shown = [{"rgb": one} for one in frames(len(demonstration().actions))]
    monkeypatch.setattr(EpisodeReader, "_observations", lambda reader, name: shown)
    store = ViewStore(tmp_path)
    for number, executable in enumerate(("player", "", "player"), start=1):
        monkeypatch.setenv("CLALFRED_THOR_EXECUTABLE", executable)
        EpisodeReader(SOURCE, fake_agent(), store, backend="thor")(demonstration())
        assert len(list(tmp_path.rglob("*.safetensors"))) == min(number, 2)


def test_the_embedded_household_looks_as_its_code_says() -> None:
    kind = EpisodeReader(SOURCE, fake_agent())._kind
    assert kind == f"{FakeEncoder.name}/{appearance_label('embedded')}"
    assert appearance_label("embedded").startswith("embedded-")


def thor_looks(**options: str) -> str:
    """How pictures of AI2-THOR with these options are named."""
    return appearance_of(ThorSimulator(options=ThorOptions(**options)))


def test_whatever_ai2thor_is_started_with_names_its_pictures(tmp_path: Path) -> None:
    pytest.importorskip("ai2thor")
    build = tmp_path / "thor-local"
    build.write_bytes(b"a build")
    chosen: list[dict[str, str]] = [
        {},
        {"executable": "player"},
        {"executable": str(build)},
        {"executable": f"{build} -force-vulkan"},
        {"quality": "Ultra"},
        {"platform": "CloudRendering"},
    ]
    looks = [thor_looks(**options) for options in chosen]
    assert looks == [thor_looks(**options) for options in chosen]
    assert len(set(looks)) == len(chosen)
    assert all(name.startswith(label_of(ThorOptions(**o))) for name, o in zip(looks, chosen))
    assert thor_looks(display=":7") == thor_looks()
    build.write_bytes(b"another build")
    assert thor_looks(executable=str(build)) not in looks


def test_the_players_pictures_depend_on_its_rooms(tmp_path: Path) -> None:
    pytest.importorskip("ai2thor")
    looks = []
    for label in ("alfred-one", "alfred-two"):
        write_info(tmp_path, StoreInfo(label, {}, {}, (), 0))
        looks.append(thor_looks(executable=f"player --data {tmp_path}"))
        looks.append(thor_looks(executable=f"player --data={tmp_path}"))
    looks.append(thor_looks(executable=f"player --data {tmp_path / 'nothing'}"))
    assert len(set(looks)) == len(looks)


def test_damaged_files_are_made_again_and_missing_ones_named(tmp_path: Path) -> None:
    store = ViewStore(tmp_path)
    reader = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")
    first = reader(demonstration())
    (path,) = tmp_path.rglob("*.safetensors")
    path.write_bytes(path.read_bytes()[:50])
    assert torch.equal(dense(reader(demonstration()).views), dense(first.views))
    with pytest.raises(DataError, match="no readable views"):
        store.load("quarters/other")


def test_a_full_store_takes_no_more(tmp_path: Path) -> None:
    store = ViewStore(tmp_path, limit_bytes=0)
    episode = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")(demonstration())
    assert episode.views.name == ""
    assert not list(tmp_path.rglob("*.safetensors"))


def test_augmentations_are_kept_apart(tmp_path: Path) -> None:
    reader = EpisodeReader(
        SOURCE,
        fake_agent(),
        ViewStore(tmp_path),
        backend="fake",
        augmentations=(Augmentation.SWAP_1, Augmentation.AUTO_2),
    )
    episode = reader(demonstration())
    assert len(episode.augmented) == 2
    assert not torch.equal(dense(episode.augmented[0]), dense(episode.views))
    assert len(list(tmp_path.rglob("*.safetensors"))) == 3


def test_demonstrations_that_fail_in_this_simulator_are_named() -> None:
    episode = SOURCE.episode(KEY)
    broken = replace(
        episode,
        trajectory=replace(episode.trajectory, actions=episode.trajectory.actions[4:5] * 2),
    )
    simulator = make_simulator("fake", RenderOptions(16), SOURCE.room)
    with pytest.raises(DataError, match=r"action 1 \(PickupObject"):
        list(replay(simulator, broken))


@pytest.mark.parametrize("look", Augmentation)
def test_augmentations_keep_shape_and_differ_from_each_other(look: Augmentation) -> None:
    images = frames(2)
    changed = augment(images, look)
    assert changed.shape == images.shape
    assert changed.dtype == np.uint8
    same = [other for other in Augmentation if np.array_equal(augment(images, other), changed)]
    assert same == [look]


@given(st.integers(0, 255), st.sampled_from(list(Augmentation)))
@settings(max_examples=30)
def test_augmentations_take_any_flat_image(value: int, look: Augmentation) -> None:
    flat = np.full((2, 4, 4, 3), value, dtype=np.uint8)
    changed = augment(flat, look)
    assert (changed == changed[0, 0, 0]).all()


def test_the_shipped_encoder_is_small_and_says_the_same_each_time() -> None:
    assert len(default_weights()) < 2_000_000
    encoder = ConvEncoder()
    views = np.random.default_rng(0).integers(0, 256, (11, 84, 84, 3), dtype=np.uint8)
    maps = encoder.encode(views)
    assert maps.shape == (11, encoder.channels, encoder.cells)
    assert maps.dtype == torch.int8
    for rows in ([10], [3, 0], list(range(10, -1, -1))):
        assert torch.equal(encoder.encode(views[rows]), maps[rows])
    assert encoder.name == ConvEncoder().name


def test_packed_weights_change_nothing() -> None:
    encoder = ConvEncoder()
    images = torch.rand(3, 3, 84, 84).contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        plain, packed = encoder.network(images), encoder._forward(images)
    assert torch.allclose(plain, packed, atol=1e-5)
    views = np.random.default_rng(2).integers(0, 256, (11, 84, 84, 3), dtype=np.uint8)
    copy = pickle.loads(pickle.dumps(encoder))
    assert torch.equal(copy.encode(views), encoder.encode(views))


def test_foreign_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    safetensors.torch.save_file({"x": torch.zeros(1)}, path)
    with pytest.raises(DataError, match="not weights of the small encoder"):
        ConvEncoder(path)


def imagenet_state(classes: int = 1000) -> dict[str, torch.Tensor]:
    """A state dict with the names and shapes of the published file."""
    torch.manual_seed(0)
    state = dict(ResNet18().state_dict())
    return {**state, "fc.weight": torch.zeros(classes, 512), "fc.bias": torch.zeros(classes)}


def test_resnet_has_the_published_names_and_size(tmp_path: Path) -> None:
    state = imagenet_state()
    assert len(state) == 122  # as in resnet18-f37072fd.pth
    assert sum(value.numel() for name, value in state.items() if "num_batches" not in name) == (
        11_689_512 + 9_600
    )
    for name in ("layer1.0.conv1.weight", "layer2.0.downsample.1.running_var", "bn1.bias"):
        assert name in state
    torch.save(state, tmp_path / "resnet.pth")
    encoder = ResNetEncoder(tmp_path / "resnet.pth")
    maps = encoder.encode(np.zeros((1, 300, 300, 3), dtype=np.uint8))
    assert maps.shape == (1, 512, 49)
    assert maps.dtype == torch.float16


def test_a_residual_block_is_the_papers() -> None:
    block = BasicBlock(2, 2, stride=1).eval()
    with torch.no_grad():
        for convolution in (block.conv1, block.conv2):
            convolution.weight.zero_()
    x = torch.tensor([[[[1.0, -2.0]], [[-3.0, 4.0]]]])
    assert torch.equal(block(x), x.relu())


class Malicious:
    """Would run code if unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (Path.touch, (Path("/tmp/clalfred-must-not-exist"),))  # type: ignore[return-value]


@pytest.fixture
def malicious_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / FILE_NAMES[Augmentation.NONE]
    torch.save(Malicious(), path)
    yield path
    Path("/tmp/clalfred-must-not-exist").unlink(missing_ok=True)


def test_files_with_code_in_them_are_refused_and_not_run(malicious_file: Path) -> None:
    with pytest.raises(DataError, match="not a file of tensors"):
        read_alfred_features(malicious_file.parent)
    with pytest.raises(DataError, match="ResNet-18"):
        load_resnet(malicious_file)
    assert not Path("/tmp/clalfred-must-not-exist").exists()


def test_published_features_come_in_our_order_of_views(tmp_path: Path) -> None:
    # In the file: left, up, front, down, right; the value tells view and time.
    maps = torch.arange(5.0).view(5, 1, 1, 1, 1) * 10 + torch.arange(3.0).view(1, 3, 1, 1, 1)
    torch.save(maps.expand(5, 3, 512, 7, 7).contiguous(), tmp_path / "feat_conv_panoramic.pt")
    maps = dense(read_alfred_features(tmp_path))
    assert maps.shape == (3, 5, 512, 49)
    for view, number in {
        View.LEFT: 0, View.UP: 1, View.FRONT: 2, View.DOWN: 3, View.RIGHT: 4,
    }.items():  # fmt: skip
        assert maps[1, view].unique().tolist() == [10 * number + 1]


def test_published_features_of_another_shape_are_refused(tmp_path: Path) -> None:
    torch.save(torch.zeros(4, 3, 512, 7, 7), tmp_path / "feat_conv_colorSwap1_panoramic.pt")
    with pytest.raises(DataError, match=r"expected a tensor \(5, T, 512, 7, 7\)"):
        read_alfred_features(tmp_path, Augmentation.SWAP_1)
    with pytest.raises(FileNotFoundError):
        read_alfred_features(tmp_path)


def test_maps_are_found_by_name_and_made_again(tmp_path: Path) -> None:
    store = ViewStore(tmp_path)
    reader = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")
    made = reader(demonstration()).views
    assert made.name is not None
    for path in tmp_path.rglob("*.safetensors"):
        path.unlink()
    again = EpisodeReader(SOURCE, fake_agent(), store, backend="fake").find(made.name)
    assert torch.equal(again["views"], made["views"])
    assert torch.equal(again["index"], made["index"])
    for name in ("other/" + made.name, made.name.replace("-none", "0-none")):
        with pytest.raises(DataError, match="cannot be made again here"):
            reader.find(name)


def test_a_store_that_cannot_be_written_is_gone_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = ViewStore(tmp_path / "file" / "below")
    reader = EpisodeReader(SOURCE, fake_agent(), store, backend="fake")
    with pytest.warns(UserWarning, match="cannot be written to.*going on without it"):
        first = reader(demonstration())
    second = reader(demonstration())  # says so once
    assert first.views.name == second.views.name == ""
    assert torch.equal(dense(first.views), dense(second.views))
