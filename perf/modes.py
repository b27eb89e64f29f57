"""Wall time, calls and prompt tokens of one run in each mode, against a slow stand-in server.

    python -m perf.modes [--span 120k] [--latency 1.0] [--modes in-line,scripted,forked,quick]

`chain` is how many calls wait for the previous one: a run cannot be shorter than these, plus one for the last fork.
`rest` is what the run takes beyond that.
"""

import json
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from ltm_bench.adapters.testing import Said, provider
from perf.arguments import Arguments, measurement
from perf.processes import spent_on
from perf.tables import table

MODES = {
    "in-line": (),
    "scripted": ("--acknowledge", "scripted"),
    "forked": ("--questions", "forked"),
    "quick": ("--quick",),
}


def serve(latency: float, told: Connection) -> None:
    """Run the server: answer every request with a word, after some seconds."""

    def answer(messages: Sequence[Said]) -> str:
        time.sleep(latency)
        return "Okay."

    with provider(answer) as server:
        told.send(server.openai_url)
        told.recv()  # until it is killed


@measurement(
    __doc__,
    span="120k",
    latency=(1.0, "seconds per answer"),
    modes=",".join(MODES),
    agent="openai_chat:some-model",
)
def main(args: Arguments) -> None:
    """Run and print."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(args.latency, theirs), daemon=True)
    server.start()
    url = ours.recv()
    row = table(*"mode|wall s|cpu s|calls|chain|floor s|rest s|prompt tokens|cached|output".split("|"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for mode in args.modes.split(","):
            words = ["run", "--span", args.span, "--agent", args.agent, "--base-url", url, "--name", mode]
            environment = {"OPENAI_API_KEY": "any"}
            spent = spent_on([*words, *MODES[mode]], folder, environment=environment)
            run = folder / "reports" / mode
            costs = json.loads((run / "results.json").read_text("utf-8"))["costs"]
            usage = costs["usage"]
            forks = (run / "events.jsonl").read_bytes().count(b'{"event":"forked"')
            chain = costs["calls"] - forks
            floor = (chain + bool(forks)) * args.latency
            prompt = usage["uncached"] + usage["cache_read"] + usage["cache_write"]
            seconds = (f"{each:.1f}" for each in (floor, spent.wall - floor))
            tokens = (f"{each:,}" for each in (prompt, usage["cache_read"], usage["output"]))
            row(mode, f"{spent.wall:.1f}", f"{spent.cpu:.1f}", costs["calls"], chain, *seconds, *tokens)
    ours.send(None)
    server.join()
