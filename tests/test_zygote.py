"""A program that is forked behaves as one that is started: it has its own folder, streams, environment, id and end."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests import zygote
else:
    import zygote

PROGRAMS = {
    "ends": "print('out'); import sys; print('err', file=sys.stderr)",
    "hears": "import os, sys; print(sys.stdin.read(), os.getcwd(), os.environ['SAID'], __name__, *sys.argv)",
    "exits": "raise SystemExit(4)",
    "says why": "raise SystemExit('no')",
    "is killed": "import os; os.kill(os.getpid(), 9)",
    "at exit": "import atexit; atexit.register(print, 'last')",
    "thread": "import threading, time; threading.Thread(target=lambda: (time.sleep(0.01), print('late'))).start()",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.parametrize("kind", ["-c", "file"])
def test_it_is_told_says_and_returns_the_same_as_a_program_that_is_started(
    tmp_path: Path, code: str, kind: str
) -> None:
    (tmp_path / "program.py").write_text(code, "utf-8")
    words = [sys.executable, *(("-c", code) if kind == "-c" else (str(tmp_path / "program.py"),)), "more"]
    options: dict[str, Any] = {"capture_output": True, "text": True, "input": "told", "cwd": tmp_path}
    options["env"] = {**os.environ, "SAID": "so"}
    started = subprocess.run(words, **options)
    forked = zygote.run(words, **options)
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        started.returncode, started.stdout, started.stderr,
    )  # fmt: skip


def test_a_command_has_the_output_and_the_exit_code_of_one_that_is_started(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "ltm_bench", "run", "--span", "2000k", "--agent", "nobody"]
    started = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    forked = zygote.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert (forked.returncode, forked.stdout, forked.stderr) == (1, "", started.stderr)


def test_it_can_be_interrupted_and_killed_and_is_waited_for() -> None:
    code = "import sys, time\ntry: print('here', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(7)"
    for sent, code_of_end in ((signal.SIGINT, 7), (signal.SIGKILL, -9)):
        with zygote.Forked([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            assert process.poll() is None
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.01)
            process.send_signal(sent)
            assert process.wait() == code_of_end
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
