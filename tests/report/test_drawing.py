"""Drawings match their figures, and contain no more than can be seen."""

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.messages import Outcome
from ltm_bench.report.drawing import (
    course_area,
    course_line,
    filler_path,
    heat_paths,
    jump_path,
    percent,
    ticks,
)
from ltm_bench.report.words import filler_and_time
from ltm_bench.score.results.course import Course, Pause, Step

if TYPE_CHECKING:
    from tests.made import Made


def test_the_picture_of_a_long_conversation_holds_no_more_than_can_be_seen() -> None:
    course = Course(
        filler=[(i * 1000, i * 1000 + 900) for i in range(400)],
        jumps=[Pause(position=i, seconds=60.0) for i in range(5000)],
    )
    assert jump_path(course, 400_000).count("M") < 200
    assert filler_path(course, 400_000).count("M") == 400
    assert "5,000 jumps of benchmark time, 83 hours in all" in filler_and_time(course, 400_000)


@given(value=st.floats(-10, 10), whole=st.floats(0, 10))
def test_a_share_stays_inside_the_picture(value: float, whole: float) -> None:
    assert 0 <= float(percent(value, whole)) <= 100


def test_needles_look_as_well_as_they_were_remembered(made: "Made") -> None:
    stars = made.example("counting_stars/0", Outcome.PARTIAL, 0, 8_000, parts=(1.0, 0.5, 0.0, *(1.0,) * 5))
    paths = {path.look: path.moves for path in ticks(stars, 8_000)}
    assert {look: moves.count("M") for look, moves in paths.items()} == {"found": 6, "half": 1, "lost": 1}
    colours = made.example("colours/0", Outcome.CORRECT, 0, 8_000)
    assert [path.look for path in ticks(colours, 8_000)] == ["told"]


def test_a_row_of_a_heat_map_has_a_cell_for_every_part() -> None:
    paths = {path.look: path.moves for path in heat_paths([1.0, 0.0, 1.0])}
    assert paths == {"found": "M0.05 .05h.9v.9h-.9zM2.05 .05h.9v.9h-.9z", "lost": "M1.05 .05h.9v.9h-.9z"}


def test_a_line_has_its_highest_value_at_the_top_and_its_area_ends_at_the_bottom() -> None:
    steps = [
        Step(position=0, prompt=100.0, cached=50.0, dollars=0.0),
        Step(position=1000, prompt=200.0, cached=0.0, dollars=1.0),
    ]
    assert course_line(steps, "prompt") == "M0.0 50.0L1000.0 0.0"
    assert course_line(steps, "cached") == "M0.0 75.0L1000.0 100.0"
    assert course_line(steps, "dollars") == "M0.0 100.0L1000.0 0.0"
    assert course_area(steps, "prompt") == "M0.0 50.0L1000.0 0.0L1000 100L0.0 100Z"
