"""`new scenario --from`: turns marked by options, or in an editor, become a scenario that passes the check."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.cli.commands.new import marks_in
from ltm_bench.core.errors import ConfigError
from ltm_bench.script.drafts import Asked, Marks

if TYPE_CHECKING:
    from tests.conftest import Command

TALK = [
    ("user", "My sister lives in Lima."),
    ("assistant", "Nice."),
    ("user", "She has moved to Ghent.\x1b[2J"),
    ("assistant", "Good for her!"),
    ("user", "Where does my sister live? Name the town."),
    ("assistant", "She lives in Lima."),
]

pytestmark = [pytest.mark.usefixtures("quick_check"), pytest.mark.proof(files=("agents/*.*", "configs/*.*"))]

FROM = ("new", "scenario", "wrong_town", "--from", "chat.json")
MARKED = ("--told", "0", "--told", "1", "--asked", "2", "--right", "Ghent", "--wrong", "Lima")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a transcript, and no editor."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    messages = [{"role": role, "content": text} for role, text in TALK]
    (tmp_path / "chat.json").write_text(json.dumps(messages), "utf-8")
    return tmp_path


def edit_with(monkeypatch: pytest.MonkeyPatch, place: Path, code: str) -> None:
    """Let an editor be a program that changes `text`; `round` counts how often it has been opened."""
    program = place / "editor.py"
    program.write_text(
        "import sys\nfrom pathlib import Path\n"
        f"seen = Path({str(place / 'seen')!r})\nseen.mkdir(exist_ok=True)\nround = len(list(seen.iterdir()))\n"
        "path = Path(sys.argv[1])\ntext = path.read_text('utf-8')\n(seen / str(round)).write_text(text, 'utf-8')\n"
        f"{code}\npath.write_text(text, 'utf-8')\n",
        "utf-8",
    )
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(program)]))


GOOD = (
    "text = text.replace('skip 0', 'told 0').replace('skip 1', 't 1')"
    ".replace('skip 2', 'asked 2').rstrip() + '\\nright Ghent\\nw Lima\\n'"
)


def test_turns_marked_by_options_become_a_scenario_that_runs(command: "Command", place: Path) -> None:
    done = command(*FROM, *MARKED)
    assert done.exit_code == 0, done.output
    assert "turn 2: the transcript's own reply is stale: the reply says Lima, expected Ghent" in done.out
    assert "--span 2k" in done.out
    run = command("run", "--span", "2k", "--scenario", "wrong_town", "--agent", "perfect", "--examples", "1")
    assert run.exit_code == 0, run.output
    assert "1.00 / 1" in run.out


def test_turns_marked_in_an_editor_become_the_same_scenario(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*FROM, *MARKED).exit_code == 0
    by_options = (place / "scenarios" / "wrong_town.toml").read_text("utf-8")
    edit_with(monkeypatch, place, GOOD)
    assert command("new", "scenario", "same", "--from", "chat.json").exit_code == 0
    assert (place / "scenarios" / "same.toml").read_text("utf-8") == by_options
    shown = (place / "seen" / "0").read_text("utf-8")
    assert "skip 1  She has moved to Ghent.␛[2J\n#      Good for her!" in shown


def test_an_error_is_shown_in_the_editor_and_nothing_typed_is_lost(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit_with(
        monkeypatch,
        place,
        f"if round:\n    text = text.replace('tould', 'told')\nelse:\n    {GOOD}\n"
        "    text = text.replace('told 0', 'tould 0')",
    )
    done = command(*FROM)
    assert done.exit_code == 0, done.output
    again = (place / "seen" / "1").read_text("utf-8")
    assert again.startswith(
        "# line 12: 'tould' is none of skip, told, asked, right, wrong; did you mean 'told'?"
    )
    assert "tould 0  My sister" in again


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("", "nothing is marked; nothing is written"),
        ("text = ''", "nothing is marked; nothing is written"),
        ("text = text.replace('skip 0', 'told 0')", "no turn is marked as asked"),
        ("sys.exit(3)", "ended with 3; nothing is written"),
    ],
)
def test_an_editor_that_marks_nothing_usable_ends_in_one_line(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch, code: str, says: str
) -> None:
    edit_with(monkeypatch, place, code)
    done = command(*FROM)
    assert (done.exit_code, len(done.err.splitlines())) == (1, 1)
    assert says in done.err
    assert not (place / "scenarios").exists()


def test_a_run_is_a_transcript_whose_turns_keep_their_numbers(command: "Command", place: Path) -> None:
    line = ("run", "--span", "2k", "--agent", "goldfish", "--scenario", "colours", "--examples", "1")
    assert command(*line, "--name", "mine").exit_code == 0
    told, *_, asked = re.findall(r"turn (\d+) · .* · colours/0", command("show", "mine").out)
    for name, source in (("a", "mine"), ("b", "reports/mine/events.jsonl")):
        marks = ("--told", told, "--asked", asked, "--right", "Ghent")
        done = command("new", "scenario", name, "--from", source, *marks)
        assert done.exit_code == 0, done.output
        assert f"turn {asked}: the transcript's own reply is" in done.out


def test_marks_are_read_as_they_are_written() -> None:
    text = "# x\n\nt 3 Hi\n skip 4\nasked 9 Where?\nright New York\nwrong  Lima \nr b\na 10\n"
    assert marks_in(text) == Marks([3], [Asked(9, ["New York", "b"], ["Lima"]), Asked(10, [], [])])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("told", "line 1: told : the number of a turn is missing"),
        ("told x", "line 1: told x: the number of a turn is missing"),
        ("told ²", "the number of a turn is missing"),
        ("right Ghent", "line 1: right belongs below the turn that is asked"),
        ("# a\npick 3", "line 2: 'pick' is none of"),
    ],
)
def test_a_mark_that_cannot_be_read_is_named_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        marks_in(text)
