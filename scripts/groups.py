"""Runs the groups of tests that need environments of their own, and says what ran, what skipped and how long it took.

    python scripts/groups.py list
    python scripts/groups.py run [GROUP…]
    python scripts/groups.py run --after check.xml    also what `scripts/check --junitxml=check.xml` has run

`scripts/groups.toml` has the groups. Needs Python alone: uv is taken from the PATH, else from PyPI. A group that did
not run, ran no test, or skipped one is a failure; so is a test that skipped in every environment.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "scripts" / "groups.toml"
FOLDER = ROOT / ".groups"
"""Environments and reports."""

FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
"""Fails where there is no such module. It imports nothing: the weights are in a module that cannot be imported."""

SAID = 30
"""Lines that are shown of a step that failed."""


@dataclass(frozen=True)
class Group:
    """One environment and its tests; scripts/groups.toml explains the fields."""

    name: str
    tests: tuple[str, ...]
    minutes: float
    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    select: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What is in scripts/groups.toml."""

    groups: Mapping[str, Group]
    modules: tuple[str, ...]
    """To be found where `scripts/check` runs."""
    left_out: Mapping[str, str]
    """Extras that nothing installs, and why."""
    skips: Mapping[str, str]
    """Parts of reasons for which a test may skip everywhere, and why."""


class Wrong(Exception):
    """A plan that cannot be read, or a step of a group that failed; said in one line."""


def read_plan(path: Path = PLAN) -> Plan:
    """Read the groups. Raises Wrong, with the table and the key."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Wrong(f"{path.name}: {error}") from error
    known = {each.name: each for each in fields(Group)}
    groups = {}
    for name, table in content.get("group", {}).items():
        if unknown := sorted(set(table) - set(known)):
            raise Wrong(f"{path.name}: [group.{name}] has no key {unknown[0]!r} (it has: {', '.join(known)})")
        if missing := [key for key in ("tests", "minutes") if not table.get(key)]:
            raise Wrong(f"{path.name}: [group.{name}] needs {missing[0]!r}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        groups[name] = Group(name=name, **values)
    return Plan(
        groups, tuple(content["check"]["modules"]), content.get("left_out", {}), content.get("skips", {})
    )


@dataclass(frozen=True)
class Case:
    """A test that ran or skipped."""

    file: str
    """The dotted name of its module."""
    name: str
    """Empty where a whole file skipped."""
    skipped: str | None = None
    """Why it skipped."""
    failed: bool = False


def read_cases(path: Path) -> list[Case]:
    """Read what pytest wrote with --junitxml; nothing where it wrote nothing."""
    if not path.exists():
        return []
    cases = []
    for case in ElementTree.parse(path).iter("testcase"):
        skip = case.find("skipped")
        failed = case.find("failure") is not None or case.find("error") is not None
        file, name = case.get("classname", ""), case.get("name", "")
        if not file:  # the whole file skipped while it was read
            file, name = name, ""
        why = None if skip is None else (skip.get("message") or skip.text or "no reason given")
        cases.append(Case(file, name, why, failed))
    return cases


@dataclass
class Result:
    """What became of a group."""

    name: str
    cases: Sequence[Case] = ()
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def ran(self) -> int:
        """Tests that were carried out."""
        return sum(each.skipped is None for each in self.cases)

    @property
    def skipped(self) -> int:
        """Tests that skipped."""
        return len(self.cases) - self.ran


class Steps:
    """Carries out the commands of a group, all of them within its time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def run(
        self, what: str, words: Sequence[object], environment: Mapping[str, str], *, shown: bool = False
    ) -> None:
        """Run one command. Raises Wrong where it fails, or is not over in time.

        Args:
            what: What it is, for the error.
            words: The command; each is turned into a text.
            environment: Its environment.
            shown: Whether what it prints is shown as it comes; else the end of it is, where it fails.
        """
        output = None if shown else subprocess.PIPE
        with subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if shown else subprocess.STDOUT,
            start_new_session=True,  # with all that it starts, it can be ended
        ) as process:
            try:
                said, _ = process.communicate(timeout=max(self._until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                raise Wrong(f"{what}: broken off after {self._seconds / 60:g} minutes") from None
            finally:
                _end(process)
        if process.returncode:
            lines = (said or b"").decode("utf-8", "replace").rstrip().splitlines()[-SAID:]
            print("\n".join(lines), flush=True)
            raise Wrong(f"{what}: ended with code {process.returncode}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def make_environment(group: Group, steps: Steps, uv: str, folder: Path) -> dict[str, str]:
    """Make the group's environments, and return the variables with which its tests run. Raises Wrong."""
    home = folder / group.name
    shutil.rmtree(home, ignore_errors=True)
    outer = {
        name: value
        for name, value in os.environ.items()
        if name not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    }
    project = f"{ROOT}[{','.join(group.extras)}]" if group.extras else str(ROOT)
    _install(steps, uv, home / "env", ["--editable", project, *tools(), *group.packages], outer)
    if group.bare:
        python = home / "env" / "bin" / "python"
        words = [uv, "pip", "install", "--quiet", "--no-deps", "--python", python, *group.bare]
        steps.run(f"installing {' '.join(group.bare)}", words, outer)
    if group.beside:
        _install(steps, uv, home / "beside", list(group.beside), outer)
    if group.npm:
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", home / "npm", *group.npm]
        steps.run(f"installing {' '.join(group.npm)} with npm", words, outer)
    places = {"beside": home / "beside" / "bin", "npm": home / "npm" / "node_modules"}
    named = {name: value.format(**places) for name, value in group.variables.items()}
    path = f"{home / 'env' / 'bin'}{os.pathsep}{outer['PATH']}"
    return {**outer, **named, "PATH": path, "VIRTUAL_ENV": str(home / "env")}


def _install(steps: Steps, uv: str, place: Path, what: Sequence[str], environment: Mapping[str, str]) -> None:
    steps.run(f"making {place.name}", [uv, "venv", "--quiet", "--python", sys.executable, place], environment)
    names = " ".join(each for each in what if not each.startswith("--"))
    words = [uv, "pip", "install", "--quiet", "--python", place / "bin" / "python", *what]
    steps.run(f"installing {names}", words, environment)


def tools() -> list[str]:
    """Return the development tools that every group needs: pytest and its plugins, as pyproject.toml has them."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = content["project"]["optional-dependencies"]["dev"]
    return [each for each in wanted if each.startswith(("pytest", "hypothesis"))]


def run_group(group: Group, plan: Plan, uv: str, folder: Path = FOLDER) -> Result:
    """Make a group's environment and run its tests."""
    began = time.monotonic()
    steps, report = Steps(group.minutes * 60), folder / f"{group.name}.xml"
    report.unlink(missing_ok=True)
    result = Result(group.name)
    try:
        environment = make_environment(group, steps, uv, folder)
        python = folder / group.name / "env" / "bin" / "python"
        for module in group.modules:
            steps.run(f"finding the module {module}", [python, "-c", FIND, module], environment)
        chosen = ["-k", group.select] if group.select else []
        words = [
            python,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *chosen,
            *group.tests,
        ]
        steps.run("its tests", words, environment, shown=True)
    except Wrong as wrong:
        result.problems.append(str(wrong))
    result.cases, result.seconds = read_cases(report), time.monotonic() - began
    if not result.ran:
        result.problems.append("no test ran")
    result.problems += [f"{each.name} skipped: {each.skipped}" for each in unexpected(result.cases, plan)]
    return result


def unexpected(cases: Iterable[Case], plan: Plan) -> list[Case]:
    """Return the tests that skipped for a reason for which none may."""
    return [
        each
        for each in cases
        if each.skipped is not None and not any(part in each.skipped for part in plan.skips)
    ]


def never_ran(check: Sequence[Case], results: Sequence[Result], plan: Plan) -> list[Case]:
    """Return the tests that skipped in `scripts/check` and ran in no group either, where nothing allows it."""
    ran = {(each.file, each.name) for result in results for each in result.cases if each.skipped is None}
    files = {file for file, _ in ran}
    return [
        each
        for each in unexpected(check, plan)
        if (each.file, each.name) not in ran and not (not each.name and each.file in files)
    ]


def table(results: Sequence[Result]) -> str:
    """Return what ran as a table, and what is wrong below it."""
    width = max(len(each.name) for each in results)
    lines = [f"{'group':<{width}}  tests  skipped  seconds"]
    for each in results:
        mark = "  FAILED" if each.problems else ""
        lines.append(f"{each.name:<{width}}  {each.ran:>5}  {each.skipped:>7}  {each.seconds:>7.0f}{mark}")
    seconds = sum(each.seconds for each in results)
    ran, skipped = sum(each.ran for each in results), sum(each.skipped for each in results)
    lines.append(f"{'all':<{width}}  {ran:>5}  {skipped:>7}  {seconds:>7.0f}")
    return "\n".join([*lines, *(f"{each.name}: {problem}" for each in results for problem in each.problems)])


def checked(path: Path, plan: Plan) -> Result:
    """Return what `scripts/check` has run, and whether nothing was missing there."""
    cases = read_cases(path)
    spent = ElementTree.parse(path).find("testsuite") if path.exists() else None
    result = Result("check", cases, float(spent.get("time", 0)) if spent is not None else 0.0)
    if not result.ran:
        result.problems.append(f"{path}: no test ran")
    python = ROOT / ".venv" / "bin" / "python"
    for module in plan.modules:
        done = subprocess.run([python, "-c", FIND, module], capture_output=True, check=False)
        if done.returncode:
            result.problems.append(f"there is no module {module}, so the tests that need it skipped")
    return result


def find_uv(folder: Path = FOLDER) -> str:
    """Return uv: the one on the PATH, else one that is installed from PyPI. Raises Wrong."""
    if found := shutil.which("uv"):
        return found
    place = folder / "uv"
    steps = Steps(300)
    steps.run("making an environment for uv", [sys.executable, "-m", "venv", place], os.environ)
    words = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
    steps.run("installing uv", words, os.environ)
    return str(place / "bin" / "uv")


def run(plan: Plan, names: Sequence[str], after: Path | None) -> int:
    """Run groups, print the table, and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    results = [checked(after, plan)] if after else []
    uv = find_uv()
    for name in names:
        print(f"\n== {name}", flush=True)
        results.append(run_group(plan.groups[name], plan, uv))
    if after:
        lost = never_ran(results[0].cases, results[1:], plan)
        results[0].problems += [f"{each.file} {each.name} ran nowhere: {each.skipped}" for each in lost]
    print(f"\n== what ran\n{table(results)}\n")
    failed = sum(each.failed for result in results for each in result.cases)
    ran, skipped = sum(each.ran for each in results), sum(each.skipped for each in results)
    print(f"{ran - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if any(each.problems for each in results) else 0


def main(words: Sequence[str] | None = None) -> int:
    """Carry out what was typed."""
    parser = argparse.ArgumentParser(prog="scripts/groups.py", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the groups")
    runs = commands.add_parser("run", help="run groups; all of them unless some are named")
    runs.add_argument("names", nargs="*", metavar="GROUP")
    runs.add_argument(
        "--after", type=Path, metavar="XML", help="what scripts/check has written with --junitxml"
    )
    typed: Any = parser.parse_args(words)
    try:
        plan = read_plan()
        if typed.command == "list":
            for group in plan.groups.values():
                print(f"{group.name:<14}{' '.join(group.tests)}")
            return 0
        if unknown := [name for name in typed.names if name not in plan.groups]:
            raise Wrong(f"no group is called {unknown[0]!r} (there are: {', '.join(plan.groups)})")
        return run(plan, typed.names or list(plan.groups), typed.after)
    except Wrong as wrong:
        print(f"scripts/groups.py: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
