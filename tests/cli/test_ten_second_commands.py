"""The page of the ten second commands shows what the terminal prints."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("docs/second-commands.md", "agents/*.*", "configs/*.*"))

PAGE = Path(__file__).parents[2] / "docs" / "second-commands.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def shown() -> list[tuple[str, list[str], int]]:
    """Return the commands in the document, with the output shown below each and the exit code."""
    found = []
    for block in BLOCK.findall(PAGE.read_text("utf-8")):
        ends = re.match(r"# needs .* ends with (\d)\n", block)
        for part in block.split("$ ltm-bench ")[1:]:
            typed, _, below = part.partition("\n")
            found.append((typed, below.splitlines(), int(ends[1]) if ends else 0))
    return found


@pytest.mark.slow
def test_the_ten_second_commands_do_what_the_document_shows(
    command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    commands = shown()
    assert len(commands) >= 13
    for typed, lines, code in commands:
        done = command(*shlex.split(typed))
        assert done.exit_code == code, f"$ ltm-bench {typed}\n{done.output}"
        streams = [" ".join(text.split()) for text in (done.out, done.err)]
        for line in lines:
            if line != "…":
                wanted = " ".join(line.split())
                place = next((n for n, text in enumerate(streams) if wanted in text), None)
                assert place is not None, f"{line!r} is not in, or above another line of:\n{done.output}"
                streams[place] = streams[place].partition(wanted)[2]  # the next line comes after it
