"""Judges whose answers cannot be read: the run is incomplete, and nobody pays for them without end, or twice."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.judge.interview import MOST_ASKED
from ltm_bench.log.calls import read_calls
from ltm_bench.log.recorder import locked
from tests.judge.test_reading_runs import AGENT, BETWEEN, SCENARIO

if TYPE_CHECKING:
    from tests.conftest import Command

JUDGE = '''"""{name}: a judge that costs a cent an answer."""

from ltm_bench import Agent, AgentError, Finish, Message, Reply, Usage

USED = Usage(output=1000, model="gpt-4o", provider="openai")


class Judge(Agent):
    async def reply(self, message: Message) -> Reply:
        with open("asked.txt", "a") as file:
            file.write("{name}\\n")
        {body}
'''
SAID = """return Reply('{"reason": "", "verdict": "wrong"}', USED)"""
UNREADABLE = {
    "prose": "return Reply('I would rather not say.', USED)",
    "empty": "return Reply('', USED)",
    "filters": "return Reply('no', USED, finish=Finish.REFUSAL)",
    "cut": """return Reply('{"reason": "it', USED, finish=Finish.LENGTH)""",
}
UNREACHED = "raise AgentError('the server is down')"
ASKED = ("--span", "2k", "--scenario", "ride", "--examples", "2")
RUN = ("run", *ASKED, "--agent", "vague", "--name", "r")
REPLIES = 4


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("scenarios", "agents"):
        (tmp_path / name).mkdir()
    (tmp_path / "scenarios" / "ride.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "vague.py").write_text(AGENT.replace("{travel}", BETWEEN), "utf-8")
    for name, body in {**UNREADABLE, "silent": UNREACHED, "sound": SAID}.items():
        write_judge(tmp_path, name, body)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_judge(place: Path, name: str, body: str) -> None:
    text = JUDGE.replace("{name}", name).replace("{body}", body)
    (place / "agents" / f"{name}.py").write_text(text, "utf-8")


def asked() -> int:
    return len(Path("asked.txt").read_text("utf-8").splitlines())


@pytest.mark.parametrize("judge", [*UNREADABLE, "silent"])
def test_a_run_that_a_judge_leaves_undecided_ends_as_incomplete_in_one_line(
    command: "Command", judge: str
) -> None:
    said = "r is incomplete: 4 replies could not be judged; `ltm-bench rescore r --judge NAME` asks another judge"
    for words in (
        (*RUN, "--judge", judge),
        ("resume", "r"),
        ("rescore", "r", "--judge", judge),
        ("control", "r", "--control", "blind"),
    ):
        done = command(*words)
        assert done.exit_code == 3, (words, done.output)
        assert said in " ".join(done.err.split())
        assert "nothing was run" not in done.err
    several = command("sweep", *ASKED, "--agent", "vague", "--judge", judge)
    assert several.exit_code == 3
    assert "1 of 1 runs are not finished" in " ".join(several.err.split())
    assert command("rescore", "r", "--judge", "sound").exit_code == 0


@pytest.mark.parametrize("judge", UNREADABLE)
def test_an_answer_that_cannot_be_read_is_paid_for_a_few_times_at_most(
    command: "Command", judge: str
) -> None:
    command(*RUN, "--judge", judge)
    for times in (*range(1, MOST_ASKED + 1), MOST_ASKED, MOST_ASKED):
        assert asked() == REPLIES * times
        assert read_calls(Path("reports/r")).unread.total() == REPLIES * times
        costs = json.loads(Path("reports/r/results.json").read_text("utf-8"))["costs"]
        assert costs["judge_dollars"] == pytest.approx(0.01 * asked())
        command("resume", "r")
    why = f"{MOST_ASKED} answers could not be read; name another judge"
    assert why in Path("reports/r/results.json").read_text("utf-8")
    before = asked()
    assert command("rescore", "r", "--judge", "sound").exit_code == 0
    assert asked() == before + REPLIES, "another judge is asked"


def test_a_judge_that_was_not_reached_or_whose_answers_were_lost_is_asked_as_often_as_anybody_likes(
    command: "Command",
) -> None:
    command(*RUN, "--judge", "silent")
    for times in range(2, MOST_ASKED + 3):
        command("resume", "r")
        assert asked() == REPLIES * times
    Path("asked.txt").unlink()
    for times in range(1, MOST_ASKED + 3):
        assert command("rescore", "r", "--judge", "sound").exit_code == 0
        assert asked() == REPLIES * times
        Path("reports/judgements.sqlite").unlink()


@pytest.mark.parametrize("role", ["--judge", "--reader"])
def test_a_second_command_that_would_ask_judges_or_readers_is_refused_in_one_line(
    command: "Command", role: str
) -> None:
    assert command(*RUN).exit_code == 0
    calls = Path("reports/r/calls.jsonl")
    with locked(Path("reports/r")):
        before = calls.read_bytes()
        for words in (("rescore", "r", role, "sound"), (*RUN, role, "sound")):
            done = command(*words)
            assert done.exit_code == 1
            assert "another process" in done.err
            assert len(done.err.strip().splitlines()) == 1, done.err
        assert not Path("asked.txt").exists()
        assert calls.read_bytes() == before
        assert command("rescore", "r").exit_code == 0, "without anybody to ask, nothing is counted"
    body = """from pathlib import Path
        from ltm_bench.core.errors import RunLocked
        from ltm_bench.log.recorder import locked
        try:
            with locked(Path("reports/r")):
                free = True
        except RunLocked:
            free = False
        Path("free.txt").write_text(str(free))
        """
    write_judge(Path(), "looks", body + SAID)
    command("rescore", "r", role, "looks")
    assert Path("free.txt").read_text() == "False"
    with locked(Path("reports/r")):
        pass
