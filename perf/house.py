"""What whole commands cost, side by side with another version: `run` with `parrot` at several spans, and `report`.

    python -m perf.house                                             # this checkout alone
    python -m perf.house --against ../released/.venv/bin/ltm-bench   # and another version's command

CPU seconds (user and system) of whole processes, start-up included: the median of so many, each in a fresh folder. The
two versions take turns, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from perf.processes import LTM_BENCH, spent_on

SPANS = "2k,32k,120k,500k"
REPORTED = "120k"
"""The span of the run whose report is written."""


def run(program: Sequence[str], span: str) -> float:
    """Return the CPU seconds of a run."""
    with tempfile.TemporaryDirectory() as folder:
        return spent_on(["run", "--agent", "parrot", "--span", span], Path(folder), program=program).cpu


def report(program: Sequence[str], span: str) -> float:
    """Return the CPU seconds of writing the report of a finished run."""
    with tempfile.TemporaryDirectory() as folder:
        spent_on(["run", "--agent", "parrot", "--span", span], Path(folder), program=program)
        return spent_on(["report"], Path(folder), program=program).cpu


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, metavar="LTM_BENCH", help="another version's command")
    parser.add_argument("--spans", default=SPANS)
    parser.add_argument("--times", type=int, default=5)
    args = parser.parse_args()
    programs: dict[str, Sequence[str]] = {"this": LTM_BENCH}
    if args.against is not None:
        programs = {"other": [str(args.against.absolute())], **programs}
    commands: list[tuple[str, Callable[[Sequence[str], str], float], str]] = [
        *((f"run, {span}", run, span) for span in args.spans.split(",")),
        (f"report, {REPORTED}", report, REPORTED),
    ]
    ratio = len(programs) > 1
    print(f"| CPU s | {' | '.join(programs)} |{' ratio |' if ratio else ''}")
    print(f"|---|{'--:|' * (len(programs) + ratio)}")
    for title, measure, span in commands:
        found: dict[str, list[float]] = defaultdict(list)
        for _ in range(args.times):
            for name, program in programs.items():
                found[name].append(measure(program, span))
        medians = {name: median(each) for name, each in found.items()}
        cells = [f"{each:.2f}" for each in medians.values()]
        if ratio:
            cells.append(f"{medians['this'] / medians['other']:.2f}")
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
