"""One adapter under every failure."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from ltm_bench.adapters.testing import Fault, Request
from ltm_bench.core.messages import Finish
from ltm_bench.log.events import Replied
from ltm_bench.log.reader import read_events
from perf.adapters.rows import RETRIES, TIMEOUT, Row
from perf.adapters.serving import Local, Trouble, Wanted

BURST = 3
"""Number of requests that are refused one after another."""

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


CELLS = ("run", "SIGKILL", "restore", "timeout", "429", "overflow")


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
        # its calls cannot be observed; the journal says which turns were answered
        if self.row.agent == "vector_memory":
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
