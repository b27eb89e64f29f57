"""Stored verdicts and rows of prediction files: each is read as what it says, or its row is named."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.answers import Answer, majority, read_answers
from ltm_bench.datasets.recounting import read_published

if TYPE_CHECKING:
    from tests.conftest import Command


def read(folder: Path, *rows: Any) -> tuple[list[Answer], list[str]]:
    complaints: list[str] = []
    path = folder / "mine.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return read_answers(path, complaints.append), complaints


def label(value: Any, **beside: Any) -> dict[str, Any]:
    return {"autoeval_label": {"model": "m", "label": value, **beside}}


VERDICTS: list[tuple[dict[str, Any], list[float]]] = [
    (label(True, cached=False), [1]),
    (label(False, cached=True), [0]),
    (label(True, retries=0, confidence=0.2), [1]),
    (label("yes", reason="no"), [1]),
    (label("No."), [0]),
    (label("**CORRECT**"), [1]),
    (label(" wrong\n"), [0]),
    (label([True, False, True], cached=False), [1, 0, 1]),
    (label({"verdict": "correct", "attempts": 0}), [1]),
    ({"evaluation": {"is_correct": True, "abstained": False}}, [1]),
    ({"evaluation": {"correct": False, "answered": True}}, [0]),
    ({"llm_judgments": {"judgment_1": True, "judgment_2": False, "retries": 1}}, [1, 0]),
    ({"judgments": [{"judge": "a", "label": True}, {"judge": "b", "label": False}]}, [1, 0]),
    ({"judgments": []}, []),
    ({"evaluation": {"model": "m"}}, []),
    ({"judge": {"only": "wrong"}}, [0]),
    ({"grade": "1"}, [1]),
    ({"llm_score": 1.0}, [1]),
    ({"llm_score": 0.4}, [0.4]),
    ({"is_correct": None, "llm_score": 0}, [0]),
    ({}, []),
]


@pytest.mark.parametrize(("row", "votes"), VERDICTS, ids=[json.dumps(row) for row, _ in VERDICTS])
def test_a_stored_verdict_is_read_from_the_field_that_is_named_so(
    tmp_path: Path, row: dict[str, Any], votes: list[float]
) -> None:
    (answer,), complaints = read(tmp_path, {"hypothesis": "x", **row})
    assert list(answer.votes) == votes
    assert not complaints


UNREADABLE: list[dict[str, Any]] = [
    label("partially correct"),
    label(None, error="timeout"),
    label("yes and no"),
    label([True, "perhaps", True]),
    label([True, None]),
    {"evaluation": {"fluent": True, "abstained": False}},
    {"judge": {"gpt": True, "claude": False}},
    {"judgments": [True, {"a": 1, "b": 2}]},
    {"llm_score": 5},
    {"llm_score": -1},
    {"llm_score": "4/5"},
    {"grade": "B"},
]


@pytest.mark.parametrize("row", UNREADABLE, ids=map(json.dumps, UNREADABLE))
def test_a_row_whose_verdict_cannot_be_read_is_named_and_counts_neither_way(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    (right, odd), complaints = read(tmp_path, {"hypothesis": "x"} | label(True), {"hypothesis": "y", **row})
    assert (right.votes, odd.votes) == ((1.0,), ())
    (line,) = complaints
    assert "mine.jsonl: line 2: its verdict is" in line
    assert "\n" not in line


@pytest.mark.parametrize("beside", [5, 2, -1, "3", 100.0])
def test_a_one_is_no_yes_among_grades(tmp_path: Path, beside: Any) -> None:
    rows = [{"hypothesis": "x", "llm_score": score} for score in (beside, 1, 0, "1")]
    answers, complaints = read(tmp_path, *rows)
    assert [each.votes for each in answers] == [()] * 4
    assert [line.partition(": its verdict is ")[2].partition(",")[0] for line in complaints] == [
        repr(row["llm_score"]) for row in rows
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 2, 0.4, "yes", "no", "perhaps", "5"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["label", "model", "cached", "vote_1", "vote_2"]), inner, max_size=3
        )
    ),
    max_leaves=5,
)


@given(
    values=st.lists(VALUES, min_size=2, max_size=4), key=st.sampled_from(["grade", "autoeval_label", "judge"])
)
def test_every_row_with_a_verdict_has_votes_or_is_named(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], key: str
) -> None:
    answers, complaints = read(
        tmp_path_factory.mktemp("v"), *({"hypothesis": "x", key: value} for value in values)
    )
    for number, (answer, value) in enumerate(zip(answers, values, strict=True), start=1):
        named = any(f": line {number}: its verdict is" in line for line in complaints)
        assert bool(answer.votes) + named == (value is not None and not empty(value)), value
        assert all(0 <= vote <= 1 for vote in answer.votes)


def empty(value: Any) -> bool:
    """Whether an object or a list holds no verdict at all."""
    if isinstance(value, dict):
        held = {key: each for key, each in value.items() if key != "model"}
        numbered = [each for key, each in held.items() if key.startswith("vote_")]
        chosen = numbered or ([held["label"]] if "label" in held else list(held.values()))
        if len(chosen) > 1 and not numbered:
            return False
        return all(isinstance(each, dict | list) and empty(each) for each in chosen)
    return isinstance(value, list) and all(isinstance(each, dict | list) and empty(each) for each in value)


def test_a_single_share_stays_a_share_and_several_votes_make_a_majority() -> None:
    assert [majority(votes) for votes in ((), (0.4,), (1,), (1, 0), (1, 0, 1), (0.4, 0.4, 1))] == [
        None, 0.4, 1, 0, 1, 1
    ]  # fmt: skip


ROW = {"question_id": "q1", "hypothesis": "green", "autoeval_label": {"label": True}}
DROPPED: list[tuple[str, list[Any], str]] = [
    ("without its answer", [ROW, {"question_id": "q2"}], "line 2: skipped: it has no answer (question_id)"),
    ("a text", [ROW, "row"], "line 2: skipped: it has no answer ('row')"),
    ("a number", [ROW, 5], "line 2: skipped: it has no answer (5)"),
    ("a list of none", [ROW, [5]], "line 2 1: skipped: it has no answer (5)"),
    ("null", [ROW, None], "line 2: skipped: it has no answer (None)"),
    ("of other keys", [ROW, {"a": 1}], "line 2: skipped: it has no answer (a)"),
    ("an object for an answer", [ROW, {"question_id": "q2", "hypothesis": {"a": 1}}], "line 2: skipped"),
]


@pytest.mark.parametrize(("rows", "line"), [row[1:] for row in DROPPED], ids=[row[0] for row in DROPPED])
@pytest.mark.parametrize("form", ["lines", "list", "by user"])
def test_no_row_is_dropped_without_a_word(tmp_path: Path, rows: list[Any], line: str, form: str) -> None:
    path, complaints = tmp_path / "mine", list[str]()
    whole: dict[str, Any] = {"list": rows, "by user": {"metadata": {"n": 2}, "results": {"u1": rows}}}
    text = "\n".join(map(json.dumps, rows)) if form == "lines" else json.dumps(whole[form], indent=1)
    path.write_text(text)
    assert len(read_answers(path, complaints.append)) == 1
    (said,) = complaints
    place = {"lines": "line 2", "list": "2", "by user": "results u1 2"}[form]
    assert said.startswith(f"{path}: {place}{line.removeprefix('line 2')}")


def test_an_answer_in_parts_is_read_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    parts = {"hypothesis": [{"type": "text", "text": "It is"}, {"type": "text", "text": "green."}]}
    answers, complaints = read(tmp_path, parts, {"hypothesis": None}, {"hypothesis": {"text": "blue"}})
    assert [each.said for each in answers] == ["It is\ngreen.", "", "blue"]
    assert not complaints


CUT = json.dumps(ROW) + "\n" + json.dumps(ROW)[:-9]


def test_a_file_that_is_cut_is_refused_in_the_same_words_as_by_score_published(
    tmp_path: Path, command: "Command"
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(CUT)
    with pytest.raises(ConfigError) as refused:
        read_published(path)
    for name in ("locomo", "longmemeval", "factconsolidation"):
        done = command("score", name, str(path))
        assert done.exit_code == 1
        assert str(refused.value) in done.err
        assert "it may be cut" in done.err


def test_several_golds_in_a_file_are_each_right(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "mine.json"
    row = {"question": "Which colour?", "category": 4, "golden_answer": ["green", "dark green"]}
    said = ["green", "dark green", "red"]
    path.write_text(json.dumps([row | {"question": f"{each}?", "answer": each} for each in said]))
    (file,) = json.loads(command("score", "locomo", str(path), "--json").out)["files"]
    assert file["lines"][0]["figures"]["official"]["mean"] == pytest.approx(2 / 3)
    rows = [
        {
            "question_id": each,
            "hypothesis": each,
            "question_type": "multi-session",
            "answer": row["golden_answer"],
        }
        for each in said
    ]
    path.write_text(json.dumps(rows))
    (file,) = json.loads(command("score", "longmemeval", str(path), "--json").out)["files"]
    assert file["lines"][0]["figures"]["strict"]["mean"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("gold", [[], "", [[], " "], {"no": "text"}, None])
def test_a_row_without_a_gold_answer_is_named_and_the_others_are_scored(
    tmp_path: Path, command: "Command", gold: Any
) -> None:
    path = tmp_path / "mine.json"
    rows = [{"qa_pair_id": f"factconsolidation_sh_6k_no{n}", "prediction": "Bo"} for n in range(2)]
    path.write_text(json.dumps([rows[0] | {"gold_answers": gold}, rows[1] | {"gold_answers": ["Bo"]}]))
    done = command("score", "factconsolidation", str(path), "--json")
    assert done.exit_code == 0, done.err
    assert json.loads(done.out)["files"][0]["n"] == 1
    assert "sh-6k/0: skipped: its answer is unknown; name the data with --data" in done.err
