"""What a user types, and what the command answers."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from ltm_bench.cli.app import MOVED, app, known
from tests.finished import copied

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.finished import Finished

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(one: Any = None, name: str = "") -> Iterator[tuple[str, Any]]:
    one = one or typer.main.get_command(app)
    if hasattr(one, "list_commands"):
        for sub in one.list_commands(None):
            yield from commands(one.get_command(None, sub), f"{name} {sub}".strip())
    else:
        yield name, one


def test_every_option_has_help_and_an_environment_variable() -> None:
    found = list(commands())
    assert len(found) >= 11
    for name, each in found:
        assert each.help, name
        for parameter in each.params:
            assert parameter.help, f"{name} {parameter.name}"
            # A variable of ours can protect a run more, never less.
            bare = parameter.name in ("help", "without", "gateway_env")
            if parameter.param_type_name == "option" and not bare:
                variables = parameter.envvar if isinstance(parameter.envvar, list) else [parameter.envvar]
                assert all(str(each).startswith("LTM_BENCH_") for each in variables), (
                    f"{name} {parameter.name}"
                )


def test_help_groups_the_commands_and_begins_with_the_one_that_matters(command: "Command") -> None:
    shown = re.findall(r"^  ([a-z][a-z-]*)  +[A-Z]", command("--help").out, re.MULTILINE)
    assert shown[:6] == ["run", "resume", "sweep", "view", "show", "compare"]
    assert shown[6:11] == ["new", "check", "doctor", "estimate", "list"]
    assert shown[11:] == sorted(shown[11:])
    assert set(shown) | set(MOVED) == set(known())


@pytest.mark.parametrize("name", MOVED)
def test_a_command_of_datasets_works_under_its_old_name_which_is_not_shown(
    command: "Command", name: str
) -> None:
    assert f"\n  {name} " not in command("--help").out
    assert f"\n  {name} " in command("datasets", "--help").out
    old, new = (command(*words, name, "--help") for words in ((), ("datasets",)))
    assert (old.exit_code, new.exit_code) == (0, 0)
    assert old.out.partition("\n")[2] == new.out.partition("\n")[2]


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_explains_itself(command: "Command", name: str) -> None:
    done = command(*name.split(), "--help")
    assert done.exit_code == 0
    assert f"Usage: ltm-bench {name}" in done.out
    assert name.startswith("list") or f"Examples:\n    ltm-bench {name}" in done.out
    named = re.sub(
        r"(FILE|FOLDER|BUNDLE) <path>|[A-Z.|]+ <list\[(Path|str)\]>|NAME <str>|(RUN|PLACE|FOLDER)\]? <str>",
        "",
        done.out,
    )
    assert "<" not in named  # every value has a name


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["run", "--agent", "gpt-4p"], "unknown agent 'gpt-4p'; did you mean 'gpt-4o'?"),
        (["run", "--suite", "standart"], "unknown suite 'standart'; did you mean 'standard'?"),
        (["run", "--scenario", "colors"], "no scenario is called 'colors'; did you mean 'colours'?"),
        (["run", "--span", "32x"], "32x"),
        (["run", "--span", "0"], "0"),
        (["run", "--span", "100"], "a span of 100 tokens is too small for scenario"),
        (["run", "--agent", "perfect", "-A", "x=1"], "agent perfect: no setting 'x'"),
        (["run", "--agent", "openai_chat", "-A", "modl=x"], "no setting 'modl'; did you mean 'model'?"),
        (["run", "--agent", "openai_chat"], "the setting 'model' is required; add -A model=…"),
        (["run", "-A", "x"], "-A x: write it as key=value"),
        (["run", "--agent", "openai_chat", "-A", "api_key=x"], "looks like a secret"),
        (["run", "--filler", "books"], "--filler books: must be scripted, live, triviaqa:PATH"),
        (["run", "--filler", "triviaqa:nowhere.json"], "nowhere.json"),
        (["run", "--tokenizer", "cl100k"], "--tokenizer cl100k: unknown encoding"),
        (["run", "--name", "../x"], "--name ../x: use letters"),
        (["run", "--max-cost", "much"], "--max-cost much: write US dollars"),
        (["run", "--max-cost", "-1"], "--max-cost -1: write US dollars"),
        (["run", "--max-cost", "nan"], "--max-cost nan: write US dollars"),
        (["run", "--fail-under", "nan"], "--fail-under nan: write a score such as 3.5"),
        (["run", "--fail-under", "80%"], "--fail-under 80%: write a score such as 3.5"),
        (["run", "--seed", "x"], "--seed x: write a whole number"),
        (["run", "--examples", "1.5"], "--examples 1.5: write a whole number"),
        (["run", "--span"], "Option '--span' requires an argument. (see ltm-bench --help)"),
        (["run", "--examples", "0"], "--examples 0: write a whole number, 1 or more"),
        (["run", "--sapn", "2k"], "No such option"),
        (["rum"], "No such command"),
        (["resume"], "there is no run in"),
        (["resume", "x"], "no run is called 'x'"),
        (["show", "x"], "no run is called 'x'"),
        (["check", "x.py"], "x.py: there is no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_reported_in_one_line(command: "Command", words: list[str], complaint: str) -> None:
    done = command(*words)
    assert done.exit_code == 1
    assert done.err.startswith("ltm-bench: ")
    assert done.err.count("\n") == 1
    assert complaint in done.err
    assert "Traceback" not in done.output


def test_a_variable_replaces_its_option(
    command: "Command", monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    for name, value in {
        "SPAN": "2k",
        "AGENT": "goldfish",
        "SUITE": "smoke",
        "NAME": "v",
        "SEED": "5",
    }.items():
        monkeypatch.setenv(f"LTM_BENCH_{name}", value)
    assert command("run").exit_code == 0
    manifest = json.loads((place / "reports" / "v" / "events.jsonl").read_text("utf-8").splitlines()[0])
    assert (manifest["span"], manifest["agent"]["name"], manifest["seed"]) == (2000, "goldfish", 5)


def test_a_variable_holds_several_values_separated_by_spaces(
    command: "Command", monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    monkeypatch.setenv("LTM_BENCH_SCENARIO", "colours jokes")
    monkeypatch.setenv("LTM_BENCH_FAIL_UNDER", "1.5")
    monkeypatch.setenv("LTM_BENCH_EXAMPLES", "2")
    monkeypatch.setenv("LTM_BENCH_ISOLATED", "1")
    done = command("run", "--span", "2k", "--agent", "perfect", "--name", "v")
    assert done.exit_code == 0
    assert "4/4 examples · score so far 2.00/2" in done.err
    monkeypatch.setenv("LTM_BENCH_SEED", "x")
    assert (
        command("run").err == "ltm-bench: --seed x: write a whole number, or train:17 for a training seed\n"
    )
    monkeypatch.delenv("LTM_BENCH_SEED")
    monkeypatch.setenv("LTM_BENCH_ISOLATED", "maybe")
    assert command("run").err.endswith("unable to interpret input: 'maybe' (see ltm-bench run --help)\n")


def test_off_a_terminal_progress_is_plain_lines(command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "perfect", "--suite", "smoke")
    assert "\x1b" not in done.out + done.err
    assert "examples · score so far 11.00/11 · free" in done.err
    assert "11.00 / 11" in done.output
    assert "page: reports/" in done.out


@pytest.fixture
def ran(finished: "Finished", place: Path) -> str:
    """The name of a finished run, which its page shows: a copy that may be written to."""
    run = finished("perfect", suite="smoke")
    return copied(run, place / "reports" / run.name).name


def test_what_others_wrote_is_printed_unchanged(command: "Command", place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "mine.py").write_text('"""Says :smile: and [bold]."""', "utf-8")
    for words in (("list", "agents"), ("list", "agents", "--json")):
        assert "Says :smile: and [bold]." in command(*words).out


def test_the_list_says_which_agents_keep_users_apart(command: "Command", place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "mine.py").write_text('"""Mine, of which nobody has said it."""', "utf-8")
    rows = {row["name"]: row["users"] for row in json.loads(command("list", "agents", "--json").out)}
    names = ("vector_memory", "openai_chat", "mcp", "mine")
    assert [rows[name] for name in names] == ["apart", "together", "by settings", ""]


def test_show_prints_a_transcript_or_one_example_of_it(command: "Command", ran: str) -> None:
    everything = command("show", ran).out
    one = command("show", ran, "--example", "colours/0").out
    assert "favourite colour" in one
    assert len(one) < len(everything) / 3
    assert "filler" not in one
    assert command("show", ran, "--example", "colours/7").exit_code == 1


def test_rescore_says_what_changed(command: "Command", ran: str, place: Path) -> None:
    done = command("rescore", ran)
    assert done.exit_code == 0
    assert "11.00 / 11" in done.output
    results = place / "reports" / ran / "results.json"
    before = results.read_bytes()
    results.unlink()
    assert command("rescore", ran).exit_code == 0
    assert results.read_bytes() == before


def test_report_rewrites_the_page(command: "Command", ran: str, place: Path) -> None:
    page = place / "reports" / ran / "report.html"
    before = page.read_bytes()
    page.unlink()
    assert command("report", ran).exit_code == 0
    assert page.read_bytes() == before


def test_a_run_without_its_scenario_can_still_be_reported(command: "Command", place: Path) -> None:
    (place / "scenarios").mkdir()
    own = place / "scenarios" / "mine.py"
    own.write_text(SCENARIO, "utf-8")
    assert (
        command("run", "--span", "2k", "--agent", "perfect", "--scenario", "mine", "--name", "m").exit_code
        == 0
    )
    own.unlink()
    assert command("report", "m").exit_code == 0


@pytest.mark.parametrize("what", ["agents", "scenarios", "suites", "runs"])
def test_lists_have_a_form_for_people_and_one_for_programs(command: "Command", ran: str, what: str) -> None:
    rows = json.loads(command("list", what, "--json").out)
    assert rows
    plain = command("list", what).output
    assert all(str(row["name"])[:20] in plain for row in rows)


SCENARIO = '''"""Mine: a word."""
from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

@scenario(skills={"recall"})
def mine(dice: Dice) -> Script:
    word = dice.choice(("otter", "badger", "weasel"))
    yield Tell(f"The word is {word}.", at=0.0)
    yield Ask("Which word was it?", expect=names_only(word, among=("otter", "badger", "weasel")), at=1.0)
'''


@pytest.mark.usefixtures("quick_check")
def test_check_passes_a_good_scenario_and_names_what_a_bad_one_breaks(
    command: "Command", place: Path
) -> None:
    path = place / "mine.py"
    path.write_text(SCENARIO, "utf-8")
    assert command("check", "mine.py").exit_code == 0
    bad = SCENARIO.replace(
        '("otter", "badger", "weasel"))\n', 'tuple({"otter", "badger", "weasel", "stoat"}))\n', 1
    ).replace('"weasel")', '"weasel", "stoat")')
    path.with_name("bad").mkdir()
    (place / "bad" / "mine.py").write_text(bad, "utf-8")
    done = command("check", "bad/mine.py")
    assert done.exit_code == 1
    assert "FAIL says the same in another process" in done.output


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("def x(:", "not valid Python"),
        ('"""X."""\nimport nothing_of_that_name', "bad.py:2: ModuleNotFoundError"),
        ('"""X."""\nx = 1', "it has no subclass of ltm_bench.Agent, and no function `agent`"),
        (SCENARIO.replace("def mine", "def yours"), "must be called 'bad'"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_line(
    command: "Command", place: Path, code: str, complaint: str
) -> None:
    (place / "bad.py").write_text(code, "utf-8")
    done = command("check", "bad.py")
    assert done.exit_code == 1
    assert complaint in done.output
    assert "Traceback" not in done.output


def test_two_files_with_the_same_name_are_both_named(command: "Command", place: Path) -> None:
    (place / "scenarios").mkdir()
    (place / "scenarios" / "colours.py").write_text(SCENARIO, "utf-8")
    done = command("list", "scenarios")
    assert done.exit_code == 1
    assert "two scenarios are called 'colours'" in done.output
    assert done.output.count("colours.py") == 2


def test_a_checkout_of_the_installed_version_does_not_clash_with_it(command: "Command", place: Path) -> None:
    for door in ("scenarios", "agents", "configs"):
        shutil.copytree(ROOT / door, place / door)
    assert command("run", "--span", "2k", "--suite", "smoke", "--agent", "perfect").exit_code == 0
    (place / "configs" / "smoke.toml").write_text("[scenarios.colours]\n", "utf-8")
    done = command("run", "--suite", "smoke")
    assert done.exit_code == 1
    assert "two suites are called 'smoke'" in done.err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[scenarios.colours]\nchangs = 3", "no parameter 'changs'; did you mean 'changes'?"),
        ("exmples = 3\n[scenarios.colours]", "unknown key 'exmples'; did you mean 'examples'?"),
        ("examples = 'many'\n[scenarios.colours]", "examples = 'many'"),
        ("[scenarios.colour]", "no scenario is called 'colour'; did you mean 'colours'?"),
        ("[scenarios", "not valid TOML"),
        ("", "scenarios"),
    ],
)
def test_a_mistake_in_a_suite_is_named_with_file_and_key(
    command: "Command", place: Path, content: str, complaint: str
) -> None:
    (place / "configs").mkdir()
    (place / "configs" / "mine.toml").write_text(content, "utf-8")
    done = command("run", "--suite", "mine", "--agent", "perfect")
    assert done.exit_code == 1
    assert complaint in done.output


HEAVY = {
    "anthropic",
    "asyncio",
    "chromadb",
    "chromadb_rust_bindings",
    "filelock",
    "genai_prices",
    "httpx",
    "importlib.metadata",
    "importlib.resources",
    "jinja2",
    "json_repair",
    "ltm_bench.datasets.predictions",
    "ltm_bench.datasets.swim",
    "ltm_bench.runner.sweep",
    "numpy",
    "openai",
    "pydantic",
    "rapidfuzz",
    "rich",
    "sqlite3",
    "tiktoken",
}

OURS = {
    "ltm_bench",
    "ltm_bench.core.agent",
    "ltm_bench.cli",
    "ltm_bench.cli.commands",
    "ltm_bench.cli.app",
    "ltm_bench.cli.console",
    "ltm_bench.cli.main",
    "ltm_bench.core.clock",
    "ltm_bench.core",
    "ltm_bench.script",
    "ltm_bench.script.deliveries",
    "ltm_bench.core.dice",
    "ltm_bench.core.errors",
    "ltm_bench.core.messages",
    "ltm_bench.core.seeds",
    "ltm_bench.script.scenario",
    "ltm_bench.core.tokens",
}
"""What `--help` needs, and `from ltm_bench import Agent`: whatever else they import, everybody waits for."""


def loaded_by(code: str) -> set[str]:
    """Return which of the heavy modules, and of our own, are loaded when this code has ended."""
    code = f"import sys\ntry: {code}\nfinally: print('LOADED', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = done.stdout.rpartition("LOADED")[2].split()
    return {name for name in loaded if name in HEAVY or name.partition(".")[0] == "ltm_bench"}


def of_command(*words: str) -> str:
    return f"sys.argv[1:] = {words}; from ltm_bench.cli.main import main; main()"


@pytest.mark.unkept
def test_help_is_instant_because_next_to_nothing_is_imported_for_it() -> None:
    assert loaded_by(of_command("--help")) == OURS
    authors = "from ltm_bench import Agent, Ask, Dice, Message, Reply, Script, Tell, scenario"
    assert loaded_by(authors) == {name for name in OURS if not name.startswith("ltm_bench.cli")}
    assert "ltm_bench.matchers" in loaded_by("from ltm_bench import names_only")


@pytest.mark.unkept
def test_a_run_imports_what_it_needs_and_no_provider() -> None:
    # Decisive words are found by leaving each out, and the rest of a list must be repaired before it can be read.
    needed = {"jinja2", "json_repair", "pydantic", "rapidfuzz", "rich"}
    needed |= {"asyncio", "filelock", "importlib.metadata", "importlib.resources"}
    assert loaded_by(of_command("run", "--span", "2k", "--agent", "perfect")) & HEAVY == needed


@pytest.mark.unkept
def test_no_document_shows_a_model_that_its_provider_retires() -> None:
    presets = tomllib.loads((ROOT / "configs" / "agents.toml").read_text("utf-8"))
    doomed = [name for name, preset in presets.items() if "retires" in preset]
    assert doomed
    texts = {path: path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("**/*.md"))}
    texts |= {Path(name): command.epilog or "" for name, command in commands()}
    used = re.compile(
        rf"(?:--agent|--judge|run|core=\S+:|openai:|openai_chat:) ?({'|'.join(map(re.escape, doomed))})\b"
    )
    found = {
        f"{path}: {match[0]}"
        for path, text in texts.items()
        if path.name != "CHANGELOG.md"
        for match in used.finditer(text)
    }
    assert found == set()


def test_a_missing_option_is_named_without_a_value(command: "Command") -> None:
    said = command("judge", "check").err
    assert said == (
        "ltm-bench: Missing option '--judge' (env var: 'LTM_BENCH_JUDGE'). (see ltm-bench judge check --help)\n"
    )
