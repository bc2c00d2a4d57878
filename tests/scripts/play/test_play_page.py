"""The page of ``clalfred-play``: who may talk to it, and what its messages do."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gym_clalfred.data.quotas import TIERS
from gym_clalfred.data.sources import open_source
from gym_clalfred.data.tiers import tier_folder
from gym_clalfred.data.trajectory import Split
from gym_clalfred.env import MAX_FAILURES
from tests.helpers.play_sessions import PLACE, expert, pictures, told
from tests.helpers.runs import untrained_agent

REASON = "needs the extra play: pip install 'cl-alfred-gym[play]'"
uvicorn: Any = pytest.importorskip("uvicorn", reason=REASON)
pytest.importorskip("websockets", reason=REASON)
pytest.importorskip("httpx", reason="starlette's test client needs httpx")
testclient: Any = pytest.importorskip("starlette.testclient", reason=REASON)

from starlette.websockets import WebSocketDisconnect  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from clalfred.scripts.play import _performers, _tier_at_hand, main  # noqa: E402
from clalfred.scripts.play.documents import unpack  # noqa: E402
from clalfred.scripts.play.saving import solves  # noqa: E402
from clalfred.scripts.play.server import (  # noqa: E402
    MESSAGE_BYTES,
    TOO_LONG,
    Hub,
    listen,
    make_app,
    settings,
)
from clalfred.scripts.play.session import Library, Session  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

HOME = "127.0.0.1:8642"
ORIGIN = {"origin": f"http://{HOME}"}


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
        (None, {"origin": "http://[::1"}, HOME),
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
        '{"do": "choose", "tier": "tiny", "split": "train", "agents": "joint-masks"}',
        '{"do": "choose", "tier": "tiny", "split": "train", "agents": ["../agent.zip"]}',
        '{"do": "choose", "tier": "tiny", "split": "train", "agents": ["a", "b", "c"]}',
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


def test_ending_while_it_answers_is_silent(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked, ended = threading.Event(), threading.Event()

    def slow(self: Session, message: object) -> bytes:
        asked.set()
        ended.wait(60)
        return b""

    monkeypatch.setattr(Session, "handle", slow)
    options = {**settings(), "timeout_graceful_shutdown": 0}
    listener = listen(0)
    server = uvicorn.Server(uvicorn.Config(make_app(hub), **options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    here = f"127.0.0.1:{listener.getsockname()[1]}"
    with connect(f"ws://{here}/talk?token={hub.token}", origin=f"http://{here}") as socket:
        socket.recv()
        socket.send(json.dumps({"do": "show"}))
        assert asked.wait(60)
        server.should_exit = True
        with pytest.raises(ConnectionClosed):
            socket.recv(60)
        ended.set()
        thread.join(60)
    assert capfd.readouterr().err == ""


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


def test_agents_are_called_by_their_names(tmp_path: Path) -> None:
    untrained_agent(tmp_path / "mine")
    agents = ("finetuning-behavior-il", str(tmp_path / "mine"), str(tmp_path / "mine/agent.zip"))
    titles = [performer.title for performer in _performers(agents)[0]]
    assert titles[0] == "finetuning-behavior-il: finetuning, behavior-il, seed 1"
    assert titles[1] == titles[2]
    assert titles[1].startswith("mine: ")


def test_an_agents_tier_is_not_generated_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _tier_at_hand(None) == "tiny"
    monkeypatch.setenv("CLALFRED_CACHE", str(tmp_path))
    assert _tier_at_hand("full") == "tiny"
    assert "--tier full makes it" in capsys.readouterr().out
    tier_folder(TIERS["full"]).mkdir(parents=True)
    assert _tier_at_hand("full") == "full"


def test_help_fits_a_terminal_and_explains_every_option() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert max(map(len, shown.splitlines())) <= 80
    assert "clalfred-play" in shown.split("Examples:")[1]
    assert all(one.help for one in main.params if hasattr(one, "help"))
