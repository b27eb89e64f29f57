"""A person as the agent, on the local page: over HTTP, and with the keyboard in a real browser."""

import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.log.events import Replied
from ltm_bench.log.reader import read_events
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests import zygote
    from tests.browser import Browser
else:
    import zygote

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

PATIENCE = 60.0
"""Seconds after which a test gives up."""


def until(found: Callable[[], Any]) -> Any:
    """Wait for something, and return it."""
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return value


def message(text: str, turn: int = 0) -> Message:
    return Message(text, datetime(2026, 1, 5, 9, turn, tzinfo=UTC), turn)


def given(text: str, reply: str, turn: int = 0) -> Turn:
    return Turn(message(text, turn), Reply(reply), "fill", answered="script")


class Tab:
    """A tab of the page, without a browser."""

    def __init__(self, address: str) -> None:
        self.host, _, self.query = address.removeprefix("http://").partition("/")
        self.headers = {"Origin": f"http://{self.host}"}
        status, _, headers = self.send("GET", f"/{self.query}")
        assert status == 303
        self.headers["Cookie"] = headers["Set-Cookie"].partition(";")[0]

    def send(
        self, method: str, path: str, text: str | None = None, **headers: str | None
    ) -> tuple[int, str, Any]:
        """Make a request; a header that is None is not sent."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        sent = {name: value for name, value in {**self.headers, **headers}.items() if value is not None}
        connection.request(method, path, None if text is None else text.encode(), sent)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body, answer.headers

    def sheet(self) -> dict[str, Any] | None:
        """Return what the page shows when it is loaded."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        connection.request("GET", "/sheets", headers=self.headers)
        answer = connection.getresponse()
        while not (line := answer.readline()).startswith(b"data: "):
            assert line, "the stream ended"
        connection.close()
        shown: dict[str, Any] | None = json.loads(line[6:])
        return shown

    def showing(self, text: str) -> dict[str, Any]:
        """Wait for a message, perhaps on a page that is about to open, and return its sheet."""

        def found() -> dict[str, Any] | None:
            with suppress(ConnectionRefusedError):
                return now if (now := self.sheet()) and now["text"] == text else None
            return None

        sheet: dict[str, Any] = until(found)
        return sheet

    def answer(self, sheet: dict[str, Any], text: str, **headers: str | None) -> int:
        """Answer a sheet, and return the status."""
        return self.send("POST", f"/answers/{sheet['id']}", text, **headers)[0]


class Table:
    """Where conversations take place: an event loop beside the test."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._home, self._capsys = home, capsys
        self._agents, self._begun = list[Agent](), list[Future[Any]]()

    def agent(self, **settings: Any) -> Agent:
        agent = make_agent("human", {"port": 0, **settings})
        self._agents.append(agent)
        self.wait(self.do(agent.open(self._home)))
        return agent

    def do(self, call: Any) -> "Future[Any]":
        self._begun.append(asyncio.run_coroutine_threadsafe(call, self._loop))
        return self._begun[-1]

    def wait(self, done: "Future[Any]") -> Any:
        return done.result(PATIENCE)

    def address(self) -> str:
        """Return the address that is printed."""
        said = ""

        def found() -> re.Match[str] | None:
            nonlocal said
            said += self._capsys.readouterr().err
            return re.search(r"^Answer at (http://127\.0\.0\.1:\d+/\?token=\S+)\n", said, re.MULTILINE)

        match: re.Match[str] = until(found)
        return match[1]

    def end(self) -> None:
        for each in self._begun:
            each.cancel()  # what a test left open
        for agent in self._agents:
            self.wait(self.do(agent.close()))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture
def table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Table]:
    laid = Table(tmp_path, capsys)
    yield laid
    laid.end()


def test_a_message_stands_on_the_page_with_its_time_until_it_is_answered(table: Table) -> None:
    agent = table.agent(messages=12)
    reply = table.do(agent.reply(message("What is <b>new</b>\u202e?", 4)))
    tab = Tab(table.address())
    sheet = tab.showing("What is <b>new</b>⟨U+202E⟩?")
    assert sheet["at"] == "Monday 05 January 2026, 09:04"
    assert sheet["place"] == "Message 5 of about 12"
    assert tab.answer(sheet, "Nothing,\nas far as I know. ") == 200
    assert table.wait(reply) == Reply("Nothing,\nas far as I know.")
    assert tab.sheet() is None
    later = table.do(agent.reply(message("Bye!", 12)))
    sheet = tab.showing("Bye!")
    assert sheet["place"] == "Message 13"  # more than were expected
    tab.answer(sheet, "Bye")
    table.wait(later)


def test_every_part_of_the_page_needs_the_token(table: Table) -> None:
    table.do(table.agent().reply(message("Hello!")))
    tab = Tab(table.address())
    sheet = tab.showing("Hello!")
    for cookie in (None, "ltm-bench-token=guessed"):
        for method, path in (("GET", "/"), ("GET", "/sheets"), ("POST", f"/answers/{sheet['id']}")):
            assert tab.send(method, path, "x", Cookie=cookie)[0] == 401
    assert tab.showing("Hello!") == sheet
    assert tab.answer(sheet, "Hello.") == 200


def test_a_foreign_page_cannot_answer(table: Table) -> None:
    reply = table.do(table.agent().reply(message("Hello!")))
    tab = Tab(table.address())
    sheet = tab.showing("Hello!")
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null", None):
        assert tab.answer(sheet, "Evil", Origin=origin) == 403
    assert "access-control-allow-origin" not in tab.send("GET", "/")[2]
    assert tab.answer(sheet, "Hello.") == 200
    assert table.wait(reply).text == "Hello."


def test_an_answer_is_neither_empty_nor_too_long(table: Table) -> None:
    reply = table.do(table.agent(max_bytes=1000).reply(message("Hello!")))
    tab = Tab(table.address())
    sheet = tab.showing("Hello!")
    assert tab.answer(sheet, " \n ") == 422
    assert tab.answer(sheet, "x" * 1001) == 413
    assert tab.answer(sheet, "x" * 1000) == 200
    assert table.wait(reply).text == "x" * 1000


def test_a_page_that_is_opened_again_shows_what_waits_and_the_first_of_two_tabs_answers(table: Table) -> None:
    agent = table.agent()
    reply = table.do(agent.reply(message("One?")))
    address = table.address()
    first, second = Tab(address), Tab(address)
    sheet = first.showing("One?")
    assert second.showing("One?") == first.showing("One?") == sheet
    assert first.answer(sheet, "One.") == 200
    assert second.answer(sheet, "Two.") == 409
    assert table.wait(reply).text == "One."
    later = table.do(agent.reply(message("Three?", 1)))
    following = second.showing("Three?")
    assert second.answer(sheet, "Two.") == 409  # a tab that has not noticed
    assert second.answer(following, "Three.") == 200
    assert table.wait(later).text == "Three."


def test_filler_is_shown_with_its_answers_until_it_was_read(table: Table) -> None:
    observed = table.do(table.agent().observe(given("A quiz.", "Paris.")))
    tab = Tab(table.address())
    sheet = tab.showing("A quiz.")
    assert sheet["reply"] == "Paris."
    assert not observed.done()
    assert tab.answer(sheet, "") == 200
    table.wait(observed)


def test_a_resumed_run_shows_again_only_what_was_not_read(table: Table) -> None:
    agent = table.agent()
    first, second = given("Read.", "Yes.", 0), given("Left unread.", "Yes.", 1)
    observed = table.do(agent.observe(first))
    tab = Tab(table.address())
    tab.answer(tab.showing("Read."), "")
    table.wait(observed)
    table.wait(table.do(table.agent().restore([first])))
    table.wait(table.do(table.agent().restore([first, Turn(message("Said", 1), Reply("Yes."))])))
    restored = table.do(table.agent().restore([first, second]))
    tab.answer(tab.showing("Left unread."), "")
    table.wait(restored)
    table.wait(table.do(table.agent().restore([first, second])))


def test_conversations_share_the_page_and_the_last_one_closes_it(table: Table) -> None:
    one, other = table.agent(), table.agent()
    replies = [table.do(agent.reply(message("Hello!"))) for agent in (one, other)]
    tab = Tab(table.address())
    first = tab.showing("Hello!")
    tab.answer(first, "One.")
    second = until(lambda: (now := tab.sheet()) and now["id"] != first["id"] and now)  # one at a time
    assert sum(each.done() for each in replies) == 1
    tab.answer(second, "Two.")
    assert {table.wait(each).text for each in replies} == {"One.", "Two."}
    table.wait(table.do(one.close()))
    assert tab.sheet() is None
    table.wait(table.do(other.close()))
    with pytest.raises(ConnectionRefusedError):
        tab.sheet()
    again = table.do(table.agent(port=int(tab.host.partition(":")[2])).reply(message("Again!")))
    tab.answer(tab.showing("Again!"), "Yes.")  # the same page goes on
    assert table.wait(again).text == "Yes."


def test_a_page_takes_another_port_if_its_own_is_taken(table: Table) -> None:
    table.do(table.agent().reply(message("Hello!")))
    taken = Tab(table.address())
    other = Table(Path(), table._capsys)
    try:
        reply = other.do(other.agent(port=int(taken.host.partition(":")[2])).reply(message("Hello there!")))
        tab = Tab(other.address())
        assert tab.host != taken.host
        tab.answer(tab.showing("Hello there!"), "Hello.")
        assert other.wait(reply).text == "Hello."
    finally:
        other.end()
    taken.answer(taken.showing("Hello!"), "Hello.")


SCREEN = {"DISPLAY": ":0"}


@pytest.mark.parametrize(
    ("terminal", "environment", "opened"),
    [
        (True, SCREEN, 1),
        (True, {"WAYLAND_DISPLAY": "wayland-0"}, 1),
        (True, {}, 0),
        (True, SCREEN | {"CI": "true"}, 0),
        (True, SCREEN | {"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"}, 0),
        (False, SCREEN, 0),
    ],
)
def test_a_browser_opens_only_where_a_person_sits_before_a_screen(
    table: Table, monkeypatch: pytest.MonkeyPatch, terminal: bool, environment: dict[str, str], opened: int
) -> None:
    pages: list[str] = []
    monkeypatch.setattr("webbrowser.open", pages.append)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "CI", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    table.do(table.agent().reply(message("Hello!")))
    address = table.address()
    tab = Tab(address)
    tab.answer(tab.showing("Hello!"), "Hello.")
    until(lambda: len(pages) >= opened)  # it opens in a thread of its own
    assert pages == [address] * opened


def test_without_the_extra_the_error_names_it_and_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ConfigError, match=r"where=terminal.*\[view\]"):
        make_agent("human", {})
    make_agent("human", {"where": "terminal"})
    with pytest.raises(ConfigError, match="port=70000: write a number from 0 to 65535"):
        make_agent("human", {"where": "terminal", "port": 70000})


# In a browser

PLACE = "document.getElementById('place').textContent"
SHOWN = "document.getElementById('text').textContent"
NOTE = "document.getElementById('note').textContent"
FOCUS = "document.activeElement.id"


def press(browser: "Browser", key: str = "Enter", *, shift: bool = False, held: bool = False) -> None:
    """Press a key."""
    text = "\r" if key == "Enter" else ""
    code = {"Enter": 13, "PageDown": 34}[key]
    common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
    browser.call("Input.dispatchKeyEvent", type="keyDown", text=text, autoRepeat=held, **common)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **common)


def write(browser: "Browser", text: str) -> None:
    browser.call("Input.insertText", text=text)


def shows(browser: "Browser", expression: str) -> None:
    until(lambda: browser.ask(expression))


def test_the_page_is_used_with_the_keyboard_alone(table: Table, browser: "Browser") -> None:
    agent = table.agent()
    reply = table.do(agent.reply(message("How <i>are</i> you?")))
    browser.open(table.address(), scripts=True)
    shows(browser, f"{SHOWN} === 'How <i>are</i> you?'")
    assert browser.ask(FOCUS) == "answer"
    press(browser)
    shows(browser, f"{NOTE}.startsWith('Write an answer first')")
    write(browser, "Well.")
    press(browser, shift=True)
    write(browser, "And you?")
    press(browser)
    assert table.wait(reply).text == "Well.\nAnd you?"
    observed = table.do(agent.observe(given("word " * 2000, "Long.", 1)))
    shows(browser, f"{PLACE} === 'Message 2'")
    assert browser.ask(FOCUS) == "send"
    assert browser.ask("document.getElementById('reply').textContent") == "Long."
    assert browser.ask("document.getElementById('send').getBoundingClientRect().bottom <= innerHeight")
    press(browser, "PageDown")
    shows(browser, "scrollY > 0")
    press(browser, held=True)  # the Enter that sent the last answer
    assert not observed.done()
    press(browser)
    table.wait(observed)
    last = table.do(agent.reply(message("Bye!", 2)))
    shows(browser, f"{SHOWN} === 'Bye!' && scrollY === 0 && {FOCUS} === 'answer'")
    assert browser.ask("document.getElementById('answer').value") == ""
    write(browser, "Bye.")
    press(browser)
    assert table.wait(last).text == "Bye."
    shows(browser, f"{NOTE} === 'The next message is coming.'")


def test_a_page_survives_being_loaded_again_and_says_when_nobody_is_there(
    table: Table, browser: "Browser"
) -> None:
    agent = table.agent()
    reply = table.do(agent.reply(message("Hello!")))
    address = table.address()
    for _ in range(2):
        browser.open(address, scripts=True)
        shows(browser, f"{SHOWN} === 'Hello!' && {FOCUS} === 'answer'")
    assert "token" not in browser.ask("location.href")
    write(browser, "Hello.")
    press(browser)
    assert table.wait(reply).text == "Hello."
    table.wait(table.do(agent.close()))
    shows(browser, f"{NOTE}.startsWith('The conversation has ended, or it is paused.')")
    again = table.do(table.agent(port=int(address.split(":")[2].partition("/")[0])).reply(message("Again!")))
    shows(browser, f"{SHOWN} === 'Again!' && {NOTE} === ''")
    write(browser, "Yes.")
    press(browser)
    assert table.wait(again).text == "Yes."


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_loads_nothing_foreign_and_can_be_read_by_everybody(
    table: Table, browser: "Browser", width: int, dark: bool
) -> None:
    observed = table.do(table.agent(messages=9).observe(given("W" * 300, "W" * 300)))
    address = table.address()
    browser.open(address, width=width, dark=dark, scripts=True)
    shows(browser, f"{PLACE} === 'Message 1 of about 9'")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.problems == []
    origin = address.partition("?")[0]
    assert all(each.startswith((origin, "data:")) for each in browser.requests)
    pytest.importorskip("axe_core_python")
    browser.ask(files("axe_core_python").joinpath("axe.min.js").read_text("utf-8") + "; 0")
    found = browser.ask("axe.run(document).then(r => r.violations.map(v => v.id + ': ' + v.nodes[0].html))")
    assert found == []
    assert browser.ask("document.getElementById('message').ariaLive") == "polite"
    press(browser)
    table.wait(observed)


def start(place: Path, *words: str) -> tuple[subprocess.Popen[str], str]:
    """Start a command, and return it with the address that it prints."""
    running = zygote.Forked(
        [sys.executable, "-m", "ltm_bench", *words], cwd=place, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    for line in running.stderr:
        if line.startswith("Answer at "):
            return running, line.split()[-1]
    raise AssertionError("no address was printed")


@pytest.mark.slow
def test_a_run_is_answered_interrupted_and_resumed_on_the_page(tmp_path: Path, browser: "Browser") -> None:
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")
    running, address = start(tmp_path, *words, "--agent", "human", "-A", "port=0")
    browser.open(address, scripts=True)
    shows(browser, f"{PLACE} === 'Message 1'")
    write(browser, "I shall remember.")
    press(browser)
    shows(browser, f"{PLACE} === 'Message 2'")
    waiting = browser.ask(SHOWN)
    running.terminate()  # as Ctrl-C, which a shell's background jobs ignore
    _, said = running.communicate(timeout=5 * PATIENCE)
    assert running.returncode == 3
    assert "Traceback" not in said
    running, address = start(tmp_path, "resume", "r")
    browser.open(address, scripts=True)
    shows(browser, f"{SHOWN} !== ''")
    assert browser.ask(SHOWN) == waiting  # it was sent, but not read to its end
    place = ""
    while running.poll() is None:
        if browser.ask("!document.getElementById('form').hidden") and browser.ask(PLACE) != place:
            place = browser.ask(PLACE)
            if browser.ask(FOCUS) == "answer":
                write(browser, "I do not know.")
            press(browser)
        if browser.ask(NOTE).startswith("The conversation has ended"):
            break
    _, said = running.communicate(timeout=5 * PATIENCE)
    assert running.returncode == 0, said
    replies = [e.reply for e in read_events(tmp_path / "reports/r/events.jsonl") if isinstance(e, Replied)]
    assert replies[0] == "I shall remember."
    assert "I do not know." in replies
    assert os.path.exists(tmp_path / "reports/r/report.html")
