"""Do the tests notice a fault? Mutants by a seed, each against the tests that cover its line.

    python -m perf.mutants cover    runs every test once, and notes what each covers and costs
    python -m perf.mutants list     chooses mutants and writes them, a line of JSON each
    python -m perf.mutants run      runs those without a result, cheapest tests first, and prints the shares that die

All of it is kept in a folder, .mutants if not told otherwise. Another commit is compared by the same list: its mutants
are found again by what stands in their lines. Only what is committed is run, in a clone that ends with the command; so
`run` may be stopped and begun again.

A mutant meets the tests of its own room first. It dies if a test fails, or takes a minute of CPU time; no test begins
after 42 seconds, so that what is covered by thousands of tests meets the cheapest of them. Tests with the mark `proof`,
whose result is kept as long as nothing that they depend on changes, come last and are counted apart; with `--proofs
'--prove changed'` they try as many seeds as the check would after the change.

A line that only programs run which the tests start counts as covered by no test. What a cache keeps from one test to
the next counts for the first of them; what a shared fixture makes, also when it is called, for all.

Neither cosmic-ray 8.7 nor mutmut 3.8 would do: the first meets every mutant with all tests, 12 CPU minutes here; the
second changes functions alone, and rewrites every one of them, which tests that read the code would notice. Neither
chooses by a seed or limits CPU time.
"""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path
from typing import Any

from coverage import Coverage, CoverageData

from perf.harness import Arguments, measurement, table
from perf.mutants.changes import EVERYWHERE, Mutant, chosen

ROOMS = " ".join(f"ltm_bench/{room}" for room in "core matchers schedule runner score adapters log".split())
OPTIONS = "-q -p covering -p no:cacheprovider --hypothesis-seed=0".split()
BEGIN, PLANNED = 0.7, 0.4
"""The share of a mutant's CPU time after which no test begins, and that of the tests which are planned for it."""
ENDLESS = 900
"""Seconds by the clock after which a mutant ends: its tests wait for something."""
TRIPWIRES = "test_a_matchers_verdicts_change_only_with_its_version"
"""Tests that fail at any change of the code, be it a fault or not, and so tell nothing."""


def clone(checkout: Path, place: str) -> Path:
    """Clone a checkout's last commit to a folder."""
    subprocess.run(["git", "clone", "--quiet", "--shared", str(checkout), f"{place}/clone"], check=True)
    return Path(place) / "clone"


def pytest(
    copy: Path, notes: Path, *arguments: str, limit: int | None = None, **variables: str
) -> tuple[int, float]:
    """Run pytest with the plug-in in a clone; return its exit code and the CPU seconds."""
    path = os.pathsep.join([str(copy), str(Path(__file__).parent)])
    environment = os.environ | {"PYTHONPATH": path, "MUTANTS_FOLDER": str(notes)} | variables
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (notes / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *OPTIONS, *arguments],
            cwd=copy, env=environment, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        with suppress(subprocess.TimeoutExpired):
            process.wait(limit)
    finally:
        with suppress(ProcessLookupError):  # what the tests have left
            os.killpg(process.pid, signal.SIGKILL)
    code, after = process.wait(), resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, sum(after[:2]) - sum(before[:2])


class Covered:
    """What every test that passes covers and costs."""

    def __init__(self, folder: Path, without: str = "^$") -> None:
        self.data = CoverageData(str(folder / "lines"))
        self.data.read()
        files = [path.read_text("utf-8") for path in sorted(folder.glob("tests-*.jsonl"))]
        notes = [json.loads(line) for line in "".join(files).splitlines()]
        self.tests = {n["test"]: n for n in notes if n["passed"] and not re.search(without, n["test"])}

    def by(self, mutant: Mutant, line: int) -> set[str]:
        """Return the tests that cover a mutant which stands at a line."""
        first, last = (each + line - mutant.line if each < EVERYWHERE else each for each in mutant.covers)
        lines = self.data.contexts_by_lineno(mutant.file)
        contexts = {context for n, of in lines.items() if first <= n <= last for context in of}
        found = {test for test, n in self.tests.items() if not contexts.isdisjoint([test, *n["shared"]])}
        if last == EVERYWHERE:  # what is made when the file is imported may be tested from elsewhere
            found.update(test for test in self.tests if test.startswith(mutant.tests))
        return found

    def cheapest(self, tests: Iterable[str], seconds: float) -> list[str]:
        """Return a test, or those that take so long together, cheapest first, but those of a file together."""
        ordered = sorted(tests, key=lambda test: (self.tests[test]["cpu"], test))
        costs = accumulate(self.tests[test]["cpu"] for test in ordered)
        some = ordered[: max(1, sum(cost < seconds for cost in costs))]
        files = list(dict.fromkeys(test.partition("::")[0] for test in some))
        return sorted(some, key=lambda test: files.index(test.partition("::")[0]))


def put(file: Path, text: str) -> None:
    """Write a file, whose byte code must not pass for that of another text of its size and second."""
    file.write_text(text, "utf-8")
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def tried(mutant: Mutant, covered: Covered, copy: Path, notes: Path, asked: Arguments) -> dict[str, Any]:
    """Put a mutant into a clone, run its tests, and return the result."""
    file = copy / mutant.file
    text = file.read_text("utf-8") if file.is_file() else ""
    line = mutant.found(text)
    tests = covered.by(mutant, line) if line else set()
    result: dict[str, Any] = {"mutant": [*mutant[:4]], "result": "uncovered" if line else "gone"}
    result |= {"covering": len(tests), "ran": 0, "cpu": 0.0}
    proofs = {test for test in tests if covered.tests[test]["proof"]}
    own = {test for test in tests - proofs if test.startswith(mutant.tests)}
    spent = 0.0
    for batch in (own, tests - proofs - own, proofs):
        spent = 0.0 if batch is proofs else spent
        if not batch or spent > asked.seconds * BEGIN:
            continue
        some = covered.cheapest(batch, asked.seconds * PLANNED)
        (notes / "tests").write_text("\n".join(some), "utf-8")
        (notes / "failed").write_text("", "utf-8")
        try:
            put(file, mutant.applied(text, line or 0))
            files = dict.fromkeys(test.partition("::")[0] for test in some)
            left = f"{asked.seconds * BEGIN - spent:.0f} {asked.seconds - spent:.0f}"
            how = ["-x", *files, *shlex.split(asked.proofs if batch is proofs else "")]
            code, cpu = pytest(copy, notes, *how, limit=ENDLESS, MUTANTS_SECONDS=left)
        finally:
            put(file, text)
        spent += cpu
        result |= {"result": "survived", "cpu": result["cpu"] + cpu, "ran": result["ran"] + len(some)}
        if code not in {0, 5}:  # 5: there is none of these tests
            ended = "no end" if code < 0 else f"pytest ended with {code}"
            by = (notes / "failed").read_text("utf-8") or ended
            return result | {"result": "proof" if batch is proofs else "killed", "by": by}
    return result


def shown(listed: list[Mutant], results: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """Print how many died, by room, and name those that did not, or of a proof alone."""
    row = table("room", "mutants", "killed", "proof alone", "survived", "uncovered", "share", "with proofs")
    known = {mutant: results[mutant[:4]] for mutant in listed if mutant[:4] in results}
    known = {mutant: result for mutant, result in known.items() if result["result"] != "gone"}
    for room in (*dict.fromkeys(mutant.tests for mutant in known), ""):
        of = [result["result"] for mutant, result in known.items() if mutant.tests.startswith(room)]
        counts = [of.count(each) for each in ("killed", "proof", "survived", "uncovered")]
        shares = [f"{sum(counts[:n]) / len(of):.0%}" for n in (1, 2) if of]
        row(Path(room).name or "all", len(of), *counts, *shares)
    for mutant, result in known.items():
        if result["result"] != "killed":
            print(f"\n{result['result']} {result.get('by', '')}: {mutant.file}:{mutant.line} ({mutant.kind})")
            print(f"- {mutant.original.strip()}\n+ {mutant.mutated.strip()}")
    print(f"\n{len(known)} of {len(listed)} have a result")


def cover(checkout: Path, folder: Path, rooms: str, arguments: str) -> None:
    """Run every test once, and keep what it covers."""
    for old in (*folder.glob("tests-*.jsonl"), *folder.glob("lines*")):
        old.unlink()
    with tempfile.TemporaryDirectory() as place:
        _, spent = pytest(clone(checkout, place), folder, *shlex.split(arguments), MUTANTS_ROOMS=rooms)
    whole = Coverage(str(folder / "lines"), config_file=False)
    whole.set_option("run:relative_files", True)
    whole.combine([str(folder)])
    whole.save()
    print(f"{len(Covered(folder).tests)} tests passed; {spent:,.0f} CPU s: {folder}")


def run(checkout: Path, folder: Path, file: Path, asked: Arguments) -> None:
    """Run the mutants of a list that have no result, and print all results."""
    listed = [Mutant.read(line) for line in file.read_text("utf-8").splitlines()]
    kept, covered = folder / "results.jsonl", Covered(folder, asked.without)

    def results() -> dict[tuple[Any, ...], dict[str, Any]]:
        lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
        return {tuple(result["mutant"]): result for result in map(json.loads, lines)}

    with tempfile.TemporaryDirectory() as place:
        copy, known = clone(checkout, place), results()
        for mutant in listed:
            if mutant[:4] not in known:
                result = tried(mutant, covered, copy, Path(place), asked)
                with kept.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(result) + "\n")
    shown(listed, results())


@measurement(
    __doc__, command=(str, "cover, list or run"), checkout=(".", "the checkout whose tests are meant"),
    folder=(".mutants", "what is kept"), mutants=("", "a list, if not the folder's"), rooms=(ROOMS, "its folders"),
    number=200, seed=0, seconds=(60, "CPU seconds of a mutant"),
    pytest=("-m 'not long'", "more arguments of pytest for `cover`"),
    proofs=("", "more arguments of pytest for proofs"),
    without=(TRIPWIRES, "a pattern of tests that no mutant meets"),
)  # fmt: skip
def main(asked: Arguments) -> None:
    """Cover, choose or run."""
    checkout, folder = Path(asked.checkout).resolve(), Path(asked.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    file = Path(asked.mutants or folder / "mutants.jsonl")
    if asked.command == "cover":
        cover(checkout, folder, asked.rooms, asked.pytest)
    elif asked.command == "list":
        found = chosen(checkout, asked.rooms.split(), asked.number, asked.seed)
        file.write_text("".join(json.dumps(each._asdict()) + "\n" for each in found), "utf-8")
    else:
        run(checkout, folder, file, asked)
