"""Money: can a provider that bills for replies it never delivers bill more than `--max-cost`?

    python -m perf.billing                 # 12 seeds, some five minutes
    python -m perf.billing --seeds 3 --limit 0.10
    python -m perf.billing --gateway --seeds 30        # a program behind the gateway, with streams

The provider on this machine bills a request as soon as it has read it. Then its dice decide: it answers, cuts the
answer off, answers after the client's timeout, answers with unreadable data, or without a text. It does not bill for
HTTP errors. A run of the suite `smoke`, isolated, eight calls at a time, is killed (SIGKILL) at random moments and
resumed with the same limit, until it ends or the budget is reached. The table shows what the provider billed, what the
run counted (its log's usage, and the charges beside the log), and the limit.

`billed` must not exceed `counted`, nor `counted` the limit.
"""

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ltm_bench.adapters.testing import Fault, Handler, Provider, Request, Server
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.runner.standing import cost_of
from perf.arguments import parser_for

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OUTPUT = 100
"""Tokens that a reply may have, and that the provider bills for each that it does not deliver."""

ADAPTER = f'''"""Billed: a model whose prices are OpenAI's, at a server of our own."""

from openai import _base_client

from ltm_bench.adapters import agent_class

_base_client.INITIAL_RETRY_DELAY = 0.01  # type: ignore[misc]  # it waits for nobody
OpenAIChat = agent_class("openai_chat")


class Billed(OpenAIChat):
    provider = "openai"

    def __init__(self, *, base_url: str) -> None:
        super().__init__(
            model="gpt-4o", base_url=base_url, window=16000, max_output={OUTPUT}, timeout=0.4, max_retries=3
        )
'''

PROGRAM = f'''"""A program that calls a model, every other time in a stream, and repeats what fails."""

import json, os, sys
from urllib.request import Request, urlopen

url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
headers = {{"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}}
for count, line in enumerate(sys.stdin):
    body = {{"model": "gpt-4o", "max_tokens": {OUTPUT}, "stream": count % 2 == 1}}
    body["messages"] = [{{"role": "user", "content": json.loads(line)["message"]}}]
    said = "I could not ask."
    for _ in range(4):
        try:
            with urlopen(Request(url, json.dumps(body).encode(), headers), timeout=0.4) as answer:
                said = answer.read().decode()
            break
        except OSError:
            continue
        except Exception:  # an answer that is cut off: this agent takes what comes, and never dies
            break
    print(json.dumps({{"reply": said[-300:]}}), flush=True)
'''

FAULTS = (
    *(("well", None),) * 8,
    ("cut", Fault(kind="cut")),
    ("cut", Fault(kind="cut")),
    ("late", Fault(kind="slow", seconds=1.0)),
    ("never", Fault(kind="hang", seconds=1.0)),
    ("unreadable", Fault(kind="garbage")),
    ("empty", Fault(kind="empty")),
    ("HTTP 500", Fault(status=500)),
    ("HTTP 429", Fault(status=429)),
)
"""The fates that the dice choose from."""


class Billing(Provider):
    """Bills every request that it has read, whatever happens to the answer."""

    def prepare(self, dice: random.Random) -> None:
        """Start with these dice."""
        self.dice, self.bill, self.fates = dice, Decimal(), Counter[str]()
        self.counting = threading.Lock()

    def receive(self, request: Request) -> Fault | None:
        """Choose the fate of a request, and bill it."""
        super().receive(request)
        with self.counting:
            name, fault = self.dice.choice(FAULTS)
        prompt = self.count(request.messages)
        if fault is None or fault.kind == "slow":
            output = self.measure(
                request.messages, self.answer(request.messages), model="", caches=False
            ).output
        else:
            output = OUTPUT
        with self.counting:
            self.fates[name] += 1
            if fault is None or fault.kind != "error":
                used = Usage(uncached=prompt, output=output, model="gpt-4o", provider="openai")
                self.bill += dollars(used) or Decimal()
        return fault


class Result(NamedTuple):
    """The result of one seed."""

    billed: Decimal
    counted: Decimal
    limit: Decimal
    requests: int
    undelivered: int
    kills: int
    commands: int
    exits: str


@contextlib.contextmanager
def billing(seed: int) -> Iterator[Billing]:
    """Run the provider."""
    server = Server(("127.0.0.1", 0), Handler)
    provider = Billing(f"http://127.0.0.1:{server.server_port}")
    provider.prepare(random.Random(seed))
    server.provider = provider
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def counted(run: Path) -> Decimal:
    """Return the costs that a run has counted."""
    cost = cost_of(run)
    return cost.logged + cost.charged


def trial(seed: int, limit: Decimal, kills: int, *, gateway: bool = False) -> Result:
    """Run, kill and resume with one seed."""
    dice = random.Random(f"kills/{seed}")
    with tempfile.TemporaryDirectory() as folder, billing(seed) as provider:
        place = Path(folder)
        (place / "agents").mkdir()
        (place / "agents" / "billed.py").write_text(ADAPTER, "utf-8")
        start = ["run", "--suite", "smoke", "--span", "2k", "--isolated", "--examples", "4", "--name", "r"]
        more = ["--max-cost", str(limit)]
        if gateway:
            (place / "program.py").write_text(PROGRAM, "utf-8")
            more += ["--gateway", "--upstream", f"openai={provider.openai_url}"]
            start += ["--agent", "command", "-A", f"command={sys.executable} program.py", *more]
        else:
            start += ["--agent", "billed", "--base-url", provider.openai_url, *more]
        environment = {**os.environ, "OPENAI_API_KEY": "no-key-at-all"}
        killed, codes = 0, []
        for _ in range(60):
            there = (place / "reports" / "r" / "events.jsonl").exists()
            words = ["resume", "r", *more] if there else start
            before = len(provider.requests)
            with subprocess.Popen(
                [sys.executable, "-m", "ltm_bench", *words],
                cwd=place,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as process:
                if killed < kills:
                    after = before + dice.randrange(1, 30)
                    while process.poll() is None and len(provider.requests) < after:
                        time.sleep(0.005)
                    time.sleep(dice.random() * 0.3)
                    if process.poll() is None:
                        process.send_signal(signal.SIGKILL)
                        killed += 1
                codes.append(process.wait())
            if codes[-1] in (0, 4):
                break
        time.sleep(0.5)  # requests in flight are billed by now
        return Result(
            provider.bill,
            counted(place / "reports" / "r"),
            limit,
            len(provider.requests),
            len(provider.requests) - provider.fates["well"],
            killed,
            len(codes),
            " ".join(map(str, codes)),
        )


def main() -> None:
    """Print a line for every seed; exit with 1 where the provider billed too much."""
    options = parser_for(
        __doc__,
        seeds=12,
        limit=Decimal("0.30"),
        kills=(4, "how often each run is killed"),
        gateway=(False, "ask a program behind the gateway"),
    ).parse_args()
    print("seed   billed  counted    limit  requests  undelivered  kills  exits")
    failed = 0
    for seed in range(options.seeds):
        # Every third limit is small, so that it is reached at once.
        limit = options.limit if seed % 3 else options.limit / 5
        found = trial(seed, limit, options.kills, gateway=options.gateway)
        good = found.billed <= found.counted <= found.limit
        failed += not good
        print(
            f"{seed:4}  {found.billed:.4f}   {found.counted:.4f}   {found.limit:.4f}  {found.requests:8}  "
            f"{found.undelivered:11}  {found.kills:5}  {found.exits}{'' if good else '   EXCEEDED'}",
            flush=True,
        )
    print(f"{options.seeds} runs, {failed} in which more was billed than counted, or counted than allowed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
