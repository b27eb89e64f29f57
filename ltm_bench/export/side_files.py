"""Checks the files beside a log, and what results make of them: it cannot be proved, but some of it cannot be true.

What blind readers answered is read again: equal answers have to give equal spans, and these equal verdicts.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter

from ltm_bench.core.errors import NotVerified, first_problem
from ltm_bench.core.keys import REMOVED
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Matcher, Outcome, Verdict
from ltm_bench.export.stored import Place
from ltm_bench.judge import blind
from ltm_bench.judge.reading import BlindCase, cases_of, settled
from ltm_bench.log.asked import ASKED, AskedFor
from ltm_bench.log.calls import CALLS
from ltm_bench.log.events import usage_of
from ltm_bench.log.lines import LARGEST, side_lines
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.judgements import BLIND, JUDGEMENTS, OVERRIDES, VAGUE, BlindReading
from ltm_bench.score.audits.records import AUDIT
from ltm_bench.score.results.examples import BLIND as BY_READER
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.open_examples import AskedQuestion

_Number = Annotated[float, Field(strict=True)] | None


class _Environment(BaseModel):
    """The content of environment.json."""

    started: list[AwareDatetime] = []
    packages: dict[str, str] = {}
    tags: dict[str, str] = {}
    window: Annotated[int, Field(strict=True, gt=0)] | None = None
    outlook: str = ""
    calls_kept: bool = False


class _Charged(BaseModel):
    """A line of timings.jsonl."""

    turn: Annotated[int, Field(strict=True)] | None = None
    conversation: str | None = None
    seconds: _Number = None
    failed_after: _Number = None
    dollars: _Number = None
    reserved: _Number = None
    attempts: list[dict[str, Any]] = []
    operations: list[tuple[str, _Number, list[Any]]] = []


class _Called(_Charged):
    """A line of calls.jsonl."""

    role: str | None = None
    server: str | None = None
    ending: str | None = None
    usage: dict[str, Any] | None = None
    at: AwareDatetime | None = None
    key: str | None = None
    name: str | None = None
    sent: Annotated[int, Field(strict=True)] | None = None


_FORMS: Mapping[str, TypeAdapter[Any]] = {
    "environment.json": TypeAdapter(_Environment),
    ASKED: TypeAdapter(AskedFor),
    "timings.jsonl": TypeAdapter(_Charged),
    CALLS: TypeAdapter(_Called),
    **dict.fromkeys(
        ("results.json", JUDGEMENTS, BLIND, OVERRIDES, VAGUE, AUDIT), TypeAdapter(dict[str, Any])
    ),
}

_DERIVED = ("costs", "in_all", "latency", "operations", "seconds")
"""What of results.json comes from side files; in the rest, a number can be negative."""


def check_side_files(run: Path) -> None:
    """Check that a run's side files have their form, and that no amount in them is negative or endless.

    Raises:
        NotVerified: One of them is damaged, or says what no run writes.
    """
    for name, form in _FORMS.items():
        path = run / name
        if not path.exists():
            continue
        where = name
        try:
            lined = path.suffix == ".jsonl"
            for number, content in enumerate(side_lines(path) if lined else [content_of(path)], start=1):
                if lined and not content.endswith(b"\n"):
                    break  # torn by a crash
                where = f"{name}:{number}" if lined else name
                record = json_of(content)
                form.validate_python(record)
                if name == CALLS and (used := record.get("usage")) is not None and usage_of(used) is None:
                    raise ValueError(
                        f"usage: no usage: {used!r:.80}; its figures are whole numbers of at least 0"
                    )
                if name == "results.json":
                    record = {key: record.get(key) for key in _DERIVED}
                for key, value in _numbers("", record):
                    if key != "seed" and not 0 <= value <= LARGEST:
                        raise ValueError(f"{key} is {value:g}, which is impossible")
        except (OSError, ValueError) as error:
            raise NotVerified(f"{run.name}: {where}: {first_problem(error)}") from error


def _numbers(key: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """Yield every number in a record, with the key that it stands under."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(name, each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(key, each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value


def reread(asked: Sequence[AskedQuestion], stated: Mapping[Place, Question]) -> Iterator[str]:
    """Yield what differs, of readings that today's code would have asked for in the same words.

    Args:
        asked: The questions of the log.
        stated: Those of results.json.
    """
    if not any(question.reading for question in stated.values()):
        return
    for case, each in cases_of(asked):
        place = Place(case.example, case.turn)
        question = stated.get(place)
        reading = None if question is None else question.reading
        if question is None or reading is None or REMOVED in case.reply:
            continue
        if all(opinion.rubric == blind.digest() for opinion in reading.opinions):
            for problem in _differing(case, each.expect, question, reading):
                yield f"{place}: {problem}"


def _differing(case: BlindCase, expect: Matcher, question: Question, reading: BlindReading) -> Iterator[str]:
    if any(each.prompt != text for each, text in zip(reading.opinions, case.prompts, strict=False)):
        yield "what the blind reader was asked in blind.jsonl is not what it had to be asked"
    found = settled(case, reading.opinions)
    if found != (reading.span, reading.said, reading.why):
        yield "what was read in blind.jsonl does not follow from the reader's answer there"
    if question.scorer != f"{type(expect).__name__}@{expect.version}" or question.opinions:
        return
    undecided = Verdict(Outcome.UNDECIDED, 0.0, "")
    verdict = verdict_by_reading(undecided, expect, case.question, case.reply, reading)
    outcome = question.outcome if question.override is None else question.override.was
    if BY_READER in (question.decided_by, question.overruled):
        if verdict is None or verdict.outcome is not outcome:
            yield f"results.json says {outcome}, its matcher does not say so of what was read in blind.jsonl"
    elif outcome is Outcome.UNDECIDED and verdict is not None:
        yield f"results.json says {outcome}, its matcher says {verdict.outcome} of what was read in blind.jsonl"
