"""``clalfred-play`` in a real browser: keys, mouse, watching, taking over, reloading."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from clalfred.cl.experiment.agent_file import load_agent
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.trajectory import Split
from tests.helpers.browser import CHROMIUM, Tab, browser
from tests.helpers.followers import Follower
from tests.helpers.runs import untrained_agent

REASON = "needs the extra play: pip install 'cl-alfred-gym[play]'"
uvicorn: Any = pytest.importorskip("uvicorn", reason=REASON)
pytest.importorskip("websockets", reason=REASON)
pytest.importorskip("starlette", reason=REASON)

from clalfred.scripts.play.scoring import PlayScore  # noqa: E402
from clalfred.scripts.play.server import Hub, listen, make_app, settings  # noqa: E402
from clalfred.scripts.play.session import EpisodeChoice, Library  # noqa: E402
from clalfred.scripts.play.world import WatchedAgent  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

CHOICE = EpisodeChoice(task="Pick&Place")
ANSWERED = "document.body?.dataset.answers >= 1"

#: A pixel of an object in the large view, on the screen; null if it is not in view.
PIXEL = """((id) => {
  const world = worlds[0], spots = [];
  for (let i = 0; i < 300 * 300; i++) if (world.told.objects[world.pixels[i]]?.id === id) spots.push(i);
  if (!spots.length) return null;
  const spot = spots[spots.length >> 1], box = document.querySelector(".view.front").getBoundingClientRect();
  return [box.x + (spot % 300 + 0.5) * box.width / 300, box.y + (Math.floor(spot / 300) + 0.5) * box.height / 300];
})"""  # noqa: E501

#: A place just inside the left edge of an object, less than a pixel of the screen from the wall.
EDGE = """(() => {
  const world = worlds[0], box = document.querySelector(".view.front").getBoundingClientRect();
  for (let i = 300; i < 300 * 300; i++) {
    const x = box.x + (i % 300) * box.width / 300 + 0.02;
    if (i % 300 && world.pixels[i] && !world.pixels[i - 1] && x % 1 > 0.03
        && Math.floor(300 * (Math.floor(x) - box.x) / box.width) < i % 300) {
      window.edgeId = world.pixels[i];
      return [x, box.y + (Math.floor(i / 300) + 0.5) * box.height / 300];
    }
  }
})()"""


@contextmanager
def served(hub: Hub) -> Iterator[str]:
    listener = listen(0)
    server = uvicorn.Server(uvicorn.Config(make_app(hub), **settings()))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/?token={hub.token}"
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def new_tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Tab]]:
    with browser(tmp_path_factory.mktemp("profile")) as open_tab:
        yield open_tab


def click_verb(tab: Tab, target: str, verb: str) -> None:
    """Clicks an object in the large view and then a verb of its menu."""
    spot = tab.value(f"{PIXEL}({target!r})")
    assert spot, target
    tab.click(*spot)
    tab.wait("document.getElementById('menu').style.display === 'flex'")
    button = f"[...document.querySelectorAll('#menu button')].find(b => b.textContent === {verb!r})"
    tab.wait(f"Boolean({button})")
    tab.answered(lambda: tab.click_on(button))


KEYS = {
    "MoveAhead": "w",
    "RotateLeft": "ArrowLeft",
    "RotateRight": "ArrowRight",
    "LookUp": "q",
    "LookDown": "e",
}


#: Whether the map shows something green: what the task is about.
DRAWN_MAP = (
    "(() => { const map = document.getElementById('map'), data = map.width"
    " && map.getContext('2d').getImageData(0, 0, map.width, map.height).data;"
    " for (let i = 0; data && i < data.length; i += 4)"
    " if (data[i + 1] > data[i] + 60 && data[i + 1] > data[i + 2] + 30) return true;"
    " return false })()"
)


def test_a_person_solves_an_episode(new_tab: Callable[[str], Tab], tmp_path: Path) -> None:
    library = Library(CHOICE, save=tmp_path / "demonstrations")
    episode = library.source("tiny").episode(library.keys(CHOICE)[0])
    with served(Hub(library)) as address:
        tab = new_tab(address)
        tab.wait(ANSWERED)
        assert tab.value("document.getElementById('goal').textContent") == episode.annotation.goal
        reloaded = False
        for one in episode.trajectory.actions:
            if one.object_id is None:
                tab.answered(lambda key=KEYS[one.action.name]: tab.press(key))  # type: ignore[misc]
                continue
            held = tab.value("worlds[0].told.held")
            words = {"PickupObject": "pick up", "PutObject": f"put the {held} here"}
            words |= {"OpenObject": "open", "CloseObject": "close"}
            click_verb(tab, one.object_id, words[one.action.name])
            assert tab.value("worlds[0].told.last.reason") is None
            if not reloaded:
                step = tab.value("worlds[0].told.step")
                tab.call("Page.reload")
                tab.wait(f"{ANSWERED} && worlds[0].told.step === {step}")
                reloaded = True
        assert tab.value("document.getElementById('met').textContent") == "1 of 1 met"
        tab.answered(lambda: tab.press("Enter"))
        assert "Solved" in tab.value("document.querySelector('.banner').textContent")
        tab.answered(lambda: tab.click_on("document.getElementById('save')"))
        assert "saved" in tab.value("document.getElementById('note').textContent")
        assert len(open_source(data=library.save).entries(Split.TRAIN)) == 1
        picture = Image.open(tab.screenshot(tmp_path / "solved.png"))
        assert len(set(picture.convert("RGB").resize((64, 64)).getdata())) > 200
        other = new_tab(address)
        other.wait(ANSWERED)
        assert other.value("worlds[0].told.step") == 0
        assert tab.value("worlds[0].told.step") == len(episode.trajectory.actions) + 1
        assert tab.errors + other.errors == []


def test_pointing_outlines_and_names(new_tab: Callable[[str], Tab]) -> None:
    library = Library(CHOICE)
    with served(Hub(library)) as address:
        tab = new_tab(address)
        tab.wait(ANSWERED)
        target = tab.value(
            "worlds[0].told.objects[worlds[0].pixels.slice(0, 90000).find(Boolean)].id"
        )
        spot = tab.value(f"{PIXEL}({target!r})")
        tab.move(*spot)
        name = tab.value(
            f"Object.values(worlds[0].told.objects).find(o => o.id === {target!r}).name"
        )
        tab.wait(f"document.getElementById('tip').textContent.startsWith({name!r})")
        drawn = (
            "worlds[0].overlays[0].getContext('2d').getImageData(0, 0, 300, 300)"
            ".data.some((v, i) => i % 4 === 3 && v === 255)"
        )
        assert tab.value(drawn)
        # A click's place is rounded down; what is outlined is what is clicked, also at its edge.
        left = tab.value(EDGE)
        tab.click(*left)
        shown = tab.value("document.querySelector('#menu b').textContent")
        assert shown == tab.value("worlds[0].told.objects[edgeId].name")
        assert tab.errors == []


def test_watching_taking_over_and_saving(new_tab: Callable[[str], Tab], tmp_path: Path) -> None:
    policy, _ = load_agent(untrained_agent(tmp_path), device="cpu")
    library = Library(CHOICE, save=tmp_path / "demonstrations")
    episode = library.source("tiny").episode(library.keys(CHOICE)[0])
    library.performers = [WatchedAgent("follower", Follower.of(policy, episode))]
    with served(Hub(library)) as address:
        tab = new_tab(address)
        tab.wait(ANSWERED)
        tab.answered(lambda: tab.click_on("document.getElementById('step')"))
        # A person does the second step, looks back at it, and hands over again.
        second = episode.trajectory.actions[1]
        assert second.object_id is None
        tab.answered(lambda: tab.press(KEYS[second.action.name]))
        tab.answered(lambda: tab.press("Backspace"))
        assert tab.value("[worlds[0].told.step, worlds[0].told.length]") == [1, 2]
        tab.answered(lambda: tab.click_on("document.getElementById('forth')"))
        assert "would" in tab.value("document.querySelector('.mind').textContent")
        tab.value("document.getElementById('speed').value = 12")
        tab.click_on("document.getElementById('run')")
        tab.wait("worlds[0].told.ended", 120)
        assert tab.value("worlds[0].told.success")
        agents = tab.value("worlds[0].told.deeds.map((deed) => deed[1])")
        assert agents == [True, False, *[True] * (len(agents) - 2)]
        time.sleep(0.2)
        tab.answered(lambda: tab.click_on("document.getElementById('save')"))
        assert "saved" in tab.value("document.getElementById('note').textContent")
        assert tab.errors == []


def test_two_agents_read_look_and_remember(new_tab: Callable[[str], Tab]) -> None:
    library = Library(CHOICE)
    for name in ("joint-masks", "finetuning-behavior-il"):
        library.performers = [*library.performers, WatchedAgent(name, load_agent(name)[0])]
    with served(Hub(library)) as address:
        tab = new_tab(address)
        tab.wait(ANSWERED)
        assert tab.value("document.getElementById('loading').hidden")
        for _ in range(4):
            tab.answered(lambda: tab.click_on("document.getElementById('step')"))
        titles = "[...document.querySelectorAll('.title')].map((one) => one.textContent)"
        assert tab.value(titles) == ["joint-masks", "finetuning-behavior-il"]
        for part in ("What the agent would do", "What it looks for", "What it reads", "remembers"):
            assert part in tab.value("worlds[1].agent.textContent"), part
        assert tab.value("document.querySelectorAll('#steps li.now').length") >= 1
        # The second agent's world takes the keys once it was clicked.
        tab.click_on("document.querySelectorAll('.world')[1].querySelector('.status')")
        tab.answered(lambda: tab.press("ArrowLeft"))
        assert tab.value("worlds.map((world) => world.told.step)") == [4, 5]
        assert tab.errors == []


def test_an_agent_is_chosen_and_watched_to_success(new_tab: Callable[[str], Tab]) -> None:
    with served(Hub(Library(CHOICE))) as address:
        tab = new_tab(address)
        tab.wait(ANSWERED)
        assert tab.value("getComputedStyle(document.getElementById('agentbar')).display") == "none"
        assert tab.value(DRAWN_MAP)

        def choose() -> None:
            tab.value("document.getElementById('agent').value = 'joint-masks'")
            tab.value("document.getElementById('agent').dispatchEvent(new Event('change'))")

        tab.answered(choose)
        assert tab.value("worlds[0].told.title").startswith("joint-masks: joint")
        tab.value("document.getElementById('speed').value = 12")
        tab.click_on("document.getElementById('run')")
        tab.wait("worlds[0].told.ended", 180)
        assert tab.value("worlds[0].told.success")
        assert tab.value("worlds[0].told.deeds.every((deed) => deed[1])")
        assert tab.errors == []


def test_a_score_goes_to_its_end(new_tab: Callable[[str], Tab], tmp_path: Path) -> None:
    choice = EpisodeChoice(split="test_seen")
    library = Library(choice)
    source = library.source("tiny")
    keys = library.keys(choice)[:2]
    with PlayScore(tmp_path / "ann.jsonl", "ann", source, keys, 100) as score:
        library.score = score
        with served(Hub(library)) as address:
            tab = new_tab(address)
            tab.wait(ANSWERED)
            for hidden in ("ticks", "mapcard", "bar"):
                assert tab.value(f"document.getElementById({hidden!r}).hidden"), hidden
            for number in (1, 2):
                tab.answered(lambda: tab.press("Enter"))
                where = tab.value("document.getElementById('where').textContent")
                assert where == f"{number} of 2 done, 0 solved"
                tab.answered(lambda: tab.click_on("document.querySelector('.banner .main')"))
            assert "done" in tab.value("document.getElementById('note').textContent")
            assert tab.errors == []
    assert len((tmp_path / "ann.jsonl").read_text().splitlines()) >= 2
