"""Tokens a question: the prompts of the calls that answered, and where one agent begins to take less than another."""

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Usage
from ltm_bench.log.calls import Call, calls_of, context_of
from ltm_bench.score.comparison.breaking_even import break_even
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.course import Course, Step, thinned

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.made import Made

AGENT = '''"""Says how many tokens it sent: all it was told, or `most` at most; in several calls, or in none."""

from ltm_bench import Agent, Message, Reply, Turn, Usage


class Sends(Agent):
    def __init__(self, *, most: int = 1_000_000, calls: int = 1) -> None:
        self._told, self._most, self._calls = 100, most, calls

    async def observe(self, turn: Turn) -> None:
        self._told += len(turn.message.text + turn.reply.text) // 4

    async def reply(self, message: Message) -> Reply:
        self._told += len(message.text) // 4
        model = {"model": "gpt-6-luna", "provider": "openai"}
        own = Usage(uncached=min(self._told, self._most), output=1, **model)
        beside = Usage(uncached=5_000, model="text-embedding-3-small", provider="openai")
        calls = [Usage.of([own, Usage(uncached=0, besides=(beside,), **model)]), *[own] * (self._calls - 1)]
        return Reply("Okay.", Usage.of(calls[: self._calls]) if self._calls else None)
'''
USED = Usage(uncached=70, cache_read=20, cache_write=10, output=5)


def passed(**known: Any) -> Call:
    return Call(passed=True, usage=USED, dollars=Decimal("0.1"), ending="answered")._replace(**known)


@pytest.mark.parametrize(
    ("calls", "context"),
    [
        ([], (None, 0)),
        ([Call(usage=USED)], (100, 1)),
        ([Call(usage=USED), Call(usage=USED)], (200, 2)),
        ([passed(), passed(role="memory")], (100, 1)),
        ([passed(), passed(usage=None, dollars=Decimal(), ending="HTTP 429")], (100, 1)),
        ([passed(), passed(usage=None, dollars=Decimal(), ending="HTTP 200")], (None, 2)),  # from a cache
        ([passed(), passed(usage=None, lost=True, ending="lost")], (None, 2)),
        ([passed(usage=None)], (None, 1)),
        ([passed(), Call(dollars=Decimal(), ending="stop")], (100, 1)),  # the gateway counts it
        ([Call(dollars=Decimal(1), lost=True), Call(usage=USED)], (100, 1)),  # an attempt before
        ([Call()], (None, 1)),
        (calls_of(Usage(uncached=3, besides=(USED,)), Call()), (3, 1)),
    ],
)
def test_the_context_of_an_answer_is_that_of_its_own_calls_and_unknown_if_one_does_not_say(
    calls: list[Call], context: tuple[int | None, int]
) -> None:
    assert context_of(calls) == context


def ran(command: "Command", folder: Path, *words: str) -> tuple[dict[str, Any], str]:
    (folder / "sends.py").write_text(AGENT, "utf-8")
    fixed = ("run", "--span", "8k", "--scenario", "colours", "--examples", "2", "--agent", "sends.py")
    done = command(*fixed, *words)
    assert done.exit_code == 0, done.err
    name = words[words.index("--name") + 1]
    found: dict[str, Any] = json.loads((folder / "reports" / name / "results.json").read_text("utf-8"))
    return found, done.out


def test_tokens_a_question_stand_in_terminal_results_page_frame_and_comparison(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, said = ran(command, tmp_path, "--name", "whole")
    little, _ = ran(command, tmp_path, "--name", "little", "-A", "most=4000")
    twice, said_twice = ran(command, tmp_path, "--name", "twice", "-A", "most=1000", "-A", "calls=2")
    none, said_none = ran(command, tmp_path, "--name", "none", "-A", "calls=0")
    asked = [question for each in whole["examples"] for question in each["questions"]]
    mean = sum(each["context"] for each in asked) / len(asked)
    assert whole["context"]["mean"] == pytest.approx(mean)
    assert f"{mean:,.0f} context tokens a question" in said
    assert f"{mean:,.0f} tokens a question" in (tmp_path / "reports/whole/report.html").read_text("utf-8")
    assert little["context"]["mean"] == 4000
    assert twice["context"]["mean"] == 2000
    assert f"({len(asked)} of {len(asked)} are totals of several calls)" in said_twice
    assert none["context"]["mean"] is None
    assert "context tokens" not in said_none
    assert command("export", "whole", "--format", "csv", "-o", "rows.csv").exit_code == 0
    head = (tmp_path / "rows.csv").read_text("utf-8").splitlines()[0]
    columns = head.split(",")
    assert {"context", "context_calls", "run_context"} <= set(columns)
    done = command("compare", "whole", "little", "none", "-o", "page.html")
    assert done.exit_code == 0, done.err
    assert f"{mean:,.0f}" in done.out
    assert "4,000" in done.out
    assert "unknown" in done.out
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"{mean:,.0f}</td>" in page
    for does in ("costs less", "sends fewer tokens a call"):
        assert does in done.out
        assert does in page


def test_where_one_takes_less_is_where_two_courses_cross_for_the_last_time(made: "Made") -> None:
    def run(agent: str, *steps: tuple[int, float, float | None]) -> Scored:
        found = made.run(agent)
        course = Course(
            steps=[Step(position=at, prompt=sent, cached=0, dollars=paid) for at, sent, paid in steps]
        )
        return found._replace(results=found.results.model_copy(update={"course": course}))

    def crossed(one: Scored, other: Scored) -> list[tuple[str, str, int]]:
        runs = {("one", 1): [one], ("other", 1): [other]}
        return [(each.less, each.does, each.position) for each in break_even(runs, 1, "one", "other")]

    places = range(0, 10_001, 500)
    whole = run("one", *((at, at, (at / 1000) ** 2) for at in places))
    memory = run("other", *((at + 20, 3_100, 5 * at / 1000) for at in places))
    assert crossed(whole, memory) == [
        ("other", "costs less", 5_000),
        ("other", "sends fewer tokens a call", 3_500),
    ]
    assert {less for less, _, _ in crossed(memory, whole)} == {"one"}
    unpriced = run("other", *((at, 3_100, None) for at in places))
    assert [does for _, does, _ in crossed(whole, unpriced)] == ["sends fewer tokens a call"]
    assert crossed(whole, run("other", *((at, 20_000, 1_000) for at in places))) == []
    assert crossed(whole, run("other")) == []
    few = whole._replace(
        results=whole.results.model_copy(update={"course": thinned(whole.results.course)})
    ).results.course
    assert 8 <= len(few.steps) <= 16
    assert set(few.steps) <= set(whole.results.course.steps)
