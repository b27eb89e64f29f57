"""How a command ends: its exit code, its last line, and the state in which it leaves a pipe or a terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from ltm_bench.cli import ending
from ltm_bench.core.errors import LtmBenchError
from ltm_bench.log.events import Replied
from ltm_bench.log.reader import read_events
from tests.several import one_after_another

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

TINY = ("--span", "2k", "--suite", "smoke", "--name", "r")
SMALL = ("--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")
COMMAND = [sys.executable, "-m", "ltm_bench"]

STOPPABLE = '''"""Stoppable: fails for as long as there is a file `stop`, and is slow enough to be interrupted."""
import asyncio
from pathlib import Path
from ltm_bench import Agent, AgentError, Message, Reply


class Stoppable(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.turn >= 2:
            Path("here").touch()
            if Path("wait").exists():
                await asyncio.sleep(30)
            if Path("stop").exists():
                raise AgentError("the provider is\\ngone")
        return Reply("I do not know.")
'''

HANDLE = signal.signal  # removed, since commands that run inside a test must not set signal handlers


@pytest.mark.unkept
@pytest.mark.parametrize("package", ["typer", "pydantic", "rich", "jinja2", "tiktoken", "openai"])
def test_a_missing_dependency_is_one_line_that_says_how_to_get_it(place: Path, package: str) -> None:
    # None keeps Python from importing a module; `--no-deps` has the same effect.
    # Texts of plain characters are counted without tiktoken.
    (place / "agents" / "snowing.py").write_text(STOPPABLE.replace("I do not know.", "\u2603"), "utf-8")
    agent = {"openai": "openai:m", "tiktoken": "snowing"}.get(package, "parrot")
    words = ["ltm-bench", "run", *SMALL, "--agent", agent]
    code = f"import sys; sys.modules[{package!r}] = None; sys.argv = {words}; import ltm_bench.__main__ as m; m.main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OPENAI_API_KEY": ""},
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("ltm-bench: ")]
    assert (done.returncode, len(lines), "Traceback" in done.stderr) == (1, 1, False), done.stderr
    assert f"{package} is not installed, and ltm-bench needs it; pip install ltm-bench" in lines[0]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "stoppable.py").write_text(STOPPABLE, "utf-8")
    # Short naps, since a signal that arrives just before a long one would wait until its end.
    blocking = STOPPABLE.replace("Stoppable", "Blocking").replace(
        "await asyncio.sleep(30)", "[time.sleep(0.1) for _ in range(3000)]"
    )
    (tmp_path / "agents" / "blocking.py").write_text(blocking.replace("asyncio", "time"), "utf-8")
    return tmp_path


def test_a_finished_run_exits_with_0_and_again_when_repeated(command: "Command") -> None:
    assert command("run", *TINY, "--agent", "perfect", "--fail-under", "5").exit_code == 0
    again = command("run", *TINY, "--agent", "perfect", "--fail-under", "5")
    assert again.exit_code == 0
    assert "reports/r is finished already; --fresh starts a new run beside it." in again.err
    assert command("run", *TINY, "--agent", "perfect", "--fresh").exit_code == 0
    assert sorted(path.name for path in Path("reports").iterdir()) == ["r", "r-2"]


def test_another_run_of_the_same_name_is_not_touched(command: "Command") -> None:
    assert command("run", *TINY, "--agent", "goldfish").exit_code == 0
    before = Path("reports/r/events.jsonl").read_bytes()
    done = command("run", *TINY, "--agent", "goldfish", "--seed", "1")
    assert done.exit_code == 1
    assert (
        "reports/r holds another run (seed: 0 there, 1 now); start a new run beside it with --fresh"
        in done.err
    )
    assert Path("reports/r/events.jsonl").read_bytes() == before


def test_a_score_below_the_threshold_exits_with_2(command: "Command") -> None:
    for verb in (("run", *TINY, "--agent", "goldfish"), ("resume", "r")):
        done = command(*verb, "--fail-under", "0.5")
        assert done.exit_code == 2
        assert "the score 0.00 of 11 is below --fail-under 0.5" in done.err


def test_a_threshold_that_no_run_reaches_is_refused_before_anything_is_asked(command: "Command") -> None:
    run = ("run", *TINY, "--agent", "perfect")
    assert command(*run, "--fail-under", "11.5").exit_code == 1
    assert not Path("reports/r").exists()
    assert command(*run, "--fail-under", "11").exit_code == 0
    done = command("resume", "r", "--fail-under", "11.5")
    assert done.exit_code == 1
    assert "--fail-under 11.5: no run can reach it, since 11 is the highest score here" in done.err


def test_an_agent_that_fails_exits_with_3_and_the_run_resumes(command: "Command", place: Path) -> None:
    (place / "stop").touch()
    done = command("run", *TINY, "--agent", "stoppable", "--fail-under", "0")
    assert done.exit_code == 3
    assert "The run can be resumed: ltm-bench resume r" in done.err
    assert done.err.endswith("the provider is gone\n")
    assert "sum so far (incomplete)" in done.out
    assert "r stoppable smoke 2k 0 incomplete" in command("list", "runs").output
    (place / "stop").unlink()
    done = command("resume")
    assert done.exit_code == 0
    assert "11/11 examples" in done.err


def test_a_spent_budget_exits_with_4(command: "Command", key: str) -> None:
    done = command("run", *TINY, "--agent", "gpt-4o", "--max-cost", "0")
    assert done.exit_code == 4
    assert "could exceed --max-cost 0; resume with a larger one" in done.err
    shown = command("show", "r", "--example", "colours/0")
    assert "colours/0 has no turns yet" in shown.err


def test_a_budget_that_cannot_be_kept_is_refused_before_anything_is_written(
    command: "Command", key: str
) -> None:
    words = ("-A", "model=nobody-knows-it", "--base-url", "http://127.0.0.1:9/v1")
    done = command("run", *TINY, "--agent", "openai_chat", *words, "--max-cost", "$2.50")
    assert done.exit_code == 1
    assert "--max-cost 2.50 cannot be guaranteed" in done.err
    assert not Path("reports").exists()


def test_a_missing_key_is_named_before_anything_is_written(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    done = command("run", *TINY, "--agent", "gpt-4o")
    assert done.exit_code == 1
    assert "gpt-4o: OPENAI_API_KEY is not set; export it" in done.err
    assert not Path("reports").exists()


def _hear_everything() -> None:
    """Undo inherited settings: background processes of a shell ignore SIGINT, and those under nohup ignore SIGHUP."""
    for each in (signal.SIGINT, signal.SIGHUP):
        HANDLE(each, signal.SIG_DFL)


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("agent", "how"),
    [
        ("stoppable", [signal.SIGINT]),
        ("stoppable", [signal.SIGTERM]),
        ("stoppable", [signal.SIGHUP]),
        ("blocking", [signal.SIGINT, signal.SIGINT]),  # the first would wait for the other
        ("blocking", [signal.SIGTERM]),
        ("blocking", [signal.SIGHUP]),
    ],
)
def test_an_interrupted_run_exits_with_3_and_says_how_to_continue(
    command: "Command", place: Path, agent: str, how: list[signal.Signals]
) -> None:
    (place / "wait").touch()
    with subprocess.Popen(
        [*COMMAND, "run", *SMALL, "--agent", agent],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_everything,
    ) as running:
        _wait_until_here(place, running)
        for each in how[:-1]:
            running.send_signal(each)
            time.sleep(0.5)
        running.send_signal(how[-1])
        _, said = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "`ltm-bench resume r` continues from here" in said
    assert "Traceback" not in said
    (place / "wait").unlink()
    assert command("resume").exit_code == 0


@pytest.mark.unkept
def test_an_interrupted_sweep_exits_with_3_and_without_a_traceback(place: Path) -> None:
    (place / "wait").touch()
    words = (*SMALL, "--agent", "blocking", "--seed", "0", "--seed", "1")
    with subprocess.Popen([*COMMAND, "sweep", *words], stderr=subprocess.PIPE, text=True) as running:
        _wait_until_here(place, running)
        running.send_signal(signal.SIGTERM)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "interrupted; nothing is lost: the same command continues" in said
    assert "Traceback" not in said


def _wait_until_here(place: Path, running: "subprocess.Popen[str] | subprocess.Popen[bytes]") -> None:
    """Wait until the agent is in the middle of a reply."""
    end = time.monotonic() + 60
    while not (place / "here").exists() and running.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


@pytest.mark.unkept
def test_a_run_under_nohup_outlives_its_terminal(place: Path) -> None:
    (place / "wait").touch()
    with subprocess.Popen(
        [*COMMAND, "run", *SMALL, "--agent", "stoppable"],
        stderr=subprocess.DEVNULL,
        preexec_fn=partial(HANDLE, signal.SIGHUP, signal.SIG_IGN),  # as nohup does
    ) as running:
        _wait_until_here(place, running)
        running.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(timeout=1)
        running.kill()


def test_a_run_interrupted_while_writing_its_page_resumes_too(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("ltm_bench.report.publishing.render_page", interrupt)
        done = command("run", *TINY, "--agent", "parrot", "--judge", "parrot")
    assert done.exit_code == 3
    assert "interrupted; nothing is lost: `ltm-bench resume r` continues from here" in done.err
    done = command("resume", "r")
    assert "r goes on as it was begun: --judge parrot" in done.err
    assert done.exit_code == 0
    assert Path("reports/r/report.html").exists()


def test_an_interrupted_command_without_a_run_ends_as_a_shell_expects(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ltm_bench.cli.commands.list_.known_suites", interrupt)
    done = command("list", "suites")
    assert (done.exit_code, done.err) == (130, "ltm-bench: interrupted\n")


@pytest.mark.unkept
@pytest.mark.parametrize("moment", [1, 2, 30, 120, 250, 400, "a class", "a command's class"])
def test_whoever_interrupts_while_the_program_is_still_loading_gets_one_line(
    place: Path, moment: int | str
) -> None:
    # before Python 3.12, an error in the middle of a class becomes another one, as in much that imports packages
    hook = f"""
import functools, signal, sys

class Interrupting:
    imports, here = 0, False

    def find_spec(self, name, path=None, target=None):
        self.here = self.here or name == "ltm_bench.cli"
        self.imports += self.here
        if self.imports == {moment!r}:
            signal.raise_signal(signal.SIGINT)

def begin(*given, named=functools.cached_property.__set_name__):
    where = {{"a class": "ltm_bench.cli", "a command's class": "ltm_bench.cli.commands.list_"}}.get({moment!r})
    if where in sys.modules:
        signal.raise_signal(signal.SIGINT)
    return named(*given)

sys.meta_path.insert(0, Interrupting())
functools.cached_property.__set_name__ = begin
"""
    (place / "sitecustomize.py").write_text(hook, "utf-8")
    done = subprocess.run(
        [*COMMAND, "list", "suites"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(place)},
        preexec_fn=_hear_everything,
    )
    assert (done.returncode, done.stderr) == (130, "ltm-bench: interrupted\n")


def test_the_help_names_every_exit_code(command: "Command") -> None:
    told = " ".join(command("--help").out.split())
    codes = {kind.exit_code for kind in _errors(LtmBenchError)} | {0, 128 + signal.SIGINT}
    named = re.search(r"Exit codes: (.*?)\. ", told)
    assert named is not None
    assert {int(each) for each in re.findall(r"\b\d+\b", named[1])} == codes


def _errors(kind: type[LtmBenchError]) -> set[type[LtmBenchError]]:
    return {kind, *(each for sub in kind.__subclasses__() for each in _errors(sub))}


@pytest.mark.parametrize("words", [[], ["list"], ["filler"]])
def test_without_a_command_it_lists_the_commands(command: "Command", words: list[str]) -> None:
    done = command(*words)
    assert done.exit_code == 1
    assert done.err.startswith(f"Usage: {' '.join(['ltm-bench', *words])} [OPTIONS] COMMAND")
    assert "\nCommands:\n" in done.err if words else "\nRun and compare:\n" in done.err


@pytest.mark.unkept
def test_a_reader_that_goes_away_is_not_an_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*COMMAND, "list", "agents"], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def in_a_terminal(*commands: tuple[str, ...], check: bool = True) -> str:
    """Run commands in a terminal of 80 columns; return everything that they wrote there."""
    ours, theirs = pty.openpty()
    written: list[bytes] = []

    def read() -> None:
        try:
            while block := os.read(ours, 4096):
                written.append(block)
        except OSError:  # the other end is closed
            return

    reader = threading.Thread(target=read)
    reader.start()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "30"}
    subprocess.run(
        one_after_another(*commands), stdin=theirs, stdout=theirs, stderr=theirs, env=environment, check=check
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return b"".join(written).decode()


@pytest.mark.unkept
def test_a_person_at_a_terminal_can_answer_and_interrupt() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "run", *SMALL, "--agent", "human", "-A", "where=terminal"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=_hear_everything,
    ) as running:
        try:
            said = _read_to(ours, b"> ")
            os.write(ours, b"I shall.\n")
            said += _read_to(ours, b"> ")
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=30) == 3  # it does not wait for Enter
        finally:
            running.kill()
        said += _read_to(ours, b"continues from here")
    os.close(theirs)
    os.close(ours)
    events = read_events(Path("reports/r/events.jsonl"))
    assert "I shall." in [event.reply for event in events if isinstance(event, Replied)]
    assert b"Traceback" not in said


def _read_to(terminal: int, end: bytes) -> bytes:
    """Read a terminal's output up to and including these words."""
    said, until = b"", time.monotonic() + 60
    while end not in said and time.monotonic() < until:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096)
    assert end in said, said
    return said


@pytest.mark.unkept
def test_progress_on_a_terminal_is_a_display_that_disappears() -> None:
    shown = in_a_terminal(("run", *TINY, "--agent", "goldfish"))
    assert " % " in shown
    assert "\x1b[2K" in shown  # a line is erased
    assert shown.index("\x1b[?25l") < shown.index("\x1b[?25h")  # the cursor is visible again
    assert shown.rpartition("\x1b[?25h")[2].count("score so far") == 1


NASTY = '''"""Nasty: says what would harm a terminal."""
from ltm_bench import Agent, AgentError, Message, Reply

TEXTS = ["\\x1b[2J\\x1b[31mred", "\\x1b]0;title\\x07", "\\x9b2J", "\\u202etxet", "\\ud800", "a\\rb\\x08"]
TEXTS += ["[bold]x[/bold][/]", "so " * 2000]


class Nasty(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.turn == 60:
            raise AgentError(TEXTS[0] + TEXTS[1])
        return Reply(TEXTS[message.turn % len(TEXTS)])
'''


@pytest.mark.unkept
def test_replies_reach_a_terminal_only_as_text(place: Path) -> None:
    (place / "agents" / "nasty.py").write_text(NASTY, "utf-8")
    run = ("run", "--span", "2k", "--agent", "nasty", "--name", "r")
    commands = (
        run,
        ("show", "r", "--filler"),
        ("report", "r"),
        ("rescore", "r"),
        ("compare", "r"),
        ("list", "runs"),
    )
    shown = in_a_terminal(*commands, check=False)
    assert len(shown) > 20_000
    ours = re.sub(r"\x1b\[(?:\?25[lh]|\d*[ABCDGK]|[\d;]*m)|\r|\n", "", shown)  # colours, and cursor movements
    assert [c for c in ours if unicodedata.category(c) in ("Cc", "Cf", "Cs")] == []
    assert "\x1b[2J" not in shown
    assert "␛[2J␛[31mred" in shown
    assert "[bold]x[/bold][/]" in shown
    assert "\\ud800" in shown


def test_an_unknown_cost_is_not_shown_as_zero(command: "Command", place: Path) -> None:
    path = place / "agents" / "stoppable.py"
    path.write_text(STOPPABLE.replace("free = True", "free = False"), "utf-8")
    done = command("run", *TINY, "--agent", "stoppable")
    assert done.exit_code == 0
    assert "· cost unknown" in done.err
    assert "$" not in done.err


def test_a_question_in_a_transcript_is_shown_with_its_verdict(command: "Command") -> None:
    assert command("run", *TINY, "--agent", "perfect").exit_code == 0
    assert "\n= correct 1.00\n= why: " in command("show", "--example", "colours/0").out


def test_an_unreadable_run_is_listed_and_other_names_are_not_cut(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "a-name-that-is-much-longer-than-any-column-would-be-if-it-were-cut-to-fit"
    assert command("run", *TINY[:-1], long, "--agent", "goldfish").exit_code == 0
    for name, content in {"torn": "{", "empty": "", "other": '{"kind": "other"}\n'}.items():
        (Path("reports") / name).mkdir()
        (Path("reports") / name / "events.jsonl").write_text(content, "utf-8")
        for verb in ("show", "resume", "report", "rescore"):
            done = command(verb, name)
            assert done.exit_code == 1
            assert done.err.startswith(f"ltm-bench: reports/{name}/events.jsonl")
            assert done.err.count("\n") == 1
    listed = command("list", "runs")
    assert listed.exit_code == 0
    assert f" {long} " in listed.out
    rows = {row["name"]: row["agent"] for row in json.loads(command("list", "runs", "--json").out)}
    assert {name for name, agent in rows.items() if agent.startswith("unreadable: ")} == {
        "torn",
        "empty",
        "other",
    }


def test_damaged_results_make_no_command_fail(command: "Command") -> None:
    assert command("run", *TINY, "--agent", "goldfish").exit_code == 0
    Path("reports/r/results.json").write_text("[]", "utf-8")
    Path("reports/r/verdicts.jsonl").write_text('{"example"', "utf-8")
    assert "unreadable: " in command("list", "runs").output
    assert command("show", "r").exit_code == 0
    assert command("rescore", "r").exit_code == 0
    assert "16 verdicts, 0 changed" in command("rescore", "r").out


@pytest.mark.unkept
def test_a_run_whose_output_nobody_reads_is_done_all_the_same(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*COMMAND, "run", *SMALL, "--agent", "parrot"], cwd=tmp_path, stdout=write, stderr=write, timeout=100
    )
    os.close(write)
    assert done.returncode == 0
    assert (tmp_path / "reports" / "r" / "results.json").exists()


@pytest.mark.unkept
@pytest.mark.parametrize("closed", ["2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_an_exit_code_is_the_same_where_nothing_can_be_printed(
    tmp_path: Path, command: "Command", closed: str
) -> None:
    words = "run --span 2k --scenario colours --examples 1 --agent parrot --fail-under 1 --name r"
    assert command(*words.split()).exit_code == 2
    shell = f"{' '.join(COMMAND)} {words} {closed}"
    assert subprocess.run(["sh", "-c", shell], cwd=tmp_path, stdin=subprocess.PIPE).returncode == 2


@pytest.mark.unkept
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "list", "scenarios"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "ltm-bench: the output cannot be written: No space left on device\n"


@pytest.mark.unkept
def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    here = tmp_path / "gone"
    here.mkdir()
    shell = f"rmdir {here} && {' '.join(COMMAND)} list scenarios"
    done = subprocess.run(["sh", "-c", shell], cwd=here, capture_output=True, text=True)
    assert done.returncode == 1
    assert "ltm-bench: the current folder is gone; change to another one\n" in done.stderr


def test_a_file_in_the_place_of_a_folder_is_named(
    tmp_path: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reports").mkdir()
    Path("reports/r").touch()
    done = command("run", *TINY, "--agent", "parrot")
    assert done.exit_code == 1
    assert "reports/r: File exists; it must be a folder, so move away what is in its place" in done.err
    Path("reports/r").unlink()
    Path("reports/r/events.jsonl").mkdir(parents=True)
    assert "reports/r/events.jsonl: Is a directory" in command("resume", "r").err


def test_a_command_of_the_users_hears_that_a_run_has_ended(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notify = ("--notify", 'echo "$LTM_BENCH_EXIT_CODE $LTM_BENCH_FOLDER" >> told')
    small = ("--span", "2k", "--scenario", "colours", "--agent", "goldfish")
    assert command("run", *small, "--name", "a", *notify).exit_code == 0
    assert command("run", *small, "--name", "a", "--fail-under", "1", *notify).exit_code == 2
    assert command("run", *small, "--agent", "goldfsh", *notify).exit_code == 1
    assert command("sweep", *small, "--seed", "0", "--seed", "1", *notify).exit_code == 0
    assert Path("told").read_text().splitlines() == ["0 reports/a", "2 reports/a", "1 ", "0 reports"]


def test_a_command_of_the_users_that_fails_changes_no_exit_code(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("run", "--span", "2k", "--scenario", "colours", "--agent", "goldfish")
    done = command(*words, "--notify", "exit 7")
    assert done.exit_code == 0
    assert "warning: --notify exit 7: it ended with 7" in done.err


@pytest.mark.parametrize(("long", "rung"), [(0.0, 1), (float("inf"), 0)])
def test_on_a_terminal_the_bell_rings_after_a_long_run(
    monkeypatch: pytest.MonkeyPatch, long: float, rung: int
) -> None:
    shown = StringIO()
    monkeypatch.setattr(ending, "LONG", long)
    monkeypatch.setattr(ending, "err", lambda: Console(file=shown, force_terminal=True))
    with ending.saying_when_it_ends(None):
        pass
    assert shown.getvalue().count("\a") == rung
