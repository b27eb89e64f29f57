"""The tables of papers against suites: each row is what the suite has, and every parameter of a suite has its row."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ltm_bench.core.tokens import counter
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plan.suites import Suite, read_suite
from ltm_bench.plugins.files import bundled
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

PAGE = Path(__file__).parents[2] / "docs" / "predecessors.md"


def suite_of(name: str) -> Suite:
    return read_suite(bundled("configs") / f"{name}.toml")


class Row(NamedTuple):
    """A row of a table: its suite, what it is about, and what it says that the suite has."""

    suite: str
    about: str
    paper: str
    has: str
    why: str


def rows() -> Iterator[Row]:
    for section in PAGE.read_text("utf-8").split("\n### ")[1:]:
        suite = re.search(r"suites? `([\w-]+)`", section.partition("\n")[0])
        assert suite
        table = section.partition("\n|---|---|---|---|\n")[2].partition("\n\n")[0]
        for line in table.splitlines():
            yield Row(suite[1], *(cell.strip() for cell in line.strip("|").split("|")))


ROWS = list(rows())


def said(name: str, row: str) -> list[str]:
    """Return what the messages of one example of a row of a suite say."""
    parameters = suite_of(name).parameters(row)
    one = Example(scenario(suite_of(name).plays(row)), 31, 3, {**parameters, "span": 8_000} | parameters)
    return [step.text for step in rehearse(one, counter())]


def lines(name: str) -> list[str]:
    return [
        step.text
        for step in rehearse(Example(scenario(name), 0, 3, suite_of("paper").parameters(name)), counter())
    ]


def _waiter_says() -> int:
    return sum(text.startswith("Waiter:") for text in lines("restaurant"))


def _counts_are_irregular() -> bool:
    """Return whether no seed takes one number of every hundred, which would show which are missing."""
    row = suite_of("counting-stars-v1").parameters("32-32") | {"span": 8_000, "delivery": "scattered"}
    for seed in range(10):
        steps = rehearse(Example(scenario("counting_stars"), 31, seed, row), counter())
        counts = [int(n) for step in steps for n in re.findall(r"数到 (\d+)", step.text)]
        assert len(counts) == 32
        assert counts == sorted(counts)
        if len({count // 100 for count in counts}) == len(counts):
            return False
    return True


def _sky_never_repeats() -> bool:
    prompt, *_ = said("counting-stars-v1", "16-32")
    sentences = [each for each in re.split(r"(?<=。)|\n", prompt) if each.strip() and "★" not in each]
    return len(sentences) == len(set(sentences)) > 5


NAMED: dict[tuple[str, str], Callable[[], bool]] = {
    ("paper", "scenarios = 11"): lambda: len(suite_of("paper").scenarios) == 11,
    ("paper", 'chapter_break.least_span = "8k"'): lambda: (
        suite_of("paper").fitting(2_000)
        == [row for row in suite_of("paper").scenarios if row != "chapter_break"]
    ),
    ("paper", "opening"): lambda: bool(
        re.search("test of your long-term memory", suite_of("paper").opening or "")
    ),
    ("paper", "spy_meeting"): lambda: len(lines("spy_meeting")) == 6,
    ("paper", "restaurant"): lambda: _waiter_says() == 6,
    ("paper", 'filler = "shipped"'): lambda: (
        make_plan(Request(agent="perfect", suite="paper", span="8k", examples=1)).manifest.filler.source
        == "shipped"
    ),
    ("paper", "isolated = 11"): lambda: (
        {**suite_of("isolated").scenarios, "chapter_break": 0}
        == {**suite_of("paper").scenarios, "chapter_break": 0}
        and suite_of("isolated").isolated
        and suite_of("isolated").opening == suite_of("paper").opening
    ),
    ("counting-stars-v1", "counts"): _counts_are_irregular,
    ("counting-stars-v1", "sky"): _sky_never_repeats,
    ("swim", "temperature"): lambda: (
        not any("temperature" in row for row in suite_of("swim").scenarios.values())
    ),
    ("infinitebench-files", "infinitebench-files = 12"): lambda: (
        len(suite_of("infinitebench-files").scenarios) == 12
    ),
    ("infinitebench-files", "infinitebench-made = 6"): lambda: (
        len(suite_of("infinitebench-made").scenarios) == 6
    ),
    ("infinitebench-files", "infinitebench-published = 2480"): lambda: (
        sum(
            suite_of("infinitebench-published").count(row)
            for row in suite_of("infinitebench-published").scenarios
        )
        == 2480
    ),
    ("infinitebench-files", "prompts"): lambda: (
        not any("prompts" in row for row in suite_of("infinitebench-files").scenarios.values())
    ),
}
"""What a row says that is no parameter of a scenario."""


def parameter(suite: Suite, name: str) -> Any:
    row, _, key = name.rpartition(".")
    return suite.parameters(row)[key] if row else getattr(suite, key)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.suite}: {row.about}")
def test_a_row_says_what_the_suite_has(row: Row) -> None:
    items = re.findall(r"`([^`]+)`", row.has)
    assert items, "a row names what it is checked against"
    assert row.why
    for item in items:
        if (row.suite, item) in NAMED:
            assert NAMED[row.suite, item]()
            continue
        name, _, value = item.partition(" = ")
        wanted = ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
        assert parameter(suite_of(row.suite), name) == wanted
    for item in re.findall(r"`(\w+\.least_span = [^`]+)`", row.why):
        assert NAMED[row.suite, item]()


def test_every_parameter_of_the_suite_paper_has_its_row() -> None:
    said = " ".join(row.has + row.why for row in ROWS if row.suite == "paper")
    suite = suite_of("paper")
    for row in suite.scenarios:
        for key in suite.parameters(row):
            assert f"`{row}.{key} = " in said or key in ("least", "most", "page"), f"{row}.{key} has no row"
