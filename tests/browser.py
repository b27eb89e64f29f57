"""A real browser for tests and measurements of pages: headless Chromium, where it is installed."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any


def find_browser() -> str | None:
    """Return the path of Chromium, or None if it is missing or this is Windows, where no pipe can drive it."""
    if sys.platform == "win32":
        return None
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


class LeftError(Exception):
    """The page was left while it was asked."""


class Browser:
    """Headless Chromium, driven through its debugging pipe."""

    def __init__(self, program: str, profile: Path) -> None:
        import fcntl  # not on Windows

        here, there = os.pipe(), os.pipe()
        # The browser reads from 3 and writes to 4. Ours move out of the way first, since they may have these numbers.
        theirs = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (here[0], there[1])]
        words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"]
        self._process = os.posix_spawn(
            program,
            [*words, f"--user-data-dir={profile}", "about:blank"],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs[0], 3),
                (os.POSIX_SPAWN_DUP2, theirs[1], 4),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
        for fd in (here[0], there[1], *theirs):
            os.close(fd)
        self._write, self._read = here[1], there[0]
        self._received = b""
        self._calls = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            chunk = os.read(self._read, 1 << 16)
            assert chunk, "the browser has exited"
            self._received += chunk
        message, _, self._received = self._received.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        return event

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._calls += 1
        request = {"id": self._calls, "method": method, "params": parameters}
        if self._session:
            request["sessionId"] = self._session
        left = json.dumps(request).encode() + b"\0"
        while left:
            left = left[os.write(self._write, left) :]
        while (answer := self._next()).get("id") != self._calls:
            self.events.append(answer)
        if answer.get("error", {}).get("message") == "Inspected target navigated or closed":
            raise LeftError(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def holds(self, expression: str) -> bool:
        """Whether an expression is true in the page; false while the page is being left for the next."""
        try:
            return bool(self.ask(expression))
        except LeftError:
            return False

    def open(
        self, url: str, *, width: int = 1280, dark: bool = False, media: str = "", scripts: bool = False
    ) -> None:
        """Load a page; `problems` and `requests` cover it from now on."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        for address in ("about:blank", url):  # a change of the fragment alone would load nothing
            self.events.clear()
            self.call("Page.navigate", url=address)
            while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
                self.events.append(self._next())

    def ask(self, expression: str) -> Any:
        """Evaluate an expression in the page, and await it if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def tab(self) -> None:
        """Press the tabulator key."""
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)

    @property
    def problems(self) -> list[str]:
        """Return what the console shows."""
        methods = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [str(event) for event in self.events if event.get("method") in methods]

    @property
    def requests(self) -> list[str]:
        """Return the addresses that the page requested."""
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self) -> None:
        self._session = ""
        self.call("Browser.close")
        os.close(self._write)
        while os.read(self._read, 1 << 16):
            pass
        os.close(self._read)
        os.waitpid(self._process, 0)
