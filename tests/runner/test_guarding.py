"""Whatever an adapter raises or returns, and from whichever method, the run stops in one line and can be resumed."""

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(scenarios=("colours",), files=("agents/*.*", "configs/*.*"))

RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--agent", "mine", "--name", "r")

HEAD = '''"""Mine."""
import asyncio
import itertools
import logging
import sys
from pathlib import Path
from ltm_bench import Agent, Memory, Reply


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("nothing to say")


class Odd(Exception):
    def __str__(self):
        return 5


class Mine(Agent):
    free = True

    async def reply(self, message):
        return Reply("x")
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    return tmp_path


def write(place: Path, *lines: str) -> int:
    """Write the adapter with a method; return the number of its last line."""
    code = HEAD + "\n" + "\n".join(f"    {line}" for line in lines) + "\n"
    (place / "agents" / "mine.py").write_text(code, "utf-8")
    return code.count("\n")


RAISED = {
    "raise BaseException('of no kind')": "BaseException: of no kind",
    "sys.exit(0)": "SystemExit: 0",
    "raise asyncio.CancelledError": "CancelledError",
    "raise BaseExceptionGroup('both', [SystemExit(1), ValueError(2)])": "BaseExceptionGroup: both (2 sub-exceptions)",
    "raise ExceptionGroup('unhandled errors in a TaskGroup', [ValueError('port')])": "ValueError: port",
    "raise Silent": "Silent: (it has no text)",
    "raise Odd": "Odd: (it has no text)",
    "raise ValueError('x' * 100_000)": f"ValueError: {'x' * 2000} …",
}


@pytest.mark.parametrize("method", ["async def reply(self, message)", "def reply(self, message)"])
@pytest.mark.parametrize(("statement", "said"), RAISED.items(), ids=range(len(RAISED)))
def test_whatever_it_raises_names_turn_and_line(
    command: "Command", place: Path, method: str, statement: str, said: str
) -> None:
    line = write(place, f"{method}:", f"    {statement}")
    done = command(*RUN)
    assert done.exit_code == 3, done.err
    last = done.err.splitlines()[-1]
    assert last.startswith(f"ltm-bench: the agent failed at turn 0: {said} (")
    assert last.endswith(f"mine.py:{line})")
    assert "Traceback" not in done.output


BOT = """
def helper(message):
    import os
    raise KeyError("no note " + os.environ["BOT_TOKEN"])


def answer(message):
    return helper(message)
"""


def test_the_traceback_of_an_agents_exception_is_kept_and_its_own_last_line_is_told(
    command: "Command", place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", "ltm_bench")  # put back afterwards, as are the root's handlers
    monkeypatch.setattr(logging.root, "handlers", list(logging.root.handlers))
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.delitem(sys.modules, "my_bot", raising=False)  # another test's
    monkeypatch.setenv("BOT_TOKEN", key := "sk-never-shown-4711-abcdefgh")
    (place / "my_bot.py").write_text(BOT, "utf-8")
    done = command(*RUN[:-4], "--agent", "python:my_bot:answer", "--name", "r", "--log-level", "debug")
    assert done.exit_code == 3
    line = f"{place / 'my_bot.py'}:4"
    assert done.err.splitlines()[-1].endswith(f"({line})")
    kept = (place / "reports" / "r" / "tracebacks.txt").read_text("utf-8")
    assert kept.startswith("the agent failed at turn 0: KeyError: 'no note ")
    for text in (kept, done.err):  # the latter because of --log-level
        assert f'File "{place / "my_bot.py"}", line 8, in answer' in text
        assert f'File "{place / "my_bot.py"}", line 4, in helper' in text
        assert key not in text


@pytest.mark.parametrize("how", ["def", "async def"])
@pytest.mark.parametrize("method", ["open(self, home)", "observe(self, turn)", "settle(self)", "close(self)"])
def test_every_method_is_guarded(command: "Command", place: Path, how: str, method: str) -> None:
    (place / "broken").touch()
    write(
        place,
        f"{how} {method}:",
        "    if Path('broken').exists():",
        "        sys.exit('no more')",
        *(["    return asyncio.sleep(0)"] if how == "def" else []),
    )
    done = command(*RUN)
    assert done.exit_code == 3, done.err
    assert "SystemExit: no more" in done.err.splitlines()[-1]
    (place / "broken").unlink()
    assert command("resume", "r").exit_code == 0


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit(1)",
        "return [1, None]",
        "return 'abc'",
        "return (Memory('x') for _ in itertools.count())",
        "1 / 0",
    ],
)
def test_evidence_that_cannot_be_had_does_not_stop_a_run(command: "Command", place: Path, body: str) -> None:
    write(place, "async def recall(self, query, limit):", f"    {body}")
    done = command(*RUN)
    assert done.exit_code == 0, done.err


def test_an_interruption_within_a_group_is_an_interruption(command: "Command", place: Path) -> None:
    write(
        place, "async def reply(self, message):", "    raise BaseExceptionGroup('g', [KeyboardInterrupt()])"
    )
    done = command(*RUN)
    assert done.exit_code == 3
    assert "interrupted; nothing is lost" in done.err


@pytest.mark.parametrize("code", ["raise BaseException('x')", "def __init__(self): raise BaseException('x')"])
def test_an_adapter_that_cannot_be_made_is_named_with_its_line(
    command: "Command", place: Path, code: str
) -> None:
    line = write(place, code)
    done = command(*RUN)
    assert done.exit_code == 1
    assert f"mine.py:{line}: BaseException: x" in done.err
    assert "Traceback" not in done.output
    assert not (place / "reports").exists()
