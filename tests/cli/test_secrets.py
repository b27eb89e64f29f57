"""Keys appear nowhere: not in a file, not in the output, and not in the arguments of a process."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters import ChatModel
from ltm_bench.adapters.testing import Provider
from ltm_bench.plugins.agents import make_agent

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

PLANTED = {
    "OPENAI_API_KEY": "planted-openai-8f3a1c77",
    "ANTHROPIC_API_KEY": "planted-anthropic-5be09d21",
    "HEADER_VALUE": "planted-header-c41d7e90",
    "URL_PASSWORD": "planted-password-77ab3f02",
}
TINY = ("--span", "2k", "--scenario", "colours", "--examples", "1")

WATCHER = """import json, os, sys
from pathlib import Path
line = Path(f"/proc/{os.getpid()}/cmdline")
parent = Path(f"/proc/{os.getppid()}/cmdline")
for each in (line, parent):
    if each.exists():
        with open(sys.argv[1], "ab") as file:
            file.write(each.read_bytes())
for message in sys.stdin:
    print(json.dumps({"reply": "I do not know."} if "message" in json.loads(message) else {}), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def echoing(value: Any, key: str, name: str = "") -> Any:
    """Return an answer with a key in all its texts, except those that say how to read it."""
    if isinstance(value, dict):
        return {each: echoing(value[each], key, each) for each in value}
    if isinstance(value, list):
        return [echoing(each, key) for each in value]
    readable = name in ("type", "object", "role", "status", "finish_reason", "stop_reason")
    return f"{value} {key}" if isinstance(value, str) and not readable else value


@pytest.mark.parametrize("adapter", ["openai_chat", "openai_responses", "anthropic_chat"])
def test_a_key_that_a_server_echoes_anywhere_in_its_answer_is_logged_nowhere(
    command: "Command", place: Path, server: Provider, adapter: str
) -> None:
    key = PLANTED["ANTHROPIC_API_KEY" if adapter == "anthropic_chat" else "OPENAI_API_KEY"]
    url = server.url if adapter == "anthropic_chat" else server.openai_url
    server.edit = lambda body: echoing(body, key)
    server.fail(status=429, message=key, code=key, retry_after=f"{'0' * 30}{key}")
    done = command("run", *TINY, "--agent", adapter, "-A", "model=m", "--base-url", url, "--name", "r")
    assert done.exit_code == 0, done.err
    assert "[removed]" in (place / "reports/r/events.jsonl").read_text("utf-8")
    for form in ("csv", "jsonl", "inspect"):
        assert command("export", "r", "--format", form).exit_code == 0
    files = [path for path in place.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [str(path) for path in files if key.encode() in path.read_bytes()] == []
    assert [path.name for path in files if key[:9].encode() in path.read_bytes()] == []


def test_no_key_is_written_or_printed(
    command: "Command", place: Path, server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []

    def do(*words: str, ends: tuple[int, ...] = (0,)) -> None:
        done = command(*words)
        said.extend((done.out, done.err))
        assert done.exit_code in ends, (words, done.err)

    key = PLANTED["OPENAI_API_KEY"]
    echo = f"the key {PLANTED['ANTHROPIC_API_KEY']} is not valid"
    openai = (
        "--agent",
        "openai_chat",
        "-A",
        "model=m",
        "-A",
        "max_retries=0",
        "--base-url",
        server.openai_url,
    )
    for number, status in enumerate((401, 403, 400, 404, 429, 500)):
        server.fail(status=status, message=f"the key {key} is not valid")
        do("run", *TINY, *openai, "--name", f"failed-{number}", ends=(3,))
    server.fail("garbage", "cut", "text")
    for _ in range(3):
        do("run", *TINY, *openai, "--name", "odd", ends=(0, 3))
    server.faults.clear()
    anthropic = (
        "--agent",
        "anthropic_chat",
        "-A",
        "model=m",
        "-A",
        "max_retries=0",
        "--base-url",
        server.url,
    )
    server.fail(status=401, message=echo)
    do("run", *TINY, *anthropic, "--name", "a", ends=(3,))
    do("resume", "a", "--cache")
    (place / "configs").mkdir()
    preset = (
        f"[judge]\nadapter = 'openai_chat'\nmodel = 'm'\nmax_retries = 0\nbase_url = '{server.openai_url}'\n"
    )
    (place / "configs" / "agents.toml").write_text(preset, "utf-8")
    server.fail(status=401, message=echo)
    do(
        "run",
        *TINY,
        *openai,
        "--scenario",
        "jokes",
        "--cache",
        "--judge",
        "judge",
        "--name",
        "j",
        ends=(0, 3),
    )
    do("resume", "j", "--cache", "--judge", "judge", ends=(0, 3))
    sweep = f"agents = ['judge']\nspans = ['2k']\nsuites = ['smoke']\nexamples = 1\nbase_url = '{server.openai_url}'\n"
    (place / "sweep.toml").write_text(sweep, "utf-8")
    do("sweep", "sweep.toml", ends=(0, 1, 3))
    server.fail(status=401, message=f"the key {key} is not valid")
    do("doctor", *openai, ends=(0, 1))
    do("doctor", *anthropic, ends=(0, 1))
    for form in ("csv", "jsonl", "junit", "inspect"):
        do("export", "a", "--format", form)
    for words in (
        ("report", "a"),
        ("bundle", "a"),
        ("rescore", "a"),
        ("show", "a"),
        ("list", "agents"),
        ("list", "runs"),
    ):
        do(*words)
    do("compare", "a", "j", "-o", "compare.html")

    # In an address: refused as a setting, and not shown when it comes from the environment.
    hidden = server.openai_url.replace("://", f"://user:{PLANTED['URL_PASSWORD']}@")
    do("run", *TINY, *openai[:-1], hidden, "--name", "u", ends=(1,))
    do("run", *TINY, "--agent", "http", "-A", f"url={hidden}", "--name", "u", ends=(1,))
    assert not (place / "reports" / "u").exists()
    monkeypatch.setenv("OPENAI_BASE_URL", hidden)
    server.fail(status=500, message=f"{hidden} failed")
    do("run", *TINY, *openai[:-2], "--name", "e", ends=(3,))
    agent = make_agent("openai_chat", {"model": "m"})
    assert isinstance(agent, ChatModel)
    said.append(repr(agent.endpoint))

    # Headers of the `http` agent, whose server echoes them.
    http = ("--agent", "http", "-A", "headers=Authorization=HEADER_VALUE", "-A", "max_retries=0")
    server.edit = lambda body: {"sent": list(PLANTED.values())[2]}
    do("run", *TINY, *http, "-A", f"url={server.openai_url}/chat/completions", "--name", "h", ends=(3,))
    settings = {"url": server.url, "headers": "Authorization=HEADER_VALUE"}
    said += [repr(make_agent("http", settings)), repr(make_agent("openai_chat", {"model": "m"}))]

    # A user's program inherits the environment, but none of it is in its arguments.
    (place / "watch.py").write_text(WATCHER, "utf-8")
    program = f"{sys.executable} {place / 'watch.py'} {place / 'seen'}"
    do("run", *TINY, "--agent", "command", "-A", f"command={program}", "--name", "c")
    assert (place / "seen").stat().st_size

    texts = [("what was printed", "\n".join(said).encode())]
    texts += [(str(path), path.read_bytes()) for path in place.rglob("*") if path.is_file()]
    assert len(texts) > 50
    assert [
        (where, name) for where, text in texts for name, key in PLANTED.items() if key.encode() in text
    ] == []
