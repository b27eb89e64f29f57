"""How far questions shift when earlier ones are asked beside the conversation."""

from pathlib import Path

from ltm_bench import Run, compare, run
from ltm_bench.score.comparison.positions import Placed, Shift, find_shifts, shift_lines


def held(reports: Path, questions: str) -> Run:
    return run(
        agent="perfect",
        span="2k",
        scenarios=["colours", "name_list"],
        examples=2,
        questions=questions,
        name=questions,
        reports=reports,
    )


def test_forked_questions_lack_what_came_before_them_in_line(
    tmp_path: Path,
) -> None:
    within, forked = held(tmp_path, "in-line"), held(tmp_path, "forked")
    found = compare(within, forked)
    assert found.shifts
    for shift in found.shifts:
        assert set(shift.placed) == {"in-line", "forked"}
        assert shift.by > 0
    [line] = [each for each in found.warnings if "different positions" in each]
    assert f"{len(found.shifts)} questions" in line
    asked = [question for example in forked.examples for question in example.questions]
    counted = sorted(question.beside for question in asked)
    assert counted[0] == 0
    assert 0 < counted[-1] < forked.results.fork_tokens
    assert {question.beside for example in within.examples for question in example.questions} == {0}
    assert sorted(row["beside"] for row in forked.rows()) == counted
    assert {row["beside"] for row in within.rows()} == {0}
    assert "more, were the questions before it in-line" in forked.report().read_text("utf-8")


def test_runs_of_one_mode_have_no_shifts_even_where_seeds_differ(tmp_path: Path) -> None:
    within = held(tmp_path, "in-line").results
    assert find_shifts([within, within]) == []
    assert find_shifts([within, within.model_copy(update={"seed": 1, "mode": "forked"})]) == []
    assert list(shift_lines([])) == []


def test_the_line_says_how_far_apart_and_by_how_much_the_distances_differ() -> None:
    def moved(number: int, by: int, distance: int | None) -> Shift:
        placed = {
            "in-line": Placed(position=5_000, distance=100),
            "forked": Placed(position=5_000 - by, distance=distance),
        }
        return Shift(span=2_000, seed=0, example="colours/0", question=number, placed=placed)

    [line] = shift_lines([moved(1, 1_200, 90), moved(2, 100, None), moved(3, 300, 100)])
    assert "3 questions have different positions" in line
    assert "300 tokens apart in the median, 1,200 at most" in line
    assert "differ by 10 tokens at most" in line
