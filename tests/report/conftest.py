"""Results and manifests made by hand, for the tests of the pages."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ltm_bench.log import AgentEntry, FillerEntry, Manifest, ScenarioEntry, SuiteEntry
from ltm_bench.messages import Outcome
from ltm_bench.scoring import (
    Costs,
    ExampleResult,
    Latency,
    Needle,
    Question,
    Results,
    count_outcomes,
    example_score,
    sum_interval,
    summarise_scenario,
)

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SUMMARIES = {
    "colours": ("A favourite colour changes; only the last one counts.", ("recall", "conflict"), 0.07),
    "shopping_list": (
        "Things are put on a list and taken off it; what is on it in the end?",
        ("recall", "conflict", "aggregation"),
        0.0,
    ),
    "jokes": (
        "Several are told over the hours; which one was it that long ago?",
        ("episodic", "temporal"),
        0.25,
    ),
    "spy_meeting": (
        "Three coded messages mean something only together.",
        ("recall", "inference", "integration"),
        0.2,
    ),
    "counting_stars": (
        "Small counts are scattered over the chat.",
        ("recall", "aggregation", "coverage"),
        0.0,
    ),
}
SCORES = {Outcome.CORRECT: 1.0, Outcome.PARTIAL: 0.5}

Build = Callable[..., Results]


def needle(turn: int, position: int, last: int, text: str) -> Needle:
    return Needle(turn=turn, text=text, position=position, depth=last - position, at=at(position))


def at(position: int) -> datetime:
    return START + timedelta(milliseconds=200 * position)


def question(turn: int, position: int, outcome: Outcome, **changes: Any) -> Question:
    if outcome is Outcome.NOT_REACHED:
        unreached = {"turn": None, "at": None, "position": None, "text": "", "expected": "", "scorer": ""}
        changes = unreached | changes
    asked: dict[str, Any] = {
        "turn": turn,
        "text": "What is my favourite colour? Name just the one.",
        "expected": "turquoise",
        "reply": None if outcome.infrastructure else "Your favourite colour is turquoise.",
        "outcome": outcome,
        "score": None if outcome.infrastructure else SCORES.get(outcome, 0.0),
        "reason": "“turquoise” is the last colour that was told",
        "scorer": "NamesOnly@1",
        "chance": 0.07,
        "position": position,
        "at": at(position),
    }
    return Question(**(asked | changes))


def example(name: str, outcome: Outcome, number: int, span: int, **changes: Any) -> ExampleResult:
    """An example with its needles; those of `counting_stars` have a part each."""
    scenario = name.partition("/")[0]
    first, last = number * span // 100, number * span // 100 + int(0.89 * span)
    told = {"counting_stars": 8, "shopping_list": 6}.get(scenario, 3)
    parts: dict[str, Any] = {}
    if scenario == "counting_stars":
        parts = {"parts": tuple(1.0 if i % 3 else 0.25 * (i % 2) for i in range(told))}
    questions = [
        question(
            50 * number + 40,
            last,
            outcome,
            **(parts | {"chance": SUMMARIES.get(scenario, ("", (), 0.1))[2]} | changes),
        )
    ]
    needles = [
        needle(
            50 * number + 3 * i,
            first + i * (last - first) // told,
            last,
            f"Something about me: colour number {i} is my favourite colour.",
        )
        for i in range(told)
    ]
    if outcome is Outcome.NOT_REACHED:
        needles = needles[:1]
    return ExampleResult(
        id=name,
        scenario=scenario,
        score=example_score(questions),
        span=last - first,
        overrun=0,
        needles=needles,
        questions=questions,
    )


def results_from(examples: Sequence[ExampleResult], **changes: Any) -> Results:
    names = list(dict.fromkeys(e.scenario for e in examples))
    scenarios = [
        summarise_scenario(
            name, *SUMMARIES.get(name, ("", ()))[:2], [e for e in examples if e.scenario == name]
        )
        for name in names
    ]
    complete = all(s.score is not None for s in scenarios)
    so_far = sum(s.score_so_far or 0.0 for s in scenarios)
    strata = {n: [e.score for e in examples if e.scenario == n and e.score is not None] for n in names}
    fields: dict[str, Any] = {
        "run": "2026-11-20-gpt-4o-120k-0",
        "agent": "gpt-4o",
        "suite": "standard",
        "span": 120_000,
        "seed": 0,
        "complete": complete,
        "score": so_far if complete else None,
        "score_so_far": so_far,
        "out_of": len(scenarios),
        "interval": sum_interval(strata) if complete else None,
        "chance": sum(s.chance for s in scenarios),
        "references": {"goldfish": 0.51, "perfect": float(len(scenarios))},
        "turns": 431,
        "tokens": 128_204,
        "filler_tokens": 121_377,
        "seconds": 58_320.0,
        "overruns": 0,
        "costs": Costs(
            calls=104,
            usage={
                "uncached": 812_000,
                "cache_read": 5_440_000,
                "cache_write": 0,
                "output": 9_120,
                "reasoning": 0,
            },
            dollars=9.1213,
            price_list="genai-prices 0.2.1",
        ),
        "latency": Latency(total=262.5, median=1.84, p95=6.2),
        "outcomes": count_outcomes(examples),
        "scenarios": scenarios,
        "examples": list(examples),
    }
    return Results(**(fields | changes))


SOME = (Outcome.CORRECT, Outcome.CORRECT, Outcome.STALE, Outcome.PARTIAL, Outcome.WRONG, Outcome.ABSTAINED)


def many(outcomes: Sequence[Outcome] = SOME, each: int = 3, span: int = 120_000) -> list[ExampleResult]:
    """`each` examples of every scenario, their outcomes in turn."""
    return [
        example(f"{name}/{i}", outcomes[(s * each + i) % len(outcomes)], s * each + i, span)
        for s, name in enumerate(SUMMARIES)
        for i in range(each)
    ]


def manifest_of(results: Results, **suite: Any) -> Manifest:
    return Manifest(
        format=1,
        version="0.1.0",
        seed=results.seed,
        span=results.span,
        tokenizer="cl100k_base",
        suite=SuiteEntry(
            name=results.suite,
            start=START,
            stagger=0.01,
            isolated=suite.get("isolated", False),
            scenarios=[
                ScenarioEntry(
                    name=s.name, version=1, hash="5d41402abc4b2a76", examples=s.n, parameters={"told": 4}
                )
                for s in results.scenarios
            ],
        ),
        agent=AgentEntry(
            name=results.agent,
            adapter="openai_chat",
            free=suite.get("free", False),
            hash="9a0364b9e99bb480",
            settings={"model": "gpt-4o", "window": 128_000},
        ),
        filler=FillerEntry(source="facts", digest="dd25e1f0295c82a1", mode="scripted", max_tokens=1000),
        scorers={"names_only": 1, "star_counts": 1},
    )


ENVIRONMENT: Mapping[str, Any] = {
    "python": "3.11.2",
    "platform": "Linux-6.1-x86_64",
    "started": "2026-11-20T22:18:00Z",
    "packages": {"openai": "3.50.0", "tiktoken": "0.12.0"},
}


class Made:
    """The builders above, as tests find them."""

    outcomes = SOME
    environment = ENVIRONMENT
    needle = staticmethod(needle)
    question = staticmethod(question)
    example = staticmethod(example)
    results = staticmethod(results_from)
    many = staticmethod(many)
    manifest = staticmethod(manifest_of)


@pytest.fixture
def made() -> Made:
    return Made()
