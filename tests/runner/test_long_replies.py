"""A reply that is too long is an error of its agent, said once; a log that holds one is read like any other."""

import json
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ltm_bench import load_run, resume, run
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.agent import REPLY
from ltm_bench.core.errors import AgentError, ConfigError

PROVIDERS = ("openai_chat", "openai_responses", "anthropic_chat")
SAID = (
    "the answer has more than 3,000 bytes, the most that is read; if replies are meant to be that long, raise"
)
TALKS = """import json, sys
for line in sys.stdin:
    print(json.dumps({"reply": "x" * 4000}), flush=True)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(server: Provider, adapter: str, **settings: object) -> object:
    url = server.url if adapter == "anthropic_chat" else server.openai_url
    given = {"model": "m", "base_url": url, **settings}
    return run(
        agent=adapter, settings=given, span="2k", scenarios=["colours"], examples=1, name="r", fresh=True
    )


@pytest.mark.parametrize("adapter", PROVIDERS)
def test_a_provider_that_answers_at_length_is_cut_off_and_not_asked_again(
    server: Provider, adapter: str
) -> None:
    server.answer = lambda _: "x" * 4000
    with pytest.raises(AgentError, match=SAID):
        asked(server, adapter, max_bytes=3000)
    assert len(server.chats) == 1
    server.answer = lambda _: "x" * 1000
    asked(server, adapter, max_bytes=3000)


class Talkative(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = b'{"reply": "%s"}' % (b"x" * 4000)
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # the reader has gone
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("adapter", ["http", "command"])
def test_an_endpoint_and_a_program_have_the_same_limit(place: Path, adapter: str) -> None:
    (place / "talks.py").write_text(TALKS, "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), Talkative) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        settings: dict[str, str] = {
            "http": {"url": f"http://127.0.0.1:{server.server_port}/"},
            "command": {"command": f"{sys.executable} talks.py"},
        }[adapter]
        with pytest.raises(AgentError, match=SAID):
            run(
                agent=adapter,
                settings={**settings, "max_bytes": 3000},
                span="2k",
                scenarios=["colours"],
                examples=1,
            )
        server.shutdown()


@pytest.mark.parametrize("value", [0, -1, 10**9])
def test_the_limit_is_within_what_any_answer_may_have(server: Provider, value: int) -> None:
    with pytest.raises(ConfigError, match=f"max_bytes={value}: this setting must be from 1 to 67108864"):
        asked(server, "openai_chat", max_bytes=value)


def test_a_log_with_a_long_reply_is_read_and_resumed(place: Path) -> None:
    done = run(agent="parrot", span="2k", scenarios=["colours"], examples=1, name="r")
    log = done.folder / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"event":"replied"'))
    event = json.loads(lines[at])
    event |= {"reply": "x " * 2_500_000}
    assert len(event["reply"]) > REPLY
    lines[at] = json.dumps(event, separators=(",", ":")).encode() + b"\n"
    log.write_bytes(b"".join(lines))
    assert load_run("r").out_of == 1
    log.write_bytes(b"".join(lines[: at + 1]))
    assert resume("r").complete
