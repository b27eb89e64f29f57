"""A transcript is shown as it is, and in time that is in proportion to its length."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import run
from tests.pace import cpu, in_proportion

if TYPE_CHECKING:
    from tests.conftest import Command

TALKER = '''"""Talks at length, once."""
from ltm_bench import Agent, Reply

class Talker(Agent):
    """Talks at length, once."""
    free = True
    max_bytes = 50_000_000
    said = ""

    def __init__(self, lines: int = 1) -> None:
        self.lines = lines

    async def reply(self, message):
        said, self.said = self.said, "ok"
        return Reply(said or "a \\x1b[31mline\\t\\u202e of ‘it’\\n" * self.lines)
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "talker.py").write_text(TALKER, "utf-8")
    return tmp_path


def test_a_reply_of_many_lines_is_shown_in_proportion_to_their_number(command: "Command") -> None:
    def took(lines: int) -> float:
        name = f"r{lines}"
        if not Path("reports", name).exists():
            run(
                agent="talker",
                settings={"lines": lines},
                span="2k",
                scenarios=["colours"],
                examples=1,
                name=name,
            )
        return cpu(lambda: command("show", name))

    assert in_proportion(took, 50_000)


def test_a_transcript_has_no_control_characters_and_is_not_folded(command: "Command") -> None:
    run(agent="talker", settings={"lines": 3}, span="2k", scenarios=["colours"], examples=1, name="r")
    shown = command("show", "r").out
    assert shown.count("a ␛[31mline\t\\u202e of ‘it’\n") == 3
    assert "\x1b" not in shown


def test_a_question_is_shown_with_its_reply_its_reason_and_what_was_expected(command: "Command") -> None:
    run(agent="talker", settings={"lines": 2}, span="2k", scenarios=["colours"], examples=1, name="r")
    said = command("show", "r", "--example", "colours/0").out.splitlines()
    asked = max(
        place for place, line in enumerate(said) if line.endswith(f"ask {'─' * 3}") or " · ask " in line
    )
    signs = [line[:2] for line in said[asked + 1 :]]
    assert signs == ["> ", "< ", "= ", "= ", "= "], "message, reply, verdict, reason, what was expected"
    verdict, why, expected = said[-3:]
    assert verdict.startswith("= wrong 0.00")
    assert why.startswith("= why: ")
    assert expected.startswith("= expected: It is ")


def test_further_lines_of_a_message_or_a_reply_stand_below_its_sign(command: "Command") -> None:
    run(agent="talker", settings={"lines": 3}, span="2k", scenarios=["colours"], examples=1, name="r")
    said = command("show", "r", "--filler").out.splitlines()
    odd = [line for line in said if not line.startswith(("> ", "< ", "= ", "  ", "turn "))]
    assert not odd


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"examples": 3}', b'{"examples": [{"id": "a", "questions": [5]}]}']
)
def test_results_that_cannot_be_read_leave_the_transcript(command: "Command", content: bytes) -> None:
    run(agent="goldfish", span="2k", scenarios=["colours"], examples=1, name="r")
    Path("reports/r/results.json").write_bytes(content)
    shown = command("show", "r")
    assert shown.exit_code == 0
    assert "= " not in shown.out
    assert "turn 1 " in shown.out
