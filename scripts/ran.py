"""What ran: the cases in pytest's reports, the ones that ran nowhere, and the tables at the end of CI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

COLUMNS = ("conformance", "2k run", "resume after SIGKILL", "restore", "forget", "two users", "fork")
"""What the tests show about each adapter, as properties: `record_property("mem0", "forget: yes")`."""


@dataclass(frozen=True)
class Case:
    """A test that ran or was skipped."""

    file: str
    """The dotted name of its module."""
    name: str
    """Empty if a whole file was skipped."""
    skipped: str | None = None
    """Why it was skipped."""
    failed: bool = False
    said: tuple[tuple[str, str], ...] = ()
    """Its properties, each a name and a value."""


def read_cases(path: Path) -> list[Case]:
    """Read what pytest wrote with --junitxml; return nothing if it wrote nothing."""
    if not path.exists():
        return []
    cases = []
    for case in ElementTree.parse(path).iter("testcase"):
        skip = case.find("skipped")
        failed = case.find("failure") is not None or case.find("error") is not None
        file, name = case.get("classname", ""), case.get("name", "")
        if not file:  # the whole file was skipped on import
            file, name = name, ""
        why = None if skip is None else (skip.get("message") or skip.text or "no reason given")
        said = tuple((each.get("name", ""), each.get("value", "")) for each in case.iter("property"))
        cases.append(Case(file, name, why, failed, said))
    return cases


def read_seconds(path: Path) -> float:
    """Read how long pytest took; 0 where it wrote nothing."""
    suite = ElementTree.parse(path).find("testsuite") if path.exists() else None
    return float(suite.get("time", 0)) if suite is not None else 0.0


@dataclass
class Result:
    """The result of `scripts/check` or of a group."""

    name: str
    cases: Sequence[Case] = ()
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    left_out: str = ""
    """Why it cannot run on this machine, which is not a failure."""
    kept: str = ""
    """Why it need not run, which is none either."""

    @property
    def ran(self) -> int:
        """Number of tests that ran."""
        return sum(each.skipped is None for each in self.cases)

    @property
    def skipped(self) -> int:
        """Number of skipped tests."""
        return len(self.cases) - self.ran


def unexpected(cases: Iterable[Case], allowed: Iterable[str]) -> list[Case]:
    """Return the tests that were skipped for a reason without any of the allowed parts."""
    parts = list(allowed)
    return [
        each for each in cases if each.skipped is not None and not any(part in each.skipped for part in parts)
    ]


def skipped_everywhere(results: Sequence[Result]) -> list[Case]:
    """Return the tests that were skipped everywhere, each once; a wholly skipped file counts as one."""
    ran = {(each.file, each.name) for result in results for each in result.cases if each.skipped is None}
    files = {file for file, _ in ran}
    skipped = {
        (each.file, each.name): each
        for result in results
        for each in result.cases
        if each.skipped is not None
        and (each.file, each.name) not in ran
        and not (not each.name and each.file in files)
    }
    return list(skipped.values())


def table(results: Sequence[Result]) -> str:
    """Return what ran as a table, and what is wrong below it."""
    width = max(len(each.name) for each in results)
    lines = [f"{'group':<{width}}  tests  skipped  seconds"]
    for each in results:
        mark = (
            f"  LEFT OUT: {each.left_out}" if each.left_out else f"  KEPT: {each.kept}" if each.kept else ""
        )
        mark = "  FAILED" if each.problems else mark
        lines.append(f"{each.name:<{width}}  {each.ran:>5}  {each.skipped:>7}  {each.seconds:>7.0f}{mark}")
    seconds = sum(each.seconds for each in results)
    ran, skipped = sum(each.ran for each in results), sum(each.skipped for each in results)
    lines.append(f"{'all':<{width}}  {ran:>5}  {skipped:>7}  {seconds:>7.0f}")
    return "\n".join([*lines, *(f"{each.name}: {problem}" for each in results for problem in each.problems)])


def reasons(cases: Iterable[Case]) -> str:
    """Return how many tests were skipped for each reason, one line each."""
    counted = Counter(each.skipped for each in cases)
    return "\n".join(f"{count:>5}  {why}" for why, count in counted.most_common())


def said_of(results: Sequence[Result]) -> dict[tuple[str, str], str]:
    """Return what passed tests show about adapters, by adapter and column."""
    found = {}
    for result in results:
        for case in result.cases:
            if not case.failed and case.skipped is None:
                for adapter, said in case.said:
                    column, _, value = said.partition(": ")
                    found[adapter, column] = value
    return found


def untold(adapters: Sequence[str], said: Mapping[tuple[str, str], str]) -> list[str]:
    """Return what no test has shown, one line for each fact."""
    return [
        f"no passed test covers, for the adapter {adapter}: {column}"
        for adapter in adapters
        for column in COLUMNS
        if (adapter, column) not in said
    ]


def adapters_table(adapters: Sequence[str], said: Mapping[tuple[str, str], str]) -> str:
    """Return what the tests showed about the adapters, in Markdown."""
    rows = [
        [f"`{adapter}`", *(said.get((adapter, column), "not tested") for column in COLUMNS)]
        for adapter in adapters
    ]
    lines = [["adapter", *COLUMNS], ["---"] * (len(COLUMNS) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def totals(results: Sequence[Result]) -> str:
    """Return how many tests passed, failed, and were skipped everywhere, each counted once."""
    ran: dict[tuple[str, str], bool] = {}
    for result in results:
        for each in result.cases:
            if each.skipped is None:
                ran[each.file, each.name] = ran.get((each.file, each.name), False) or each.failed
    failed = sum(ran.values())
    return f"{len(ran) - failed} passed, {failed} failed, {len(skipped_everywhere(results))} skipped"
