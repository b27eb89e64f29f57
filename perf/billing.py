"""Money: can a provider that bills for replies it never delivers bill more than `--max-cost`?

    python -m perf.billing                 # 12 seeds, some five minutes
    python -m perf.billing --seeds 3 --limit 0.10
    python -m perf.billing --kind gateway --seeds 30        # a program behind the gateway, with streams
    python -m perf.billing --kind race --seeds 30 --limit 0.06

The provider on this machine bills every request that it has read. Its dice decide what becomes of it: it answers, cuts
the answer off, answers after the client's timeout, answers with unreadable data, or without a text. What it answers is
billed by the usage in the answer, cached tokens at their own price; what is cut off is billed with its whole prompt and
its longest answer. It does not bill for HTTP errors. A run of the suite `smoke`, isolated, eight calls at a time, or a
race of two agents is killed (SIGKILL) at random moments and continued with the same limit, until it ends or the budget
is reached. The table shows what the provider billed, what was counted (the logs' usage, and the charges beside the
logs), and the limit.

`billed` must not exceed `counted`, nor `counted` the limit.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.testing import Fault, Provider, Request
from ltm_bench.adapters.testing.server import serving
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.runner.spent import cost_of
from perf.harness import Arguments, measurement, table

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

RUN = "--suite smoke --span 2k --isolated --examples 4 --name r".split()
RACE = "--span 2k --scenario colours --scenario jokes --examples 2 --most 6 --least 0.01".split()

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
        self.dice, self.unanswered, self.fates = dice, Decimal(), Counter[str]()
        self.counting = threading.Lock()

    @property
    def bill(self) -> Decimal:
        """What it bills: each answer by its usage, and what it cut off."""
        return sum((_price(*each[:3]) for each in list(self.spent)), self.unanswered)

    def receive(self, request: Request) -> Fault | None:
        """Choose the fate of a request, and bill it."""
        super().receive(request)
        with self.counting:
            name, fault = self.dice.choice(FAULTS)
            self.fates[name] += 1
            if fault is not None and fault.kind not in ("error", "slow", "empty"):
                self.unanswered += _price(self.count(request.messages), 0, OUTPUT)
        return fault


def _price(prompt: int, cached: int, output: int) -> Decimal:
    return (
        dollars(
            Usage(
                uncached=prompt - cached, cache_read=cached, output=output, model="gpt-4o", provider="openai"
            )
        )
        or Decimal()
    )


class Result(NamedTuple):
    """The result of one seed."""

    billed: Decimal
    counted: Decimal
    limit: Decimal
    requests: int
    undelivered: int
    kills: int
    exits: str


def billing(seed: int) -> AbstractContextManager[Billing]:
    """Run the provider inside the block."""
    provider = Billing()
    provider.prepare(random.Random(seed))
    return serving(provider)


def counted(reports: Path) -> Decimal:
    """Return the costs that all runs in a folder have counted."""
    return sum((cost_of(log.parent).total for log in reports.glob("*/events.jsonl")), Decimal())


def trial(seed: int, limit: Decimal, kills: int, kind: str = "run", start: Any = subprocess.Popen) -> Result:
    """Run or race, kill and continue with one seed; `start` starts a program as `Popen` does."""
    dice = random.Random(f"kills/{seed}")
    with tempfile.TemporaryDirectory() as folder, billing(seed) as provider:
        place = Path(folder)
        (place / "agents").mkdir()
        (place / "agents" / "billed.py").write_text(ADAPTER, "utf-8")
        more, billed = ["--max-cost", str(limit)], ["--base-url", provider.openai_url]
        if kind == "race":
            (place / "agents" / "shorter.py").write_text(ADAPTER.replace("16000", "1500"), "utf-8")
            words = ["race", "billed", "shorter", *RACE, *billed, *more]
        else:
            words = ["run", *RUN]
            if kind == "gateway":
                (place / "program.py").write_text(PROGRAM, "utf-8")
                more += ["--gateway", "--upstream", f"openai={provider.openai_url}"]
                billed = ["--agent", "command", "-A", f"command={sys.executable} program.py"]
            else:
                billed += ["--agent", "billed"]
            words += [*billed, *more]
        killed, codes = 0, []
        for _ in range(60):
            there = (place / "reports" / "r" / "events.jsonl").exists()
            again = there and kind != "race"
            before = len(provider.requests)
            with start(
                [sys.executable, "-m", "ltm_bench", *(["resume", "r", *more] if again else words)],
                cwd=place,
                env={**os.environ, "OPENAI_API_KEY": "no-key-at-all"},
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
            counted(place / "reports"),
            limit,
            len(provider.requests),
            len(provider.requests) - provider.fates["well"],
            killed,
            " ".join(map(str, codes)),
        )


@measurement(
    __doc__,
    seeds=12,
    limit=Decimal("0.30"),
    kills=(4, "how often each run is killed"),
    kind=("run", "run, gateway (a program behind it) or race"),
)
def main(options: Arguments) -> None:
    """Print a line for every seed; exit with 1 where the provider billed too much."""
    row = table("seed", "billed", "counted", "limit", "requests", "undelivered", "kills", "exits")
    failed = 0
    for seed in range(options.seeds):
        # Every third limit is small, so that it is reached at once.
        limit = options.limit if seed % 3 else options.limit / 5
        found = trial(seed, limit, options.kills, options.kind)
        good = found.billed <= found.counted <= found.limit
        failed += not good
        money = (f"{each:.4f}" for each in (found.billed, found.counted, found.limit))
        row(
            seed,
            *money,
            found.requests,
            found.undelivered,
            found.kills,
            found.exits + " EXCEEDED" * (not good),
        )
    print(f"{options.seeds} runs, {failed} in which more was billed than counted, or counted than allowed")
    sys.exit(1 if failed else 0)
