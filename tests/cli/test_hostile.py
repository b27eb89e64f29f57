"""No file and no answer causes an unexpected error; the command line would still catch one."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from perf.hostile.__main__ import siege

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


def test_hostile_inputs_are_survived() -> None:
    tally = siege(60, seed=1)
    assert tally.fallen == []
    assert tally.tried.total() == 60


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_two_thousand_hostile_inputs_are_survived() -> None:
    assert siege(2000, seed=2).fallen == []


UNEXPECTED = (RecursionError("x"), MemoryError(), OverflowError("too large"), AttributeError("y\x1b"))


@pytest.mark.parametrize("error", UNEXPECTED, ids=ascii)
def test_unexpected_errors_are_one_line_that_names_the_file(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.chdir(tmp_path)
    run = tmp_path / "reports" / "r"
    run.mkdir(parents=True)
    (run / "events.jsonl").write_bytes(b'{"event":"manifest","format":1}\n')

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("ltm_bench.log.reader.Manifest.model_validate", fail)
    done = command("report", "r")
    assert done.exit_code == 1
    assert done.err.count("\n") == 1
    assert type(error).__name__ in done.err
    assert "events.jsonl was read last" in done.err
    assert "\x1b" not in done.err
    assert "Traceback" not in done.output
