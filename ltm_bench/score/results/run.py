"""Results: frozen models of a run's outcome. They know no files."""

from typing import Any

from pydantic import BaseModel, Field, computed_field

from ltm_bench.core.messages import Outcome
from ltm_bench.core.seeds import Seed
from ltm_bench.log.manifest import IN_LINE
from ltm_bench.score.audits.raters import Agreement
from ltm_bench.score.audits.records import Audit
from ltm_bench.score.results.accounts import Costs
from ltm_bench.score.results.aspects import Aspect
from ltm_bench.score.results.context import ContextTokens
from ltm_bench.score.results.controls import Controls
from ltm_bench.score.results.course import Course
from ltm_bench.score.results.delays import DelayCurve
from ltm_bench.score.results.examples import SAID, ExampleResult, ScenarioResult
from ltm_bench.score.results.figures import Bin, NeedleRecall, Skill
from ltm_bench.score.results.headline import Leaks, by_scenario
from ltm_bench.score.results.hearing import Heard
from ltm_bench.score.results.ladder import LadderResult
from ltm_bench.score.results.operations import Operation
from ltm_bench.score.results.remarks import JudgeNote
from ltm_bench.score.results.retrieval import Ranking
from ltm_bench.score.results.timings import Latency
from ltm_bench.score.results.written import Writing
from ltm_bench.score.statistics.intervals import Interval
from ltm_bench.score.statistics.power import against_unknown, size_of, smallest_difference
from ltm_bench.score.statistics.published import SetFigures

SCHEMA = 2
"""Version of the format of results.json."""

NOBODY = "nobody"
"""Who read a reply that is for a blind reader, if none was named."""


class Results(BaseModel, frozen=True):
    """Everything that the page shows, except the transcript."""

    schema_version: int = SCHEMA
    run: str
    agent: str
    suite: str
    span: int
    seed: Seed
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
    decided_by: dict[str, int] = Field(default_factory=dict)
    """Number of verdicts on replies by who gave them: `exact form`, `reader`, `another scorer`, `blind reader`, …"""
    overridden: int = 0
    """Verdicts by hand."""
    judges: list[JudgeNote] = []
    by_judge: dict[str, float] = Field(default_factory=dict)
    """The score by each judge alone; judges that did not decide every doubtful reply are left out."""
    audits: list[Audit] = []
    """How often the matchers err, by auditors of a sample of the replies."""
    raters: list[Agreement] = []
    """Agreement between raters of the same replies."""
    remarks: list[str] = []
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
    in_all: dict[str, float | None] = {}
    """Dollars of the run, its judges and readers, its controls and rungs, and of `all`; empty without the last two."""
    context: ContextTokens = ContextTokens()
    """What the agent's model read to answer a question."""
    latency: Latency | None
    outcomes: dict[Outcome, int]
    lost: dict[str, int] = Field(default_factory=dict)
    """Number of answers that retrieval lost, by place, if known."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""
    writing: Writing | None = None
    """Which of the facts it was told the agent wrote down; None if its store cannot be read."""
    controls: Controls | None = None
    """What the run's controls show; None without any."""
    ladder: LadderResult | None = None
    """Where the answers to missed questions were lost; None if they were not asked again."""
    leaks: Leaks | None = None
    """None if nothing had to be withheld."""
    aspects: list[Aspect] = []
    """Questions counted apart, whatever else their examples showed."""
    delays: list[DelayCurve] = []
    """How long a thing takes to become readable."""
    scenarios: list[ScenarioResult]
    skills: list[Skill] = []
    distances: list[Bin] = []
    """Scores by the tokens between needle and question."""
    needle_recall: list[NeedleRecall] = []
    examples: list[ExampleResult]
    sets: list[SetFigures] = []
    """The published figures for public sets."""
    operations: list[Operation] = []
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

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def extremes(self) -> tuple[float, float]:
        """The score if all that is undecided were wrong, and if all were right."""
        return self.score_so_far, self.score_so_far + self.undecided_worth

    @property
    def read_by(self) -> dict[str, int]:
        """How many replies were read by whom, in words for people: `by form`, `by the matchers`."""
        return {f"by {SAID.get(who, who)}": count for who, count in self.decided_by.items()}

    @property
    def readers(self) -> list[str]:
        """Who read the replies that are for a blind reader: readers with version and key, and `nobody`."""
        read = {
            f"{q.reading.reader} ({q.reading.opinions[0].key[:8]})" if q.reading is not None else NOBODY
            for e in self.examples
            for q in e.questions
            if q.reading is not None or q.for_reader
        }
        return sorted(read)

    @property
    def by_scenario(self) -> dict[str, list[float]]:
        """The known scores of examples, by scenario."""
        return by_scenario(self.examples)

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
