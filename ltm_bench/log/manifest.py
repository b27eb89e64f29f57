"""The manifest: what a run is. It is the first line of the event log."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, field_validator

from ltm_bench.core.seeds import Seed, parse_seed
from ltm_bench.log.lines import LARGEST, to_line

FORMAT = 1
"""Version of the format of events.jsonl."""

BENCH_VERSION = 6
"""Version of everything that a score depends on; scores of different versions are not comparable (docs/versions.md)."""

IMPORTED = "imported"
"""The adapter of imported runs, whose agents cannot be called."""

MOST_EXAMPLES = 20_000
"""Maximum number of examples in a run: each is a row of a page, asked or not."""


FULL = 0.8
"""The share of a span from which on it counts as full: messages are placed within nine tenths of it."""

_FEW = 2
"""Names of scenarios that stand for a suite."""

IN_LINE = "in-line"
"""The mode of a run in which the agent answers everything, in one conversation."""

ALONE = "alone"
"""The mode of a run in which every question has a conversation of its own."""

Questions = Literal["in-line", "forked", "alone"]
"""Whether questions are part of the conversation, asked beside it, each on a fork, or each put to a new agent that is
told the history of a public set again."""

Acknowledge = Literal["live", "scripted"]
"""Who replies to needles: the agent, or a script while the agent observes."""


def _leaves_room(start: datetime) -> datetime:
    if not 1000 <= start.year < 9000:
        raise ValueError("write a time from the year 1000 to 8999")
    return start


Start = Annotated[datetime, AfterValidator(_leaves_room)]
"""The benchmark time of a conversation's first message. Python's calendar ends in 9999, time zones take their part."""


class ScenarioEntry(BaseModel, frozen=True, extra="forbid"):
    """A scenario as it was run."""

    name: str
    """Name of the suite's row."""
    scenario: str | None = None
    """The scenario that is played, if the row has its own name."""
    version: int
    hash: str
    """Hash of its file's content."""
    examples: int = Field(ge=1, le=MOST_EXAMPLES)
    parameters: dict[str, Any]


class SuiteEntry(BaseModel, frozen=True, extra="forbid"):
    """The suite as it was resolved from its file and the flags."""

    name: str
    start: Start
    """Benchmark time of the first message."""
    stagger: float = Field(ge=0, le=1)
    opening: str | None = None
    """The first message of every conversation, which no example says; None if there is none."""
    isolated: bool
    decoys: bool | None = None
    """Whether filler holds decoys, and longer messages hold needles; None if not, and in runs up to 0.4.0."""
    left_out: dict[str, str] | None = None
    """Rows that this agent cannot play, and why: its score compares with others on the rows that both played."""
    scenarios: list[ScenarioEntry]

    @field_validator("scenarios")
    @classmethod
    def _bearable(cls, scenarios: list[ScenarioEntry]) -> list[ScenarioEntry]:
        if sum(entry.examples for entry in scenarios) > MOST_EXAMPLES:
            raise ValueError(f"more examples than a run can have ({MOST_EXAMPLES:,})")
        return scenarios

    @property
    def title(self) -> str:
        """What is asked, in brief: the scenarios if there are one or two, else the suite."""
        names = [entry.name for entry in self.scenarios]
        return ", ".join(names) if len(names) <= _FEW else self.name


class AgentEntry(BaseModel, frozen=True, extra="forbid"):
    """The agent as it was configured. Keys are never among the settings."""

    name: str
    adapter: str
    hash: str
    settings: dict[str, Any]
    free: bool
    """Whether it costs nothing; otherwise a missing usage is an unknown cost."""
    observes: bool | None = None
    """Whether scripted filler reached it; None in runs of version 0.1.0, which did not record it."""
    keeps_users: bool | None = None
    """True if it says that it keeps users apart; None if it does not say so."""
    target: str | None = None
    """Hash of the user's own code behind the adapter, or `unknown`; None if there is none, and in runs up to 0.3.0."""
    server: str | None = None
    """What its calls connect to, without credentials; None if it calls nothing, and in runs up to 0.4.0."""


class FillerEntry(BaseModel, frozen=True, extra="forbid"):
    """Where filler came from, and who answered it."""

    source: str
    digest: str
    mode: str
    """`live`: the agent was asked; `scripted`: it observed filler with its answers, if it observes."""
    max_tokens: int = Field(ge=0, le=LARGEST)


class Manifest(BaseModel, frozen=True, extra="forbid"):
    """What a run is: equal manifests and equal replies give equal logs."""

    format: int
    version: str
    """Version of ltm-bench."""
    bench_version: int = 1
    """Version of everything the score depends on; 1 in runs of version 0.1.0, which did not record it."""
    seed: Annotated[Seed, AfterValidator(parse_seed)]
    span: int = Field(ge=0, le=LARGEST)
    tokenizer: str
    suite: SuiteEntry
    agent: AgentEntry
    filler: FillerEntry
    questions: Questions = "in-line"
    """Where questions are asked."""
    acknowledge: Acknowledge = "live"
    """Who replies to needles."""
    asks: str | None = None
    """How it asks another run's questions again, in whose folder it lies; None of any other run."""
    scorers: dict[str, int]
    """The version of every matcher at the time of the run."""

    @property
    def mode(self) -> str:
        """How the conversation was run; scores of different modes are shown together only with this label."""
        return self.asks or self.questions + (
            ", scripted acknowledgements" if self.acknowledge == "scripted" else ""
        )

    def again(self, kind: str) -> "Manifest":
        """Return the manifest of the run that asks the questions of this one again."""
        suite = self.suite.model_copy(update={"isolated": True})
        return self.model_copy(update={"suite": suite, "questions": "in-line", "asks": kind})

    def unfilled(self, longest: int) -> list[str]:
        """Return a remark if even the longest conversation of isolated examples holds far less than the span.

        Histories have a length of their own, and questions that are asked again fill none.
        """
        history = any({"set", "data"} <= entry.parameters.keys() for entry in self.suite.scenarios)
        if self.asks or not self.suite.isolated or history or longest >= FULL * self.span:
            return []
        return [
            f"the longest conversation holds {longest:,} tokens, not the span of {self.span:,}: nothing fills it"
        ]

    def line(self) -> bytes:
        """Return the first line of a log."""
        # None is left out, so that a field that is added later changes no manifest that does not use it.
        return to_line({"event": "manifest", **self.model_dump(mode="json", exclude_none=True)})

    def identity(self) -> dict[str, Any]:
        """Return what determines the conversation, as JSON values; versions are kept as provenance alone."""
        return self.model_dump(
            mode="json",
            exclude={
                "version": True,
                "bench_version": True,
                "scorers": True,
                "agent": {"observes": True, "keeps_users": True, "server": True},
            },
        )
