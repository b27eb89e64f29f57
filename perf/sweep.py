"""The share of the ideal throughput that many simultaneous conversations reach against a slow provider.

    python -m perf.sweep                   # 64 conversations, a provider that takes half a second

Ideally every conversation spends all its time waiting: its number of live turns times the latency. The provider is a
separate process, which answers every request after the latency and does nothing else.
"""

import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import LtmBenchError
from ltm_bench.log.events import Sent
from ltm_bench.log.reader import read_events
from ltm_bench.plan.request import Request
from ltm_bench.runner.grid import Grid, jobs_of
from ltm_bench.runner.observer import Observer, Silent
from ltm_bench.runner.sweep import Job, sweep
from perf.arguments import parser_for


class SilentSweep:
    """Observes a sweep, and does nothing."""

    def begun(self, job: Job, *, already: bool) -> Observer:
        """Ignore the turns, too."""
        return Silent()

    def noted(self, job: Job, line: str) -> None:
        """Do nothing."""

    def done(self, job: Job, problem: LtmBenchError | None) -> None:
        """Do nothing."""


def serve(port: "multiprocessing.Queue[int]", latency: float) -> None:
    """Answer chat requests after the latency."""
    content = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "I do not know."},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
    body = json.dumps(content).encode()
    answer = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body
    )

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                fields = dict(
                    line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line
                )
                await reader.readexactly(int(fields[b"content-length"]))
                await asyncio.sleep(latency)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1024)
        port.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def live_turns(log: Path) -> int:
    """Return how many messages of a run the agent answered itself."""
    return sum(isinstance(event, Sent) and event.kind != "fill" for event in read_events(log))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print one line."""
    chosen = parser_for(__doc__, conversations=64, latency=0.5, span="8k").parse_args(arguments)
    ports: multiprocessing.Queue[int] = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(ports, chosen.latency), daemon=True)
    server.start()
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        grid = Grid(agents=["openai_chat"], spans=[chosen.span], seeds=list(range(chosen.conversations)))
        common = Request(
            settings={"model": "some-model", "window": 32000}, base_url=f"http://127.0.0.1:{ports.get()}/v1"
        )
        jobs = jobs_of(grid, common).jobs
        began, cpu = time.perf_counter(), time.process_time()
        done = asyncio.run(sweep(jobs, Budget(), SilentSweep(), connections=chosen.conversations))
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        problems = [each.problem for each in done if each.problem is not None]
        if problems:
            raise SystemExit("\n".join(map(str, problems)))
        turns = [live_turns(job.folder / "events.jsonl") for job in jobs]
        os.chdir("/")
    server.terminate()
    ideal = max(turns) * chosen.latency
    print(
        f"{len(jobs)} conversations, {sum(turns)} live turns: {wall:.1f} s, ideal {ideal:.1f} s "
        f"(the longest has {max(turns)} turns): {ideal / wall:.0%} of the ideal throughput; {cpu:.1f} s of CPU, "
        f"{1000 * cpu / sum(turns):.1f} ms a turn"
    )


if __name__ == "__main__":
    main()
