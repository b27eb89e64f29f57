"""When results.json stands for the log, and when the log is scored again."""

import gc
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.log.reader import read_manifest
from ltm_bench.score.results.scoring import score_run
from ltm_bench.score.results.stored import is_newest, stored_results

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Path:
    monkeypatch.chdir(tmp_path)
    words = ("--span", "2k", "--scenario", "colours", "--agent", "perfect", "--name", "r")
    assert command("run", *words).exit_code == 0
    return tmp_path / "reports" / "r"


def changing(key: str, value: Any) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        path = run / "results.json"
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | {key: value}), "utf-8")

    return change


def later(name: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        path = run / name
        with path.open("ab"):
            pass
        at = (run / "results.json").stat().st_mtime + 1
        os.utime(path, (at, at))

    return change


def older_matcher(run: Path) -> None:
    path = run / "results.json"
    content = json.loads(path.read_text("utf-8"))
    content["examples"][0]["questions"][0]["scorer"] = "Answers@0"
    path.write_text(json.dumps(content), "utf-8")


def other_prices(run: Path) -> None:
    path = run / "results.json"
    content = json.loads(path.read_text("utf-8"))
    content["costs"]["price_list"] = "genai-prices 0.0.1, prices of 2026-01-05"
    path.write_text(json.dumps(content), "utf-8")


def test_stored_results_say_what_scoring_the_log_says(run: Path) -> None:
    manifest = read_manifest(run)
    stored, scored = stored_results(run, manifest), score_run(run, manifest)
    assert stored is not None
    assert (stored.score, stored.log, stored.costs) == (scored.score, scored.log, scored.costs)
    said = [
        [(q.text, q.reply, q.verdict) for e in of.examples for q in e.questions] for of in (stored, scored)
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "change",
    [
        *(
            later(name)
            for name in ("events.jsonl", "judgements.jsonl", "overrides.jsonl", "environment.json")
        ),
        later("SHA256SUMS"),
        changing("run", "another"),
        changing("seed", 7),
        changing("schema_version", 1),
        changing("examples", None),
        older_matcher,
        other_prices,
        lambda run: (run / "results.json").unlink(),
        lambda run: (run / "results.json").write_bytes(b"{"),
    ],
)
def test_what_may_say_something_else_is_not_taken(run: Path, change: Callable[[Path], object]) -> None:
    change(run)
    assert stored_results(run, read_manifest(run)) is None


def test_of_files_in_folders_only_isolated_logs_count() -> None:
    known = {
        "results.json": 5.0,
        "events.jsonl": 4.0,
        "report.html": 6.0,
        ".lock": 7.0,
        "agent/memory/a": 8.0,
    }
    assert is_newest(known)
    assert not is_newest(known | {"isolated/colours-0.jsonl": 6.0})


def test_a_link_to_itself_beside_a_log_keeps_no_folder_open_and_changes_nothing(run: Path) -> None:
    before = stored_results(run, read_manifest(run))
    assert before is not None
    (run / "loop").symlink_to("loop")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert stored_results(run, read_manifest(run)) == before
        gc.collect()
    assert [str(each.message) for each in caught] == []
