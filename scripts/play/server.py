"""Serves the page: on this machine only, with the token only, and to no other origin."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket as socketlib
import threading
import time
import webbrowser
from collections import OrderedDict
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import click
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from clalfred.scripts.play.documents import pack
from clalfred.scripts.play.session import Library, Session
from gym_clalfred.errors import ClAlfredError, UsageError

#: Bytes of a message from the page; the longest that it sends has a few hundred.
MESSAGE_BYTES = 16 * 1024

#: Seconds without a message after which a session's simulators are freed.
IDLE_SECONDS = 600.0

#: Sessions that are remembered, and those with simulators.
MOST_SESSIONS = 64
MOST_AWAKE = 6

#: Names of this machine as a browser writes them; an SSH tunnel uses them too.
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

#: Why a connection is closed, in WebSocket's private range.
TAKEN_OVER = 4001
TOO_LONG = 1009

_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Hub:
    """All sessions. One thread does all the work, so no two of them meet in a simulator.

    Args:
        library: what sessions share.
        idle_seconds: after so long a session's simulators are freed.
    """

    def __init__(self, library: Library, idle_seconds: float = IDLE_SECONDS) -> None:
        self.token = secrets.token_urlsafe(16)
        self.library = library
        self.idle_seconds = idle_seconds
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._used: dict[str, float] = {}
        self._sockets: dict[str, WebSocket] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="play")

    def admits(self, given: str | None) -> bool:
        """Whether somebody knows the token."""
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())

    def enter(self, name: str | None) -> str:
        """The name of a session: the one asked for if it is known, else a new one."""
        if self.library.score is not None:
            name = "score"  # there is one score, whichever tab shows it
        elif name not in self._sessions:
            name = None
        name = name or secrets.token_urlsafe(9)
        if name not in self._sessions:
            self._sessions[name] = Session(self.library)
        while len(self._sessions) > MOST_SESSIONS:
            oldest, session = self._sessions.popitem(last=False)
            self._used.pop(oldest, None)
            self._worker.submit(session.sleep)
        return name

    def session(self, name: str) -> Session:
        """A session by its name."""
        return self._sessions[name]

    async def handle(self, name: str, text: str) -> bytes:
        """The answer to a message; what is wrong with it is an answer too."""
        session = self._sessions.setdefault(name, Session(self.library))
        self._sessions.move_to_end(name)
        self._used[name] = time.monotonic()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, _answer, session, text)

    async def take(self, name: str, socket: WebSocket) -> None:
        """Gives a session to a connection; the one that had it is told so and closed."""
        before = self._sockets.get(name)
        self._sockets[name] = socket
        if before is not None:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await before.close(TAKEN_OVER, "opened in another tab")

    def leave(self, name: str, socket: WebSocket) -> None:
        """Forgets a connection."""
        if self._sockets.get(name) is socket:
            del self._sockets[name]

    def owns(self, name: str, socket: WebSocket) -> bool:
        """Whether a session still belongs to a connection."""
        return self._sockets.get(name) is socket

    async def free_idle(self) -> int:
        """Puts sessions to sleep that are idle or too many; gives how many."""
        now, loop = time.monotonic(), asyncio.get_running_loop()
        recent = sorted(self._used, key=lambda name: -self._used[name])
        idle = [
            name
            for place, name in enumerate(recent)
            if place >= MOST_AWAKE or now - self._used[name] >= self.idle_seconds
        ]
        for name in idle:
            del self._used[name]
            await loop.run_in_executor(self._worker, self._sessions[name].sleep)
        return len(idle)

    def close(self) -> None:
        """Frees everything."""
        for session in self._sessions.values():
            self._worker.submit(session.sleep)
        self._worker.shutdown()


def make_app(hub: Hub) -> Starlette:
    """The page and its WebSocket."""

    async def page(request: Request) -> Response:
        if not _is_here(request.headers.get("host")):
            return PlainTextResponse("This page answers only on this machine.\n", 403)
        if not hub.admits(request.query_params.get("token")):
            return PlainTextResponse(
                "Expected the token in the address. Open the whole address that clalfred-play "
                "printed.\n",
                403,
                _HEADERS,
            )
        text = files("clalfred.scripts.play").joinpath("page.html").read_text("utf-8")
        return HTMLResponse(text, headers=_HEADERS)

    async def talk(socket: WebSocket) -> None:
        allowed = hub.admits(socket.query_params.get("token")) and _is_same_origin(socket)
        if not allowed:
            await socket.close(1008)
            return
        await socket.accept()
        name = hub.enter(socket.query_params.get("session"))
        await hub.take(name, socket)
        await socket.send_text(json.dumps({"session": name}))
        try:
            await _converse(hub, name, socket)
        except (WebSocketDisconnect, asyncio.CancelledError):
            pass  # the tab was closed, or the server ends while it answers
        finally:
            hub.leave(name, socket)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        cleaner = asyncio.create_task(_clean(hub))
        yield
        cleaner.cancel()
        hub.close()

    return Starlette(
        routes=[Route("/", page), WebSocketRoute("/talk", talk)],
        lifespan=lifespan,
    )


def serve(library: Library, port: int | None, browser: bool) -> None:
    """Serves the page until Ctrl-C.

    Args:
        library: what sessions share.
        port: on 127.0.0.1; the usual one, or if another program has it any free one, for ``None``.
        browser: whether to open the page.
    """
    hub = Hub(library)
    listener = listen(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/?token={hub.token}"
    click.echo(f"Open {address}\nCtrl-C ends it. Demonstrations are saved in {library.save}")
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    uvicorn.Server(uvicorn.Config(make_app(hub), **settings())).run(sockets=[listener])


def settings() -> dict[str, Any]:
    """How uvicorn is to serve: messages that are far too long never reach the page's code."""
    return {
        "log_level": "critical",
        "access_log": False,
        "ws": "websockets-sansio",
        "ws_max_size": 2 * MESSAGE_BYTES,
        "ws_per_message_deflate": False,
        "timeout_graceful_shutdown": 2,
    }


def listen(port: int | None) -> socketlib.socket:
    """A socket on 127.0.0.1, see ``serve``."""
    from clalfred.scripts.play import DEFAULT_PORT

    for wanted in (DEFAULT_PORT, 0) if port is None else (port,):
        listener = socketlib.socket()
        listener.setsockopt(socketlib.SOL_SOCKET, socketlib.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", wanted))
            listener.listen()
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror
    raise UsageError(f"port {port}: cannot be used ({reason}); choose another with --port")


async def _converse(hub: Hub, name: str, socket: WebSocket) -> None:
    while hub.owns(name, socket):
        event = await socket.receive()
        if event["type"] == "websocket.disconnect":
            return
        text = event.get("text")
        if text is None or len(text.encode()) > MESSAGE_BYTES:
            await socket.close(TOO_LONG, f"expected text of at most {MESSAGE_BYTES} bytes")
            return
        answer = await hub.handle(name, text)
        if hub.owns(name, socket):
            await socket.send_bytes(answer)


async def _clean(hub: Hub) -> None:
    while True:
        await asyncio.sleep(min(60.0, hub.idle_seconds))
        await hub.free_idle()


def _answer(session: Session, text: str) -> bytes:
    try:
        message: Any = json.loads(text)
        if not isinstance(message, dict):
            return pack({"error": "expected a JSON object"}, [])
        return session.handle(message)
    except (ValueError, RecursionError, OSError, ClAlfredError) as error:
        return pack({"error": str(error).splitlines()[0] if str(error) else "bad message"}, [])


def _is_same_origin(socket: WebSocket) -> bool:
    """Whether the page that connects came from here; behind a tunnel the port may differ."""
    host = socket.headers.get("host", "")
    return socket.headers.get("origin") == f"http://{host}" and _is_here(host)


def _is_here(host: str | None) -> bool:
    try:
        return urlsplit(f"//{host or ''}").hostname in LOOPBACK
    except ValueError:
        return False
