"""A sweep of many conversations on a local Ray cluster: throughput, memory, one budget for all, and a driver that dies.

    python -m perf.cluster                                  # 200 conversations, 12 at a time
    python -m perf.cluster --conversations 20 --at-once 4   # a minute

The agent calls a slow server on this machine, which counts its answers; each costs a cent. The sweep runs three times
in the same folder:

1. with a third of the money that it needs: it must stop, and the server must not have answered more than that pays for;
2. with enough money, until half of the conversations are finished, when the driver is killed (SIGKILL);
3. again, to the end. Answers of the server that are not in the logs were in flight at the kill.

Memory is the resident set of the driver, and of each worker's process, sampled twice a second. The driver here writes
no pages: `ltm-bench sweep` writes those of all runs at the end, one after the other, whatever the executor.
"""

import asyncio
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import is_finished, read_events
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner import ray
from ltm_bench.runner.estimate import estimate
from ltm_bench.runner.grid import Grid, jobs_of, remake
from perf.arguments import parser_for
from perf.sweep import SilentSweep

CENTS_A_CALL = 1

ADAPTER = '''"""Waiting: asks a server, and costs a cent a call by the price of gpt-4o."""

import asyncio

from ltm_bench import Agent, Message, Reply, Turn, Usage

PRICE = Usage(output=1000, model="gpt-4o", provider="openai")


class Waiting(Agent):
    def __init__(self, *, port: int) -> None:
        self.port = port
        self.line = None

    async def reply(self, message: Message) -> Reply:
        if self.line is None:
            self.line = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.line
        writer.write(b"?\\n")
        await writer.drain()
        return Reply((await reader.readline()).decode().strip(), PRICE)

    async def observe(self, turn: Turn) -> None:
        pass

    def reserve(self, message: Message) -> Usage:
        return PRICE

    async def close(self) -> None:
        if self.line is not None:
            self.line[1].close()
'''

CLUSTER = """
    import sys
    from ray.cluster_utils import Cluster
    head = {"num_cpus": int(sys.argv[1]), "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()
"""


def serve(latency: float, told: Connection) -> None:
    """Answer every line after a while, and report their number on request."""
    answered = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        try:
            while await reader.readline():
                answered += 1
                await asyncio.sleep(latency)
                writer.write(b"Okay.\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1024)
        told.send(server.sockets[0].getsockname()[1])
        while True:
            await asyncio.to_thread(told.recv)
            told.send(answered)

    asyncio.run(run())


@contextmanager
def cluster(cpus: int) -> Iterator[str]:
    """Run a cluster of one node with this many processors; yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CLUSTER), str(cpus)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        encoding="utf-8",
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield next(line.strip() for line in process.stdout if ":" in line)
        process.stdin.close()


class Seen(NamedTuple):
    """A sample of the processes' memory, in MB."""

    driver: float
    workers: Sequence[float]


def resident(pid: str) -> float:
    """Return the resident memory of a process in MB; 0 for one that is gone."""
    try:
        found = re.search(r"VmRSS:\s+(\d+)", Path("/proc", pid, "status").read_text("utf-8"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0


def look(driver: int, runs: str) -> Seen:
    """Sample the driver, and the workers that execute one of these runs: Ray names them after the task."""
    workers = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name = path.joinpath("cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(f"ray::{runs}".encode()):
            workers.append(resident(path.name))
    return Seen(resident(str(driver)), workers)


class Sweep(NamedTuple):
    """The result of one sweep."""

    code: int
    wall: float
    driver: float
    """The driver's highest resident memory in MB."""
    worker: float
    """The highest resident memory of any worker in MB."""
    at_once: int


def sweep(
    words: Sequence[str], folder: Path, address: str, runs: str, kill_after: int | None = None
) -> Sweep:
    """Run the sweep; kill its driver once this many conversations are finished."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "perf.cluster", "--drive", *words],
        cwd=folder,
        env={
            **os.environ,
            "RAY_ADDRESS": address,
            "RAY_USAGE_STATS_ENABLED": "0",
            "PYTHONPATH": str(Path(__file__).parents[1]),
        },
        stdout=subprocess.DEVNULL,
    )
    over, seen = threading.Event(), list[Seen]()

    def watch() -> None:
        while not over.wait(0.5):
            seen.append(look(process.pid, runs))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        while process.poll() is None:
            if kill_after is not None and finished(folder) >= kill_after:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.5)
    finally:
        over.set()
        watching.join()
    wall = time.perf_counter() - began
    return Sweep(
        process.returncode,
        wall,
        max((each.driver for each in seen), default=0.0),
        max((worker for each in seen for worker in each.workers), default=0.0),
        max((len(each.workers) for each in seen), default=0),
    )


def drive(at_once: int, limit: str) -> int:
    """Act as the driver of the sweep in grid.toml; return 0 if all runs finished, else 4."""
    grid = tomllib.loads(Path("grid.toml").read_text("utf-8"))
    common = Request(**grid.pop("common"))
    jobs = jobs_of(Grid(**grid), common).jobs
    with ray.connected() as joined:
        terms = ray.Terms(remake, at_once)
        problems = asyncio.run(ray.sweep_on(joined, jobs, Budget(Decimal(limit)), Mute(), terms))
    for said, many in Counter(str(each) for each in problems if each is not None).most_common(3):
        print(f"{many} runs: {said}", file=sys.stderr)
    return 4 if any(problems) else 0


class Mute(SilentSweep):
    """Observes a sweep on a cluster, and does nothing."""

    def stopping(self, runs: int, seconds: float) -> None:
        """Do nothing."""

    def heard(self, turns: int, examples: int) -> None:
        """Do nothing."""


def finished(folder: Path) -> int:
    """Return the number of finished conversations."""
    return sum(is_finished(path) for path in folder.glob("reports/*/events.jsonl"))


def replies(folder: Path) -> int:
    """Return how many of the agent's replies are in the logs."""
    count = 0
    for path in folder.glob("reports/*/events.jsonl"):
        asked = False
        for event in read_events(path):
            if isinstance(event, Sent):
                asked = event.kind != "fill"
            elif isinstance(event, Replied):
                count += asked
    return count


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the three sweeps, and print their results."""
    parser = parser_for(
        __doc__,
        conversations=200,
        at_once=(12, "conversations under way"),
        latency=0.5,
        span="8k",
        suite="smoke",
    )
    parser.add_argument("--drive", nargs=2, metavar=("AT_ONCE", "LIMIT"), help="be the driver")
    chosen = parser.parse_args(arguments)
    if chosen.drive:
        raise SystemExit(drive(int(chosen.drive[0]), chosen.drive[1]))
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(chosen.latency, theirs), daemon=True)
    server.start()
    port = ours.recv()

    def answered() -> int:
        ours.send(None)
        count: int = ours.recv()
        return count

    with tempfile.TemporaryDirectory() as temporary, cluster(chosen.at_once) as address:
        folder = Path(temporary)
        (folder / "agents").mkdir()
        (folder / "agents" / "waiting.py").write_text(ADAPTER, "utf-8")
        os.chdir(folder)
        plan = make_plan(
            Request(
                agent="waiting", span=chosen.span, suite=chosen.suite, examples=1, settings={"port": port}
            )
        )
        calls = estimate(plan).calls
        enough = calls * chosen.conversations * CENTS_A_CALL
        seeds = ", ".join(map(str, range(chosen.conversations)))
        (folder / "grid.toml").write_text(
            f'agents = ["waiting"]\nspans = ["{chosen.span}"]\nseeds = [{seeds}]\n'
            f'suites = ["{chosen.suite}"]\n[common]\nexamples = 1\nsettings = {{port = {port}}}\n',
            "utf-8",
        )
        runs = plan.name.rpartition("-seed")[0]
        print(
            f"{chosen.conversations} conversations of {chosen.span}, about {calls} calls each, "
            f"{chosen.latency} s a call, {chosen.at_once} at a time",
            flush=True,
        )
        print(
            "| | exit | wall s | calls | a second | of the ideal | over | driver MB | worker MB | workers |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")

        def row(title: str, limit: int, kill_after: int | None = None) -> int:
            before = answered()
            words = [str(chosen.at_once), f"{limit / 100:.2f}"]
            done = sweep(words, folder, address, runs, kill_after)
            made = answered() - before
            ideal = made * chosen.latency / chosen.at_once
            print(
                f"| {title} | {done.code} | {done.wall:.0f} | {made:,} | {made / done.wall:.1f} | "
                f"{ideal / done.wall:.0%} | {finished(folder)} | {done.driver:.0f} | {done.worker:.0f} | "
                f"{done.at_once} |",
                flush=True,
            )
            return made

        limit = enough // 3
        made = row(f"limit of ${limit / 100:.2f}", limit)
        print(f"billed ${made / 100:.2f} of ${limit / 100:.2f}", flush=True)
        half = finished(folder) + (chosen.conversations - finished(folder)) // 2
        made += row("driver killed", 2 * enough, half)
        time.sleep(5)  # until the cluster has noticed
        made += row("resumed", 2 * enough)
        logged = replies(folder)
        print(
            f"{logged:,} replies in the logs, {made:,} answered: {made - logged} were under way and asked again"
        )
        if finished(folder) != chosen.conversations:
            raise SystemExit(f"only {finished(folder)} of {chosen.conversations} conversations are finished")
        os.chdir("/")
    server.terminate()


if __name__ == "__main__":
    main()
