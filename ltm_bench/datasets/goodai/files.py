"""Reads the files of GoodAI's LTM Benchmark: definitions of examples, and published results.

Two layouts are understood, and may be mixed in one folder:

- their own: `<run>/definitions/<Scenario>/<n>.def.json` and `<run>/results/<agent>/<Scenario>/<n>_<repetition>.json`;
- a compact one: `definitions-<span>/<Scenario>/<n>.def.json` and `results-*.jsonl` (or `.jsonl.gz`), one result a line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.datasets.dates import in_utc
from ltm_bench.datasets.streaming import OnBad as OnBad
from ltm_bench.datasets.streaming import read_elements

NAMES = {
    "Colours": "colours",
    "NameList": "name_list",
    "Jokes": "jokes",
    "Locations Directions": "locations_directions",
    "Prospective Memory": "prospective_memory",
    "Trigger Response": "trigger_response",
    "SallyAnne": "sally_anne",
    "Spy Meeting": "spy_meeting",
    "Shopping": "shopping_list",
    "ChapterBreak": "chapter_break",
    "Restaurant": "restaurant",
}
"""Their names for the scenarios, mapped to ours."""

_LOGGED = re.compile(r"(Test|Agent|System) \(([^)]{10,40})\): ?(.*)", re.DOTALL)
_SPAN = re.compile(r"(?<!\d)(\d{1,9})k\b", re.IGNORECASE)


class Exchange(NamedTuple):
    """One of their messages, and the agent's reply."""

    message: str
    reply: str
    at: datetime


@dataclass(frozen=True)
class Definition:
    """One example as defined."""

    benchmark: str
    scenario: str
    """Our name for it."""
    example: str
    script: tuple[str, ...]
    is_question: tuple[bool, ...]
    waits: tuple[Mapping[str, Any], ...]
    expected: tuple[Any, ...]


@dataclass(frozen=True)
class Performance:
    """One example as an agent answered it, and the score it got."""

    benchmark: str
    agent: str
    scenario: str
    example: str
    expected: tuple[Any, ...]
    score: float
    """From 0 to 1."""
    reason: str
    by_hand: bool
    """Whether its score was corrected by hand."""
    span: int
    """Tokens from its first line to its end, by their count."""
    exchanges: tuple[Exchange, ...]
    """The lines of its script in order, and what followed."""


def slug(name: str) -> str:
    """Return our name for one of their scenarios."""
    return NAMES.get(name, re.sub(r"\W+", "_", name).strip("_").lower())


def span_of(benchmark: str) -> int:
    """Return the span of a benchmark in tokens, from its name (`Benchmark 3 - 120k`); 0 if the name has none."""
    found = _SPAN.search(benchmark)
    return 1000 * int(found.group(1)) if found else 0


def _named(path: Path | str, error: Exception) -> str:
    return f"{path}: cannot be read as GoodAI's: {wrong_with(error)}"


_WRONG = (OSError, EOFError, ValueError, LookupError, TypeError, AttributeError)


def definitions(folder: Path, on_bad: OnBad) -> list[Definition]:
    """Read all definitions below a folder. Raises ConfigError if there is none."""
    found = []
    for path in sorted(folder.rglob("*.def.json")):
        benchmark = path.parts[-3] if path.parts[-3] != "definitions" else path.parts[-4]
        try:
            content = json_of(content_of(path))
            found.append(
                Definition(
                    benchmark=benchmark.removeprefix("definitions-"),
                    scenario=slug(path.parts[-2]),
                    example=path.name.removesuffix(".def.json"),
                    script=tuple(map(str, content["script"])),
                    is_question=tuple(map(bool, content["is_question"])),
                    waits=tuple(dict(wait) for wait in content.get("waits", ())),
                    expected=tuple(content["expected_responses"]),
                )
            )
        except _WRONG as error:
            on_bad(_named(path, error))
    if not found:
        raise ConfigError(f"{folder}: it has no readable <Scenario>/<n>.def.json")
    return found


def find_definition(
    known: Sequence[Definition], scenario: str, example: str, benchmark: str
) -> Definition | None:
    """Return the definition of an example: its benchmark's own, or another's, since most are identical at all spans."""
    fitting = [each for each in known if (each.scenario, each.example) == (scenario, example)]
    return next((each for each in fitting if each.benchmark == benchmark), fitting[0] if fitting else None)


def results(folder: Path, on_bad: OnBad) -> Iterator[Performance]:
    """Yield all published results below a folder; unreadable ones are reported and skipped."""
    for path in sorted([*folder.rglob("results-*.jsonl"), *folder.rglob("results-*.jsonl.gz")]):
        yield from _compact(path, on_bad)
    for path in sorted(folder.rglob("results/*/*/*.json")):
        try:
            yield _own(path, json_of(content_of(path)))
        except _WRONG as error:
            on_bad(_named(path, error))


def _compact(path: Path, on_bad: OnBad) -> Iterator[Performance]:
    try:
        for number, content in read_elements(path, on_bad):
            try:
                yield _line(content)
            except _WRONG as error:
                on_bad(_named(f"{path}:{number}", error))
    except ConfigError as error:
        on_bad(str(error))


def _line(content: Mapping[str, Any]) -> Performance:
    return Performance(
        benchmark=str(content["benchmark"]),
        agent=str(content["agent"]),
        scenario=slug(content["scenario"]),
        example=str(content["example"]),
        expected=tuple(content["expected"]),
        score=_share(content["score"], content.get("max_score", 1)),
        reason=_reason(content.get("reasoning", ())),
        by_hand=bool(content.get("manually_revised", False)),
        span=int(content.get("span_tokens") or 0),
        exchanges=_exchanges([(str(who), str(when), str(text)) for who, when, text in content["turns"]]),
    )


def _own(path: Path, content: Mapping[str, Any]) -> Performance:
    scenario, agent, benchmark = path.parts[-2], path.parts[-3], path.parts[-5]
    logged = [_LOGGED.fullmatch(line) for line in content["task_log"]]
    return Performance(
        benchmark=benchmark,
        agent=agent,
        scenario=slug(scenario),
        example=path.stem.rpartition("_")[0] or path.stem,
        expected=tuple(content["expected_responses"]),
        score=_share(content["score"], content.get("max_score", 1)),
        reason=_reason(content.get("reasoning", ())),
        by_hand=any(str(key).startswith("auto") for key in content),
        span=int(content.get("tokens") or 0),
        exchanges=_exchanges([(m[1], m[2], m[3]) for m in logged if m is not None]),
    )


def _share(score: Any, most: Any) -> float:
    share = float(score) / (float(most) or 1.0)
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"a score of {score} of {most}")
    return share


def _reason(said: Any) -> str:
    return "; ".join(map(str, said)) if isinstance(said, list | tuple) else str(said)


def _exchanges(turns: Sequence[tuple[str, str, str]]) -> tuple[Exchange, ...]:
    """Pair messages with replies; `System` marks messages of their benchmark that belong to no test."""
    found = []
    for (who, when, text), (answerer, _, reply) in pairwise(turns):
        if who != "Agent" and answerer == "Agent":
            found.append(Exchange(text, reply, in_utc(datetime.fromisoformat(when))))
    if not found:
        raise ValueError("it has no message with a reply")
    return tuple(found)
