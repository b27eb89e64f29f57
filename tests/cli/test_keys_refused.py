"""A setting that holds a key is refused, wherever it comes from, and the error says how to pass a key instead."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Provider

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

OURS = "plain-words-and-7h3n-some"
KEYS = ("sk-proj-7Qm2Xv9Lr4Tz8Wc1Bn6Ky3Hd5", "7Qm2Xv9Lr4Tz8Wc1Bn6Ky3Hd5Jf0", OURS)
TINY = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1")
OPENAI = ("--agent", "openai_chat", "-A", "model=m")
HTTP = ("--agent", "http", "-A", "url=http://127.0.0.1:9/chat")

ROUTES = {
    "a text": (*OPENAI, "-A", "system=You are kind. {}"),
    "the model": ("--agent", "openai_chat", "-A", "model={}"),
    "the variable": (*OPENAI, "-A", "key_variable={}"),
    "the core": ("--agent", "vector_memory", "-A", "core=openai_chat:{}"),
    "the agent": ("--agent", "openai_chat:{}"),
    "a query": (*OPENAI, "--base-url", "http://127.0.0.1:9/v1?api_key={}"),
    "a path": (*OPENAI, "--base-url", "http://127.0.0.1:9/v1/{}/chat"),
    "a query of http": ("--agent", "http", "-A", "url=http://127.0.0.1:9/chat?token={}"),
    "JSON": (*HTTP, "-A", 'extra={{"api_key": "{}"}}'),
    "JSON without a name": (*HTTP, "-A", 'extra={{"a": ["{}"]}}'),
    "a command": ("--agent", "command", "-A", "command=curl -H 'Authorization: Bearer {}' http://x"),
    "an option of a command": ("--agent", "command", "-A", "command=call --api-key {} x"),
    "a user": ("--agent", "http", "-A", "url=http://user:{}@127.0.0.1:9/chat"),
    "a user with a slash": ("--agent", "http", "-A", "url=http://user:{}/x@127.0.0.1:9/chat"),
    "a user without a scheme": ("--agent", "http", "-A", "url=user:{}@127.0.0.1:9"),
    "a user without a scheme, elsewhere": (*OPENAI, "--base-url", "user:{}@127.0.0.1:9"),
    "a header": (*HTTP, "-A", "headers=Authorization={}"),
    "a parameter": ("-P", "colours.extra={}"),
    "an unknown setting": (*OPENAI, "-A", "sytem={}"),
    "a name of one": (*OPENAI, "-A", "{}=1"),
    "a number": (*OPENAI, "-A", "window={}"),
    "a judge": ("--judge", "openai_chat:{}"),
    "a filler": ("--filler", "triviaqa:{}"),
    "a tag": ("--tag", "note={}"),
    "a tag's name": ("--tag", "{}=1"),
    "a name": ("--name", "{}"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", OURS)
    return tmp_path


@pytest.mark.parametrize("key", KEYS, ids=["known", "random", "ours"])
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_no_key_enters_a_run_through_its_settings(
    place: Path, command: "Command", route: tuple[str, ...], key: str
) -> None:
    done = command(*TINY, *(word.format(key) for word in route))
    assert done.exit_code == 1, done.output
    assert done.err.count("\n") == 1
    assert not any(key[at : at + 9] in done.output for at in range(len(key) - 8)), done.output
    files = [path for path in place.rglob("*") if path.is_file()]
    assert [path for path in files if key.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        ((*OPENAI, "-A", f"system={OURS}"), "OPENAI_API_KEY"),
        ((*OPENAI, "-A", "system=sk-ant-7Qm2Xv9Lr4Tz8Wc1"), "ANTHROPIC_API_KEY"),
        ((*OPENAI, "-A", "system=gsk_7Qm2Xv9Lr4Tz8Wc1Bn6Ky3Hd5"), "-A key_variable=GROQ_API_KEY"),
        ((*HTTP, "-A", f"extra={KEYS[1]}"), "-A headers='Authorization=MY_KEY'"),
        (("--agent", "command", "-A", "command=x --token hunter2hunter2"), "which the program inherits"),
    ],
)
def test_a_refusal_says_which_variable_to_use(
    place: Path, command: "Command", words: tuple[str, ...], instead: str
) -> None:
    assert instead in command(*TINY, *words).err


def test_a_reply_that_repeats_a_key_is_stored_without_it(
    place: Path, command: "Command", server: Provider
) -> None:
    server.answer = lambda messages: f"Your key is {OURS}, I see."
    done = command(*TINY, *OPENAI, "--base-url", server.openai_url, "--name", "r")
    assert done.exit_code == 0, done.err
    assert b"Your key is [removed], I see." in (place / "reports/r/events.jsonl").read_bytes()
    files = [path for path in place.rglob("*") if path.is_file()]
    assert [path for path in files if OURS.encode() in path.read_bytes()] == []
