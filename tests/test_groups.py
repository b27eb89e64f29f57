"""Continuous integration skips nothing: every optional requirement of a test is in a group, and every group runs."""

import ast
import importlib.util
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ltm_bench.plugins.driven import driven

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "groups.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution has no scripts")


@pytest.fixture(scope="module")
def groups() -> ModuleType:
    sys.path.insert(0, str(SCRIPT.parent))  # as for a program
    spec = importlib.util.spec_from_file_location("groups", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["groups"] = module  # dataclasses look up their annotations there
    spec.loader.exec_module(module)
    sys.path.remove(str(SCRIPT.parent))
    return module


# What the table covers


def literals(nodes: Sequence[ast.AST], *functions: str) -> Iterator[str]:
    """Give the last literal argument of every call of these functions."""
    for node in nodes:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            said = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if name in functions and said and isinstance(said[-1], str):
                yield said[-1]


@cache
def asked_for() -> dict[str, set[str]]:
    """Map the optional requirements of tests (packages and environment variables) to the files of those tests."""
    helpers: dict[Path, set[str]] = {}
    needed: dict[Path, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        helpers[path] = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        wanted = {name.partition(".")[0] for name in literals(nodes, "importorskip", "find_spec", "needs")}
        needed[path] = wanted | {
            name for name in literals(nodes, "get", "getenv") if name.startswith("LTM_BENCH_")
        }
    found: dict[str, set[str]] = {}
    for path, wanted in needed.items():
        users = [path]
        if not path.name.startswith("test_"):  # a helper, so whoever imports it
            users = [user for user, names in helpers.items() if path.stem in names]
        for name in wanted:
            found.setdefault(name, set()).update(each.relative_to(ROOT).as_posix() for each in users)
    users = [user for user, names in helpers.items() if "stages" in names]
    for known in driven().values():  # tests/stages.py asks for it by what is known of the adapter
        if known.module:
            found.setdefault(known.module.partition(".")[0], set()).update(
                each.relative_to(ROOT).as_posix() for each in users if each.name.startswith("test_")
            )
    return found


def is_one_of(file: str, places: tuple[str, ...]) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in places)


def test_every_requirement_of_a_test_is_in_scripts_check_or_in_a_group_that_runs_it(
    groups: ModuleType,
) -> None:
    plan = groups.read_plan()
    known = {"ltm_bench", "perf", *plan.modules}
    lacking = [
        (file, name)
        for name, files in asked_for().items()
        for file in files
        if name not in known
        and (
            name.startswith("LTM_BENCH_") or importlib.util.find_spec(name) is None
        )  # here, no test skips without it
        and not any(
            name in (*group.modules, *group.variables) and is_one_of(file, group.tests)
            for group in plan.groups.values()
        )
    ]
    assert lacking == [], "give scripts/groups.toml a group for these files with what they need to run"


def test_the_guard_sees_how_tests_skip() -> None:
    found = asked_for()
    assert "tests/runner/test_ray.py" in found["ray"]
    assert "tests/agents/test_conformance.py" in found["langmem"]
    assert found["LTM_BENCH_LITELLM"] == {"tests/agents/test_litellm.py"}


def test_every_extra_is_installed_somewhere_or_left_out_with_a_reason(groups: ModuleType) -> None:
    plan = groups.read_plan()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    [own] = [each for each in extras["dev"] if each.startswith("ltm-bench[")]
    covered = set(own.removeprefix("ltm-bench[").removesuffix("]").split(","))
    covered |= {extra for group in plan.groups.values() for extra in group.extras}
    for extra in set(extras) - {"dev"}:
        assert extra in covered or plan.left_out.get(extra), (
            f"{extra}: give scripts/groups.toml a group that has it"
        )
    assert {extra for group in plan.groups.values() for extra in group.extras} <= set(extras)


def test_the_tests_of_every_group_exist_and_third_party_packages_are_pinned(groups: ModuleType) -> None:
    for group in groups.read_plan().groups.values():
        assert all((ROOT / place).exists() for place in group.tests), group.name
        for package in (*group.packages, *group.bare, *group.beside):
            assert re.search(r"==\d", package), package
        for package in group.npm:
            assert re.search(r".@\d", package), package


def test_ci_runs_the_groups_after_the_check() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert re.search(r"scripts/check .*--junitxml=(\S+) .*groups\.py run --after \1 ", script, re.DOTALL)


# What the script does

UV = f"""#!{sys.executable}
import pathlib, sys, time
words = sys.argv[1:]
if words[0] == "venv":
    python = pathlib.Path(words[-1], "bin", "python")
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\\nexec {sys.executable} "$@"\\n')
    python.chmod(0o755)
elif "hangs==1" in words:
    time.sleep(60)
elif "missing==1" in words:
    sys.exit("  × No solution found:\\n  ╰─▶ Because there is no missing==1,\\n      all is lost.")
elif "tired==1" in words:
    with open("asked", "a") as file:
        file.write("once more\\n")
    sys.exit("error: 503 Service Unavailable" if len(open("asked").readlines()) < 3 else 0)
"""


@pytest.fixture
def place(groups: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few tests, and a fake uv whose environments are this one."""
    (tmp_path / "test_some.py").write_text(
        "import pytest\n\n"
        "def test_right(): pass\n\n"
        "def test_wrong(): assert False\n\n"
        "@pytest.mark.skip(reason='needs the extra: nothing')\ndef test_skips(): pass\n\n"
        "@pytest.mark.skip(reason='root may write anywhere')\ndef test_may_skip(): pass\n",
        "utf-8",
    )
    (tmp_path / "pyproject.toml").write_text("[project.optional-dependencies]\ndev = ['pytest>=9', 'mypy']\n")
    uv = tmp_path / "uv"
    uv.write_text(UV, "utf-8")
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(groups, "ROOT", tmp_path)
    monkeypatch.setattr(groups, "PAUSES", (0.0, 0.0))
    return tmp_path


def outcome(groups: ModuleType, place: Path, **fields: Any) -> Any:
    group = groups.Group(**{"name": "some", "tests": ("test_some.py",), "minutes": 1, **fields})
    plan = groups.Plan({}, (), {}, {"root may write": "as CI may"})
    return groups.run_group(group, plan, str(place / "uv"), place)


def test_a_group_whose_tests_ran_passes(groups: ModuleType, place: Path) -> None:
    result = outcome(groups, place, select="right or may_skip")
    assert (result.ran, result.skipped, result.problems) == (1, 1, [])
    assert "some      1        1" in groups.ran.table([result])


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"select": "wrong"}, "its tests: ended with code 1"),
        ({"select": "nothing_of_that_name"}, "no test ran"),
        ({"select": "may_skip"}, "no test ran"),
        ({"select": "right or test_skips"}, "test_skips skipped: needs the extra: nothing"),
        (
            {"packages": ("missing==1",)},
            "its environment could not be created: installing ltm-bench missing==1: "
            "No solution found: Because there is no missing==1, all is lost.",
        ),
        ({"packages": ("hangs==1",), "minutes": 0.05}, "hangs==1: stopped after 0.05 minutes"),
        ({"modules": ("no_such_module",)}, "finding the module no_such_module: ended with code 1"),
    ],
)
def test_a_group_that_did_not_run_completely_fails_and_says_why(
    groups: ModuleType, place: Path, fields: dict[str, Any], problem: str
) -> None:
    result = outcome(groups, place, **fields)
    assert any(problem in each for each in result.problems), result.problems
    assert "FAILED" in groups.ran.table([result])


def test_the_programs_of_a_group_may_keep_their_byte_code(
    groups: ModuleType, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (place / "test_some.py").write_text(
        "import sys\n\ndef test_right(): assert not sys.dont_write_bytecode\n", "utf-8"
    )
    assert outcome(groups, place).problems == []


def test_a_missing_program_is_named(groups: ModuleType, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))
    result = outcome(groups, place, npm=("some@1",))
    assert result.problems[0] == "installing some@1: npm: No such file or directory"


def test_a_group_without_time_left_counts_as_not_run(groups: ModuleType, place: Path) -> None:
    plan = groups.Plan({}, (), {}, {})
    group = groups.Group("some", ("test_some.py",), 1)
    result = groups.run_group(group, plan, "uv", place, left=0.0)
    assert result.problems == ["did not run: the time for all groups was over"]


def test_a_group_without_its_python_is_left_out_with_its_column(
    groups: ModuleType, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYENV_ROOT", str(place))
    broken, right = place / "python3.98", place / "versions" / "3.98.1" / "bin" / "python3.98"
    broken.write_text("#!/bin/sh\nexit 127\n")  # like pyenv's links for versions that are not selected
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(place), prepend=":")
    result = outcome(groups, place, name="mem0", python="3.98")
    assert (result.left_out, result.problems) == ("there is no Python 3.98 on this machine", [])
    assert "LEFT OUT: there is no Python 3.98" in groups.ran.table([result])
    check = groups.Result("check", [groups.ran.Case("a", "one", "needs ltm-bench[mem0]")])
    (place / "agents").mkdir()
    (place / "agents" / "mem0.py").touch()
    groups.problems_of_all([check, result], groups.Plan({}, (), {}, {}))
    assert check.problems == []

    right.parent.mkdir(parents=True)
    right.write_text("#!/bin/sh\nexit 0\n")
    right.chmod(0o755)
    assert groups.find_python("3.98") == str(right)


def test_an_overloaded_registry_is_asked_again(groups: ModuleType, place: Path) -> None:
    result = outcome(groups, place, packages=("tired==1",), select="right")
    assert (result.ran, result.problems) == (1, [])
    assert len((place / "asked").read_text().splitlines()) == 3


def test_tests_that_skip_in_every_environment_are_found_and_named(
    groups: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = groups.Plan({}, (), {}, {"root may write": "as CI may"})
    case = groups.ran.Case
    check = groups.Result(
        "check",
        [
            case("a", "one", "no langmem"),
            case("a", "two", "no langmem"),
            case("a", "three", "root may write anywhere"),
            case("b", "", "no ray"),
            case("c", "passes"),
        ],
    )
    group = groups.Result("langmem", [case("a", "one"), case("a", "two", "no langmem"), case("b", "ran")])
    groups.problems_of_all([check, group], plan)
    assert [each for each in check.problems if "ran nowhere" in each] == ["a two ran nowhere: no langmem"]
    printed = capsys.readouterr().out
    assert "== 2 tests skipped in every environment" in printed
    assert "    1  root may write anywhere" in printed
    assert groups.ran.totals([check, group]) == "3 passed, 0 failed, 2 skipped"


def test_what_a_kept_group_would_run_is_not_missed(
    groups: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    group = groups.Group("letta-code", ("tests/agents/test_killed.py",), 1, select="letta_code")
    plan = groups.Plan({"letta-code": group}, (), {}, {})
    case = groups.ran.Case
    mine = case("tests.agents.test_killed", "test_killed[letta_code]", "needs the extra: letta-code")
    others = case("tests.agents.test_killed", "test_killed[mem0]", "needs the extra: mem0")
    check = groups.Result("check", [case("c", "passes"), mine, others])
    kept = groups.Result("letta-code", kept="unchanged since 0.4.0 (2026-11-28)")
    groups.problems_of_all([check, kept], plan)
    (missed,) = [each for each in check.problems if "ran nowhere" in each]
    assert "test_killed[mem0]" in missed
    assert not any("the adapter letta_code" in each for each in check.problems)
    assert any("the adapter mem0" in each for each in check.problems)
    check.problems.clear()
    groups.problems_of_all([check, kept], plan, whole=False)
    assert not any("the adapter" in each for each in check.problems), "long tests fill the table"
    assert "KEPT: unchanged since 0.4.0" in groups.ran.table([check, kept])
    assert "tests skipped in every environment" in capsys.readouterr().out


GROUP = """
[check]
modules = []

[group.one]
of = ["agents/one.py"]
tests = ["tests/test_one.py"]
minutes = 1
extras = ["one"]
packages = ["a==1"]
"""
PROJECT = """
[project]
name = "x"
version = "1.0"

[project.optional-dependencies]
one = ["b==1"]
"""
TABLES = {
    "scripts/groups.toml": GROUP,
    "agents/driven.toml": "",
    "agents/one.py": "import shared\n",
    "shared.py": "",
    "tests/test_one.py": "",
    "pyproject.toml": PROJECT,
}


@pytest.fixture
def history(groups: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one group, whose last release is its first commit."""
    for name, text in TABLES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    for name, path in {"ROOT": "", "PLAN": "scripts/groups.toml", "DRIVEN": "agents/driven.toml"}.items():
        monkeypatch.setattr(groups, name, tmp_path / path)
    monkeypatch.setattr(groups, "PROJECT", tmp_path / "pyproject.toml")
    monkeypatch.setattr(groups, "reached", lambda patterns: [*patterns, "shared.py"])
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "add", ".")
    commit(tmp_path)
    return tmp_path


def git(place: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True)


def commit(place: Path) -> None:
    git(place, "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "-am", "x")


def kept_now(groups: ModuleType) -> dict[str, Any]:
    plan = groups.read_plan(groups.PLAN, groups.DRIVEN)
    found: dict[str, Any] = groups.unchanged(plan, list(plan.groups))
    return found


def test_a_group_is_kept_until_something_changes_after_the_release(groups: ModuleType, history: Path) -> None:
    (history / "README.md").write_text("no part of it", "utf-8")
    assert kept_now(groups)["one"].kept.startswith("unchanged since 1.0 (2")


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("agents/one.py", "shared", "shared  # and more", "agents/one.py has changed"),
        ("shared.py", "", "x = 1", "shared.py has changed"),
        ("tests/test_one.py", "", "x = 1", "tests/test_one.py has changed"),
        ("scripts/groups.toml", "a==1", "a==2", "another 'packages'"),
        ("pyproject.toml", "b==1", "b==2", "another version in the extra 'one'"),
    ],
)
@pytest.mark.parametrize("committed", [True, False])
def test_a_group_runs_if_it_may_find_something_new(
    groups: ModuleType, history: Path, name: str, old: str, new: str, why: str, committed: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = history / name
    path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
    if committed:
        commit(history)
    assert kept_now(groups) == {}
    assert "one runs: since 1.0 (2" in capsys.readouterr().out.partition(why)[0]


def test_a_release_keeps_all_groups_and_an_unknown_history_none(
    groups: ModuleType, history: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, old, new in (("shared.py", "", "x = 1"), ("pyproject.toml", "1.0", "1.1")):
        (history / name).write_text((history / name).read_text("utf-8").replace(old, new, 1), "utf-8")
    commit(history)
    assert kept_now(groups)["one"].kept.startswith("unchanged since 1.1")
    subprocess.run(["rm", "-rf", str(history / ".git")], check=True)
    assert kept_now(groups) == {}
    assert "all groups run: git" in capsys.readouterr().out


def test_an_adapter_without_a_passing_test_for_a_column_is_a_problem(groups: ModuleType) -> None:
    said = tuple(("mem0", f"{column}: yes") for column in groups.ran.COLUMNS)
    case = groups.ran.Case
    cases = [case("a", "one", said=said[:-1]), case("a", "two", failed=True, said=said)]
    told = groups.ran.said_of([groups.Result("check", cases)])
    assert groups.ran.untold(["mem0"], told) == ["no passed test covers, for the adapter mem0: fork"]
    assert groups.ran.adapters_table(["mem0"], told).endswith("| yes | yes | yes | not tested |")


def test_the_tests_of_adapters_fill_the_columns_of_the_table(groups: ModuleType) -> None:
    source = "".join(
        (ROOT / "tests" / "agents" / f"test_{name}.py").read_text("utf-8")
        for name in ("conformance", "killed")
    )
    for column in groups.ran.COLUMNS:
        assert f'"{column}' in source, column


def test_a_report_is_read_with_reasons_and_properties(groups: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(
        '<testsuites><testsuite time="2.5"><testcase classname="a" name="one"><properties>'
        '<property name="mem0" value="fork: yes"/></properties></testcase>'
        '<testcase classname="" name="b"><skipped message="no ray"/></testcase>'
        '<testcase classname="a" name="two"><failure/></testcase></testsuite></testsuites>'
    )
    case = groups.ran.Case
    assert groups.ran.read_cases(tmp_path / "r.xml") == [
        case("a", "one", said=(("mem0", "fork: yes"),)),
        case("b", "", "no ray"),
        case("a", "two", failed=True),
    ]
    assert groups.ran.read_seconds(tmp_path / "r.xml") == 2.5


def test_a_mistake_in_the_table_is_named(groups: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    for table, complaint in (
        ("[group.x]\ntest = []", "has no key 'test'"),
        ("[group.x]\ntests = ['a']", "needs 'minutes'"),
        ("[group", "groups.toml:"),
    ):
        path.write_text(table, "utf-8")
        with pytest.raises(groups.Wrong, match=complaint):
            groups.read_plan(path)


def test_an_unknown_group_is_reported_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "run", "rayy"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("scripts/groups.py: no group is called 'rayy' (there are: ray, ")
    listed = subprocess.run([sys.executable, SCRIPT, "list"], capture_output=True, text=True, check=True)
    assert "tests/runner/test_ray.py" in listed.stdout
