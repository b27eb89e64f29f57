"""FactConsolidation: its format, its scorers, prediction files, and the scores of reading the first or last mention."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.datasets.factconsolidation.files import SETS, histories
from ltm_bench.datasets.factconsolidation.scorer import exact, official, strict

if TYPE_CHECKING:
    from tests.conftest import Command

SHARED = Path(__file__).parents[3] / "shared" / "data" / "factconsolidation" / "Conflict_Resolution.json.gz"

RECORD: dict[str, Any] = {
    "context": "Here is a list of facts:\n0. The chair of X is Ann.\n1. Y lies in\nOslo.\n2. The chair of X is Bo.",
    "questions": ["Who chairs X?", "Where is Y?"],
    "answers": [["Bo", "Bo Li"], ["Oslo"]],
    "metadata": {"source": "factconsolidation_sh_6k"},
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "Conflict_Resolution.json"
    path.write_text(json.dumps([RECORD, {**RECORD, "answers": []}, {"context": "no facts", "metadata": {}}]))
    return path


def test_facts_and_questions_are_read_and_bad_records_named(data: Path) -> None:
    complaints: list[str] = []
    (history,) = histories(data, complaints.append)
    assert history.id == "sh-6k"
    assert [u.text for u in history.sessions[0].utterances] == [
        "0. The chair of X is Ann.",
        "1. Y lies in\nOslo.",
        "2. The chair of X is Bo.",
    ]
    assert [(q.id, q.gold) for q in history.questions] == [
        ("sh-6k/0", ("Bo", "Bo Li")),
        ("sh-6k/1", ("Oslo",)),
    ]
    assert len(complaints) == 2


VECTORS = [
    ("The Bo!", ("Bo",), 1, 1, 1),
    ("It is Bo Li.", ("Bo",), 1, 0, 1),
    ("Bolivia", ("Bo",), 1, 0, 0),
    ("Answer: Bo\nsince then", ("Bo",), 1, 1, 1),
    ("Ann", ("Bo", "Li"), 0, 0, 0),
    ("Bo " + "and another " * 30, ("Bo",), 1, 0, 0),
    ("", ("Bo",), 0, 0, 0),
]


@pytest.mark.parametrize(("said", "golds", "published", "whole", "ours"), VECTORS)
def test_answers_are_scored_as_published_exactly_and_strictly(
    said: str, golds: tuple[str, ...], published: float, whole: float, ours: float
) -> None:
    assert (official(said, golds), exact(said, golds), strict(said, golds)) == (published, whole, ours)


@given(said=st.text(max_size=60), gold=st.text(max_size=20))
def test_no_answer_makes_a_scorer_fail(said: str, gold: str) -> None:
    assert {official(said, [gold]), exact(said, [gold]), strict(said, [gold])} <= {0.0, 1.0}


@pytest.mark.parametrize(
    "rows",
    [
        {"data": [{"query_id": 0, "query": "Who chairs X?", "output": "Bo", "answer": ["Bo"]}]},
        [{"subset": "factconsolidation_sh_6k", "index": 0, "prediction": "Bo", "gold_answers": ["Bo"]}],
        [{"qa_pair_id": "factconsolidation_sh_6k_no0", "prediction": "Bo"}],
        {"factconsolidation_sh_6k": [{"question": "Who chairs X?", "prediction": "Bo"}]},
    ],
)
def test_prediction_files_are_read_in_every_form_in_use(
    tmp_path: Path, data: Path, command: "Command", rows: Any
) -> None:
    path = tmp_path / "factconsolidation_sh_6k_results.json"
    path.write_text(json.dumps(rows))
    (file,) = json.loads(command("score", "factconsolidation", "--json", "--data", str(data), str(path)).out)[
        "files"
    ]
    assert {key: each["mean"] for key, each in file["lines"][0]["figures"].items()} == {
        "official": 1.0,
        "exact": 1.0,
        "strict": 1.0,
    }
    assert file["missing"] == ["sh-6k/1"]


def test_a_missing_gold_answer_is_asked_for(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "mine.json"
    path.write_text('[{"qa_pair_id": "factconsolidation_sh_6k_no0", "prediction": "Bo"}]')
    refused = command("score", "factconsolidation", str(path))
    assert refused.exit_code == 1
    assert "name the data with --data" in refused.err


@pytest.mark.skipif(not SHARED.is_file(), reason="the data is not at hand")
def test_the_published_sets_have_a_hundred_questions_each() -> None:
    found = {history.id: history for history in histories(SHARED, pytest.fail)}
    assert sorted(found) == sorted(SETS)
    assert {len(history.questions) for history in found.values()} == {100}
    for history in found.values():
        for question in history.questions:
            assert official(question.gold[0], question.gold) == strict(question.gold[0], question.gold) == 1
