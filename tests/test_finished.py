"""Runs that tests share are made once, and nobody writes to them."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.finished import Finished, changed, digest
    from tests.keeping import Watching
else:
    from finished import Finished, changed, digest
    from keeping import Watching


def test_a_run_is_made_once_and_a_copy_may_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = Finished(tmp_path / "finished")
    made = finished("goldfish", suite="smoke")
    before = (made / "events.jsonl").stat().st_mtime_ns
    assert finished("goldfish", suite="smoke") == made
    assert (made / "events.jsonl").stat().st_mtime_ns == before
    assert not (made / "events.jsonl").stat().st_mode & 0o222
    copy = finished.copy(tmp_path / "copy", "goldfish", suite="smoke")
    assert digest(copy) == digest(made)
    (copy / "events.jsonl").write_text("", "utf-8")
    assert list(changed(tmp_path / "finished")) == []


def test_what_went_into_a_run_counts_as_opened_by_whoever_reads_it(tmp_path: Path) -> None:
    finished = Finished(tmp_path / "finished")
    (used := tmp_path / "finished" / "smoke-2k-goldfish.opened").parent.mkdir()
    used.with_suffix(".sha256").write_text("", "utf-8")  # made by another process
    used.write_text(f"{__file__}\n", "utf-8")
    with Watching() as opened:
        finished("goldfish", suite="smoke")
    assert Path(__file__) in opened


def test_a_run_that_was_written_to_is_named(tmp_path: Path) -> None:
    finished = Finished(tmp_path / "finished")
    page = finished("goldfish", suite="smoke") / "report.html"
    page.chmod(0o644)
    page.write_text("changed", "utf-8")
    assert list(changed(tmp_path / "finished")) == ["smoke-2k-goldfish"]
