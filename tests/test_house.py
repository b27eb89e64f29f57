"""The package as a whole: exports, the folders for users' files, and the exit codes of errors."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType

import pytest

import ltm_bench
from ltm_bench.adapters.testing import Provider
from ltm_bench.core import errors
from ltm_bench.plan.suites import presets
from ltm_bench.plugins.agents import agent_class, make_agent
from ltm_bench.plugins.files import Kind, catalogue, summary
from ltm_bench.plugins.matchers import short_names
from ltm_bench.runner.checking import check_adapter

ROOT = Path(__file__).parents[1]
DOORS = ("scenarios", "agents", "configs")


PACKAGE = ROOT / "ltm_bench" / "__init__.py"
LATE = re.compile(r"(?<=`python -m tests\.test_house`\.\n)(?:    from .+\n)*")
"""What the package imports late, as lines for type checkers."""


def late_imports() -> str:
    """Return those lines, from what is imported late: the matchers that are found, and all that runs the benchmark."""
    places: dict[str, str] = {**vars(ltm_bench)["_LATE"]}
    places |= {name: function.__module__ for name, function in short_names().items()}
    lines = sorted((place, name) for name, place in places.items())
    return "".join(f"    from {place} import {name} as {name}\n" for place, name in lines)


def test_type_checkers_know_what_the_package_imports_late() -> None:
    (known,) = LATE.findall(PACKAGE.read_text("utf-8"))
    assert known == late_imports(), "renew them: python -m tests.test_house"


def test_the_package_exports_what_an_author_needs_and_nothing_else() -> None:
    exported = set(sys.modules["ltm_bench"].__all__)  # which type checkers do not know: it is derived
    public = {name: getattr(ltm_bench, name) for name in dir(ltm_bench) if not name.startswith("_")}
    assert {name for name, value in public.items() if not isinstance(value, ModuleType)} == exported
    star: dict[str, object] = {}
    exec("from ltm_bench import *", star)
    assert set(star) - {"__builtins__"} == exported
    with pytest.raises(ImportError, match="cannot import name 'dump' from 'ltm_bench'"):
        exec("from ltm_bench import dump")  # matchers, but not for authors
    for door in DOORS[:2]:
        for path in (ROOT / door).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.ImportFrom) and node.module == "ltm_bench":
                    assert {alias.name for alias in node.names} <= {*exported, "embedding"}


def test_the_package_exports_the_matchers_although_they_are_imported_late() -> None:
    code = "import ltm_bench as l, sys; n = len(sys.modules); l.says; print(len(sys.modules) > n)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_the_doors_are_folders_of_files_not_packages() -> None:
    for door in DOORS:
        assert not list((ROOT / door).rglob("__init__.py"))
    assert (ROOT / "ltm_bench" / "py.typed").exists()


@pytest.mark.parametrize("name", ["goldfish", "parrot", "perfect", "vector_memory"])
def test_every_adapter_that_needs_no_key_keeps_the_rules(name: str) -> None:
    path = ROOT / "agents" / f"{name}.py"
    findings = list(check_adapter(path, ast.parse(path.read_bytes()), {}))
    assert [finding.text for finding in findings if not finding.ok] == []
    assert len(findings) >= 4


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic_chat", "pydantic_ai_chat"])
def test_every_adapter_of_a_provider_keeps_the_rules(name: str, server: Provider, key: str) -> None:
    if name == "pydantic_ai_chat":
        pytest.importorskip("pydantic_ai")
    path = ROOT / "agents" / f"{name}.py"
    url = server.url if name == "anthropic_chat" else server.openai_url
    model = "openai-chat:some-model" if name == "pydantic_ai_chat" else "some-model"
    settings = {"model": model, "base_url": url}
    findings = list(check_adapter(path, ast.parse(path.read_bytes()), settings))
    assert [finding.text for finding in findings if not finding.ok] == []
    assert len(findings) >= 4


@pytest.mark.parametrize("kind", ["scenarios", "agents"])
def test_every_file_says_what_it_is(kind: Kind) -> None:
    for name, path in catalogue(kind).items():
        assert path.suffix == ".toml" or ast.get_docstring(ast.parse(path.read_bytes())), path
        assert len(summary(path)) >= 20, name


def test_every_preset_can_be_made(key: str) -> None:
    found = presets([ROOT / "configs"])
    assert {"gpt-4o", "gpt-6-luna", "claude-sonnet-5-5"} <= set(found)
    for preset in found.values():
        made = make_agent(preset.adapter, preset.settings)
        local = {"model", "core"}.isdisjoint(preset.settings)
        assert made.free == local, "only a provider's model costs money"
    assert all(callable(agent_class(name)) for name in catalogue("agents"))


def _tree(error: type[BaseException] = errors.LtmBenchError, depth: int = 0) -> list[tuple[str, int]]:
    below = [
        each
        for sub in error.__subclasses__()
        if sub.__module__ == errors.__name__
        for each in _tree(sub, depth + 1)
    ]
    return [(error.__name__, depth), *below]


def test_the_tree_of_errors_matches_the_drawing() -> None:
    drawn = re.findall(r"^    ( *)(\w+) {2,}(?:exit (\d))?", errors.__doc__ or "", re.MULTILINE)
    assert [(name, len(indent) // 2) for indent, name, _ in drawn] == _tree()
    for _, name, code in drawn:
        if code:
            assert getattr(errors, name).exit_code == int(code)


PURE = (
    "schedule/*",
    "script/*",
    "score/results/run",
    "score/statistics/*",
    "core/clock",
    "core/messages",
    "filler/*",
    "adapters/extractive",
    "adapters/hashing",
    "adapters/passages",
    "adapters/text",
    "adapters/usage",
    "adapters/window",
    "matchers/*",
    "matchers/reading/*",
)


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, anywhere in it, and the names that it imports from modules."""
    names = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("room", PURE)
def test_the_pure_rooms_import_no_randomness_no_wall_clock_and_no_environment(room: str) -> None:
    paths = list((ROOT / "ltm_bench").glob(f"{room}.py"))
    assert paths
    for path in paths:
        roots = {name.partition(".")[0] for name in imported(path)}
        assert not roots & {"random", "time", "os", "secrets", "uuid", "socket"}, path


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.py")), ids=lambda path: path.stem)
def test_a_script_imports_no_randomness_no_wall_clock_and_no_environment(path: Path) -> None:
    roots = {name.partition(".")[0] for name in imported(path)}
    assert not roots & {"random", "time", "os", "secrets", "uuid", "socket"}


@pytest.mark.parametrize("room", ["schedule", "matchers", "score/statistics"])
def test_scheduler_matchers_and_statistics_read_no_file(room: str) -> None:
    for path in (ROOT / "ltm_bench" / room).rglob("*.py"):
        roots = {name.partition(".")[0] for name in imported(path)}
        assert not roots & {"pathlib", "io", "shutil", "tempfile", "importlib", "pkgutil"}, path
        assert "open(" not in path.read_text("utf-8"), path


def test_scenarios_that_import_past_the_public_names_are_those_that_the_documents_name() -> None:
    past = {
        path.stem
        for path in (ROOT / "scenarios").glob("*.py")
        if any(name.count(".") > 1 for name in imported(path) if name.startswith("ltm_bench."))
    }
    told = (ROOT / "docs" / "running.md").read_text("utf-8").partition("six of our scenarios (")[2]
    assert set(re.findall(r"`(\w+)`", told.partition(")")[0])) == past


def test_the_engine_imports_from_a_published_set_only_where_the_documents_say() -> None:
    sets = {path.parent.name for path in (ROOT / "ltm_bench" / "datasets").glob("*/__init__.py")}
    assert sets
    found = set()
    for path in (ROOT / "ltm_bench").rglob("*.py"):
        place = path.relative_to(ROOT / "ltm_bench")
        named = {
            name.split(".")[2] for name in imported(path) if name.startswith("ltm_bench.datasets.")
        } & sets
        if place.parts[0] == "datasets":
            assert place.parts[1] not in sets or named <= {place.parts[1]}, f"{place} knows another set"
        elif named and place.parts[0] not in (
            "cli",
            "__init__.py",
        ):  # the latter names matchers for type checkers
            found.add(f"`{place.as_posix()}`")
    told = (ROOT / "docs" / "architecture.md").read_text("utf-8").partition("Of the engine, only ")[2]
    assert set(re.findall(r"`[^`]+`", told.partition(" import from one")[0])) == found


MIRRORS = {"adapters": {"adapters", "agents"}}
"""Folders of tests that may know a room's inside, where that is not the folder of its name alone."""


def test_the_inside_of_a_room_is_known_to_its_mirror_alone() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    inside = {each: of["allowed_importers"] for of in told for each in of.get("protected_modules", ())}
    assert len(inside) > 70
    found = []
    for path in (ROOT / "tests").rglob("test_*.py"):
        place = path.relative_to(ROOT / "tests")
        names = [] if place.parts[0] == "frozen" else imported(path)
        for name in (each for each in names if (ROOT / f"{each.replace('.', '/')}.py").exists()):
            for module, (room,) in inside.items():
                known = room.partition(".")[2]
                if fnmatchcase(name, module) and place.parts[0] not in MIRRORS.get(known, {known}):
                    found.append(f"{place}: {name}")
    assert found == []


MOST_LINES = 400
LONG_FILES = {
    "agents/graphiti.py",
    "agents/letta_code.py",
    "agents/mcp.py",
    "agents/vector_memory.py",
    "ltm_bench/filler/filler.py",
    "ltm_bench/plan/planning.py",
    "ltm_bench/runner/calls.py",
    "ltm_bench/runner/ray/driver.py",
    "perf/calibration.py",
}
"""Files that were too long when the rule got its test. A name that is no longer needed is to be deleted."""


def test_no_new_file_has_more_lines_than_one_can_keep_in_mind() -> None:
    folders = ("agents", "ltm_bench", "perf", "scenarios")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    long = {path for path in paths if len(path.read_text("utf-8").splitlines()) > MOST_LINES}
    assert {path.relative_to(ROOT).as_posix() for path in long} == LONG_FILES


def test_a_reader_meets_no_two_classes_of_one_name() -> None:
    places = defaultdict[str, list[str]](list)
    for path in (ROOT / "ltm_bench").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_public_functions_and_constructors_with_many_parameters_explain_each() -> None:
    silent = []
    for path in (*(ROOT / "ltm_bench").rglob("*.py"), *(ROOT / "agents").glob("*.py")):
        if path.is_relative_to(ROOT / "ltm_bench" / "cli"):  # a command's help explains its options
            continue
        for name, node, docstrings in _public_functions(ast.parse(path.read_bytes())):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            names = [each.arg for each in given if each.arg not in ("self", "cls")]
            told = docstrings.partition("Args:")[2]
            missing = [each for each in names if not re.search(rf"^ +{each}: ", told, re.MULTILINE)]
            if len(names) >= 5 and missing:
                silent.append(f"{path.relative_to(ROOT)}: {name} does not explain {', '.join(missing)}")
    assert silent == []


def _public_functions(
    tree: ast.AST, owner: ast.ClassDef | None = None
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    """Yield every public function, method and constructor, and where its parameters may be explained."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public_functions(node, node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            told = ast.get_docstring(node) or ""
            if node.name == "__init__" and owner is not None:
                yield owner.name, node, f"{ast.get_docstring(owner) or ''}\n{told}"
            elif not node.name.startswith("_"):
                yield node.name, node, told


def test_every_exception_to_a_rule_has_its_reason_beside_it() -> None:
    bare = []
    for folder in ("ltm_bench", "agents", "scenarios", "tests", "perf"):
        for path in (ROOT / folder).rglob("*.py"):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
                ignored = re.search(r"#\s*(?:type: ignore\[[\w, -]+\]|noqa: \w+)(.*)", line)
                broad = re.search(r"^\s*except (?:Exception|BaseException)(?: as \w+)?:(.*)", line)
                if any(found is not None and "#" not in found[1] for found in (ignored, broad)):
                    bare.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert bare == []


def test_no_folder_is_scanned_without_being_closed() -> None:
    # whoever breaks a scan off, by an error say, leaves it open until it is collected, in whatever runs by then
    places = [*(ROOT / "ltm_bench").rglob("*.py"), *(ROOT / "agents").glob("*.py")]
    lines = [line.strip() for path in places for line in path.read_text("utf-8").splitlines()]
    assert [line for line in lines if "scandir(" in line and not line.startswith("with ")] == []


def test_no_line_of_a_suite_or_of_their_guide_runs_off_the_page() -> None:
    files = [path for path in (ROOT / "configs").iterdir() if path.suffix in (".toml", ".md")]
    lines = [(path.name, line) for path in files for line in path.read_text("utf-8").splitlines()]
    assert [(name, line) for name, line in lines if len(line) > 140 and not line.startswith("|")] == []


def test_every_measurement_is_in_the_table_of_measurements() -> None:
    table = (ROOT / "perf" / "README.md").read_text("utf-8")
    begun = re.compile("^(?:@measurement|if __name__ == )", re.MULTILINE)
    programs = {path.name for path in (ROOT / "perf").glob("*.py") if begun.search(path.read_text("utf-8"))}
    programs |= {f"{path.parent.name}/" for path in (ROOT / "perf").glob("*/__main__.py")}
    assert set(re.findall(r"^\| `([^`]+)` \|", table.partition("## Measured")[0], re.MULTILINE)) == programs


if __name__ == "__main__":
    PACKAGE.write_text(LATE.sub(late_imports(), PACKAGE.read_text("utf-8"), count=1), "utf-8")


GONE = (
    *("Sheet", "AnswerMark", "FileFigures", "said_in_run", "compare_files", "file_figures"),
    *("ControlFigure", "RungFigure", "AspectRate", "Tallied", "SwimFigure"),
)
"""Names of the time when prediction files, controls, rungs, aspects and SWiM had figures of their own."""


@pytest.mark.parametrize("name", GONE)
def test_a_reply_of_others_has_no_figures_besides_those_of_runs(name: str) -> None:
    found = [
        path
        for path in (ROOT / "ltm_bench").rglob("*.py")
        if re.search(rf"\b{name}\b", path.read_text("utf-8"))
    ]
    assert found == []


MEANS = {
    "Figure": "the one",
    "Results": "a run's headline, which has an interval only once it is complete",
    "ScenarioResult": "a scenario's, which has a score only once it is complete",
    "Cell": "an entrant's headline over its runs",
    "MemoryShare": "a ratio of figures, which may say why there is none",
    "ScorerError": "an estimate that is corrected for the auditor's own error",
    "RunState": "what the list of runs reads of a results.json, of any release",
    "Guessed": "what a measurement wrote into a file that ships",
}
"""The classes that hold a mean with an interval, and why each is none of the others."""


def test_a_mean_with_an_interval_is_a_figure() -> None:
    found = set()
    for path in (ROOT / "ltm_bench").rglob("*.py"):
        for each in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(each, ast.ClassDef):
                fields = {
                    node.target.id
                    for node in each.body
                    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
                }
                if {"interval", "low"} & fields and {"mean", "score", "share"} & fields:
                    found.add(each.name)
    assert found == MEANS.keys()
