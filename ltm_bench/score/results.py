"""Turns into verdicts, verdicts into results. Knows no files.

The score of an example is the mean of its questions' verdicts, that of a scenario the mean over its examples, the
headline the sum over scenarios. Infrastructure errors are never "wrong" and never leave the denominator: a result
with any of them is incomplete and has no headline score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from pydantic import BaseModel, Field

from ltm_bench.core.messages import Finish, Matcher, Outcome, Reply, Turn, Usage, Verdict
from ltm_bench.score.judgements import Judgement, Opinion, Override, majority, reply_hash
from ltm_bench.score.statistics import Interval, wilson

SCHEMA = 1
"""Version of the form of results.json."""


def judge(expect: Matcher, reply: Reply, turns: Sequence[Turn]) -> Verdict:
    """Return the verdict on a reply. Never raises: a matcher that fails is a `judge_error`, not a wrong answer."""
    if reply.finish is Finish.OVERFLOW:
        return Verdict(Outcome.OVERFLOW, 0.0, "the conversation did not fit into the agent's window")
    if reply.finish is Finish.REFUSAL:
        return Verdict(Outcome.ABSTAINED, 0.0, "the provider or the model declined to answer")
    try:
        return expect.verdict(reply.text, turns)
    except Exception as error:
        return Verdict(
            Outcome.JUDGE_ERROR, None, f"{type(expect).__name__} failed: {type(error).__name__}: {error}"
        )


_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+){0,8}")

MOST_WORDS = 80
"""Different words of a reply up to which it is asked of each whether it decided the verdict."""

MOST_CHARACTERS = 4000
"""Characters of a reply up to which this is asked."""


def decisive(
    expect: Matcher, reply: Reply, turns: Sequence[Turn], verdict: Verdict
) -> tuple[tuple[int, int], ...]:
    """Return where in a reply the words stand without which its verdict would be another one.

    Every word is left out in turn, wherever it stands, and the rest is judged: so it holds for any matcher, and where
    two different words say the same thing, neither is decisive. Places are character offsets, first and last plus one.
    Replies of more than MOST_WORDS different words, or MOST_CHARACTERS, have none.
    """
    if verdict.outcome.infrastructure or len(reply.text) > MOST_CHARACTERS:
        return ()
    places: dict[str, list[tuple[int, int]]] = {}
    for match in _WORD.finditer(reply.text):
        places.setdefault(match[0].casefold(), []).append(match.span())
        if len(places) > MOST_WORDS:
            return ()
    found: list[tuple[int, int]] = []
    for spans in places.values():
        rest, end = [], 0
        for start, stop in spans:
            rest.append(reply.text[end:start])
            end = stop
        without = replace(reply, text="".join([*rest, reply.text[end:]]))
        if judge(expect, without, [*turns[:-1], replace(turns[-1], reply=without)]) != verdict:
            found += spans
    return tuple(sorted(found))


class Needle(BaseModel):
    """A needle as it stood in the conversation."""

    turn: int
    text: str
    position: int
    """Tokens of the conversation before it."""
    depth: int
    """Tokens between it and the example's last question."""
    at: datetime
    cut: bool = False
    """Whether its message was cut, and the needle with it, so that nobody can find it."""


class Retrieval(BaseModel):
    """Where an answer was lost, as far as an agent's own retrieval tells."""

    PLACES: ClassVar[tuple[str, str, str]] = ("not stored", "not retrieved", "retrieved, but not used")
    needles: int
    """Of the example."""
    stored: int
    """Those that were found when asked for word by word."""
    retrieved: int
    """Those that were among what was found for the question."""

    @property
    def lost(self) -> str:
        """Say it in a few words; not every question needs every needle, so this is where to look, not a verdict."""
        if self.stored < self.needles:
            return self.PLACES[0]
        return self.PLACES[1 if self.retrieved < self.needles else 2]


class Question(BaseModel):
    """A question, what was expected, what was said, and the verdict."""

    turn: int | None
    text: str
    expected: str
    reply: str | None
    outcome: Outcome
    score: float | None
    reason: str
    parts: tuple[float, ...] = ()
    decisive: tuple[tuple[int, int], ...] = ()
    """Where in the reply the words stand without which the matcher's verdict would be another one."""
    scorer: str
    """Name and version of the scorer, e.g. `NamesOnly@1`."""
    chance: float
    position: int | None
    """Tokens of the conversation before it; None if it was not reached."""
    at: datetime | None
    matched: Outcome | None = None
    """What the matcher said, where a judge or a person has spoken since, or should."""
    doubt: str = ""
    """Why the matcher could not tell."""
    opinions: tuple[Opinion, ...] = ()
    """What judges said of the reply."""
    override: Override | None = None
    """The verdict by hand, which wins."""
    retrieval: Retrieval | None = None
    """What the agent's memory had of the needles, where the reply was not right and the agent can tell."""


class ExampleResult(BaseModel):
    """One example: its needles, its questions, its score."""

    id: str
    scenario: str
    score: float | None
    """Mean over its questions; None if one of them could not be scored."""
    span: int
    """Tokens from its first message to its last question."""
    overrun: int
    """By how many tokens the last question missed the span that was asked for."""
    needles: list[Needle]
    questions: list[Question]
    published: float | None = None
    """What others gave for it, where it was imported."""

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of its questions."""
        return [question.outcome for question in self.questions]


class ScenarioResult(BaseModel):
    """A scenario: the mean over its examples."""

    name: str
    summary: str
    skills: tuple[str, ...]
    n: int
    score: float | None
    """None while an example of it could not be scored."""
    score_so_far: float | None
    """The mean over the examples that could be scored."""
    interval: Interval | None
    chance: float
    outcomes: dict[Outcome, int]


class Account(BaseModel):
    """What one model used in a run, for one purpose."""

    purpose: str
    """`agent`, `beside the agent` (an embedder, say), or `judge` and its name."""
    model: str | None
    """None where the adapter does not say."""
    calls: int = 0
    unknown: int = 0
    """Those of which no usage is known."""
    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """The part of `output` that nobody sees."""
    dollars: float | None = 0.0
    """None where a price is unknown."""

    def add(self, usage: Usage | None, price: Decimal | None) -> None:
        """Add a call."""
        self.calls += 1
        if usage is None:
            self.unknown += 1
        else:
            for name in FIGURES:
                setattr(self, name, getattr(self, name) + getattr(usage, name))
        if price is None or self.dollars is None:
            self.dollars = None
        else:
            self.dollars = round(self.dollars + float(price), 9)


FIGURES = ("uncached", "cache_read", "cache_write", "output", "reasoning")


class Costs(BaseModel):
    """What the agent used and cost."""

    calls: int = 0
    """Replies that the agent gave itself; scripted filler is none."""
    usage: dict[str, int] = Field(default_factory=dict)
    """Sums of the normalised token figures."""
    dollars: float | None = 0.0
    """None where a price is unknown."""
    judge_dollars: float | None = 0.0
    """What the judges cost, not among `dollars`; None where a price is unknown."""
    price_list: str = ""
    accounts: list[Account] = Field(default_factory=list)
    """All of it by purpose and model."""


class Latency(BaseModel):
    """Wall-clock seconds of the agent's own replies."""

    total: float
    median: float
    p95: float
    retries: int = 0
    """Requests that were sent again, because the provider or the network failed."""
    cached: int = 0
    """Replies that came from the cache of answers, not from the provider."""


class JudgeNote(BaseModel):
    """A judge that had a say in a run, and whether it has earned it."""

    name: str
    model: str | None
    key: str
    replies: int
    """How many replies it judged."""
    unreadable: int
    sensitivity: float | None = None
    """None where it was never checked."""
    specificity: float | None = None
    believed: bool = False
    """Whether it was checked, and is good enough."""


class Results(BaseModel):
    """Everything that the page shows, but for the transcript."""

    schema_version: int = SCHEMA
    run: str
    agent: str
    suite: str
    span: int
    seed: int
    complete: bool
    score: float | None
    """Sum over scenarios; None while the run is incomplete."""
    score_so_far: float
    out_of: int
    interval: Interval | None
    chance: float
    references: dict[str, float]
    """What the floor and the ceiling score on the same examples: `goldfish` and `perfect`."""
    undecided: int = 0
    """Questions of which text alone cannot tell and no judge was asked; they count 0."""
    undecided_worth: float = 0.0
    """By how much the score would be higher if all of them were right."""
    overridden: int = 0
    """Verdicts by hand."""
    judges: list[JudgeNote] = Field(default_factory=list)
    by_judge: dict[str, float] = Field(default_factory=dict)
    """What the score would be by each judge alone; judges that did not decide every doubtful reply are left out."""
    remarks: list[str] = Field(default_factory=list)
    """What a reader must know before believing the figures."""
    published: float | None = None
    """The sum over scenarios of what others gave, where the run was imported."""
    log: str = ""
    """SHA-256 of the event log that this was derived from; that of several is of their hashes."""
    turns: int
    tokens: int
    filler_tokens: int
    seconds: float
    """Length of the conversation in benchmark time."""
    overruns: int
    costs: Costs
    latency: Latency | None
    outcomes: dict[Outcome, int]
    scenarios: list[ScenarioResult]
    examples: list[ExampleResult]


def example_score(questions: Sequence[Question]) -> float | None:
    """Return the mean over an example's questions, or None if one of them has no score."""
    scores = [q.score for q in questions if not q.outcome.infrastructure]
    known = [s for s in scores if s is not None]
    return sum(known) / len(known) if known and len(known) == len(questions) else None


def summarise_scenario(
    name: str, summary: str, skills: Sequence[str], examples: Sequence[ExampleResult]
) -> ScenarioResult:
    """Average the examples of one scenario."""
    scores = [e.score for e in examples if e.score is not None]
    mean = sum(scores) / len(scores) if scores else None
    complete = len(scores) == len(examples) and mean is not None
    chances = [q.chance for e in examples for q in e.questions]
    return ScenarioResult(
        name=name,
        summary=summary,
        skills=tuple(skills),
        n=len(examples),
        score=mean if complete else None,
        score_so_far=mean,
        interval=wilson(mean, len(scores)) if mean is not None else None,
        chance=sum(chances) / len(chances) if chances else 0.0,
        outcomes=count_outcomes(examples),
    )


def decide(question: Question, judgement: Judgement | None, override: Override | None) -> Question:
    """Return a question with the last word on it: a person's, else the judges', else the matcher's.

    What was said of another reply than this one is left aside.
    """
    said = reply_hash(question.reply or "")
    changes: dict[str, Any] = {}
    if question.outcome is Outcome.UNDECIDED:
        changes |= {"matched": question.outcome, "doubt": question.reason}
        if judgement is not None and judgement.reply == said:
            verdict = majority(judgement.opinions)
            changes |= {
                "outcome": verdict.outcome,
                "score": verdict.score,
                "reason": verdict.reason,
                "opinions": judgement.opinions,
            }
    if override is not None and override.reply == said:
        changes |= {
            "matched": question.outcome,
            "outcome": override.outcome,
            "score": override.score,
            "reason": f"{override.reviewer}, by hand: {override.reason}",
            "override": override,
        }
    return question.model_copy(update=changes) if changes else question


def scores_by_judge(examples: Sequence[ExampleResult]) -> dict[str, float]:
    """Return the sum over scenarios by each judge alone, of those judges that decided every doubtful reply."""
    doubtful = [q for e in examples for q in e.questions if q.opinions and q.override is None]
    names = dict.fromkeys(o.judge for q in doubtful for o in q.opinions)
    heard = [
        {o.judge for o in q.opinions if o.outcome is not Outcome.JUDGE_ERROR and o.judge in names}
        for q in doubtful
    ]
    found = {}
    for judge in names:
        if not all(judge in each for each in heard):
            continue
        sums: dict[str, list[float]] = {}
        for example in examples:
            scores = [_by_judge(question, judge) for question in example.questions]
            known = [score for score in scores if score is not None]
            if not known or len(known) < len(scores):
                return {}
            sums.setdefault(example.scenario, []).append(sum(known) / len(known))
        found[judge] = sum(sum(each) / len(each) for each in sums.values())
    return found


def _by_judge(question: Question, judge: str) -> float | None:
    if question.override is None and question.opinions:
        return max(float(o.outcome is Outcome.CORRECT) for o in question.opinions if o.judge == judge)
    return None if question.outcome.infrastructure else question.score


def count_outcomes(examples: Sequence[ExampleResult]) -> dict[Outcome, int]:
    """Count the outcomes of all questions, in the order in which they are defined."""
    counts = Counter(outcome for example in examples for outcome in example.outcomes)
    return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}


def add_usage(total: dict[str, int], usage: Usage) -> None:
    """Add one reply's token figures to a sum."""
    for name in FIGURES:
        total[name] = total.get(name, 0) + getattr(usage, name)
