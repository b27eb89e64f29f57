"""The prompts around a task's material, in our own words and in three styles."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ltm_bench.datasets.infinitebench.records import Posed

STYLES = ("plain", "step_by_step", "recall")
"""Just the answer; think first; or repeat the part that matters first (context recalling, section 4.3 of the paper)."""

_TEXTS: Mapping[str, Any] = tomllib.loads(
    files("ltm_bench.datasets.infinitebench").joinpath("prompts.toml").read_text("utf-8")
)


def begin(task: str) -> str:
    """Return the prompt before the material."""
    text: str = _TEXTS["begin"][task]
    return text


def question(task: str, asked: Posed, style: str) -> str:
    """Return a question. Raises ValueError for an unknown style."""
    if style not in STYLES:
        raise ValueError(f"style = {style!r}: it is {', '.join(STYLES[:-1])} or {STYLES[-1]}")
    options = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCD", asked.options, strict=False))
    text: str = _TEXTS["question"][task]
    plain = text.replace("{options}", options).replace("{input}", asked.text)
    return plain if style == "plain" else str(_TEXTS[style]).replace("{question}", plain)


def running(terms: Sequence[str], *, first: bool) -> str:
    """Return the question for the value of a sum that comes in parts."""
    return str(_TEXTS["starts" if first else "running"]).replace("{terms}", " ".join(terms))
