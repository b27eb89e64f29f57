"""Every shipped adapter completes a run, and a run killed in the middle ends as if nothing had happened.

The real command runs in separate processes; the servers that the adapters talk to run in this one.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.plugins.files import bundled

if TYPE_CHECKING:
    from tests import zygote
    from tests.products import Supermemory, Zep
    from tests.stages import Place, Stage, staged
else:
    import zygote
    from products import Supermemory, Zep
    from stages import Place, Stage, staged

pytestmark = pytest.mark.long

ADAPTERS = sorted(path.stem for path in bundled("agents").glob("[!_.]*.py"))
COMMAND = [sys.executable, "-m", "ltm_bench"]
ASKED = ("colours", "sally_anne", "shopping_list")
"""A few scenarios: some products take a second for every message."""
SMALL = ["--span", "2k", "--suite", "smoke", *(word for name in ASKED for word in ("--scenario", name))]
TRIES = 5
"""A busy machine may come too late to kill a run that takes a fraction of a second."""
TYPED = b"Noted.\n" * 1000
"""What a person types, if the adapter asks one."""


def words_for(stage: Stage, folder: Path) -> list[str]:
    """Return the command line of a run with this adapter."""
    settings = dict(stage.settings)
    if "timeout" in settings:
        settings["timeout"] = 100.0  # a busy machine is not a broken server
    if stage.adapter == "transcript":  # from an earlier run
        finish(["run", *SMALL, "--agent", "perfect", "--name", "before"], folder)
        settings["run"] = "reports/before"
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    given = [word for name, text in texts.items() for word in ("-A", f"{name}={text}")]
    return ["run", *SMALL, "--agent", stage.adapter, *given]


def finish(words: list[str], folder: Path) -> None:
    done = zygote.run([*COMMAND, *words], cwd=folder, input=TYPED, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def kill(words: list[str], folder: Path, due: Callable[[], bool]) -> bool:
    """Start a run, and kill it without warning at the chosen moment; return whether it had not ended by then."""
    typed = folder / "typed"
    typed.write_bytes(TYPED)
    with (
        typed.open("rb") as stdin,
        zygote.Forked(
            [*COMMAND, *words],
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        until = time.monotonic() + 400
        while process.poll() is None and not due() and time.monotonic() < until:
            time.sleep(0.001)
        process.kill()
    return process.returncode < 0


def said(run: Path) -> list[dict[str, Any]]:
    """Return a run's log without the calls' costs: a repeated call may find a warm cache."""
    lines = (run / "events.jsonl").read_text("utf-8").splitlines()
    return [{name: value for name, value in json.loads(line).items() if name != "usage"} for line in lines]


@pytest.mark.parametrize("name", [*ADAPTERS, "mcp_memory"])
def test_a_run_of_a_shipped_adapter_is_killed_and_then_ends_the_same(
    name: str,
    tmp_path: Path,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    reports = tmp_path / "reports"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)  # where a stage may put a module
    with staged(name, Place(tmp_path, monkeypatch)) as stage:
        if isinstance(stage.server, Supermemory | Zep):
            stage.server.slowness = 0  # the pauses between questions are as long as with the real server
        words = words_for(stage, tmp_path)
        finish([*words, "--name", "r"], tmp_path)
        record_property(name, "2k run: yes")
        expected, verdicts = said(reports / "r"), (reports / "r" / "verdicts.jsonl").read_bytes()
        half = (reports / "r" / "events.jsonl").stat().st_size // 2
        (reports / "r").rename(reports / "undisturbed")

        log = reports / "r" / "events.jsonl"
        for _ in range(TRIES):
            killed = kill(
                [*words, "--name", "r"], tmp_path, lambda: log.exists() and log.stat().st_size >= half
            )
            if killed and log.read_bytes().count(b"\n") < len(expected):
                break
            shutil.rmtree(reports / "r")
        else:
            pytest.fail("the run ended before it could be killed")
        finish(["resume", "r"], tmp_path)
        assert said(reports / "r") == expected
        assert (reports / "r" / "verdicts.jsonl").read_bytes() == verdicts
        record_property(name, "resume after SIGKILL: yes")
