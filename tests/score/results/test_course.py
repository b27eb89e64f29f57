"""The course of a run: filler and jumps of time, as logged."""

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Usage
from ltm_bench.report.words import filler_and_time
from ltm_bench.score.results.course import MOST_STEPS, CallGroups
from ltm_bench.score.results.scoring import score_run

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_filler_and_jumps_are_those_of_the_log(command: "Command") -> None:
    assert (
        command("run", "--span", "8k", "--scenario", "jokes", "--agent", "goldfish", "--name", "r").exit_code
        == 0
    )
    events = [json.loads(line) for line in Path("reports/r/events.jsonl").read_text().splitlines()]
    course = score_run(Path("reports/r")).course
    filled = sum(end - start for start, end in course.filler)
    total = events[-1]["tokens"]
    replies = {e["turn"]: e["tokens"] for e in events if e["event"] == "replied"}
    said = sum(e["tokens"] + replies[e["turn"]] for e in events if e.get("kind") == "fill")
    assert said <= filled <= said + total * 0.05
    assert [jump.position for jump in course.jumps] == [
        e["position"] for e in events if e["event"] == "jumped"
    ]
    assert all(jump.seconds > 0 for jump in course.jumps)
    words = filler_and_time(course, total)
    assert words in Path("reports/r/report.html").read_text()
    assert f"{len(course.jumps)} jumps of benchmark time" in words


def test_an_isolated_run_has_neither(command: "Command") -> None:
    run = ("run", "--span", "2k", "--scenario", "jokes", "--agent", "goldfish", "--name", "r", "--isolated")
    assert command(*run).exit_code == 0
    course = score_run(Path("reports/r")).course
    assert (course.filler, course.jumps) == ((), ())
    assert "filler and time" not in Path("reports/r/report.html").read_text()


def test_a_long_conversation_is_averaged_into_as_many_steps_as_can_be_seen() -> None:
    for count in (1, MOST_STEPS, MOST_STEPS + 1, 10 * MOST_STEPS + 7):
        calls = CallGroups()
        for i in range(count):
            calls.add(1000 * i, Usage(uncached=i), Decimal(i))
        steps = calls.steps()
        assert min(count, MOST_STEPS // 2) <= len(steps) <= MOST_STEPS
        assert (steps[-1].position, steps[-1].dollars) == (1000 * (count - 1), count - 1)
        assert steps[0].prompt == (count > MOST_STEPS) * steps[0].position / 2000
