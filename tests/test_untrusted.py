"""Untrusted text takes time in proportion to its length: every pattern, every matcher, JSON of any shape."""

import importlib
import pkgutil
import re
from collections.abc import Callable
from math import inf

import pytest

import ltm_bench
from ltm_bench.core.messages import Matcher, Outcome
from ltm_bench.datasets.infinitebench.scorer import MODES, score
from ltm_bench.judge import rubric
from ltm_bench.matchers.reading import json_values
from ltm_bench.plugins.matchers import examples
from tests.pace import TRIES, cpu

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


def _grows(work: Callable[[str], object], short: str, long: str) -> str:
    """Return how much longer a text of four times the length takes, if that is too much; otherwise nothing."""
    taken, before = cpu(lambda: work(long)), inf
    if taken < 0.1:
        return ""
    for _ in range(TRIES):  # the first call may have imported something, and another program have interfered
        before = min(before, cpu(lambda: work(short)))
        taken = min(taken, cpu(lambda: work(long)))
        if taken < 9 * max(before, 0.01):
            return ""
    return f"{before:.3f} s and {taken:.3f} s for {short[:40]!r}"


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
        assert _grows(search, *texts) == ""


MATCHERS = [each for found in examples().values() for each in found]


@pytest.mark.long
@pytest.mark.parametrize("matcher", MATCHERS, ids=lambda each: type(each).__name__)
def test_a_matcher_takes_time_in_proportion_to_the_reply(matcher: Matcher) -> None:
    for head in ("", "```", "1", "not "):
        for bait in ("a ", "1 ", "1,", "[1,", " ", "\t", "a, ", "red ", "ﷺ", "- a\n", "1. "):
            texts = [head + bait * (length // len(bait)) + "z" for length in (LONG // 10, LONG * 4 // 10)]
            assert _grows(lambda text: matcher.verdict(text, ()), *texts) == ""


BOMBS = {
    "lists": "[" * 100_000,
    "closed lists": "[" * 900 + "]" * 900,
    "closed objects": '{"a":' * 900 + "1" + "}" * 900,
    "deep objects": '{"a":' * 30_000 + "1" + "}" * 30_000,
    "a number": "1" * 100_000,
    "a number of a field": '{"answer": ' + "1" * 100_000 + "}",
    "numbers": "1" * 5000 + " " + "-" + "2" * 5000 + ", 0x" + "f" * 5000,
    "the same key": "{" + '"answer": "red", ' * 5000 + '"answer": "blue"}',
    "an exponent": '{"answer": 1e999999999}',
    "surrogates": "\ud800" * 10_000 + '{"answer": "\\ud800"}',
    "signs that become eighteen": "ﷺ" * 50_000,
}


@pytest.mark.long
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_json_crashes_a_reader(bomb: str) -> None:
    text = BOMBS[bomb]
    for value in json_values(text):
        assert value is not text
    rubric.read(text)
    for matcher in MATCHERS:
        taken = cpu(lambda each=matcher: _judged(each, text))  # type: ignore[misc]  # bound at once
        assert taken < 10, type(matcher).__name__


def _judged(matcher: Matcher, text: str) -> None:
    assert matcher.verdict(text, ()).outcome is not Outcome.JUDGE_ERROR


@pytest.mark.parametrize("task", ["passkey", "number_string", "code_run", "math_find", "math_calc"])
def test_numbers_of_any_length_are_numbers(task: str) -> None:
    label = [[1, 2]] if task == "math_calc" else [7]
    for mode in MODES:
        for text in ("1" * 50_000, "0" * 50_000, "1." * 20_000, "-" * 20_000 + "1", "1.0" * 10_000, "."):
            assert score(task, text, label, mode) < 1


def test_leading_zeros_are_read() -> None:
    assert score("code_run", "0" * 6000 + "7", [7], "official-newest") == 1
    assert score("code_run", "it is −7.00.", [-7], "strict") == 1
