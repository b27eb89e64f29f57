"""Draws for the pages: SVG paths for strips, heat maps and lines."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltm_bench.score.results.course import Course, Step
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.results.figures import matched_parts

STRIP = 1000
"""Width of a strip, in the units of its SVG."""


class Path(NamedTuple):
    """An SVG path and the CSS class that styles it."""

    look: str
    moves: str


def percent(value: float, whole: float) -> str:
    """Return a share as an SVG coordinate in per cent, kept inside the picture."""
    return f"{100 * min(1.0, max(0.0, value / whole if whole else 0.0)):.2f}".rstrip("0").rstrip(".")


def grade(score: float) -> str:
    """Return the CSS class of a part of an answer: `found`, `half` or `lost`."""
    return "found" if score >= 1 else "lost" if score <= 0 else "half"


def ticks(example: ExampleResult, length: int) -> list[Path]:
    """Draw the needles of an example on its strip, one path per look.

    The look is `told`, or how well each needle was remembered where its question has a score for every needle.

    Args:
        example: Its needles.
        length: Tokens that the strip covers.
    """
    parts = matched_parts(example)
    moves: dict[str, list[str]] = {}
    for i, needle in enumerate(example.needles):
        x = round(STRIP * min(1.0, needle.position / max(1, length)), 1)
        moves.setdefault(grade(parts[i]) if parts else "told", []).append(f"M{x:g} 3v14")
    return _joined(moves)


def heat_paths(parts: Sequence[float]) -> list[Path]:
    """Draw a row of a heat map, one path per look; every part is one unit wide and high."""
    moves: dict[str, list[str]] = {}
    for i, part in enumerate(parts):
        moves.setdefault(grade(part), []).append(f"M{i + 0.05:g} .05h.9v.9h-.9z")
    return _joined(moves)


def _joined(moves: Mapping[str, Sequence[str]]) -> list[Path]:
    return [Path(look, "".join(each)) for look, each in moves.items()]


def course_line(steps: Sequence[Step], what: str) -> str:
    """Draw a figure along the conversation as a line, with its highest value at the top.

    Args:
        steps: At least one.
        what: `prompt`, `cached` (to the scale of `prompt`) or `dollars`.
    """
    values = [getattr(step, what) or 0.0 for step in steps]
    whole = max(max(step.prompt for step in steps) if what in ("prompt", "cached") else max(values), 1e-12)
    end = max(1, steps[-1].position)
    places = (
        f"{STRIP * step.position / end:.1f} {100 - 100 * value / whole:.1f}"
        for step, value in zip(steps, values, strict=True)
    )
    return "M" + "L".join(places)


def course_area(steps: Sequence[Step], what: str) -> str:
    """Draw the area under `course_line`."""
    end = max(1, steps[-1].position)
    return f"{course_line(steps, what)}L{STRIP} 100L{STRIP * steps[0].position / end:.1f} 100Z"


def filler_path(course: Course, length: int) -> str:
    """Draw the stretches of filler on a strip of `length` tokens."""
    scale = STRIP / max(1, length)
    moves = []
    for start, end in course.filler:
        width = f"{max(0.3, (end - start) * scale):.1f}"
        moves.append(f"M{start * scale:.1f} 6h{width}v8h-{width}z")
    return "".join(moves)


def jump_path(course: Course, length: int) -> str:
    """Draw the jumps of benchmark time on a strip of `length` tokens; jumps in the same place are drawn once."""
    places = dict.fromkeys(f"{STRIP * jump.position / max(1, length):.1f}" for jump in course.jumps)
    return "".join(f"M{place} 1v18" for place in places)
