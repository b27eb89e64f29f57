"""A plug-in of pytest for perf.mutants: it notes what every test covers and costs, or runs the tests of a list.

It stands alone, since what it runs in may be an older checkout, whose own `perf` is imported there.
"""

import json
import os
import resource
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FunctionType
from typing import Any

import coverage
import pytest

FOLDER = Path(os.environ["MUTANTS_FOLDER"])
"""Where the notes go; or where the list is, and where the name of the first test that fails goes."""


def cpu() -> float:
    """Return the CPU seconds of this process and of the children that it has waited for."""
    return sum(sum(resource.getrusage(of)[:2]) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Covering:
    """Notes the lines and the cost of every test. What a shared fixture runs is noted for all tests that use it."""

    def __init__(self) -> None:
        rooms = os.environ["MUTANTS_ROOMS"].split()
        self.coverage = coverage.Coverage(str(FOLDER / "lines"), True, config_file=False, source=rooms)
        self.coverage.set_option("run:relative_files", True)
        # What it warns of would fail a test that takes warnings for errors.
        self.coverage.set_option("run:disable_warnings", ["module-not-imported", "no-data-collected"])
        self.coverage.start()
        self.context = ""
        self.notes: dict[str, dict[str, Any]] = {}

    @contextmanager
    def noting(self, context: str) -> Iterator[None]:
        """Note what runs for a test or a shared fixture, and not for what is around it."""
        outer, self.context = self.context, context
        self.coverage.switch_context(context)
        try:
            yield
        finally:
            self.context = outer
            self.coverage.switch_context(outer)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Function) -> Generator[None, Any, Any]:
        """Note a test."""
        fixtures = item._fixtureinfo.name2fixturedefs.values()  # which pytest tells in no other way
        shared = [_name(fixture) for of in fixtures for fixture in of if fixture.scope != "function"]
        proof = item.get_closest_marker("proof") is not None
        note: dict[str, Any] = {"test": item.nodeid, "shared": shared, "proof": proof, "passed": False}
        self.notes[item.nodeid] = note
        before = cpu()
        with self.noting(item.nodeid):
            result = yield
        note["cpu"] = cpu() - before
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        """Note a shared fixture; if it is an object to be called, as one that makes and keeps runs, its calls too."""
        name = _name(fixturedef)
        if fixturedef.scope == "function":
            return (yield)
        with self.noting(name):
            made = yield
        kind = type(made)
        if isinstance(vars(kind).get("__call__"), FunctionType):
            kind.__call__ = self.noting(name)(kind.__call__)
        return made

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test passed."""
        if report.when == "call":
            self.notes[report.nodeid]["passed"] = report.passed

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Write all of it, one file for each process."""
        self.coverage.stop()
        self.coverage.save()
        notes = (json.dumps(note) + "\n" for note in self.notes.values())
        (FOLDER / f"tests-{os.getpid()}.jsonl").write_text("".join(notes), "utf-8")


def _name(fixture: Any) -> str:
    return f"{fixture.baseid} {fixture.argname}"


class Choosing:
    """Runs the tests of a list in its order, and says which failed."""

    def __init__(self, begin: int, end: int) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (end, end))  # of every process that the tests start, too
        self.begin = begin
        self.tests = (FOLDER / "tests").read_text("utf-8").splitlines()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests of the list."""
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in self.tests if test in found]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the test that failed; begin no further one if all processes together have had their time."""
        if report.failed:
            (FOLDER / "failed").write_text(report.nodeid, "utf-8")
        elif cpu() > self.begin:
            pytest.exit("no further test begins", returncode=0)


def pytest_configure(config: pytest.Config) -> None:
    """Begin; in a run by several processes, in those that run tests."""
    if seconds := os.environ.get("MUTANTS_SECONDS"):
        config.pluginmanager.register(Choosing(*map(int, seconds.split())))
    elif not getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput"):
        config.pluginmanager.register(Covering())
