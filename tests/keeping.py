"""Proofs that are kept by content: a test that depends on files alone need not run again while they are the same.

A test marked `proof` is a function of files: of the code that it reaches through imports, of the data beside that
code, of scenarios and adapters, of the interpreter, and of the versions of packages. `scripts/check` keeps what it has
proved in tests/kept/, one small file a proof, and leaves out a proof whose files are what they were. It writes at the
end of a check in which all passed, and nothing else writes there. Whoever doubts a proof deletes its file.

    @pytest.mark.proof                                of all scenarios together
    @pytest.mark.proof(scenarios="name")              of the scenario or scenarios that the parameter `name` holds
    @pytest.mark.proof(scenarios=(), files=("…",))    of no scenario, but of files with such names (patterns)
    @pytest.mark.proof(packages=("…",))               of others' packages that are not imported by name,
                                                      or of "chromium" and the fonts of the machine
    @pytest.mark.proof(beside=True)                   of published files that stand beside the checkout

A case of a test is a proof. So is a whole file of tests, with `pytestmark = pytest.mark.proof(…)` that does not say
`together=False`, or a table of cases, with `together=True`: one file then keeps which of its cases hold, as long as the
whole product is the same. In such a file, a test that is no proof, since it starts programs or depends on the machine,
is marked `unkept`.

There are two hashes. A proof's *own* is of its test and the scenarios that it names: if they change, all seeds run.
What it *shares* is the product, scenarios that it does not name, interpreter and packages: if only that changes, which
is often, and then for most proofs, the fixture `seeds` gives a third of the seeds; which third depends on the change.
`--prove all` (`scripts/check --all`, so every release) runs every proof with all its seeds. Without `--prove`, as in
`pytest tests/…`, all seeds run and nothing is kept.

While a proof runs, each file of the checkout that it opens must be one that its hashes cover.
"""

import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from scripts.reach import ROOT, reach

if TYPE_CHECKING:
    from tests.browser import find_browser
else:
    from browser import find_browser

KEPT = ROOT / "tests" / "kept"
REFERENCES = ("agents/goldfish.py", "agents/parrot.py", "agents/perfect.py", "agents/reciter.py")
"""The agents that a proof may make without naming them."""
OF_ALL = ("seeds", "certificates", "_places_of_modules")
"""Fixtures that decide nothing about a proof: all tests have them, or they say how much of it runs."""
BESIDE = ROOT.parent / "shared" / "data"
"""Published files that may not be shipped; where they are not, nothing is proved of them."""
FORMERLY = "scenarios/formerly.json"
"""What a run reads whatever it plays."""
BROWSER = "chromium"
"""Named like a package by proofs that look at pages."""
FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
BOOKS = frozenset([Path(__file__), ROOT / "scripts" / "reach.py"])
"""What keeps proofs, which says nothing of what they prove."""
SHARE = 3
"""One in so many seeds is tried where only shared code has changed."""
UNSEEN = {"__pycache__", ".git", ".venv", ".pytest_cache", ".hypothesis"}
"""Folders whose files are no part of the checkout."""


def shown(path: Path) -> str:
    """Return a file's name from the checkout, or from what is beside it."""
    return path.relative_to(ROOT if path.is_relative_to(ROOT) else BESIDE.parents[1]).as_posix()


@cache
def digest(path: Path) -> str:
    """Return a file's name and hash, as it was when first asked for."""
    return f"{shown(path)} {hashlib.sha256(path.read_bytes()).hexdigest()}"


@cache
def in_product(path: Path) -> bool:
    """Whether a file is one of the product's."""
    return path.is_relative_to(ROOT / "ltm_bench")


@cache
def _distributions() -> Mapping[str, list[str]]:
    return packages_distributions()


@cache
def installed(package: str) -> str:
    """Return the distributions that a top-level name comes from, with their versions."""
    if package == BROWSER:
        return browser()
    return " ".join(sorted({f"{each}=={version(each)}" for each in _distributions().get(package, ())}))


def browser() -> str:
    """Return the version of the browser and the names of the fonts with which it lays out pages."""
    program = find_browser()
    if program is None:
        return "none"
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return " ".join([said.strip(), *sorted(path.name for each in FONTS for path in Path(each).rglob("*.*"))])


def hashed(files: Iterable[Path], besides: Iterable[str] = ()) -> str:
    """Return a hash of names and contents, and of some words."""
    lines = [*map(digest, files), *besides]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Proof:
    """What a proof depends on."""

    name: str
    """The id of its test; of a table of cases, or of a file of tests, that of all."""
    mine: frozenset[Path]
    """Its test, with what that imports of tests and measurements, and the scenarios that it names."""
    shared: frozenset[Path]
    packages: frozenset[str]
    case: str = ""
    """Which of several that are kept together; empty if it is alone."""

    @property
    def shown(self) -> str:
        """Its name in tables, which count by what is before the bracket."""
        return f"{self.name}[{self.case}]" if self.case else self.name

    def hashes(self) -> dict[str, str]:
        """Return the two hashes."""
        return dict(zip(("own", "shared"), _hashes(self.mine, self.shared, self.packages), strict=True))


@cache
def _hashes(mine: frozenset[Path], shared: frozenset[Path], packages: frozenset[str]) -> tuple[str, str]:
    interpreter = str(sys.implementation.cache_tag)
    return hashed(mine), hashed(shared, [interpreter, *map(installed, packages)])


def file_of(name: str) -> Path:
    """Return the file of a proof."""
    path, _, test = name.partition("::")
    parameters = re.sub(r"\W+", "-", test.partition("[")[2]).strip("-")[:50]
    stem = f"{parameters or 'all'}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
    return KEPT / path.removeprefix("tests/").removesuffix(".py") / f"{stem}.json"


def kept(name: str) -> Mapping[str, Any]:
    """Return what was proved last; nothing if that is unknown or cannot be read."""
    try:
        said = json.loads(file_of(name).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) and said.get("proof") == name else {}


def seeds_of(said: Mapping[str, Any], case: str) -> str | None:
    """Return with how many seeds something was proved, by what is kept; None if it was not."""
    return said.get("cases", {}).get(case) if case else said.get("seeds")


def due(proof: Proof, said: Mapping[str, Any]) -> str:
    """Return how many of a proof's seeds must run, by what is kept of it: no, some or all."""
    now = proof.hashes()
    if said.get("own") != now["own"] or (proof.case and seeds_of(said, proof.case) is None):
        return "all"
    return "no" if said.get("shared") == now["shared"] else "some"


def keep(said: Mapping[str, Any]) -> None:
    """Write what was proved to its file; beside other cases that hold by the same hashes."""
    name, case = said["proof"], said["case"]
    new: dict[str, Any] = {
        "proof": name,
        "seeds": said["seeds"],
        "own": said["own"],
        "shared": said["shared"],
    }
    if case:
        before = kept(name)
        alike = all(before.get(each) == new[each] for each in ("own", "shared"))
        cases: dict[str, str] = before.get("cases", {}) if alike else {}
        del new["seeds"]
        new["cases"] = dict(sorted((cases | {case: said["seeds"]}).items()))
    file_of(name).parent.mkdir(parents=True, exist_ok=True)
    file_of(name).write_text(json.dumps(new, indent=1) + "\n", "utf-8")


def proof_of(item: pytest.Item) -> Proof | None:
    """Return what a test depends on; None if it is no proof."""
    node, marker = next(item.iter_markers_with_node("proof"), (None, None))
    if node is None or marker is None or item.get_closest_marker("unkept"):
        return None
    named = marker.kwargs.get("scenarios")
    if isinstance(named, str):
        named = item.callspec.params[named]  # type: ignore[attr-defined]  # a test with parameters has one
    together = marker.kwargs.get("together", node is not item)
    own = frozenset(
        [
            Path(item.path),
            # what is kept together has one hash, whichever fixtures a case has
            *([ROOT / "tests" / "conftest.py"] if together else _of_fixtures(item)),
            *_scenarios([named] if isinstance(named, str) else named or ()),
        ]
    )
    patterns = (*REFERENCES, *marker.kwargs.get("files", ()), *(["scenarios/*.*"] if named is None else ()))
    patterns += (FORMERLY,) if together else ()
    packages = frozenset(marker.kwargs.get("packages", ()))
    beside = marker.kwargs.get("beside", False)
    mine, shared, packages = _reached(own, patterns, packages, beside=beside, whole=together)
    name, case = item.nodeid, ""
    if together:
        name = node.nodeid if node is not item else name.partition("[")[0]
        case = item.nodeid.removeprefix(name).removeprefix("::") or "all"
    return Proof(name, mine, shared, packages, case)


@cache
def _reached(
    own: frozenset[Path], patterns: tuple[str, ...], packages: frozenset[str], *, beside: bool, whole: bool
) -> tuple[frozenset[Path], frozenset[Path], frozenset[str]]:
    """Return what a proof depends on, by what is its own and by what its mark names."""
    besides = {path for each in patterns for path in _found(each)}
    if beside:
        besides |= {path for path in BESIDE.rglob("*") if path.is_file()}
    reached = reach(own | besides, whole=whole)
    shared = frozenset(p for p in reached.files if in_product(p) or p in besides - own)
    return reached.files - shared - BOOKS, shared, reached.packages | packages


@cache
def _found(pattern: str) -> frozenset[Path]:
    found = filter(Path.is_file, ROOT.glob(pattern))
    return frozenset(path for path in found if UNSEEN.isdisjoint(path.relative_to(ROOT).parts))


def _scenarios(names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of scenarios, and those that their code names."""
    for name in names:
        found = [*(ROOT / "scenarios").glob(f"{name}.*")]
        assert found, f"a proof names the scenario {name!r}, which has no file in scenarios/"
        code = "".join(path.read_text("utf-8") for path in found if path.suffix == ".py")
        yield from (*found, *(path for path in (ROOT / "scenarios").glob("*.*") if path.name in code))


def _of_fixtures(item: pytest.Item) -> Iterator[Path]:
    """Yield the files of this project in which the fixtures of a test are defined."""
    info: Any = getattr(item, "_fixtureinfo", None)
    for name, defined in info.name2fixturedefs.items() if info else ():
        path = Path(defined[-1].func.__code__.co_filename)
        if path.is_relative_to(ROOT / "tests") and name not in OF_ALL:
            yield path


class Keeping:
    """Leaves out what is proved, and keeps what is proved now."""

    def __init__(self, mode: str | None) -> None:
        self._mode = mode
        self._due: dict[str, tuple[Proof, str]] = {}
        self._left_out: dict[str, str] = {}
        self._proved: dict[str, Mapping[str, str]] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the proofs whose files have not changed."""
        left_out = set()
        read = cache(kept)  # once for all that is kept together
        for item in items if self._mode else ():
            if (proof := proof_of(item)) is None:
                continue
            seeds = "all" if self._mode == "all" else due(proof, read(proof.name))
            if seeds == "no":
                left_out.add(item)
                self._left_out[proof.shown] = seeds_of(read(proof.name), proof.case) or ""
            else:
                self._due[item.nodeid] = proof, seeds
        if left_out:
            items[:] = [item for item in items if item not in left_out]
            config.hook.pytest_deselected(items=list(left_out))

    def seeds(self, name: str, many: int) -> range:
        """Return the seeds that a test has to try."""
        proof, seeds = self._due.get(name, (None, "all"))
        if proof is None or seeds == "all":
            return range(many)
        return range(int(proof.hashes()["shared"], 16) % min(SHARE, many), many, SHARE)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Watch what a proof opens."""
        proof, seeds = self._due.get(item.nodeid, (None, "all"))
        if proof is None:
            return (yield)
        said = {"proof": proof.name, "case": proof.case, "seeds": seeds, **proof.hashes()}
        item.user_properties.append(("proof", {"shown": proof.shown, **said}))
        with Watching() as opened:
            done = yield
        uncovered = sorted(map(shown, opened - proof.mine - proof.shared))
        assert not uncovered, f"a proof opened what its hashes do not cover: {', '.join(uncovered)}"
        return done

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what was proved."""
        for key, said in report.user_properties:
            if key == "proof" and isinstance(said, dict) and report.when == "call" and report.passed:
                self._proved[said["shown"]] = said

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from a worker what was left out; all of them collect the same."""
        self._left_out |= getattr(node, "workeroutput", {}).get("left out", {})

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep what was proved, if all passed; a worker leaves that to whoever started it."""
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["left out"] = self._left_out
        elif session.exitstatus == pytest.ExitCode.OK:
            for said in self._proved.values():
                keep(said)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of proofs."""
        if self._mode:
            terminalreporter.section("proofs")
            terminalreporter.line(table(self._left_out, self._proved))


def table(left_out: Mapping[str, str], proved: Mapping[str, Mapping[str, str]]) -> str:
    """Return, by test, how many proofs were kept and how many were made now, and by how many seeds."""
    rows = [(name, "kept", seeds) for name, seeds in left_out.items()]
    rows += [(name, "made now", said["seeds"]) for name, said in proved.items()]
    counts = Counter((name.partition("[")[0], how, seeds) for name, how, seeds in rows)
    lines = [
        f"{many:>5} {how:<8} {seeds:>4} seeds  {test}" for (test, how, seeds), many in sorted(counts.items())
    ]
    return "\n".join([*lines, f"{len(left_out)} proofs kept, {len(proved)} made now"])


class Watching:
    """Collects the files of the checkout that are opened meanwhile."""

    _watched: ClassVar[list[set[Path]]] = []
    """What was opened while each of those that watch was watching, the outermost first."""
    _hooked = False

    def __enter__(self) -> set[Path]:
        if not Watching._hooked:  # a hook cannot be taken out again
            sys.addaudithook(Watching._heard)
            Watching._hooked = True
        Watching._watched.append(set())
        return Watching._watched[-1]

    def __exit__(self, *_: object) -> None:
        Watching._watched.pop()

    @staticmethod
    def note(paths: Iterable[Path]) -> None:
        """Count files as opened: those that went into what was made earlier."""
        for opened in Watching._watched:
            opened.update(paths)

    @staticmethod
    def _heard(event: str, arguments: tuple[Any, ...]) -> None:
        if not Watching._watched or event != "open" or not isinstance(arguments[0], str):
            return
        path = Path(arguments[0])
        if path.suffix == ".pyc" and path.parent.name == "__pycache__":
            path = path.parents[1] / f"{path.name.partition('.')[0]}.py"
        here = path.is_relative_to(ROOT) and UNSEEN.isdisjoint(path.relative_to(ROOT).parts)
        if (here or path.is_relative_to(BESIDE)) and path.is_file():
            Watching.note([path])
