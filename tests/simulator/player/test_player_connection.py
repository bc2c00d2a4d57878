"""How the player finds its client, and how it ends when there is none."""

from __future__ import annotations

import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from gym_clalfred.errors import SimulatorError
from gym_clalfred.simulator.player.transport import Client, Message, Pipes
from tests.helpers.thor_players import alive, environment_with

MESSAGE = Message(b"\x80")


@pytest.fixture
def pipes(tmp_path: Path) -> tuple[str, str]:
    """Two named pipes, as a client makes them, in a folder of their own."""
    folder = tmp_path / "pipes"
    folder.mkdir()
    paths = (str(folder / "server"), str(folder / "client"))
    for path in paths:
        os.mkfifo(path)
    return paths


CLIENT = """
import os, subprocess, sys, time
player = subprocess.Popen([sys.executable, "-m", "clalfred.scripts.player", "--start-timeout", "4"])
print(player.pid, flush=True)
time.sleep(600)
"""


def test_a_client_that_is_killed_while_the_player_starts_leaves_nothing(
    pipes: tuple[str, str],
) -> None:
    variables = {
        "AI2THOR_SERVER_TYPE": "FIFO",
        "AI2THOR_FIFO_SERVER_PIPE_PATH": pipes[0],
        "AI2THOR_FIFO_CLIENT_PIPE_PATH": pipes[1],
    }
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_with(**variables),
    )
    assert client.stdout is not None
    pid = int(client.stdout.readline())
    client.kill()
    client.wait()
    client.stdout.close()
    deadline = time.monotonic() + 90
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(pid)
    assert not Path(pipes[0]).parent.exists()


def test_a_client_that_ended_before_its_pipes_were_opened_is_noticed(
    pipes: tuple[str, str],
) -> None:
    transport = Pipes(*pipes, Client(parent=os.getppid() + 1))
    assert transport.exchange(MESSAGE) is None
    transport.close()
    assert not Path(pipes[0]).parent.exists()


def test_the_player_ends_when_the_folder_of_its_pipes_vanishes(pipes: tuple[str, str]) -> None:
    threading.Timer(0.2, shutil.rmtree, [Path(pipes[0]).parent]).start()
    assert Pipes(*pipes).exchange(MESSAGE) is None


def test_the_player_ends_when_nobody_opens_its_pipes(pipes: tuple[str, str]) -> None:
    transport = Pipes(*pipes, Client(start_seconds=0.2))
    with pytest.raises(SimulatorError, match=r"server: no client answered within 0\.2 s"):
        transport.exchange(MESSAGE)
    transport.close()
    assert not Path(pipes[0]).exists()


def test_a_player_whose_client_ends_while_it_loads_ends_too(pipes: tuple[str, str]) -> None:
    """The process is this one's child, so only its pipe tells that nobody reads any more."""
    code = (
        "import sys, time\n"
        "from gym_clalfred.simulator.player.transport import Pipes, ending_with\n"
        "transport = Pipes(*sys.argv[1:])\n"
        "assert transport.connect()\n"
        "print('connected', flush=True)\n"
        "with ending_with(transport):\n"
        "    time.sleep(600)\n"
    )
    reader = os.open(pipes[0], os.O_RDONLY | os.O_NONBLOCK)
    player = subprocess.Popen([sys.executable, "-c", code, *pipes], stdout=subprocess.PIPE)
    assert player.stdout is not None
    assert player.stdout.readline() == b"connected\n"
    os.close(reader)
    assert player.wait(timeout=60) == 1
    player.stdout.close()


def test_the_player_ends_when_its_client_stops_reading_before_it_ever_wrote(
    pipes: tuple[str, str],
) -> None:
    reader = os.open(pipes[0], os.O_RDONLY | os.O_NONBLOCK)
    threading.Timer(0.3, os.close, [reader]).start()
    assert Pipes(*pipes).exchange(MESSAGE) is None


class _Website(http.server.BaseHTTPRequestHandler):
    """Something else that uses a port."""

    def do_POST(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def website() -> Iterator[int]:
    with http.server.HTTPServer(("127.0.0.1", 0), _Website) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def run_player(*arguments: str) -> list[str]:
    """The last line that the command says, and the one before; it must fail without a traceback."""
    from clalfred.scripts.player import main

    run = CliRunner().invoke(main, list(arguments))
    assert run.exit_code == 1
    assert isinstance(run.exception, SystemExit), run.exception
    return run.output.strip().splitlines()


def test_a_port_where_nobody_listens_is_one_clear_error() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        said = run_player("--port", port, "--start-timeout", "0.2")
    assert said[-1] == (
        f"Error: 127.0.0.1:{port}: no client answered within 0.2 s; start the client first, or "
        "wait longer with --start-timeout"
    )
    assert said[:-1] == [f"Looking for a client at 127.0.0.1:{port}."]


def test_a_port_that_something_else_uses_is_one_clear_error(website: int) -> None:
    said = run_player("--port", str(website))[-1]
    assert said.startswith(f"Error: 127.0.0.1:{website}: expected the server of an AI2-THOR client")
    assert "404" in said


def test_files_are_not_taken_for_pipes(tmp_path: Path) -> None:
    file = tmp_path / "thesis.txt"
    file.write_text("three years of work")
    said = run_player("--pipes", str(file), str(file))[-1]
    assert said == f"Error: {file}: expected a named pipe, found something else"
    assert file.read_text() == "three years of work"


def test_the_version_of_the_client_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AI2THOR_SERVER_TYPE", raising=False)
    assert "no client to talk to" in run_player("--client", "5.0.0")[-1]
    assert run_player("--client", "x")[-1] == (
        "Error: client 'x': expected a version such as 5.0.0"
    )


def test_a_host_that_does_not_exist_is_one_clear_error() -> None:
    said = run_player("--host", "no-such-host.invalid", "--port", "8200")[-1]
    assert "no-such-host.invalid:8200: cannot be reached" in said
