"""Messages, replies and verdicts: the frozen values that all other rooms pass around.

A script yields `Tell`, `Ask` and `Chat`. The agent receives a `Message` and answers with a `Reply`; both
together are a `Turn`. A matcher looks at the reply to an `Ask` and returns a `Verdict`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Literal

Kind = Literal["tell", "ask", "chat", "fill"]
"""What a turn is to the benchmark. The agent is never told."""

AnsweredBy = Literal["agent", "script"]
"""Who answered a message: the agent, or a script in its place, so that the agent only observes the turn."""

FormKind = Literal[
    "choice", "number or code", "one of a set", "fields", "list", "order", "quantities", "displacement", "route",
    "objection", "quotation", "statement",
]  # fmt: skip
"""The form in which a reply answers."""

Text = str | Callable[[datetime], str]
"""A message's text, or a pure function from the benchmark's time at which it is sent to its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens that one reply cost, normalised: the three prompt figures do not overlap.

    OpenAI counts cached tokens inside `prompt_tokens`, Anthropic outside `input_tokens`; here the prompt is
    always `uncached + cache_read + cache_write`.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True}  # for readers of JSON

    uncached: int = 0
    """Prompt tokens that were neither read from nor written to the provider's cache."""
    cache_read: int = 0
    """Prompt tokens served from the provider's cache."""
    cache_write: int = 0
    """Prompt tokens written to the provider's cache (where that has a price of its own)."""
    output: int = 0
    """Completion tokens, reasoning included."""
    reasoning: int = 0
    """The hidden part of `output`."""
    model: str | None = None
    """The model that was used, as the provider calls it."""
    provider: str | None = None
    """Whose prices apply, e.g. `openai`; None if unknown."""
    besides: tuple[Usage, ...] = ()
    """What other models used for the same reply, such as an embedder; not included above."""
    cache_write_1h: int = 0
    """The part of `cache_write` that is kept for an hour, at a price of its own."""
    parts: tuple[Usage, ...] = field(default=(), compare=False)
    """The calls that these figures are the sum of, if there were several: a price depends on a single call's length."""
    at: datetime | None = field(default=None, compare=False)
    """When a single call was answered, by the wall clock, since prices have dates and hours; logs leave it out."""

    @classmethod
    def of(cls, calls: Sequence[Usage]) -> Usage:
        """Return the sum of one or more calls, which keep their own prices."""
        total, *others = calls
        for each in others:
            total += each
        each_call = [replace(part, besides=()) for each in calls for part in (each.parts or (each,))]
        return replace(total, parts=tuple(each_call) if len(each_call) > 1 else ())

    @property
    def prompt(self) -> int:
        """All prompt tokens."""
        return self.uncached + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        """Add the token figures, not the parts; model and provider are kept where both agree."""
        return Usage(
            uncached=self.uncached + other.uncached,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            model=self.model if self.model == other.model else None,
            provider=self.provider if self.provider == other.provider else None,
            besides=(*self.besides, *other.besides),
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
        )


class Finish(StrEnum):
    """Why the agent stopped talking."""

    STOP = "stop"
    """It said all it wanted to say."""
    LENGTH = "length"
    """Its output limit cut it off."""
    REFUSAL = "refusal"
    """The provider or the model declined to answer."""
    OVERFLOW = "overflow"
    """The conversation no longer fits into the agent's window: an outcome of the agent, not of the network."""


@dataclass(frozen=True, slots=True)
class Message:
    """What the agent receives."""

    text: str
    at: datetime
    """The benchmark's time, timezone-aware. There is no other time: do not read the wall clock."""
    turn: int
    """The sequence number of the turn, from 0; the same number is sent again after a crash."""
    ideal: str | None = None
    """The ideal reply. Filled in for agents that declare `told_ideal` (`perfect`, `reference`), None for all others."""
    user: str | None = None
    """Who speaks, if there are several users; None if there is only one."""
    line: Line | None = None
    """What the script yielded. Filled in with `ideal`; None for filler."""
    stream: str | None = None
    """The seed and name of the example that speaks, `7/colours/2`. Filled in with `line`."""
    search_by: str | None = None
    """The text to search a memory by, without instructions how to answer; None: the text itself."""
    settle: bool = True
    """Whether to wait for indexers before it is answered; False: answer from what can be read by now."""

    @property
    def query(self) -> str:
        """The text to search a memory by."""
        return self.text if self.search_by is None else self.search_by


@dataclass(frozen=True, slots=True)
class Reply:
    """What the agent answered."""

    text: str
    usage: Usage | None = None
    """None if the adapter cannot tell."""
    finish: Finish = Finish.STOP
    at: datetime | None = None
    """Benchmark time of the message that this answers; filled in for the script."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message and its reply."""

    message: Message
    reply: Reply
    kind: Kind = "chat"
    example: str | None = None
    """The example that spoke, e.g. `colours/2`; None for filler."""
    answered: AnsweredBy = "agent"
    forked: bool = False
    """Whether it is a question asked beside the conversation, which does not contain it."""
    session: str | None = None
    """The session of a record that its message belongs to; turns with the same example and session belong
    together."""

    @property
    def billed(self) -> bool:
        """Whether the agent replied itself, so that this reply includes all its usage so far."""
        return self.answered == "agent" and (self.kind != "fill" or self.reply.usage is not None)


class Outcome(StrEnum):
    """The outcome of a question."""

    CORRECT = "correct"
    PARTIAL = "partial"
    """Part of the answer is right."""
    STALE = "stale"
    """A value that was right once and has since been replaced."""
    OVERDONE = "over_updated"
    """A value that would be right if something had changed it, which nothing has."""
    WRONG = "wrong"
    ABSTAINED = "abstained"
    """The agent said that it does not know, or declined."""
    LEAKED = "leaked"
    """It reveals what must not be said here: a secret, something to forget, something that another user told; or it
    gives as true what a stranger planted."""
    MALFORMED = "malformed"
    """The right content in an unreadable form, or nothing readable at all."""
    UNDECIDED = "undecided"
    """Text alone cannot tell, and no judge was asked. Counts 0 until one is; every figure states how many there are."""
    OVERFLOW = "overflow"
    """The conversation did not fit into the agent's window."""
    AGENT_ERROR = "agent_error"
    JUDGE_ERROR = "judge_error"
    NOT_REACHED = "not_reached"

    @property
    def infrastructure(self) -> bool:
        """Whether this says nothing about the agent's memory, so that the run counts as incomplete."""
        return self in (Outcome.AGENT_ERROR, Outcome.JUDGE_ERROR, Outcome.NOT_REACHED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a scorer decides about a reply."""

    outcome: Outcome
    score: float | None
    """From 0 to 1; None if it cannot be decided."""
    reason: str
    """One sentence for the reader of the page."""
    parts: tuple[float, ...] = ()
    """The scores of the parts of a question that asks for several things, in the order of the needles."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """The form in which a reply answers, so that a reader who does not know the right answer can copy it out."""

    kind: FormKind
    pool: tuple[str, ...] = ()
    """Everything that could be answered, whatever the example: all of it, or nothing."""
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The same by field, for `fields`."""
    terse: str = ""
    """A reply around a value or values, such as `I would like the {}, please.`; empty for the value alone."""


class Matcher(ABC):
    """Decides from text alone whether a reply is right. A frozen dataclass: data plus `verdict`.

    The event log holds a matcher as its class's name, its version and its fields, so that an old log can be scored
    again. Fields hold JSON values and tuples only.
    """

    version: ClassVar[int] = 1
    """Raise it whenever the same reply can get a different verdict."""
    can_leak: ClassVar[bool] = False
    """Whether a reply can reveal something that it must not."""
    as_published: ClassVar[bool] = False
    """Whether it scores as the authors of a benchmark do, so that no rule of ours changes its verdict."""

    @abstractmethod
    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge `reply`; `turns` are the example's turns up to and including this one. Never raises."""

    @abstractmethod
    def right(self) -> Sequence[str]:
        """Return replies that are right, the plainest first."""

    @abstractmethod
    def wrong(self) -> Sequence[str]:
        """Return typical replies that are not correct."""

    def in_words(self) -> str:
        """Describe what is expected, for a reader of the reply; empty if the first right reply says it all."""
        return ""

    def form(self) -> ReplyForm | None:
        """Return the form in which replies answer; None if no model may read them blind."""
        return None

    @property
    def chance(self) -> float:
        """The expected score of an agent that remembers nothing and guesses."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Buried:
    """A needle inside a longer message."""

    text: str
    tokens: int | None
    """Tokens of the message before it; None if the needle was cut off with part of the message."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that a needle states, so that it can be looked for in what an agent wrote down."""

    about: str
    """What it is about; a later fact about the same thing replaces it."""
    value: str
    """Its value; a memory of it contains these words."""
    words: tuple[str, ...] = ()
    """Words that a memory of it also contains, in any order, such as a name; empty if the value says it all."""
    among: tuple[str, ...] = ()
    """Values that an agent could make up instead."""


@dataclass(frozen=True, slots=True)
class Tell:
    """A needle: plants something to remember."""

    text: Text
    at: float | None = None
    """Position in the usable span, 0 to 1. None: right after its predecessor, with nothing in between."""
    after: timedelta | None = None
    """Minimum benchmark time since the script's previous message."""
    ideal: str | None = None
    """The best reply, where that is more than an acknowledgement."""
    buried: tuple[Buried, ...] = ()
    """The needles in it, if the message itself is not one."""
    inside: bool = False
    """Whether it is one needle with filler around it, which no scenario wrote."""
    user: str | None = None
    """Who says it, if several users talk to the agent."""
    session: str | None = None
    """The session of a record that it belongs to, for agents that take whole sessions
    (`Agent.observe_session`)."""
    facts: tuple[Fact, ...] = ()
    """The facts that it states, if the agent's store is examined for them."""
    deletes: tuple[str, ...] = ()
    """What the agent should delete: the subject of those facts."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: its reply is scored with `expect`."""

    text: Text
    expect: Matcher
    at: float | None = None
    """As in `Tell`."""
    after: timedelta | None = None
    """As in `Tell`."""
    ideal: str | None = None
    """The best reply, if no matcher can know it."""
    buried: tuple[Buried, ...] = ()
    """The needles in it, if the message contains the material for its own question."""
    inline: bool = False
    """Whether it is part of the conversation even if questions are forked: because the script reads the reply, or later
    messages build on the question.
    """
    user: str | None = None
    """As in `Tell`."""
    shows: str | None = None
    """The name of what a right reply proves to be remembered; other questions of the example may need it."""
    needs: str | None = None
    """What the example must have proved for this question to count, so that silence alone never earns anything.

    Its score is multiplied by the lowest score of the questions that show it; their order does not matter.
    """
    search_by: str | None = None
    """The text to search a memory by, if the message also says how to answer."""
    aspect: str | None = None
    """Under which name its outcome is counted apart, whatever else the example showed: `2 after it was mentioned`.

    Details may follow, and are counted by themselves, too: `to update; 2 steps`.
    """
    evidence: tuple[int, ...] = ()
    """The lines of the script that hold the answer, counted from 0 without its questions, where all that was told is
    too much for one message (see `--control`). Retrieval is to find these alone.
    """
    settle: bool = True
    """Whether the run waits for the agent's indexers first. If not, it waits for `after` in real time instead."""
    restart: bool = False
    """Whether the agent is closed before it, and another instance goes on from what it kept (`Agent.reopen`)."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A filler turn that the agent must answer itself, and that nothing may interrupt."""

    text: Text
    ideal: str | None = None
    """The best reply, where that is more than an acknowledgement."""
    at: float | None = None
    """As in `Tell`."""
    after: timedelta | None = None
    """As in `Tell`."""
    user: str | None = None
    """As in `Tell`."""


Line = Tell | Ask | Chat
"""What a script yields."""
