"""Drives a headless Chromium over its DevTools connection, as a person would."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: Codes of keys that are no letters.
_CODES = {"Enter": 13, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Backspace": 8}


class Tab:
    """One page; ``errors`` has what it wrote to the console or threw."""

    def __init__(self, address: str) -> None:
        from websockets.sync.client import connect

        self._socket: Any = connect(address, max_size=None, open_timeout=60, ping_interval=None)
        self._last = 0
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=120))
            self._note(message)
            if message.get("id") == self._last:
                assert "error" not in message, message
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        method, told = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(told["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.errors.append(str(told["args"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(str(told["entry"]))

    def value(self, expression: str) -> Any:
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def wait(self, expression: str, seconds: float = 60) -> Any:
        end = time.monotonic() + seconds
        while not (found := self.value(expression)):
            assert time.monotonic() < end, f"{expression} did not come true: {self.errors}"
            time.sleep(0.05)
        return found

    def answered(self, act: Callable[[], None], answers: int = 1) -> None:
        """Does something, and waits until the page shows the answers to it."""
        count = int(self.value("document.body?.dataset.answers") or 0)
        act()
        self.wait(f"+document.body?.dataset.answers >= {count + answers}")

    def press(self, key: str) -> None:
        code = _CODES.get(key) or ord(key.upper())
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_on(self, selector: str) -> None:
        box = self.value(
            f"(() => {{ const b = {selector}.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2] })()"
        )
        self.click(*box)

    def screenshot(self, path: Path, kind: str = "png", **more: Any) -> Path:
        told = self.call("Page.captureScreenshot", format=kind, **more)
        path.write_bytes(base64.b64decode(told["data"]))
        return path

    def close(self) -> None:
        self._socket.close()


@contextmanager
def browser(
    profile: Path, *, dark: bool = False, size: str = "1480,980"
) -> Iterator[Callable[[str], Tab]]:
    """A browser; gives a function that opens an address in a tab of its own."""
    assert CHROMIUM is not None
    command = [
        CHROMIUM,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--remote-debugging-port=0",
        f"--window-size={size}",
        f"--user-data-dir={profile}",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        "about:blank",
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    tabs: list[Tab] = []
    try:
        port = _port(profile / "DevToolsActivePort")

        def open_tab(address: str) -> Tab:
            request = Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
            with urlopen(request, timeout=60) as answer:
                tabs.append(Tab(json.load(answer)["webSocketDebuggerUrl"]))
            tabs[-1].call("Page.navigate", url=address)
            return tabs[-1]

        yield open_tab
    finally:
        for tab in tabs:
            tab.close()
        process.terminate()
        process.wait(30)


def _port(path: Path) -> int:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if path.exists() and "\n" in (text := path.read_text()):
            return int(text.split("\n")[0])
        time.sleep(0.1)
    raise TimeoutError(f"{path}: the browser did not start")
