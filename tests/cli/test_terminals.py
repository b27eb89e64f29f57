"""Output is complete on every terminal, whatever the character set, the width and the home directory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_every_command_succeeds_where_its_characters_cannot_be_shown(encoding: str, tmp_path: Path) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "SYSTEMROOT") if name in os.environ}
    terminal = {"PYTHONUTF8": "0", "PYTHONIOENCODING": encoding, "COLUMNS": "20", "LC_ALL": "C"}
    for words in (
        RUN,
        ("show", "r"),
        ("list", "scenarios"),
        ("list", "agents"),
        ("run", "--help"),
        ("review", "r"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ltm_bench", *words],
            cwd=tmp_path,
            env=kept | terminal,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
        said = done.stdout.decode(encoding)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), (words, done.stderr)
        if words in (("show", "r"), RUN):
            assert "colours" in said
        if words == RUN:
            assert "outcomes" in said
            assert "oracle (perfect) 1.00" in said
