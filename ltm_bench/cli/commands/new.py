"""Create a commented scenario or adapter to start from.

A scenario can be made of a transcript, whose turns a person marks in an editor: a line for each turn, as in git's
interactive rebase.
"""

import keyword
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Annotated, Literal, TypeVar

import typer

from ltm_bench.cli.console import out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.limits import content_of
from ltm_bench.core.tokens import counter
from ltm_bench.log.reader import conversations, read_manifest, read_turns
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.values import spell_span, whole
from ltm_bench.plugins.files import catalogue
from ltm_bench.report.text import visible
from ltm_bench.script.drafts import Asked, Draft, Marks, drafted
from ltm_bench.script.transcripts import StoredTurn, stored_turns


def create(kind: Literal["scenarios", "agents"], name: str, template: str) -> None:
    """Create a new scenario or adapter in the current directory from `cli/templates/`. Raises ConfigError."""
    path = _new(kind, f"{name}.py")
    words = name.split("_")
    text = files("ltm_bench.cli").joinpath("templates", f"{template}.py.txt").read_text("utf-8")
    title, kind_of = " ".join(words).capitalize(), "".join(map(str.capitalize, words))
    _write(path, Template(text).substitute(name=name, title=title, kind=kind_of))
    ask = f"run --span 2k --scenario {name}" if kind == "scenarios" else f"run --span 2k --agent {name}"
    out().print(f"{path} is written. Next:\n  ltm-bench check {path}\n  ltm-bench {ask}")


def _new(kind: Literal["scenarios", "agents"], file: str) -> Path:
    """Return where a new file goes. Raises ConfigError if its name cannot be used, or is taken."""
    one, name = kind.removesuffix("s"), file.partition(".")[0]
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,50}", name) or keyword.iskeyword(name):
        raise ConfigError(
            f"new {one} {name}: a name consists of lower-case letters, digits and _, and begins with a letter"
        )
    if name in catalogue(kind):
        raise ConfigError(f"new {one} {name}: this name is taken by {catalogue(kind)[name]}")
    return Path(kind) / file


def _write(path: Path, content: str) -> None:
    """Write a file that did not exist. Raises ConfigError."""
    path.parent.mkdir(exist_ok=True)
    try:
        path.write_text(content, "utf-8")
    except OSError as error:
        path.unlink(missing_ok=True)  # an empty file would take the name
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, which also names the file.")]


app = group("Create a scenario or an adapter.")


@command(app, "new agent notebook", "new agent my_product --memory", name="agent")
def new_agent(
    name: NewName,
    memory: Annotated[
        bool,
        Option("For a memory product: with every hook (recall, settle, memories, forget, fork, reserve, …)."),
    ] = False,
) -> None:
    """Create agents/NAME.py, a commented adapter that passes `check` as it is."""
    create("agents", name, "memory" if memory else "agent")


def _numbers(texts: Sequence[str]) -> Sequence[int]:
    return [whole(text, least=0) for text in texts]


@command(
    app,
    "new scenario ladder",
    "new scenario wrong_town --from chat.json",
    "new scenario wrong_town --from chat.json --told 3 --asked 9 --right Ghent --wrong Lima",
    name="scenario",
)
def new_scenario(
    name: NewName,
    source: Annotated[
        str | None,
        Option(
            "Make it of a transcript: a file of messages (OpenAI, Anthropic, LangChain, ShareGPT), or a run. Its turns "
            "are marked in your editor, or by the options below.",
            "TRANSCRIPT",
            flags=("--from",),
            variable="FROM",
        ),
    ] = None,
    told: Annotated[
        Sequence[int], Option("The turn in which something was told, from 0 on.", "N", _numbers)
    ] = (),
    asked: Annotated[Sequence[int], Option("The turn in which it was asked for.", "N", _numbers)] = (),
    right: Annotated[
        Sequence[str],
        Option("The right answer; one for every --asked, or several parts of one answer.", "ANSWER"),
    ] = (),
    wrong: Annotated[
        Sequence[str], Option("A wrong answer, such as one that was right before.", "ANSWER")
    ] = (),
) -> None:
    """Create scenarios/NAME.py, a commented scenario that passes `check`, or NAME.toml from a transcript."""
    given = bool(told or asked or right or wrong)
    if source is None:
        if given:
            raise ConfigError(
                "--told, --asked, --right and --wrong mark turns of a transcript; name it with --from"
            )
        create("scenarios", name, "scenario")
        return
    from ltm_bench.cli.commands.new import marked, transcript

    path = _new("scenarios", f"{name}.toml")
    turns = transcript(source)

    def take(marks: Marks) -> Draft:
        found = drafted(turns, marks, Path(source).name)
        _check(path.name, found.toml)
        return found

    if given:
        if len(asked) > 1 and len(right) != len(asked):
            raise ConfigError(f"{len(asked)} turns are --asked, with {len(right)} --right: name one for each")
        answers = [[each] for each in right] if len(asked) > 1 else [right]
        draft = take(Marks(told, [Asked(n, each, wrong) for n, each in zip(asked, answers, strict=False)]))
    else:
        draft = marked(turns, source, take)
    _write(path, draft.toml)
    count = counter().count
    length = sum(count(turn.text) + count(turn.reply) for turn in draft.between)
    out().print(f"{path} is written, and passes `check`.")
    for number, verdict in draft.verdicts.items():
        out().print(
            safe(f"turn {number}: the transcript's own reply is {verdict.outcome.value}: {verdict.reason}")
        )
    out().print(
        f"from the first of its turns to the last, the transcript has {length:,} tokens. Next:\n"
        f"  ltm-bench run --scenario {name} --examples 1 --span {spell_span(-(-max(length, 2000) // 1000) * 1000)}"
    )


def _check(file: str, content: str) -> None:
    """Raise ConfigError if a scenario in TOML does not pass `check`."""
    from ltm_bench.runner.checking import check_file

    with TemporaryDirectory() as folder:
        path = Path(folder) / file
        path.write_text(content, "utf-8")
        failed = [finding.text for finding in check_file(path, {}) if not finding.ok]
    if failed:
        raise ConfigError(f"the scenario would not pass `check`: {failed[0]}")


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
