"""Results in, pages out: `report.html` and `transcript.html`, each complete in itself.

The report has one small script, which filters examples; everything can be read without it, and the page's policy lets
no other run.

Whatever an agent or a scenario said is text and nothing else: it is escaped by the template engine, and characters
that cannot be seen, cannot be encoded or turn the direction of their surroundings are spelled out. The same input
gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from html import escape
from importlib import resources
from itertools import chain
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.core.clock import spoken_duration, stamp
from ltm_bench.core.messages import Outcome
from ltm_bench.log.events import Event, Jumped, Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_events, read_manifest
from ltm_bench.score.course import Course, Step
from ltm_bench.score.figures import bins, heats, matched_parts, points, skills
from ltm_bench.score.results import FIGURES, ExampleResult, Question, Results, Retrieval, ScenarioResult

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

LONGEST = 4000
"""Characters of a text that the report shows at most; fewer where very many texts are long."""

SHORTEST = 250
"""Characters of a text that the report shows in any case."""

BUDGET = 500_000
"""Bytes that the texts of a report may take up together before each is cut shorter."""

LONGEST_TURN = 100_000
"""Characters of a message or a reply that the transcript shows; the event log has all of them."""

LONGEST_MANIFEST = 60_000
"""Characters of the manifest that the report shows; the event log starts with all of it."""

LONGEST_SETTING = 400
"""Characters of a parameter that the report shows beside its scenario."""

MOST_NEEDLES = 40
"""Needles of an example that the report lists; all of them are in the strips and in the transcript."""

MOST_CELLS = 256
"""Parts of a question that the report draws one by one."""

STRIP = 1000
"""Width of a strip in its own units."""

MEANINGS = {
    Outcome.CORRECT: "all that was asked for is right",
    Outcome.PARTIAL: "some of it is right",
    Outcome.STALE: "a value that was right once and has been replaced since",
    Outcome.WRONG: "something else",
    Outcome.ABSTAINED: "the agent said that it does not know, or declined",
    Outcome.MALFORMED: "nothing that could be read as an answer",
    Outcome.UNDECIDED: "text alone cannot tell, and no judge was asked; it counts 0",
    Outcome.OVERFLOW: "the conversation did not fit into the agent's window",
    Outcome.AGENT_ERROR: "the agent failed to reply",
    Outcome.JUDGE_ERROR: "the reply could not be judged",
    Outcome.NOT_REACHED: "the run stopped before the question",
}

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def visible(text: str) -> str:
    """Spell out controls, lone surrogates and characters that override the direction of writing.

    Control characters become their pictures (`␀`), all else its code point (`⟨U+202E⟩`). Line ends and tabs stay.
    """
    return _UNSEEN.sub(_spell, text.replace("\r\n", "\n"))


def _finalize(value: Any) -> Any:
    """Make every text that a template puts out visible; markup that the template made itself stays as it is."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def shortened(text: str, limit: int, whole: str = "the transcript") -> str:
    """Cut a text that is too long for a page, and say how much was left out and where it can be read."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]} … ({left:,} characters more, see {whole})"


def marked(text: str, places: Iterable[tuple[int, int]], limit: int) -> Markup:
    """Cut a text as `shortened` does, and mark the words at these places as far as they are shown."""
    from markupsafe import Markup

    shown, end = "", 0
    for start, stop in places:
        if stop > limit:
            break
        shown += f"{escape(visible(text[end:start]))}<mark>{escape(visible(text[start:stop]))}</mark>"
        end = stop
    return Markup(shown + escape(visible(shortened(text[end:], limit - end))))  # every piece is escaped


def longest(results: Results) -> int:
    """Return how many characters of a text the report shows, so that all texts together stay within BUDGET."""
    texts = [
        text[:LONGEST]
        for example in results.examples
        for text in chain(
            (needle.text for needle in example.needles[:MOST_NEEDLES]),
            *((q.text, q.expected, q.reply or "", q.reason) for q in example.questions),
        )
    ]
    limit = LONGEST
    while limit > SHORTEST and sum(map(_size, (text[:limit] for text in texts))) > BUDGET:
        limit //= 2
    return max(limit, SHORTEST)


def _size(text: str) -> int:
    """Return the bytes that a text takes up on a page."""
    return len(escape(visible(text)).encode())


def figure(value: float, top: float = 1.0, digits: int = 1) -> str:
    """Write a score with few digits, but never a full score, or none, that is not one."""
    for precision in range(digits, 10):
        text = f"{value:.{precision}f}"
        if all((float(text) == end) == isclose(value, end, rel_tol=0, abs_tol=1e-9) for end in (0, top)):
            break
    return text


def short_tokens(tokens: int) -> str:
    """Write a span as its flag is written: `120k`, `10M`, `1,234`."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if tokens >= size and tokens % (size // 10) == 0:
            return f"{tokens / size:g}{unit}"
    return f"{tokens:,}"


def plural(count: int, noun: str, many: str = "") -> str:
    """Write `1 question`, `2 questions`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def seconds(value: float) -> str:
    """Write a duration of the real world: `0.42 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if value < 10:
        return f"{value:.2g} s" if value >= 0.001 else "under 1 ms"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def cost(dollars: float | None, free: bool) -> str:
    """Write what a run cost; an unknown price is never 0, and an agent that has a price is never free."""
    if dollars is None:
        return "unknown"
    if dollars == 0:
        return "free" if free else "$0.00"
    return (
        f"${dollars:,.2f}" if dollars >= 0.1 else f"${dollars:.4f}" if dollars >= 0.0001 else "under $0.0001"
    )


def moment(at: datetime) -> str:
    """Write a benchmark time for tables."""
    return at.isoformat(" ", "minutes")[:16]


def slug(name: str) -> str:
    """Turn a name into a part of an anchor. Names that differ have anchors that differ."""
    return re.sub(r"[^\w/-]", lambda match: f".{ord(match[0]):x}.", name, flags=re.ASCII).replace("/", "-")


def anchor(turn: int, example: str, *, isolated: bool) -> str:
    """Name a turn of the transcript; in an isolated run every example counts its own turns."""
    return f"{slug(example)}-turn-{turn}" if isolated else f"turn-{turn}"


def percent(value: float, whole: float) -> str:
    """Give a share as an SVG coordinate in percent, kept inside the picture."""
    return f"{100 * min(1.0, max(0.0, value / whole if whole else 0.0)):.2f}".rstrip("0").rstrip(".")


def grade(score: float) -> str:
    """Name the look of a part: found, half or lost."""
    return "found" if score >= 1 else "lost" if score <= 0 else "half"


def reached(example: ExampleResult) -> bool:
    """Whether all its questions were asked and answered, so that its span and depths are known."""
    unanswered = (Outcome.NOT_REACHED, Outcome.AGENT_ERROR)
    return not any(question.outcome in unanswered for question in example.questions)


def known_chance(of: Results | ScenarioResult) -> float | None:
    """Return the chance level; None where questions that were not reached would have a part in it."""
    return None if Outcome.NOT_REACHED in of.outcomes else of.chance


def in_span(position: int, example: ExampleResult) -> str:
    """Say where in its example's span a message stood: `33 %` of the way to the last question."""
    if not reached(example):
        return "–"
    asked = [question.position for question in example.questions if question.position is not None]
    if not asked:
        return "–"
    start = min(asked + [needle.position for needle in example.needles])
    return f"{100 * (position - start) / max(1, max(asked) - start):.0f} %"


def ticks(example: ExampleResult, length: int) -> list[tuple[str, str]]:
    """Draw the needles of an example as one path for each look: `told`, or how well each was remembered."""
    parts = matched_parts(example)
    paths: dict[str, list[str]] = {}
    for i, needle in enumerate(example.needles):
        x = round(STRIP * min(1.0, needle.position / max(1, length)), 1)
        paths.setdefault(grade(parts[i]) if parts else "told", []).append(f"M{x:g} 3v14")
    return [(look, "".join(moves)) for look, moves in paths.items()]


def heat_paths(parts: Sequence[float]) -> list[tuple[str, str]]:
    """Draw a row of a heat map as one path for each look; every part is one unit wide and high."""
    paths: dict[str, list[str]] = {}
    for i, part in enumerate(parts):
        paths.setdefault(grade(part), []).append(f"M{i + 0.05:g} .05h.9v.9h-.9z")
    return [(look, "".join(moves)) for look, moves in paths.items()]


def course_line(steps: Sequence[Step], what: str) -> str:
    """Draw a figure along the conversation as a line, its greatest value at the top."""
    values = [getattr(step, what) or 0.0 for step in steps]
    whole = max(max(step.prompt for step in steps) if what in ("prompt", "cached") else max(values), 1e-12)
    end = max(1, steps[-1].position)
    places = (
        f"{STRIP * step.position / end:.1f} {100 - 100 * value / whole:.1f}"
        for step, value in zip(steps, values, strict=True)
    )
    return "M" + "L".join(places)


def course_area(steps: Sequence[Step], what: str) -> str:
    """Draw what lies under `course_line`."""
    end = max(1, steps[-1].position)
    return f"{course_line(steps, what)}L{STRIP} 100L{STRIP * steps[0].position / end:.1f} 100Z"


def filler_path(course: Course, length: int) -> str:
    """Draw the stretches of filler as one path."""
    scale = STRIP / max(1, length)
    return "".join(
        f"M{start * scale:.1f} 6h{max(0.3, (end - start) * scale):.1f}v8h-{max(0.3, (end - start) * scale):.1f}z"
        for start, end in course.filler
    )


def jump_path(course: Course, length: int) -> str:
    """Draw where time jumped as one path; jumps that fall together are drawn once."""
    places = dict.fromkeys(f"{STRIP * jump.position / max(1, length):.1f}" for jump in course.jumps)
    return "".join(f"M{place} 1v18" for place in places)


def going_on(course: Course, length: int) -> str:
    """Describe the strip of filler and jumps in words."""
    filled = sum(end - start for start, end in course.filler)
    hours = sum(jump.seconds for jump in course.jumps) / 3600
    jumps = (
        f"{len(course.jumps):,} jumps of benchmark time, {hours:,.0f} hours in all"
        if course.jumps
        else "no jumps"
    )
    return f"filler: {100 * filled / max(1, length):.0f} % of the conversation; {jumps}"


def where(example: ExampleResult) -> str:
    """Describe a strip in words, for those who cannot see it."""
    told = [f"{needle.position:,}" for needle in example.needles]
    if len(told) > 6:
        needles = f"{len(told)} needles from {told[0]} to {told[-1]}"
    else:
        needles = (
            f"{'needle' if len(told) == 1 else 'needles'} at {', '.join(told)}" if told else "no needles"
        )
    asked = [
        f"question at {question.position:,}: {question.outcome.replace('_', ' ')}"
        if question.position is not None
        else "question not reached"
        for question in example.questions
    ]
    return f"{example.id}, in tokens: {'; '.join([needles, *asked])}"


class Mark(NamedTuple):
    """A figure that stands beside the score, for comparison."""

    label: str
    note: str
    value: float | None
    look: str


def marks(results: Results) -> list[Mark]:
    """Return chance, floor and ceiling, each with None where nobody knows it."""
    agents = {"goldfish": "floor: remembers nothing", "perfect": "ceiling: forgets nothing"}
    return [
        Mark("chance", "blind guesses", known_chance(results), "chance"),
        *(Mark(name, note, results.references.get(name), "reference") for name, note in agents.items()),
    ]


class Segment(NamedTuple):
    """A piece of a stacked bar."""

    outcome: Outcome
    questions: int
    start: int


def stack(outcomes: Mapping[Outcome, int]) -> list[Segment]:
    """Lay outcomes end to end, in the order in which they are defined."""
    segments, start = [], 0
    for outcome in Outcome:
        if count := outcomes.get(outcome, 0):
            segments.append(Segment(outcome, count, start))
            start += count
    return segments


def counted(outcomes: Mapping[Outcome, int]) -> str:
    """Say outcomes in words: `2 correct, 1 not reached`."""
    return (
        ", ".join(f"{s.questions} {s.outcome.replace('_', ' ')}" for s in stack(outcomes)) or "no questions"
    )


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Give nested settings as rows of a table: `suite.start`, `2026-01-05`."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from flat(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def conversation_length(results: Results, *, isolated: bool) -> int:
    """Return the width of the strips in tokens: the conversation, or the longest one of an isolated run."""
    ends = chain.from_iterable(
        (
            *(needle.position for needle in example.needles),
            *(question.position for question in example.questions if question.position is not None),
        )
        for example in results.examples
    )
    longest = max(ends, default=0)
    return max(1, longest if isolated else max(longest, results.tokens))


@cache
def templates() -> jinja2.Environment:
    """Return the environment of all pages: it escapes, and spells out what cannot be seen."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ltm_bench.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: Sequence[Callable[..., Any]] = (
        cost,
        counted,
        course_area,
        course_line,
        figure,
        flat,
        grade,
        heat_paths,
        moment,
        in_span,
        known_chance,
        marked,
        matched_parts,
        percent,
        plural,
        seconds,
        short_tokens,
        shortened,
        slug,
        stack,
        stamp,
        where,
    )
    environment.filters |= {each.__name__: each for each in filters}
    environment.filters |= {
        "pretty": _pretty,
        "spoken": lambda value: spoken_duration(timedelta(seconds=value)),
    }
    environment.globals |= {
        "FIGURES": FIGURES,
        "MEANINGS": MEANINGS,
        "MOST_NEEDLES": MOST_NEEDLES,
        "MOST_CELLS": MOST_CELLS,
        "LONGEST_TURN": LONGEST_TURN,
        "LONGEST_MANIFEST": LONGEST_MANIFEST,
        "LONGEST_SETTING": LONGEST_SETTING,
        "STRIP": STRIP,
        "filler_path": filler_path,
        "jump_path": jump_path,
        "going_on": going_on,
        "anchor": anchor,
        "matched_parts": matched_parts,
        "reached": reached,
        "ticks": ticks,
    }
    return environment


@cache
def embedded(script: str) -> tuple[str, str]:
    """Return a script that stands in a page, and the hash by which a browser knows it from any other."""
    text = resources.files("ltm_bench.report").joinpath("templates", script).read_text("utf-8")
    return text, base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class _Group(NamedTuple):
    scenario: ScenarioResult
    examples: list[ExampleResult]


def render_page(
    results: Results, manifest: Manifest, environment: Mapping[str, Any], course: Course | None = None
) -> str:
    """Return `report.html`.

    Args:
        results: What the page shows.
        manifest: Of the same run.
        environment: Where it ran; shown as it is, at the end of the page.
        course: What the agent used along the conversation, where that is known.
    """
    groups = [
        _Group(scenario, [e for e in results.examples if e.scenario == scenario.name])
        for scenario in results.scenarios
    ]
    return (
        templates()
        .get_template("page.html.jinja")
        .render(
            results=results,
            manifest=manifest,
            environment=environment,
            held_on=held_on(environment),
            groups=groups,
            isolated=manifest.suite.isolated,
            length=conversation_length(results, isolated=manifest.suite.isolated),
            limit=longest(results),
            marks=marks(results),
            skills=skills(results),
            bins=bins(list(points(results))),
            heats=heats(results),
            course=course or Course((), None),
            script=embedded("filter.js"),
            scored=sum(example.score is not None for example in results.examples),
            lost=lost(results.examples),
            lost_by_scenario=[(g.scenario.name, found) for g in groups if (found := lost(g.examples))],
            PLACES=Retrieval.PLACES,
            unscored={o: n for o, n in results.outcomes.items() if o.infrastructure},
        )
    )


def held_on(environment: Mapping[str, Any]) -> str | None:
    """Return the day, in UTC, on which a run was begun, or None where that is not known."""
    started = environment.get("started")
    first = started[0] if isinstance(started, list) and started else None
    try:
        return datetime.fromisoformat(str(first)).astimezone(UTC).date().isoformat()
    except ValueError:
        return None


def lost(examples: Iterable[ExampleResult]) -> dict[str, int]:
    """Count where answers were lost, the earliest place first."""
    places = Counter(
        question.retrieval.lost
        for example in examples
        for question in example.questions
        if question.retrieval is not None
    )
    return {place: places[place] for place in Retrieval.PLACES if places[place]}


class Line(NamedTuple):
    """A turn as the transcript shows it, or a jump of the clock (which has no message)."""

    anchor: str
    turn: int
    kind: str
    example: str
    number: int | None
    """Of its example among all; None for filler."""
    at: datetime
    position: int
    tokens: int
    message: str
    reply: str | None
    """None where the agent did not answer."""
    finish: str
    question: Question | None


class _Known(NamedTuple):
    """What the lines of a transcript take from the results."""

    isolated: bool
    numbers: Mapping[str, int]
    questions: Mapping[tuple[str, int], Question]


def _lines(events: Iterable[Event], known: _Known) -> Iterator[Line]:
    sent: Sent | None = None
    for event in events:
        if isinstance(event, Sent):
            sent = event
        elif isinstance(event, Replied) and sent is not None:
            yield _line(sent, event, known)
            sent = None
        elif isinstance(event, Jumped):
            yield Line("", -1, "jump", "", None, event.to, event.position, 0, "", None, "", None)
    if sent is not None:
        yield _line(sent, None, known)


def _line(sent: Sent, replied: Replied | None, known: _Known) -> Line:
    example, turn = sent.example or "", sent.turn
    return Line(
        anchor(turn, example, isolated=known.isolated),
        turn,
        sent.kind,
        example,
        known.numbers.get(example),
        sent.at,
        sent.position,
        sent.tokens + (replied.tokens if replied else 0),
        sent.message,
        replied.reply if replied else None,
        replied.finish.value if replied else "",
        known.questions.get((example, turn)),
    )


class _Section(NamedTuple):
    title: str
    lines: Iterator[Line]


def render_transcript(run: Path, results: Results, target: Path) -> None:
    """Write `transcript.html`, every turn of a run, and hold no more than one turn while doing so."""
    manifest = read_manifest(run)
    isolated = manifest.suite.isolated
    known = _Known(
        isolated,
        {example.id: number for number, example in enumerate(results.examples)},
        {(e.id, q.turn): q for e in results.examples for q in e.questions if q.turn is not None},
    )
    names = {e.id.replace("/", "-"): e.id for e in results.examples}
    sections = (
        _Section(
            names.get(path.stem, path.stem) if isolated else "The conversation",
            _lines(read_events(path), known),
        )
        for path in conversations(run)
    )
    chunks = (
        templates()
        .get_template("transcript.html.jinja")
        .generate(results=results, manifest=manifest, sections=sections, isolated=isolated)
    )
    with target.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(chunks)
