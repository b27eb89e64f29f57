"""A bundle says which other runs stand beside its run, and the leaderboard shows it."""

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.errors import NotVerified
from ltm_bench.export.bundle import FILE, read_siblings, siblings_of

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture
def runs(command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs of one agent with different seeds, one of another agent, and a folder that is no run."""
    monkeypatch.chdir(tmp_path)
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1")
    for seed in range(3):
        command(*words, "--agent", "goldfish", "--seed", str(seed), "--name", f"g{seed}")
    command(*words, "--agent", "perfect", "--name", "p")
    (tmp_path / "reports" / "notes").mkdir()
    return tmp_path / "reports"


def test_runs_that_differ_in_their_seed_alone_are_siblings(runs: Path) -> None:
    for seed, score in ((1, 1), (2, 0)):
        path = runs / f"g{seed}" / "results.json"
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "score": score}), "utf-8")
    found = siblings_of(runs / "g0")
    assert (found.count, found.scored, found.best, found.mean) == (2, 2, 1.0, 0.5)
    assert found.said == "2 other runs beside it (best 1.00, mean 0.50 of 2)"
    (runs / "g1" / "results.json").unlink()
    assert (siblings_of(runs / "g0").count, siblings_of(runs / "g0").scored) == (2, 1)
    assert siblings_of(runs / "p").said == "no other runs beside it"


def test_the_bundle_names_them_and_the_leaderboard_shows_them(runs: Path, command: "Command") -> None:
    (runs.parent / "b").mkdir()
    for name in ("g0", "p"):
        done = command("bundle", name, "-o", str(runs.parent / "b" / f"{name}.zip"))
        assert done.exit_code == 0, done.err
        assert "this proves nothing about runs elsewhere" in done.output
    with zipfile.ZipFile(runs.parent / "b" / "g0.zip") as archive:
        assert json.loads(archive.read(f"g0/{FILE}"))["count"] == 2
    done = command("leaderboard", "build", "b", "-o", "site")
    assert done.exit_code == 0, done.err
    data = json.loads((runs.parent / "site" / "leaderboard.json").read_text("utf-8"))
    said = {
        entry["bundle"]: entry["siblings"]["count"] for board in data["boards"] for entry in board["entries"]
    }
    assert said == {"g0.zip": 2, "p.zip": 0}
    pages = "".join(path.read_text("utf-8") for path in (runs.parent / "site").glob("*.html"))
    assert "2 other runs beside it" in pages
    assert "no other runs beside it" in pages


@pytest.mark.parametrize(
    "content", ["{}", "5", '{"count": -1, "scored": 0, "best": null, "mean": null}', "{"]
)
def test_what_has_no_sense_is_refused(tmp_path: Path, content: str) -> None:
    assert read_siblings(tmp_path) is None
    (tmp_path / FILE).write_text(content, "utf-8")
    with pytest.raises(NotVerified, match="does not say how many runs"):
        read_siblings(tmp_path)
