"""Many conversations at once against a slow provider: throughput of whole sweeps, memory, one budget, a dead driver.

    python -m perf.sweep                                               # 64 conversations of 8k, all at once
    python -m perf.sweep --ray --conversations 200 --at-once 16        # on a local Ray cluster
    python -m perf.sweep --faults --conversations 20 --at-once 4       # a minute

The provider is a separate process, which answers every request after the latency and does nothing else; an answer costs
a cent. Ideally every conversation spends all its time waiting for it. With `--faults` the command runs three times in
the same folder:

1. with a third of the money that it needs: it must stop, and the provider must not have answered more than that pays;
2. with enough money, until half of the conversations are finished, when it is killed (SIGKILL);
3. again, to the end. Answers of the provider that are not in the logs were in flight at the kill.

Memory is the peak of the command, and the highest of each of Ray's workers, sampled twice a second.
"""

import asyncio
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from multiprocessing.connection import Connection
from pathlib import Path

from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import is_finished, read_events
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.estimate import estimate
from perf.harness import Arguments, begin, measurement, spent_by, table

ADAPTER = '''"""Waiting: a model at a server of our own; a reply costs a cent, by the price of gpt-4o."""

from ltm_bench import Message, Usage
from ltm_bench.adapters import agent_class

OpenAIChat = agent_class("openai_chat")


class Waiting(OpenAIChat):
    provider = "openai"

    def __init__(self, *, base_url: str) -> None:
        super().__init__(model="gpt-4o", base_url=base_url, window=32_000, max_output=1000)

    def reserve(self, message: Message) -> Usage:
        return Usage(output=1000, model="gpt-4o", provider="openai")
'''

ANSWER = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "I do not know."}}
    ],
    "usage": {"prompt_tokens": 0, "completion_tokens": 1000, "total_tokens": 1000},
}

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
    """Answer chat requests after the latency, and report the number of answers on request."""
    answered, body = 0, json.dumps(ANSWER).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answered
        try:
            while asked := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"content-length: (\d+)", asked.lower())
                await reader.readexactly(int(length[1]) if length else 0)
                answered += 1
                await asyncio.sleep(latency)
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1024)
        told.send(server.sockets[0].getsockname()[1])
        while True:
            await asyncio.to_thread(told.recv)
            told.send(answered)

    asyncio.run(run())


@contextmanager
def cluster_of(cpus: int) -> Iterator[str]:
    """Run a Ray cluster of one node with this many processors; yield its address."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER, str(cpus)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = next((line.strip() for line in process.stdout if ":" in line), None)
        if address is None:
            raise SystemExit("Ray's cluster did not start")
        yield address
        process.stdin.close()


def workers(runs: str) -> list[float]:
    """Return the resident memory in MB of Ray's workers that execute one of these runs, which they are named after."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cmdline").read_bytes().startswith(f"ray::{runs}".encode()):
                resident = re.search(r"VmRSS:\s+(\d+)", (process / "status").read_text("utf-8"))
                found += [int(resident[1]) / 1024] if resident else []
        except OSError:  # it is gone
            continue
    return found


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


@measurement(
    __doc__,
    conversations=64,
    at_once=(64, "calls at a time; on a cluster, conversations"),
    latency=0.5,
    span="8k",
    suite="smoke",
    examples=(1, "of each scenario"),
    ray=(False, "on a local Ray cluster"),
    faults=(False, "with a limit that is too low, and a kill"),
)
def main(chosen: Arguments) -> None:
    """Run the sweeps, and print their results."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # every process would compile all that it imports
    os.environ |= {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "no-key-at-all", "RAY_USAGE_STATS_ENABLED": "0"}
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(chosen.latency, theirs), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"

    def answered() -> int:
        ours.send(None)
        count: int = ours.recv()
        return count

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "agents").mkdir()
        (folder / "agents" / "waiting.py").write_text(ADAPTER, "utf-8")
        os.chdir(folder)
        what = {"span": chosen.span, "suite": chosen.suite, "examples": chosen.examples}
        asked = Request(agent="waiting", base_url=url, **what)
        plan = make_plan(asked)
        calls, runs = estimate(plan).calls, plan.name.rpartition("-seed")[0]
        words = ["sweep", "--agent", "waiting", *(f"--{name}={value}" for name, value in what.items())]
        words += ["--seed", f"0..{chosen.conversations - 1}", "--base-url", url]
        cpus = os.cpu_count() or 1  # a node starts as many workers at a time
        cluster = ["--executor", "ray", "--resources", f"num_cpus={cpus / chosen.at_once:.4f}"]
        words += ["--max-connections", str(chosen.at_once), *(cluster if chosen.ray else [])]
        print(
            f"{chosen.conversations} conversations of {chosen.span}, about {calls} calls each, "
            f"{chosen.latency} s a call, {chosen.at_once} at a time"
        )
        row = table("", *"exit|wall s|CPU s|calls|a second|of the ideal|over|MB|worker MB|workers".split("|"))

        def sweep(title: str, dollars: float, kill_after: int | None = None) -> int:
            """Run the command, and kill it once this many conversations are finished."""
            before, seen = answered(), [list[float]()]
            process = begin([*words, "--max-cost", f"{dollars:.2f}"], folder)

            def watch() -> None:
                seen.append(workers(runs))
                if kill_after is not None and finished(folder) >= kill_after:
                    process.kill()

            spent = spent_by(process, watch)
            made = answered() - before
            share = made * chosen.latency / chosen.at_once / spent.wall
            row(
                title, process.returncode, f"{spent.wall:.0f}", f"{spent.cpu:.0f}", f"{made:,}",
                f"{made / spent.wall:.1f}", f"{share:.0%}", finished(folder), f"{spent.mb:.0f}",
                f"{max(map(max, filter(None, seen)), default=0.0):.0f}", max(map(len, seen)),
            )  # fmt: skip
            return made

        with cluster_of(cpus) if chosen.ray else nullcontext("") as address:
            os.environ |= {"RAY_ADDRESS": address} if address else {}
            enough = 2 * calls * chosen.conversations / 100
            made = 0
            if chosen.faults:
                made = sweep(f"limit of ${enough / 6:.2f}", enough / 6)
                print(f"billed ${made / 100:.2f} of ${enough / 6:.2f}", flush=True)
                made += sweep("killed", enough, (finished(folder) + chosen.conversations) // 2)
                time.sleep(5)  # until the cluster has noticed
            made += sweep("resumed" if chosen.faults else "undisturbed", enough)
        logged = replies(folder)
        print(
            f"{logged:,} replies in the logs, {made:,} answered: {made - logged} were under way and asked again"
        )
        if finished(folder) != chosen.conversations:
            raise SystemExit(f"only {finished(folder)} of {chosen.conversations} conversations are finished")
        os.chdir("/")
    server.terminate()
