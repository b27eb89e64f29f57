"""A table is read at any width: no name is broken, no figure cut, and nothing is wider than the terminal."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.table import Table

from ltm_bench import run
from ltm_bench.cli import console
from ltm_bench.cli.console import out, print_table, table_of

if TYPE_CHECKING:
    from tests.conftest import Command

LONG = "standard-120k-a_rather_long_agent-seed17"
SHORT = ("--span", "2k", "--scenario", "colours", "--examples", "1")


@pytest.fixture(params=[80, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The width of a terminal."""
    for name, value in {
        "COLUMNS": str(request.param),
        "TTY_COMPATIBLE": "1",
        "NO_COLOR": "1",
        "TERM": "xterm",
    }.items():
        monkeypatch.setenv(name, value)
    out.cache_clear()
    yield request.param
    out.cache_clear()


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


WORD = st.text("abcdefghij", min_size=1, max_size=45)
CELL = st.one_of(WORD, st.lists(WORD, min_size=1, max_size=8).map(" ".join))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=1, max_size=3)
    ),
    words=st.sets(st.integers(0, 5)),
)
def test_no_word_of_a_table_is_broken_and_no_line_is_wider_than_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], rows: list[list[str]], words: set[int]
) -> None:
    heads = [f"h{place}" for place in range(len(rows[0]))]
    table = table_of(*heads, words=[f"h{place}" for place in words])
    for row in rows:
        table.add_row(*row)
    print_table(table)
    said = plain(capsys.readouterr().out)
    assert all(len(line.rstrip()) <= width for line in said.splitlines())
    assert {word for row in rows for cell in row for word in cell.split()} <= {*said.split()}


@pytest.mark.parametrize(
    "words",
    [
        ("list", "runs"),
        ("list", "agents"),
        ("list", "suites"),
        ("list", "scenarios"),
        ("datasets", "list"),
        ("compare",),
        ("rescore", LONG),
        ("estimate", *SHORT),
        ("plan-size", "--detect", "1"),
        (
            "sweep",
            *SHORT,
            "--agent",
            "goldfish",
            "--agent",
            "perfect",
            "--name",
            "a-name-that-is-rather-long",
        ),
    ],
    ids=" ".join,
)
def test_every_command_that_prints_a_table_fits_the_terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: "Command",
    width: int,
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (LONG, f"{LONG}-again"):
        run(agent="goldfish", span="2k", scenarios=["colours"], examples=2, name=name)
    tables: list[Table] = []
    for module in ("estimate", "plan_size", "sweep"):
        monkeypatch.setattr(f"ltm_bench.cli.commands.{module}.print_table", tables.append)
    for module in ("comparison", "console", "summary"):
        monkeypatch.setattr(f"ltm_bench.cli.{module}.print_table", tables.append)
    assert command(*words).exit_code == 0
    assert tables
    for table in tables:
        print_table(table)
        said = plain(capsys.readouterr().out)
        assert all(len(line.rstrip()) <= width for line in said.splitlines())
        cells = [str(cell) for column in table.columns for cell in column.cells]
        assert {cell for cell in cells if cell and " " not in cell} <= {*said.split()}


def test_all_tables_are_made_and_printed_in_one_place() -> None:
    here = Path(console.__file__)
    others = [each for each in here.parent.rglob("*.py") if each != here]
    made = [each.name for each in others if re.search(r"\bTable\(|print\(_?table", each.read_text("utf-8"))]
    assert made == []
