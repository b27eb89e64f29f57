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


def budget(folder: Path, script: Path = SCRIPT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, encoding="utf-8", check=False
    )


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*command, *arguments], check=True, capture_output=True)


def limited(folder: Path, limit: int, message: str | None = None, text: str = TEXT) -> None:
    """Set the limit in a checkout; commit it, if there is a message."""
    script = folder / "scripts" / "budget"
    script.parent.mkdir(exist_ok=True)
    script.write_text(re.sub(r"^LIMIT = [\d_]+", f"LIMIT = {limit:_}", text, flags=re.MULTILINE), "utf-8")
    if message is not None:
        git(folder, "add", "--all")
        git(folder, "commit", "--message", message)


def wrong(folder: Path) -> list[str]:
    """Run a checkout's own script; return what it says is wrong, without the commit."""
    done = budget(folder, folder / "scripts" / "budget")
    assert done.returncode == bool(done.stderr)
    return [line.partition(" ")[2] for line in done.stderr.splitlines()]


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
        "beside them: tables with control flow 0, scripts 0, templates 0",
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
    assert done.stdout.splitlines()[2:] == [
        f"{len(listed)} functions are more complex than 25",
        *(f"  ltm_bench/thing.py:5: {each}" for each in listed),
    ]


def test_scripts_templates_and_tables_that_code_walks_are_printed_beside_the_statements(
    checkout: Path,
) -> None:
    for name, text in {
        "scripts/one.py": COUNTED,  # 6
        "scripts/two": f"#!/usr/bin/env python\n{COUNTED}",  # 6
        "scripts/three": "#!/usr/bin/env bash\n# a comment\n\ntrue\n",  # 1
        "scripts/plan.toml": "# a comment\nx = 1\n",  # 1, a table
        "configs/suite.toml": "x = 1\n\ny = 2\n",  # 2, a table
        "scenarios/formerly.json": "{\n}\n",  # 2, a table
        "scenarios/texts.json": "{\n}\n",  # what is said
        "ltm_bench/datasets/errata.toml": "x = 1\n",  # what is compared with
        "ltm_bench/report/page.jinja": "#id {\n\n}\n",  # 2
    }.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text, "utf-8")
    git(checkout, "add", "--all")
    beside = budget(checkout).stdout.splitlines()[1]
    assert beside == "beside them: tables with control flow 5, scripts 13, templates 2"


def test_a_commit_that_raises_the_limit_needs_a_reason_from_this_rule_on(
    checkout: Path, tmp_path: Path
) -> None:
    limited(checkout, 10, "First", text="LIMIT = 0\n")
    limited(checkout, 20, "Raised before the rule", text="LIMIT = 0\n")
    limited(checkout, 30, "Raised with the rule")
    limited(checkout, 28, "Lowered")
    limited(checkout, 29, "Raised\n\nIt was too low.\n\nBudget: a whole new room")
    assert wrong(checkout) == []
    limited(checkout, 1_031, "Raised\n\nIt was too low.\nBudget:\nNo Budget: here.")
    limited(checkout, 1_030, "Lowered again")
    said = ["raises the limit from 29 to 1,031: its body needs a line `Budget: <reason>`"]
    assert wrong(checkout) == said
    for depth, found in ((1, []), (2, []), (3, said)):
        git(tmp_path, "clone", f"--depth={depth}", checkout.as_uri(), f"clone-{depth}")
        assert wrong(tmp_path / f"clone-{depth}") == found


def test_a_limit_that_is_raised_but_not_committed_is_told_of_and_no_failure(checkout: Path) -> None:
    limited(checkout, 30, "The rule")
    limited(checkout, 31)
    done = budget(checkout, checkout / "scripts" / "budget")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (
        0,
        "the limit is above that of HEAD: the commit's body needs a line `Budget: <reason>`",
    )


def test_without_git_all_files_count_and_no_commit_is_checked(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "thing.py").write_text(COUNTED, "utf-8")
    limited(tmp_path, 30)
    assert wrong(tmp_path) == []
    limited(tmp_path, 5)
    assert wrong(tmp_path) == ["statements too many"]
