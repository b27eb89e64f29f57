"""No answer of a provider causes an unexpected error; the command line would still catch one.

`test_file_attacks.py` tries files.
"""

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from tests.cli.test_file_attacks import SPOILT

if TYPE_CHECKING:
    from tests.attacks import complaint
    from tests.conftest import Command
else:
    from attacks import complaint

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

WAYS = [way for way in SPOILT if way.startswith(("another", "a value", "a surplus", "one name"))]
"""After which an answer is still JSON."""


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses", "anthropic_chat"])
@pytest.mark.parametrize("way", WAYS)
def test_no_damage_to_an_answer_is_more_than_a_failure(
    name: str,
    way: str,
    server: Provider,
    command: "Command",
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    dice = random.Random(f"{name} {way}")

    def spoilt(body: dict[str, Any]) -> Any:
        return json.loads(SPOILT[way](json.dumps(body).encode(), dice))

    server.edit = spoilt
    url = server.url if name == "anthropic_chat" else server.openai_url
    settings = ("-A", "model=m", "-A", "max_retries=0", "-A", "timeout=5", "--base-url", url)
    words = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")
    for _ in range(4):
        done = command(*words, "--agent", name, *settings, "--fresh")
        assert complaint(done.exit_code, done.out, done.err) == ""


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
