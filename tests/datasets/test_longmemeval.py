"""LongMemEval: its format, the questions to a judge, and prediction files with and without labels."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.errata import errata
from ltm_bench.datasets.longmemeval.files import TYPES, histories
from ltm_bench.datasets.longmemeval.scorer import inquiry, prompt, strict

if TYPE_CHECKING:
    from tests.conftest import Command

LABELLED = Path(__file__).parents[3] / "shared" / "data"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, gzip.decompress(path.read_bytes()).decode("utf-8").splitlines())


def record(name: str, kind: str, answer: Any, **more: Any) -> dict[str, Any]:
    return {
        "question_id": name,
        "question_type": kind,
        "question": "What colour is the door?",
        "answer": answer,
        "question_date": "2023/05/30 (Tue) 21:56",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "Thanks."}],
            [
                {"role": "user", "content": "The door is green.", "has_answer": True},
                {"role": "assistant", "content": "Noted."},
            ],
        ],
        "answer_session_ids": ["early"],
        **more,
    }


RECORDS = [
    record("q1", "single-session-user", "Green"),
    record("q2", "temporal-reasoning", 8),
    record("q3_abs", "multi-session", "The user never said."),
    record("q4", "single-session-preference", "The user would like something green and calm."),
    record("370a8ff4", "temporal-reasoning", "9 days. 10 days is also acceptable."),
    record("q6", "no such type", "x"),
    record("q7", "multi-session", "x", haystack_dates=[]),
    "not a record",
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "longmemeval_oracle.json"
    path.write_text(json.dumps(RECORDS))
    return path


def test_histories_are_read_in_the_order_of_their_dates_and_bad_ones_named(data: Path) -> None:
    complaints: list[str] = []
    found = list(histories(data, complaints.append))
    assert [history.id for history in found] == ["q1", "q2", "q3_abs", "q4", "370a8ff4"]
    early, late = found[0].sessions
    assert (early.id, late.id) == ("early", "late")
    assert [u.evidence for u in early.utterances] == [True, False]
    (question,) = found[1].questions
    assert (question.gold, str(question.at)) == (("8",), "2023-05-30 21:56:00+00:00")
    assert found[2].questions[0].unanswerable
    assert [line.partition("record ")[2][:4] for line in complaints] == ["6 q6", "7 q7", "8 : "]


@pytest.mark.parametrize("kind", TYPES)
def test_a_judge_is_asked_by_the_type_of_the_question(kind: str) -> None:
    asked = prompt(HistoryQuestion("q", kind, "QUESTION?", ("GOLD",)), "REPLY")
    assert all(part in asked for part in ("QUESTION?", "GOLD", "REPLY", "yes or no"))
    assert ("off by one" in asked) == (kind == "temporal-reasoning")
    assert ("newest" in asked) == (kind == "knowledge-update")
    assert ("personal" in asked) == (kind == "single-session-preference")
    unanswerable = prompt(HistoryQuestion("q_abs", kind, "QUESTION?", ("GOLD",), unanswerable=True), "REPLY")
    assert "cannot be answered" in unanswerable


@pytest.mark.parametrize(("said", "right"), [("Yes.", True), ("no", False), ("**YES**", True), ("", False)])
def test_a_judge_says_yes_or_no(said: str, right: bool) -> None:
    asked = inquiry(HistoryQuestion("q1", "multi-session", "What?", ("green",)), "blue")
    next(asked)
    with pytest.raises(StopIteration) as done:
        asked.send(said)
    assert done.value.value is right


def test_text_alone_decides_where_it_can() -> None:
    def ours(reply: str, gold: str, kind: str = "multi-session", unanswerable: bool = False) -> float | None:
        return strict(reply, (gold,), kind, unanswerable=unanswerable)

    assert ours("It is green, I think.", "Green") == 1
    assert ours("It is greenish.", "Green") == 0
    assert ours("You waited 10 days.", "9 days. 10 days is also acceptable.") == 1
    assert ours("green " + "or another word " * 100, "Green") == 0
    assert ours("Calm green.", "Something green and calm.", "single-session-preference") is None
    assert ours("It was so.", "They went there because it was the only place that was open then.") is None
    assert ours("I don't know, you never told me.", "not said", unanswerable=True) == 1
    assert ours("Green.", "not said", unanswerable=True) == 0
    assert ours("It is not green.", "Green") == 0
    assert ours("You own three of them.", "3") == 1
    assert ours("At Episcopal Church.", "the Episcopal Church") == 1


THOUGHTS = "You said 6:00 pm first, and 8:30 am a week later. "


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (THOUGHTS + "\n\nFinal Answer: 8:30 am", 0),
        (THOUGHTS + "\n\n**Final Answer:** 6:00 pm", 1),
        (THOUGHTS + "\n\n**STEP 4 — Final answer:**\n\nYou go at 8:30 am", 0),
        (THOUGHTS + "\n\n## Conclusion\n\nYou go at 6:00 pm.", 1),
        (THOUGHTS * 20 + "\n\nAnswer: 6:00 pm", 1),
        (THOUGHTS, 1),
        ("Final answer: 6:00 pm. No, wait.\nFinal answer: 8:30 am", 0),
    ],
)
def test_what_a_reply_concludes_with_is_its_answer(reply: str, score: int) -> None:
    assert strict(reply, ("6:00 pm",), "knowledge-update", unanswerable=False) == score


def test_a_conclusion_that_answers_is_no_abstention() -> None:
    reply = "There is no mention of a poster in your course.\n\nFinal answer: Harvard University"
    assert strict(reply, ("not said",), "multi-session", unanswerable=True) == 0
    assert strict(f"{reply} is not mentioned", ("not said",), "multi-session", unanswerable=True) == 1


@pytest.mark.skipif(not LABELLED.is_dir(), reason="the published files are not at hand")
def test_text_hardly_ever_accepts_what_the_published_judge_rejects() -> None:
    asked = LABELLED / "longmemeval_official/data/longmemeval_s_questions.jsonl.gz"
    questions = {each["question_id"]: each for each in rows(asked)}
    found = Counter[tuple[float | None, int]]()
    for row in rows(LABELLED / "mentedb/labels.eval-results-gpt-4o-2024-08-06.jsonl.gz"):
        asked_for = questions[row["question_id"]]
        gold, kind = str(asked_for["answer"]), asked_for["question_type"]
        unanswerable = "_abs" in row["question_id"]
        score = strict(row["hypothesis"], (gold,), kind, unanswerable=unanswerable)
        found[score, row["label"]] += 1
    assert found == {(1, 1): 174, (0, 1): 29, (1, 0): 1, (0, 0): 17, (None, 1): 28, (None, 0): 1}


def _label(name: str, said: str, label: bool) -> dict[str, Any]:
    judged = {"model": "gpt-4o-2024-08-06", "label": label}
    return {"question_id": name, "hypothesis": said, "autoeval_label": judged}


def test_three_figures_come_from_the_labels(tmp_path: Path, data: Path, command: "Command") -> None:
    path = tmp_path / "mine.jsonl.eval-results-gpt-4o"
    rows = [
        _label("q1", "green", True),
        _label("q2", "8", False),
        _label("370a8ff4", "9 days", True),
        _label("q3_abs", "You never said.", True),
        {"question_id": "unheard-of", "hypothesis": "x"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    done = command("score", "longmemeval", "--json", "--data", str(data), str(path))
    found = json.loads(done.out)
    (file,) = found["files"]
    lines = {line["name"]: line for line in file["lines"]}
    judge = {name: round(line["figures"]["judge"]["mean"], 4) for name, line in lines.items()}
    assert judge["overall"] == 0.75
    assert judge["averaged over types"] == round((1 + 0.5 + 1) / 3, 4)
    assert judge["abstention"] == 1.0
    assert (judge["without wrong keys"], judge["wrong keys alone"]) == (0.6667, 1.0)
    assert file["judge"] == "gpt-4o-2024-08-06"
    assert file["missing"] == ["q4", "q7"]
    assert "unheard-of: skipped" in done.err
    assert "how often it passes a wrong answer is unknown" in found["notes"][0]


@pytest.mark.parametrize("odd", ["", "[{oops", '{"id": 3}', None])
def test_a_file_that_cannot_be_scored_withholds_no_other(
    tmp_path: Path, command: "Command", odd: str | None
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(json.dumps(_label("q1", "green", True)))
    if odd is not None:
        bad.write_text(odd, "utf-8")
    for files in ((good, bad), (bad, good)):
        done = command("score", "longmemeval", "--json", *map(str, files))
        assert (done.exit_code, f"{bad}" in done.err) == (1, True)
        assert len(json.loads(done.out)["files"]) == 1


def test_only_labels_are_scored_without_the_data(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(_label("q1", "green", True)))
    (file,) = json.loads(command("score", "longmemeval", "--json", str(path)).out)["files"]
    assert file["lines"][0]["figures"]["judge"]["mean"] == 1.0
    path.write_text('{"question_id": "q1", "hypothesis": "green"}')
    refused = command("score", "longmemeval", str(path))
    assert refused.exit_code == 1
    assert "name the data with --data" in refused.err


def test_seven_keys_are_known_to_be_wrong() -> None:
    assert set(errata("longmemeval")) == {
        "370a8ff4",
        "gpt4_88806d6e",
        "eac54add",
        "9aaed6a3",
        "gpt4_f420262d",
        "gpt4_5dcc0aab",
        "dd2973ad",
    }
