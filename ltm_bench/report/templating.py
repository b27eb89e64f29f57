"""The Jinja environment that every page is rendered with, and the scripts that pages contain."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.core.clock import spoken_duration, stamp
from ltm_bench.report import anchors, drawing, text, words
from ltm_bench.score.results.figures import matched_parts

if TYPE_CHECKING:
    import jinja2

_FILTERS: Sequence[Callable[..., Any]] = (
    anchors.slug,
    drawing.course_area,
    drawing.course_line,
    drawing.grade,
    drawing.heat_paths,
    drawing.percent,
    matched_parts,
    stamp,
    text.marked,
    text.shortened,
    words.cost,
    words.counted,
    words.figure,
    words.flat,
    words.moment,
    words.moves,
    words.p_value,
    words.plural,
    words.pretty,
    words.retested,
    words.seconds,
    words.short_tokens,
    words.signed,
    words.where,
    words.would_show,
)

_FUNCTIONS: Sequence[Callable[..., Any]] = (
    anchors.anchor,
    drawing.filler_path,
    drawing.jump_path,
    drawing.ticks,
    matched_parts,
    words.filler_and_time,
)


class Script(NamedTuple):
    """A script that is part of a page."""

    text: str
    hash: str
    """Its SHA-256 in base64, by which the page's policy recognises it."""


@cache
def templates() -> jinja2.Environment:
    """Return the environment of all pages. It escapes every text and spells out invisible characters."""
    import jinja2

    from ltm_bench.report.compiled import CompiledTemplates

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("ltm_bench.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        bytecode_cache=CompiledTemplates(),
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {each.__name__: each for each in _FILTERS}
    environment.filters["spoken"] = lambda value: spoken_duration(timedelta(seconds=value))
    environment.globals |= {each.__name__: each for each in _FUNCTIONS}
    environment.globals["STRIP"] = drawing.STRIP
    return environment


def macro(template: str, name: str) -> Callable[..., str]:
    """Return a macro of a template. Calling it costs much less than rendering a template."""
    found: Callable[..., str] = getattr(templates().get_template(template).module, name)
    return found


def _finalize(value: Any) -> Any:
    """Make every text in a template's output visible; markup made by a template is left alone."""
    if type(value) is str:  # by far the most common case
        return text.visible(value)
    return text.visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def script(file: str) -> Script:
    """Return a script from the folder of templates."""
    content = resources.files("ltm_bench.report").joinpath("templates", file).read_text("utf-8")
    return Script(content, base64.b64encode(hashlib.sha256(content.encode()).digest()).decode())
