"""Formats figures for people: scores, durations, costs, counts."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from math import ceil, isclose
from typing import TYPE_CHECKING, Any

from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.course import Course
from ltm_bench.score.results.examples import ExampleResult

if TYPE_CHECKING:
    from ltm_bench.score.comparison.retest import Retest

_LEVEL = 0.05
"""A p-value below it shows a difference."""


def figure(value: float, top: float = 1.0, digits: int = 1) -> str:
    """Write a score. It is rounded, but never to 0 or to `top` unless that is its value."""
    for precision in range(digits, 10):
        text = f"{value:.{precision}f}"
        if all((float(text) == end) == isclose(value, end, rel_tol=0, abs_tol=1e-9) for end in (0, top)):
            break
    return text


def would_show(points: float) -> str:
    """Say the smallest difference that a comparison would probably show."""
    return f"it would probably show a difference of {figure(points, top=0.0, digits=2)} points or more"


def moves(by_name: Mapping[str, float]) -> str:
    """Say how far agents move by themselves: `by themselves (test-retest), a moves by 0.21 and b by 0.00`."""
    told = " and ".join(f"{name} moves by {figure(points, 0.0, 2)}" for name, points in by_name.items())
    return f"by itself (test-retest), {told}"


def retested(found: "Retest") -> str:
    """Say how far an agent moves by itself, question by question, and what a gate must allow for."""
    share = found.same_interval
    return (
        f"{plural(found.runs, 'run')} of {plural(len(found.seeds), 'seed')}: the score moves by {found.score:.2f} "
        f"(standard deviation); {found.same:,} of {plural(found.questions, 'question')} got the same verdict every "
        f"time (95 % {100 * share.low:.0f} to {100 * share.high:.0f} %), and two runs agree on "
        f"{100 * found.agreement:.1f} %; unchanged, it falls by more than {drop(found.max_drop)} of all points in 5 % "
        "of comparisons of two runs"
    )


def drop(share: float) -> str:
    """Write a share of all points for `--max-drop`, rounded up."""
    return f"{ceil(1000 * share - 1e-9) / 1000:.3f}"


def signed(value: float) -> str:
    """Write a difference with its sign: `+1.20`, `−0.003`; it is never rounded to 0 unless that is its value."""
    if abs(value) < 1e-9:
        return "0.00"
    return f"{'+' if value > 0 else '−'}{figure(abs(value), 0.0, 2)}"


def p_value(p: float) -> str:
    """Write a p-value: `p = 0.034`, `p < 0.001`; it stays on its side of 0.05."""
    if p < 0.001:
        return "p < 0.001"
    for digits in range(3, 18):
        text = f"{p:.{digits}f}"
        if (float(text) < _LEVEL) == (p < _LEVEL):
            break
    return f"p = {text}"


def short_tokens(tokens: int) -> str:
    """Write a span as users type it: `120k`, `10M`, `1,234`."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if tokens >= size and tokens % (size // 10) == 0:
            return f"{tokens / size:g}{unit}"
    return f"{tokens:,}"


def plural(count: int, noun: str, many: str = "") -> str:
    """Write `1 question`, `2 questions`."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def seconds(value: float) -> str:
    """Write a wall-clock duration: `1.3 ms`, `0.42 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if 0.001 <= value < 0.1:
        return f"{1000 * value:.2g} ms"
    if value < 10:
        return f"{value:.2g} s" if value >= 0.001 else "under 1 ms"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def cost(dollars: float | None, free: bool) -> str:
    """Write a cost in US dollars.

    Args:
        dollars: None if the price is unknown, which is never shown as 0.
        free: Whether 0 means that the agent has no price, rather than that nothing was spent yet.
    """
    if dollars is None:
        return "unknown"
    if dollars == 0:
        return "free" if free else "$0.00"
    if dollars >= 0.1:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.0001 else "under $0.0001"


def moment(at: datetime) -> str:
    """Write a benchmark time for tables: `2026-01-05 09:00`."""
    return at.isoformat(" ", "minutes")[:16]


def counted(outcomes: Mapping[Outcome, int]) -> str:
    """Write outcomes as a list: `2 correct, 1 not reached`."""
    found = [
        f"{count} {outcome.replace('_', ' ')}" for outcome in Outcome if (count := outcomes.get(outcome))
    ]
    return ", ".join(found) or "no questions"


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield nested settings as rows of a table: `suite.start`, `2026-01-05`."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from flat(item, f"{name}.{key}" if name else str(key))
    else:
        yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def pretty(value: Any) -> str:
    """Write JSON over several lines."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def where(example: ExampleResult) -> str:
    """Describe the strip of an example to readers who cannot see it."""
    told = [f"{needle.position:,}" for needle in example.needles]
    if not told:
        needles = "no needles"
    elif len(told) > 6:
        needles = f"{len(told)} needles from {told[0]} to {told[-1]}"
    else:
        needles = f"{'needle' if len(told) == 1 else 'needles'} at {', '.join(told)}"
    asked = [
        f"question at {question.position:,}: {question.outcome.replace('_', ' ')}"
        if question.position is not None
        else "question not reached"
        for question in example.questions
    ]
    return f"{example.id}, in tokens: {'; '.join([needles, *asked])}"


def filler_and_time(course: Course, length: int) -> str:
    """Describe the strip of filler and time jumps to readers who cannot see it.

    Args:
        course: The conversation.
        length: Its tokens.
    """
    filled = sum(end - start for start, end in course.filler)
    hours = sum(jump.seconds for jump in course.jumps) / 3600
    jumps = (
        f"{len(course.jumps):,} jumps of benchmark time, {hours:,.0f} hours in all"
        if course.jumps
        else "no jumps"
    )
    return f"filler: {100 * filled / max(1, length):.0f} % of the conversation; {jumps}"
