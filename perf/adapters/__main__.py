"""Every adapter under every failure, with real processes and a local provider.

    python -m perf.adapters [--adapters openai_chat,http] [--cells run,timeout] [--span 2k]

The provider knows the right reply to every message (from a run of `perfect`), so every outcome but `correct` is an
error. A cell is `ok` if the following was observed, `–` if it does not apply, and otherwise says what was observed
instead.

    run       the run ends, every answer is right, and no turn was asked more than once
    SIGKILL   killed at 30, 55 and 80 % of the log and resumed, the run ends with the log of the undisturbed one, byte
              for byte, and no logged turn was asked again
    restore   cut back to 60 % of its log, and without the agent's folder, the run ends with the same log, and the agent
              was told, or sent, exactly what the undisturbed one was (`http` keeps its folder, since the endpoint
              holds its memory under the session id; without the folder the cell requires exit 3)
    timeout   a silent provider is retried as often as configured; then the run exits with 3 and a line that says so, no
              question is wrong, and `resume` ends with the same log
    429       bursts of three with `retry-after: 1`: each pause is respected, no retry comes too early, the same log
    overflow  a window, or a provider, that accepts no more: some turns overflow, and every question is right or
              `overflow`
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from perf.adapters.bench import CELLS, Bench
from perf.adapters.rows import ROWS
from perf.adapters.serving import Wanted, serving
from perf.arguments import parser_for


def main() -> None:
    """Measure and print."""
    args = parser_for(
        __doc__,
        adapters=("", "only adapters whose names begin like this"),
        cells=",".join(CELLS),
        span="2k",
        keep=(False, "keep the runs, and print their folder"),
    ).parse_args()
    cells = [name for name in CELLS if name == "run" or name in args.cells.split(",")]
    chosen = [row for row in ROWS if any(map(row.name.startswith, args.adapters.split(",")))]
    begun = time.perf_counter()
    temporary = Path(tempfile.mkdtemp(prefix="adapters-"))
    words = (*("--name", "p", "--agent", "perfect", "--span", args.span), "--examples", "1")
    subprocess.run(
        [sys.executable, "-m", "ltm_bench", "run", *words], cwd=temporary, capture_output=True, check=True
    )
    wanted = Wanted(temporary / "reports" / "p" / "events.jsonl")
    print(f"| adapter | {' | '.join(cells)} |\n|---|{'---|' * len(cells)}", flush=True)
    with serving() as server:
        server.answer = wanted.answer
        for number, row in enumerate(chosen):
            bench = Bench(row, server, wanted, args.span, temporary / str(number))
            print(f"| {row.name} ", end="", flush=True)
            for name in cells:
                print(f"| {bench.cell(name)} ", end="", flush=True)
            print("|", flush=True)
    print()
    for row in chosen:
        for name, why in row.not_for.items():
            if name in cells:
                print(f"{row.name}, {name}: –, {why}")
    print(f"{time.perf_counter() - begun:.0f} s")
    if args.keep:
        print(temporary)
    else:
        shutil.rmtree(temporary)


if __name__ == "__main__":
    main()
