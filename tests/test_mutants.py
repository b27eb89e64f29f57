"""`perf/mutants` puts faults into a copy, one at a time, and says which of them no test notices."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perf.mutants.changes import EVERYWHERE, Mutant, chosen, mutants

ROOT = Path(__file__).parents[1]

CODE = """\
LEAST = 3


def double(n, times=2):
    return n * times


def large(n):
    return n > LEAST


def unused(n):
    n.clear()


def endless(n):
    while n > 0:
        n -= 1
    return n


def made():
    return [1, 2]
"""
TESTS = """\
import pytest
from shop.till.prices import double, endless, large, made


class Made:
    def __init__(self):
        self.kept = []

    def __call__(self):
        self.kept = self.kept or made()
        return self.kept


@pytest.fixture(scope="session")
def making():
    return Made()


def test_it_makes_something(making):
    assert making()


def test_it_makes_two(making):
    assert len(making()) == 2


def test_it_ends():
    assert endless(2) == 0


def test_it_doubles():
    assert double(2) == 4


@pytest.mark.proof
def test_three_is_not_large():
    assert not large(3)


def test_ten_is_large():
    assert large(10)


def test_it_fails():
    assert double(2) == 5
"""


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., str]:
    """A checkout with a package, and the command on it."""
    for name, text in {
        "shop/__init__.py": "",
        "shop/till/__init__.py": "",
        "shop/till/prices.py": CODE,
        "tests/till/test_prices.py": TESTS,
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["proof", "long"]\n',
    }.items():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text(text, "utf-8")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "First"]):
        git = ["git", "-C", str(tmp_path / "checkout"), "-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run([*git, *command], check=True)

    def call(command: str, *options: str) -> str:
        where = ["--checkout", str(tmp_path / "checkout"), "--folder", str(tmp_path / "kept")]
        done = subprocess.run(
            [sys.executable, "-m", "perf.mutants", command, *where, "--rooms", "shop/till", *options],
            cwd=ROOT, capture_output=True, text=True, check=False, encoding="utf-8",
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return call


def of(original: str, mutated: str) -> Mutant:
    """The mutant of the code above with these lines."""
    found = mutants("shop/till/prices.py", CODE)
    return next(
        each for each in found if (each.original.strip(), each.mutated.strip()) == (original, mutated)
    )


def write(file: Path, *listed: Mutant) -> None:
    file.write_text("".join(json.dumps(each._asdict()) + "\n" for each in listed), "utf-8")


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.slow
@pytest.mark.proof(scenarios=(), files=("perf/mutants/*.py",))
@pytest.mark.skipif(shutil.which("git") is None, reason="makes a repository")
@pytest.mark.skipif(sys.platform == "win32", reason="limits CPU time")
def test_a_mutant_dies_of_a_test_a_proof_or_its_time_or_survives_and_is_run_once(
    tool: Callable[..., str], tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    assert "6 tests passed" in tool("cover")  # and one failed, which tells nothing
    listed = [
        of("return n * times", "return (n // times)"),
        of("return n > LEAST", "return (n >= LEAST)"),
        of("LEAST = 3", "LEAST = 4"),
        of("n.clear()", "pass"),
        of("def double(n, times=2):", "def double(n, times=3):"),
        of("return [1, 2]", "return [1, 3]"),
        of("return [1, 2]", "return None")._replace(original="    return gone"),
        of("n -= 1", "n += 1"),
    ]
    write(kept / "mutants.jsonl", listed[1])
    tool("run", "--proofs", "-k ten")
    assert [(each["result"], each["ran"]) for each in results(kept)] == [("survived", 2)]
    (kept / "results.jsonl").unlink()
    write(kept / "mutants.jsonl", *listed[:2])
    tool("run")
    before = results(kept)
    write(kept / "mutants.jsonl", *listed)
    shown = tool("run", "--seconds", "7")
    found = results(kept)
    assert found[:2] == before
    assert [each["result"] for each in found] == [
        "killed", "proof", "survived", "uncovered", "killed", "survived", "gone", "killed",
    ]  # fmt: skip
    test = "tests/till/test_prices.py::test_"
    assert found[0]["by"] == found[4]["by"] == f"{test}it_doubles"
    assert found[1]["by"] == f"{test}three_is_not_large"
    assert (found[1]["covering"], found[1]["ran"]) == (2, 2)
    assert found[5]["covering"] == 2, "both tests meet what the first of them has made for both"
    assert found[7]["by"] == "no end"
    assert "| till | 7 | 3 | 1 | 2 | 1 | 43% | 57% |" in shown.splitlines()
    assert (
        f"proof {test}three_is_not_large: shop/till/prices.py:9 (Gt)\n- return n > LEAST\n+ return (n >= LEAST)"
        in shown
    )
    assert (tmp_path / "checkout" / "shop" / "till" / "prices.py").read_text("utf-8") == CODE


def test_every_change_leaves_code_that_can_be_read_and_is_found_after_the_file_has_changed() -> None:
    for room in ("plugins", "schedule"):
        for path in (ROOT / "ltm_bench" / room).rglob("*.py"):
            text = path.read_text("utf-8")
            for mutant in mutants("x/y.py", text):
                ast.parse(mutant.applied(text, mutant.line))
                assert mutant.found(f"# new\n{text}") == mutant.line + 1
                assert mutant.found("# all is new\n") is None


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x = a < b", ["Lt"]),
        ("x = a and not b", ["And", "not dropped"]),
        ("x += 1", ["Add", "constant"]),
        ("def f(x: Literal[1] = True) -> Literal[2]: return x", ["constant", "return None"]),
        ("if ready(): pass", ["negated"]),
        ("raise Fault('too many: ' + str(n + 1))", ["deleted"]),
        ("a[0] = b", ["deleted", "constant"]),
        ("x = f'{n + 1}'", []),
        ("if TYPE_CHECKING: import x\n", []),
        ("@frozen(True)\nclass A(B, frozen=True):\n    '''Text.'''", []),
        ("return None", []),
    ],
)
def test_code_has_these_changes(text: str, kinds: list[str]) -> None:
    assert [each.kind for each in mutants("x/y.py", text)] == kinds


def test_a_change_meets_the_tests_of_its_statement_or_of_the_function_whose_head_it_is_in() -> None:
    assert of("return n * times", "return (n // times)").covers == (5, 5)
    assert of("def double(n, times=2):", "def double(n, times=3):").covers == (5, 5)
    assert of("while n > 0:", "while (n >= 0):").covers == (17, 17)
    assert of("LEAST = 3", "LEAST = 4").covers == (1, EVERYWHERE)


def test_the_same_seed_chooses_the_same_mutants_as_many_in_a_room_as_its_share() -> None:
    rooms = ["ltm_bench/schedule", "ltm_bench/core"]
    found = chosen(ROOT, rooms, 20, 0)
    assert found == chosen(ROOT, rooms, 20, 0) != chosen(ROOT, rooms, 20, 1)
    assert len({each[:2] for each in found}) == 20
    assert 1 <= sum(each.file.startswith("ltm_bench/schedule") for each in found) <= 6
    assert Mutant.read(json.dumps(found[0]._asdict() | {"now": {"result": "killed"}})) == found[0]
