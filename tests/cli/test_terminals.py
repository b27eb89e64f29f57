"""Output is complete on every terminal, whatever the character set, the width and the home directory."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.several import one_after_another

RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_command_succeeds_where_its_characters_cannot_be_shown(encoding: str, tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    terminal = {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "COLUMNS": "20", "LC_ALL": "C"}
    lists = (("list", "scenarios"), ("list", "agents"), ("run", "--help"), ("review", "r"))
    done = subprocess.run(
        one_after_another(RUN, ("show", "r"), *lists, separator="\0"),
        cwd=tmp_path,
        env=kept | terminal,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=200,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    ran, shown, *listed, rest = done.stdout.decode(encoding).split("\0")
    assert "colours" in ran
    assert "outcomes" in ran
    assert "oracle (perfect) 1.00" in ran
    assert "colours" in shown
    assert (len(listed), all(listed[:3]), rest) == (4, True, "")
