"""Code that would work on one platform and fail on another: encodings, line endings, file names.

Tests themselves run in Python's UTF-8 mode there (.github/workflows/test.yml).
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.folders import checked_name

ROOT = Path(__file__).parents[1]
FOLDERS = ("ltm_bench", "agents", "scenarios", "perf", "docs")
CALLS = {"read_text": 0, "write_text": 1, "open": 2}
"""Methods of a path that take an encoding, and its place among the arguments."""


def sources() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (ROOT / folder).rglob("*.py")


def mode_of(call: ast.Call, place: int) -> str:
    given = [word.value for word in call.keywords if word.arg == "mode"] or call.args[place : place + 1]
    mode = given[0] if given else ast.Constant("r")
    return mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else "rb"


def unnamed(tree: ast.AST) -> Iterator[int]:
    """Yield the lines that read or write text in the machine's default encoding."""
    awaited = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Await)}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or id(call) in awaited:
            continue
        function, words = call.func, {word.arg for word in call.keywords}
        if "encoding" in words or None in words:
            continue
        if isinstance(function, ast.Name) and function.id == "open":
            found = "b" not in mode_of(call, 1) and len(call.args) < 4
        elif isinstance(function, ast.Attribute) and function.attr in ("read_text", "write_text"):
            found = len(call.args) <= CALLS[function.attr]
        elif isinstance(function, ast.Attribute) and function.attr == "open":
            found = opens_a_path(call) and "b" not in mode_of(call, 0) and len(call.args) < 3
        elif isinstance(function, ast.Attribute) and function.attr in ("run", "Popen", "check_output"):
            found = any(
                word.arg in ("text", "universal_newlines")
                and isinstance(word.value, ast.Constant)
                and word.value.value is True
                for word in call.keywords
            )
        else:
            continue
        if found:
            yield call.lineno


def opens_a_path(call: ast.Call) -> bool:
    """Return whether `x.open(…)` opens a path: it has a mode, and x is neither a module nor a class."""
    assert isinstance(call.func, ast.Attribute)
    of = call.func.value
    named = isinstance(of, ast.Name) and (
        of.id in ("os", "gzip", "tarfile", "lzma", "browser") or of.id[0].isupper()
    )
    first = call.args[0] if call.args else None
    moded = (
        isinstance(first, ast.Constant)
        and isinstance(first.value, str)
        and re.fullmatch(r"[rwxa+bt]+", first.value)
    )
    return not named and bool(moded)


def test_the_guard_finds_unnamed_encodings() -> None:
    code = """
open("x"); open("x", "w"); open("x", "rb"); open("x", encoding="utf-8")
path.read_text(); path.read_text("utf-8"); path.write_text("a"); path.write_text("a", "utf-8")
path.open("w"); path.open("ab"); path.open("r", encoding="utf-8"); os.open("x", 0); await agent.open(home)
subprocess.run(words, text=True)
subprocess.run(words, text=True, encoding="utf-8")
"""
    assert list(unnamed(ast.parse(f"async def f():\n{code.replace(chr(10), chr(10) + '    ')}"))) == [
        3,
        3,
        4,
        4,
        5,
        6,
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_text_is_read_and_written_with_a_named_encoding(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in unnamed(ast.parse(path.read_bytes()))
    ]
    assert found == []


def stored() -> list[PurePosixPath]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    return [PurePosixPath(name) for name in done.stdout.decode("utf-8").split("\0") if name]


RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def test_every_path_can_be_checked_out_on_every_platform() -> None:
    paths = stored()
    for path in paths:
        assert not re.search(r'[<>:"|?*\\\x00-\x1f]', str(path)), path
        assert not any(RESERVED.fullmatch(part) or part.endswith((".", " ")) for part in path.parts), path
        assert len(str(path)) < 150, path
    assert len({str(path).lower() for path in paths}) == len(paths), "two differ only in case"


def test_hashed_files_have_the_same_line_ends_everywhere() -> None:
    stored()
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text("utf-8").splitlines()
    for folder in ("scenarios", "agents", "configs", "ltm_bench"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".toml", ".json", ".jinja", ".js", ".md"):
                assert b"\r" not in path.read_bytes(), path


@pytest.mark.parametrize("name", ["con", "NUL", "aux.1", "com1", "a.", "a:b", "a/b", "a b", "-a", ""])
def test_the_name_of_a_run_is_valid_on_every_platform(name: str) -> None:
    with pytest.raises(ConfigError, match="--name"):
        checked_name(name)


def test_the_names_of_a_runs_files_are_valid_on_every_platform(hostile_run: Path) -> None:
    for path in hostile_run.rglob("*"):
        assert re.fullmatch(r"[A-Za-z0-9._-]*[A-Za-z0-9_-]", path.name), path


def test_shipped_code_and_shared_helpers_import_nothing_that_a_platform_lacks() -> None:
    shared = [ROOT / "tests" / name for name in ("conftest.py", "made.py", "browser.py", "vectors.py")]
    shipped = [
        path for folder in ("ltm_bench", "agents", "scenarios") for path in (ROOT / folder).rglob("*.py")
    ]
    lacking = {"fcntl", "pty", "resource", "termios", "grp", "pwd", "msvcrt", "winreg"}
    for path in (*shared, *shipped):
        for node in ast.parse(path.read_bytes()).body:  # optional inside a function
            names = (
                {alias.name for alias in node.names}
                if isinstance(node, ast.Import)
                else {node.module}
                if isinstance(node, ast.ImportFrom)
                else set()
            )
            assert not names & lacking, path
