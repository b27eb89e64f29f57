"""A run as a table: one flat row per question, with the figures of its run and scenario."""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, get_type_hints

from ltm_bench.core.messages import Verdict
from ltm_bench.core.seeds import is_training, number_of
from ltm_bench.log.controls import KINDS, RUNGS
from ltm_bench.score.results.accounts import tokens_in
from ltm_bench.score.results.examples import (
    FIELDS,
    Climbed,
    ControlAnswer,
    Controlled,
    ExampleResult,
    Question,
    ScenarioResult,
    as_json,
)
from ltm_bench.score.results.figures import distance
from ltm_bench.score.results.run import Results


class _Columns(TypedDict):
    """What is known about a question. The annotations are the column types, in every format with types."""

    run: str
    agent: str
    suite: str
    span: int
    seed: int
    training: bool
    """Whether it is a training seed: then `seed` is the number in it."""
    mode: str
    tags: list[str]
    """As `key=value`."""
    scenario: str
    skills: list[str]
    example: str
    number: int
    """The question's number within its example, from 0."""
    turn: int | None
    position: int | None
    """Tokens of the conversation before it."""
    beside: int
    """Tokens of forked questions and replies before it: if they were in-line, its position would be higher by this
    many.
    """
    at: str | None
    """Benchmark time, ISO 8601."""
    needles: list[int]
    """The needles' depths in tokens."""
    distance: int | None
    """Tokens between the last needle before it and the question."""
    bin_low: int | None
    """Lower end of its bin of distances on the page."""
    bin_high: int | None
    question: str
    expected: str
    reply: str | None
    outcome: str
    score: float | None
    counts: float
    """How much of the score counts, if the question needs what another one of the example shows."""
    aspect: str | None
    """Under which name its outcome is counted apart."""
    reason: str
    scorer: str
    matched: str | None
    """The matcher's outcome, if a reader, a judge or a person has decided since."""
    decided_by: str
    """Who gave the verdict: exact form, reader, another scorer, blind reader, judge, person; empty for nobody."""
    judges: list[str]
    """Each judge's outcome, as `name=outcome`."""
    chance: float
    blind: float | None
    """The score of the reply in the run's control of this name; None without it."""
    evidence: float | None
    near: float | None
    again: float | None
    """The score of the reply on this rung of the ladder; None without it."""
    cued: float | None
    recognised: float | None
    retold: float | None
    choices: int | None
    """Number of answers that the recognised rung offers."""
    ladder_lost: str | None
    """Where the ladder says that the answer was lost: the first rung that succeeds, `memory` if only telling it again
    helps and it had neither cue nor choice, `none` if nothing helps, `unknown` if too little was asked.
    """
    stored: int | None
    """Needles that retrieval found by their own words; None if it was not queried."""
    retrieved: int | None
    """Needles that retrieval found for the question, among the memories that the agent uses."""
    k: int | None
    """How many memories the agent says it uses; None if it does not, and `retrieved` counts all that were found."""
    lost: str | None
    """Where retrieval lost the answer."""
    ranks: list[int]
    """Ranks of the needles that were retrieved for the question; the first rank is 1."""
    tokens_in: int | None
    tokens_cached: int | None
    """The part of `tokens_in` that was read from the provider's cache."""
    tokens_out: int | None
    dollars: float | None
    """Price of the reply; None if unknown."""
    seconds: float | None
    """Wall-clock time of the reply."""
    since_told: float | None
    """Seconds since the example's last turn, for a question that did not wait for indexers."""
    example_score: float | None
    example_span: int
    """Tokens from the example's first message to its last question."""
    overrun: int
    ingested_turns: int | None
    """Messages that told the example's needles; None if there were none."""
    ingested_tokens: int | None
    ingested_seconds: float | None
    """Seconds that telling them took, including waits for indexers."""
    ingested_dollars: float | None
    set_question: str | None
    """The id of a public set's question, as in prediction files."""
    set_type: str | None
    set_scores: list[str]
    """The set's scores, as `column=score`."""
    wrong_key: str | None
    """Why its published key is known to be wrong."""
    scenario_score: float | None
    scenario_low: float | None
    """95 % interval of the scenario's score."""
    scenario_high: float | None
    run_score: float | None
    """Sum over scenarios; None while the run is incomplete."""
    run_low: float | None
    """95 % interval of the run's score."""
    run_high: float | None
    run_out_of: int
    run_chance: float
    run_verdict: str
    run_memory: float | None
    """(score - blind) / (evidence - blind); None without these controls, or where they do not show it."""
    run_memory_low: float | None
    """95 % interval of it."""
    run_memory_high: float | None
    run_tokens: int
    """Tokens of the conversation."""
    run_heard: int | None
    """Tokens of the conversation that reached the agent."""
    run_tokens_in: int | None
    run_tokens_out: int | None
    run_dollars: float | None
    run_latency_median: float | None
    """Wall-clock seconds per reply, as the other percentiles are."""
    run_latency_p75: float | None
    run_latency_p90: float | None
    run_latency_p95: float | None
    run_latency_p99: float | None
    run_latency_longest: float | None
    run_scorer_error: float | None
    """Share of the confident verdicts that the first audit calls wrong."""


COLUMNS: Mapping[str, Any] = get_type_hints(_Columns) | {
    name: of for name, of in get_type_hints(Verdict).items() if name not in _Columns.__annotations__
}
"""The type of every column, by name; the fields of a verdict that have no place of their own come last."""

_OF_QUESTION = {name for name in FIELDS if name in COLUMNS} - {"at"} | {"verdict"}
"""Fields of a question that are columns as they are."""


def rows(results: Results) -> Iterator[dict[str, Any]]:
    """Yield a row for every question."""
    of_run = _of_run(results)
    scenarios = {scenario.name: scenario for scenario in results.scenarios}
    for example in results.examples:
        of_example = of_run | _of_example(example, scenarios[example.scenario])
        for number, question in enumerate(example.questions):
            row = of_example | {"number": number} | _of_question(results, example, question)
            yield {name: row[name] for name in COLUMNS}


def _of_run(results: Results) -> dict[str, Any]:
    interval, latency = results.interval, results.latency
    kept = results.controls and results.controls.kept
    known = kept and kept.interval
    taken = {} if latency is None else latency.percentiles
    return {
        **{name: getattr(results, name) for name in ("run", "agent", "suite", "span", "mode")},
        "seed": number_of(results.seed),
        "training": is_training(results.seed),
        "tags": [f"{key}={value}" for key, value in results.tags.items()],
        "run_score": results.score,
        "run_low": interval and interval.low,
        "run_high": interval and interval.high,
        "run_out_of": results.out_of,
        "run_chance": results.chance,
        "run_verdict": results.verdict,
        "run_memory": kept and kept.share,
        "run_memory_low": known and known.low,
        "run_memory_high": known and known.high,
        "run_tokens": results.tokens,
        "run_heard": None if results.heard is None else results.heard.tokens,
        "run_tokens_in": results.costs.tokens_in,
        "run_tokens_out": results.costs.usage.get("output"),
        "run_dollars": results.costs.dollars,
        "run_latency_median": None if latency is None else latency.median,
        **{f"run_latency_p{level}": taken.get(level) for level in (75, 90, 95, 99)},
        "run_latency_longest": taken.get(100),
        "run_scorer_error": results.audits[0].total.error if results.audits else None,
    }


def _of_example(example: ExampleResult, scenario: ScenarioResult) -> dict[str, Any]:
    interval, taken = scenario.interval, example.ingestion
    return {
        "scenario": example.scenario,
        "skills": sorted(scenario.skills),
        "example": example.id,
        "needles": [needle.depth for needle in example.needles],
        "example_score": example.score,
        "example_span": example.span,
        "overrun": example.overrun,
        "ingested_turns": taken and taken.turns,
        "ingested_tokens": taken and taken.tokens,
        "ingested_seconds": taken and taken.seconds,
        "ingested_dollars": taken and taken.dollars,
        "scenario_score": scenario.score,
        "scenario_low": interval and interval.low,
        "scenario_high": interval and interval.high,
    }


def _of_question(results: Results, example: ExampleResult, question: Question) -> dict[str, Any]:
    apart, found, usage = distance(example, question), question.retrieval, question.usage
    of = question.published
    within = [each for each in results.distances if apart is not None and each.low <= apart <= each.high]
    return as_json(question, _OF_QUESTION) | {
        "at": None if question.at is None else question.at.isoformat(),
        "distance": apart,
        "bin_low": within[0].low if within else None,
        "bin_high": within[0].high if within else None,
        "question": question.text,
        "judges": [f"{opinion.judge}={opinion.outcome.value}" for opinion in question.opinions],
        **_asked_again(question),
        "stored": found and found.stored,
        "retrieved": found and found.retrieved,
        "k": found and found.k,
        "lost": found and found.lost,
        "ranks": [] if found is None else [each.rank for each in found.traces if each.rank is not None],
        "tokens_in": tokens_in(usage),
        "tokens_cached": usage and usage["cache_read"],
        "tokens_out": usage and usage["output"],
        "set_question": of and of.id,
        "set_type": of and of.type,
        "set_scores": [] if of is None else [f"{column}={score:g}" for column, score in of.scores.items()],
        "wrong_key": (of and of.wrong_key) or None,
    }


def _asked_again(question: Question) -> dict[str, Any]:
    """Return the scores of a question in the controls and on the ladder."""
    ladder = question.ladder
    return {
        **{kind: _score_in(question.controls, kind) for kind in KINDS},
        **{rung: _score_in(ladder, rung) for rung in RUNGS},
        "choices": ladder and ladder.choices,
        "ladder_lost": ladder and ladder.lost,
    }


def _score_in(asked: Controlled | Climbed | None, kind: str) -> float | None:
    """Return the score of the reply in a control, or on a rung."""
    answer: ControlAnswer | None = getattr(asked, kind, None)
    return None if answer is None else answer.score
