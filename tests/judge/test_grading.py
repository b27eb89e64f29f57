"""Judges of published scorers: asked once per question, answers kept beside the file, never beyond the budget."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

JUDGE = '''"""{name}: a scripted judge."""

from ltm_bench import Agent, AgentError, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        with open("asked.txt", "a") as file:
            file.write("{name}\\n")
        text = message.text
{body}
'''
EXACT = """
        return Reply("Yes" if "Reply: green" in text or "Reply: I cannot know" in text else "No")
"""
HALVES = """
        if "same event" in text:
            event, line = text.rpartition("\\n\\n1. ")[2].split("\\n\\n2. ")
            return Reply("YES" if event in line else "NO")
        return Reply('{"score": 0.5}' if "Question" in text else '{"score": 1}')
"""
BROKEN = """
        raise AgentError("the judge did not answer")
"""
BODIES = {"exact": EXACT, "halves": HALVES, "broken": BROKEN}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agents").mkdir()
    for name, body in BODIES.items():
        (tmp_path / "agents" / f"{name}.py").write_text(JUDGE.format(name=name, body=body), "utf-8")
    monkeypatch.chdir(tmp_path)


def asked() -> int:
    return Path("asked.txt").read_text("utf-8").count("\n")


def figures(command: "Command", *words: str) -> Any:
    done = command("score", *words, "--json")
    assert done.exit_code == 0, done.err
    (file,) = json.loads(done.out)["files"]
    return {
        line["name"]: {key: each["mean"] for key, each in line["figures"].items()} for line in file["lines"]
    }


QUESTIONS = [
    {"question_id": name, "question_type": "multi-session", "question": "What?", "answer": "green"}
    for name in ("q1", "q2", "q3_abs")
]


def test_answers_without_a_label_are_judged_once(command: "Command") -> None:
    Path("data.json").write_text(json.dumps(QUESTIONS))
    said = {"q1": "green", "q2": "blue", "q3_abs": "I cannot know"}
    Path("mine.jsonl").write_text(
        "\n".join(json.dumps({"question_id": key, "hypothesis": value}) for key, value in said.items())
    )
    words = ("longmemeval", "mine.jsonl", "--data", "data.json", "--judge", "exact")
    for _ in range(2):
        found = figures(command, *words)
        assert found["overall"]["judge"] == pytest.approx(2 / 3)
        assert found["abstention"]["judge"] == 1
        assert asked() == 6, "three answers, and a vague one to each question"
    kept = [json.loads(line) for line in Path("mine.jsonl.exact.jsonl").read_text("utf-8").splitlines()]
    assert [each["judge"] for each in kept] == ["exact"] * 6


def test_a_rubric_is_judged_in_both_modes_and_the_order_of_events_by_its_lines(command: "Command") -> None:
    chat = [{"time_anchor": "March-15-2024", "turns": [[{"role": "user", "id": 0, "content": "Hi."}]]}]
    asked_of: dict[str, list[dict[str, Any]]] = {
        "summarization": [{"question": "Sum up?", "ideal_summary": "x", "rubric": ["one", "two"]}],
        "event_ordering": [{"question": "Order?", "answer": "hive, bees", "rubric": ["hive", "bees"]}],
    }
    folder = Path("chats/100K/1")
    folder.mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(chat))
    (folder / "probing_questions.json").write_text(json.dumps(asked_of))
    answers = {"summarization": "All of it.", "event_ordering": "1. the hive\n2. the bees"}
    rows = {
        key: [{"question": asked_of[key][0]["question"], "llm_response": said}]
        for key, said in answers.items()
    }
    Path("mine.json").write_text(json.dumps(rows))
    found = figures(command, "beam", "mine.json", "--data", str(folder), "--judge", "halves")
    assert found["summarization"] == {"official": 1.0, "paper": 0.5}
    assert found["event_ordering"] == {"official": 1.0, "paper": 1.0, "tau_f1": 1.0}


def test_a_judge_that_fails_is_named_and_the_rest_stays(command: "Command") -> None:
    Path("data.json").write_text(json.dumps(QUESTIONS))
    Path("mine.jsonl").write_text('{"question_id": "q1", "hypothesis": "green"}')
    done = command("score", "longmemeval", "mine.jsonl", "--data", "data.json", "--judge", "broken", "--json")
    assert "broken failed: AgentError: the judge did not answer" in done.err
    assert "mine.jsonl: 1 of 1 not judged: the judge failed, or gave no verdict" in done.err
    (file,) = json.loads(done.out)["files"]
    assert file["columns"] == ["strict"]
    assert not Path("mine.jsonl.broken.jsonl").exists()


def test_of_two_answers_to_a_question_the_first_is_judged(command: "Command") -> None:
    Path("data.json").write_text(json.dumps(QUESTIONS))
    rows = [{"question_id": "q1", "hypothesis": said} for said in ("green", "blue")]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = figures(command, "longmemeval", "mine.jsonl", "--data", "data.json", "--judge", "exact")
    assert found["overall"] == {"judge": 1.0, "strict": 1.0}
    assert asked() == 2, "it, and a vague one"


def test_a_judge_needs_the_gold_answers(command: "Command") -> None:
    Path("mine.jsonl").write_text('{"question_id": "q1", "hypothesis": "green"}')
    refused = command("score", "longmemeval", "mine.jsonl", "--judge", "exact")
    assert refused.exit_code == 1
    assert "name the set with --data" in refused.err
