"""`run --again`: equal seeds several times, and what gates and comparisons make of it."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

MOODY = '''
import os
from ltm_bench import Agent, Message, Reply

class Moody(Agent):
    """Guesses another colour in every run."""
    async def open(self, home):
        moods = "Blue. Red. Green. Pink. Black. White.".split()
        self.mood = moods[sum(each.is_dir() for each in home.parent.parent.iterdir()) % 6]
    async def reply(self, message: Message) -> Reply:
        return Reply(self.mood)
'''
RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "20")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "moody.py").write_text(MOODY, "utf-8")
    return tmp_path


def said(text: str) -> str:
    return " ".join(text.split())


def names(place: Path) -> list[str]:
    return sorted(path.parent.name for path in place.glob("reports/*/events.jsonl"))


def test_the_same_seed_is_run_again_and_the_spread_is_printed_and_on_the_page(
    command: "Command", place: Path
) -> None:
    done = command(*RUN, "--agent", "moody", "--name", "m", "--again", "3")
    assert done.exit_code == 0, done.output
    assert names(place) == ["m", "m-again2", "m-again3"]
    assert "3 runs together: " in done.output
    assert "test-retest of moody: 3 runs of 1 seed: the score moves by 0." in said(done.output)
    page = (place / "reports" / "m-again.html").read_text("utf-8")
    assert "whose verdict moved" in page
    assert "test–retest: 3 runs of 1 seed" in page


def test_an_agent_that_never_moves_is_said_not_to(command: "Command") -> None:
    done = command(*RUN, "--agent", "parrot", "--again", "2")
    assert "20 of 20 questions got the same verdict every time" in said(done.output)


def test_what_is_finished_is_not_run_again_and_what_is_not_continues(command: "Command", place: Path) -> None:
    words = (*RUN, "--agent", "moody", "--name", "m", "--again", "2")
    assert command(*words).exit_code == 0
    logs = [place / "reports" / name / "events.jsonl" for name in ("m", "m-again2")]
    before = [log.read_bytes() for log in logs]
    logs[1].write_bytes(b"".join(before[1].splitlines(keepends=True)[:9]))
    done = command(*words)
    assert done.exit_code == 0
    assert "nothing was run: reports/m is finished already" in done.err
    assert logs[0].read_bytes() == before[0]
    assert len(logs[1].read_bytes().splitlines()) == len(before[1].splitlines())


def test_every_seed_is_run_as_often(command: "Command", place: Path) -> None:
    done = command(*RUN, "--agent", "moody", "--name", "m", "--repeats", "2", "--again", "2")
    assert done.exit_code == 0, done.output
    assert names(place) == ["m-seed0", "m-seed0-again2", "m-seed1", "m-seed1-again2"]
    assert "4 runs of 2 seeds" in done.output


def test_no_answer_comes_from_the_cache(command: "Command", place: Path) -> None:
    done = command(*RUN, "--agent", "parrot", "--again", "2", "--cache")
    assert "--cache is without effect with --again" in done.err
    assert not (place / "reports" / "answers.sqlite").exists()


def test_a_gate_suggests_a_drop_from_the_runs_beside_its_baseline(command: "Command", place: Path) -> None:
    assert command(*RUN, "--agent", "moody", "--name", "release", "--again", "3").exit_code == 0
    gate = (*RUN, "--agent", "moody", "--name", "now", "--baseline", "release")
    done = command(*gate, "--max-drop", "0.01")
    assert "test-retest of baseline release: 3 runs of 1 seed" in said(done.output)
    assert "--max-drop 0.01 is less than baseline release may fall by itself" in done.err
    assert "may fall by itself" not in command(*gate, "--max-drop", "1").err
    (place / "reports" / "release-again2" / "events.jsonl").write_text("damaged", "utf-8")
    assert "test-retest of baseline release: 2 runs of 1 seed" in said(command(*gate).output)


def test_a_gate_prefers_its_own_runs(command: "Command") -> None:
    assert command(*RUN, "--agent", "parrot", "--name", "release").exit_code == 0
    done = command(*RUN, "--agent", "parrot", "--name", "now", "--baseline", "release", "--again", "2")
    assert "test-retest of this agent: 2 runs of 1 seed" in said(done.output)


def test_a_comparison_shows_it_beside_a_difference(command: "Command") -> None:
    assert command(*RUN, "--agent", "parrot", "--name", "p", "--again", "2").exit_code == 0
    assert command(*RUN, "--agent", "perfect", "--name", "best").exit_code == 0
    done = command("compare", "p", "p-again2", "best")
    assert "by itself (test-retest), parrot moves by 0.00" in said(done.output)


@pytest.mark.parametrize("count", ["0", "-1", "twice", "101"])
def test_the_number_of_times_must_be_a_positive_whole_number(command: "Command", count: str) -> None:
    done = command(*RUN, "--again", count)
    assert done.exit_code == 1
    assert f"--again {count}: write a whole number" in done.output
