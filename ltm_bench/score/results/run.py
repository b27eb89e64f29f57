"""Results: frozen models of a run's outcome. They know no files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, computed_field

from ltm_bench.core.messages import Outcome
from ltm_bench.log.manifest import IN_LINE
from ltm_bench.score.audits.judgements import Opinion, Override
from ltm_bench.score.audits.raters import Agreement
from ltm_bench.score.audits.records import Audit
from ltm_bench.score.results.course import Course
from ltm_bench.score.results.ingestion import Ingestion
from ltm_bench.score.results.operations import Operation
from ltm_bench.score.results.retrieval import Ranking, Retrieval
from ltm_bench.score.results.sets import SetFigures, SetQuestion
from ltm_bench.score.results.written import Writing, Written
from ltm_bench.score.statistics.intervals import Interval
from ltm_bench.score.statistics.power import against_unknown, size_of, smallest_difference

SCHEMA = 2
"""Version of the format of results.json."""


class Frozen(BaseModel):
    """An immutable model."""

    model_config = ConfigDict(frozen=True)


class Needle(Frozen):
    """A needle in the conversation."""

    turn: int
    text: str
    position: int
    """Tokens of the conversation before it."""
    depth: int
    """Tokens between it and the example's last question."""
    at: datetime
    cut: bool = False
    """Whether the needle was cut off with part of its message, so that nobody can find it."""


class Question(Frozen):
    """A question, the expected answer, the reply, and the verdict."""

    turn: int | None
    text: str
    expected: str
    in_words: str = ""
    """A description of what is expected, if the right reply in `expected` is not enough."""
    reply: str | None
    outcome: Outcome
    score: float | None
    reason: str
    parts: tuple[float, ...] = ()
    can_leak: bool = False
    """Whether its reply can reveal something that it must not."""
    shows: str | None = None
    """What a right reply proves to be remembered."""
    needs: str | None = None
    """What the example must have proved for this question to count."""
    counts: float = 1.0
    """How much of its score counts: less than 1 if what it needs was not shown."""
    decisive: tuple[tuple[int, int], ...] = ()
    """Places of the words in the reply without which the matcher's verdict would differ."""
    scorer: str
    """Name and version of the scorer, e.g. `NamesOnly@1`."""
    chance: float
    position: int | None
    """Tokens of the conversation before it; None if it was not reached."""
    beside: int = 0
    """Tokens of forked questions and replies before it, which an in-line conversation would contain."""
    at: datetime | None
    matched: Outcome | None = None
    """The matcher's outcome, if a judge or a person has decided since, or should."""
    doubt: str = ""
    """Why the matcher was undecided."""
    opinions: tuple[Opinion, ...] = ()
    """Judges' opinions on the reply."""
    override: Override | None = None
    """The verdict by hand, which wins."""
    retrieval: Retrieval | None = None
    """Which needles the agent's retrieval found, if known."""
    usage: dict[str, int] | None = None
    """Usage of its reply, in normalised figures; None if the adapter does not report it."""
    dollars: float | None = None
    """Price of its reply; None if unknown."""
    seconds: float | None = None
    """Wall-clock seconds of its reply; None if not measured."""
    published: SetQuestion | None = None
    """Its identity in a public set, and that set's scores; None for all others."""

    @property
    def counted(self) -> float | None:
        """The part of its score that counts."""
        return None if self.score is None else self.score * self.counts


class ExampleResult(Frozen):
    """One example: its needles, its questions, its score."""

    id: str
    scenario: str
    score: float | None
    """Mean of its questions' counted scores; None if one of them could not be scored."""
    span: int
    """Tokens from its first message to its last question."""
    overrun: int
    """Tokens by which the last question missed the requested span."""
    needles: list[Needle]
    questions: list[Question]
    published: float | None = None
    """Its published score, if imported."""
    written: Written | None = None
    """What the agent's store held of its facts after the last question, if readable."""
    ingestion: Ingestion | None = None
    """Time and cost of telling its needles; None if it has none."""

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
        """Each needle's position in the span, from 0 to 1, the last question; empty if unknown."""
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
    """Number of answers that retrieval lost, by place, if known."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""


class Leaks(Frozen):
    """How often the agent said something that it must not."""

    leaked: int
    """Replies."""
    questions: int
    """Questions with something to withhold, and a reply."""
    keeps_users: bool | None = None
    """Whether the agent says that it keeps users apart; None if it had one user."""

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
    """Recall of a scenario's needles."""

    scenario: str
    examples: list[str]
    """Examples whose questions have a score for every needle."""
    shares: list[float]
    """Mean over these, for the first needle, the second, and so on."""


class Account(Frozen):
    """One model's usage in a run, for one purpose."""

    purpose: str
    """`agent`, `beside the agent` (an embedder, say), or `judge` and its name."""
    model: str | None
    """None if the adapter does not report it."""
    calls: int = 0
    unknown: int = 0
    """Calls with unknown usage."""
    uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    """The hidden part of `output`."""
    dollars: float | None = 0.0
    """None if a price is unknown."""


FIGURES = ("uncached", "cache_read", "cache_write", "output", "reasoning")


def tokens_in(usage: Mapping[str, int] | None) -> int | None:
    """Return the tokens that a model read, from the cache or not; None if unknown."""
    return sum(usage.get(name, 0) for name in FIGURES[:3]) if usage else None


class Costs(Frozen):
    """The agent's usage and cost."""

    calls: int = 0
    """The agent's own replies, without scripted filler."""
    usage: dict[str, int] = Field(default_factory=dict)
    """Sums of the normalised token figures."""
    dollars: float | None = 0.0
    """None if a price is unknown."""
    judge_dollars: float | None = 0.0
    """The judges' cost, not included in `dollars`; None if a price is unknown."""
    price_list: str = ""
    """Name and date of the price list."""
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
    """Maximum seconds of the fastest 50, 75, 90, 95, 99 and 100 % of the replies."""
    interval: Interval | None = None
    """95 % interval of the median."""
    retries: int = 0
    """Requests retried because the provider or the network failed."""
    cached: int = 0
    """Replies from the cache instead of the provider."""


class Heard(Frozen):
    """How many tokens of a conversation reached the agent, and how; messages and replies together."""

    asked: int = 0
    """In turns that it was asked to answer."""
    observed: int = 0
    """In turns that a script answered for it (filler, needles) and that it observed."""
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
    """A judge of a run, and how far to trust it."""

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
    """Whether it passed calibration."""
    vague: int = 0
    """Number of deliberately vague and wrong replies that it was shown."""
    false_accepts: float | None = None
    """Its mean score for those, from 0 to 1; None without any."""
    published: bool = False
    """Whether it used the prompts of a set's published program instead of the rubric that `judge check` calibrates."""


class Results(Frozen):
    """Everything that the page shows, except the transcript."""

    schema_version: int = SCHEMA
    run: str
    agent: str
    suite: str
    span: int
    seed: int
    bench_version: int = 1
    """Version of everything the score depends on; scores of different versions are not comparable."""
    mode: str = IN_LINE
    """The conversation's mode, in words: `in-line`, or `forked, scripted acknowledgements`."""
    complete: bool
    score: float | None
    """Sum over scenarios; None while the run is incomplete."""
    score_so_far: float
    out_of: int
    interval: Interval | None
    chance: float
    references: dict[str, float]
    """Scores of baseline and oracle on the same examples: `goldfish` and `perfect`."""
    undecided: int = 0
    """Questions that text alone cannot decide and no judge was asked about; they count 0."""
    undecided_worth: float = 0.0
    """By how much the score would be higher if all of them were right."""
    overridden: int = 0
    """Verdicts by hand."""
    judges: list[JudgeNote] = Field(default_factory=list)
    by_judge: dict[str, float] = Field(default_factory=dict)
    """The score by each judge alone; judges that did not decide every doubtful reply are left out."""
    audits: list[Audit] = Field(default_factory=list)
    """How often the matchers err, by auditors of a sample of the replies."""
    raters: list[Agreement] = Field(default_factory=list)
    """Agreement between raters of the same replies."""
    remarks: list[str] = Field(default_factory=list)
    """What a reader must know before believing the figures."""
    published: float | None = None
    """The published score, if the run was imported."""
    log: str = ""
    """SHA-256 of the event log that this was derived from; of several logs, that of their hashes."""
    turns: int
    tokens: int
    filler_tokens: int
    forks: int = 0
    """Forked questions."""
    fork_tokens: int = 0
    """Tokens of these and their replies, which are not part of the conversation."""
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
    """Number of answers that retrieval lost, by place, if known."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""
    writing: Writing | None = None
    """Which of the facts it was told the agent wrote down; None if its store cannot be read."""
    leaks: Leaks | None = None
    """None if nothing had to be withheld."""
    scenarios: list[ScenarioResult]
    skills: list[Skill] = Field(default_factory=list)
    distances: list[Bin] = Field(default_factory=list)
    """Scores by the tokens between needle and question."""
    needle_recall: list[NeedleRecall] = Field(default_factory=list)
    examples: list[ExampleResult]
    sets: list[SetFigures] = Field(default_factory=list)
    """The published figures for public sets."""
    operations: list[Operation] = Field(default_factory=list)
    """Time and cost of the agent's operations: writing, settling, retrieving, answering; and judging beside it."""
    course: Course = Course()
    """The agent's usage along the conversation."""
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
        """The known scores of examples, by scenario."""
        found: dict[str, list[float]] = {}
        for example in self.examples:
            if example.score is not None:
                found.setdefault(example.scenario, []).append(example.score)
        return found

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def tags(self) -> dict[str, str]:
        """The run's tags."""
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
