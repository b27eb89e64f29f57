"""Turns of a transcript, marked by a person in an editor: a line for each turn, as in git's interactive rebase."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.limits import content_of
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.plan.folders import find_run
from ltm_bench.report.text import visible
from ltm_bench.script.drafts import Asked, Marks
from ltm_bench.script.transcripts import StoredTurn, stored_turns

T = TypeVar("T")

_SHOWN = 200
"""Characters of a text in the editor."""

_WORDS = ("skip", "told", "asked", "right", "wrong")

_HELP = """\
# Mark the turns that make the example: change the word at the start of their lines.
#
#   skip    it is left out
#   told    the user said what is to be remembered
#   asked   the user asked for it; below it stand lines that begin with
#   right   … the right answer, in as few words as a good reply has (all parts of it, on a line each)
#   wrong   … an answer that is wrong, such as one that was right before
#
# The first letter of a word will do. Lines with # are ignored. If nothing is marked, nothing is written.
"""


def transcript(source: str) -> list[StoredTurn]:
    """Return the turns in a file, or in a run by its name or folder, without filler. Raises ConfigError."""
    path = Path(source)
    if path.name == "events.jsonl":
        path = path.parent
    elif path.is_file():
        try:
            return stored_turns(content_of(path))
        except (OSError, ValueError) as error:
            raise ConfigError(f"--from {source}: {error}") from error
    if not path.exists() and path.suffix:
        raise ConfigError(f"--from {source}: there is no such file")
    folder = find_run(str(path))
    manifest = read_manifest(folder)
    found: list[StoredTurn] = []
    for log in conversations(folder, manifest):
        for turn in read_turns(log, forks=True):
            number = len(found) if manifest.suite.isolated else turn.message.turn
            if turn.kind != "fill":
                found.append(StoredTurn(number, turn.message.text, turn.reply.text))
    if not found:
        raise ConfigError(f"--from {source}: the run has no turns yet")
    return found


def marked(turns: Sequence[StoredTurn], source: str, take: Callable[[Marks], T]) -> T:
    """Have the turns marked in an editor until the marks can be taken; an error is shown, and the editor opened again.

    Raises ConfigError if the editor cannot be started, or leaves the marks as they were.
    """
    head, sheet = source, "\n".join((_HELP, *(line for turn in turns for line in _lines(turn)), ""))
    while True:
        shown = f"# {head}\n{sheet}"
        text = _edited(shown)
        if text == shown or not text.strip():
            raise ConfigError(f"{'nothing is marked' if head == source else head}; nothing is written")
        try:
            return take(marks_in(text))
        except ConfigError as error:
            sheet = text.removeprefix(f"# {head}\n")
            head = " ".join(visible(str(error)).split())


def _lines(turn: StoredTurn) -> tuple[str, str]:
    return f"skip {turn.number}  {_short(turn.text)}", f"#      {_short(turn.reply)}"


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def marks_in(sheet: str) -> Marks:
    """Return what is marked in a sheet. Raises ConfigError, which names the line."""
    told: list[int] = []
    asked: list[tuple[int, list[str], list[str]]] = []
    for place, line in enumerate(sheet.splitlines(), start=1):
        first, _, rest = line.strip().partition(" ")
        if not first or first.startswith("#"):
            continue
        word = next((each for each in _WORDS if first in (each, each[0])), None)
        if word is None:
            raise ConfigError(
                f"line {place}: {first[:30]!r} is none of {', '.join(_WORDS)}{nearest(first, _WORDS)}"
            )
        if word in ("right", "wrong"):
            if not asked:
                raise ConfigError(f"line {place}: {word} belongs below the turn that is asked")
            _, right, wrong = asked[-1]
            (right if word == "right" else wrong).append(rest.strip())
            continue
        number = (rest.split() or [""])[0]
        if not (number.isascii() and number.isdigit()):
            raise ConfigError(f"line {place}: {word} {number[:30]}: the number of a turn is missing")
        if word == "told":
            told.append(int(number))
        elif word == "asked":
            asked.append((int(number), [], []))
    return Marks(told, [Asked(*each) for each in asked])


def _edited(text: str) -> str:
    """Return a text as a person leaves it in their editor. Raises ConfigError."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor is None and not sys.stdin.isatty():
        raise ConfigError(
            "there is no terminal to mark turns at; name them: --told N --asked N --right ANSWER, or set EDITOR"
        )
    editor = editor or ("notepad" if os.name == "nt" else "vi")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.txt"
        path.write_text(text, "utf-8")
        try:
            ended = subprocess.run([*shlex.split(editor, posix=os.name != "nt"), str(path)], check=False)
            if ended.returncode:
                raise ConfigError(f"the editor {editor!r} ended with {ended.returncode}; nothing is written")
            return content_of(path).decode()
        except (OSError, ValueError) as error:
            raise ConfigError(f"the editor {editor!r}: {error}; set EDITOR to another one") from error
