"""InfiniteBench's scorers: the published programs to the letter, and our strict versions."""

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.datasets.infinitebench.scorer import MODES, SCORERS, rouge_l_sum, score, task_of

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"), beside=True)

SHARED = Path(__file__).parents[3] / "shared"
VECTORS: list[tuple[str, str, Any, float, float, float]] = [
    ("passkey", "07143", "07143", 1, 1, 1),
    ("passkey", "7143", "07143", 0, 0, 0),
    ("passkey", "71,432", "71432", 0, 0, 0),
    ("passkey", "key 2: 71432", "71432", 0, 0, 1),
    ("passkey", "", "71432", 0, 0, 0),
    ("number_string", "30000 77442", "3000077442", 0, 0, 0),
    ("kv_retrieval", '"c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8"', "c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8", 1, 1, 1),
    ("kv_retrieval", "(c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8)", "c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8", 0, 0, 1),
    ("kv_retrieval", "c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8-x", "c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8", 0, 0, 1),
    ("code_run", "x = 4, y = 5\n4", [4], 1, 1, 1),
    ("code_run", "`4`", 4, 1, 1, 1),
    ("code_run", "**4**", 4, 0, 0, 1),
    ("code_run", "-4", -4, 1, 1, 1),
    ("code_run", "\u22124", -4, 0, 0, 1),
    ("code_run", "4 is the answer", 4, 0, 0, 1),
    ("math_find", "51", [51.0], 1, 1, 1),
    ("math_find", "88.0", [88], 0, 0, 1),
    ("math_find", "The 2nd largest is 88", [88], 0, 0, 1),
    ("math_find", "none", [88], 0, 0, 0),
    ("math_calc", "4 15 6", [4, 14, 6], 1 / 3, 1 / 3, 1 / 3),
    ("math_calc", "4, -14, 6", [4, 14, 6], 1, 1, 1 / 3),
    ("math_calc", "1, 4, 14, 6", [[4, 14, 6]], 0, 0, 1),
    ("code_debug", "B. foo", ["foo", "B"], 1, 1, 1),
    ("code_debug", "B", ["foo", "B"], 0, 1, 1),
    ("code_debug", "The answer is: foo", ["foo", "B"], 1, 1, 1),
    ("code_debug", "Option B is wrong; answer: C", ["foo", "B"], 0, 0, 0),
    ("code_debug", "Based on the code, I cannot tell.", ["foo", "B"], 0, 1, 0),
    ("code_debug", " B. foo", ["foo", "B"], 1, 1, 1),
    ("code_debug", "\n\u3000B: foo", ["foo", "B"], 1, 1, 1),
    ("code_debug", "foo, I think", ["foo", "B"], 0, 1, 1),
    ("code_debug", "-foo", ["foo", "B"], 0, 0, 1),
    ("longbook_choice_eng", "(A)", ["Lily", "A"], 0, 1, 1),
    ("longbook_choice_eng", "I think A or B", ["Rose", "B"], 0, 1, 0),
    ("longbook_choice_eng", "The correct option is A.", ["Lily", "A"], 1, 1, 1),
    ("longbook_choice_eng", "Because he left", ["Rose", "B"], 1, 1, 0),
    ("longbook_choice_eng", "Rose", ["Rose", "B"], 1, 1, 1),
    ("longbook_choice_eng", "", ["Rose", "B"], 0, 0, 0),
    ("longdialogue_qa_eng", "Ace Rothstein", ["ACE", "ACE ROTHSTEIN"], 1, 1, 1),
    ("longdialogue_qa_eng", "COMMANDER BILL", ["COMMANDER BILL"], 0, 1, 1),
    ("longdialogue_qa_eng", "FACE", ["ACE"], 0, 1, 0),
    ("longbook_qa_eng", "The fighting in WW1", ["fighting in world war 1"], 0.5, 0.5, 0.5),
    ("longbook_qa_eng", "a the", ["an"], 0, 0, 0),
    ("longbook_qa_chn", "两个人", ["2", "两个", "二", "俩"], 0.8, 0.8, 0.8),
    ("longbook_qa_chn", "〈两个〉", ["两个"], 2 / 3, 2 / 3, 1),
    ("longbook_qa_chn", "＋两个。", ["两个"], 1, 1, 1),
    ("longbook_sum_eng", "a\nb c", ["b c\na"], 1, 1, 1),
    ("longbook_sum_eng", "the the the", ["the"], 0.5, 0.5, 0.5),
    ("longbook_sum_eng", "", ["the"], 0, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{v[0]}: {v[1][:40]!r}")
def test_every_golden_vector_is_reproduced(vector: tuple[str, str, Any, float, float, float]) -> None:
    task, said, label, *expected = vector
    assert [score(task, said, label, mode) for mode in MODES] == pytest.approx(expected)


def test_the_published_program_skips_a_number_of_one_model() -> None:
    assert score("math_calc", "1, 4, 14, 6", [4, 14, 6], "official-2024-06", skip_first=True) == 1


LABELS: dict[str, Any] = {
    "passkey": "12345", "number_string": "1234567890", "kv_retrieval": "c14cb8ba-002b-43be-bdc7-8a83f0fe1ac8",
    "longdialogue_qa_eng": ["ANN"], "longbook_sum_eng": ["One.\nAnd more."], "longbook_choice_eng": ["Rose", "B"],
    "longbook_qa_eng": ["in the end"], "longbook_qa_chn": ["两个"], "math_find": [7], "math_calc": [1, 2, 3],
    "code_run": [-3], "code_debug": ["foo", "B"],
}  # fmt: skip


@pytest.mark.unkept
@given(said=st.text() | st.text("AB C.:-0123456789é\n("), task=st.sampled_from(sorted(SCORERS)))
def test_no_prediction_makes_a_scorer_fail(said: str, task: str) -> None:
    for mode in MODES:
        assert 0 <= score(task, said, LABELS[task], mode) <= 1


def test_a_summary_of_itself_is_perfect_and_union_counts_a_word_once() -> None:
    text = "The cat sat on the mat.\nThen it slept."
    assert rouge_l_sum(text, text) == 1
    assert rouge_l_sum("the cat\nthe cat", "the cat sat") == pytest.approx(
        2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3)
    )


def test_a_files_name_says_the_task() -> None:
    assert task_of("preds_code_debug_step_by_step.jsonl.gz") == "code_debug"
    assert task_of("longbook_qa_chn.jsonl") == "longbook_qa_chn"
    assert task_of("answers.jsonl") is None


PUBLISHED = r"\b[{0}]\b(?!.*\b[{0}]\b)"
"""How the published programs find the last letter of a line, in quadratic time."""


@pytest.mark.unkept
@given(said=st.text("ABCDEJKa_é .\r\n\u2028"))
@pytest.mark.parametrize(("task", "letters"), [("longbook_choice_eng", "A-D"), ("code_debug", "A-J")])
def test_the_last_letter_is_the_one_that_the_published_pattern_finds(
    task: str, letters: str, said: str
) -> None:
    last = re.search(PUBLISHED.format(letters), said.strip() if task == "longbook_choice_eng" else said)
    label = ["no option", last[0] if last else "A"]
    if last and last[0] in "ABCD":
        assert score(task, said, label, "official-newest") == 1.0


@pytest.mark.parametrize("task", ["longbook_choice_eng", "code_debug"])
def test_the_last_letter_is_found_in_time_that_grows_with_the_prediction(task: str) -> None:
    begun = time.process_time()
    assert score(task, "A. " * 300_000, ["no option", "A"], "official-newest") == 1.0
    assert time.process_time() - begun < 3  # the published pattern would take minutes


@pytest.mark.parametrize("task", sorted(SCORERS))
@pytest.mark.parametrize("filling", [" ", "\n", ":", "A ", "1", "1.", "answer is "])
def test_scoring_takes_time_in_proportion_to_the_prediction(task: str, filling: str) -> None:
    said = "answer" + filling * (100_000 // len(filling)) + "x"
    begun = time.process_time()
    for mode in MODES:
        score(task, said, LABELS[task], mode)
    assert time.process_time() - begun < 3  # a backtracking pattern takes a minute


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published predictions are not at hand")
@pytest.mark.slow
def test_published_predictions_get_their_published_scores(command: "Command") -> None:
    folder = SHARED / "data" / "infinitebench" / "gpt4"
    golden = json.loads((SHARED / "reference" / "infinitebench_golden.json").read_text("utf-8"))
    files = [str(path) for path in sorted(folder.iterdir()) if "step_by_step" not in path.name]
    done = command("score", "infinitebench", "--json", *files)
    rows = {row["task"]: row for row in json.loads(done.out)}
    assert set(rows) == set(SCORERS)
    for task, row in rows.items():
        published = golden["scores_percent"][f"gpt4/{task}"]
        assert row["lines"] == published["n"]
        assert row["official-2024-06"] == pytest.approx(published["score"], abs=0.005), task
        newest = golden["official_newest_percent"].get(task, {}).get("gpt4", published["score"])
        assert row["official-newest"] == pytest.approx(newest, abs=0.005), task


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published predictions are not at hand")
def test_published_counts_of_stars_get_their_published_scores(command: "Command") -> None:
    files = sorted(map(str, (SHARED / "data" / "counting-stars").iterdir()))
    rows = json.loads(command("score", "counting-stars", "--json", *files).out)
    assert [row["hits"] for row in rows] == ["917/1024", "501/512"]
    assert [row["exact"] for row in rows] == ["3/32", "7/16"]


def test_a_last_line_that_was_cut_short_counts_as_wrong(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "preds_longbook_qa_chn.jsonl"
    path.write_text('{"prediction": "两个", "ground_truth": ["两个"]}\n{"prediction": "两', "utf-8")
    done = command("score", "infinitebench", "--json", str(path))
    (row,) = json.loads(done.out)
    assert (row["lines"], row["official-2024-06"], row["strict"]) == (2, 50.0, 50.0)
    assert "preds_longbook_qa_chn.jsonl:2: counts as a wrong prediction" in done.err


ASKED = "Please help the little penguin collect the correct number of stars."


def _star(wrong: int, right: int) -> str:
    return f"The animal counted {wrong} ★, saw that this was wrong, and now there were {right} ★.\n"


@pytest.mark.parametrize(
    ("name", "row", "hits"),
    [
        ("Rea-EN.jsonl", {"retrieval_question": ASKED}, "1/4"),  # the published stars
        ("EN_reasoning_32_32.jsonl", {}, "1/4"),
        (
            "mine.jsonl",
            {"question": _star(16, 15) + _star(8, 9) + _star(50, 49) + _star(2, 3) + ASKED},
            "1/4",
        ),
    ],
)
def test_an_answer_about_corrected_stars_is_scored_as_reasoning(
    tmp_path: Path, command: "Command", name: str, row: dict[str, str], hits: str
) -> None:
    path = tmp_path / name
    counts = [15, 9, 49, 3]
    path.write_text(json.dumps({"answer": "[15, 9, 8, 48]", "reference_counting_results": counts, **row}))
    expected = (1 + 0.5 + 0.25 + 0) / 4 if "question" not in row else (1 + 0.5 + 0 + 0) / 4
    (found,) = json.loads(command("score", "counting-stars", "--json", str(path)).out)
    assert (found["test"], found["hits"], found["score"]) == ("reasoning", hits, expected)


def test_corrected_stars_of_unknown_counts_are_refused(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "EN_reasoning.jsonl"
    path.write_text(json.dumps({"answer": "[15]", "reference_counting_results": [15, 200]}))
    refused = command("score", "counting-stars", str(path))
    assert refused.exit_code == 1
    assert "keep the whole prompt in `question`" in " ".join(refused.err.split())


def test_bad_lines_are_skipped_and_bad_files_named(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "preds_passkey.jsonl"
    path.write_text('{"prediction": "12345", "ground_truth": "12345"}\n{oops\n{"id": 3}\n', "utf-8")
    done = command("score", "infinitebench", str(path), "--mode", "strict")
    assert done.exit_code == 0
    assert "100.00" in done.out
    assert "preds_passkey.jsonl:2: skipped, not JSON" in done.err
    assert "preds_passkey.jsonl:3: skipped: 'pred' is missing" in done.err
    stars = tmp_path / "stars.json"
    stars.write_text(
        '[{"answer": "```json\\n{\\"x\\": [3, 9, 9, 11]}\\n```", "reference_counting_results": [3, 5, 9]}]'
    )
    assert "2/3" in command("score", "counting-stars", str(stars)).out
    for words, complaint in (
        ((str(tmp_path / "gone.jsonl"), "--task", "passkey"), "cannot be read"),
        ((str(stars),), "its name does not include the task"),
        ((str(path), "--task", "passky"), "did you mean 'passkey'?"),
        ((str(path), "--mode", "strickt"), "did you mean 'strict'?"),
    ):
        refused = command("score", "infinitebench", *words)
        assert refused.exit_code == 1
        assert complaint in " ".join(refused.err.split())
    assert "not a prediction file of Counting-Stars" in " ".join(
        command("score", "counting-stars", str(path)).err.split()
    )


@pytest.mark.parametrize("odd", ["", "[]", "[{oops", '{"id": 3}', None])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_file_that_cannot_be_scored_withholds_no_other(
    tmp_path: Path, command: "Command", odd: str | None, words: tuple[str, ...]
) -> None:
    good, bad = tmp_path / "preds_passkey.jsonl", tmp_path / "preds_kv_retrieval.jsonl"
    good.write_text('{"prediction": "12345", "ground_truth": "12345"}\n', "utf-8")
    if odd is not None:
        bad.write_text(odd, "utf-8")
    for files in ((good, bad), (bad, good)):
        done = command("score", "infinitebench", *map(str, files), "--mode", "strict", *words)
        assert done.exit_code == 1
        assert "100" in done.out
        assert "passkey" in done.out
        assert "ltm-bench: " in done.err
        assert "preds_kv_retrieval.jsonl: " in done.err
    alone = command("score", "infinitebench", str(bad), *words)
    assert (alone.exit_code, alone.out) == (1, "")


def test_a_null_prediction_is_an_empty_one(tmp_path: Path, command: "Command") -> None:
    path = tmp_path / "preds_longdialogue_qa_eng.jsonl"
    path.write_text('{"prediction": null, "ground_truth": ["NONE"]}\n', "utf-8")
    (found,) = json.loads(command("score", "infinitebench", "--json", str(path)).out)
    assert {found[mode] for mode in ("official-2024-06", "official-newest", "strict")} == {0}
