"""Files of any size and depth: a command that reads one takes bounded memory and time, and says what is in its way.

A case is a file that somebody gives to a command, and a shape that is large for its form. All take minutes.
"""

import gzip
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.attacks import complaint
    from tests.conftest import Command
    from tests.finished import Finished
else:
    from attacks import complaint

CASES = 40
MOST = 2000
"""MB that a command may take: a file of the largest size that is read, some times over."""
SECONDS = 60
SIZE = 60 << 20
LINE = b'{"turn":7,"seconds":0.25,"operations":[["answer",0.25,[]]]}\n'
RUN = ("run", "--span", "2k", "--examples", "1", "--agent", "parrot")
TARGETS: dict[str, tuple[str, ...]] = {
    "reports/r/events.jsonl": ("report", "r"),
    "reports/r/results.json": ("compare", "r", "--json"),
    "reports/r/asked.json": ("resume", "r"),
    "reports/r/timings.jsonl": ("report", "r"),
    "reports/r/environment.json": ("verify", "r"),
    "reports/r/judgements.jsonl": ("export", "r"),
    "reports/r/verdicts.jsonl": ("verify", "r"),
    "bundle.zip": ("verify", "bundle.zip"),
    "chat.json": ("new", "scenario", "mine", "--from", "chat.json", "--told", "0", "--asked", "1", "--right", "x"),
    "locomo.json": ("datasets", "show", "locomo", "--data", "locomo.json"),
    "beam.json": ("datasets", "audit", "beam.json"),
    "answers.jsonl": ("score", "published", "answers.jsonl"),
    "answers.csv": ("score", "panel", "answers.csv"),
    "configs/mine.toml": (*RUN, "--suite", "mine"),
    "run.toml": ("run", "--config", "run.toml"),
    "scenarios/town.toml": ("check", "scenarios/town.toml"),
    "scenarios/town.py": ("check", "scenarios/town.py"),
}  # fmt: skip


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def _packed(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(400):
            file.write(b"0" * (1 << 20))


def _lines(path: Path) -> None:
    path.write_bytes(b'{"a": 1, "id": "x"}\n' * 2_000_000)


SHAPES: dict[str, Callable[[Path], object]] = {
    "sparse": _sparse,
    "packed": _packed,
    "lines": _lines,
    "one line": lambda path: path.write_bytes(b"x" * SIZE),
    "one text": lambda path: path.write_bytes(b'{"id": "' + b"x" * SIZE + b'"}'),
    "open lists": lambda path: path.write_bytes(b"[" * SIZE),
    "lists": lambda path: path.write_bytes(b"[" + b"[]," * (SIZE // 3) + b"[]]"),
    "a number": lambda path: path.write_bytes(b"x = " + b"9" * SIZE),
}


def fault(run: Path, place: Path, name: str, shape: str) -> str:
    """Return what is wrong with how a command takes such a file; empty if nothing is."""
    for folder in ("reports", "configs", "scenarios"):
        (place / folder).mkdir(parents=True)
    shutil.copytree(run, place / "reports" / "r", copy_function=shutil.copyfile)
    for path in (place / "reports" / "r", *(place / "reports" / "r").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if name == "reports/r/asked.json":  # there is something left to do
        log = place / "reports" / "r" / "events.jsonl"
        log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:60]))
    SHAPES[shape](place / name)
    words = [sys.executable, "-m", "ltm_bench", *TARGETS[name]]

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # the machine is not ours alone

    with (place / "out").open("w+") as out, (place / "err").open("w+") as err:
        process = subprocess.Popen(words, cwd=place, stdout=out, stderr=err, preexec_fn=limits)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    said = [(place / name).read_text("utf-8", "replace") for name in ("out", "err")]
    shutil.rmtree(place)
    found = complaint(process.returncode, *(each[-3000:] for each in said))
    if used.ru_maxrss >> 10 > MOST:
        found += f" {used.ru_maxrss >> 10} MB"
    if len(said[1]) > 100_000:
        found += f" {len(said[1])} characters of complaints"
    return f"{name}, {shape}: {found}" if found else ""


def chosen() -> list[tuple[str, str]]:
    every = [(name, shape) for name in TARGETS for shape in SHAPES]
    random.Random("sizes 1").shuffle(every)
    return every[:CASES]


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_no_file_of_any_size_takes_more_than_its_share(finished: "Finished", tmp_path: Path) -> None:
    run = finished("parrot", suite="smoke", examples=1)
    found = [fault(run, tmp_path / str(at), *case) for at, case in enumerate(chosen())]
    assert list(filter(None, found)) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape"),
    [("configs/mine.toml", "sparse"), ("scenarios/town.py", "lists"), ("reports/r/timings.jsonl", "sparse")],
)
def test_a_suite_a_scenario_and_a_side_file_of_any_size_take_no_more_than_their_share(
    finished: "Finished", tmp_path: Path, name: str, shape: str
) -> None:
    run = finished("parrot", suite="smoke", examples=1)
    assert fault(run, tmp_path / "place", name, shape) == ""


@pytest.mark.parametrize("name", ["timings.jsonl", "calls.jsonl"])
def test_a_side_file_of_more_lines_than_are_read_is_refused_at_once_in_one_line(
    finished: "Finished", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(finished("parrot", suite="smoke", examples=1), "reports/r", copy_function=shutil.copyfile)
    path = Path("reports/r", name)
    path.chmod(0o644)
    monkeypatch.setattr("ltm_bench.log.lines.LINES", 5000)
    given = path.read_bytes() if path.exists() else b""
    for lines, read in ((4000, True), (5001, False)):
        path.write_bytes(given + b'{"turn":1,"seconds":0.25}\n' * lines)
        for words in (("report", "r"), ("verify", "r"), ("rescore", "r")):
            done = command(*words)
            assert done.exit_code == (0 if read else 1), (words, done.output)
            if not read:
                assert len(done.err.strip().splitlines()) == 1
                assert f"{name}: it has " in done.err.replace("\n", " ")
                assert "at most 5,000 are read" in " ".join(done.err.split())
