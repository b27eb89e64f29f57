"""What was retrieved for LoCoMo: recall with intervals, by category, and without questions whose evidence is wrong."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.datasets.errata import Erratum, question_digest
from ltm_bench.datasets.locomo import predictions
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command


def row(number: int, found: list[str], recall: float, **more: Any) -> dict[str, Any]:
    usual = {"question": f"Which {number}?", "category": 1 + number % 2, "evidence": ["D1:2", "D3:1"]}
    return {"sample_id": f"conv-{number % 3}", "retrieved_ids": found, "recall": recall, **usual, **more}


def placed(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps(rows))
    return str(path)


def test_files_are_compared_question_by_question_and_wrong_evidence_stands_apart(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Erratum("q", "cited wrongly", "somebody", "evidence", question_digest("Which 0?"))
    monkeypatch.setattr(predictions, "errata", lambda _: {"q": odd})
    half, whole = ["session_1"], ["session_3", "session_1"]
    worse = placed(tmp_path / "raw.json", [row(n, half, 0.5) for n in range(6)])
    better = placed(
        tmp_path / "hybrid.json", [row(n, whole if n else half, 1.0 if n else 0.5) for n in range(6)]
    )
    found = json.loads(command("score", "retrieval", worse, better, "--json").out)
    lines = {line["name"]: line["figures"] for line in found["files"][1]["lines"]}
    assert lines["overall"]["recall"]["mean"] == pytest.approx(5.5 / 6)
    assert lines["overall"]["all found"]["mean"] == pytest.approx(5 / 6)
    assert lines["without wrong keys"]["recall"]["mean"] == 1.0
    (recall,) = (each["difference"] for each in found["compared"] if each["column"] == "recall")
    assert (recall["n"], recall["difference"]) == (6, pytest.approx(-2.5 / 6))


def test_other_files_and_bad_rows_are_refused_in_one_line(command: "Command", tmp_path: Path) -> None:
    other = placed(tmp_path / "h.json", [{"question_id": "q", "hypothesis": "x"}])
    assert "score retrieval reads what was retrieved for LoCoMo" in command("score", "retrieval", other).err
    bad = placed(tmp_path / "b.json", [row(0, ["session_1"], 2.0)])
    assert "row 1: recall is '2.0'; it must be a number from 0 to 1" in command("score", "retrieval", bad).err


def test_a_published_file_gets_its_recall_and_57_citations_stand_apart(command: "Command") -> None:
    path = shared("mempalace_locomo/results_locomo_raw_session_top10_20260414_1634.json.gz")
    (found,) = json.loads(command("score", "retrieval", str(path), "--json").out)["files"]
    lines = {line["name"]: line for line in found["lines"]}
    assert lines["overall"]["figures"]["recall"]["mean"] == 0.6028744864847583
    assert (lines["wrong keys alone"]["n"], lines["without wrong keys"]["n"]) == (57, 1929)
