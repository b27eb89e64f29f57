"""Untrusted text takes time in proportion to its length: every pattern, JSON of any shape.

tests/matchers/test_time.py tries the matchers.
"""

import importlib
import pkgutil
import re

import pytest

import ltm_bench
from ltm_bench.datasets.infinitebench.scorer import MODES, score
from ltm_bench.judge import rubric
from ltm_bench.matchers.reading import json_values
from tests.pace import BOMBS, grows

LONG = 20_000
"""Characters of a bait."""

BAITS = (
    *(
        "a",
        "a ",
        "A",
        "1",
        "1,",
        "1.",
        "1 ",
        " ",
        "\t",
        "\n",
        "- ",
        "a-",
        "a'",
        '"',
        "'",
        "“",
        "[",
        "[(",
        "{",
    ),
    *(
        '{"a":',
        "```",
        "***",
        "not ",
        "and ",
        "No, ",
        "...",
        ". ",
        "?!",
        "x" * 30 + " ",
        "://",
        "</think>",
        "½",
        "é",
    ),
)


def _patterns() -> dict[str, re.Pattern[str]]:
    """Find every compiled pattern of every module."""
    found: dict[str, re.Pattern[str]] = {}
    for module in pkgutil.walk_packages(ltm_bench.__path__, "ltm_bench."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and value not in found.values():
                    if isinstance(value.pattern, bytes):  # it reads bytes, and would take as long on text
                        value = re.compile(value.pattern.decode(), value.flags | re.ASCII)
                    found[f"{module.name}.{name}"] = value
    return found


PATTERNS = _patterns()


def _words(pattern: re.Pattern[str]) -> list[str]:
    """Return text that a pattern looks for, which matches further than any other."""
    return list(dict.fromkeys(re.findall(r"[A-Za-z]{2,}", re.sub(r"\\.", " ", pattern.pattern))))[:12]


@pytest.mark.proof(scenarios=(), files=("ltm_bench/**/*.py",))
@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_takes_time_in_proportion_to_the_text(name: str) -> None:
    pattern = PATTERNS[name]
    words = _words(pattern)
    baits = [("", each) for each in (*BAITS, *words, *(f"{word} " for word in words))]
    baits += [(word, filler) for word in (*words[:6], "```", "1", "“") for filler in (" ", "\t", "a", "1")]

    def search(text: str) -> None:
        for _ in pattern.finditer(text):
            pass

    for head, bait in baits:
        texts = [head + bait * (length // len(bait)) + "\x00" for length in (LONG // 4, LONG)]
        assert grows(search, *texts) == ""


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_json_crashes_a_reader(bomb: str) -> None:
    for value in json_values(BOMBS[bomb]):
        assert value is not BOMBS[bomb]
    rubric.read(BOMBS[bomb])


@pytest.mark.parametrize("task", ["passkey", "number_string", "code_run", "math_find", "math_calc"])
def test_numbers_of_any_length_are_numbers(task: str) -> None:
    label = [[1, 2]] if task == "math_calc" else [7]
    for mode in MODES:
        for text in ("1" * 50_000, "0" * 50_000, "1." * 20_000, "-" * 20_000 + "1", "1.0" * 10_000, "."):
            assert score(task, text, label, mode) < 1


def test_leading_zeros_are_read() -> None:
    assert score("code_run", "0" * 6000 + "7", [7], "official-newest") == 1
    assert score("code_run", "it is −7.00.", [-7], "strict") == 1
