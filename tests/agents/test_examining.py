"""What `doctor` learns from a provider: does the model exist, until when, how large is its window?"""

import asyncio
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Finding
from ltm_bench.adapters.testing import Provider
from ltm_bench.cli.commands import doctor
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner import isolation

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with adapters and modules of the user's own."""
    (tmp_path / "agents").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


BOTH = pytest.mark.parametrize("adapter", ["openai_chat", "anthropic_chat"])


def examine(adapter: str, server: Provider, **settings: Any) -> list[Finding]:
    url = server.openai_url if adapter == "openai_chat" else server.url
    agent = make_agent(adapter, {"model": "some-model", "base_url": url, **settings})
    return list(asyncio.run(agent.examine()))


def test_openais_shutdown_date_is_reported(server: Provider, key: str) -> None:
    assert examine("openai_chat", server) == [
        Finding(True, "model some-model exists; no shutdown date is announced")
    ]
    server.details = {"shutdown_date": "2027-01-14"}
    assert (
        examine("openai_chat", server)[0].text
        == "model some-model exists, and will be shut down on 2027-01-14"
    )


def test_anthropics_retirement_and_window_are_reported(server: Provider, key: str) -> None:
    server.details = {"lifecycle": "deprecated", "retires_at": "2027-03-01T00:00:00Z"}
    assert examine("anthropic_chat", server, window=150_000) == [
        Finding(True, "model some-model exists: it is deprecated, retires on 2027-03-01"),
        Finding(True, "the provider's window is 200,000 tokens, window=150,000"),
    ]
    assert [f.ok for f in examine("anthropic_chat", server, window=300_000)] == [True, False]
    server.details = {"lifecycle": "retired"}
    assert not examine("anthropic_chat", server)[0].ok


@BOTH
@pytest.mark.parametrize("value", ["soon", 3, None, [], {"a": 1}, "\x00"])
def test_strange_details_are_a_finding_not_a_failure(
    server: Provider, key: str, adapter: str, value: object
) -> None:
    fields = ("shutdown_date", "lifecycle", "retires_at", "max_input_tokens", "id")
    server.details = dict.fromkeys(fields, value)
    found = examine(adapter, server)
    assert found[0].text.startswith("model some-model exists")


@BOTH
def test_an_answer_that_is_not_json_names_no_model(key: str, adapter: str) -> None:
    class Hotel(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html>Welcome</html>")

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Hotel) as hotel:
        threading.Thread(target=hotel.serve_forever, args=(0.01,), daemon=True).start()
        agent = make_agent(adapter, {"model": "m", "base_url": f"http://127.0.0.1:{hotel.server_port}/v1"})
        (found,) = asyncio.run(agent.examine())
        hotel.shutdown()
    assert not found.ok
    assert "the answer could not be read" in found.text


@BOTH
def test_a_model_that_does_not_exist_is_named(server: Provider, key: str, adapter: str) -> None:
    (found,) = examine(adapter, server, model="no-model")
    assert "no-model" in found.text
    assert not found.ok


def test_a_server_that_lists_its_models_suggests_the_nearest(server: Provider, key: str) -> None:
    server.models = ["llama-4", "some-model"]
    (found,) = examine("openai_chat", server, model="lama-4")
    assert found == Finding(
        False,
        "model lama-4: the server does not list it; did you mean 'llama-4'? (llama-4, some-model)",
    )


def test_a_server_that_lists_none_is_asked_for_one_reply(server: Provider, key: str) -> None:
    server.models = []
    server.answer = lambda _: "Yes."
    (found,) = examine("openai_chat", server, model="mine")
    assert found.ok
    assert "model mine answers: 'Yes.'" in found.text
    assert len(server.chats) == 1
    server.fail(status=400, message="no such model")
    (found,) = examine("openai_chat", server, model="mine")
    assert not found.ok
    assert "no such model" in found.text


@BOTH
def test_an_unreachable_server_is_a_finding_not_a_failure(server: Provider, key: str, adapter: str) -> None:
    agent = make_agent(adapter, {"model": "m", "base_url": "http://127.0.0.1:9/v1"})
    (found,) = asyncio.run(agent.examine())
    assert not found.ok
    assert "the connection failed" in found.text
    assert "after 1 retry" in found.text  # doctor is in a hurry, whatever the agent's own settings are


def test_doctor_says_all_of_it_and_never_the_key(server: Provider, key: str, command: "Command") -> None:
    done = command(
        "doctor", "--agent", "openai_chat", "-A", "model=some-model", "--base-url", server.openai_url
    )
    assert done.exit_code == 0, done.output
    assert "model some-model exists" in done.out
    assert key not in done.output


def test_doctor_mentions_no_run_where_there_is_none(key: str, command: "Command") -> None:
    done = command("doctor", "--agent", "openai_chat", "-A", "model=x", "--base-url", "http://127.0.0.1:9/v1")
    assert done.exit_code == 1
    assert "check the network" in " ".join(done.out.split())
    assert "resume" not in done.output


def test_doctor_names_a_missing_key(monkeypatch: pytest.MonkeyPatch, command: "Command") -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    done = command("doctor", "--agent", "gpt-4o")
    assert done.exit_code == 1
    assert "OPENAI_API_KEY is not set" in done.output


def test_doctor_is_content_with_the_offline_agent(command: "Command") -> None:
    done = command("doctor")
    assert done.exit_code == 0
    assert "free, it runs on this machine" in done.output


SHELF = '''"""Shelf: needs what `open` makes."""
from ltm_bench import Agent, Finding, Reply


class Shelf(Agent):
    free = True

    async def open(self, home):
        {fault}
        self.file = (home / "shelf.txt").open("w")

    async def reply(self, message):
        self.file.write(message.text)
        return Reply("Noted.")

    async def examine(self):
        return [Finding(not self.file.closed, "the shelf can be written")]

    async def close(self):
        self.file.close()
'''


def test_doctor_opens_an_agent_before_it_asks_and_closes_it_after(own: Path, command: "Command") -> None:
    (own / "agents" / "shelf.py").write_text(SHELF.format(fault="pass"), "utf-8")
    done = command("doctor", "--agent", "shelf")
    assert done.exit_code == 0, done.output
    assert "the shelf can be written" in done.out


def test_doctor_names_the_line_at_which_an_agent_cannot_be_opened(own: Path, command: "Command") -> None:
    (own / "agents" / "shelf.py").write_text(SHELF.format(fault="raise OSError('no shelf')"), "utf-8")
    done = command("doctor", "--agent", "shelf")
    assert done.exit_code == 1
    said = " ".join(done.out.split())
    assert f"FAIL OSError: no shelf ({own / 'agents' / 'shelf.py'}:9)" in said


BOT = """
said = []


def answer(message):
    said.append(message)
    return " ".join(said)


class Bot:
    def __init__(self):
        self.said = []

    def __call__(self, message):
        self.said.append(message)
        return " ".join(self.said)


def broken(message):
    return {}[message]
"""


OWN_NOTES = '''"""Own notes: each instance reads out its own."""
from ltm_bench import Agent, Reply


class OwnNotes(Agent):
    free = True

    def __init__(self):
        self.notes = []

    async def reply(self, message):
        self.notes.append(message.text)
        return Reply(" ".join(self.notes))
'''


def test_doctor_says_whether_a_second_conversation_knows_the_first(own: Path, command: "Command") -> None:
    (own / "apart_bot.py").write_text(BOT, "utf-8")
    done = command("doctor", "--agent", "python:apart_bot:answer")
    assert done.exit_code == 1
    assert "FAIL conversations are not apart: a second one was asked" in " ".join(done.out.split())
    done = command("doctor", "--agent", "python:apart_bot:Bot")
    assert done.exit_code == 0, done.output
    assert "ok conversations are apart" in " ".join(done.out.split())


QUOTES = '''
HEARD = []


def answer(message):
    """Repeat what shares the most words with a message, of all that anybody ever said."""
    wanted = set(message.lower().split())
    best = max(HEARD, key=lambda each: len(wanted & set(each.lower().split())), default="Noted.")
    HEARD.append(message)
    return best
'''


def test_doctor_hears_a_first_conversation_also_in_its_question(own: Path, command: "Command") -> None:
    (own / "quoting_bot.py").write_text(QUOTES, "utf-8")
    done = command("doctor", "--agent", "python:quoting_bot:answer")
    assert done.exit_code == 1
    assert "FAIL conversations are not apart: a second one was asked" in " ".join(done.out.split())


def test_check_says_whether_a_second_conversation_knows_the_first(own: Path, command: "Command") -> None:
    (own / "agents" / "shared.py").write_text('"""Shared."""' + BOT + "\n\nagent = answer\n", "utf-8")
    done = command("check", "agents/shared.py")
    assert done.exit_code == 1
    assert "conversations are not apart" in " ".join(done.out.split())
    (own / "agents" / "own_notes.py").write_text(OWN_NOTES, "utf-8")
    done = command("check", "agents/own_notes.py")
    assert "ok conversations are apart" in " ".join(done.out.split())


def test_doctor_says_that_a_conversation_did_not_keep_what_it_was_told(own: Path, command: "Command") -> None:
    (own / "deaf_bot.py").write_text("def answer(message):\n    return 'Noted.'\n", "utf-8")
    done = command("doctor", "--agent", "python:deaf_bot:answer")
    assert done.exit_code == 0, done.output
    assert "no a conversation that was told a code and then asked" in " ".join(done.out.split())
    assert "did not name it: 'Noted.'" in " ".join(done.out.split())


def test_doctor_names_the_line_of_an_exception_in_a_function(own: Path, command: "Command") -> None:
    (own / "failing_bot.py").write_text(BOT, "utf-8")
    done = command("doctor", "--agent", "python:failing_bot:broken")
    assert done.exit_code == 1
    assert f"{own / 'failing_bot.py'}:20)" in " ".join(done.out.split())


EVERY = """
import threading
from ltm_bench import Agent, Reply

released = threading.Event()

def good(message): return "Okay."
def none(message): return None
def number(message): return 3
def breaks(message): raise OSError("no power")
def later(message): return "Okay." if "locker" in message else {}["x"]
def leaves(message): raise SystemExit(0)

def hangs(message):
    released.wait()

async def waits(message):
    import asyncio
    await asyncio.Event().wait()

class Unmade:
    def __init__(self): raise KeyError("MY_KEY")
    def __call__(self, message): return "Okay."

class Free(Agent):
    free = True
    async def reply(self, message): return Reply("Okay.")

class Text(Free):
    async def reply(self, message): return "Okay."

class Nothing(Free):
    async def reply(self, message): return Reply(None)

class Stuck(Free):
    async def open(self, home): await waits("")
"""


@pytest.mark.parametrize("name", ["good", "Free"])
def test_doctor_passes_what_a_run_passes(own: Path, command: "Command", name: str) -> None:
    (own / "every_bot.py").write_text(EVERY, "utf-8")
    assert command("doctor", "--agent", f"python:every_bot:{name}").exit_code == 0
    assert command(*TINY, "--agent", f"python:every_bot:{name}").exit_code == 0


TINY = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.mark.parametrize(
    "name", ["none", "number", "breaks", "leaves", "hangs", "waits", "Unmade", "Text", "Nothing", "Stuck"]
)
def test_doctor_fails_on_what_a_run_fails_on_and_does_not_hang(
    own: Path, command: "Command", name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own / "every_bot.py").write_text(EVERY, "utf-8")
    monkeypatch.setattr(isolation, "PATIENCE", 0.1 if name in ("hangs", "waits", "Stuck") else 60.0)
    done = command("doctor", "--agent", f"python:every_bot:{name}")
    assert done.exit_code == 1, done.output
    assert "FAIL " in done.out
    limit = ("--run-timeout", "0.5") if name in ("hangs", "waits", "Stuck") else ()
    assert command(*TINY, "--agent", f"python:every_bot:{name}", *limit).exit_code == 3
    sys.modules.pop("every_bot").released.set()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('Welcome!', flush=True); input()", "that is not JSON"),
        ("print('{}', flush=True); input()", "answered without a reply"),
        ("", "ended with code 0"),
    ],
)
def test_doctor_fails_on_a_program_that_does_not_speak_as_a_run_expects(
    own: Path, command: "Command", program: str, said: str
) -> None:
    (own / "bot.py").write_text(program, "utf-8")
    done = command("doctor", "--agent", "command", "-A", f"command={sys.executable} bot.py")
    assert done.exit_code == 1
    assert said in " ".join(done.out.split())


def test_the_size_that_doctor_names_is_that_of_a_run_with_a_store(own: Path, command: "Command") -> None:
    asked = ("--span", "4k", "--agent", "vector_memory")
    assert command("run", *asked, "--name", "r").exit_code == 0
    taken = sum(each.stat().st_size for each in (own / "reports" / "r").rglob("*") if each.is_file())
    assert taken / 2 <= doctor.bytes_of(4000) <= taken * 2
