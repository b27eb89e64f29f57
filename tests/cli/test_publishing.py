"""The pages of a sweep: written while other runs go on, in a process of their own if runs make calls."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import provider, quote
from ltm_bench.api import Options
from ltm_bench.cli import publishing
from ltm_bench.core.errors import RunIncomplete, RunLocked
from ltm_bench.runner.sweep import JobResult
from ltm_bench.score.results.stored import DERIVED

if TYPE_CHECKING:
    from tests.conftest import Command

WORDS = (
    "sweep",
    "--agent",
    "openai_chat",
    "-A",
    "model=some-model",
    "--span",
    "2k",
    "--suite",
    "smoke",
    "--seed",
    "0..1",
)


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with provider(quote) as server:
        yield server.openai_url


def derived() -> dict[Path, bytes]:
    return {path: path.read_bytes() for name in DERIVED for path in sorted(Path("reports").glob(f"*/{name}"))}


def test_pages_of_runs_that_make_calls_are_written_by_another_process_as_this_one_writes_them(
    command: "Command", url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(*given: object, **more: object) -> None:
        raise AssertionError("pages are made beside the calls")

    with monkeypatch.context() as patched:
        patched.setattr("ltm_bench.cli.publishing.publish_job", here)
        done = command(*WORDS, "--base-url", url, "--tag", "team=blue")
    assert done.exit_code == 0, done.err
    there = derived()
    assert len(there) == 2 * len(DERIVED)
    for path in there:
        path.unlink()
    assert command(*WORDS, "--base-url", url, "--tag", "team=blue").exit_code == 0
    assert derived() == there


def test_pages_are_written_in_the_end_if_the_other_process_is_lost(
    command: "Command", url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[list[str]] = []

    class Lost:
        """A process that ends at once."""

        def __init__(self, words: list[str], **more: object) -> None:
            begun.append(words)

        def wait(self) -> None:
            return

    monkeypatch.setattr("ltm_bench.cli.publishing.Popen", Lost)
    done = command(*WORDS, "--base-url", url)
    assert done.exit_code == 0, done.err
    assert len(begun) == 1
    assert len(derived()) == 2 * len(DERIVED)


@pytest.mark.parametrize("killed", [True, False])
def test_the_other_process_outlives_ctrl_c_but_not_the_sweep(tmp_path: Path, *, killed: bool) -> None:
    program = (
        "import sys\n"
        "from ltm_bench.api.options import Options\n"
        "from ltm_bench.cli.publishing import Press\n"
        "press = Press(Options())\n"
        "press._begin()\n"
        "print(press._process.pid, flush=True)\n"
        "for _ in sys.stdin:\n"
        "    press._runs.send(('no such run', {})); press._runs.recv()\n"  # whatever fails is not said
        "    print('done', flush=True)\n"
        "press.close()\n"
    )
    words, pipe = [sys.executable, "-c", program], subprocess.PIPE
    with subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, start_new_session=True) as sweep:
        assert sweep.stdin is not None
        assert sweep.stdout is not None
        other = int(sweep.stdout.readline())
        assert os.getpgid(other) != sweep.pid, "a terminal sends Ctrl-C to a group"
        print("go", file=sweep.stdin, flush=True)
        assert sweep.stdout.readline() == "done\n"
        if killed:
            sweep.kill()
        sweep.stdin.close()
        assert sweep.wait(60) == (-signal.SIGKILL if killed else 0)
    for _ in range(600):
        status = Path(f"/proc/{other}/status")
        if not status.exists() or "(zombie)" in status.read_text():
            return
        time.sleep(0.1)
    pytest.fail("it is still there")


def test_a_run_about_which_somebody_else_asks_judges_is_published_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    async def publish_job(*_: object, ask: bool) -> str:
        asked.append(ask)
        if ask:
            raise RunLocked("reports/r: another process is working on this run; wait for it")
        return "the run"

    monkeypatch.setattr(publishing, "publish_job", publish_job)
    job: Any = SimpleNamespace(folder=Path("reports/r"))
    done, run = asyncio.run(publishing._published(JobResult(job), Options()))
    assert asked == [True, False]
    assert str(run) == "the run"
    assert isinstance(done.problem, RunIncomplete)
    assert "another process is working on this run" in str(done.problem)
