"""Only the named file is executed; files beside it are read at most."""

import json
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.plugins.files import content_hash

if TYPE_CHECKING:
    from tests.conftest import Command

TRAP = '"""Trap."""\nfrom pathlib import Path\nPath("sprung").open("a").write(__file__ + "\\n")\n'
SCENARIO = '''"""Named."""
from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

@scenario(skills={"recall"})
def named(dice: Dice) -> Script:
    yield Tell("My colour is red.", at=0.0)
    yield Ask("Which is my colour?", expect=names_only("red", among=("red", "blue")), at=1.0)
'''
RUN = ("run", "--span", "2k", "--agent", "perfect", "--scenario", "colours", "--examples", "1", "--name", "r")
AGENT = '"""Named."""\ndef agent(message: str) -> str:\n    return "red"\n'


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    for folder in ("scenarios", "agents", "configs", "reports"):
        (tmp_path / folder).mkdir()
        for name in (
            "trap.py",
            "conftest.py",
            "sitecustomize.py",
            "usercustomize.py",
            "__init__.py",
            "json.py",
        ):
            (tmp_path / folder / name).write_text(TRAP, "utf-8")
            (tmp_path / name).write_text(TRAP, "utf-8")
    (tmp_path / "scenarios" / "named.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "named.py").write_text(AGENT, "utf-8")
    (tmp_path / "configs" / "mine.toml").write_text("[scenarios.named]\n", "utf-8")
    return tmp_path


@pytest.mark.usefixtures("quick_check")
def test_files_beside_the_named_one_are_not_executed(command: "Command", place: Path) -> None:
    run = ("run", "--span", "2k", "--agent", "named", "--suite", "mine", "--examples", "1", "--name", "r")
    for words in (
        ("list", "scenarios"),
        ("list", "agents"),
        ("list", "suites"),
        ("check", "scenarios/named.py"),
        ("check", "agents/named.py"),
        ("estimate", "--span", "2k", "--suite", "mine", "--agent", "gpt-4o"),
        ("doctor", "--agent", "named"),
        run,
        ("resume", "r"),
        ("report", "r"),
        ("rescore", "r"),
        ("show", "r"),
        ("compare", "r"),
        ("verify", "r"),
        ("export", "r"),
        ("bundle", "r"),
        ("list", "runs"),
    ):
        done = command(*words)
        assert done.exit_code == 0, (words, done.err)
        sprung = (place / "sprung").read_text("utf-8") if (place / "sprung").exists() else ""
        assert (words, sprung) == (words, "")


def test_a_foreign_log_makes_no_file_run(command: "Command", place: Path) -> None:
    assert command(*RUN).exit_code == 0
    path = place / "reports" / "r" / "events.jsonl"
    first, _, rest = path.read_text("utf-8").partition("\n")
    manifest = json.loads(first)
    manifest["suite"]["scenarios"][0]["scenario"] = "reports/trap.py"
    path.write_text(f"{json.dumps(manifest)}\n{rest}", "utf-8")
    for words in (
        ("rescore", "r"),
        ("report", "r"),
        ("show", "r"),
        ("compare", "r"),
        ("verify", "r"),
        ("export", "r"),
    ):
        assert command(*words).exit_code == 0, words
    assert not (place / "sprung").exists()


def test_resume_executes_no_file_that_only_the_log_names(command: "Command", place: Path) -> None:
    assert command(*RUN).exit_code == 0
    path = place / "reports" / "r" / "events.jsonl"
    first, _, rest = path.read_text("utf-8").partition("\n")
    manifest = json.loads(first)
    for hash in (manifest["suite"]["scenarios"][0]["hash"], content_hash(place / "reports" / "trap.py")):
        manifest["suite"]["scenarios"][0] |= {"scenario": "reports/trap.py", "hash": hash}
        path.write_text(f"{json.dumps(manifest)}\n{rest[:2000]}", "utf-8")
        done = command("resume", "r")
        assert (done.exit_code, "reports/trap.py: a log names this file" in done.err) == (1, True), done.err
        assert not (place / "sprung").exists()


def test_a_scenario_that_has_changed_since_is_described_but_not_executed(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("run", "--span", "2k", "--agent", "perfect", "--suite", "mine", "--examples", "1", "--name", "r")
    assert command(*run).exit_code == 0
    changed = SCENARIO.replace("Named.", "Renamed.") + 'from pathlib import Path\nPath("sprung").touch()\n'
    (place / "scenarios" / "named.py").write_text(changed, "utf-8")
    monkeypatch.delitem(sys.modules, "ltm_bench._bundled.scenarios.named")  # as in a process of its own
    path = place / "reports" / "r" / "events.jsonl"
    whole = path.read_bytes()
    for words in (
        ("verify", "r"),
        ("rescore", "r"),
        ("report", "r"),
        ("show", "r"),
        ("compare", "r"),
        ("bundle", "r"),
    ):
        assert (words, command(*words).exit_code) == (words, 0)
    results = json.loads((place / "reports" / "r" / "results.json").read_bytes())
    assert [(s["summary"], s["skills"]) for s in results["scenarios"]] == [("Renamed.", ["recall"])]
    path.write_bytes(whole[:2000])
    done = command("resume", "r")
    assert (done.exit_code, "the file of the scenario named has changed" in done.err) == (1, True), done.err
    assert not (place / "sprung").exists()


def test_a_bundle_is_unpacked_and_nothing_in_it_is_executed(command: "Command", place: Path) -> None:
    assert command(*RUN).exit_code == 0
    assert command("bundle", "r", "-o", "r.zip").exit_code == 0
    with zipfile.ZipFile("r.zip", "a") as bundle:
        bundle.writestr("r/scenarios/colours.py", TRAP)
    done = command("verify", "r.zip")
    assert (done.exit_code, "scenarios/colours.py is missing, or not in" in done.err) == (1, True)
    assert not (place / "sprung").exists()
