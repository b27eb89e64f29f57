"""Forked runs killed at any moment, with answers in a different order each time: do they end with the same bytes?

    python -m perf.fork_crashes [--moments 50]

Every case begins a run of the suite `smoke` over a span of 2k with a priced agent whose replies take a while, kills it
(SIGKILL) at a random moment, and begins it again; the order in which forks are answered is shuffled each time. It
reports whether `events.jsonl` equals that of an undisturbed run, how many logged replies were requested again (there
must be none), how many questions and turns were asked twice because a reply was lost, and how many of these were named
and charged. Linux only.
"""

import contextlib
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from perf.arguments import parser_for
from perf.crashes.processes import command, end, start, within

AGENT = '''"""Slow: answers from all that it was told, after a while; forks in an order of their own every time."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable

from ltm_bench import Agent, Message, Reply, Turn, Usage


class Slow(Agent):
    forks = "snapshot"

    def __init__(self) -> None:
        self.heard: list[str] = []

    def said(self) -> str:
        return f"{len(self.heard)} turns, {sum(map(len, self.heard))} letters, {self.heard[-1:]}"[:200]

    async def reply(self, message: Message) -> Reply:
        call("turn", message.turn)
        await asyncio.sleep(0.005)
        answer = self.said()
        self.heard.append(message.text + answer)
        return Reply(answer, self.reserve(message))

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        frozen = self.said()

        async def answer() -> Reply:
            call("fork", message.turn)
            await asyncio.sleep(random.Random(f"{os.environ['ORDER']}/{message.turn}").random())
            return Reply(frozen, self.reserve(message))

        return answer

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=1000, output=10, model="gpt-4o", provider="openai")


def call(kind: str, number: int) -> None:
    with open("calls", "ab", buffering=0) as file:
        file.write(f"{kind} {number}\\n".encode())
'''

RUN = ("run", "--span", "2k", "--suite", "smoke", "--agent", "slow", "--questions", "forked", "--name", "r")


class Found(NamedTuple):
    """The result of one case."""

    equal: bool
    again: int
    """Logged replies that were requested again."""
    twice: int
    named: int
    """How many of these were named, with what they may have cost."""
    forks_twice: int
    problem: str = ""


def run(place: Path, order: int) -> int:
    """Begin or continue the run; return the process."""

    def work() -> None:
        os.environ["ORDER"] = str(order)
        command(*RUN)

    return start(work, place)


def furnish(place: Path) -> None:
    """Write the agent into a folder."""
    (place / "agents").mkdir(parents=True)
    (place / "agents" / "slow.py").write_text(AGENT, "utf-8")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file that may be torn."""
    for line in path.read_bytes().splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def calls(place: Path) -> list[str]:
    """Return what the agent was asked so far."""
    path = place / "calls"
    return path.read_text("utf-8").splitlines() if path.exists() else []


def stored(place: Path) -> set[str]:
    """Return the turns and forks whose answers were recorded."""
    home = place / "reports" / "r"
    turns = {f"turn {e['turn']}" for e in lines(home / "events.jsonl") if e["event"] == "replied"}
    forks = {f"fork {e['id']}" for e in lines(home / "forks.jsonl") if e["event"] == "answered"}
    return turns | forks


def attempt(number: int, whole: bytes, seconds: float) -> Found:
    """Kill a run at a random moment, and begin it again."""
    with tempfile.TemporaryDirectory(prefix="forks-") as folder:
        place = Path(folder)
        furnish(place)
        dice = random.Random(number)
        pid = run(place, number)
        time.sleep(dice.uniform(0.02, seconds))
        os.kill(pid, signal.SIGKILL)
        end(pid)
        known, before = stored(place), len(calls(place))
        code = end(run(place, number + 1000))
        home = place / "reports" / "r"
        counted = Counter(calls(place))
        twice = {each for each, times in counted.items() if times > 1}
        named = {
            f"{kind} {record['turn']}"
            for record in lines(home / "timings.jsonl")
            if record.get("doubtful") and record.get("dollars", 0) > 0
            for kind in ("turn", "fork")
        }
        log = home / "events.jsonl"
        equal = code == 0 and log.exists() and log.read_bytes() == whole
        said = "" if equal else (place / "said").read_text("utf-8", "replace")[-300:]
        again = len(known & set(calls(place)[before:]))
        forks_twice = sum(each.startswith("fork") for each in twice)
        return Found(equal, again, len(twice), len(twice & named), forks_twice, said)


def main() -> None:
    """Try every moment, and print the results."""
    args = parser_for(__doc__, moments=50, jobs=(2, "cases at a time")).parse_args()
    with tempfile.TemporaryDirectory(prefix="forks-") as folder:
        place = Path(folder)
        furnish(place)
        begun = time.perf_counter()
        if within(lambda: end(run(place, 0)), place):
            raise SystemExit((place / "said").read_text("utf-8"))
        seconds = time.perf_counter() - begun
        whole = (place / "reports" / "r" / "events.jsonl").read_bytes()
        events, forks = whole.count(b"\n") - 1, whole.count(b'{"event":"forked"')
    print(f"undisturbed: {seconds:.1f} s, {events} events, {forks} of them forks")
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        trial = partial(attempt, whole=whole, seconds=seconds)
        found = pool.map(trial, range(args.moments), chunksize=1)
    print("moments  equal bytes  logged asked again  asked twice (forks)  of these named and charged")
    sums = [sum(getattr(each, name) for each in found) for name in Found._fields[:5]]
    print(f"{len(found):>7}  {sums[0]:>11}  {sums[1]:>18}  {f'{sums[2]} ({sums[4]})':>19}  {sums[3]:>26}")
    for each in found:
        if each.problem:
            print(each.problem)
    sys.exit(int(sums[0] != len(found) or sums[1] > 0 or sums[2] != sums[3]))


if __name__ == "__main__":
    main()
