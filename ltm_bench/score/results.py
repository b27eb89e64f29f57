"""Results: frozen models of everything that a run came to. They know no files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, computed_field

from ltm_bench.core.messages import Outcome
from ltm_bench.log.manifest import IN_LINE
from ltm_bench.score.audits import Audit
from ltm_bench.score.course import Course
from ltm_bench.score.ingestion import Ingestion
from ltm_bench.score.judgements import Opinion, Override
from ltm_bench.score.operations import Operation
from ltm_bench.score.power import against_unknown, size_of, smallest_difference
from ltm_bench.score.raters import Agreement
from ltm_bench.score.retrieval import Ranking, Retrieval
from ltm_bench.score.sets import SetFigures, SetQuestion
from ltm_bench.score.statistics import Interval
from ltm_bench.score.written import Writing, Written

SCHEMA = 2
"""Version of the form of results.json."""


class Frozen(BaseModel):
    """A model that does not change."""

    model_config = ConfigDict(frozen=True)


class Needle(Frozen):
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


class Question(Frozen):
    """A question, what was expected, what was said, and the verdict."""

    turn: int | None
    text: str
    expected: str
    in_words: str = ""
    """What is expected, where a single right reply, `expected`, does not say it all."""
    reply: str | None
    outcome: Outcome
    score: float | None
    reason: str
    parts: tuple[float, ...] = ()
    can_leak: bool = False
    """Whether there is something that its reply must not say."""
    shows: str | None = None
    """What a right reply shows to be remembered."""
    needs: str | None = None
    """What the example must have shown for this question to count."""
    counts: float = 1.0
    """How much of its score counts: less than 1 where what it needs was not shown."""
    decisive: tuple[tuple[int, int], ...] = ()
    """Where in the reply the words stand without which the matcher's verdict would be another one."""
    scorer: str
    """Name and version of the scorer, e.g. `NamesOnly@1`."""
    chance: float
    position: int | None
    """Tokens of the conversation before it; None if it was not reached."""
    beside: int = 0
    """Tokens of forked questions and replies before it, which would stand in the conversation were it in-line."""
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
    """What the agent's memory had of the needles, where the agent can tell."""
    usage: dict[str, int] | None = None
    """Tokens of its reply, by the normalised figures; None if the adapter does not say."""
    dollars: float | None = None
    """Price of its reply; None if unknown."""
    seconds: float | None = None
    """Wall-clock time of its reply; None if it was not measured."""
    published: SetQuestion | None = None
    """Which question of a public set it is, and what that set's scorers give; None for all others."""

    @property
    def counted(self) -> float | None:
        """The part of its score that counts."""
        return None if self.score is None else self.score * self.counts


class ExampleResult(Frozen):
    """One example: its needles, its questions, its score."""

    id: str
    scenario: str
    score: float | None
    """Mean over its questions of what counts of their scores; None if one of them could not be scored."""
    span: int
    """Tokens from its first message to its last question."""
    overrun: int
    """By how many tokens the last question missed the span that was asked for."""
    needles: list[Needle]
    questions: list[Question]
    published: float | None = None
    """What others gave for it, where it was imported."""
    written: Written | None = None
    """What the agent's store held of its facts after its last question, where that can be read."""
    ingestion: Ingestion | None = None
    """What telling its needles took; None if nothing was told."""

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of its questions."""
        return [question.outcome for question in self.questions]

    @property
    def reached(self) -> bool:
        """Whether all its questions were asked and answered, so that its span and depths are known."""
        unanswered = (Outcome.NOT_REACHED, Outcome.AGENT_ERROR)
        return not any(question.outcome in unanswered for question in self.questions)

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def along(self) -> list[float]:
        """How far along its span each needle stood, 1 being the last question; empty if that is not known."""
        asked = [question.position for question in self.questions if question.position is not None]
        if not asked or not self.reached:
            return []
        start = min(asked + [needle.position for needle in self.needles])
        whole = max(1, max(asked) - start)
        return [(needle.position - start) / whole for needle in self.needles]


class ScenarioResult(Frozen):
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
    lost: dict[str, int] = Field(default_factory=dict)
    """How many answers retrieval lost at which place, as far as the agent can tell."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""


class Leaks(Frozen):
    """How often something was said that must not be said."""

    leaked: int
    """Replies."""
    questions: int
    """Those in which there was something to be kept back, and a reply."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def rate(self) -> float:
        """Leaks per question."""
        return self.leaked / self.questions if self.questions else 0.0


class Skill(Frozen):
    """The mean score over the scenarios that need a skill."""

    name: str
    score: float
    interval: Interval | None
    n: int
    """Examples that have a score."""
    scenarios: list[str]
    chance: float | None = None
    """What guessing would score; None if unknown."""


class Bin(Frozen):
    """Scores at similar distances, in tokens between needle and question."""

    low: int
    high: int
    mean: float
    interval: Interval
    n: int
    chance: float | None = None
    """What guessing would score; None if unknown."""


class NeedleRecall(Frozen):
    """Which needles of a scenario were recalled."""

    scenario: str
    examples: list[str]
    """Those whose questions have a score for every needle."""
    shares: list[float]
    """Mean over these, for the first needle, the second, and so on."""


class Account(Frozen):
    """What one model used in a run, for one purpose."""

    purpose: str
    """`agent`, `beside the agent` (an embedder, say), or `judge` and its name."""
    model: str | None
    """None if the adapter does not say."""
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
    """None if a price is unknown."""


FIGURES = ("uncached", "cache_read", "cache_write", "output", "reasoning")


def tokens_in(usage: Mapping[str, int] | None) -> int | None:
    """Return the tokens that a model read, from the cache or not; None if unknown."""
    return sum(usage.get(name, 0) for name in FIGURES[:3]) if usage else None


class Costs(Frozen):
    """What the agent used and cost."""

    calls: int = 0
    """Replies that the agent gave itself; scripted filler does not count."""
    usage: dict[str, int] = Field(default_factory=dict)
    """Sums of the normalised token figures."""
    dollars: float | None = 0.0
    """None if a price is unknown."""
    judge_dollars: float | None = 0.0
    """What the judges cost, not among `dollars`; None if a price is unknown."""
    price_list: str = ""
    """Name and date of the list that prices were taken from."""
    accounts: list[Account] = Field(default_factory=list)
    """All of it by purpose and model."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def tokens_in(self) -> int | None:
        """Tokens that the agent's model read, from the cache or not; None if unknown."""
        return tokens_in(self.usage)


class Latency(Frozen):
    """Wall-clock seconds of the agent's own replies."""

    total: float
    median: float
    p95: float
    calls: int = 0
    """Replies that were timed."""
    percentiles: dict[int, float] = Field(default_factory=dict)
    """How long the fastest 50, 75, 90, 95, 99 and 100 % of the replies took at most."""
    interval: Interval | None = None
    """95 % interval of the median."""
    retries: int = 0
    """Requests that were sent again, because the provider or the network failed."""
    cached: int = 0
    """Replies that came from the cache of answers, not from the provider."""


class Heard(Frozen):
    """How many tokens of a conversation reached the agent, and how; messages and replies together."""

    asked: int = 0
    """In turns that it was asked to answer."""
    observed: int = 0
    """In turns that a script answered for it (filler, needles), and of which it was told."""
    missed: int = 0
    """In turns that never reached it."""

    @property
    def tokens(self) -> int:
        """What reached it."""
        return self.asked + self.observed

    @property
    def whole(self) -> int:
        """All of the conversation."""
        return self.tokens + self.missed


class JudgeNote(Frozen):
    """A judge that had a say in a run, and whether it has earned it."""

    name: str
    model: str | None
    key: str
    replies: int
    """How many replies it judged."""
    unreadable: int
    sensitivity: float | None = None
    """None if it was never checked."""
    specificity: float | None = None
    believed: bool = False
    """Whether it was checked, and is good enough."""
    vague: int = 0
    """Replies made to be vague and wrong that it was shown."""
    false_accepts: float | None = None
    """What it gave for those on average, from 0 to 1; None if it was shown none."""
    published: bool = False
    """Whether it was asked what a set's published program asks, and not by the rubric that `judge check` calibrates."""


class Results(Frozen):
    """Everything that the page shows, but for the transcript."""

    schema_version: int = SCHEMA
    run: str
    agent: str
    suite: str
    span: int
    seed: int
    bench_version: int = 1
    """Version of what the score depends on; those of different ones do not compare."""
    mode: str = IN_LINE
    """How the conversation was held, in words: `in-line`, or `forked, scripted acknowledgements`."""
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
    audits: list[Audit] = Field(default_factory=list)
    """How often the matchers err, by those who read a sample of the replies."""
    raters: list[Agreement] = Field(default_factory=list)
    """How far those agree who read the same replies."""
    remarks: list[str] = Field(default_factory=list)
    """What a reader must know before believing the figures."""
    published: float | None = None
    """The sum over scenarios of what others gave, where the run was imported."""
    log: str = ""
    """SHA-256 of the event log that this was derived from; that of several is of their hashes."""
    turns: int
    tokens: int
    filler_tokens: int
    forks: int = 0
    """Questions that were asked beside the conversation."""
    fork_tokens: int = 0
    """Of these and their replies: they are not part of the conversation."""
    heard: Heard | None = None
    """None if a log of version 0.1.0 does not say whether scripted filler reached the agent."""
    filler_heard: str = "not recorded"
    """How filler reached the agent: `asked`, `observed`, `not heard`, `no filler`, `not recorded`."""
    seconds: float
    """Length of the conversation in benchmark time."""
    overruns: int
    costs: Costs
    latency: Latency | None
    outcomes: dict[Outcome, int]
    lost: dict[str, int] = Field(default_factory=dict)
    """How many answers retrieval lost at which place, as far as the agent can tell."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""
    writing: Writing | None = None
    """What the agent wrote down of what it was told; None if its store cannot be read."""
    leaks: Leaks | None = None
    """None if nothing had to be kept back."""
    scenarios: list[ScenarioResult]
    skills: list[Skill] = Field(default_factory=list)
    distances: list[Bin] = Field(default_factory=list)
    """Scores by the tokens between needle and question."""
    needle_recall: list[NeedleRecall] = Field(default_factory=list)
    examples: list[ExampleResult]
    sets: list[SetFigures] = Field(default_factory=list)
    """The published figures of the public sets that were asked."""
    operations: list[Operation] = Field(default_factory=list)
    """What the agent's operations took: writing, settling, retrieving, answering; and judging beside it."""
    course: Course = Course()
    """What the agent used along the conversation."""
    environment: dict[str, Any] = Field(default_factory=dict)
    """Where and when it ran: package and Python versions, platform, start times."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def smallest_difference(self) -> float | None:
        """The smallest difference from another agent that this run could show: paired, 95 % confidence, 80 % power.

        None while there is no interval.
        """
        own = [self.by_scenario]
        noise = None if self.interval is None else against_unknown(own)
        return None if noise is None else smallest_difference(size_of(own), noise)

    @property
    def by_scenario(self) -> dict[str, list[float]]:
        """The scores of the examples that have one."""
        found: dict[str, list[float]] = {}
        for example in self.examples:
            if example.score is not None:
                found.setdefault(example.scenario, []).append(example.score)
        return found

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def tags(self) -> dict[str, str]:
        """What the run was tagged with."""
        tags = self.environment.get("tags")
        return {str(key): str(value) for key, value in tags.items()} if isinstance(tags, dict) else {}

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def filler_share(self) -> float:
        """Part of the conversation's tokens that is filler."""
        return self.filler_tokens / self.tokens if self.tokens else 0.0

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def hearing(self) -> str:
        """How much of the conversation reached the agent, in words."""
        if self.heard is None:
            return "not recorded by version 0.1.0: filler may not have reached the agent"
        how = f", filler {self.filler_heard}" if self.filler_tokens else ""
        return f"{self.heard.tokens:,} of {self.heard.whole:,} tokens{how}"

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def verdict(self) -> str:
        """The headline in words: what the score shows, compared with guessing."""
        if self.score is None or self.interval is None:
            return "incomplete" if not self.complete else "too few examples to say"
        if self.interval.low > self.chance:
            return "above chance"
        return "below chance" if self.interval.high < self.chance else "not distinguishable from guessing"
