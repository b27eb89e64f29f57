"""Runs the groups of tests that need their own environments, and reports what ran, what was skipped, and how long.

    python scripts/groups.py list
    python scripts/groups.py run [GROUP…]
    python scripts/groups.py run --after check.xml    also what `scripts/check --junitxml=check.xml` has run
    python scripts/groups.py run --changed            those that may find something new since the last release
    python scripts/groups.py uv                       the folder of uv, which is installed if necessary

`scripts/groups.toml` defines the groups, and `agents/driven.toml` those of adapters. Needs only Python: uv comes from
the PATH, else from PyPI. A group that did not run, ran no test, or skipped one is a failure. So are a test that was
skipped in every environment, and an adapter without the test results that scripts/ran.py requires. A group whose
version of Python is not on this machine is left out.

With `--changed`, a group runs if its tests, its adapter, what that imports, or a version that it pins is not what it
was at the commit that last changed `version` in pyproject.toml; the table names the others as kept. Before a release,
all run.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scripts import ran
    from scripts.ran import Result
else:
    import ran
    from ran import Result

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "scripts" / "groups.toml"
DRIVEN = ROOT / "agents" / "driven.toml"
PROJECT = ROOT / "pyproject.toml"
FOLDER = ROOT / ".groups"
"""Environments, reports, and what the tests printed."""

AT_ONCE = 2
"""Number of groups that run side by side: most use one core, and many wait for a program to start."""

FIND = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
"""Fails if there is no such module. Imports nothing: the weights are in a module that cannot be imported."""

SAID = 30
"""Lines shown of a failed step."""

REASON = 300
"""Maximum characters of a step's output in its error."""

PAUSES = (5.0, 30.0)
"""Seconds before a download is retried: a registry may be overloaded."""


@dataclass(frozen=True)
class Group:
    """One environment and its tests; scripts/groups.toml explains the fields."""

    name: str
    tests: tuple[str, ...]
    minutes: float
    python: str = ""
    extras: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    select: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The content of scripts/groups.toml."""

    groups: Mapping[str, Group]
    modules: tuple[str, ...]
    """Modules that must exist where `scripts/check` runs."""
    left_out: Mapping[str, str]
    """Extras that no group installs, and why."""
    skips: Mapping[str, str]
    """Parts of reasons for which a test may be skipped everywhere, and why."""


class Wrong(Exception):
    """A plan cannot be read, or a step of a group failed; the message is one line."""


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Wrong(f"{path.name}: {error}") from error


def of_adapters(content: Mapping[str, Any], modules: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a table for every adapter whose product is not installed with the development tools.

    Args:
        content: What agents/driven.toml says.
        modules: The modules that are.
    """
    tables = {}
    for name, known in content.items():
        module = known.get("module", "")
        top = module.partition(".")[0]
        if not known.get("group") and (not module or top in modules):
            continue
        own = f"tests/agents/test_{name}.py"
        table: dict[str, Any] = {
            "extras": ["gateway", *known.get("extras", [])],
            "of": [f"agents/{name}.py"],
            "modules": list(
                dict.fromkeys(filter(None, (top, module)))
            ),  # other packages may be in `top`, too
            "tests": [
                *([own] if (ROOT / own).exists() else []),
                "tests/agents/test_conformance.py",
                "tests/agents/test_killed.py",
                "tests/agents/test_through_gateway.py",
            ],
            "select": name,
            "minutes": 5,
        }
        if not known.get("extras") and known.get("version"):
            table["packages"] = [f"{known['package']}=={known['version']}"]
        for key, value in known.get("group", {}).items():
            table[key] = [*table.get(key, ()), *value] if isinstance(value, list) else value
        tables[name.replace("_", "-")] = table
    return tables


def read_plan(path: Path = PLAN, driven: Path = DRIVEN) -> Plan:
    """Read the groups, and those of adapters. Raises Wrong, with the table and the key."""
    content = _read(path)
    known = {each.name: each for each in fields(Group)}
    groups = {}
    derived = of_adapters(_read(driven), content.get("check", {}).get("modules", ()))
    said_in = {**dict.fromkeys(content.get("group", {}), path.name), **dict.fromkeys(derived, driven.name)}
    for name, table in {**content.get("group", {}), **derived}.items():
        if unknown := sorted(set(table) - set(known)):
            raise Wrong(
                f"{said_in[name]}: [group.{name}] has no key {unknown[0]!r} (it has: {', '.join(known)})"
            )
        if missing := [key for key in ("tests", "minutes") if not table.get(key)]:
            raise Wrong(f"{said_in[name]}: [group.{name}] needs {missing[0]!r}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table.items()
        }
        groups[name] = Group(name=name, **values)
    return Plan(
        groups, tuple(content["check"]["modules"]), content.get("left_out", {}), content.get("skips", {})
    )


def _git(*words: str) -> str:
    """Return what git prints. Raises Wrong if there is no git, no repository, or no such thing in it."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Wrong(f"git {' '.join(words)}: {error}") from error
    return done.stdout


@dataclass(frozen=True)
class Release:
    """The last commit that changed the version."""

    commit: str
    name: str
    """Version and date."""
    plan: Plan
    project: Mapping[str, Any]
    """The content of pyproject.toml."""
    changed: frozenset[str]
    """Files that are not what they were then, those included that are not committed."""


def last_release() -> Release:
    """Find the last release in the history. Raises Wrong if the history does not say, as in a shallow clone."""
    commit, _, date = (
        _git("log", "-1", "--format=%H %as", '-G^version = "', "--", "pyproject.toml").strip().partition(" ")
    )
    if not commit or _git("rev-parse", "--is-shallow-repository").strip() == "true":
        raise Wrong("the history does not reach the last release")
    texts = {
        path: _git("show", f"{commit}:{path.relative_to(ROOT).as_posix()}")
        for path in (PLAN, DRIVEN, PROJECT)
    }
    with tempfile.TemporaryDirectory() as place:
        for path, text in texts.items():
            (Path(place) / path.name).write_text(text, "utf-8")
        plan = read_plan(Path(place) / PLAN.name, Path(place) / DRIVEN.name)
        project = _read(Path(place) / PROJECT.name)
    untracked = _git("ls-files", "--others", "--exclude-standard")
    changed = frozenset(f"{_git('diff', '--name-only', commit)}{untracked}".splitlines())
    return Release(commit, f"{project['project']['version']} ({date})", plan, project, changed)


def why_again(group: Group, release: Release) -> str:
    """Return why a group may find something new since the release; nothing if it cannot."""
    before = release.plan.groups.get(group.name)
    if before is None:
        return "it is new"
    for name in ("python", "extras", "packages", "bare", "beside", "npm", "select"):
        if getattr(before, name) != getattr(group, name):
            return f"another {name!r}"
    extras = "project", "optional-dependencies"
    pinned, then = (content[extras[0]][extras[1]] for content in (_read(PROJECT), release.project))
    for extra in group.extras:
        if pinned.get(extra) != then.get(extra):
            return f"another version in the extra {extra!r}"
    found = sorted(release.changed & {*reached(group.of), *group.tests})
    return f"{found[0]} has changed" if found else ""


def reached(patterns: Sequence[str]) -> list[str]:
    """Return what files with such names depend on, as scripts/reach.py finds it. Raises Wrong if it fails."""
    own = [path.relative_to(ROOT).as_posix() for each in patterns for path in sorted(ROOT.glob(each))]
    words: list[str | Path] = [ROOT / ".venv" / "bin" / "python", ROOT / "scripts" / "reach.py", *own]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise Wrong(f"scripts/reach.py: {reason(done.stderr)}")
    return done.stdout.splitlines()


class Steps:
    """Executes the commands of a group within its time."""

    def __init__(self, seconds: float, output: IO[bytes] | None = None) -> None:
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._output = output

    def run(self, what: str, words: Sequence[object], environment: Mapping[str, str]) -> None:
        """Run one command, which writes to the group's output. Raises Wrong if it fails, or takes too long.

        Args:
            what: A description of the command, for the error.
            words: The command's words; each is converted to text.
            environment: The environment variables.
        """
        code, _ = self._carry_out(what, words, environment, self._output)
        if code:
            raise Wrong(f"{what}: ended with code {code}")

    def fetch(self, what: str, words: Sequence[object], environment: Mapping[str, str]) -> None:
        """Run a command that needs the network, up to three times. Raises Wrong, with the reason in one line."""
        for pause in (*PAUSES, None):
            code, said = self._carry_out(what, words, environment, subprocess.PIPE)
            if not code:
                return
            print("\n".join(said.splitlines()[-SAID:]), file=sys.stderr, flush=True)
            if pause is None:
                raise Wrong(f"its environment could not be created: {what}: {reason(said) or f'code {code}'}")
            print(f"{what}: failed; retrying in {pause:g} seconds", file=sys.stderr, flush=True)
            time.sleep(pause)

    def _carry_out(
        self,
        what: str,
        words: Sequence[object],
        environment: Mapping[str, str],
        output: int | IO[bytes] | None,
    ) -> tuple[int, str]:
        """Run a command; return its code, and its output if that goes into a pipe."""
        try:
            process = subprocess.Popen(
                [str(word) for word in words],
                cwd=ROOT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=None if output is None else subprocess.STDOUT,
                start_new_session=True,  # so that it can be ended together with everything that it starts
            )
        except OSError as error:
            raise Wrong(f"{what}: {words[0]}: {error.strerror}") from error
        with process:
            try:
                said, _ = process.communicate(timeout=max(self._until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                raise Wrong(f"{what}: stopped after {self._seconds / 60:.3g} minutes") from None
            finally:
                _end(process)
        return process.returncode, (said or b"").decode("utf-8", "replace").rstrip()


def reason(said: str) -> str:
    """Return a command's error in one line: uv draws its errors as trees."""
    lines = [line.strip(" \t│╰─▶×") for line in said.splitlines()]
    return " ".join(line for line in lines if line)[-REASON:]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and everything that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def find_python(version: str) -> str | None:
    """Return a Python of this version, such as 3.12, from the PATH or pyenv; for "", the one that runs this."""
    if not version:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}")),
    ]
    for each in found:  # the one on the PATH may be one of pyenv's shims, which fails
        if each and subprocess.run([each, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(each)
    return None


def make_environment(group: Group, python: str, steps: Steps, uv: str, folder: Path) -> dict[str, str]:
    """Create the group's environments, and return the variables with which its tests run. Raises Wrong."""
    home = folder / group.name
    shutil.rmtree(home, ignore_errors=True)
    outer = {
        name: value
        for name, value in os.environ.items()
        # without byte code, each of the many programs that tests start would compile all that it imports again
        if name not in ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    }
    project = f"{ROOT}[{','.join(group.extras)}]" if group.extras else str(ROOT)
    _make(steps, uv, home / "env", python, outer)
    own = f"ltm-bench[{','.join(group.extras)}]" if group.extras else "ltm-bench"
    named = " ".join([own, *group.packages])
    _install(steps, uv, home / "env", named, ["--editable", project, *tools(), *group.packages], outer)
    if group.bare:
        _install(steps, uv, home / "env", " ".join(group.bare), ["--no-deps", *group.bare], outer)
    if group.beside:
        _make(steps, uv, home / "beside", python, outer)
        _install(steps, uv, home / "beside", " ".join(group.beside), group.beside, outer)
    if group.npm:
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", home / "npm", *group.npm]
        steps.fetch(f"installing {' '.join(group.npm)}", words, outer)
    places = {"beside": home / "beside" / "bin", "npm": home / "npm" / "node_modules"}
    variables = {name: value.format(**places) for name, value in group.variables.items()}
    path = f"{home / 'env' / 'bin'}{os.pathsep}{outer['PATH']}"
    return {**outer, **variables, "PATH": path, "VIRTUAL_ENV": str(home / "env")}


def _make(steps: Steps, uv: str, place: Path, python: str, outer: Mapping[str, str]) -> None:
    steps.run(f"making {place.name}", [uv, "venv", "--quiet", "--python", python, place], outer)


def _install(
    steps: Steps, uv: str, place: Path, named: str, what: Sequence[str], outer: Mapping[str, str]
) -> None:
    words = [uv, "pip", "install", "--quiet", "--python", place / "bin" / "python", *what]
    steps.fetch(f"installing {named}", words, outer)


def tools() -> list[str]:
    """Return the development tools that every group needs: pytest and its plugins, as listed in pyproject.toml."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = content["project"]["optional-dependencies"]["dev"]
    return [each for each in wanted if each.startswith(("pytest", "hypothesis"))]


def run_group(
    group: Group,
    plan: Plan,
    uv: str,
    folder: Path = FOLDER,
    left: float = math.inf,
    output: IO[bytes] | None = None,
) -> Result:
    """Create a group's environment and run its tests.

    Args:
        group: The group.
        plan: The plan that it belongs to, which says what may skip.
        uv: The program that makes environments.
        folder: Where environments and reports are.
        left: Seconds left for all groups; the group also has its own limit.
        output: Where the output of the tests goes; None is the terminal.
    """
    began = time.monotonic()
    steps, report = Steps(min(group.minutes * 60, left), output), folder / f"{group.name}.xml"
    report.unlink(missing_ok=True)
    result = Result(group.name)
    if left <= 0:
        result.problems.append("did not run: the time for all groups was over")
        return result
    interpreter = find_python(group.python)
    if interpreter is None:  # no registry has one
        result.left_out = f"there is no Python {group.python} on this machine"
        return result
    try:
        environment = make_environment(group, interpreter, steps, uv, folder)
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
        steps.run("its tests", words, environment)
    except Wrong as wrong:
        result.problems.append(str(wrong))
    result.cases, result.seconds = ran.read_cases(report), time.monotonic() - began
    if not result.ran:
        result.problems.append("no test ran")
    wrong_skips = ran.unexpected(result.cases, plan.skips)
    result.problems += [f"{each.name} skipped: {each.skipped}" for each in wrong_skips]
    return result


def checked(path: Path, plan: Plan) -> Result:
    """Return what `scripts/check` ran, and whether anything was missing there."""
    result = Result("check", ran.read_cases(path), ran.read_seconds(path))
    if not result.ran:
        result.problems.append(f"{path}: no test ran")
    result.problems += [f"{each.file} {each.name} failed" for each in result.cases if each.failed]
    python = ROOT / ".venv" / "bin" / "python"
    for module in plan.modules:
        done = subprocess.run([python, "-c", FIND, module], capture_output=True, check=False)
        if done.returncode:
            result.problems.append(f"there is no module {module}, so the tests that need it were skipped")
    return result


def find_uv(folder: Path = FOLDER) -> str:
    """Return the path of uv: the one on the PATH, else one installed from PyPI. Raises Wrong."""
    place = folder / "uv"
    if found := shutil.which("uv") or shutil.which("uv", path=place / "bin"):
        return found
    folder.mkdir(exist_ok=True)
    steps = Steps(300)
    steps.fetch("making an environment for uv", [sys.executable, "-m", "venv", place], os.environ)
    words = [place / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
    steps.fetch("installing uv", words, os.environ)
    return str(place / "bin" / "uv")


def unchanged(plan: Plan, names: Sequence[str]) -> dict[str, Result]:
    """Return the results of groups that need not run, and print why others do."""
    try:
        release = last_release()
    except Wrong as wrong:
        print(f"all groups run: {wrong}", flush=True)
        return {}
    found = {}
    for name in names:
        if why := why_again(plan.groups[name], release):
            print(f"{name} runs: since {release.name}, {why}", flush=True)
        else:
            found[name] = Result(name, kept=f"unchanged since {release.name}")
    return found


def run(
    plan: Plan, names: Sequence[str], after: Path | None, minutes: float = math.inf, *, changed: bool = False
) -> int:
    """Run groups, AT_ONCE at a time, print the table, and return the exit code."""
    FOLDER.mkdir(exist_ok=True)
    until = time.monotonic() + 60 * minutes
    results = [checked(after, plan)] if after else []
    kept = unchanged(plan, names) if changed else {}
    uv = find_uv() if len(kept) < len(names) else ""

    def run_one(name: str) -> Result:
        print(f"== {name}: started", flush=True)
        log = FOLDER / f"{name}.log"
        with log.open("wb") as output:
            result = run_group(plan.groups[name], plan, uv, left=until - time.monotonic(), output=output)
        print(f"\n== {name}\n{log.read_text('utf-8', 'replace')}", flush=True)
        return result

    with ThreadPoolExecutor(AT_ONCE) as pool:
        longest = sorted(
            set(names) - set(kept), key=lambda name: (-plan.groups[name].minutes, name)
        )  # started last, they would run alone
        running = {name: pool.submit(run_one, name) for name in longest}
        results += [kept[name] if name in kept else running[name].result() for name in names]
    if after:
        problems_of_all(results, plan, whole=not changed)
    print(f"\n== what ran\n{ran.table(results)}\n")
    print(ran.totals(results))
    return 1 if any(each.problems for each in results) else 0


def problems_of_all(results: Sequence[Result], plan: Plan, *, whole: bool = True) -> None:
    """Print what all environments together show about adapters and skipped tests; record what is wrong.

    Args:
        results: What ran, that of `scripts/check` first.
        plan: The groups.
        whole: Whether long tests ran, which fill the table of adapters.
    """
    left_out = [each.name for each in results if each.left_out]
    kept = [plan.groups[each.name] for each in results if each.kept]
    allowed = [*plan.skips, *(f"ltm-bench[{name}]" for name in left_out)]
    adapters = sorted(path.stem for path in (ROOT / "agents").glob("[!_.]*.py"))
    said = ran.said_of(results)
    print(f"\n== adapters\n{ran.adapters_table(adapters, said)}")
    skipped = ran.skipped_everywhere(results)
    print(f"\n== {len(skipped)} tests skipped in every environment\n{ran.reasons(skipped)}")
    lost = [
        each for each in ran.unexpected(skipped, allowed) if not any(_tries(group, each) for group in kept)
    ]
    results[0].problems += [f"{each.file} {each.name} ran nowhere: {each.skipped}" for each in lost]
    untried = {*left_out, *(group.name.replace("-", "_") for group in kept)}
    if whole:
        results[0].problems += ran.untold([each for each in adapters if each not in untried], said)


def _tries(group: Group, case: ran.Case) -> bool:
    """Whether a group would have run a test that was skipped elsewhere."""
    files = {each.removesuffix(".py").replace("/", ".") for each in group.tests}
    whole = f"{case.file} {case.name}"
    return any(file in whole.replace("/", ".") for file in files) and group.select in whole


def main(words: Sequence[str] | None = None) -> int:
    """Parse and execute the command line."""
    parser = argparse.ArgumentParser(prog="scripts/groups.py", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the groups")
    commands.add_parser("uv", help="print the folder of uv, which is installed if necessary")
    runs = commands.add_parser("run", help="run groups; all of them unless some are named")
    runs.add_argument("names", nargs="*", metavar="GROUP")
    runs.add_argument(
        "--after", type=Path, metavar="XML", help="the report that scripts/check wrote with --junitxml"
    )
    runs.add_argument(
        "--changed", action="store_true", help="leave out what has not changed since the last release"
    )
    runs.add_argument(
        "--minutes", type=float, default=math.inf, help="time for all groups; unlimited by default"
    )
    typed: Any = parser.parse_args(words)
    try:
        plan = read_plan()
        if typed.command == "list":
            for group in plan.groups.values():
                print(f"{group.name:<16}{' '.join(group.tests)}")
            return 0
        if typed.command == "uv":
            print(Path(find_uv()).parent)
            return 0
        if unknown := [name for name in typed.names if name not in plan.groups]:
            raise Wrong(f"no group is called {unknown[0]!r} (there are: {', '.join(plan.groups)})")
        names = typed.names or list(plan.groups)
        return run(plan, names, typed.after, typed.minutes, changed=typed.changed)
    except Wrong as wrong:
        print(f"scripts/groups.py: {wrong}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
