"""The cost of whole commands, compared with another version: `run` with `parrot` at several spans, and `report`.

    python -m perf.house                                             # this checkout alone
    python -m perf.house --against ../released/.venv/bin/ltm-bench   # and another version's command

CPU seconds (user and system) of whole processes, start-up included: the median of several, each in a fresh folder. The
two versions take turns, so that other load affects both. Byte code is written beforehand and used, as in every call but
the first after an installation.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from perf.arguments import parser_for
from perf.processes import LTM_BENCH, spent_on
from perf.tables import table

SPANS = "2k,32k,120k,500k"
REPORTED = "120k"
"""The span of the run whose report is written."""


class Version(NamedTuple):
    """A version that is measured."""

    program: Sequence[str]
    """Its command."""
    cached: str
    """The folder of its byte code."""

    def cpu(self, arguments: Sequence[str], folder: Path) -> float:
        """Return the CPU seconds of a command."""
        environment = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": self.cached}
        return spent_on(arguments, folder, program=self.program, environment=environment).cpu


def run(version: Version, span: str) -> float:
    """Return the CPU seconds of a run."""
    with tempfile.TemporaryDirectory() as folder:
        return version.cpu(["run", "--agent", "parrot", "--span", span], Path(folder))


def report(version: Version, span: str) -> float:
    """Return the CPU seconds of writing the report of a finished run."""
    with tempfile.TemporaryDirectory() as folder:
        version.cpu(["run", "--agent", "parrot", "--span", span], Path(folder))
        return version.cpu(["report"], Path(folder))


def main() -> None:
    """Measure and print a table."""
    parser = parser_for(__doc__, spans=SPANS, times=5)
    parser.add_argument("--against", type=Path, metavar="LTM_BENCH", help="another version's command")
    args = parser.parse_args()
    commands: list[tuple[str, Callable[[Version, str], float], str]] = [
        *((f"run, {span}", run, span) for span in args.spans.split(",")),
        (f"report, {REPORTED}", report, REPORTED),
    ]
    with tempfile.TemporaryDirectory() as cached:
        versions = {"this": Version(LTM_BENCH, f"{cached}/this")}
        if args.against is not None:
            other = Version([str(args.against.absolute())], f"{cached}/other")
            versions = {"other": other, **versions}
        for version in versions.values():
            report(version, "2k")  # writes the byte code
        compared = len(versions) > 1
        row = table("CPU s", *versions, *(["ratio"] if compared else []))
        for title, measure, span in commands:
            found: dict[str, list[float]] = defaultdict(list)
            for _ in range(args.times):
                for name, version in versions.items():
                    found[name].append(measure(version, span))
            medians = {name: median(each) for name, each in found.items()}
            cells = [f"{each:.2f}" for each in medians.values()]
            if compared:
                cells.append(f"{medians['this'] / medians['other']:.2f}")
            row(title, *cells)


if __name__ == "__main__":
    main()
