"""What a run has cost with all that was asked of it again: the fold of the calls of all its folders."""

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.log.calls import KEPT, read_calls, spent_on
from tests.asking import PAID
from tests.judge.test_reading_runs import BETWEEN, SCENARIO

if TYPE_CHECKING:
    from tests.conftest import Command

RUN = ("run", "--agent", "paid", "--span", "2k", "--scenario", "ride", "--examples", "2", "--name", "r")
JUDGE = '''"""Judge: costs a cent an answer."""

from ltm_bench import Agent, Message, Reply, Usage


class Judge(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply('{"reason": "", "verdict": "wrong"}', Usage(output=1000, model="gpt-4o", provider="openai"))
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "paid.py").write_text(PAID.replace("I do not know.", BETWEEN), "utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "ride.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "strict.py").write_text(JUDGE, "utf-8")
    return tmp_path


def folded() -> Decimal:
    """Return the sum of all `calls.jsonl` of the run."""
    calls = [read_calls(path.parent) for path in Path("reports/r").rglob("calls.jsonl")]
    return sum(
        (spent_on(each.calls) + spent_on(c for c in each.asked if c.ending != KEPT) for each in calls),
        Decimal(),
    )


def in_all() -> dict[str, float | None]:
    found: dict[str, float | None] = json.loads(Path("reports/r/results.json").read_text("utf-8"))["in_all"]
    return found


def test_one_sum_covers_run_controls_ladder_and_judges(command: "Command") -> None:
    done = command(*RUN, "--control", "blind,evidence", "--ladder")
    assert done.exit_code == 0, done.output
    found = in_all()
    assert [*found] == ["run", "judges", "blind", "evidence", "again", "cued", "recognised", "retold", "all"]
    assert found["all"] == pytest.approx(sum(each or 0 for name, each in found.items() if name != "all"))
    assert found["all"] == pytest.approx(float(folded()))
    assert "in all: $" in done.out
    assert "blind $" in done.out
    assert command("rescore", "r.blind", "--judge", "strict").exit_code == 0
    assert command("report", "r").exit_code == 0
    judged = len(read_calls(Path("reports/r/controls/blind")).asked)
    assert judged > 0
    assert in_all()["all"] == pytest.approx((found["all"] or 0) + 0.01 * judged)
    assert in_all()["all"] == pytest.approx(float(folded()))


def test_a_run_of_which_nothing_was_asked_again_has_no_sum_besides_its_own(command: "Command") -> None:
    done = command(*RUN)
    assert in_all() == {}
    assert "in all:" not in done.out


def test_a_sum_of_which_a_part_is_unknown_is_unknown(command: "Command") -> None:
    text = Path("agents/paid.py").read_text("utf-8").replace("gpt-4o", "some-model")
    Path("agents/paid.py").write_text(text, "utf-8")
    done = command(*RUN, "--control", "blind")
    assert in_all()["all"] is None
    assert "in all: unknown" in done.out
