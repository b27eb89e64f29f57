"""The budget of statements counts what is written, and holds."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "budget"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution has no scripts")

TEXT = SCRIPT.read_text("utf-8") if SCRIPT.is_file() else "LIMIT = 0"
LIMIT = int(re.findall(r"^LIMIT = ([\d_]+)", TEXT, re.MULTILINE)[0])

COUNTED = '''"""A module
with a docstring."""

import os  # one

# a comment
class Thing:
    """A docstring."""

    text = """two,

    three and
    four"""  # the blank line within the text does not count, as anywhere

    def method(self): ...
'''
"""Six statements."""

TANGLED = """
def plain():
    pass

async def tangled(x):  # 1
    assert 1 if x else 3  # 2, whatever is asserted
    for each in x:  # 3
        if each and x or each:  # 4, and 6 with the operands
            pass
        elif [n for n in x if n]:  # 7, and 9 with the comprehension
            pass
    else:  # 10
        pass
    try:
        pass
    except ValueError:  # 11
        pass
    else:  # 12
        pass
    match x:
        case 1:  # 13
            pass
        case _:
            pass
    def inner():  # counts for itself
        return 1 if 2 else 3
    return lambda: 1 if 2 else 3  # 14
"""
"""The second has a complexity of 14, as radon 6 says too."""


def budget(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, folder], capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "ltm_bench").mkdir()
    (tmp_path / "ltm_bench" / "thing.py").write_text(COUNTED, "utf-8")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_thing.py").write_text("x = 1\n", "utf-8")
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    (tmp_path / "ltm_bench" / "untracked.py").write_text("x = 1\n", "utf-8")
    return tmp_path


def test_blank_lines_comments_docstrings_tests_and_untracked_files_do_not_count(checkout: Path) -> None:
    done = budget(checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"6 of {LIMIT:,} statements: ltm_bench 6, agents 0, perf 0, scenarios 0",
        "0 functions are more complex than 25",
    ]


def test_one_statement_above_the_limit_is_too_many(checkout: Path) -> None:
    many = 'x = """\n' + "1\n" * (LIMIT - 2) + '"""\n'  # quickly parsed
    (checkout / "ltm_bench" / "thing.py").write_text(many, "utf-8")
    assert budget(checkout).returncode == 0
    (checkout / "ltm_bench" / "thing.py").write_text(f"{many}x = 1\n", "utf-8")
    done = budget(checkout)
    assert (done.returncode, done.stderr) == (1, "1 statements too many\n")


@pytest.mark.parametrize(("more", "listed"), [(11, []), (12, ["tangled has a complexity of 26"])])
def test_functions_with_a_complexity_above_25_are_listed(
    checkout: Path, more: int, listed: list[str]
) -> None:
    (checkout / "ltm_bench" / "thing.py").write_text(TANGLED + "    while x: pass\n" * more, "utf-8")
    done = budget(checkout)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == [
        f"{len(listed)} functions are more complex than 25",
        *(f"  ltm_bench/thing.py:5: {each}" for each in listed),
    ]
