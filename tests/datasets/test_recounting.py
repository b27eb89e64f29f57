"""A published file is read whole or not at all: what is cut, mixed or of a wrong type gives one line."""

import csv
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.recounting import explaining, learn, read_published
from ltm_bench.datasets.shapes import SHAPES, Shape
from ltm_bench.score.statistics.recounts import recount

if TYPE_CHECKING:
    from tests.conftest import Command


def judged(number: int, *votes: Any, category: Any = 4) -> dict[str, Any]:
    return {
        "question_id": f"locomo_0_qa{number}",
        "category": category,
        "llm_judgments": {f"judgment_{i}": vote for i, vote in enumerate(votes)},
    }


GOOD = [
    judged(0, True, True, False),
    judged(1, False, False, False, category="2"),
    judged(2, True, True, True),
]
LETTERS = "question_id,answer,p,r\nq1,a,a,\nq2,b,c,\n"
CASE: dict[str, Any] = {
    "caseId": "c1", "category": "Alias resolution", "relevantBeliefs": ["a", "b", "c"], "pinnedBeliefs": [],
    "retrievedQuestions": [], "retrievalPrecision": 1 / 3, "retrievalRecall": 1, "passed": False, "failures": [],
}  # fmt: skip
REPORT = {
    "provider": "mine",
    "retrieval": {"meanPrecision": 0.3333, "meanRecall": 1, "totalPassed": 1, "categories": []},
    "cases": [CASE],
}


def lines(rows: Sequence[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def placed(folder: Path, content: str | bytes, name: str = "x") -> Path:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


@pytest.mark.parametrize(
    "content",
    [
        lines(GOOD),
        json.dumps(GOOD),
        gzip.compress(lines(GOOD).encode()),
        json.dumps({"user_1": GOOD[:2], "user_2": GOOD[2:]}),
    ],
    ids=["lines", "list", "gzip", "by user"],
)  # fmt: skip
def test_the_same_rows_give_the_same_figures_in_any_form(tmp_path: Path, content: str | bytes) -> None:
    found = recount(read_published(placed(tmp_path, content)), {})
    ours = {(each.measure, each.name): (each.total, each.n) for each in found.figures}
    assert ours["majority", "all"] == (2, 3)
    assert ours["judgments", "all"] == (5, 9)
    assert ours["unanimous", "all"] == (2, 3)
    assert ours["majority", "2"] == (0, 1)
    assert ours["majority", "1-4"] == (2, 3)
    assert any(
        "a majority of its judgments gives 2 right rows, their mean 1.67" in note for note in found.notes
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines(GOOD)[:-20], "x:3: not JSON"),
        (json.dumps(GOOD)[:-20], "it may be cut"),
        (gzip.compress(lines(GOOD).encode())[:-12], "it may be cut"),
        (LETTERS + "q3,a", "row 3 is"),
        (lines([*GOOD, {"question_id": "q", "hypothesis": "x"}]), "row 4 is of another kind, LongMemEval: replies"),
        (lines([*GOOD, GOOD[0]]), "row 4 is locomo_0_qa0, as row 1"),
        (lines([*GOOD, "row"]), "row 4 is 'row'"),
        ("[{\"a\": 1}]", "of no known kind (a)"),
        ("", "of no known kind (no rows)"),
        ("[]", "of no known kind (no rows)"),
        ("5", "of no known kind"),
        ("[" * 100_000, "not JSON"),
        (b"\xff\xfe\x00", "cannot be read"),
    ],
)  # fmt: skip
def test_a_damaged_or_mixed_file_is_refused_in_one_line(
    tmp_path: Path, content: str | bytes, says: str
) -> None:
    with pytest.raises(ConfigError) as error:
        read_published(placed(tmp_path, content))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines([*GOOD, judged(3, "perhaps")]), "row 4: its verdict is 'perhaps'; it must be true or false"),
        (lines([*GOOD, judged(3)]), "row 4: its list of verdicts is empty"),
        (lines([judged(3, True, category=7)]), "row 1: category is '7'; it must be from 1 to 5"),
        (LETTERS + "q3,e,a,\n", "row 3: answer is 'e'; it must be a letter"),
        (LETTERS + "q3,a,ab,\n", "row 3: p is 'ab'; it must be a letter"),
        (json.dumps({"cases": [{**CASE, "retrievalPrecision": "high"}]}), "retrievalPrecision is 'high'"),
        (json.dumps({"cases": [{**CASE, "relevantBeliefs": "a"}]}), "relevantBeliefs is 'a'"),
        (lines([{"batch_number": 1, "turns": 5}]), "row 1: turns is '5'; it must be a list"),
    ],
)  # fmt: skip
def test_a_value_of_a_wrong_type_is_named_with_its_row(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        recount(read_published(placed(tmp_path, content)), {})
    assert says in str(error.value)


def test_figures_that_a_file_states_stand_beside_those_that_follow(tmp_path: Path) -> None:
    found = recount(read_published(placed(tmp_path, json.dumps(REPORT))), {})
    assert [(each.name, each.published, each.ours) for each in found.stated] == [
        ("meanPrecision, all", 0.3333, 0.3333),
        ("meanRecall, all", 1, 1),
        ("totalPassed, all", 1, 0),
    ]


def test_a_stated_mean_is_compared_in_all_its_digits(tmp_path: Path) -> None:
    rows = [{"query_id": f"q{i}", "gold_answers": ["x"], "correct": i > 0} for i in range(3)]
    for accuracy, agrees in ((2 / 3, True), (0.6667, True), (0.66667, True), (0.667, False), (1, False)):
        file = read_published(placed(tmp_path, json.dumps({"accuracy": accuracy, "results": rows})))
        (stated,) = recount(file, {}).stated
        assert (stated.published == stated.ours) is agrees, accuracy


def test_zeps_grades_are_read_by_user_or_row_by_row_and_told_apart(tmp_path: Path) -> None:
    rows = [
        {
            "user": "u0",
            "i": i,
            "question": "?",
            "answer": "x",
            "golden_answer": i,
            "grade": i > 0,
            "category": 1,
        }
        for i in range(4)
    ]
    bare = [{key: row[key] for key in ("question", "answer", "golden_answer", "grade")} for row in rows]
    for content in (lines(rows), json.dumps({"u0": bare[:2], "u1": bare[2:]})):
        found = recount(read_published(placed(tmp_path, content)), {})
        assert (found.what, found.figures[0].total, found.rows) == ("LoCoMo: answers with a grade each", 3, 4)
    with pytest.raises(ConfigError, match="row 5 is u0/0, as row 1"):
        read_published(placed(tmp_path, lines([*rows, rows[0]])))


def test_files_explain_each_other(tmp_path: Path) -> None:
    placed(
        tmp_path,
        lines([{"caseId": "c1", "query": "?", "expect": {"relevantBeliefs": {"mustExclude": ["b"]}}}]),
        "q",
    )
    placed(tmp_path, "of no kind", "notes.txt")
    report = read_published(placed(tmp_path, json.dumps(REPORT)))
    found = recount(report, learn([*explaining(tmp_path), report]))
    assert next((each.total, each.n) for each in found.figures if each.measure == "forbidden") == (1, 1)
    assert found.notes == (
        "in 1 of 1 rows the stored precision does not follow (rows 1)",
        "in 1 of 1 rows the stored recall does not follow (rows 1)",
    )


def test_labels_of_several_judges_and_questions_without_a_row_are_said(tmp_path: Path) -> None:
    labels = [{"question_id": f"q{i}", "autoeval_label": {"model": f"m{i}", "label": True}} for i in range(2)]
    asked = {"question_type": "multi-session", "question": "?", "answer": 1}
    placed(tmp_path, lines([{"question_id": f"q{i}", **asked} for i in range(3)]), "questions")
    other = {"query": "?", "gold_answers": ["a"], "gold_ids": []}
    placed(tmp_path, lines([{"id": f"p{i}", **other} for i in range(9)]), "questions_of_another_set")
    file = read_published(placed(tmp_path, lines(labels)))
    data = [tmp_path / "questions", tmp_path / "questions_of_another_set"]
    found = recount(file, learn([each for path in data for each in explaining(path)]))
    assert found.notes == (
        "several judges: m0, m1; no official figure mixes them",
        "1 of 3 questions of the data have no row: a part, or a cut file",
    )
    assert {each.name for each in found.figures} == {"all", "multi-session", "mean of 1 types"}


def test_one_bad_file_does_not_hide_the_others(tmp_path: Path, command: "Command") -> None:
    good, bad = placed(tmp_path, lines(GOOD), "good.jsonl"), placed(tmp_path, "nonsense", "bad.jsonl")
    done = command("score", "published", str(bad), str(good))
    assert done.exit_code == 1
    assert "bad.jsonl: a file of no known kind" in done.output
    assert "LoCoMo: answers, each judged several times, 3 rows" in done.output
    found = json.loads(command("score", "published", str(good), "--json").output)
    assert found[0]["figures"][0] == {
        "measure": "majority",
        "group": "all",
        "total": 2.0,
        "n": 3,
        "mean": 2 / 3,
    }


def test_data_that_is_not_there_is_an_error(tmp_path: Path, command: "Command") -> None:
    good = placed(tmp_path, lines(GOOD))
    done = command("score", "published", str(good), "--data", str(tmp_path / "none"))
    assert (done.exit_code, "none: cannot be read: No such file" in done.output) == (1, True)


def test_a_field_of_a_table_may_be_as_long_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "letters.csv"
    path.write_text(f"question_id,answer,p,r\nq1,a,a,{'x' * 200_000}\n", "utf-8")
    before = csv.field_size_limit()
    assert len(str(read_published(path).rows[0]["r"])) == 200_000
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_the_lines_of_a_table_may_end_in_every_way(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "letters.csv"
    path.write_bytes(f"question_id,answer,p,r{ends}q1,a,a,{ends}q2,b,a,".encode())
    assert [row["question_id"] for row in read_published(path).rows] == ["q1", "q2"]


def test_what_is_no_table_is_said_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "letters.csv"
    path.write_text('question_id,answer,p,r\nq1,a,a,"x', "utf-8")
    real = csv.DictReader
    monkeypatch.setattr(csv, "DictReader", lambda text, **how: real(text, strict=True, **how))
    with pytest.raises(ConfigError, match=r"letters\.csv:2: not a row of a table: unexpected end of data"):
        read_published(path)


ODD: tuple[object, ...] = (
    "banana",
    "a",
    "CORRECT",
    3,
    -1,
    0.5,
    True,
    None,
    [],
    ["a"],
    [["a"]],
    [3],
    {},
    {"a": [1]},
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.about)
def test_no_value_of_any_type_is_answered_in_pythons_words(tmp_path: Path, shape: Shape) -> None:
    path = tmp_path / "x.json"
    keys = shape.keys.split()
    plain = dict.fromkeys(keys, "a")
    rows = [{**plain, key: value, **more} for key in keys for value in ODD for more in ({}, FULL)]
    for row in rows:
        path.write_text(json.dumps([row]), "utf-8")
        try:
            file = read_published(path)
            recount(file, learn([file]))
        except ConfigError as error:
            said = str(error)
            assert said.startswith(f"{path}: row 1")
            assert not re.search(
                r"Error|NoneType|unsupported|indices|iterable|operand|attribute|object is", said
            ), said


FULL = {
    "category": "4", "pinnedBeliefs": ["a"], "retrievedQuestions": ["a"], "retrievedBeliefIds": ["a"], "failures": [],
    "retrievalPrecision": 1, "retrievalRecall": 1, "precision": 1, "recall": 1, "f1": 1, "name": "n", "turnIndex": 1,
    "utility_correct": True, "privacy_leak": False, "deletion_leak": False, "query_type": "utility", "u": 1, "a": 1,
    "f": 1, "mgs": 1, "human_1": "CORRECT", "question_type": "single-session-user", "evidence": ["D1:1"],
}  # fmt: skip


@pytest.mark.parametrize("output", ["banana", 3, None, ["banana"], True])
def test_an_output_is_an_object(tmp_path: Path, output: object) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{"checkpoint_id": "c", "output": output}]), "utf-8")
    with pytest.raises(ConfigError, match=rf"x\.json: row 1: output is .*{output}.*; it must be an object"):
        recount(read_published(path), {})


def hashed(folder: Path, names: Sequence[str], *known: Any) -> Any:
    rows = [{"question_id": name, "prompt_sha256": "0" * 64} for name in names]
    file = read_published(placed(folder, lines(rows), "hashes"))
    others = [read_published(placed(folder, lines(each), f"k{i}")) for i, each in enumerate(known)]
    return recount(file, learn([*others, file]))


def test_hashes_that_are_compared_with_nothing_have_no_figure(tmp_path: Path, command: "Command") -> None:
    asked = {"question_id": "q1", "question_type": "multi-session", "question": "?", "answer": 1}
    prompt = {"task": "multi-session", "abstention": False, "prompt": "{QUESTION} {ANSWER} {RESPONSE}"}
    said = {"question_id": "q1", "hypothesis": "x", "autoeval_label": {"model": "m", "label": True}}
    for known in ((), ([asked],), ([asked], [said]), ([said],)):
        found = hashed(tmp_path, ["q1", "q2"], *known)
        assert not found.figures
        assert any(note.startswith("2 of 2 hashes are compared with nothing") for note in found.notes)
    found = hashed(tmp_path, ["q1", "q2"], [asked], [prompt], [said])
    assert [(each.measure, each.total, each.n) for each in found.figures] == [("same hash", 0, 1)]
    assert any(note.startswith("1 of 2 hashes are compared with nothing") for note in found.notes)
    done = command("score", "published", str(tmp_path / "hashes"))
    assert (done.exit_code, "1.0" in done.out, "compared with nothing" in done.out) == (0, False, True)


def test_a_number_of_rows_is_no_share(tmp_path: Path, command: "Command") -> None:
    path = placed(tmp_path, lines([{"question_id": "q", "hypothesis": "x"}]))
    out = command("score", "published", str(path)).out
    assert "rows, all" in out
    assert "1.0" not in out


@pytest.mark.parametrize(
    ("stored", "odd"), [(None, False), (float("nan"), False), (1.0, True), (0.0, True)], ids=str
)
def test_an_order_of_one_event_has_no_official_tau(tmp_path: Path, stored: float | None, odd: bool) -> None:
    row = {"name": "one", "reference": ["A"], "system": ["A"], "precision": 1.0, "recall": 1.0, "f1": 1.0}
    found = recount(
        read_published(placed(tmp_path, lines([row | dict.fromkeys(("tau_norm", "final_score"), stored)]))),
        {},
    )
    measures = {each.measure for each in found.figures}
    assert "τ is not a number" in measures
    assert not {"tau_norm", "final_score"} & measures
    assert any("tau_norm does not follow" in note for note in found.notes) is odd
