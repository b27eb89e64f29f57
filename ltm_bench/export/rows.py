"""A run as a table: one flat row per question, with the figures of its run and scenario."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypedDict, get_origin, get_type_hints

from ltm_bench.core.messages import Verdict
from ltm_bench.core.seeds import is_training, number_of
from ltm_bench.score.results.accounts import tokens_in
from ltm_bench.score.results.examples import FIELDS, ExampleResult, Question, as_json
from ltm_bench.score.results.figures import distance
from ltm_bench.score.results.run import Results


class _Columns(TypedDict):
    """What is known about a question. The annotations are the column types, in every format with types.

    Beside a type stands where the value is found. Without that it is a field of the question, or `_made`.
    """

    run: Annotated[str, "run.run"]
    agent: Annotated[str, "run.agent"]
    suite: Annotated[str, "run.suite"]
    span: Annotated[int, "run.span"]
    seed: int
    training: bool
    """Whether it is a training seed: then `seed` is the number in it."""
    mode: Annotated[str, "run.mode"]
    tags: list[str]
    """As `key=value`."""
    scenario: Annotated[str, "example.scenario"]
    skills: list[str]
    example: Annotated[str, "example.id"]
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
    question: Annotated[str, "question.text"]
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
    blind: Annotated[float | None, "question.controls.blind.score"]
    """The score of the reply in the run's control of this name; None without it."""
    evidence: Annotated[float | None, "question.controls.evidence.score"]
    near: Annotated[float | None, "question.controls.near.score"]
    again: Annotated[float | None, "question.ladder.again.score"]
    """The score of the reply on this rung of the ladder; None without it."""
    cued: Annotated[float | None, "question.ladder.cued.score"]
    recognised: Annotated[float | None, "question.ladder.recognised.score"]
    retold: Annotated[float | None, "question.ladder.retold.score"]
    choices: Annotated[int | None, "question.ladder.choices"]
    """Number of answers that the recognised rung offers."""
    ladder_lost: Annotated[str | None, "question.ladder.lost"]
    """Where the ladder says that the answer was lost: the first rung that succeeds, `memory` if only telling it again
    helps and it had neither cue nor choice, `none` if nothing helps, `unknown` if too little was asked.
    """
    stored: Annotated[int | None, "question.retrieval.stored"]
    """Needles that retrieval found by their own words; None if it was not queried."""
    retrieved: Annotated[int | None, "question.retrieval.retrieved"]
    """Needles that retrieval found for the question, among the memories that the agent uses."""
    k: Annotated[int | None, "question.retrieval.k"]
    """How many memories the agent says it uses; None if it does not, and `retrieved` counts all that were found."""
    lost: Annotated[str | None, "question.retrieval.lost"]
    """Where retrieval lost the answer."""
    ranks: list[int]
    """Ranks of the needles that were retrieved for the question; the first rank is 1."""
    tokens_in: int | None
    tokens_cached: Annotated[int | None, "question.usage.cache_read"]
    """The part of `tokens_in` that was read from the provider's cache."""
    tokens_out: Annotated[int | None, "question.usage.output"]
    context: int | None
    """Prompt tokens of the call that answered, without a memory's own; None if unknown."""
    context_calls: int
    """Calls whose prompts these are: if several, which of them answered is not known."""
    dollars: float | None
    """Price of the reply; None if unknown."""
    seconds: float | None
    """Wall-clock time of the reply."""
    since_told: float | None
    """Seconds since the example's last turn, for a question that did not wait for indexers."""
    example_score: Annotated[float | None, "example.score"]
    example_span: Annotated[int, "example.span"]
    """Tokens from the example's first message to its last question."""
    overrun: Annotated[int, "example.overrun"]
    ingested_turns: Annotated[int | None, "example.ingestion.turns"]
    """Messages that told the example's needles; None if there were none."""
    ingested_tokens: Annotated[int | None, "example.ingestion.tokens"]
    ingested_seconds: Annotated[float | None, "example.ingestion.seconds"]
    """Seconds that telling them took, including waits for indexers."""
    ingested_dollars: Annotated[float | None, "example.ingestion.dollars"]
    set_question: Annotated[str | None, "question.published.id"]
    """The id of a public set's question, as in prediction files."""
    set_type: Annotated[str | None, "question.published.type"]
    set_scores: list[str]
    """The set's scores, as `column=score`."""
    wrong_key: str | None
    """Why its published key is known to be wrong."""
    scenario_score: Annotated[float | None, "scenario.score"]
    scenario_low: Annotated[float | None, "scenario.interval.low"]
    """95 % interval of the scenario's score."""
    scenario_high: Annotated[float | None, "scenario.interval.high"]
    run_score: Annotated[float | None, "run.score"]
    """Sum over scenarios; None while the run is incomplete."""
    run_low: Annotated[float | None, "run.interval.low"]
    """95 % interval of the run's score."""
    run_high: Annotated[float | None, "run.interval.high"]
    run_out_of: Annotated[int, "run.out_of"]
    run_chance: Annotated[float, "run.chance"]
    run_verdict: Annotated[str, "run.verdict"]
    run_memory: Annotated[float | None, "run.controls.kept.share"]
    """(score - blind) / (evidence - blind); None without these controls, or where they do not show it."""
    run_memory_low: Annotated[float | None, "run.controls.kept.interval.low"]
    """95 % interval of it."""
    run_memory_high: Annotated[float | None, "run.controls.kept.interval.high"]
    run_tokens: Annotated[int, "run.tokens"]
    """Tokens of the conversation."""
    run_heard: Annotated[int | None, "run.heard.tokens"]
    """Tokens of the conversation that reached the agent."""
    run_tokens_in: Annotated[int | None, "run.costs.tokens_in"]
    run_tokens_out: Annotated[int | None, "run.costs.usage.output"]
    run_context: Annotated[float | None, "run.context.mean"]
    """Context tokens of a question, the mean over those of which it is known."""
    run_dollars: Annotated[float | None, "run.costs.dollars"]
    run_latency_median: Annotated[float | None, "run.latency.median"]
    """Wall-clock seconds per reply, as the other percentiles are."""
    run_latency_p75: Annotated[float | None, "run.latency.percentiles.75"]
    run_latency_p90: Annotated[float | None, "run.latency.percentiles.90"]
    run_latency_p95: Annotated[float | None, "run.latency.percentiles.95"]
    run_latency_p99: Annotated[float | None, "run.latency.percentiles.99"]
    run_latency_longest: Annotated[float | None, "run.latency.percentiles.100"]
    run_scorer_error: float | None
    """Share of the confident verdicts that the first audit calls wrong."""


COLUMNS: Mapping[str, Any] = get_type_hints(_Columns) | {
    name: of for name, of in get_type_hints(Verdict).items() if name not in _Columns.__annotations__
}
"""The type of every column, by name; the fields of a verdict that have no place of their own come last."""

_OF_QUESTION = {name for name in FIELDS if name in COLUMNS} - {"at"} | {"verdict"}
"""Fields of a question that are columns as they are."""

_PLACES: Mapping[str, dict[str, Sequence[str]]] = {"run": {}, "scenario": {}, "example": {}, "question": {}}
"""Where values are found, by what has them and by column."""
for _name, _of in get_type_hints(_Columns, include_extras=True).items():
    if get_origin(_of) is Annotated:
        _where, *_place = _of.__metadata__[0].split(".")
        _PLACES[_where][_name] = _place


def rows(results: Results) -> Iterator[dict[str, Any]]:
    """Yield a row for every question."""
    of_run = _found("run", results) | {
        "seed": number_of(results.seed),
        "training": is_training(results.seed),
        "tags": [f"{key}={value}" for key, value in results.tags.items()],
        "run_scorer_error": results.audits[0].total.error if results.audits else None,
    }
    scenarios = {scenario.name: scenario for scenario in results.scenarios}
    for example in results.examples:
        scenario = scenarios[example.scenario]
        of_example = of_run | _found("example", example) | _found("scenario", scenario)
        of_example |= {
            "skills": sorted(scenario.skills),
            "needles": [needle.depth for needle in example.needles],
        }
        for number, question in enumerate(example.questions):
            of_question = as_json(question, _OF_QUESTION) | _found("question", question)
            row = of_example | of_question | _made(results, example, question) | {"number": number}
            yield {name: row[name] for name in COLUMNS}


def _found(where: str, of: object) -> dict[str, Any]:
    """Return the columns whose values are found in a run, a scenario, an example or a question."""
    return {name: _value(of, place) for name, place in _PLACES[where].items()}


def _value(of: Any, place: Sequence[str]) -> Any:
    """Return what is found at a place; None if something on the way is None or missing."""
    for name in place:
        if isinstance(of, Mapping):
            of = of.get(int(name) if name.isdigit() else name)
        else:
            of = None if of is None else getattr(of, name)
    return of


def _made(results: Results, example: ExampleResult, question: Question) -> dict[str, Any]:
    """Return the columns of a question that are more than a value found somewhere."""
    apart, found, of = distance(example, question), question.retrieval, question.published
    within = [each for each in results.distances if apart is not None and each.low <= apart <= each.high]
    return {
        "at": None if question.at is None else question.at.isoformat(),
        "distance": apart,
        "bin_low": within[0].low if within else None,
        "bin_high": within[0].high if within else None,
        "judges": [f"{opinion.judge}={opinion.outcome.value}" for opinion in question.opinions],
        "ranks": [] if found is None else [each.rank for each in found.traces if each.rank is not None],
        "tokens_in": tokens_in(question.usage),
        "set_scores": [] if of is None else [f"{column}={score:g}" for column, score in of.scores.items()],
        "wrong_key": (of and of.wrong_key) or None,
    }
