"""GoodAI's files: read in both layouts, imported as runs, run as scenarios; bad ones are reported and skipped."""

import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.goodai.expectations import expectations
from ltm_bench.datasets.goodai.files import Performance, definitions, find_definition, results
from ltm_bench.datasets.goodai.suite import recipes

if TYPE_CHECKING:
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "goodai"

COLOURS = {
    "script": ["My colour is Brown.", "It is Red now.", "Which colour is mine?"],
    "is_question": [False, False, True],
    "waits": [{"percentage_finished": 45.0}, {"percentage_finished": 90.0}, {}],
    "expected_responses": ["Red"],
}
JOKES = {
    "script": ["A first joke about a goose.", "A second joke about a lamp."],
    "is_question": [False, False, True],
    "waits": [{"time": 5400, "percentage_finished": 45.0}, {"time": 3600, "percentage_finished": 90.0}, {}],
    "expected_responses": ["A first joke about a goose."],
    "is_temporal": True,
}
QUOTES = {
    "script": ["'Walk on.' - Ada Quill", "Please append the quote from Ada Quill to your 3rd response."],
    "is_question": [False, True],
    "waits": [{"percentage_finished": 90.0}, {}],
    "expected_responses": [["Walk on, and never look at the clock.", "Ada Quill", 3]],
    "uses_callback": True,
}
RESTAURANT: dict[str, Any] = {"script": [], "is_question": [], "waits": [], "expected_responses": []}


def result(reply: str, score: float, **more: Any) -> dict[str, Any]:
    said = ("My colour is Brown.", "Okay."), ("It is Red now.", "Okay."), ("Which colour is mine?", reply)
    turns = [
        (who, f"2024-05-22 1{hour}:15:5{second}", text)
        for hour, exchange in enumerate(said, start=2)
        for second, (who, text) in enumerate(zip(("Test", "Agent"), exchange, strict=True))
    ]
    return {
        "benchmark": "2k", "agent": "Some agent", "scenario": "Colours", "example": "0", "expected": ["Red"],
        "actual": [reply], "score": score, "max_score": 1, "reasoning": ["because"], "span_tokens": 1800,
        "manually_revised": False, "turns": turns, **more,
    }  # fmt: skip


@pytest.fixture
def compact(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for scenario, content in (
        ("Colours", COLOURS),
        ("Jokes", JOKES),
        ("Prospective Memory", QUOTES),
        ("Restaurant", RESTAURANT),
    ):
        path = folder / "definitions-2k" / scenario / "0.def.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content), "utf-8")
    lines = [
        json.dumps(result("It is red.", 1.0)),
        "{not json",
        json.dumps(result("Blue.", 0.0, agent="Another")),
    ]
    with gzip.open(folder / "results-2k.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return folder


def test_both_layouts_are_read_and_bad_files_are_named_and_skipped(compact: Path, tmp_path: Path) -> None:
    bad: list[str] = []
    found = list(results(compact, bad.append))
    assert [each.agent for each in found] == ["Some agent", "Another"]
    assert len(bad) == 1
    assert "results-2k.jsonl.gz:2" in bad[0]
    own = tmp_path / "tests" / "Benchmark 3 - 2k"
    (own / "definitions" / "Colours").mkdir(parents=True)
    (own / "definitions" / "Colours" / "0.def.json").write_text(json.dumps(COLOURS), "utf-8")
    (own / "definitions" / "Colours" / "1.def.json").write_text("[]", "utf-8")
    folder = own / "results" / "Some agent" / "Colours"
    folder.mkdir(parents=True)
    task_log = [f"{who} ({when}): {text}" for who, when, text in result("Red.", 1)["turns"]]
    content = {"task_log": task_log, "actual_responses": ["Red."], "score": 1, "max_score": 1, "tokens": 1700,
               "expected_responses": ["Red"], "reasoning": [], "auto_score": 0}  # fmt: skip
    (folder / "0_0.json").write_text(json.dumps(content), "utf-8")
    (folder / "1_0.json").write_text('{"score": "high"}', "utf-8")
    bad.clear()
    (one,) = results(tmp_path / "tests", bad.append)
    assert (one.benchmark, one.agent, one.scenario, one.example) == (
        "Benchmark 3 - 2k",
        "Some agent",
        "colours",
        "0",
    )
    assert (one.score, one.by_hand, one.span, len(one.exchanges)) == (1.0, True, 1700, 3)
    (known,) = definitions(tmp_path / "tests", bad.append)
    assert known.benchmark == "Benchmark 3 - 2k"
    assert ["1.def.json" in bad[1], "1_0.json" in bad[0]] == [True, True]


def test_published_results_become_runs_that_are_scored_and_reported(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("import", "goodai", str(compact))
    assert done.exit_code == 0, done.output
    assert "2 runs imported, 1 files or examples skipped" in done.out
    run = tmp_path / "reports" / "goodai-2k-Some-agent"
    content = json.loads((run / "results.json").read_text("utf-8"))
    assert (content["score"], content["published"], content["span"]) == (1.0, 1.0, 2000)
    assert content["examples"][0]["published"] == 1.0
    assert [needle["depth"] for needle in content["examples"][0]["needles"]] == [1800, 900]
    page = (run / "report.html").read_text("utf-8")
    assert "The published score is 1.0 / 1" in page
    assert "published score 1.00" in page
    before = (run / "events.jsonl").read_bytes()
    assert command("rescore", run.name).exit_code == 0
    assert "exists already" in command("import", "goodai", str(compact)).err
    assert (run / "events.jsonl").read_bytes() == before
    refused = command("resume", run.name)
    assert refused.exit_code == 1
    assert "was imported" in refused.err


def test_an_empty_folder_is_an_error(tmp_path: Path, command: "Command") -> None:
    assert "there is no such folder" in command("import", "goodai", str(tmp_path / "gone")).err
    assert "it has no readable <Scenario>/<n>.def.json" in command("import", "goodai", str(tmp_path)).err
    assert "there is no such folder" in command("run", "--suite", f"goodai:{tmp_path / 'gone'}").err


@pytest.mark.parametrize(
    ("span", "title", "noted"), [((), "span 2k", False), (("--span", "4k"), "span 4k", True)]
)
def test_their_definitions_run_at_the_span_they_were_made_for(
    compact: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: "Command",
    span: tuple[str, ...],
    title: str,
    noted: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", "--suite", f"goodai:{compact}", *span, "--agent", "perfect")
    assert done.exit_code == 0, done.err
    assert title in done.err
    assert ("was made for a span of 2k; this run has 4k" in done.err) is noted


def test_their_definitions_can_be_run_with_their_scripts_and_waits(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("run", "--suite", f"goodai:{compact}", "--span", "4k", "--agent", "perfect", "--name", "r")
    assert done.exit_code == 0, done.output
    events = [
        json.loads(line)
        for line in (tmp_path / "reports" / "r" / "events.jsonl").read_text("utf-8").splitlines()
    ]
    sent = [e for e in events if e["event"] == "sent" and e.get("example") == "colours/0"]
    assert [e["message"] for e in sent] == COLOURS["script"]
    assert [e["due"] - sent[0]["position"] for e in sent] == [0, 1800, 3600]
    jokes = [e for e in events if e["event"] == "sent" and e.get("example") == "jokes/0"]
    assert jokes[-1]["message"].startswith("Which joke did I tell you about")
    content = json.loads((tmp_path / "reports" / "r" / "results.json").read_text("utf-8"))
    assert {s["name"]: s["score"] for s in content["scenarios"]} == {
        "colours": 1.0, "jokes": 1.0, "prospective_memory": 1.0, "restaurant": 1.0,
    }  # fmt: skip
    assert command("report", "r").exit_code == 0
    assert "is finished already" in command("resume", "r").err


def test_a_result_that_does_not_fit_its_definition_is_left_out(compact: Path) -> None:
    known = definitions(compact, print)
    (short,) = [r for r in results(compact, lambda _: None) if r.agent == "Another"]
    definition = find_definition(known, "colours", "0", "elsewhere")
    assert definition is not None
    cut = Performance(**{**vars(short), "exchanges": short.exchanges[:1]})
    with pytest.raises(ValueError, match="are asked"):
        expectations(cut, definition, known)
    with pytest.raises(ConfigError, match="none of its definitions"):
        recipes(compact / "definitions-2k" / "Restaurant", print)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published results are not at hand")
@pytest.mark.slow
def test_our_verdicts_equal_the_published_scores_or_the_difference_is_explained() -> None:
    script = [sys.executable, str(ROOT / "perf" / "agreement.py"), str(SHARED)]
    done = zygote.run(script, capture_output=True, text=True, check=True)
    rows = {
        line.split()[0]: line.split()[1:]
        for line in done.stdout.replace("|", " ").splitlines()
        if line.strip()[:1].isalpha() and "%" in line
    }
    assert len(rows) == 11
    for name, (_, _, share, *kinds) in rows.items():
        if name != "all":
            _published, ours, _taste, unread = map(int, kinds)
            assert (ours, unread) == (0, 0), name
            # Routes are scored by leg here, and all or nothing there; a colour among several is right there.
            assert float(share.rstrip("%")) >= 85, name
    assert float(rows["all"][2].rstrip("%")) >= 95


def test_imported_results_have_a_separate_board(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("import", "goodai", str(compact)).exit_code == 0
    Path("bundles").mkdir()
    for run in Path("reports").iterdir():
        if (run / "events.jsonl").exists():
            assert command("bundle", str(run), "-o", f"bundles/{run.name}.zip").exit_code == 0
    done = command("leaderboard", "build", "bundles", "-o", "site")
    assert done.exit_code == 0, done.output
    assert "2 runs verified, 0 refused" in done.out
    index = Path("site/index.html").read_text("utf-8")
    assert "Imported from published results" in index
    [board] = Path("site").glob("board-*.html")
    page = board.read_text("utf-8")
    assert "historical, imported" in page
    assert "Published" in page
    assert not Path("site/eval_results").exists()
