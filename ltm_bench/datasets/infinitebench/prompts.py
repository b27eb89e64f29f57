"""The prompts around a task's material: in our own words and in three styles, or from the published program's file."""

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Formatter
from typing import Any

from ltm_bench.core.limits import content_of
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


@cache
def _templates(path: str) -> Mapping[str, Mapping[str, str]]:
    """Return the templates in a copy of the published `prompt.py`, by model and task. It is read, and never executed.

    Raises ValueError if it cannot be read.
    """
    try:
        lines = ast.parse(content_of(Path(path))).body
    except (OSError, ValueError, SyntaxError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"prompts = {path!r}: cannot be read: {why}") from error
    found: dict[str, dict[Any, str]] = {}
    for line in lines:
        match line:
            case ast.Assign([ast.Name(name)], ast.Dict(keys, values)):
                told = ((getattr(key, "value", None), each) for key, each in zip(keys, values, strict=True))
                texts = {key: str(each.value) for key, each in told if isinstance(each, ast.Constant)}
                found[name.removesuffix("_templates")] = texts
    return found


def published(path: str, model: str, task: str, asked: Posed) -> tuple[str, str]:
    """Return what the published program says before and after the material, filled in as it does.

    Args:
        path: A copy of its `prompt.py`.
        model: Whose template.
        task: The task.
        asked: The question, read from the public file of the task.

    Raises:
        ValueError: The file cannot be read, or this template is not one text around the material.
    """
    known = {name: each[task] for name, each in _templates(path).items() if task in each}
    if task == "math_calc":
        known.pop("gpt4", None)  # the program shows it a conversation of examples instead
    call, wanted = (re.search(pattern, asked.raw) for pattern in (r"func_[0-9]+\(-?[0-9]+\)", r"The .+ of"))
    values = {f"OPTION_{letter}": text for letter, text in zip("ABCD", asked.options, strict=False)}
    values |= {"input": asked.raw, "question": asked.raw}
    values |= {"func_call": call[0], "func": call[0].partition("(")[0]} if call else {}
    values |= {"prefix": f"What is {wanted[0].lower()[:-3]} in the following list?"} if wanted else {}
    sides = [""]
    try:
        for literal, field, *_ in Formatter().parse(known[model]):
            sides[-1] += literal + ("" if field in (None, "context") else values[field])
            if field == "context":
                sides.append("")
        before, after = sides
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"prompts = {path!r}: {task} has no template of {model!r} that is a text around one {{context}} ({error}); "
            f"templates = {', '.join(sorted(known)) or 'none'}"
        ) from error
    return before, after
