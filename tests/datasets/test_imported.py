"""Prediction files kept as runs: the same figures, and all that works on runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.gatemem.files import questions_of
from ltm_bench.datasets.predictions import prediction_files
from tests import sets
from tests.judge.test_audit import CASES, answers

if TYPE_CHECKING:
    from tests.conftest import Command


def lines(figures: dict[str, Any]) -> dict[str, Any]:
    """Return means by line and column, with the numbers of replies."""
    return {
        line["name"]: (line["n"], {key: pytest.approx(each["mean"]) for key, each in line["figures"].items()})
        for line in figures["lines"]
    }


def locomo(shift: int) -> list[dict[str, Any]]:
    rows = []
    for number in range(12):
        said = ("It is green.", "Red", "Not mentioned", "")[(number + shift) % 4]
        asked = {"question": f"Which colour,\nor hue, has door {number}?", "golden_answer": ["green", "lime"]}
        votes = [said == "It is green.", number % 3 == 0, number % 2 == 0]
        about = {"user": f"u_{number % 3}", "category": 1 + number % 5}
        rows.append(asked | about | {"response": said, "judgments": votes})
    return rows


def longmemeval(shift: int) -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"q{number}" + ("_abs" if number % 4 == 0 else ""),
            "question_type": ("multi-session", "knowledge-update")[number % 2],
            "question": f"Which colour has door {number}?",
            "answer": "green",
            "hypothesis": ("green", "red", "I do not know")[(number + shift) % 3],
        }
        | ({"autoeval_label": {"model": "m", "label": number % 2 == 0}} if number % 5 else {})
        for number in range(12)
    ]


def factconsolidation(shift: int) -> list[dict[str, Any]]:
    return [
        {
            "qa_pair_id": f"factconsolidation_{('sh', 'mh')[number % 2]}_6k_no{number}",
            "prediction": ("Bo", "Answer: Bo Li", "Bolivia", "Ann")[(number + shift) % 4],
            "gold_answers": ["Bo", "Bo Li"],
        }
        for number in range(12)
    ]


def beam(shift: int) -> dict[str, Any]:
    return {
        f"100K/{talk}": {
            ability: [
                {
                    "question": f"{ability} {number}?",
                    "llm_response": "x",
                    "llm_judge_responses": [{"score": (0, 0.5, 1)[(number + talk + shift) % 3]}] * 2,
                    "f1": 0.5,
                    "tau_norm": 0.75,
                }
                for number in range(3)
            ]
            for ability in ("abstention", "event_ordering", "knowledge_update")
        }
        for talk in (1, 2)
    }


def results(run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("reports", run, "results.json").read_text("utf-8"))
    return found


def differences(compared: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the numbers of pairs and the differences by column."""
    found = ((each["column"], each["difference"]) for each in compared)
    return {column: (each["n"], pytest.approx(each["difference"])) for column, each in found}


FILES = {each.__name__: each for each in (locomo, longmemeval, factconsolidation, beam)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def kept(command: "Command", name: str) -> dict[str, Any]:
    """Keep two files of a set as runs, and return what `score` says of them."""
    for shift, agent in enumerate(("a", "b")):
        Path(f"{agent}.json").write_text(json.dumps(FILES[name](shift)))
    done = command("score", name, "a.json", "b.json", "--keep", "--json")
    assert done.exit_code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_has_the_figures_of_the_file_on_its_page_and_when_it_is_scored_again(
    command: "Command", home: Path, name: str
) -> None:
    found = kept(command, name)
    for file, agent in zip(found["files"], ("a", "b"), strict=True):
        run = home / "reports" / f"{name}-{agent}"
        results = json.loads((run / "results.json").read_text("utf-8"))
        (own,) = results["sets"]
        (again,) = json.loads(command("score", name, str(run), "--json").out)["files"]
        assert lines(own) == lines(again) == lines(file)
        assert again["judge"] == file["judge"] or file["judge"] is None
        assert (again["wrong_keys"], again["histories"]) == (file["wrong_keys"], file["histories"])
        assert results["score"] is not None or name == "longmemeval"
    compared = json.loads(command("compare", f"{name}-a", f"{name}-b", "--json").out)
    assert len(compared["entrants"]) == 2
    assert differences(compared["sets"]) == differences(found["compared"])


@pytest.mark.parametrize("name", FILES)
def test_a_kept_file_is_verified_shown_exported_scored_again_and_never_resumed(
    command: "Command", home: Path, name: str
) -> None:
    kept(command, name)
    run = f"{name}-a"
    before = (home / "reports" / run / "results.json").read_text("utf-8")
    for words in (
        ("verify", run),
        ("show", run),
        ("report", run),
        ("rescore", run),
        ("export", run, "--format", "csv", "-o", "rows.csv"),
        ("bundle", run),
    ):
        done = command(*words)
        assert done.exit_code == 0, (words, done.err)
    assert (home / "reports" / run / "results.json").read_text("utf-8") == before
    assert Path("rows.csv").read_text("utf-8").count(run) >= 12
    assert "was imported: its agent cannot be asked again" in command("resume", run).err
    left = command("score", name, "a.json", "--keep")
    assert "exists already and is left as it is" in " ".join(left.err.split())


def test_a_set_with_a_table_of_its_own_has_the_same_rows_for_a_file_and_for_the_run_that_it_is_kept_as(
    command: "Command", home: Path
) -> None:
    data = sets.gatemem(home / "data")
    said = {"utility": ("answer", "It is 4401."), "privacy": ("refuse", "No."), "safety": ("answer", "4401")}
    rows: list[dict[str, Any]] = [
        {
            "checkpoint_id": each.id,
            "output": dict(zip(("action", "answer"), said[each.rule.kind], strict=True)),
        }
        for each in questions_of(data, pytest.fail)
    ]
    rows[0]["output"]["memory_audit"] = {"prompt_context": {"text": 'It is {"action": "answer"} 4401'}}
    Path("mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("--data", str(data), "--json")
    file, run = (
        json.loads(command("score", "gatemem", name, *words, *keep).out)
        for name, *keep in (("mine.jsonl", "--keep"), ("reports/gatemem-mine",))
    )
    assert file
    assert [row | {"file": ""} for row in run] == [row | {"file": ""} for row in file]
    assert any("privacy_e2e_leak" in row for row in file)
    assert command("verify", "gatemem-mine").exit_code == 0
    refused = command("score", "gatemem", "mine.jsonl")
    assert refused.exit_code == 1
    assert "its rules are in the data; name its folder with --data" in refused.err


ODD = (
    "\ud800 lone",
    "\x00\x1b[31mred",
    "<script>alert(1)</script>",
    "x\u202ey",
    "\u2028",
    "a" * 300_000,
    "b\nc",
)


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "factconsolidation"])
def test_a_file_of_hostile_texts_is_kept_and_verified(command: "Command", home: Path, name: str) -> None:
    rows: Any = FILES[name](0)
    for number, (row, odd) in enumerate(zip(rows, ODD, strict=False)):
        row |= {
            key: odd[:60] or odd for key in ("question", "response", "golden_answer", "answer") if key in row
        }
        row |= {key: odd for key in ("response", "hypothesis", "prediction") if key in row}
        if "question_id" in row:
            row |= {
                "question_id": f"{odd[:60]}{number}",
                "autoeval_label": {"model": odd[:60], "label": True},
            }
    Path("odd.json").write_text(json.dumps(rows))
    done = command("score", name, "odd.json", "--keep", "--json")
    assert done.exit_code == 0, done.err
    (run,) = (each.name for each in Path("reports").iterdir() if each.is_dir())
    for words in (("verify", run), ("report", run), ("score", name, f"reports/{run}")):
        done = command(*words)
        assert done.exit_code == 0, (words, done.err)


def test_a_file_about_more_histories_than_a_run_can_have_is_named_and_leaves_nothing(
    command: "Command", home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.datasets.imported.MOST_EXAMPLES", 11)
    Path("a.json").write_text(json.dumps(longmemeval(0)))
    done = command("score", "longmemeval", "a.json", "--keep")
    assert done.exit_code == 1
    assert "a: it is about 12 histories; a run has up to 11" in done.err
    assert not Path("reports").exists()


@pytest.mark.parametrize("name", ["locomo", "factconsolidation"])
def test_a_judge_that_the_environment_names_does_not_hinder_a_set_whose_program_asks_none(
    command: "Command", home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    Path("a.json").write_text(json.dumps(FILES[name](0)))
    plain = command("score", name, "a.json", "--json")
    monkeypatch.setenv("LTM_BENCH_JUDGE", "nobody-of-that-name")
    done = command("score", name, "a.json", "--json")
    assert (done.exit_code, done.out) == (0, plain.out)
    assert f"the program of {name} asks no judge" in done.err


JUDGE = '''"""A scripted judge."""

from ltm_bench import Agent, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Yes." if "Reply: green" in message.text else "No.")
'''


def test_judges_and_the_panel_take_kept_files_as_runs(command: "Command", home: Path) -> None:
    (home / "agents").mkdir()
    (home / "agents" / "exact.py").write_text(JUDGE, "utf-8")
    data = sets.longmemeval(home / "longmemeval.json")
    rows = [
        {"question_id": each["question_id"], "hypothesis": "green"} for each in json.loads(data.read_text())
    ]
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    words = ("score", "longmemeval", "mine.jsonl", "--data", str(data), "--judge", "exact", "--json")
    file = json.loads(command(*words).out)["files"][0]
    assert command("score", "longmemeval", "mine.jsonl", "--data", str(data), "--keep").exit_code == 0
    assert command("rescore", "longmemeval-mine", "--judge", "exact").exit_code == 0
    run = json.loads(Path("reports/longmemeval-mine/results.json").read_text("utf-8"))
    assert lines(run["sets"][0]) == lines(file)
    assert run["judges"][0]["vague"] > 0
    panel = json.loads(
        command("score", "panel", "reports/longmemeval-mine", "mine.jsonl", "--data", str(data), "--json").out
    )
    mine, kept_one = panel["files"]["mine.jsonl"], panel["files"]["reports/longmemeval-mine"]
    assert {key: kept_one[key] for key in mine} == mine
    assert kept_one["stored"]["mean"] == 1.0


@pytest.mark.parametrize(
    ("name", "suite", "file", "make"),
    [
        ("locomo", "locomo", "locomo10.json", sets.locomo),
        ("longmemeval", "longmemeval-s", "longmemeval_s_cleaned.json", sets.longmemeval),
    ],
)
def test_a_kept_file_is_compared_with_a_run_of_ours_question_by_question(
    command: "Command", home: Path, name: str, suite: str, file: str, make: Callable[[Path], Path]
) -> None:
    data = make(home / file)
    done = command("run", "--suite", suite, "--data", str(data), "--agent", "perfect", "--name", "r")
    assert done.exit_code == 0, done.err
    asked = list(prediction_files(name).questions(data, pytest.fail))
    rows = [{"question_id": each.id, "response": "x", "question": each.text} for _, each in asked]
    Path("mine.json").write_text(json.dumps(rows))
    assert command("score", name, "mine.json", "--data", str(data), "--keep").exit_code == 0
    ours, theirs = (
        {
            q["published"]["id"]: q["published"]["asked"]
            for e in results(run)["examples"]
            for q in e["questions"]
        }
        for run in ("r", f"{name}-mine")
    )
    assert ours == theirs
    assert len(ours) == len(asked)
    (found,) = json.loads(command("compare", "r", f"{name}-mine", "--json").out)["sets"][-1:]
    assert (found["column"], found["difference"]["n"]) == ("strict", 10 if name == "longmemeval" else 8)


AUDITOR = '''"""A scripted judge, which knows the cases of its calibration."""

import json
from pathlib import Path

from ltm_bench import Agent, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        said = json.loads(Path("answers.json").read_text()).get(message.text, "right")
        return Reply(json.dumps({"verdict": said, "reason": "so it is"}))
'''


def test_verdicts_on_kept_files_are_audited(command: "Command", home: Path) -> None:
    (home / "agents").mkdir()
    (home / "agents" / "auditor.py").write_text(AUDITOR, "utf-8")
    (home / "answers.json").write_text(answers(), "utf-8")
    kept(command, "factconsolidation")
    done = command("judge", "check", "--judge", "auditor", "--cases", str(CASES), "--repeats", "1")
    assert done.exit_code == 0, done.err
    done = command("audit", "factconsolidation-a", "--judge", "auditor")
    assert done.exit_code == 0, done.err
    assert "3 contradicted" in " ".join(done.output.split())


def test_files_of_one_name_are_kept_beside_each_other(command: "Command", home: Path) -> None:
    for folder in ("x", "y"):
        Path(folder).mkdir()
        Path(folder, "results.json").write_text(json.dumps(locomo(0)))
    assert command("score", "locomo", "x/results.json", "y/results.json", "--keep").exit_code == 0
    assert {each.name for each in (home / "reports").iterdir() if each.is_dir()} == {
        "locomo-x-results",
        "locomo-y-results",
    }


def test_a_file_whose_keeping_was_killed_is_kept_the_next_time(
    command: "Command", home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.json").write_text(json.dumps(locomo(0)))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ltm_bench.score.audits.judgements.append", killed)
        command("score", "locomo", "a.json", "--keep")
    assert not (home / "reports" / "locomo-a").exists()
    assert command("score", "locomo", "a.json", "--keep").exit_code == 0
    assert [each.name for each in (home / "reports").iterdir() if each.is_dir()] == ["locomo-a"]
    assert (home / "reports" / "locomo-a" / "judgements.jsonl").exists()


@pytest.mark.parametrize(
    ("name", "option"), [("beam", "--wrong"), ("factconsolidation", "--wrong"), ("gatemem", "--errors")]
)
def test_an_option_for_which_a_set_has_no_use_is_refused(
    command: "Command", home: Path, name: str, option: str
) -> None:
    Path("a.json").write_text("[]")
    done = command("score", name, "a.json", option, "a.json")
    assert done.exit_code == 1
    assert f"{option} a.json: the figures of {name} have no use for it; leave it out" in done.err
