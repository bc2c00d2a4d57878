"""Unity's side of AI2-THOR's two wire protocols: named pipes and HTTP."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import json
import os
import select
import shutil
import struct
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gym_clalfred.errors import SimulatorError
from gym_clalfred.simulator.player.encoding import Encoder, Json, MessagePack

#: Type and length of a field of a message over pipes.
HEADER = struct.Struct("!BI")
METADATA, ACTION, METADATA_PATCH, END = 1, 2, 11, 255

#: Form fields of the HTTP protocol and the types of the same in the pipes' messages.
FIELD_TYPES = {
    "image": 4,
    "image_depth": 5,
    "image_classes": 8,
    "image_ids": 9,
    "image-thirdParty-camera": 10,
    "image_thirdParty_depth": 12,
    "image_thirdParty_image_ids": 14,
    "image_thirdParty_classes": 15,
}

#: The largest pipe that Linux gives to ordinary users: a frame goes through in one piece.
PIPE_BYTES = 1 << 20

#: What goes into one system call; systems take at least 1024.
MOST_PARTS = 256

#: How often a waiting player looks whether its client still lives, in seconds.
PULSE = 0.5

#: How often a player tries to reach a client that is not there yet, in seconds.
KNOCK = 0.02

#: How long a client may take to be there, in seconds.
START_SECONDS = 120.0


Buffer = bytes | memoryview

#: A form field and its bytes.
Image = tuple[str, Buffer]


@dataclass
class Message:
    """What the player says after an action.

    Args:
        metadata: written by the transport's encoder.
        images: in the order of the protocol.
        patch: whether the metadata only says how the action went; nothing else changed.
    """

    metadata: bytes
    images: list[Image] = field(default_factory=list)
    patch: bool = False


class Transport(ABC):
    """A connection to a client."""

    encoder: Encoder
    #: Whether answers may say only what changed.
    can_patch = False

    @abstractmethod
    def connect(self) -> bool:
        """Waits for the client; whether it is there. ``exchange`` does it, too, if need be.

        Raises:
            SimulatorError: if the client could not be reached in time.
        """

    @property
    @abstractmethod
    def is_lost(self) -> bool:
        """Whether a client that was there has ended."""

    @abstractmethod
    def exchange(self, message: Message) -> dict[str, Any] | None:
        """Sends a message and waits for the next request; ``None`` when the client is gone."""

    @abstractmethod
    def send_damaged(self, message: Message) -> None:
        """Sends the first half of a message and nothing more, for tests."""

    @abstractmethod
    def close(self) -> None:
        """Frees the connection."""


@dataclass(frozen=True)
class Client:
    """What a player knows of its client before they are connected.

    Args:
        parent: the process that started this one, as early as that could be read: a client that
            is killed while the player loads its modules is not the parent any more afterwards.
        start_seconds: how long it may take until it can be reached.
    """

    parent: int = field(default_factory=os.getppid)
    start_seconds: float = START_SECONDS

    @property
    def is_gone(self) -> bool:
        """Whether the process that started this one has ended."""
        return os.getppid() != self.parent

    def too_late(self, place: str) -> SimulatorError:
        """The error for a client that could not be reached in time."""
        return SimulatorError(
            f"{place}: no client answered within {self.start_seconds:g} s; start the client "
            "first, or wait longer with --start-timeout"
        )


class Pipes(Transport):
    """The FIFO protocol: two named pipes that the client has made.

    Args:
        server_path: the pipe that the player writes to.
        client_path: the pipe that the player reads from.
        client: who made them; the process that started this one by default.
    """

    can_patch = True

    def __init__(self, server_path: str, client_path: str, client: Client | None = None) -> None:
        self.encoder = MessagePack()
        self._paths = (server_path, client_path)
        self._client = Client() if client is None else client
        self._deadline = time.monotonic() + self._client.start_seconds
        self._abandoned = self._closed = False
        self._out: int | None = None
        self._in: int | None = None

    def connect(self) -> bool:
        """Waits until the client reads from its pipe."""
        try:
            if self._out is None:
                self._out = self._open_for_writing(self._paths[0])
            return True
        except (FileNotFoundError, _GoneError):
            return False

    @property
    def is_lost(self) -> bool:
        """Whether nobody reads any more, or the process that started this one has ended."""
        return self._client.is_gone or (self._out is not None and not _has_reader(self._out))

    def exchange(self, message: Message) -> dict[str, Any] | None:
        """Sends a message and waits for the next request."""
        if not self.connect():
            return None
        try:
            self._send(_framed(message))
            return self._receive()
        except (BrokenPipeError, FileNotFoundError, _GoneError):
            return None

    def send_damaged(self, message: Message) -> None:
        """Sends the first half of a message."""
        content = b"".join(_framed(message))
        self.connect()
        self._send([content[: len(content) // 2]])

    def close(self) -> None:
        """Closes the pipes, and removes them if the client died without doing so."""
        if self._closed:
            return
        self._closed = True
        for handle in (self._out, self._in):
            if handle is not None:
                os.close(handle)
        self._out = self._in = None
        # A killed client's pipes close a moment before the system gives us another parent.
        for _ in range(40):
            if self._abandoned or self._client.is_gone:
                remove_pipes(*self._paths)
                return
            time.sleep(0.05)

    def _send(self, parts: list[Buffer]) -> None:
        assert self._out is not None
        while parts:
            written = os.writev(self._out, parts[:MOST_PARTS])
            while parts and written >= len(parts[0]):
                written -= len(parts.pop(0))
            if parts:
                parts[0] = memoryview(parts[0])[written:]

    def _receive(self) -> dict[str, Any]:
        if self._in is None:
            # Opening in the usual way would wait for ever for a client that is dead.
            self._in = os.open(self._paths[1], os.O_RDONLY | os.O_NONBLOCK)
        request: dict[str, Any] | None = None
        while True:
            kind, length = HEADER.unpack(self._read(HEADER.size))
            if kind == END:
                break
            body = self._read(length)
            if kind == ACTION:
                request = json.loads(body)
        if request is None:
            raise SimulatorError("a request without an action came over the pipe")
        return request

    def _read(self, size: int) -> bytes:
        assert self._in is not None
        parts = []
        poll = select.poll()
        poll.register(self._in, select.POLLIN)
        while size > 0:
            if not poll.poll(PULSE * 1000):
                self._check_client()
                continue
            part = os.read(self._in, size)
            if not part:
                raise _GoneError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _open_for_writing(self, path: str) -> int:
        while True:
            try:
                handle = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                self._check_client()
                if time.monotonic() > self._deadline:
                    self._abandoned = True
                    raise self._client.too_late(path) from None
                time.sleep(KNOCK)
        os.set_blocking(handle, True)
        # Where the system allows less, frames go through in several pieces.
        with contextlib.suppress(OSError):
            fcntl.fcntl(handle, getattr(fcntl, "F_SETPIPE_SZ", 1031), PIPE_BYTES)
        return handle

    def _check_client(self) -> None:
        if self.is_lost:
            raise _GoneError


class Http(Transport):
    """The HTTP protocol: every frame is a POST whose response is the next request.

    Args:
        host: of the client's server.
        port: of the client's server.
        token: proves to the client that this is the player it started.
        client: who has the server; the process that started this one by default.
    """

    def __init__(self, host: str, port: int, token: str, client: Client | None = None) -> None:
        self.encoder = Json()
        self._connection = http.client.HTTPConnection(host, port)
        self._place = f"{host}:{port}"
        self._token = token
        self._client = Client() if client is None else client
        self._deadline = time.monotonic() + self._client.start_seconds
        self._met = False

    def exchange(self, message: Message) -> dict[str, Any] | None:
        """Posts a frame and waits for the next request."""
        boundary = uuid.uuid4().hex
        body = _form(boundary, self._token, message)
        headers = {"Content-Type": f'multipart/form-data; boundary="{boundary}"'}
        if not self.connect():
            return None
        try:
            self._connection.request("POST", "/train", body, headers)
            response = self._connection.getresponse()
            content = response.read()
        except (http.client.RemoteDisconnected, ConnectionError, TimeoutError):
            return None
        except http.client.HTTPException as error:
            raise self._strange(f"{type(error).__name__} {error}") from None
        if response.status != 200:
            raise self._strange(f"{response.status} {response.reason}: {content[:300]!r}")
        try:
            request = json.loads(content)
        except ValueError:
            request = None
        if not isinstance(request, dict):
            raise self._strange(f"{content[:300]!r}")
        return request or None

    def connect(self) -> bool:
        """Waits until somebody listens at the port."""
        while not self._met:
            try:
                self._connection.connect()
                self._met = True
            except ConnectionRefusedError:
                if self._client.is_gone:
                    return False
                if time.monotonic() > self._deadline:
                    raise self._client.too_late(self._place) from None
                time.sleep(KNOCK)
            except OSError as error:
                raise SimulatorError(
                    f"{self._place}: cannot be reached ({error}); check --host and --port"
                ) from None
        return True

    @property
    def is_lost(self) -> bool:
        """Whether the process that started this one has ended."""
        return self._client.is_gone

    def _strange(self, answer: str) -> SimulatorError:
        return SimulatorError(
            f"{self._place}: expected the server of an AI2-THOR client, got {answer}; check the "
            "port, and whether something else uses it"
        )

    def send_damaged(self, message: Message) -> None:
        """Posts the first half of a frame."""
        boundary = uuid.uuid4().hex
        body = _form(boundary, self._token, message)
        self._connection.putrequest("POST", "/train")
        self._connection.putheader("Content-Type", f'multipart/form-data; boundary="{boundary}"')
        self._connection.putheader("Content-Length", str(len(body)))
        self._connection.endheaders(body[: len(body) // 2])

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


class _GoneError(Exception):
    """The client does not live any more."""


def _has_reader(handle: int) -> bool:
    """Whether anybody still reads from the other end of a pipe."""
    poll = select.poll()
    poll.register(handle, 0)
    return not any(event & select.POLLERR for _, event in poll.poll(0))


@contextlib.contextmanager
def ending_with(transport: Transport) -> Iterator[None]:
    """Ends this process if the client ends while something takes long, such as loading a room."""
    ready = threading.Event()

    def watch() -> None:
        while not ready.wait(PULSE):
            if transport.is_lost:
                transport.close()
                os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ready.set()


def transport_from_environment(client: Client | None = None) -> tuple[Transport, bool]:
    """The transport that the client asks for, and whether the client is AI2-THOR 2.1.0."""
    get = os.environ.get
    kind = get("AI2THOR_SERVER_TYPE")
    if kind == "FIFO":
        server, reader = get("AI2THOR_FIFO_SERVER_PIPE_PATH"), get("AI2THOR_FIFO_CLIENT_PIPE_PATH")
        if server and reader:
            return Pipes(server, reader, client), False
    elif get("AI2THOR_PORT"):
        host, port = get("AI2THOR_HOST", "127.0.0.1"), int(get("AI2THOR_PORT", "0"))
        # Only 2.1.0 does not say what kind of server it is.
        return Http(host, port, get("AI2THOR_CLIENT_TOKEN", ""), client), kind is None
    raise SimulatorError(
        "no client to talk to: expected to be started by ai2thor "
        "(Controller(local_executable_path='clalfred-player')), or --pipes or --port"
    )


def remove_pipes(*paths: str) -> None:
    """Removes the pipes of a client that died, with the folder that it had made for them."""
    for path in map(Path, paths):
        path.unlink(missing_ok=True)
    folder = Path(paths[0]).parent
    if folder.is_dir() and not any(folder.iterdir()):
        shutil.rmtree(folder, ignore_errors=True)


def _framed(message: Message) -> list[Buffer]:
    kind = METADATA_PATCH if message.patch else METADATA
    parts: list[Buffer] = [HEADER.pack(kind, len(message.metadata)), message.metadata]
    for name, content in message.images:
        parts.append(HEADER.pack(FIELD_TYPES[name], len(content)))
        parts.append(content)
    parts.append(HEADER.pack(END, 0))
    return parts


def _form(boundary: str, token: str, message: Message) -> bytes:
    """A multipart form as Unity writes it; AI2-THOR's own reader is particular about headers."""
    start = f"\r\n--{boundary}\r\n".encode()
    parts: list[Buffer] = []
    for name, text in (("metadata", message.metadata), ("token", token.encode())):
        head = (
            'Content-Type: text/plain; charset="utf-8"\r\n'
            f'Content-disposition: form-data; name="{name}"\r\n\r\n'
        )
        parts += [start, head.encode(), text]
    for name, content in message.images:
        head = (
            "Content-Type: application/octet-stream\r\n"
            f'Content-disposition: form-data; name="{name}"; filename="{name}"\r\n\r\n'
        )
        parts += [start, head.encode(), content]
    parts.append(f"\r\n--{boundary}--\r\n".encode())
    return b"".join(parts)
