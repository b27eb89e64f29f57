"""A run that costs more than a little is agreed to by a person at the terminal, with its price in the question."""

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from ltm_bench.cli.forecasting import DEAR, agree
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.estimate import Estimate

if TYPE_CHECKING:
    from tests.conftest import Command

CENT = Decimal("0.01")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked; whoever is asked says yes."""
    found: list[str] = []
    monkeypatch.setattr("signal.signal", lambda *_: None)
    # In place of the console, not of its file: that would be put back as the one of this test, for all tests to come.
    file = SimpleNamespace(
        write=found.append, flush=lambda: None
    )  # whoever is asked sees the question, if quiet, too
    seen = SimpleNamespace(quiet=True, file=file, print=lambda *_: None)
    monkeypatch.setattr("ltm_bench.cli.forecasting.err", lambda: seen)
    monkeypatch.setattr("builtins.input", lambda: "y")
    return found


def plan_of(agent: str, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    return make_plan(Request(agent=agent, span="2k", scenarios=("colours",), examples=1), {})


@pytest.mark.parametrize(
    ("agent", "found", "runs", "price"),
    [
        ("openai:gpt-6-luna", Estimate(dollars=DEAR + CENT), 1, "about $5.01"),
        ("openai:gpt-6-luna", Estimate(dollars=DEAR + CENT, bounded=True), 1, "at most $5.01"),
        ("openai:gpt-6-luna", Estimate(dollars=Decimal(2)), 3, "about $6.00"),
        ("openai:gpt-6-luna", None, 1, "an unknown sum"),
        ("openai:gpt-6-luna", Estimate(dollars=Decimal(DEAR)), 1, None),
        ("openai:gpt-6-luna", Estimate(dollars=None), 1, None),
        ("goldfish", Estimate(), 100, None),
        ("goldfish", None, 1, None),
    ],
)
def test_the_question_has_the_price_and_is_asked_only_of_what_is_dear(
    asked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    found: Estimate | None,
    runs: int,
    price: str | None,
) -> None:
    agree(plan_of(agent, monkeypatch), found, runs)
    assert len(asked) == (price is not None)
    assert all(price is not None and price in question for question in asked)


@pytest.mark.parametrize("said", ["", "n", "no", "maybe", None])
def test_whoever_does_not_say_yes_runs_nothing(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, said: str | None
) -> None:
    def answer() -> str:
        if said is None:
            raise EOFError
        return said

    monkeypatch.setattr("builtins.input", answer)
    with pytest.raises(ConfigError, match="nothing was run; with --yes nobody is asked"):
        agree(plan_of("openai:gpt-6-luna", monkeypatch), Estimate(dollars=Decimal(6)), 1)
    assert asked


@pytest.mark.parametrize(
    ("words", "terminal", "times"),
    [
        ((), True, 1),
        (("--repeats", "2"), True, 1),
        (("--yes",), True, 0),
        (("--max-cost", "9"), True, 0),
        ((), False, 0),
    ],
)
def test_a_person_is_asked_once_unless_a_limit_or_yes_was_said_or_nobody_is_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: "Command",
    words: tuple[str, ...],
    terminal: bool,
    times: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[int] = []
    monkeypatch.setattr("ltm_bench.cli.watching.agree", lambda plan, found, runs: asked.append(runs))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    done = command(
        "run", "--agent", "goldfish", "--span", "2k", "--scenario", "colours", "--examples", "1", *words
    )
    assert done.exit_code == 0
    assert asked == [2 if words else 1] * times


def test_nobody_is_asked_where_there_is_no_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ltm_bench.cli.watching.agree", lambda plan, found, runs: pytest.fail("asked"))
    monkeypatch.setattr("sys.stdin", None)
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    words = ("run", "--agent", "goldfish", "--span", "2k", "--scenario", "colours", "--examples", "1")
    assert command(*words).exit_code == 0


def test_whoever_repeats_a_command_is_asked_about_the_runs_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[int] = []
    monkeypatch.setattr("ltm_bench.cli.watching.agree", lambda plan, found, runs: asked.append(runs))
    words = ("run", "--agent", "goldfish", "--span", "2k", "--scenario", "colours", "--examples", "1")
    assert command(*words).exit_code == 0, "its first run is there, and starts no more"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("rich.console.Console.is_terminal", True)
    assert command(*words, "--repeats", "3").exit_code == 0
    assert asked == [2], "once, although two start"
