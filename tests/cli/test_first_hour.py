"""What a person meets in the first hour: hints that work, errors in the words that were typed, programs as they are."""

import importlib.metadata
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.cli.app import known
from ltm_bench.core.extras import pip
from ltm_bench.plugins.files import find, load
from ltm_bench.report.paper_table import FORMS
from tests.markdown import blocks

if TYPE_CHECKING:
    from tests.conftest import Command

ROOT = Path(__file__).parents[2]
SHORT = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_a_table_for_a_paper_is_written_where_it_is_asked(place: Path, command: "Command", form: str) -> None:
    assert command(*SHORT, "--agent", "goldfish").exit_code == 0
    printed = command("compare", "r", "--format", form).out
    done = command("compare", "r", "--format", form, "-o", "table.txt")
    assert done.exit_code == 0
    assert (place / "table.txt").read_text("utf-8") == printed
    assert printed not in done.out


@pytest.mark.parametrize("name", sorted(known()))
def test_a_command_with_a_typing_error_names_the_one_that_was_meant(command: "Command", name: str) -> None:
    typed = name + name[-1]
    done = command(typed)
    assert done.exit_code == 1
    if name in done.err.replace(typed, ""):
        return
    # another command may be as near, or the one that was meant be shown under another name
    assert "did you mean" in done.err or name in ("filler", "import", "infinitebench", "swim")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ndef bot(m):\n    return (\n", ":3"),
        ("x = 1\nimport nothing_of_this_name\n", ":2"),
        ("y = x\n", ":1"),
        ("import sys\nsys.exit(3)\n", ":2"),
        ("raise BaseException('no')\n", ":1"),
    ],
)
def test_a_module_that_cannot_be_imported_is_named_with_its_line(
    place: Path, command: "Command", text: str, said: str
) -> None:
    (place / "first_bot.py").write_text(text, "utf-8")
    for words in (SHORT, ("doctor",)):
        done = command(*words, "--agent", "python:first_bot:bot")
        assert done.exit_code == 1
        shown = " ".join(done.output.split())
        assert "first_bot cannot be imported: " in shown
        assert f"first_bot.py{said})" in shown
        assert "function.py" not in shown
    assert not (place / "reports").exists()


PLAIN = "import sys\nfor line in sys.stdin:\n    print('You said', line.strip(), flush=True)\n"


def test_a_program_that_speaks_plain_text_needs_no_wrapper(place: Path, command: "Command") -> None:
    (place / "plain.py").write_text(PLAIN, "utf-8")
    plain = ("--agent", "command", "-A", f"command={sys.executable} plain.py")
    done = command("doctor", *plain)
    assert done.exit_code == 1
    assert "talk=text is for programs that speak plain text" in " ".join(done.out.split())
    assert command("doctor", *plain, "-A", "talk=text").exit_code == 0
    assert command(*SHORT, *plain, "-A", "talk=text").exit_code == 0
    log = (place / "reports" / "r" / "events.jsonl").read_text("utf-8")
    assert '"reply":"You said ' in log
    assert "leave out observe and fork" in command(*SHORT, *plain, "-A", "talk=text", "-A", "fork=true").err


KEY = st.sampled_from(["input", "text", "a", "0", "1", "2"])
BODY = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3),
    max_leaves=6,
)


@given(body=BODY, path=st.lists(KEY, min_size=1, max_size=4))
def test_what_is_put_at_a_path_is_got_there_and_all_else_stays(body: Any, path: list[str]) -> None:
    http: Any = load(find("agents", "http"))
    made = http._put(body, path, "said")
    places = [str(place) for place in path]
    found = made
    for key in places:  # a place beyond a list's end is its last one
        found = found[min(int(key), len(found) - 1)] if isinstance(found, list) else found[key]
    assert found == "said"
    if isinstance(body, dict):
        assert {key: each for key, each in made.items() if key != path[0]} == {
            key: each for key, each in body.items() if key != path[0]
        }
    if isinstance(body, list) and path[0].isdecimal():
        place = min(int(path[0]), len(body))
        assert (made[:place], made[place + 1 :]) == (body[:place], body[place + 1 :])


def test_a_path_leads_into_lists() -> None:
    http: Any = load(find("agents", "http"))
    extra = {"messages": [{"role": "user"}]}
    assert http._put(extra, ["messages", "0", "content"], "Hello") == {
        "messages": [{"role": "user", "content": "Hello"}]
    }
    assert http._put({}, ["messages", "0", "content"], "Hello") == {"messages": [{"content": "Hello"}]}


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'ltm-bench[plot]'"),
        ("not JSON", "pip install 'ltm-bench[plot]'"),
        (
            '{"url": "file:///a/b%20c", "dir_info": {"editable": true}}',
            "pip install -e '/a/b c[plot]'",
        ),
        ('{"url": "file:///a/b", "dir_info": {}}', "pip install 'ltm-bench[plot] @ file:///a/b'"),
        (
            '{"url": "https://host/x", "vcs_info": {"vcs": "git", "commit_id": "1a2b"}}',
            "pip install 'ltm-bench[plot] @ git+https://host/x@1a2b'",
        ),
    ],
)
def test_a_hint_installs_from_where_the_program_came(
    monkeypatch: pytest.MonkeyPatch, origin: str | None, command: str
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            return origin

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed())
    assert pip("plot") == command


WITHOUT = """
import sys
from importlib.metadata import packages_distributions

LEFT_OUT = set(sys.argv.pop(1).split(","))
ABSENT = {module for module, names in packages_distributions().items() if {n.lower() for n in names} <= LEFT_OUT}


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(name)


sys.meta_path.insert(0, Absent())
sys.argv[0] = "ltm-bench"
from ltm_bench.__main__ import main

main()
"""


@pytest.mark.parametrize(
    "words", [(*SHORT, "--agent", "vector_memory"), ("list", "agents"), ("doctor",)], ids=" ".join
)
def test_what_the_smaller_installation_leaves_out_is_never_imported(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    [listed] = [each.text for each in blocks(ROOT / "docs" / "start.md") if each.file == "overrides.txt"]
    names = [line.partition(" ;")[0] for line in listed.splitlines()]
    required = {re.split("[^a-z0-9-]", each)[0] for each in importlib.metadata.requires("chromadb") or ()}
    assert {*names} <= required
    ours = {
        re.split("[^a-z0-9-]", each)[0]
        for each in importlib.metadata.requires("ltm-bench") or ()
        if "extra ==" not in each
    }
    assert not {*names} & ours
    program = [sys.executable, "-c", WITHOUT, ",".join(names), *words]
    done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "typed",
    [
        "python:{}:Bot",
        "python:{}.py:Bot",
        "{}.py:Bot",
        "./{}.py:Bot",
        "python:bots/{}.py:Bot",
        "bots/{}.py:Bot",
    ],
)
def test_an_agent_in_a_file_is_found_however_its_file_is_typed(
    place: Path, command: "Command", typed: str
) -> None:
    bot = "class Bot:\n    def __call__(self, message):\n        return 'Hello.'\n"
    name = "typed_" + "".join(filter(str.isalpha, typed))
    (place / "bots").mkdir()
    (place / ("bots" if "bots" in typed else ".") / f"{name}.py").write_text(bot, "utf-8")
    assert command(*SHORT, "--agent", typed.format(name)).exit_code == 0


def test_a_file_whose_class_is_no_adapter_says_how_it_is_named(place: Path, command: "Command") -> None:
    (place / "some_bot.py").write_text(
        "class Bot:\n    def __call__(self, message):\n        return ''\n", "utf-8"
    )
    assert "python:some_bot:NAME" in command(*SHORT, "--agent", "some_bot.py").err
