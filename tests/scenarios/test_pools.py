"""Pools: a reader can tell their entries apart, and no two examples of a run share an answer."""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import pytest
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from ltm_bench import Ask
from ltm_bench.core.tokens import counter
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example
from perf.variety import answers
from tests.scenarios.test_scenarios import NAMES

WORDS = 5
"""An entry with more words is a sentence."""


def texts(value: Any) -> Iterator[tuple[str, ...]]:
    """Yield the pools in a parameter: lists of texts, the keys of a table, and one part of each of several tables."""
    if isinstance(value, Mapping):
        yield from texts(tuple(value))
        yield from texts(tuple(value.values()))
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list | tuple):
        if value and all(isinstance(each, str) for each in value):
            yield tuple(value)
        elif value and all(isinstance(each, Mapping) and each.keys() == value[0].keys() for each in value):
            for part in value[0]:
                yield from texts(tuple(each[part] for each in value))


def pools() -> Iterator[Any]:
    """Yield every pool of every scenario; texts with gaps are templates, and synonyms belong together."""
    for name in NAMES:
        for parameter, value in scenario(name).parameters.items():
            for i, pool in enumerate(texts(value)):
                if len(pool) > 3 and parameter != "keywords" and not any("{" in text for text in pool):
                    yield pytest.param(pool, id=f"{name}-{parameter}-{i}")


def said(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@pytest.mark.parametrize("pool", list(pools()))
def test_no_entry_of_a_pool_can_be_taken_for_another(pool: tuple[str, ...]) -> None:
    plain = [said(text) for text in pool]
    assert len(set(plain)) == len(plain)
    for one, other in combinations(plain, 2):
        assert f" {one} " not in f" {other} "
        assert f" {other} " not in f" {one} "
        if max(len(one.split()), len(other.split())) <= WORDS:
            assert OSA.distance(one, other, score_cutoff=1) > 1, (one, other)
        else:
            assert fuzz.ratio(one, other) < 80, (one, other)


EXEMPT = {
    "infinitebench": "as published",
    "swim": "each question is asked at several depths",
}


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", sorted(set(NAMES) - set(EXEMPT)))
def test_no_answer_occurs_twice_in_a_run(name: str) -> None:
    for seed in range(10):
        seen: dict[Any, int] = {}
        for index in range(3):
            steps = rehearse(Example(scenario(name), index, seed, {}), counter())
            asked = [step.line for step in steps if isinstance(step.line, Ask)]
            for answer in (each for line in asked for each in answers(line.expect)):
                assert seen.setdefault(answer, index) == index, answer
