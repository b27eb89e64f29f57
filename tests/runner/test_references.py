"""The references beside a score are simulated, not run, with the same result."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.score.statistics.intervals import above_zero

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

RUN = ("run", "--span", "8k", "--suite", "smoke", "--name")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(place: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "reports" / name / "results.json").read_text("utf-8"))
    return content


@pytest.mark.parametrize("more", [(), ("--isolated",)], ids=["conversation", "isolated"])
def test_a_simulated_reciter_scores_what_it_scores_in_a_run(
    place: Path, command: "Command", more: tuple[str, ...]
) -> None:
    assert command(*RUN, "itself", "--agent", "reciter", *more).exit_code == 0
    assert command(*RUN, "other", "--agent", "goldfish", *more).exit_code == 0
    assert "reciter" not in results(place, "other")["references"]
    assert command("report", "other", "--reference", "reciter").exit_code == 0
    assert results(place, "other")["references"]["reciter"] == pytest.approx(
        results(place, "itself")["score"]
    )
    page = (place / "reports" / "other" / "report.html").read_text("utf-8")
    assert "recites its last 40 messages" in page


def test_an_unknown_reference_is_named(place: Path, command: "Command") -> None:
    command(*RUN, "r", "--agent", "goldfish")
    done = command("report", "r", "--reference", "recitr")
    assert done.exit_code == 1
    assert "unknown reference 'recitr'; did you mean 'reciter'?" in " ".join(done.err.split())


HEAPED = '''"""Heaped: a word, told three times."""
from collections.abc import Sequence
from dataclasses import dataclass
from ltm_bench import Ask, Dice, Matcher, Outcome, Script, Tell, Turn, Verdict, names_only, scenario

WORDS = ("otter", "badger", "weasel")

@dataclass(frozen=True)
class Holds(Matcher):
    word: str

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        good = self.word in reply
        return Verdict(Outcome.CORRECT if good else Outcome.WRONG, float(good), "it is in it, or not")

    def right(self) -> Sequence[str]:
        return [self.word]

    def wrong(self) -> Sequence[str]:
        return ["stoat"]

@scenario(skills={"recall"})
def heaped(dice: Dice) -> Script:
    words = dice.shuffled(WORDS)
    for i, word in enumerate(words):
        yield Tell(f"Now the word is {word}.", at=i / 3)
    yield Ask("Which word is it now? Say no more than the word.", expect=EXPECT, at=1.0)
'''


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("names_only(words[-1], among=WORDS)", "reciter scores 0.00, no more than chance (0.33)"),
        ("Holds(words[-1])", "reciter scores 0.00, no more than chance (0.00)"),
    ],
)
def test_check_says_that_a_heap_is_no_answer_whatever_the_matcher_thinks(
    place: Path, command: "Command", expect: str, said: str
) -> None:
    (place / "scenarios").mkdir()
    (place / "scenarios" / "heaped.py").write_text(HEAPED.replace("EXPECT", expect), "utf-8")
    assert said in " ".join(command("check", "scenarios/heaped.py").output.split())


def test_a_mean_counts_as_above_zero_if_chance_cannot_explain_it() -> None:
    assert above_zero([0.3] * 4)
    assert above_zero([1.0] * 4 + [0.0] * 36)
    assert not above_zero([1.0] * 2 + [0.0] * 38)
    assert not above_zero([0.0] * 40)
    assert not above_zero([-0.1] * 40)
    assert not above_zero([0.5, -0.4] * 20)
