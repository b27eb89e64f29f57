"""`run --repeats`: several seeds and their combined result."""

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import api
from ltm_bench.api import running
from ltm_bench.plan.planning import Plan

if TYPE_CHECKING:
    from tests.conftest import Command

SHORT = ("run", "--span", "2k", "--scenario", "colours")

GUESS = """
from ltm_bench import Agent, Message, Reply, Usage

class Guess(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Blue.", Usage(uncached=100, output=1, model="gpt-4o", provider="openai"))
    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=100, output=1, model="gpt-4o", provider="openai")
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "guess.py").write_text(GUESS, "utf-8")
    return tmp_path


def test_every_repeat_is_run_and_one_page_sums_them_up(command: "Command", place: Path) -> None:
    done = command(*SHORT, "--agent", "perfect", "--seed", "4", "--repeats", "3")
    assert done.exit_code == 0, done.output
    names = sorted(path.parent.name for path in (place / "reports").glob("*/events.jsonl"))
    assert names == [f"colours-2k-perfect-seed{seed}" for seed in (4, 5, 6)]
    assert "3 seeds together: 1.00 / 1, 95 %" in done.output
    page = (place / "reports" / "colours-2k-perfect-seed4-to-6.html").read_text("utf-8")
    assert page.count('href="colours-2k-perfect-seed5/report.html#e-colours-') == 3


def test_repeats_say_how_much_scores_vary_from_seed_to_seed_and_from_test_to_retest(
    command: "Command",
) -> None:
    run = (*SHORT, "--agent", "guess", "--name", "g")
    done = command(*run, "--repeats", "2", "--examples", "4")
    assert "from run to run, the score has a standard deviation of" in " ".join(done.output.split())
    assert "run the seeds again with --again 2" in " ".join(done.output.split())
    assert command(*SHORT, "--agent", "guess", "--name", "again", "--examples", "4").exit_code == 0
    said = " ".join(command("compare", "g-seed0", "g-seed1", "again").output.split())
    assert "test-retest, the same seed again: 0.00; seed to seed: " in said


def test_interrupted_repeats_continue_where_they_stopped(command: "Command", place: Path) -> None:
    assert command(*SHORT, "--agent", "perfect", "--name", "p-seed0").exit_code == 0
    done = command(*SHORT, "--agent", "perfect", "--name", "p", "--repeats", "2")
    assert "p-seed0 is finished already" in done.output
    assert (place / "reports" / "p-seed1" / "report.html").exists()


def test_the_threshold_applies_to_the_mean_of_all_seeds(command: "Command") -> None:
    assert command(*SHORT, "--agent", "perfect", "--repeats", "2", "--fail-under", "1").exit_code == 0
    done = command(*SHORT, "--agent", "goldfish", "--repeats", "2", "--fail-under", "0.1")
    assert done.exit_code == 2
    assert "the score 0.00 of 1 is below --fail-under 0.1" in done.output


def test_the_budget_covers_all_seeds_together(command: "Command", monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Decimal] = []
    execute = running.execute

    async def watched(plan: Plan, folder: Path, options: api.Options) -> api.Run:
        assert options.budget.limit == 1
        left.append(options.budget.limit - options.budget.spent)
        return await execute(plan, folder, options)

    monkeypatch.setattr("ltm_bench.api.execute", watched)
    done = command(*SHORT, "--agent", "guess", "--repeats", "2", "--max-cost", "1")
    assert done.exit_code == 0, done.output
    assert command(*SHORT, "--agent", "guess", "--repeats", "2", "--max-cost", "1").exit_code == 0
    first, second, *again = left
    assert again == [first, second]  # earlier spending counts as well
    assert first == 1
    assert Decimal("0.9") < second < first


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_repeats_must_be_a_positive_whole_number(command: "Command", count: str) -> None:
    done = command(*SHORT, "--repeats", count)
    assert done.exit_code == 1
    assert f"--repeats {count}: write a whole number" in done.output
