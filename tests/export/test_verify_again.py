"""`verify` of a run whose questions were asked again: its controls and its rungs are checked as it is itself."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import run

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of reports with a run whose questions were asked again in every way."""
    reports = tmp_path_factory.mktemp("asked") / "reports"
    again: Any = {"controls": ["blind", "evidence", "near"], "ladder": True}
    run(agent="goldfish", span="2k", scenarios=["colours"], examples=2, name="r", reports=reports, **again)
    return reports


@pytest.fixture(autouse=True)
def reports(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(asked, tmp_path / "reports")
    return tmp_path / "reports"


def _log(folder: Path) -> Path:
    return min((folder / "isolated").glob("*.jsonl"))


def _other_reply(folder: Path) -> None:
    """Change a reply and keep the number of its tokens."""
    text = _log(folder).read_text("utf-8")
    changed = re.sub(r'("reply":")I ', r"\1U ", text)
    assert changed != text
    _log(folder).write_text(changed, "utf-8")


def _longer_reply(folder: Path) -> None:
    text = _log(folder).read_text("utf-8")
    _log(folder).write_text(text.replace('"reply":"', '"reply":"Well, well, ', 1), "utf-8")


def _other_seed(folder: Path) -> None:
    path = folder / "events.jsonl"
    path.write_text(path.read_text("utf-8").replace('"seed":0', '"seed":7', 1), "utf-8")


def _junk(name: str, content: str) -> Callable[[Path], object]:
    def damage(folder: Path) -> None:
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(content)

    return damage


DAMAGE: dict[str, Callable[[Path], object]] = {
    "another reply": _other_reply,
    "a longer reply": _longer_reply,
    "another seed": _other_seed,
    "no conversation": lambda folder: _log(folder).unlink(),
    "a conversation of nobody": lambda folder: shutil.copy(
        _log(folder), folder / "isolated" / "zebra-0-3.jsonl"
    ),
    "junk in a conversation": lambda folder: _log(folder).write_text("junk\n", "utf-8"),
    "junk in the log": _junk("events.jsonl", "junk\n"),
    "junk in the calls": _junk("calls.jsonl", "junk\n"),
    "a call that pays": _junk("calls.jsonl", '{"ending": "stop", "dollars": -1}\n'),
    "a usage of nothing": _junk("calls.jsonl", '{"ending": "stop", "usage": {"output": 1.5}}\n'),
    "junk in the timings": _junk("timings.jsonl", "[]\n"),
    "junk in the scope": lambda folder: (folder / "scope.json").write_text("[]", "utf-8"),
    "no scope": lambda folder: (folder / "scope.json").unlink(),
    "a folder of nobody": lambda folder: folder.with_name("junk").mkdir(),
    "a file of nobody": lambda folder: folder.with_name("junk.jsonl").write_text("{}", "utf-8"),
    "results of nobody": _junk("results.json", "{}"),
}


def test_a_run_with_controls_and_rungs_agrees_also_once_these_are_scored_by_themselves(
    command: "Command",
) -> None:
    for words in ((), ("report", "r.blind"), ("rescore", "r.cued"), ("report", "r")):
        assert not words or command(*words).exit_code == 0
        done = command("verify", "r")
        assert done.exit_code == 0, done.err


@pytest.mark.parametrize("folder", ["controls/blind", "controls/near", "rungs/again"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_whatever_is_wrong_with_a_control_or_a_rung_is_found(
    command: "Command", reports: Path, folder: str, damage: Callable[[Path], object]
) -> None:
    place = reports / "r" / folder
    damage(place)
    done = command("verify", "r")
    assert done.exit_code == 1, done.output
    assert len(done.err.strip().splitlines()) == 1
    said = " ".join(done.err.split())
    assert "is a bug" not in said
    assert any(each in said for each in (place.name, folder.partition("/")[0])), said


def test_results_that_state_another_reply_to_a_question_asked_again_do_not_agree(
    command: "Command", reports: Path
) -> None:
    path = reports / "r" / "results.json"
    results = json.loads(path.read_text("utf-8"))
    for example in results["examples"]:
        for question in example["questions"]:
            question["ladder"]["retold"]["reply"] = "Blue."
    path.write_text(json.dumps(results), "utf-8")
    done = command("verify", "r")
    assert done.exit_code == 1
    assert "its reply when it was asked again (retold) in results.json is not that of the log" in " ".join(
        done.err.split()
    )


def test_a_run_whose_controls_are_of_an_earlier_release_agrees(command: "Command", reports: Path) -> None:
    old = Path(__file__).parents[1] / "frozen" / "v0_4_0" / "asked_again"
    shutil.copytree(old, reports / "old", copy_function=shutil.copyfile)
    assert command("rescore", "old").exit_code == 0
    done = command("verify", "old")
    assert done.exit_code == 0, done.err
    log = next((reports / "old" / "controls" / "blind" / "isolated").glob("*.jsonl"))
    log.write_bytes(log.read_bytes().replace(b'"reply":"', b'"reply":"Well, '))
    done = command("verify", "old")
    assert done.exit_code == 1
    assert "its reply when it was asked again (blind)" in " ".join(done.err.split())
