"""Functions, endpoints, programs, people and earlier runs as agents."""

import asyncio
import inspect
import io
import itertools
import json
import os
import pty
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import httpx2
import pytest

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Message, Reply
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

SHORT = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def results(place: Path, name: str = "r") -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "reports" / name / "results.json").read_text("utf-8"))
    return content


NOTES = """
class Notes:
    def __init__(self):
        self.heard = []

    def observe(self, message, reply):
        self.heard.append(message)

    async def __call__(self, message):
        told = [m for m in self.heard if "avourite" in m]
        self.heard.append(message)
        return f"You said: {told[-1]}" if told and "colour" in message else "Okay."


def shout(message: str) -> str:
    return message.upper()


number = 3


def broken(message):
    return None


def counting(message):
    from ltm_bench import Reply, Usage

    return Reply("Okay.", Usage(uncached=1000, output=10, model="gpt-4o", provider="openai"))
"""


def test_a_function_or_a_class_in_a_module_is_an_agent(place: Path, command: "Command") -> None:
    (place / "my_notes.py").write_text(NOTES, "utf-8")
    done = command(*SHORT, "--agent", "python:my_notes:Notes")
    assert done.exit_code == 0, done.output
    assert results(place)["score"] == 1.0
    assert command(*SHORT, "--agent", "python:my_notes:shout", "--fresh").exit_code == 0


def test_a_function_can_say_which_tokens_it_used(place: Path, command: "Command") -> None:
    (place / "my_notes.py").write_text(NOTES, "utf-8")
    done = command(*SHORT, "--agent", "python:my_notes:counting")
    assert done.exit_code == 0, done.output
    costs = results(place)["costs"]
    assert costs["usage"]["uncached"] == 1000 * costs["calls"] > 0
    assert costs["dollars"] > 0


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("my_notes", "write it as python:package.module:name"),
        ("my_nots:Notes", "my_nots cannot be imported"),
        ("my_notes:Note", "it has no 'Note'"),
        ("my_notes:number", "int cannot be called"),
    ],
)
def test_an_invalid_target_is_named(place: Path, command: "Command", target: str, complaint: str) -> None:
    (place / "my_notes.py").write_text(NOTES, "utf-8")
    done = command(*SHORT, "--agent", f"python:{target}")
    assert done.exit_code == 1
    assert complaint in done.err
    assert not (place / "reports").exists()


def test_a_function_that_returns_no_string_has_not_given_a_wrong_answer(
    place: Path, command: "Command"
) -> None:
    (place / "my_notes.py").write_text(NOTES, "utf-8")
    done = command(*SHORT, "--agent", "python:my_notes:broken")
    assert done.exit_code == 3
    assert "my_notes:broken returned NoneType, not a string or a Reply" in done.err


class Endpoint(BaseHTTPRequestHandler):
    requests: ClassVar[list[tuple[dict[str, Any], str]]] = []
    cookies: ClassVar[set[str | None]] = set()
    together: ClassVar[threading.Barrier] = threading.Barrier(1)
    failures: ClassVar[list[int]] = []
    answer: ClassVar[Any] = {"choices": [{"text": "Okay."}]}

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.failures:
            self.send_response(self.failures.pop())
            self.send_header("Retry-After", "0")
            self.send_header("Location", "http://somebody:secret@elsewhere.example/chat")
            self.end_headers()
            return
        self.requests.append((body, self.headers.get("Authorization", "")))
        self.cookies.add(self.headers.get("Cookie"))
        with suppress(threading.BrokenBarrierError):
            self.together.wait(30)
        self.send_response(200)
        self.send_header("Set-Cookie", "session=1")
        self.end_headers()
        self.wfile.write(self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode())

    def log_message(self, *_: Any) -> None:
        pass


class Endpoints(ThreadingHTTPServer):
    request_queue_size = 40
    """With fewer, some of those who connect at the same time try again after a second."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.requests, Endpoint.failures, Endpoint.cookies = [], [], set()
    Endpoint.together = threading.Barrier(1)
    Endpoint.answer = {"choices": [{"text": "Okay."}]}
    server = Endpoints(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/chat"
    server.shutdown()
    server.server_close()


def at(url: str, *more: str) -> tuple[str, ...]:
    settings = (
        f"url={url}",
        "request=input.text",
        "reply=choices.0.text",
        "session=user",
        "time=input.at",
        "search_by=input.query",
        *more,
    )
    return (*SHORT, "--agent", "http", *(word for each in settings for word in ("-A", each)))


def test_an_endpoint_is_an_agent_with_paths_a_session_and_headers_from_the_environment(
    place: Path, command: "Command", endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "Bearer sk-never-shown")
    Endpoint.failures = [503, 429]
    done = command(*at(endpoint, "headers=Authorization=MY_TOKEN", 'extra={"stream": false}'))
    assert done.exit_code == 0, done.output
    bodies = [body for body, _ in Endpoint.requests]
    assert len({body["user"] for body in bodies}) == 1
    assert all(body["stream"] is False and body["input"]["at"].startswith("2026") for body in bodies)
    assert all(body["input"]["query"] == body["input"]["text"] for body in bodies)
    assert {token for _, token in Endpoint.requests} == {"Bearer sk-never-shown"}
    assert Endpoint.cookies == {None}  # none would be there after a crash
    written = [p.read_bytes() for p in (place / "reports").rglob("*") if p.is_file()]
    assert not any(b"sk-never-shown" in content for content in written)


@pytest.mark.parametrize(
    ("answer", "failures", "complaint"),
    [
        ({"choices": []}, [], "without text at reply='choices.0.text'"),
        (b"<html>", [], "not JSON"),
        ({}, [401], "refused the request: HTTP 401"),
        ({}, [500] * 3, "failed 3 times, last with HTTP 500"),
        ({}, [308], "has moved (HTTP 308): set url to 'http://elsewhere.example/chat'"),
    ],
)
def test_an_endpoint_that_fails_has_not_given_a_wrong_answer(
    place: Path, command: "Command", endpoint: str, answer: Any, failures: list[int], complaint: str
) -> None:
    Endpoint.answer, Endpoint.failures = answer, list(failures)
    done = command(*at(endpoint, "max_retries=2"))
    assert done.exit_code == 3
    assert complaint in " ".join(done.err.split())
    assert set(results(place)["outcomes"]) == {"not_reached"}


@pytest.mark.parametrize(
    ("headers", "complaint"),
    [
        ("MY_TOKEN", "write Name=VARIABLE"),
        ("My Token=MY_TOKEN", "write Name=VARIABLE"),
        ("Authorization=MY_TOKN", "the variable MY_TOKN is not set"),
        ("Authorization=MY_TOKEN", "MY_TOKEN holds characters that no header can"),
    ],
)
def test_a_header_that_cannot_be_sent_is_named_and_its_value_is_not_shown(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch, headers: str, complaint: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", "sk-one\nsk-two")
    done = command(*at("http://127.0.0.1:9/chat", f"headers={headers}"))
    assert done.exit_code == 1
    assert complaint in done.output
    assert "sk-" not in done.output
    assert not (place / "reports").exists()


def message(text: str) -> Message:
    return Message(text, datetime(2026, 1, 5, 9, tzinfo=UTC), 0)


async def opened(url: str, home: Path) -> Agent:
    agent = make_agent("http", {"url": url, "reply": "choices.0.text"})
    home.mkdir()
    await agent.open(home)
    return agent


def answers(
    tmp_path: Path, raw: bytes, *, turns: int = 1, wait: float = 0, **settings: Any
) -> tuple[list[str], list[bytes]]:
    """Talk to a server that sends exactly these bytes and keeps connections open; return the replies and requests."""
    requests: list[bytes] = []
    connections: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                requests.append(head + await reader.readexactly(length))
                await asyncio.sleep(wait)
                token = head.partition(b"uthorization: ")[2].split(b"\r\n")[0]
                writer.write(raw.replace(b"TOKEN", token))
                await writer.drain()

    async def talk() -> list[str]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/chat"
            agent = make_agent("http", {"url": url, **settings})
            await agent.open(tmp_path)
            try:
                return [(await agent.reply(message(f"Message {n}."))).text for n in range(turns)]
            finally:
                await agent.close()
                for each in connections:
                    each.close()
                await asyncio.gather(*(each.wait_closed() for each in connections), return_exceptions=True)

    return asyncio.run(talk()), requests


def answer(body: bytes, *fields: bytes) -> bytes:
    head = [b"HTTP/1.1 200 OK", b"Content-Length: %d" % len(body), *fields]
    return b"\r\n".join(head) + b"\r\n\r\n" + body


def test_an_endpoint_that_says_too_much_hears_every_message_once(tmp_path: Path) -> None:
    """On a connection that stayed open, an extra byte would begin the next answer."""
    replies, requests = answers(tmp_path, answer(b'{"reply": "Okay."}') + b"\n", turns=5)
    assert replies == ["Okay."] * 5
    assert len(requests) == 5


def test_an_endpoint_may_take_longer_than_http_clients_wait_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inspect.signature(httpx2.AsyncClient).parameters["timeout"].default == httpx2.Timeout(5)
    defaults: Any = httpx2.AsyncClient.__init__.__kwdefaults__
    monkeypatch.setitem(defaults, "timeout", httpx2.Timeout(0.1))
    assert answers(tmp_path, answer(b'{"reply": "Okay."}'), wait=0.5)[0] == ["Okay."]


def test_an_answer_that_is_incomplete_at_the_timeout_does_not_count(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"failed with no answer within timeout=0\.2 seconds"):
        answers(tmp_path, answer(b"{}"), wait=3, timeout=0.2, max_retries=0)


def test_a_malformed_answer_is_not_requested_again(tmp_path: Path) -> None:
    asked: list[bytes] = []
    with pytest.raises(AgentError, match="sent an answer that cannot be read: DecodingError"):
        asked = answers(tmp_path, answer(b'{"reply": "Okay."}', b"Content-Encoding: gzip"), max_retries=9)[1]
    assert asked == []
    plain = answers(tmp_path, answer(b'{"reply": "Okay."}'))[1][0].lower()
    assert b"accept-encoding: identity" in plain
    assert b"content-type: application/json" in plain


def test_a_users_headers_override_ours_and_never_appear_in_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIND", "application/vnd.api+json")
    monkeypatch.setenv("MY_TOKEN", "Bearer sk-never-shown ")
    headers = "Content-Type=KIND, Authorization=MY_TOKEN"
    [request] = answers(tmp_path, answer(b'{"reply": "Okay."}'), headers=headers)[1]
    assert b"application/vnd.api+json" in request
    assert b"application/json" not in request
    assert b"Bearer sk-never-shown\r\n" in request
    with pytest.raises(AgentError, match="illegal header line") as caught:
        answers(tmp_path, b"HTTP/1.1 200 OK\r\nyou sent TOKEN\r\n\r\n", headers=headers, max_retries=0)
    assert "sk-never-shown" not in str(caught.value)


def test_an_invalid_proxy_is_named_without_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://me:sk-never-shown@proxy:port")
    with pytest.raises(ConfigError, match="the environment names proxies") as caught:
        answers(tmp_path, answer(b"{}"))
    assert "sk-never" not in str(caught.value)


def test_an_invalid_port_is_named() -> None:
    with pytest.raises(ConfigError, match=r"url='http://127.0.0.1:99999/chat' is not a URL"):
        make_agent("http", {"url": "http://127.0.0.1:99999/chat"})


@pytest.mark.parametrize("url", ["http://me:sk/never@shown/chat", "//me:sk-never@/", "ftp://shown/"])
def test_an_invalid_url_is_named_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a URL|not shown here") as caught:
        make_agent("http", {"url": url})
    assert "sk" not in str(caught.value)
    assert "ftp" in str(caught.value) or "ftp" not in url


def test_all_conversations_can_wait_for_an_endpoint_at_once(tmp_path: Path, endpoint: str) -> None:
    conversations = 40
    Endpoint.together = threading.Barrier(conversations)  # no request is answered before all have arrived

    async def talk() -> list[Reply]:
        agents = [await opened(endpoint, tmp_path / str(n)) for n in range(conversations)]
        replies = await asyncio.gather(*(agent.reply(message("Hello!")) for agent in agents))
        await asyncio.gather(*(agent.close() for agent in agents))
        return replies

    assert [reply.text for reply in asyncio.run(talk())] == ["Okay."] * conversations
    assert not Endpoint.together.broken


def test_an_interrupted_run_does_not_wait_for_an_endpoint_that_hangs(tmp_path: Path, endpoint: str) -> None:
    Endpoint.together = threading.Barrier(2)  # the second never arrives

    async def talk() -> None:
        agent = await opened(endpoint, tmp_path / "home")
        asked = asyncio.ensure_future(agent.reply(message("Hello!")))
        while not Endpoint.together.n_waiting and not asked.done():
            await asyncio.sleep(0.01)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await agent.close()

    asyncio.run(talk())
    still_hangs = Endpoint.together.n_waiting == 1
    Endpoint.together.abort()
    assert still_hangs


def test_an_endpoint_that_finds_the_conversation_too_long_is_an_overflow(
    place: Path, command: "Command", endpoint: str
) -> None:
    Endpoint.failures = [413] * 50
    assert command(*at(endpoint)).exit_code == 0
    assert set(results(place)["outcomes"]) == {"overflow"}


def test_an_endpoint_is_always_asked_under_the_session_the_run_began_with(
    place: Path, command: "Command", endpoint: str
) -> None:
    Endpoint.failures = [401]
    assert command(*at(endpoint)).exit_code == 3
    session = place / "reports" / "r" / "agent" / "session"
    known = session.read_text("utf-8")
    Endpoint.failures = []
    log = place / "reports" / "r" / "events.jsonl"
    assert command("resume", "r").exit_code == 0
    assert {body["user"] for body, _ in Endpoint.requests} == {known}
    log.write_bytes(b"\n".join(log.read_bytes().split(b"\n")[:12]) + b"\n")
    session.unlink()
    asked = len(Endpoint.requests)
    for _ in range(2):
        done = command("resume", "r")
        assert done.exit_code == 3, done.output
        assert "is gone: it would answer as if nothing had been said" in done.output
    assert len(Endpoint.requests) == asked
    session.write_text(known, "utf-8")
    assert command("resume", "r").exit_code == 0


@pytest.mark.unkept
def test_an_endpoint_answers_forks_at_a_separate_route(
    place: Path, command: "Command", endpoint: str
) -> None:
    settings = (
        "observe=/chat",
        'observe_extra={"kind": "heard"}',
        "fork=/chat",
        'fork_extra={"kind": "fork"}',
    )
    done = command(*at(endpoint, *settings), "--questions", "forked")
    assert done.exit_code == 0, done.output
    lines = (place / "reports" / "r" / "events.jsonl").read_text("utf-8").splitlines()
    said = [json.loads(line) for line in lines]
    forked = [each["message"] for each in said if each["event"] == "forked"]
    bodies = [body for body, _ in Endpoint.requests]
    assert [body["input"]["text"] for body in bodies if body.get("kind") == "fork"] == forked
    asked = [body["input"]["text"] for body in bodies if "kind" not in body]
    assert asked
    assert not set(asked) & set(forked)
    for at_work in itertools.pairwise(bodies):
        assert at_work[0]["user"] == at_work[1]["user"]


PROGRAM = """
import json, os, sys
heard = []
for line in sys.stdin:
    event = json.loads(line)
    if "observe" in event:
        heard.append(event["observe"]["message"])
        print("{}", flush=True)
        continue
    if "fork" in event:
        told = [m for m in heard if "avourite" in m and "?" not in m]
        print(json.dumps({"reply": "You said: " + told[-1]}), flush=True)
        continue
    heard.append(event["message"])
    if os.path.exists("die") and len(heard) > 4:
        os.remove("die")
        sys.stderr.write("out of memory\\n")
        sys.exit(7)
    told = [m for m in heard if "avourite" in m and "?" not in m]
    print(json.dumps({"reply": "You said: " + told[-1] if "?" in event["message"] else "Okay."}), flush=True)
"""


def program(place: Path, *more: str) -> tuple[str, ...]:
    (place / "program.py").write_text(PROGRAM, "utf-8")
    settings = (f"command={sys.executable} program.py", "observe=true", *more)
    return (*SHORT, "--agent", "command", *(word for each in settings for word in ("-A", each)))


def test_a_program_in_any_language_is_an_agent(place: Path, command: "Command") -> None:
    done = command(*program(place))
    assert done.exit_code == 0, done.output
    assert results(place)["score"] == 1.0


def test_a_program_answers_questions_beside_the_conversation(place: Path, command: "Command") -> None:
    done = command(*program(place, "fork=true"), "--quick")
    assert done.exit_code == 0, done.output
    assert results(place)["score"] == 1.0
    assert command(*program(place), "--quick", "--fresh").exit_code == 1  # which does not understand forks


def test_a_program_started_by_a_shell_ends_with_it(place: Path) -> None:
    """It would hold the shell's pipes open, and the run would wait for it."""
    words = f"sh -c 'sleep 300 & exec {sys.executable} -c \"import time; time.sleep(300)\"'"

    async def talk() -> None:
        agent = make_agent("command", {"command": words, "timeout": 0.5})
        await agent.open(place)
        with pytest.raises(AgentError, match="did not answer"):
            await agent.reply(message("Hello!"))
        await agent.close()

    begun = time.monotonic()
    asyncio.run(talk())
    assert time.monotonic() - begun < 60


def test_a_program_that_dies_says_why_and_the_run_resumes(place: Path, command: "Command") -> None:
    (place / "die").touch()
    done = command(*program(place))
    assert done.exit_code == 3
    assert "ended with code 7, saying: out of memory" in " ".join(done.err.split())
    assert command("resume", "r").exit_code == 0
    assert results(place)["score"] == 1.0


def test_a_program_that_dies_is_restarted_where_that_is_set(place: Path, command: "Command") -> None:
    (place / "die").touch()
    assert command(*program(place, "restarts=1")).exit_code == 0
    assert results(place)["score"] == 1.0
    assert not (place / "die").exists()


@pytest.mark.parametrize(
    ("words", "timeout", "complaint"),
    [
        ("no-such-program", 60, "no-such-program cannot be started: No such file"),
        (f'{sys.executable} -c "print(1, flush=True); input()"', 60, "is not a JSON object"),
        (f'{sys.executable} -c "print(chr(123), flush=True); input()"', 60, "is not JSON"),
        (f'{sys.executable} -c "import time; time.sleep(99)"', 0.3, "did not answer within 0.3 s"),
        (
            f"{sys.executable} -c \"input(); print('{{}}', flush=True); input()\"",
            60,
            "answered without a reply",
        ),
    ],
)
def test_a_program_that_breaks_the_protocol_is_named(
    place: Path, command: "Command", words: str, timeout: float, complaint: str
) -> None:
    settings = ("-A", f"command={words}", "-A", f"timeout={timeout}")
    done = command(*SHORT, "--agent", "command", *settings, "--filler", "live")
    assert done.exit_code == 3, done.output
    assert complaint in " ".join(done.err.split())


HUMAN = ("--agent", "human", "-A", "where=terminal")


def test_a_person_can_be_the_agent(place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Hello\n" * 3))
    done = command(*SHORT, *HUMAN)
    assert done.exit_code == 3
    assert "nobody is there any more" in " ".join(done.err.split())
    assert "favourite" in done.out
    monkeypatch.setattr("sys.stdin", io.StringIO("I do not know.\n" * 30))
    assert command("resume", "r").exit_code == 0
    assert results(place)["complete"]


def test_an_earlier_run_can_be_played_back(place: Path, command: "Command") -> None:
    assert command(*SHORT, "--agent", "perfect").exit_code == 0
    again = (*SHORT[:-1], "again", "--agent", "transcript", "-A", "run=reports/r")
    assert command(*again).exit_code == 0
    assert results(place, "again")["score"] == 1.0
    other = command(*SHORT[:-1], "other", "--seed", "5", "--agent", "transcript", "-A", "run=reports/r")
    assert other.exit_code == 3
    assert "reports/r was a different conversation" in " ".join(other.err.split())
    assert "it has no events.jsonl" in command(*again[:-1], "run=reports/gone", "--fresh").err


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A terminal as standard input; return the end at which keys are typed."""
    ours, theirs = pty.openpty()
    with open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        yield ours
    os.close(ours)


def typed(agents: int) -> list[str]:
    """Return the replies of this many people at once, all typed by one person."""

    async def talk() -> list[Reply]:
        conversations = [make_agent("human", {"where": "terminal"}) for _ in range(agents)]
        return await asyncio.gather(*(each.reply(message("Hello!")) for each in conversations))

    return [reply.text for reply in asyncio.run(asyncio.wait_for(talk(), 20))]


@pytest.mark.unkept
def test_a_person_answers_one_message_at_a_time_and_may_type_ahead(
    keyboard: int, capsys: pytest.CaptureFixture[str]
) -> None:
    os.write(keyboard, "one\nzwei ü\nthr".encode())
    threading.Timer(0.5, os.write, (keyboard, b"ee\nfour\n")).start()
    assert typed(3) == ["one", "zwei ü", "three"]
    assert capsys.readouterr().out.count("Hello!") == 3
    assert typed(1) == ["four"]


@pytest.mark.unkept
def test_ctrl_d_ends_a_line_and_on_an_empty_one_the_input(keyboard: int) -> None:
    os.write(keyboard, b"abc\x04\x04")
    assert typed(1) == ["abc"]
    os.write(keyboard, b"\x04")
    with pytest.raises(AgentError, match="nobody is there any more"):
        typed(1)


@pytest.mark.unkept
def test_a_person_can_be_asked_example_by_example(keyboard: int, place: Path, command: "Command") -> None:
    os.write(keyboard, b"I do not know.\n" * 150)
    done = command("run", "--span", "2k", "--suite", "smoke", "--name", "r", "--isolated", *HUMAN)
    assert done.exit_code == 0, done.output
