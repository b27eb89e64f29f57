"""Finished runs that many tests read: each is made once a session, by whichever process asks first.

Nobody writes to them: their files are read-only, which root may ignore, so their bytes are compared at the end as well.
A test that changes a run takes a copy.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from filelock import FileLock

from ltm_bench import run

if TYPE_CHECKING:
    from tests.keeping import Watching
else:
    from keeping import Watching

PLACE = "finished"
"""The folder of these runs, in the temporary folder of the session."""


def place(factory: pytest.TempPathFactory) -> Path:
    """Return the folder that all processes of a session share."""
    base = factory.getbasetemp()
    return (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / PLACE


def digest(folder: Path) -> str:
    """Return a hash of the names and bytes of all files in a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return found.hexdigest()


def changed(folder: Path) -> Iterator[str]:
    """Yield the names of the finished runs that a test has written to."""
    for said in sorted(folder.glob("*.sha256")):
        if digest(folder / said.stem) != said.read_text("utf-8"):
            yield said.stem


def copied(run: Path, target: Path) -> Path:
    """Copy a finished run to a folder that does not exist yet, where it may be written to."""
    shutil.copytree(run, target, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


class Finished:
    """Finished runs by suite, span and agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(
        self, agent: str = "parrot", span: str = "2k", suite: str = "standard", **options: Any
    ) -> Path:
        """Return the folder of a finished run; its name says what it is of.

        Args:
            agent: As in `ltm_bench.run`, like all others.
            span: The span.
            suite: The suite.
            options: Whatever else `ltm_bench.run` takes.
        """
        more = "".join(f"-{key}-{value}" for key, value in sorted(options.items()))
        name = "-".join(re.findall(r"[^\W_]+", f"{suite}-{span}-{agent}{more}"))
        made, said = self._folder / name, self._folder / f"{name}.sha256"
        used = self._folder / f"{name}.opened"
        self._folder.mkdir(exist_ok=True)
        with FileLock(self._folder / f"{name}.lock"):
            if not said.exists():
                with Watching() as opened:
                    run(agent, span, suite=suite, reports=self._folder, name=name, **options)
                used.write_text("\n".join(map(str, sorted(opened))), "utf-8")
                for path in made.rglob("*"):
                    path.chmod(0o555 if path.is_dir() else 0o444)
                said.write_text(digest(made), "utf-8")
        Watching.note(map(Path, used.read_text("utf-8").splitlines()))
        return made

    def copy(self, target: Path, *words: str, **options: Any) -> Path:
        """Copy a finished run to a folder that does not exist yet, where it may be written to."""
        return copied(self(*words, **options), target)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """`finished("perfect", "2k", "trust")` is the folder of such a run, to be read alone; `finished.copy(…)` a copy."""
    return Finished(place(tmp_path_factory))
