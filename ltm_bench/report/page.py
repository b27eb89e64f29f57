"""The page of a run, `report.html`: self-contained, and readable without scripts.

Its only script filters the examples; the page's policy allows no other. The same input gives the same bytes.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import chain, islice
from typing import Any, NamedTuple

from ltm_bench.core.messages import Outcome
from ltm_bench.log.controls import RUNGS
from ltm_bench.log.manifest import Manifest
from ltm_bench.report.templating import script, templates
from ltm_bench.report.text import visible
from ltm_bench.score.audits.judgements import FIGURES
from ltm_bench.score.results.examples import ExampleResult, Question, ScenarioResult
from ltm_bench.score.results.ladder import LOSSES
from ltm_bench.score.results.retrieval import Retrieval
from ltm_bench.score.results.run import Results

LONGEST = 4000
"""Maximum characters of a text on the page; fewer if many texts are long."""

SHORTEST = 250
"""Characters of a text that the page always shows."""

BUDGET = 500_000
"""Bytes of all texts together, beyond which each is cut shorter."""

LIMITS = {
    "LONGEST_MANIFEST": 60_000,  # characters; the event log starts with the whole manifest
    "LONGEST_SETTING": 400,  # characters of a parameter beside its scenario
    "MOST_HISTORIES": 40,  # listed; all of them are in results.json
    "MOST_NEEDLES": 40,  # listed per example; all of them are on the strips and in the transcript
    "MOST_OPEN": 3,  # failed examples that are unfolded from the start
    "MOST_KINDS": 4,  # exchanges to read
    "LONGEST_SAMPLE": 300,  # characters of each of their texts
    "MOST_CELLS": 256,  # parts of an answer drawn one by one
}

MEANINGS = {
    Outcome.CORRECT: "everything asked for is right",
    Outcome.PARTIAL: "some of it is right",
    Outcome.STALE: "a value that was right once and has since been replaced",
    Outcome.OVERDONE: "a value that would be right if something had changed it",
    Outcome.WRONG: "something else",
    Outcome.ABSTAINED: "the agent said that it does not know, or declined",
    Outcome.LEAKED: "said although it must not be said",
    Outcome.MALFORMED: "nothing that could be read as an answer",
    Outcome.UNDECIDED: "text alone cannot tell, and no judge was asked; counts 0",
    Outcome.OVERFLOW: "the conversation did not fit into the agent's window",
    Outcome.AGENT_ERROR: "the agent failed to reply",
    Outcome.JUDGE_ERROR: "the reply could not be judged",
    Outcome.NOT_REACHED: "the run stopped before the question",
}


class Level(NamedTuple):
    """A level shown beside the score, for comparison."""

    label: str
    note: str
    value: float | None
    """None if unknown."""
    look: str


class Sample(NamedTuple):
    """A question to read, and its example."""

    example: ExampleResult
    question: Question


class _ScenarioGroup(NamedTuple):
    scenario: ScenarioResult
    examples: list[ExampleResult]


def render_page(results: Results, manifest: Manifest) -> str:
    """Return `report.html` for results and the manifest of the same run."""
    isolated = manifest.suite.isolated
    groups = [
        _ScenarioGroup(scenario, [e for e in results.examples if e.scenario == scenario.name])
        for scenario in results.scenarios
    ]
    return (
        templates()
        .get_template("page.html.jinja")
        .render(
            results=results,
            manifest=manifest,
            started_on=started_on(results.environment),
            groups=groups,
            ranked=sorted(groups, key=lambda group: -(group.scenario.score_so_far or 0.0)),
            extremes=extremes(results),
            samples=samples(results),
            open_ones=open_ones(results),
            isolated=isolated,
            length=conversation_length(results, isolated=isolated),
            limit=longest(results),
            marks=marks(results),
            histories=[e for e in results.examples if e.ingestion is not None and e.ingestion.sessions],
            by_id={example.id: example for example in results.examples},
            course=results.course,
            script=script("filter.js"),
            scored=sum(example.score is not None for example in results.examples),
            unscored={o: n for o, n in results.outcomes.items() if o.infrastructure},
            known_chance=known_chance,
            MEANINGS=MEANINGS,
            PLACES=Retrieval.PLACES,
            LOSSES=LOSSES,
            RUNGS=RUNGS,
            FIGURES=FIGURES,
            **LIMITS,
        )
    )


def extremes(results: Results) -> tuple[Sequence[ScenarioResult], Sequence[ScenarioResult]] | None:
    """Return the scenarios with the highest score, and those with the lowest; None if no two differ."""
    scores = [each.score for each in results.scenarios if each.score is not None]
    if not results.complete or len(set(scores)) < 2:
        return None
    best, worst = ([s for s in results.scenarios if s.score == end] for end in (max(scores), min(scores)))
    return best, worst


def samples(results: Results) -> list[Sample]:
    """Return the shortest exchange of each kind, those that went wrong first, and of these the most frequent.

    Questions are of one kind if they have the same outcome, and memory lost them in the same place.
    """
    kinds: dict[tuple[Outcome, str | None], list[Sample]] = defaultdict(list)
    for example in results.examples:
        for question in example.questions:
            if question.reply is not None and not question.outcome.infrastructure:
                place = question.retrieval.lost if question.retrieval else None
                kinds[question.outcome, place].append(Sample(example, question))
    first = sorted(kinds.items(), key=lambda kind: (kind[0][0] is Outcome.CORRECT, -len(kind[1])))
    return [
        min(of, key=lambda each: len(each.question.text + (each.question.reply or "")))
        for _, of in first[: LIMITS["MOST_KINDS"]]
    ]


def open_ones(results: Results) -> frozenset[str]:
    """Return the examples to unfold initially: the first ones that were not fully right."""
    failed = (e.id for e in results.examples if e.score is not None and e.score < 1)
    return frozenset(islice(failed, LIMITS["MOST_OPEN"]))


_PLAYED = {
    "reciter": "recites its last 40 messages",
    "filter": "hears only what looks like a needle, and forgets after 16,000 tokens of that",
}
"""What is said of references that were played for comparison."""


def marks(results: Results) -> list[Level]:
    """Return chance, baseline, oracle, and any other references."""
    agents = {
        **{name: _PLAYED.get(name, "played for comparison") for name in results.references},
        "goldfish": "baseline: remembers nothing",
        "perfect": "oracle: is told the answers",
    }
    return [
        Level("chance", "blind guesses", known_chance(results), "chance"),
        *(Level(name, note, results.references.get(name), "reference") for name, note in agents.items()),
    ]


def known_chance(of: Results | ScenarioResult) -> float | None:
    """Return the chance level, or None while it would include questions that were not reached."""
    return None if Outcome.NOT_REACHED in of.outcomes else of.chance


def conversation_length(results: Results, *, isolated: bool) -> int:
    """Return the tokens that a strip covers: the conversation, or the longest one of an isolated run."""
    ends = chain.from_iterable(
        (
            *(needle.position for needle in example.needles),
            *(question.position for question in example.questions if question.position is not None),
        )
        for example in results.examples
    )
    last = max(ends, default=0)
    return max(1, last if isolated else max(last, results.tokens))


def longest(results: Results) -> int:
    """Return how many characters of a text to show so that all texts together stay within BUDGET."""
    texts = [
        text[:LONGEST]
        for example in results.examples
        for text in chain(
            (needle.text for needle in example.needles[: LIMITS["MOST_NEEDLES"]]),
            *((q.text, q.expected, q.reply or "", q.reason) for q in example.questions),
        )
    ]
    limit = LONGEST
    while limit > SHORTEST and sum(len(escape(visible(text[:limit])).encode()) for text in texts) > BUDGET:
        limit //= 2
    return max(limit, SHORTEST)


def started_on(environment: Mapping[str, Any]) -> str | None:
    """Return the day, in UTC, on which a run was started, or None if unknown."""
    started = environment.get("started")
    first = started[0] if isinstance(started, list) and started else None
    try:
        return datetime.fromisoformat(str(first)).astimezone(UTC).date().isoformat()
    except ValueError:
        return None
