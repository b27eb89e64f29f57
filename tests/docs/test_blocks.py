"""Everything that the documents show works: files are written, commands run, and the output matches.

A console block that cannot run here says so in its first line, `# needs …`; `ltm-bench` must still accept its
commands.
"""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
import typer
from typer.testing import CliRunner

from ltm_bench.cli.app import app
from tests.markdown import Block, Shown, blocks

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]
    if any(block.language == "console" for block in blocks(page))
)
ELSEWHERE = {
    "README.md": "tests/test_readme.py runs its commands",
    "docs/second-commands.md": "tests/cli/test_ten_second_commands.py runs them, those that fail as well",
    "CONTRIBUTING.md": "scripts/check runs the rest",
}
"""Pages whose commands are run by other tests, or cannot be run inside one."""

AT_HAND = {"Node.js": "node"}
"""Programs that some blocks need; a block is run on machines that have its program."""

LONG = ("docs/start.md", "docs/tutorials/agent-http.md", "docs/tutorials/comparing-memories.md")
"""Pages that run for the better part of a minute."""

NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
SETTING_UP = ("python3 -m venv", ". .venv", "pip install")


def consoles(page: Path) -> Iterator[Block]:
    yield from (block for block in blocks(page) if block.language == "console")


def on_this_machine(name: str) -> bool:
    """Return whether a page is tried only where a machine has the programs that it needs."""
    return any(block.needs in AT_HAND for block in consoles(ROOT / name))


KEPT = pytest.mark.proof(
    together=True,
    files=("*.md", "*/README.md", "docs/**/*.md", "agents/*.*", "configs/*.*", "pyproject.toml"),
)
"""What else is started there is this project, by the interpreter that runs the tests."""


@pytest.mark.slow
@pytest.mark.usefixtures("quick_check")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in LONG else () if on_this_machine(name) else KEPT)
        for name in NAMES
        if name not in ELSEWHERE
    ],
)
def test_what_a_page_shows_can_be_typed_from_top_to_bottom(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    # a checkout that was installed earlier may not have told pytest of the plug-in
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p ltm_bench.cli.testing -p no:cacheprovider")
    monkeypatch.syspath_prepend(tmp_path)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for block in blocks(ROOT / name):
            if block.file is not None:
                Path(block.file).parent.mkdir(parents=True, exist_ok=True)
                Path(block.file).write_text(block.text, "utf-8")
            elif block.language == "console" and (not block.needs or which(AT_HAND.get(block.needs, ""))):
                for shown in block.commands():
                    if not shown.command.startswith(SETTING_UP):
                        perform(shown, block, running)
    finally:
        for process in running:
            process.terminate()
            process.wait()


def perform(shown: Shown, block: Block, running: list[subprocess.Popen[bytes]]) -> None:
    if shown.command.endswith("&"):
        running.append(subprocess.Popen(shown.words[:-1]))
        wait_for(*(int(port) for port in re.findall(r"localhost:(\d+)", block.text)))
    elif shown.words[0] == "ltm-bench":
        done = CliRunner().invoke(app, shown.words[1:], catch_exceptions=False)
        assert done.exit_code == 0, f"$ {shown.command}\n{done.output}"
        expect(shown.output, done.output)
    else:
        ran = subprocess.run(shown.words, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"$ {shown.command}\n{ran.stdout}{ran.stderr}"
        expect(shown.output, ran.stdout)


def wait_for(*ports: int) -> None:
    for port in ports:
        for _ in range(1000):
            with socket.socket() as probe:
                if probe.connect_ex(("localhost", port)) == 0:
                    break
            time.sleep(0.1)


def expect(lines: tuple[str, ...], output: str) -> None:
    """Check that the lines come in this order; `…` stands for any others."""
    said = [" ".join(line.split()) for line in output.splitlines()]
    place = 0
    for line in lines:
        wanted = " ".join(line.split())
        if wanted != "…":
            found = next((n for n in range(place, len(said)) if wanted in said[n]), None)
            assert found is not None, f"{wanted!r} is not in what follows:\n{output}"
            place = found + 1


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_a_page_shows_is_one_that_ltm_bench_takes(name: str) -> None:
    for block in consoles(ROOT / name):
        for shown in block.commands():
            words = shown.words
            if words[0] == "ltm-bench" and not set(words) & {"|", ">", "&&"} and "…" not in shown.command:
                parse(words[1:])


def parse(words: list[str]) -> None:
    """Parse a command line as `ltm-bench` does, without executing it."""
    command = typer.main.get_command(app)
    context = command.make_context("ltm-bench", [], resilient_parsing=True)
    if words == ["--version"]:
        return
    while hasattr(command, "get_command"):
        found = command.get_command(context, words[0])
        assert found is not None, f"no such command: {words[0]}"
        command, words = found, words[1:]
        if hasattr(command, "get_command"):
            context = command.make_context(words[0], [], parent=context, resilient_parsing=True)
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        if re.match(r"--?[A-Za-z]", word):
            assert word.partition("=")[0] in known, f"{command.name} has no {word}"


def test_every_page_listed_as_not_run_exists() -> None:
    assert set(ELSEWHERE) <= set(NAMES)


def test_every_block_states_its_needs_in_a_form_this_test_reads() -> None:
    for page in PAGES:
        for block in consoles(page):
            assert block.needs or "# needs" not in block.text, (
                f"{page}: # needs … is the first line of a block"
            )
            assert all(line == line.rstrip() for line in block.text.splitlines()), page
