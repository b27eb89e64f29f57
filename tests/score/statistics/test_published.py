"""The figures of prediction files: what each averages over, and which answers are compared."""

from typing import Any

import pytest

from ltm_bench.datasets.marks import SetQuestion, SetReplies
from ltm_bench.score.statistics.published import compare_sets, figures_of

Asked = list[tuple[str, SetQuestion]]


def replies(name: str, asked: Asked) -> SetReplies:
    return SetReplies(name, ("official", "judge"), asked)


def asked(
    number: int, score: float, kind: str = "1", histories: int = 3, **more: Any
) -> tuple[str, SetQuestion]:
    of = SetQuestion(id=str(number), type=kind, scores={"official": score}, apart=kind == "5", **more)
    return str(number % histories), of


def test_overall_counts_answers_and_the_average_counts_types() -> None:
    marks = [asked(i, 1.0) for i in range(9)] + [asked(i, 0.0, "2") for i in range(9, 12)]
    lines = {line.name: line for line in figures_of(replies("a", marks)).lines}
    assert lines["overall"].figures["official"].mean == 0.75
    assert lines["averaged over types"].figures["official"].mean == 0.5
    assert lines["1"].figures["official"].n == 9
    for line in lines.values():
        for figure in line.figures.values():
            assert figure.interval is not None
            assert figure.interval.low <= figure.mean <= figure.interval.high


def test_figures_that_are_read_again_are_the_same() -> None:
    found = figures_of(replies("a", [asked(i, float(i % 2), str(i % 3)) for i in range(12)]))
    assert type(found).model_validate_json(found.model_dump_json()) == found


def test_what_the_published_figure_leaves_out_has_its_own_line() -> None:
    marks = [asked(1, 1.0), asked(2, 0.0, "5")]
    lines = {line.name: line for line in figures_of(replies("a", marks)).lines}
    assert (lines["overall"].n, lines["5"].n) == (1, 1)
    assert lines["averaged over types"].figures["official"].mean == 1.0


def test_wrong_keys_are_counted_with_and_without() -> None:
    marks = [asked(1, 1.0), asked(2, 0.0, wrong_key="why"), asked(3, 1.0, unanswerable=True)]
    lines = {line.name: line for line in figures_of(replies("a", marks)).lines}
    assert lines["without wrong keys"].figures["official"].mean == 1.0
    assert lines["wrong keys alone"].n == 1
    assert lines["abstention"].n == 1


def test_files_are_compared_on_the_questions_that_both_answer_in_the_columns_that_both_have() -> None:
    first = replies("a", [asked(i, 1.0) for i in range(20)])
    second = replies("b", [asked(i, 0.0) for i in range(10, 30)])
    (found,) = compare_sets([first, second])
    assert (found.column, found.difference.n, found.difference.difference) == ("official", 10, 1.0)
    assert found.difference.shown
    assert compare_sets([first, replies("c", [asked(99, 1.0)])]) == []


def test_histories_that_differ_widen_the_interval() -> None:
    alike = [asked(i, float(i % 2), histories=5) for i in range(100)]
    apart = [asked(i, float(i % 2), histories=2) for i in range(100)]

    def width(marks: Asked) -> float:
        figure = figures_of(replies("a", marks)).lines[0].figures["official"]
        assert figure.interval is not None
        return figure.interval.high - figure.interval.low

    assert width(apart) > 1.5 * width(alike)
    assert width(alike) == pytest.approx(0.19, abs=0.03)


@pytest.mark.parametrize(
    ("mine", "theirs", "n"), [("x", "x", 1), ("x", "y", 0), ("", "y", 1), ("x", "", 1), ("", "", 1)]
)
def test_questions_of_one_id_are_compared_unless_they_are_known_to_differ(
    mine: str, theirs: str, n: int
) -> None:
    found = compare_sets(
        [replies("a", [asked(1, 1.0, asked=mine)]), replies("b", [asked(1, 0.0, asked=theirs)])]
    )
    assert sum(each.difference.n for each in found) == n
