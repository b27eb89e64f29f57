"""Scores by skill and distance, needle by needle, and what was used along the way."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.course import MOST_STEPS
from ltm_bench.score.results.figures import bins, needle_recall, points
from ltm_bench.score.results.scoring import score_run
from ltm_bench.score.statistics.figures import Row

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.made import Made

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG


def test_a_skill_scores_the_mean_of_the_scenarios_that_need_it(made: "Made") -> None:
    examples = [made.example(f"colours/{i}", RIGHT, i, 9_000) for i in range(4)]
    examples += [made.example(f"shopping_list/{i}", WRONG, i, 9_000) for i in range(2)]
    found = {skill.name: skill for skill in made.results(examples).skills}
    assert set(found) == {"recall", "conflict", "aggregation"}
    assert (found["recall"].mean, found["recall"].n) == (0.5, 6)  # of scenarios, not of examples
    assert found["recall"].interval is not None
    assert found["recall"].interval.low < 0.5 < found["recall"].interval.high < 1
    assert (found["aggregation"].mean, found["aggregation"].scenarios) == (0.0, ["shopping_list"])


def test_a_skill_without_scores_is_left_out(made: "Made") -> None:
    examples = [
        made.example("colours/0", RIGHT, 0, 9_000),
        made.example("jokes/0", Outcome.NOT_REACHED, 1, 9_000),
    ]
    assert {skill.name for skill in made.results(examples).skills} == {"recall", "conflict"}


def test_distance_is_that_of_the_parts_needle_or_else_of_the_last_one(made: "Made") -> None:
    stars, colours = (
        made.example("counting_stars/0", RIGHT, 0, 8_000),
        made.example("colours/0", WRONG, 0, 8_000),
    )
    found = list(points([stars, colours]))
    assert found[:8] == [
        Row(part, distance=needle.depth, chance=0.0)
        for needle, part in zip(stars.needles, stars.questions[0].parts, strict=True)
    ]
    assert found[8:] == [Row(0.0, distance=colours.needles[-1].depth, chance=colours.questions[0].chance)]


def test_distances_are_grouped_into_about_equal_numbers() -> None:
    found = bins([Row(float(i < 30), distance=i * 100, chance=0.0) for i in range(60)])
    assert [(each.low, each.high, each.n) for each in found] == [
        (i * 1000, i * 1000 + 900, 10) for i in range(6)
    ]
    assert [each.mean for each in found] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert all(each.interval.low - 1e-9 <= each.mean <= each.interval.high + 1e-9 for each in found)
    assert all(each.interval.high - each.interval.low > 0.2 for each in found)
    assert bins([Row(1.0, distance=1, chance=0.0)] * 4) == []


def test_a_heat_map_has_a_row_for_each_example_and_the_mean_of_each_needle(made: "Made") -> None:
    rows = [
        made.example("counting_stars/0", Outcome.PARTIAL, 0, 8_000, parts=(1.0,) * 8),
        made.example("counting_stars/1", Outcome.PARTIAL, 1, 8_000, parts=(0.0,) * 4 + (1.0,) * 4),
        made.example("colours/0", RIGHT, 2, 8_000),
    ]
    [heat] = needle_recall(rows)
    assert heat.scenario == "counting_stars"
    assert heat.examples == ["counting_stars/0", "counting_stars/1"]
    assert heat.shares == [0.5] * 4 + [1.0] * 4


METER = """
from ltm_bench import Agent, Message, Reply, Usage

class Meter(Agent):
    calls = 0
    async def reply(self, message: Message) -> Reply:
        self.calls += 1
        usage = Usage(uncached=100, cache_read=100 * self.calls, output=1, model="gpt-4o", provider="openai")
        return Reply("Noted.", usage)
"""


@pytest.fixture
def metered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "meter.py").write_text(METER, "utf-8")
    done = command(
        "run",
        "--span",
        "2k",
        "--agent",
        "meter",
        "--examples",
        "10",
        "--scenario",
        "colours",
        "--scenario",
        "spy_meeting",
        "--name",
        "metered",
    )
    assert done.exit_code == 0, done.output
    return tmp_path / "reports" / "metered"


def test_usage_is_tracked_along_the_conversation_to_the_cent(metered: Path) -> None:
    results = json.loads((metered / "results.json").read_text("utf-8"))
    course = score_run(metered).course
    assert 10 < len(course.steps) <= MOST_STEPS
    positions = [step.position for step in course.steps]
    assert positions == sorted(positions)
    assert course.steps[-1].dollars == pytest.approx(results["costs"]["dollars"], abs=1e-6)
    assert all(step.cached == pytest.approx(step.prompt - 100) for step in course.steps)
    assert results["latency"]["calls"] == results["costs"]["calls"]
    seconds = list(results["latency"]["percentiles"].values())
    assert seconds == sorted(seconds)
    html = (metered / "report.html").read_text("utf-8")
    assert "Prompt tokens per call" in html
    assert "Cost so far" in html


def test_an_agent_that_reports_no_usage_has_no_charts_of_it(hostile_run: Path) -> None:
    course = score_run(hostile_run).course
    assert list(course.steps) == []
    assert "Prompt tokens per call" not in (hostile_run / "report.html").read_text("utf-8")
