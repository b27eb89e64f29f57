"""Every adapter under every failure, with real processes and a local provider.

    python -m perf.adapters [--adapters openai_chat,http] [--cells run,timeout] [--span 2k]

The provider knows the right reply to every message (from a run of `perfect`), so every outcome but `correct` is an
error. A cell is `ok` if the following was observed, `–` if it does not apply, and otherwise says what was observed
instead.

    run       the run ends, every answer is right, and no turn was asked more than once
    SIGKILL   killed at 30, 55 and 80 % of the log and resumed, the run ends with the log of the undisturbed one, byte
              for byte, and no logged turn was asked again
    restore   cut back to 60 % of its log, and without the agent's folder, the run ends with the same log, and the agent
              was told, or sent, exactly what the undisturbed one was (`http` keeps its folder, since the endpoint
              holds its memory under the session id; without the folder the cell requires exit 3)
    timeout   a silent provider is retried as often as configured; then the run exits with 3 and a line that says so, no
              question is wrong, and `resume` ends with the same log
    429       bursts of three with `retry-after: 1`: each pause is respected, no retry comes too early, the same log
    overflow  a window, or a provider, that accepts no more: some turns overflow, and every question is right or
              `overflow`
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Finish
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import read_events

TIMEOUT, RETRIES, BURST = 2.0, 3, 3
PATIENCE = (f"timeout={TIMEOUT}", f"max_retries={RETRIES}")

# A user's own agent: it gives the expected reply, and records for which turn it was asked and what it had heard.
THEIRS = """
import hashlib, json, os, sys, time

WANTED = json.load(open("wanted.json"))


class Theirs:
    def __init__(self):
        self.heard, self.turn, self.times = hashlib.sha256(), 0, {}

    def observe(self, message, reply):
        self.heard.update(json.dumps([message, reply]).encode())
        self.turn += 1
        self.times[message] = self.times.get(message, 0) + 1

    def __call__(self, message):
        with open("asked.jsonl", "a") as file:
            file.write(json.dumps([self.turn, self.heard.hexdigest()]) + "\\n")
        time.sleep(0.005)
        replies = WANTED.get(message, ["I do not know."])
        reply = replies[min(self.times.get(message, 0), len(replies) - 1)]
        self.observe(message, reply)
        return reply


if __name__ == "__main__":
    theirs = Theirs()
    for line in sys.stdin:
        said = json.loads(line)
        if "observe" in said:
            theirs.observe(said["observe"]["message"], said["observe"]["reply"])
            print("{}", flush=True)
        else:
            if os.path.exists("silent") and said["turn"] > 99:
                time.sleep(60)
            print(json.dumps({"reply": theirs(said["message"])}), flush=True)
"""


@dataclass(frozen=True)
class Row:
    """An adapter, and the cells that do not apply to it."""

    name: str
    agent: str
    settings: tuple[str, ...] = ()
    base: str = ""
    """Which of the server's addresses it uses as its base_url."""
    narrow: tuple[str, ...] = ()
    """Settings with which a conversation outgrows the adapter's window."""
    keeps: bool = False
    """Whether it cannot work without its folder."""
    not_for: dict[str, str] = field(default_factory=dict)

    @property
    def remote(self) -> bool:
        """Whether it calls the server."""
        return bool(self.base)


CHAT = ("model=some-model", *PATIENCE)
NARROW = ("window=2200", "max_output=200", "truncate=none")
OPENAI = ("embedder=openai:some-embedder", "core=openai_chat:some-model", *PATIENCE)
HERE = "it asks nobody elsewhere"
ROWS = (
    Row("openai_chat", "openai_chat", CHAT, "openai", NARROW),
    Row("openai_responses", "openai_responses", CHAT, "openai", NARROW),
    Row("anthropic_chat", "anthropic_chat", CHAT, "anthropic", NARROW),
    Row(
        "vector_memory (local, extractive)",
        "vector_memory",
        not_for={
            "timeout": HERE,
            "429": HERE,
            "overflow": "what it recalls is bounded, and it has no window",
        },
    ),
    Row("vector_memory (openai, openai_chat)", "vector_memory", OPENAI, "openai"),
    Row(
        "http",
        "http",
        ("request=say.text", "reply=said.text", "session=who", "time=say.at", *PATIENCE),
        "chat",
        keeps=True,
    ),
    Row(
        "command",
        "command",
        (f"command={sys.executable} theirs.py", "observe=true", f"timeout={TIMEOUT}"),
        not_for={
            "429": HERE,
            "overflow": "it manages its own window, and the protocol cannot report an overflow",
        },
    ),
    Row(
        "function",
        "python:theirs:Theirs",
        not_for={
            "timeout": "it runs in this process, and nothing can stop it",
            "429": HERE,
            "overflow": "its window is its own",
        },
    ),
)
CELLS = ("run", "SIGKILL", "restore", "timeout", "429", "overflow")


class Arrival(NamedTuple):
    """When a request came."""

    at: float
    refused: bool
    """Whether it was answered with 429."""


Trouble = Callable[[int], Fault | None]
"""The fault of each request, by its number."""


def no_trouble(number: int) -> Fault | None:
    """Answer every request."""
    return None


@dataclass
class Local(Provider):
    """The provider, which also has an endpoint for `http`, and can begin to fail at a given request.

    It caches no prompts, since a request in flight at a kill would be in its cache, and usage would differ.
    """

    cache_minimum: int | None = sys.maxsize
    trouble: Trouble = no_trouble
    arrivals: list[Arrival] = field(default_factory=list)

    def start(self, trouble: Trouble = no_trouble) -> None:
        """Forget all requests, and fail in this way from now on."""
        self.requests.clear()
        self.arrivals.clear()
        self.trouble, self.context = trouble, None

    def receive(self, request: Request) -> Fault | None:
        """Record a request, and return the failure that is due for it."""
        super().receive(request)
        fault = self.trouble(len(self.requests))
        self.arrivals.append(Arrival(time.perf_counter(), fault is not None and fault.status == 429))
        return fault


class BudgetServer(Handler):
    """One connection to it."""

    def do_POST(self) -> None:
        """Answer at the endpoint for `http`, or leave it to the provider."""
        if self.path != "/chat":
            super().do_POST()
            return
        server = self.server.provider
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        fault = server.receive(Request(self.path, dict(self.headers), body))
        if fault is not None and fault.kind == "hang":
            server.stopping.wait(fault.seconds)
            self.close_connection = True
            return
        if fault is not None:
            answer: dict[str, Any] = {"error": {"message": fault.message, "type": "error"}}
        else:
            said = f"[{body['say']['at']}]\n{body['say']['text']}"
            answer = {"said": {"text": server.answer([{"role": "user", "content": said}])}}
        data = json.dumps(answer).encode()
        self.send_response(200 if fault is None else fault.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if fault is not None and fault.retry_after is not None:
            self.send_header("retry-after", fault.retry_after)
        self.end_headers()
        self.wfile.write(data)


class Wanted:
    """The right reply to every message, by its time; from the log of `perfect`."""

    def __init__(self, log: Path) -> None:
        self.turns: dict[str, int] = {}
        self.replies: list[str] = []
        self.of: dict[str, list[str]] = {}
        texts: list[tuple[str, datetime]] = []
        for event in read_events(log):
            if isinstance(event, Sent):
                texts.append((event.message, event.at))
            elif isinstance(event, Replied):
                message, at = texts[-1]
                self.of.setdefault(message, []).append(event.reply)
                for when in (stamp(at), at.isoformat()):
                    self.turns[f"[{when}]\n{message}"] = len(self.replies)
                self.replies.append(event.reply)

    def turn(self, said: str) -> int | None:
        """Return the turn of a dated message, or of the prompt that `vector_memory` makes from one."""
        _, new, rest = said.rpartition("# The new message, ")
        if new:
            when, _, text = rest.partition("\n")
            said = f"[{when}]\n{text}"
        return self.turns.get(said)

    def answer(self, messages: Sequence[dict[str, str]]) -> str:
        """Give the right reply to the newest message; at a time that was not planned, the first reply that it had."""
        said = messages[-1]["content"]
        turn = self.turn(said)
        time.sleep(0.002)
        if turn is not None:
            return self.replies[turn]
        text = said.rpartition("# The new message, ")[2].partition("\n")[2]
        return self.of.get(text, ["I do not know."])[0]


@contextlib.contextmanager
def serving() -> Iterator[Local]:
    """Run the server inside the block."""
    server = Server(("127.0.0.1", 0), BudgetServer)
    server.provider = local = Local(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield local
    finally:
        local.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Bench:
    """Puts one adapter through the cells."""

    def __init__(self, row: Row, server: Local, wanted: Wanted, span: str, place: Path) -> None:
        self.row, self.server, self.wanted, self.span, self.place = row, server, wanted, span, place
        place.mkdir()
        (place / "theirs.py").write_text(THEIRS, "utf-8")
        (place / "wanted.json").write_text(json.dumps(wanted.of), "utf-8")
        self.environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            self.environment[name] = "sk-not-a-key-0123456789"
        self.whole = b""
        self.requests: list[dict[str, Any]] = []
        self.asked: list[Any] = []

    def words(self, name: str, *more: str) -> list[str]:
        """Return the command that starts a run."""
        row = self.row
        urls = {"openai": self.server.openai_url, "anthropic": self.server.url}
        given = [*row.settings, *more]
        given += [f"url={self.server.url}/chat"] if row.base == "chat" else []
        given += [f"base_url={urls[row.base]}"] if row.base in urls else []
        return [
            *(sys.executable, "-m", "ltm_bench", "run", "--name", name, "--span", self.span),
            *("--examples", "1", "--agent", row.agent),
            *(word for each in given for word in ("-A", each)),
        ]

    def log(self, name: str) -> Path:
        """Return where the log of a run is."""
        return self.place / "reports" / name / "events.jsonl"

    def call(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Call a command in the adapter's own folder."""
        return subprocess.run(
            words,
            cwd=self.place,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            encoding="utf-8",
        )

    def resume(self, name: str) -> subprocess.CompletedProcess[str]:
        """Resume a run."""
        return self.call([sys.executable, "-m", "ltm_bench", "resume", name])

    def results(self, name: str) -> dict[str, Any]:
        """Read the results of a run."""
        content: dict[str, Any] = json.loads((self.log(name).parent / "results.json").read_text("utf-8"))
        return content

    def calls(self) -> list[Any]:
        """Return what a user's own agent recorded, and delete it."""
        path = self.place / "asked.jsonl"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [json.loads(line) for line in lines]

    def turns_asked(self, name: str) -> list[int]:
        """Return the turns that were asked since the last call."""
        if self.row.remote:
            said = [request.messages[-1]["content"] for request in self.chats()]
            return [turn for each in said if (turn := self.wanted.turn(each)) is not None]
        if (
            self.row.agent == "vector_memory"
        ):  # its calls cannot be observed; the journal says which turns were answered
            lines = (self.log(name).parent / "timings.jsonl").read_text("utf-8").splitlines()
            return [event["turn"] for event in map(json.loads, lines) if "seconds" in event]
        return [turn for turn, _ in self.calls()]

    def chats(self) -> list[Request]:
        """Return the requests for a reply."""
        chats = [request for request in self.server.requests if request.path != "/v1/embeddings"]
        return [_as_chat(request) for request in chats]

    def run(self) -> str:
        """Run undisturbed."""
        self.server.start()
        self.calls()
        done = self.call(self.words("r"))
        if done.returncode:
            return f"exit {done.returncode}: {_last(done.stderr)}"
        self.whole = self.log("r").read_bytes()
        self.requests = [request.body for request in self.chats()]
        results = self.results("r")
        if not self.row.remote and self.row.agent != "vector_memory":
            self.asked = self.calls()
            asked = [turn for turn, _ in self.asked]
        else:
            asked = self.turns_asked("r")
        if len(asked) != len(set(asked)) or len(asked) != results["costs"]["calls"]:
            return (
                f"{len(asked)} asked, {len(set(asked))} of them different, {results['costs']['calls']} logged"
            )
        if self.row.agent == "vector_memory" and not self.row.remote:
            return "ok" if results["complete"] else "incomplete"
        return "ok" if set(results["outcomes"]) == {"correct"} else str(results["outcomes"])

    def killed(self) -> str:
        """Kill the run three times without warning."""
        words, answered, again, kills = self.words("k"), set[int](), set[int](), 0
        for share in (30, 55, 80, None):
            self.server.start()
            self.calls()
            (self.log("k").parent / "timings.jsonl").unlink(missing_ok=True)
            if share is None:
                done = self.call(words)
                if done.returncode:
                    return f"exit {done.returncode}: {_last(done.stderr)}"
            else:
                kills += self._kill(words, self.log("k"), share * len(self.whole) // 100)
            again |= answered & set(self.turns_asked("k"))
            answered = _answered(self.log("k"))
        if kills != 3:
            return f"only {kills} kills"
        if again:
            return f"{len(again)} turns asked again"
        return "ok" if self.log("k").read_bytes() == self.whole else "another log"

    def _kill(self, words: Sequence[str], log: Path, size: int) -> bool:
        process = subprocess.Popen(
            words, cwd=self.place, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None:
            if log.exists() and log.stat().st_size >= size:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.001)
        return process.wait() == -signal.SIGKILL

    def restore(self) -> str:
        """Restore the agent from the log alone."""
        home = self.log("b").parent
        home.mkdir()
        lines = self.whole.splitlines(keepends=True)
        self.log("b").write_bytes(b"".join(lines[: len(lines) * 6 // 10]))
        self.server.start()
        if self.row.keeps:
            done = self.resume("b")
            if done.returncode != 3 or self.server.requests or "is gone" not in " ".join(done.stderr.split()):
                return f"without its folder: exit {done.returncode}: {_last(done.stderr)}"
            shutil.copytree(self.log("r").parent / "agent", home / "agent", dirs_exist_ok=True)
        before = _answered(self.log("b"))
        self.calls()
        done = self.resume("b")
        if done.returncode:
            return f"exit {done.returncode}: {_last(done.stderr)}"
        if self.log("b").read_bytes() != self.whole:
            return "another log"
        if self.row.remote:
            sent = [request.body for request in self.chats()]
            return "ok" if sent and sent == self.requests[-len(sent) :] else "other requests"
        if self.row.agent == "vector_memory":  # its replies, which are in the log, come only from its memory
            return "ok"
        calls = self.calls()
        expected = [call for call in self.asked if call[0] not in before]
        return "ok" if calls and calls == expected else "it was told something else"

    def timeout(self) -> str:
        """Keep the provider silent from the middle of the run on."""
        begin = len(self.requests) // 2
        self.server.start(_from(begin, Fault(kind="hang", seconds=60)))
        (self.place / "silent").touch()
        done = self.call(self.words("t"))
        (self.place / "silent").unlink()
        tries = len(self.server.requests) - begin
        outcomes = set(self.results("t")["outcomes"])
        said = [line for line in done.stderr.splitlines() if line.startswith("ltm-bench: ")]
        if done.returncode != 3:
            return f"exit {done.returncode}: {_last(done.stderr)}"
        clear = [line for line in said if f"{TIMEOUT:g} s" in line or "timed out" in line]
        if len(said) != 1 or not clear or "Traceback" in done.stderr:
            return f"it does not say so: {_last(done.stderr)}"
        if self.row.remote and tries != RETRIES + 1:
            return f"{tries} tries"
        if not outcomes <= {"correct", "not_reached", "agent_error"}:
            return str(sorted(outcomes))
        self.server.start()
        done = self.resume("t")
        if done.returncode:
            return f"resume: exit {done.returncode}: {_last(done.stderr)}"
        return "ok" if self.log("t").read_bytes() == self.whole else "another log"

    def storm(self) -> str:
        """Tell the agent to come back in a second, three times in a row, again and again."""
        fault = Fault(status=429, message="Rate limit reached", retry_after="1")
        self.server.start(lambda number: fault if number % 40 in range(10, 10 + BURST) else None)
        done = self.call(self.words("s"))
        if done.returncode:
            return f"exit {done.returncode}: {_last(done.stderr)}"
        arrivals = self.server.arrivals
        waits = [after.at - before.at for before, after in pairwise(arrivals) if before.refused]
        if len(waits) < BURST or min(waits) < 0.95 or max(waits) > 3:
            return (
                f"{len(waits)} refused, waited {min(waits, default=0):.2f} to {max(waits, default=0):.2f} s"
            )
        return "ok" if self.log("s").read_bytes() == self.whole else "another log"

    def overflow(self) -> str:
        """Run with a window, then with a provider, that is too small for the conversation."""
        for name, narrow in (("o", ()), ("w", self.row.narrow)):
            if name == "w" and not narrow:
                continue
            half = len(self.requests) // 2 if self.row.base == "chat" else 1_000_000
            self.server.start(_from(half, Fault(status=413, message="too long")))
            self.server.context = None if narrow else 1200
            done = self.call(self.words(name, *narrow))
            if done.returncode:
                return f"exit {done.returncode}: {_last(done.stderr)}"
            outcomes = self.results(name)["outcomes"]
            turns = sum(
                isinstance(event, Replied) and event.finish is Finish.OVERFLOW
                for event in read_events(self.log(name))
            )
            if not turns or not set(outcomes) <= {"correct", "overflow"}:
                return f"{turns} turns of overflow, {outcomes}"
            if (narrow or self.row.base == "chat") and "overflow" not in outcomes:
                return f"{turns} turns of overflow, {outcomes}"
        return "ok"

    def cell(self, name: str) -> str:
        """Measure one cell; report a failure to measure it as the observation."""
        if name in self.row.not_for:
            return "–"
        ways = (self.run, self.killed, self.restore, self.timeout, self.storm, self.overflow)
        try:
            return dict(zip(CELLS, ways, strict=True))[name]()
        except subprocess.TimeoutExpired:
            return "it never ends"


def _from(begin: int, fault: Fault) -> Trouble:
    """Return a failure that begins after a number of requests, and never ends."""
    return lambda number: fault if number > begin else None


def _as_chat(request: Request) -> Request:
    """Return a request of any of the protocols in the form of a chat, with its messages."""
    if request.path != "/chat":
        return request
    said = f"[{request.body['say']['at']}]\n{request.body['say']['text']}"
    return request._replace(
        body={k: v for k, v in request.body.items() if k != "say"}
        | {"messages": [{"role": "user", "content": said}]}
    )


def _answered(log: Path) -> set[int]:
    """Return the turns whose reply a log holds; its last line may be torn."""
    events = [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]
    return {event["turn"] for event in events if event["event"] == "replied"}


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[-3:])[-160:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--adapters", default="", help="only adapters whose names begin like this")
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--span", default="2k")
    parser.add_argument("--keep", action="store_true", help="keep the runs, and print their folder")
    args = parser.parse_args()
    cells = [name for name in CELLS if name == "run" or name in args.cells.split(",")]
    chosen = [row for row in ROWS if any(map(row.name.startswith, args.adapters.split(",")))]
    begun = time.perf_counter()
    temporary = Path(tempfile.mkdtemp(prefix="adapters-"))
    words = (*("--name", "p", "--agent", "perfect", "--span", args.span), "--examples", "1")
    subprocess.run(
        [sys.executable, "-m", "ltm_bench", "run", *words], cwd=temporary, capture_output=True, check=True
    )
    wanted = Wanted(temporary / "reports" / "p" / "events.jsonl")
    print(f"| adapter | {' | '.join(cells)} |\n|---|{'---|' * len(cells)}", flush=True)
    with serving() as server:
        server.answer = wanted.answer
        for number, row in enumerate(chosen):
            bench = Bench(row, server, wanted, args.span, temporary / str(number))
            print(f"| {row.name} ", end="", flush=True)
            for name in cells:
                print(f"| {bench.cell(name)} ", end="", flush=True)
            print("|", flush=True)
    print()
    for row in chosen:
        for name, why in row.not_for.items():
            if name in cells:
                print(f"{row.name}, {name}: –, {why}")
    print(f"{time.perf_counter() - begun:.0f} s")
    if args.keep:
        print(temporary)
    else:
        shutil.rmtree(temporary)


if __name__ == "__main__":
    main()
