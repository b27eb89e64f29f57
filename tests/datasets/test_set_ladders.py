"""Controls and ladder over the histories of public sets: what they can tell, and what they leave out."""

from pathlib import Path

import pytest

from ltm_bench import run
from tests import sets


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("faults", "loss"), [({"loses": 0.6}, "memory"), ({"finds": 0.4}, "memory"), ({"uses": 0.4}, "none")]
)
def test_what_a_faulty_memory_misses_is_placed_where_its_fault_lies(
    place: Path, faults: dict[str, float], loss: str
) -> None:
    data = sets.locomo(place / "locomo10.json", histories=4)
    done = run(
        agent="reference",
        suite="locomo",
        data=str(data),
        settings=faults,
        name="r",
        ladder=True,
        controls=["blind", "evidence"],
    )
    ladder, controls = done.results.ladder, done.results.controls
    assert ladder is not None
    assert {*ladder.lost} == {loss, "unknown"}, "category 5 names no evidence, so nothing can be told again"
    assert ladder.lost[loss] > 3
    assert ladder.left_out["retold"]["locomo"].endswith("its set does not name what holds the answer")
    assert "its set names no wrong answers" in ladder.left_out["recognised"]["locomo"]
    assert controls is not None
    assert controls.evidence is not None
    assert (controls.evidence.score < 1) is (loss == "none")


def test_where_a_set_does_not_name_its_evidence_nothing_is_told_again_and_that_is_said(place: Path) -> None:
    data = sets.facts(place / "facts.json")
    done = run(
        agent="goldfish",
        suite="factconsolidation-sh-6k",
        data=str(data),
        name="r",
        ladder=True,
        controls=["blind"],
    )
    ladder = done.results.ladder
    assert ladder is not None
    assert [each.name for each in ladder.rungs] == ["again"]
    assert ladder.lost == {"unknown": 1}
    assert {*ladder.left_out["retold"].values()} == {"its set does not name what holds the answer"}
