"""Create a commented scenario or adapter to start from."""

import keyword
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from ltm_bench.cli.console import out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.values import spell_span, whole
from ltm_bench.plugins.files import catalogue
from ltm_bench.script.drafts import Asked, Draft, Marks, drafted


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
    from ltm_bench.cli.marking import marked, transcript

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
