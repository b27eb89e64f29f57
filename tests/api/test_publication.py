"""What is published of a run: every field of a verdict, everywhere; and every file is opened once for it."""

import asyncio
import csv
import dataclasses
import importlib
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

from ltm_bench import Matcher, Outcome, Reply, Run, Turn, Verdict, run
from ltm_bench.api import Options, rescore
from ltm_bench.core.errors import BudgetReached
from ltm_bench.export.formats import format_named, known
from ltm_bench.export.source import source_of
from ltm_bench.report.words import figure
from ltm_bench.score.results import fold
from ltm_bench.score.results.examples import FIELDS as QUESTION

if TYPE_CHECKING:
    from tests.undecided import SCENARIO
else:
    from undecided import SCENARIO

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

VALUES: Mapping[Any, Callable[[str, float], Any]] = {
    Outcome: lambda name, luck: Outcome.MALFORMED,
    str: lambda name, luck: f"this is the {name}",
    float: lambda name, luck: luck,
    float | None: lambda name, luck: luck,
    tuple[float, ...]: lambda name, luck: (luck + 0.01, luck + 0.02),
}
"""A value that no other verdict of the run has, for each type of field."""

HINTS = get_type_hints(Verdict)
FIELDS = [field.name for field in dataclasses.fields(Verdict)]
DISTINCT = Verdict(**{name: VALUES[HINTS[name]](name, 0.317 + 0.1 * i) for i, name in enumerate(FIELDS)})


@pytest.fixture
def distinct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose first question has that verdict."""
    given: list[Verdict] = []

    def verdict_on(expect: Matcher, reply: Reply, turns: Sequence[Turn]) -> Verdict:
        given.append(Verdict(Outcome.WRONG, 0.0, "no") if given else DISTINCT)
        return given[-1]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ltm_bench.runner.conversation.verdict_on", verdict_on)
    monkeypatch.setattr(fold, "decisive", lambda *_: ())
    return run(agent="goldfish", suite="smoke", span="2k", scenarios=["colours"], examples=2)


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value))


def test_no_field_of_a_verdict_has_the_name_of_one_of_its_question() -> None:
    assert not set(FIELDS) & set(QUESTION), "in JSON, they stand beside each other"


@pytest.mark.unkept
@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_verdict_is_in_the_files_of_the_run(distinct: Run, name: str) -> None:
    value = plain(getattr(DISTINCT, name))
    lines = (distinct.folder / "verdicts.jsonl").read_text("utf-8").splitlines()
    assert value in [json.loads(line).get(name) for line in lines]
    results = json.loads((distinct.folder / "results.json").read_text("utf-8"))
    assert value in [q.get(name) for example in results["examples"] for q in example["questions"]]


@pytest.mark.unkept
@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_verdict_is_on_the_page_beside_its_question(distinct: Run, name: str) -> None:
    page = (distinct.folder / "report.html").read_text("utf-8")
    [question] = [part for part in page.split('<div class="question ')[1:] if DISTINCT.reason in part]
    question = question.partition("</dl>\n</div>")[0]
    value = plain(getattr(DISTINCT, name))
    for each in value if isinstance(value, list) else [value]:
        shown = figure(each, digits=2) if isinstance(each, float) else each
        place = "report/templates/examples.html.jinja does not show question.verdict"
        assert shown in question, f"{place}.{name}"


@pytest.mark.unkept
@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_verdict_is_a_column_of_the_frame(
    distinct: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    assert plain(getattr(DISTINCT, name)) in [row.get(name) for row in distinct.frame()]


WITHOUT_VERDICTS = {
    "junit": "it says why a question failed: outcome and reason alone",
    "operations": "it is about a memory's operations",
    "otel": "tracing shows what became of a reply, in its own terms: score, outcome, reason, expectation, who decided",
}


def parquet(content: bytes) -> Iterable[Mapping[str, Any]]:
    found: list[dict[str, Any]] = (
        pytest.importorskip("pyarrow.parquet").read_table(io.BytesIO(content)).to_pylist()
    )
    return found


def inspect(content: bytes) -> Iterable[Mapping[str, Any]]:
    for sample in json.loads(content)["samples"]:
        yield from sample["scores"]["ltm_bench"]["metadata"]["verdicts"]


READERS: Mapping[str, Callable[[bytes], Iterable[Mapping[str, Any]]]] = {
    "csv": lambda content: csv.DictReader(io.StringIO(content.decode())),
    "inspect": inspect,
    "jsonl": lambda content: map(json.loads, content.splitlines()),
    "parquet": parquet,
}


@pytest.mark.unkept
@pytest.mark.parametrize("form", sorted(known().keys() - WITHOUT_VERDICTS.keys()))
def test_every_field_of_a_verdict_is_in_every_export(distinct: Run, form: str) -> None:
    content = format_named(form).write(source_of(distinct.folder, distinct.results))
    if form not in READERS:
        for name in FIELDS:
            text = str(getattr(DISTINCT, name)).strip("()")
            where = f"export/formats/{form}.py does not write {name} of a verdict as {text!r}"
            assert text.encode() in content, f"{where}; if it should not, say why in WITHOUT_VERDICTS"
        return
    verdicts = list(READERS[form](content))
    for name in FIELDS:
        value = plain(getattr(DISTINCT, name))
        if form == "csv":
            value = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        assert value in [each.get(name) for each in verdicts], name


AGENT = '''"""{name}: always says the same."""

from ltm_bench import Agent, Message, Reply, Turn


class Same(Agent):
    free = True

    async def observe(self, turn: Turn) -> None:
        """Nothing to keep."""

    async def reply(self, message: Message) -> Reply:
        return Reply({says!r})
'''
REPLIES = {
    "vague": "A dentist, a trombone, that sort of thing.",
    "yes": '{"reason": "why not", "verdict": "right"}',
}

OPENED = """
import json, os, shlex, sys
from collections import Counter

opened = Counter()


def hear(event, arguments):
    if event != "open" or not isinstance(arguments[0], (str, os.PathLike)):
        return
    path, flags = os.fsdecode(arguments[0]), arguments[2] or 0
    if os.path.join("reports", "r") in path and os.path.isfile(path) and not flags & (os.O_WRONLY | os.O_RDWR):
        opened[os.path.basename(path)] += 1


async def publish(*arguments, **more):
    opened.clear()
    return await theirs(*arguments, **more)


sys.addaudithook(hear)
from ltm_bench.api import running
from ltm_bench.cli.main import main

theirs, running.publish = running.publish, publish
for line in sys.argv[1:]:
    opened.clear()
    sys.argv[1:] = shlex.split(line)
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, line
    print("OPENED", json.dumps(opened))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario that matchers cannot decide, an agent, and a judge."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agents").mkdir()
    (tmp_path / "scenarios" / "joke.py").write_text(SCENARIO, "utf-8")
    for name, says in REPLIES.items():
        (tmp_path / "agents" / f"{name}.py").write_text(AGENT.format(name=name, says=says), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = ("run", "--span", "2k", "--scenario", "joke", "--examples", "2", "--agent", "vague", "--name", "r")


def opened_by(place: Path, *commands: str) -> list[dict[str, int]]:
    """Return how often each file of the run was opened to be read: by a run's publication, or by a whole command."""
    done = subprocess.run(
        [sys.executable, "-c", OPENED, *commands], cwd=place, capture_output=True, text=True, check=True
    )
    return [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("OPENED ")]


@pytest.mark.unkept
@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--judge", "yes"), ("--isolated",)], ids=["run", "judged", "isolated"])
def test_a_run_is_published_from_files_that_are_opened_once(place: Path, more: Sequence[str]) -> None:
    always = {"events.jsonl": 1, "timings.jsonl": 1, "environment.json": 1}
    found, *others = opened_by(place, shlex.join([*RUN, *more]), "report r", "rescore r")
    assert always.items() <= found.items()
    assert set(found.values()) == {1}, found
    judged = {"judgements.jsonl": 1} if "--judge" in more else {}
    _, rescored = others
    rescored["results.json"] -= 1  # rescore first reads what it shows the changes of
    for again in others:
        assert (always | judged).items() <= again.items()
        assert set(again.values()) == {1}, again


@pytest.mark.unkept
@pytest.mark.slow
def test_a_forked_run_is_published_from_files_that_are_opened_once(place: Path) -> None:
    [found] = opened_by(place, "run --suite smoke --span 2k --agent parrot --name r --quick")
    assert {"events.jsonl": 1, "forks.jsonl": 1}.items() <= found.items()
    assert set(found.values()) == {1}, found


def test_a_judged_run_scores_plays_and_draws_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(module: str, name: str) -> None:
        original = getattr(importlib.import_module(module), name)

        def call(*arguments: Any, **more: Any) -> Any:
            calls.append(name)
            return original(*arguments, **more)

        monkeypatch.setattr(f"{module}.{name}", call)

    counted("ltm_bench.api.publication", "play_alone")
    counted("ltm_bench.report.publishing", "render_page")
    counted("ltm_bench.score.results.fold", "verdict_on")
    made = run(agent="vague", span="2k", scenarios=["joke"], examples=2, judges=["yes"])
    assert made.score == 1.0
    assert calls == [
        "play_alone",
        "play_alone",
        "render_page",
    ]  # goldfish and perfect; the verdicts were known
    transcript = (made.folder / "transcript.html").read_text("utf-8")
    assert transcript.count("yes: why not") == 2
    assert ' o-correct"' in transcript
    assert ' o-undecided"' not in transcript
    before = {path.name: path.read_bytes() for path in made.folder.iterdir() if path.is_file()}
    asyncio.run(rescore(made.folder, Options()))
    assert {path.name: path.read_bytes() for path in made.folder.iterdir() if path.is_file()} == before


def test_a_judge_that_cannot_be_paid_leaves_the_run_with_its_pages(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broke(*_arguments: Any, **_more: Any) -> None:
        raise BudgetReached("no more")

    monkeypatch.setattr("ltm_bench.judge.asking.have_judged", broke)
    with pytest.raises(BudgetReached):
        run(agent="vague", span="2k", scenarios=["joke"], examples=2, judges=["yes"], name="r")
    results = json.loads((place / "reports" / "r" / "results.json").read_text("utf-8"))
    assert (results["complete"], results["undecided"]) == (True, 2)
    assert (place / "reports" / "r" / "transcript.html").exists()
