"""Chromium as a user has it, in real time, told what to do through a pipe (the DevTools protocol)."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from programs import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE_S = 120.0


class Page:
    """A page that is open in a browser."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.console: list[str] = []
        """What it said, errors included."""
        self.requests: list[str] = []
        """Addresses that it asked for."""
        self._time_is_up = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **given: Any) -> dict[str, Any]:
        """Ask the browser for something, and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": given}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _PATIENCE_S
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return dict(answer["result"])

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            self._buffer += os.read(self._read, 1 << 20)
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, about: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(each.get("value", each.get("description"))) for each in about["args"]))
        elif method == "Log.entryAdded":
            self.console.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Emulation.virtualTimeBudgetExpired":
            self._time_is_up = True

    def open(self, address: str) -> None:
        """Go to an address."""
        self.send("Page.navigate", url=address)

    def settled(self, address: str, *, within_s: float = 30.0) -> str:
        """Go to an address, and let so many seconds pass for its scripts, which takes hardly any time: what is there then."""
        self._time_is_up = False
        # Time stands while the page comes, so that none of it passes for the one before.
        self.send("Emulation.setVirtualTimePolicy", policy="pause")
        self.open(address)
        self.send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=1e3 * within_s)
        end = time.monotonic() + _PATIENCE_S
        while not self._time_is_up:
            self._receive(end)
        return str(self.run("document.documentElement.outerHTML"))

    def run(self, script: str) -> Any:
        """The value of an expression, or what it promises."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, condition: str) -> Any:
        """Wait until an expression is true; its value."""
        end = time.monotonic() + _PATIENCE_S
        while not (found := self.run(condition)):
            assert time.monotonic() < end, f"never came true: {condition}; {self.console}"
            time.sleep(0.05)
        return found

    def size(self, width: int, height: int, *, dark: bool = False, phone: bool | None = None) -> None:
        """The size of the window, whether it is dark, and whether of a phone; without saying so, a narrow one is."""
        mobile = width < 600 if phone is None else phone
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def screenshot(self, file: Path) -> None:
        """A picture of the whole page."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(found["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with one empty page."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    options = f"--headless --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir={profile}"
    line = f'exec "$0" {options} about:blank 3<&{to_read} 4>&{from_write}'
    process = subprocess.Popen(
        ["bash", "-c", line, str(CHROMIUM)], pass_fds=(to_read, from_write), stderr=subprocess.DEVNULL
    )
    os.close(to_read)
    os.close(from_write)
    try:
        yield Page(to_write, from_read)
    finally:
        process.terminate()
        process.wait(timeout=30)
        os.close(to_write)
        os.close(from_read)
