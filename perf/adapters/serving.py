"""The provider, which knows the right reply to every message and fails on request."""

import contextlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.clock import stamp
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import read_events


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
