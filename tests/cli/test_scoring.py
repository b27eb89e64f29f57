"""One command scores a set's files and runs, and says what `score published` says of them."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.infinitebench.scorer import SCORERS
from ltm_bench.datasets.shapes import SHAPES, Shape, retrieved
from tests.datasets.test_imported import lines, locomo, longmemeval, results
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stars(shift: int) -> list[dict[str, Any]]:
    return [
        {
            "answer": json.dumps([15, 9 + (number + shift) % 2, 49]),
            "reference_counting_results": [15, 9, 49],
            "context_size": 100 * number,
        }
        for number in range(1, 9)
    ]


TABLES: dict[str, tuple[str, str]] = {
    "infinitebench, a choice": (
        "preds_longbook_choice_eng.jsonl",
        '{"prediction": "A. a rose", "ground_truth": ["a rose", "A"]}\n'
        '{"pred": "It may be B", "label": ["a rose", "A"]}\n'
        '{"prediction": null, "ground_truth": ["a rose", "A"]}\n'
        '{"prediction": "A", "ground_tr',
    ),
    "infinitebench, another": (
        "preds_math_calc.jsonl",
        '{"prediction": "[7, 4, 5]", "ground_truth": [4, 5, 6]}\n',
    ),
    "counting-stars, searching": ("EN_searching.json", json.dumps(stars(0))),
    "counting-stars, corrected": (
        "EN_reasoning.json",
        json.dumps([row | {"retrieval_question": "the correct number"} for row in stars(1)]),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_file_of_a_table_keeps_its_rows_when_it_becomes_a_run(
    command: "Command", home: Path, name: str
) -> None:
    dataset, (file, text) = name.partition(",")[0], TABLES[name]
    (home / "gpt4").mkdir()
    (home / "gpt4" / file).write_text(text, "utf-8")
    done = command("score", dataset, f"gpt4/{file}", "--json", "--keep")
    assert done.exit_code == 0, done.err
    rows = json.loads(done.out)
    (run,) = (each.name for each in Path("reports").iterdir() if each.is_dir())
    again = json.loads(command("score", dataset, f"reports/{run}", "--json").out)
    assert [row | {"file": ""} for row in again] == [row | {"file": ""} for row in rows]
    (figures,) = results(run)["sets"]
    assert figures["n"] == sum(row.get("lines", 0) or row["n"] for row in rows)
    for words in (
        ("verify", run),
        ("report", run),
        ("rescore", run),
        ("export", run, "--format", "csv", "-o", "x.csv"),
    ):
        assert command(*words).exit_code == 0, words


def test_letters_of_personamem_become_a_run_whose_figures_are_those_of_the_file(
    command: "Command", home: Path
) -> None:
    said = {"q1": ("a", "a"), "q2": ("b", "c"), "q3": ("d", "")}
    Path("mine.csv").write_text(
        "question_id,answer,p,r\n" + "".join(f"{name},{key},{p},\n" for name, (key, p) in said.items())
    )
    done = command("score", "personamem", "mine.csv", "--json", "--keep")
    assert done.exit_code == 0, done.err
    (file,) = json.loads(done.out)["files"]
    assert (file["n"], file["lines"][0]["figures"]["official"]["mean"]) == (3, pytest.approx(1 / 3))
    (run,) = json.loads(command("score", "personamem", "reports/personamem-mine", "--json").out)["files"]
    assert lines(run) == lines(file)
    assert command("verify", "personamem-mine").exit_code == 0
    counted = json.loads(command("score", "published", "mine.csv", "--json").out)[0]["figures"]
    assert next(each["mean"] for each in counted if each["measure"] == "right") == pytest.approx(1 / 3)


@pytest.mark.parametrize("model", ["rag", "none"])
def test_published_letters_have_their_published_figures_to_the_last_digit(
    command: "Command", model: str
) -> None:
    folder = shared("personamem_32k")
    file = f"{folder}/pred_32k_k=5_r={model}_m=gpt-4o.csv"
    (found,) = json.loads(command("score", "personamem", file, "--data", f"{folder}/data", "--json").out)[
        "files"
    ]
    gold = (folder / "GOLD.md").read_text("utf-8").partition(f"| {model}_gpt-4o |")[2].partition("letters")[0]
    rows = dict(re.findall(r"^\| (\w+) \| \d+ \| \d+ \| ([\d.]+) \|$", gold, re.MULTILINE))
    ours = {each["name"]: each["figures"]["official"]["mean"] for each in found["lines"]}
    assert len(rows) == 8
    assert {name: ours["overall" if name == "all" else name] for name in rows} == {
        name: float(mean) for name, mean in rows.items()
    }


REFUSED: dict[str, tuple[str, Callable[[list[Any]], list[Any]]]] = {
    "longmemeval, twice": ("longmemeval", lambda rows: [*rows, rows[0]]),
    "longmemeval, a verdict": (
        "longmemeval",
        lambda rows: [*rows, rows[1] | {"question_id": "x", "autoeval_label": {"label": "perhaps"}}],
    ),
    "longmemeval, a text": ("longmemeval", lambda rows: [*rows, "row"]),
    "locomo, of another kind": (
        "locomo",
        lambda rows: [*rows, {"question_id": "q", "hypothesis": "x", "autoeval_label": {"label": True}}],
    ),
}


def judged(name: str) -> list[dict[str, Any]]:
    """Return rows that `score published` knows as answers."""
    if name == "longmemeval":
        return [{**row, "autoeval_label": {"model": "m", "label": True}} for row in longmemeval(0)]
    more = {"category": "1", "llm_judgments": {"judgment_1": True}}
    return [{**row, "question_id": f"locomo_0_qa{n}", **more} for n, row in enumerate(locomo(0))]


@pytest.mark.parametrize("name", REFUSED)
def test_what_published_refuses_is_named_in_its_words_where_a_set_reads_on(
    command: "Command", home: Path, name: str
) -> None:
    dataset, spoilt = REFUSED[name]
    Path("a.json").write_text(json.dumps(spoilt(judged(dataset))))
    refused = command("score", "published", "a.json")
    assert refused.exit_code == 1
    scored = command("score", dataset, "a.json")
    assert scored.exit_code == 0, scored.err
    assert " ".join(refused.err.removeprefix("ltm-bench: ").split()) in " ".join(scored.err.split())


def test_what_does_not_follow_from_a_files_rows_is_said_beside_its_scores(
    command: "Command", home: Path
) -> None:
    rows = judged("longmemeval")
    rows[0]["autoeval_label"] = {"model": "other", "label": True}
    Path("a.json").write_text(json.dumps({"accuracy": 0.5, "rows": rows}))
    done = command("score", "longmemeval", "a.json")
    assert done.exit_code == 0
    assert "several judges: m, other; no official figure mixes them" in done.err
    assert "accuracy, all: published 0.5, counted 1.0" in done.err


@pytest.mark.parametrize(
    "shape",
    [each for each in SHAPES if not each.is_of_replies and each.dataset != "precisionmembench"],
    ids=lambda shape: shape.about,
)
def test_what_holds_no_replies_is_counted_by_its_set_as_it_is_published(
    command: "Command", home: Path, shape: Shape
) -> None:
    row = dict.fromkeys(shape.keys.split(), "a") | VALUES
    Path("a.json").write_text(json.dumps([{key: row[key] for key in (*shape.keys.split(), *VALUES)}]))
    counted = command("score", "published", "a.json", "--json")
    scored = command("score", shape.dataset, "a.json", "--json")
    if shape.count is retrieved:
        assert json.loads(scored.out)["files"][0]["columns"] == ["recall", "all found", "none found"]
    else:
        assert (scored.exit_code, scored.out) == (counted.exit_code, counted.out)


VALUES: dict[str, Any] = {
    "evidence": ["D1:1"], "retrieved_ids": ["D1:1"], "recall": 1, "turns": [], "reference": ["A"], "system": ["A"],
    "tau_norm": None, "final_score": None, "precision": 1, "f1": 1, "name": "a", "golden_v2": "WRONG",
    "majority": "AMBIGUOUS", "u": 1, "a": 1, "f": 1, "mgs": 0, "category": "1", "query_type": "utility",
    "action_correct": True, "utility_correct": True, "privacy_leak": None, "deletion_leak": None, "over_refusal": False,
}  # fmt: skip


def test_files_with_and_without_replies_are_scored_apart(command: "Command", home: Path) -> None:
    Path("a.json").write_text(json.dumps(locomo(0)))
    Path("errors.json").write_text(
        json.dumps([{"question_id": "q", "error_type": "WRONG", "correct_answer": "x"}])
    )
    done = command("score", "locomo", "a.json", "errors.json", "--json")
    assert (done.exit_code, done.out) == (1, "")
    assert "errors.json: LoCoMo: errors in keys: it holds no replies; score it apart" in done.err


@pytest.mark.parametrize("task", SCORERS)
@pytest.mark.parametrize(
    "label", [None, True, 3, 1e400, [], {}, ["x"], ["x", True], {"a": [1]}, [[]], "x"], ids=str
)
def test_a_label_that_no_scorer_can_read_is_named_and_hides_no_line(
    command: "Command", home: Path, task: str, label: object
) -> None:
    good = {
        "prediction": "1",
        "ground_truth": ["1", "A"] if task in ("longbook_choice_eng", "code_debug") else [1],
    }
    rows = [good, {"prediction": "A. 1", "ground_truth": label}, {"prediction": "", "ground_truth": label}]
    Path(f"preds_{task}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = command("score", "infinitebench", f"preds_{task}.jsonl", "--json")
    assert done.exit_code == 0, done.err
    (row,) = json.loads(done.out)
    assert row["lines"] + done.err.count("skipped: ") == 3


@pytest.mark.parametrize("said", ["[1e999, 15]", "[NaN, 9]", "[true, 49]", '{"x": [15.0]}', "[[15]]", "15"])
@pytest.mark.parametrize("key", ["answer", "reference_counting_results", "context_size", "sky_size"])
def test_no_value_of_a_row_of_stars_is_answered_in_pythons_words(
    command: "Command", home: Path, key: str, said: str
) -> None:
    for value in (said, json.loads(said)):
        Path("a.json").write_text(json.dumps([*stars(0), {**stars(0)[0], key: value}]))
        done = command("score", "counting-stars", "a.json", "--json", "--keep")
        assert "bug" not in done.err
        assert done.exit_code == 0 or "a.json: not a prediction file of Counting-Stars" in done.err


def test_a_report_on_a_memory_is_scored_by_its_set(command: "Command", home: Path) -> None:
    row = {"caseId": "c", "category": "x", "relevantBeliefs": ["a"], "pinnedBeliefs": [], "retrievedQuestions": [],
           "retrievalPrecision": 1, "retrievalRecall": 1, "passed": True, "failures": []}  # fmt: skip
    Path("report.json").write_text(json.dumps({"cases": [row]}))
    found = command("score", "precisionmembench", "report.json", "--json")
    assert (found.exit_code, found.out) == (0, command("score", "published", "report.json", "--json").out)
    for words, said in ((), "nothing to score"), (("--agent", "vector_memory"), "name the set with --data"):
        refused = command("score", "precisionmembench", *words)
        assert refused.exit_code == 1
        assert said in refused.err


def test_old_names_of_score_work_and_are_not_listed(command: "Command", home: Path) -> None:
    listed = command("score", "--help").out
    for name in ("published", "retrieval"):
        assert f"\n  {name}" not in listed
        assert command("score", name, "--help").exit_code == 0
    assert "\n  personamem" in listed


def test_a_verdict_on_another_reply_is_said_where_both_files_are_scored(
    command: "Command", home: Path
) -> None:
    rows = judged("longmemeval")
    Path("labels.json").write_text(json.dumps(rows))
    bare = [{"question_id": row["question_id"], "hypothesis": row["hypothesis"]} for row in rows]
    Path("mine.json").write_text(json.dumps([bare[0] | {"hypothesis": "another"}, *bare[1:]]))
    Path("data.json").write_text(
        json.dumps([{**row, "question_date": "", "haystack_sessions": []} for row in rows])
    )
    done = command("score", "longmemeval", "labels.json", "mine.json", "--data", "data.json")
    assert "in 1 of 12 rows the verdict belongs to another reply" in " ".join(done.err.split())
