"""The page of ``clalfred-play``: who may talk to it, and what its messages do."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from click.testing import CliRunner
from followers import Follower
from runs import untrained_agent

from clalfred.agents.acting.policy import Policy
from clalfred.agents.acting.recording import Performer as Filmed
from clalfred.agents.acting.recording import trace_of
from clalfred.agents.acting.records import read_results
from clalfred.cl.experiment.agent_file import load_agent
from clalfred.cl.experiment.config import RunConfig
from clalfred.cl.experiment.inputs import new_agent
from gym_clalfred.actions import Action
from gym_clalfred.data.archive import write_archive
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.store import StoreInfo, write_info, write_rooms
from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import MAX_FAILURES
from gym_clalfred.errors import BadInputError
from gym_clalfred.registration import ENV_IDS
from gym_clalfred.stream import TaskStream, demonstration_of

REASON = "needs the extra play: pip install 'cl-alfred-gym[play]'"
pytest.importorskip("uvicorn", reason=REASON)
pytest.importorskip("websockets", reason=REASON)
pytest.importorskip("httpx", reason="starlette's test client needs httpx")
testclient: Any = pytest.importorskip("starlette.testclient", reason=REASON)

from starlette.websockets import WebSocketDisconnect  # noqa: E402

from clalfred.scripts.play import main  # noqa: E402
from clalfred.scripts.play.demonstrations import save_demonstration, solves  # noqa: E402
from clalfred.scripts.play.documents import unpack  # noqa: E402
from clalfred.scripts.play.scoring import Score  # noqa: E402
from clalfred.scripts.play.server import MESSAGE_BYTES, TOO_LONG, Hub, make_app  # noqa: E402
from clalfred.scripts.play.session import Choice, Library, Session  # noqa: E402
from clalfred.scripts.play.world import Performer, World  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HOME = "127.0.0.1:8642"
ORIGIN = {"origin": f"http://{HOME}"}
PLACE = Choice(task="Pick&Place")


def told(session: Session, do: str, **more: Any) -> dict[str, Any]:
    return unpack(session.handle({"do": do, **more}))[0]


def pictures(session: Session) -> list[bytes]:
    return unpack(session.handle({"do": "show"}))[1]


def expert(session: Session) -> Iterator[tuple[Action, str | None]]:
    for one in session.worlds[0].episode.trajectory.actions:
        yield one.action, one.object_id


def solve(session: Session) -> dict[str, Any]:
    for action, target in list(expert(session)):
        told(session, "act", action=action.name, object=target)
    return told(session, "act", action="Stop")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(PLACE, save=tmp_path / "demonstrations")


@pytest.fixture
def session(library: Library) -> Iterator[Session]:
    session = Session(library)
    told(session, "show")
    yield session
    session.sleep()


# Who may talk to it.


@contextmanager
def client(hub: Hub) -> Iterator[Any]:
    with testclient.TestClient(make_app(hub), base_url=f"http://{HOME}") as made:
        yield made


def talk(made: Any, query: str, headers: dict[str, str] = ORIGIN, host: str = HOME) -> Any:
    return made.websocket_connect(f"ws://{host}/talk?{query}", headers=headers)


class Line:
    """A connection that asks and waits for the answer."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.session = json.loads(socket.receive_text())["session"]

    def ask(self, do: str, **more: Any) -> dict[str, Any]:
        self.socket.send_text(json.dumps({"do": do, **more}))
        return unpack(self.socket.receive_bytes())[0]


@pytest.fixture
def hub(library: Library) -> Hub:
    return Hub(library)


def test_the_page_is_for_those_with_the_token(hub: Hub) -> None:
    with client(hub) as made:
        for query in ("", "?token=", "?token=wrong", f"?token={hub.token}x"):
            answer = made.get(f"/{query}")
            assert (answer.status_code, hub.token in answer.text) == (403, False)
        answer = made.get(f"/?token={hub.token}")
        assert answer.status_code == 200
        assert "CL-ALFRED" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        elsewhere = {"host": "evil.example"}
        assert made.get(f"/?token={hub.token}", headers=elsewhere).status_code == 403
        assert made.get(f"/../../etc/passwd?token={hub.token}").status_code == 404
    assert len(hub.token) >= 20
    assert Hub(hub.library).token != hub.token


@pytest.mark.parametrize(
    ("token", "headers", "host"),
    [
        ("", ORIGIN, HOME),
        ("wrong", ORIGIN, HOME),
        (None, {}, HOME),
        (None, {"origin": "http://evil.example"}, HOME),
        (None, {"origin": "http://127.0.0.1:9999"}, HOME),
        (None, {"origin": f"https://{HOME}"}, HOME),
        (None, {"origin": "null"}, HOME),
        (None, {"origin": "http://evil.example"}, "evil.example"),
    ],
)
def test_others_are_refused(hub: Hub, token: str | None, headers: Any, host: str) -> None:
    token = hub.token if token is None else token
    with (
        client(hub) as made,
        pytest.raises(WebSocketDisconnect),
        talk(made, f"token={token}", headers, host),
    ):
        pass


def test_a_tunnel_may_use_another_port(hub: Hub) -> None:
    with (
        client(hub) as made,
        talk(
            made, f"token={hub.token}", {"origin": "http://localhost:5000"}, "localhost:5000"
        ) as s,
    ):
        assert Line(s).session


def test_over_long_messages_end_the_connection(hub: Hub) -> None:
    with client(hub) as made, talk(made, f"token={hub.token}") as socket:
        line = Line(socket)
        line.ask("show")
        socket.send_text(json.dumps({"do": "show", "more": "x" * MESSAGE_BYTES}))
        with pytest.raises(WebSocketDisconnect) as caught:
            socket.receive_bytes()
        assert caught.value.code == TOO_LONG


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "[" * 9000,
        "{}",
        '{"do": 1}',
        '{"do": "sleep"}',
        '{"do": "act"}',
        '{"do": "act", "action": 3}',
        '{"do": "act", "action": "PickupObject", "object": 4}',
        '{"do": "act", "action": "MoveAhead", "world": 1}',
        '{"do": "act", "action": "MoveAhead", "world": -1}',
        '{"do": "go_to"}',
        '{"do": "go_to", "step": true}',
        '{"do": "go_to", "step": 1e400}',
        '{"do": "turn", "by": 99999999999}',
        '{"do": "choose"}',
        '{"do": "choose", "tier": "../tiny", "split": "train"}',
        '{"do": "choose", "tier": "tiny", "split": "rest"}',
        '{"do": "choose", "tier": "tiny", "split": "train", "task": "Cook"}',
        '{"do": "choose", "tier": "tiny", "split": "train", "room": "7777"}',
        '{"do": "choose", "tier": "tiny", "split": "train", "task": "Heat", "room": "Bedroom"}',
        '{"do": "save", "name": "../../x"}',
    ],
)
def test_bad_messages_get_one_line_and_harm_nothing(hub: Hub, text: str) -> None:
    with client(hub) as made, talk(made, f"token={hub.token}") as socket:
        line = Line(socket)
        before = line.ask("show")
        socket.send_text(text)
        error = unpack(socket.receive_bytes())[0]["error"]
        assert error
        assert "\n" not in error
        assert line.ask("show") == before


def test_a_reload_continues_and_tabs_are_independent(hub: Hub) -> None:
    with client(hub) as made:
        with talk(made, f"token={hub.token}") as socket:
            one = Line(socket)
            one.ask("show")
            one.ask("act", action="RotateLeft")
        with (
            talk(made, f"token={hub.token}&session={one.session}") as socket,
            talk(made, f"token={hub.token}") as other_socket,
        ):
            again, other = Line(socket), Line(other_socket)
            assert again.session == one.session
            assert other.session != one.session
            assert other.ask("turn", by=1)["worlds"][0]["step"] == 0
            shown = again.ask("show")
            assert (shown["number"], shown["worlds"][0]["step"]) == (0, 1)


def test_a_session_belongs_to_the_newest_tab(hub: Hub) -> None:
    with client(hub) as made, talk(made, f"token={hub.token}") as socket:
        one = Line(socket)
        one.ask("show")
        with talk(made, f"token={hub.token}&session={one.session}") as newer:
            assert Line(newer).ask("show")["worlds"][0]["step"] == 0
            with pytest.raises(WebSocketDisconnect) as caught:
                socket.receive_bytes()
            assert caught.value.code == 4001


# Walking and acting.


def test_walking(session: Session) -> None:
    start = told(session, "show")["worlds"][0]
    assert start["goal"]
    assert start["instructions"]
    assert start["floor"]
    turned = told(session, "act", action="RotateLeft")["worlds"][0]
    assert turned["map"]["agent"][2] == (start["map"]["agent"][2] - 90) % 360
    assert turned["last"] == {
        "action": "RotateLeft",
        "object": "",
        "by_agent": False,
        "reason": None,
    }
    assert "floor" not in turned  # what stays the same is told once


def test_why_an_action_failed(session: Session) -> None:
    for _ in range(40):
        world = told(session, "act", action="MoveAhead")["worlds"][0]
        if world["failures"]:
            break
    assert world["last"]["reason"] == "something is in the way"
    assert world["deeds"][-1] == ["MoveAhead", False, False]


def test_keys_that_apply_to_nothing_are_not_counted(session: Session) -> None:
    answer = told(session, "act", action="PutObject")
    assert "Nothing in reach" in answer["note"]
    assert answer["worlds"][0]["failures"] == answer["worlds"][0]["step"] == 0
    unseen = next(
        name
        for name in session.worlds[0].simulator.objects
        if not session.worlds[0].simulator.sight().mask(name).any()
    )
    answer = told(session, "act", action="OpenObject", object=unseen)
    assert answer["worlds"][0]["step"] == 0


def test_verbs_are_those_that_work(session: Session) -> None:
    tried = 0
    for action, target in list(expert(session)):
        if target is not None:
            objects = told(session, "show")["worlds"][0]["objects"].values()
            verbs = next(one["verbs"] for one in objects if one["id"] == target)
            assert action.name in verbs
            tried += 1
        world = told(session, "act", action=action.name, object=target)["worlds"][0]
        assert world["last"]["reason"] is None
    assert tried >= 2
    assert [met for _, met in world["conditions"]] == [True]


def test_numbers_in_the_views_are_those_of_the_objects(session: Session) -> None:
    world = session.worlds[0]
    frame = world.simulator.frame()
    assert frame.object_ids == world.simulator.sight().object_ids
    objects = told(session, "show")["worlds"][0]["objects"]
    for number in {int(one) for one in frame.instances.ravel()} - {0}:  # type: ignore[union-attr]
        assert objects[str(number)]["id"] == frame.object_ids[number - 1]


def test_going_back_and_forth(session: Session) -> None:
    shown = [pictures(session)]
    actions = list(expert(session))
    for action, target in actions:
        told(session, "act", action=action.name, object=target)
        shown.append(pictures(session))
    for step in (0, len(actions), 2, len(actions) // 2, 3):
        told(session, "go_to", step=step)
        assert pictures(session) == shown[step]
    # What is done now replaces what came after.
    world = told(session, "act", action="LookUp")["worlds"][0]
    assert (world["step"], world["length"]) == (4, 4)
    assert told(session, "go_to", step=9)["worlds"][0]["step"] == 4


def test_sleep_frees_the_simulator_and_nothing_is_lost(session: Session) -> None:
    for action, target in list(expert(session))[:5]:
        told(session, "act", action=action.name, object=target)
    before = session.handle({"do": "show"})
    session.sleep()
    assert session.worlds[0]._env._simulator is None
    assert session.handle({"do": "show"}) == before


def test_idle_sessions_are_freed(library: Library) -> None:
    import asyncio

    hub = Hub(library, idle_seconds=0.0)
    name = hub.enter(None)
    asyncio.run(hub.handle(name, '{"do": "show"}'))
    world = hub.session(name).worlds[0]
    assert world._env._simulator is not None
    assert asyncio.run(hub.free_idle()) == 1
    assert world._env._simulator is None
    hub.close()


def test_roaming_has_no_end(session: Session) -> None:
    choice = {"tier": "tiny", "split": "train", "roam": True}
    told(session, "choose", **choice)
    world = session.worlds[0]
    for _ in range(30):
        if told(session, "act", action="MoveAhead")["worlds"][0]["last"]["reason"]:
            break
    for _ in range(MAX_FAILURES + 3):
        answer = told(session, "act", action="MoveAhead")["worlds"][0]
        assert not answer["ended"]
    assert world.info["failures"] < MAX_FAILURES
    assert "error" not in answer


def test_choosing(session: Session) -> None:
    choice = {"tier": "tiny", "split": "valid_seen", "task": "Heat", "room": "Kitchen"}
    shown = told(session, "choose", **choice)
    assert shown["episode"].startswith("valid_seen/pick_heat_then_place")
    number = shown["episode"].split("/")[1].rpartition("-")[2]
    assert number in shown["rooms"]
    shown = told(session, "choose", tier="tiny", split="train", room="")
    assert shown["count"] == 28
    assert told(session, "turn", by=-1)["number"] == 27
    assert told(session, "turn", by=1)["number"] == 0


# Watching and taking over.


@pytest.fixture(scope="module")
def micro(tmp_path_factory: pytest.TempPathFactory) -> Performer:
    policy, _ = load_agent(untrained_agent(tmp_path_factory.mktemp("agent")), device="cpu")
    return Performer("micro", policy)


@pytest.fixture(scope="module")
def mapper() -> Performer:
    config = RunConfig(tier="tiny", agent="semantic-map")
    return Performer("mapper", Policy(new_agent(config).eval()))


@pytest.mark.parametrize("name", ["micro", "mapper"])
def test_watching_is_what_the_agent_does(
    name: str, request: pytest.FixtureRequest, library: Library
) -> None:
    performer = request.getfixturevalue(name)
    library.performers = [performer]
    session = Session(library)
    key = library.keys(PLACE)[0]
    source = library.source("tiny")
    trace = trace_of(Filmed("", performer.policy), source, key, max_steps=8)
    suggestions = [told(session, "show")["worlds"][0]["agent"]]
    for _ in trace:
        suggestions.append(told(session, "agent")["worlds"][0].get("agent"))
    deeds = session.worlds[0].deeds
    assert [(one.action, one.by_agent) for one in deeds] == [(one.action, True) for one in trace]
    # Going back shows what was suggested then, also for an agent that builds a map.
    told(session, "go_to", step=2)
    assert told(session, "show")["worlds"][0]["agent"] == suggestions[2]
    assert told(session, "agent")["worlds"][0]["agent"] == suggestions[3]
    session.sleep()


def test_what_an_agent_reads_and_looks_for(library: Library, mapper: Performer) -> None:
    library.performers = [mapper]
    session = Session(library)
    agent = told(session, "show")["worlds"][0]["agent"]
    assert abs(sum(value for _, value in agent["actions"]) - 1) < 0.01
    words = [word for word, _ in agent["words"]]
    assert words[0] == "<goal>"
    assert abs(sum(weight for _, weight in agent["words"]) - 1) < 0.02
    assert len(agent["heat"]) == 5
    session.sleep()


def test_taking_over_and_handing_back(library: Library, mapper: Performer) -> None:
    library.performers = [mapper]
    session = Session(library)
    told(session, "agent")
    told(session, "agent")
    told(session, "act", action="RotateLeft")
    suggestion = session.worlds[0].suggestion()
    assert suggestion is not None
    answer = told(session, "agent")["worlds"][0]
    assert [agent for _, agent, _ in answer["deeds"]] == [True, True, False, True]
    assert session.worlds[0].deeds[3].action is suggestion.action
    # The agent was told what the person did.
    state = session.worlds[0]._state
    assert state is not None
    told(session, "go_to", step=3)
    world = session.worlds[0]
    assert world._state is not None
    assert world._state.previous == (int(Action.RotateLeft), 0)
    session.sleep()


def test_two_agents_side_by_side(library: Library, mapper: Performer, micro: Performer) -> None:
    library.performers = [mapper, micro]
    session = Session(library)
    answer, blobs = unpack(session.handle({"do": "agent"}))
    assert [world["title"] for world in answer["worlds"]] == ["mapper", "micro"]
    assert [world["step"] for world in answer["worlds"]] == [1, 1]
    assert len(blobs) == 4
    answer = told(session, "act", action="LookUp", world=1)
    assert [world["step"] for world in answer["worlds"]] == [1, 2]
    session.sleep()


# Demonstrations.


@pytest.mark.parametrize("task", ["Pick&Place", "Heat", "Examine", "Pick2&Place", "Movable"])
def test_saved_demonstrations_replay_and_stream(task: str, library: Library) -> None:
    library.choice = Choice(task=task)
    session = Session(library)
    told(session, "show")
    # A person looks around first, and fails at something.
    for action in ("RotateLeft", "RotateRight", "LookUp", "LookDown"):
        told(session, "act", action=action)
    answer = solve(session)
    assert answer["worlds"][0]["success"]
    note = told(session, "save")["note"]
    assert "saved" in note
    source = open_source(data=library.save)
    entries = source.entries(Split.TRAIN)
    assert len(entries) == 1
    episode = source.episode(entries[0].key)
    assert solves(source, episode.trajectory, Split.TRAIN)
    assert episode.annotation == session.worlds[0].episode.annotation
    assert len(episode.trajectory.actions) == len(session.worlds[0].deeds) - 1
    assert len(demonstration_of(episode, source).actions) == len(session.worlds[0].deeds)
    high = [one.step for one in episode.trajectory.actions]
    assert high == sorted(high)
    assert set(high) == {one.step for one in session.worlds[0].episode.trajectory.actions}
    # The same again gives the same bytes.
    path = next(library.save.rglob("traj_data.json"))
    content = path.read_bytes()
    told(session, "save")
    assert [path] == list(library.save.rglob("traj_data.json"))
    assert path.read_bytes() == content
    session.sleep()


def test_demonstrations_gather_in_one_folder(session: Session, library: Library) -> None:
    for name in ("ann_1", "ann_2"):
        assert solve(session)["worlds"][0]["success"]
        told(session, "save", name=name)
        told(session, "turn", by=1)
    entries = open_source(data=library.save).entries(Split.TRAIN)
    assert sorted(one.key.trajectory.split("/")[1] for one in entries) == [
        "trial_ann_1",
        "trial_ann_2",
    ]
    # ``data=`` is all that a stream needs, with the household and without.
    env = gymnasium.make(ENV_IDS[0], data=library.save, tasks=["Pick&Place"], image_size=16)
    stream, solved = TaskStream(env), 0
    while not stream.exhausted:
        stream.reset()
        for one in stream.demonstration().actions:
            pixels = None if one.mask is None else one.mask.decode()
            step = env.unwrapped.act_with_mask(one.action, pixels)  # type: ignore[attr-defined]
        solved += step[4]["success"]
    env.close()
    assert solved == 2


def test_an_agents_part_is_kept_with_masks(library: Library, micro: Performer) -> None:
    episode = library.source("tiny").episode(library.keys(PLACE)[0])
    library.performers = [Performer("follower", Follower.of(micro.policy, episode))]
    session = Session(library)
    told(session, "show")
    for number, one in enumerate(episode.trajectory.actions):
        if number % 2:
            told(session, "act", action=one.action.name, object=one.object_id)
        else:
            told(session, "agent")
    answer = told(session, "agent")["worlds"][0]
    assert answer["success"]
    assert {agent for _, agent, _ in answer["deeds"]} == {True, False}
    told(session, "save")
    source = open_source(data=library.save)
    trajectory = source.episode(source.entries(Split.TRAIN)[0].key).trajectory
    assert all(one.mask for one in trajectory.actions if one.object_id)
    session.sleep()


def test_what_is_not_solved_is_not_saved(session: Session, library: Library) -> None:
    with pytest.raises(BadInputError, match="at least one action"):
        session.handle({"do": "save"})
    told(session, "act", action="RotateLeft")
    with pytest.raises(BadInputError, match="meets every goal condition"):
        session.handle({"do": "save"})
    assert not library.save.exists()


@pytest.mark.parametrize("name", ["../out", "/etc/x", "a/b", "a\\b", "..", "x" * 61, "é", "a\n"])
def test_names_cannot_leave_the_folder(session: Session, library: Library, name: str) -> None:
    solve(session)
    with pytest.raises(BadInputError, match="letters, digits and underscores"):
        session.handle({"do": "save", "name": name})
    assert not library.save.exists()


def test_links_cannot_leave_the_folder(session: Session, library: Library, tmp_path: Path) -> None:
    solve(session)
    (tmp_path / "outside").mkdir()
    library.save.mkdir()
    (library.save / "json_2.1.0").symlink_to(tmp_path / "outside")
    with pytest.raises(BadInputError, match="leads out of"):
        session.handle({"do": "save"})
    assert not list((tmp_path / "outside").iterdir())


def test_other_data_is_not_overwritten(session: Session, library: Library) -> None:
    solve(session)
    library.save.mkdir()
    (library.save / "train.zip").write_bytes(b"mine")
    with pytest.raises(BadInputError, match="holds other data"):
        session.handle({"do": "save"})
    assert (library.save / "train.zip").read_bytes() == b"mine"


def test_rooms_of_an_imported_store_come_along(tmp_path: Path) -> None:
    generated = open_source("tiny")
    keys = Library().keys(Choice(task="Examine"))
    trajectories = [generated.episode(key).trajectory for key in keys]
    numbers = sorted({one.scene.number for one in trajectories})
    store = tmp_path / "store"
    write_archive(store, Split.TRAIN, trajectories)
    write_rooms(store, map(generated.room, numbers))
    counts = {"train": len(keys)}
    write_info(store, StoreInfo("imported", counts, counts, tuple(numbers), 0))
    # A store keeps less of a room than the generator knows: putting may fail there.
    imported = open_source(data=store)
    room = next(one.scene.number for one in trajectories if solves(imported, one, Split.TRAIN))
    library = Library(Choice(tier="data", room=str(room)), str(store), save=tmp_path / "own")
    session = Session(library)
    told(session, "show")
    assert solve(session)["worlds"][0]["success"]
    told(session, "save")
    source = open_source(data=library.save)
    assert not source.has_generated_rooms
    saved = source.episode(source.entries(Split.TRAIN)[0].key).trajectory
    assert solves(source, saved, Split.TRAIN)
    with pytest.raises(BadInputError, match="holds demonstrations in imported rooms"):
        save_demonstration(
            library.save, generated, session.worlds[0].episode, session.worlds[0].done
        )
    session.sleep()


# A person's score.


def test_a_persons_score(tmp_path: Path) -> None:
    source = open_source("tiny")
    keys = [entry.key for entry in source.entries(Split.TEST_SEEN)][:4:3]
    path = tmp_path / "ann.jsonl"
    with Score(path, "ann", source, keys, 1000) as score:
        session = Session(Library(score=score))
        world = told(session, "show")["worlds"][0]
        assert "conditions" not in world
        assert "map" not in world
        for do in ("restart", "agent", "save", "go_to", "choose"):
            with pytest.raises(Exception, match="not while the score counts"):
                session.handle({"do": do, "step": 0})
        with pytest.raises(Exception, match="finish this episode first"):
            session.handle({"do": "turn"})
        assert solve(session)["score"]["succeeded"] == 1
    results = read_results(path)
    (result,) = results.values()
    assert (result.episode, result.success, result.end) == (str(keys[0]), True, "stop")
    assert result.steps == result.expert_steps
    assert "PickupObject" in result.interactions
    # The same command again goes on with the next one.
    with Score(path, "ann", source, keys, 1000) as score:
        session = Session(Library(score=score))
        told(session, "act", action="Stop")
        assert "Thank you" in told(session, "turn")["note"]
        assert (score.done, score.succeeded) == (2, 1)
    assert [one.success for one in read_results(path).values()] == [True, False]
    with pytest.raises(Exception, match="agent is 'person ann', not 'person bob'"):
        Score(path, "bob", source, keys, 1000)


def test_ends_are_told_as_for_agents() -> None:
    source = open_source("tiny")
    key = source.entries(Split.TRAIN)[0].key
    world = World(source, max_steps=3)
    world.begin(key)
    for _ in range(3):
        world.act(Action.RotateLeft)
    assert world.result().end == "limit"
    world.sleep()
    world = World(source)
    world.begin(key)
    while not world.ended:
        world.act(Action.LookUp)
    assert world.result().end == "failures"
    world.sleep()


# The command.


@pytest.mark.slow
def test_a_killed_server_loses_no_demonstration(tmp_path: Path) -> None:
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    command = [sys.executable, "-m", "clalfred.scripts.play", "--no-browser", "--port", "0"]
    options = ["--tier", "tiny", "--task", "Pick&Place", "--save", str(tmp_path / "saved")]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[1]
            host, _, token = address.removeprefix("http://").partition("/?token=")
            origin: Any = f"http://{host}"
            talk_to = f"ws://{host}/talk?token={token}"
            with connect(talk_to, origin=origin, max_size=None) as socket:
                socket.recv()
                socket.send("x" * 4 * MESSAGE_BYTES)
                with pytest.raises(ConnectionClosed):
                    socket.recv()
            with connect(talk_to, origin=origin, max_size=None) as socket:
                socket.recv()
                key = Library(PLACE).keys(PLACE)[0]
                for one in open_source("tiny").episode(key).trajectory.actions:
                    message = {"do": "act", "action": one.action.name, "object": one.object_id}
                    socket.send(json.dumps(message))
                    socket.recv()
                socket.send('{"do": "save"}')
                answer = socket.recv()
                assert isinstance(answer, bytes)
                assert "saved" in unpack(answer)[0]["note"]
        finally:
            server.kill()
    source = open_source(data=tmp_path / "saved")
    episode = source.episode(source.entries(Split.TRAIN)[0].key)
    assert solves(source, episode.trajectory, Split.TRAIN)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--split", "rest"], "rest"),
        (["--task", "Cook"], "Cook"),
        (["--agent", "a", "--agent", "b", "--agent", "c"], "one --agent or two"),
        (["--agent", "nowhere"], "no trained agent"),
        (["--score", "3"], "--score needs --name"),
        (["--score", "3", "--name", "../ann"], "--score needs --name"),
        (["--name", "ann"], "belong to --score"),
        (["--data", "nowhere"], "expected a folder"),
    ],
)
def test_bad_options(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["--no-browser", *arguments])
    assert done.exit_code != 0
    assert message in done.output


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clalfred.scripts.play.find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["--no-browser"])
    assert done.exit_code == 1
    assert "pip install 'cl-alfred-gym[play]'" in done.output


def test_a_port_that_is_taken() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = CliRunner().invoke(main, ["--no-browser", "--tier", "tiny", "--port", port])
    assert done.exit_code == 1
    assert "choose another with --port" in done.output


def test_help_fits_a_terminal_and_explains_every_option() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert max(map(len, shown.splitlines())) <= 80
    assert "clalfred-play" in shown.split("Examples:")[1]
    assert all(one.help for one in main.params if hasattr(one, "help"))
