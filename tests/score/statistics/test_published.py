"""The figures of prediction files: what each averages over, and which answers are compared."""

from pathlib import Path
from typing import Any

import pytest

from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.score.statistics.published import compare_files, file_figures


def sheet(name: str, marks: list[AnswerMark], apart: str = "") -> Sheet:
    return Sheet(Path(name), ("official", "judge"), tuple(marks), apart=frozenset(apart))


def mark(number: int, score: float, kind: str = "1", **more: Any) -> AnswerMark:
    return AnswerMark(str(number), kind, str(number % 3), {"official": score}, **more)


def test_overall_counts_answers_and_the_average_counts_types() -> None:
    marks = [mark(i, 1.0) for i in range(9)] + [mark(i, 0.0, "2") for i in range(9, 12)]
    lines = {line.name: line for line in file_figures(sheet("a", marks)).lines}
    assert lines["overall"].figures["official"].mean == 0.75
    assert lines["averaged over types"].figures["official"].mean == 0.5
    assert lines["1"].figures["official"].n == 9
    for line in lines.values():
        for figure in line.figures.values():
            assert figure.low is not None
            assert figure.high is not None
            assert figure.low <= figure.mean <= figure.high


def test_what_the_published_figure_leaves_out_has_its_own_line() -> None:
    marks = [mark(1, 1.0), mark(2, 0.0, "5")]
    lines = {line.name: line for line in file_figures(sheet("a", marks, apart="5")).lines}
    assert (lines["overall"].n, lines["5"].n) == (1, 1)
    assert lines["averaged over types"].figures["official"].mean == 1.0


def test_wrong_keys_are_counted_with_and_without() -> None:
    marks = [mark(1, 1.0), mark(2, 0.0, wrong_key=True), mark(3, 1.0, unanswerable=True)]
    lines = {line.name: line for line in file_figures(sheet("a", marks)).lines}
    assert lines["without wrong keys"].figures["official"].mean == 1.0
    assert lines["wrong keys alone"].n == 1
    assert lines["abstention"].n == 1


def test_files_are_compared_on_the_questions_that_both_answer_in_the_columns_that_both_have() -> None:
    first = sheet("a", [mark(i, 1.0) for i in range(20)])
    second = sheet("b", [mark(i, 0.0) for i in range(10, 30)])
    (found,) = compare_files([first, second])
    assert (found.column, found.difference.n, found.difference.difference) == ("official", 10, 1.0)
    assert found.difference.shown
    assert compare_files([first, sheet("c", [mark(99, 1.0)])]) == []


def test_histories_that_differ_widen_the_interval() -> None:
    alike = [AnswerMark(str(i), "1", str(i % 5), {"official": float(i % 2)}) for i in range(100)]
    apart = [AnswerMark(str(i), "1", str(i % 2), {"official": float(i % 2)}) for i in range(100)]

    def width(marks: list[AnswerMark]) -> float:
        figure = file_figures(sheet("a", marks)).lines[0].figures["official"]
        return (figure.high or 0) - (figure.low or 0)

    assert width(apart) > 1.5 * width(alike)
    assert width(alike) == pytest.approx(0.19, abs=0.03)


@pytest.mark.parametrize(
    ("mine", "theirs", "n"), [("x", "x", 1), ("x", "y", 0), ("", "y", 1), ("x", "", 1), ("", "", 1)]
)
def test_questions_of_one_id_are_compared_unless_they_are_known_to_differ(
    mine: str, theirs: str, n: int
) -> None:
    found = compare_files([sheet("a", [mark(1, 1.0, asked=mine)]), sheet("b", [mark(1, 0.0, asked=theirs)])])
    assert sum(each.difference.n for each in found) == n
