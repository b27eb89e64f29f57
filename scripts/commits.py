#!/usr/bin/env python
"""Checks the messages of commits: a subject of at most 72 characters, and a body that says why.

scripts/commits.py          every commit since the release 0.2.0
scripts/commits.py FILE     the message in a file, as git's hook `commit-msg`
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASE = 'version = "0.2.0"'
"""The line of pyproject.toml with which the rule begins."""
MOST = 72
_TRAILER = re.compile(r"[A-Z][\w-]*-[\w-]+: ")
_SCISSORS = "# ------------------------ >8 ------------------------"


def problems(message: str) -> Iterator[str]:
    """Yield what is wrong with a message; merges and reverts are worded by git."""
    subject, _, body = message.strip().partition("\n\n")
    subject = " ".join(subject.splitlines())  # as git takes it
    if subject.startswith(("Merge ", 'Revert "')):
        return
    if not subject:
        yield "the message is empty"
    elif len(subject) > MOST:
        yield f"the subject has {len(subject)} characters, more than {MOST}: {subject}"
    if not any(line.strip() and not _TRAILER.match(line) for line in body.splitlines()):
        yield f"no body says why: {subject}"


def typed(path: Path) -> str:
    """Return the message in a file that git made for an editor, without its comments."""
    message = path.read_text("utf-8").partition(_SCISSORS)[0]
    return "\n".join(line for line in message.splitlines() if not line.startswith("#"))


def commits(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the short hash and the message of every commit since the release, the newest first.

    The release is the first commit whose pyproject.toml has its version. A shallow clone may begin later: then all that
    it has is checked, but for its first commit, whose parents it does not know, so that it may be a merge.
    """
    known = _git(root, "log", "--reverse", "--format=%H", f"-S{RELEASE}", "--", "pyproject.toml").split()[:1]
    if _git(root, "rev-parse", "--is-shallow-repository").strip() == "true":
        known += _git(root, "rev-list", "--max-parents=0", "HEAD").split()
    if not known:
        return
    log = _git(root, "log", "--no-merges", "--format=%h%n%B%x00", "HEAD", "--not", *known)
    for entry in filter(str.strip, log.split("\0")):
        name, _, message = entry.strip().partition("\n")
        yield name, message


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def main(arguments: list[str]) -> int:
    """Print what is wrong, and return the exit code."""
    if arguments:
        found = list(problems(typed(Path(arguments[0]))))
    elif not (ROOT / ".git").exists():
        print("not a checkout, so no commits to check")
        return 0
    else:
        checked = list(commits(ROOT))
        found = [f"{name}: {problem}" for name, message in checked for problem in problems(message)]
        print(f"{len(checked)} commits, {len(found)} faults")
    print(*found, sep="\n", end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
