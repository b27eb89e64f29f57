"""What it costs to go on with a run that was killed, against reading its log and telling the agent every turn.

    python benchmarks/resume.py [--spans 10M] [--times 3]

A whole conversation with `parrot` is held once, and the last events are cut off its log. `resume s` is what going on
with it takes, to its end, which must be the same log byte for byte. `read s` is reading the log once, `replay s` going
through it once more and giving every turn to the agent; `ratio` is against both together, `strict` against the second
alone, which has to read too. Processor time after start-up, the least of so many times; `MB` is the peak of resuming.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from engine import ENGINE, measured  # type: ignore[import-not-found]  # a file beside this one, not a package

READ = """
import asyncio, json, sys, time
from pathlib import Path
from ltm_bench import dropins
from ltm_bench.log import read_events, read_turns

agent = dropins.make_agent("parrot", {})
path = Path(sys.argv[1])

async def replay():
    for turn in read_turns(path):
        await agent.observe(turn)

begun = time.process_time()
for event in read_events(path):
    pass
read = time.process_time() - begun
asyncio.run(replay())
print(json.dumps({"cpu": time.process_time() - begun, "read": read}))
"""


def cut(log: Path) -> None:
    """Cut the last events off a log, as a run that was killed would have left it."""
    with log.open("rb+") as file:
        size = log.stat().st_size
        file.seek(max(0, size - 20_000))
        tail = file.read()
        file.truncate(size - len(tail) + tail.index(b"\n") + 1)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", default="10M")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    print("  span   read s  replay s  resume s  ratio  strict     MB")
    for span in args.spans.split(","):
        with tempfile.TemporaryDirectory() as home:
            whole, broken = Path(home) / "whole", Path(home) / "broken"
            whole.mkdir()
            measured(ENGINE, span, str(whole))
            told, resumed = [], []
            for _ in range(args.times):
                shutil.copytree(whole, broken)
                log = broken / "events.jsonl"
                cut(log)
                told.append(measured(READ, str(log)))
                resumed.append(measured(ENGINE, span, str(broken)))
                if log.read_bytes() != (whole / "events.jsonl").read_bytes():
                    raise SystemExit(f"{span}: the resumed run has another log")
                shutil.rmtree(broken)
            read, going_on = (min(each, key=lambda run: run["cpu"]) for each in (told, resumed))
            replay = read["cpu"] - read["read"]
            print(
                f"{span:>6} {read['read']:>8.3f} {replay:>9.3f} {going_on['cpu']:>9.3f} "
                f"{going_on['cpu'] / read['cpu']:>6.2f} {going_on['cpu'] / replay:>7.2f} {going_on['mb']:>6.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
