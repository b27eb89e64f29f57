"""The examples of a run: their needles, questions and scores, and the mean over those of a scenario."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields
from datetime import datetime
from typing import Any, cast

from pydantic import (
    BaseModel,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    computed_field,
    model_serializer,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from ltm_bench.core.messages import Outcome, Reply, Verdict
from ltm_bench.datasets.marks import SetQuestion
from ltm_bench.score.audits.judgements import BlindReading, Opinion, Override
from ltm_bench.score.results.guessing import Guessed
from ltm_bench.score.results.ingestion import Ingestion
from ltm_bench.score.results.retrieval import Ranking, Retrieval
from ltm_bench.score.results.written import Written
from ltm_bench.score.statistics.intervals import Interval

VERDICT = tuple(field.name for field in fields(Verdict))
"""The names of a verdict's fields, which stand beside the question's own in JSON."""


EXACT, TEXT, SCORER, BLIND, JUDGE, PERSON = DECIDERS = (
    "exact form",
    "reader",
    "another scorer",
    "blind reader",
    "judge",
    "person",
)
"""Who gives verdicts: our text reader, on a reply in exactly the form asked for or in words; a published scorer, or a
matcher that tells no form; a model that does not know the right answer; one that does; a person."""
SAID = dict(
    zip(DECIDERS, ("form", "the matchers", "another scorer", "a model", "a judge", "a person"), strict=True)
)
"""How they are called in a sentence: a `reader` is a model elsewhere."""


def nested(content: Any) -> Any:
    """Gather the verdict's fields, which stand beside the others in JSON."""
    if not isinstance(content, Mapping) or "verdict" in content:
        return content
    own = {name: value for name, value in content.items() if name not in VERDICT}
    return own | {"verdict": {name: content[name] for name in VERDICT if name in content}}


def _flattened(content: Mapping[str, Any]) -> dict[str, Any]:
    """Put the verdict's fields in its place."""
    placed = (value if name == "verdict" else {name: value} for name, value in content.items())
    return {name: value for each in placed for name, value in each.items()}


class ControlAnswer(BaseModel, frozen=True):
    """The reply to a question in a control, and what the matcher says of it."""

    reply: str
    outcome: Outcome
    score: float | None
    reason: str

    @classmethod
    def of(cls, reply: Reply, said: Verdict) -> "ControlAnswer":
        """Return a reply and its verdict."""
        return cls(reply=reply.text, outcome=said.outcome, score=said.score, reason=said.reason)


class Controlled(BaseModel, frozen=True):
    """The replies to a question in a run's controls; None where it was not asked so."""

    by_matcher: float | None
    """What the matcher alone scores the run's own reply: readers and judges are not asked about controls."""
    blind: ControlAnswer | None = None
    evidence: ControlAnswer | None = None
    near: ControlAnswer | None = None
    left_out: bool = False
    """Whether one of them cannot ask it, so that the figures are without it."""


class Climbed(BaseModel, frozen=True):
    """The replies to a missed question on the rungs of the ladder; None where it was not asked so."""

    again: ControlAnswer | None = None
    cued: ControlAnswer | None = None
    recognised: ControlAnswer | None = None
    retold: ControlAnswer | None = None
    choices: int | None = None
    """Number of answers that the recognised rung offers."""
    needed: tuple[int, ...] = ()
    """The turns of the needles that name the answer, if the matcher can tell."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def lost(self) -> str:
        """The first rung that succeeds, or `none`; `unknown` if a rung that it takes to tell was not asked.

        `memory` if telling it again helps, and nothing was asked that tells what is not stored from what is not found.
        """
        helped = {name: getattr(self, name) for name in ("again", "cued", "recognised", "retold")}
        for name, answer in helped.items():
            if answer is not None and answer.score == 1:
                return "memory" if name == "retold" and self.cued is self.recognised is None else name
        return "unknown" if self.retold is None else "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, the expected answer, the reply, and the verdict."""

    turn: int | None
    text: str
    expected: str
    in_words: str = ""
    """A description of what is expected, if the right reply in `expected` is not enough."""
    reply: str | None
    verdict: Verdict
    """The final one: a person's, else a blind reader's, else the judges', else the matcher's."""
    decided_by: str = ""
    """Who gave it: one of `DECIDERS`; empty if it is undecided, or no verdict on a reply."""
    can_leak: bool = False
    """Whether its reply can reveal something that it must not."""
    shows: str | None = None
    """What a right reply proves to be remembered."""
    needs: str | None = None
    """What the example must have proved for this question to count."""
    aspect: str | None = None
    """Under which name its outcome is counted apart."""
    counts: float = 1.0
    """How much of its score counts: less than 1 if what it needs was not shown."""
    decisive: tuple[tuple[int, int], ...] = ()
    """Places of the words in the reply without which the matcher's verdict would differ; only if a page was written."""
    scorer: str
    """Name and version of the scorer, e.g. `NamesOnly@1`."""
    chance: float
    position: int | None
    """Tokens of the conversation before it; None if it was not reached."""
    beside: int = 0
    """Tokens of forked questions and replies before it, which an in-line conversation would contain."""
    at: datetime | None
    matched: Outcome | None = None
    """The matcher's outcome, if a reader, a judge or a person has decided since, or should."""
    doubt: str = ""
    """The matcher's reason then."""
    for_reader: bool = False
    """Whether a blind reader is asked about the reply, if one is named: the matcher may have misread it."""
    reading: BlindReading | None = None
    """What a blind reader copied out of the reply."""
    opinions: tuple[Opinion, ...] = ()
    """Judges' opinions on the reply."""
    override: Override | None = None
    """The verdict by hand, which wins."""
    overruled: str = ""
    """Who had decided before."""
    retrieval: Retrieval | None = None
    """Which needles the agent's retrieval found, if known."""
    usage: dict[str, int] | None = None
    """Usage of its reply, in normalised figures; None if the adapter does not report it."""
    context: int | None = None
    """Prompt tokens of the call that answered it, without a memory's own calls; None if unknown."""
    context_calls: int = 0
    """Calls whose prompts these are: if several, which of them answered is not known."""
    dollars: float | None = None
    """Price of its reply; None if unknown."""
    seconds: float | None = None
    """Wall-clock seconds of its reply; None if not measured."""
    since_told: float | None = None
    """Wall-clock seconds since its example's last turn, if it did not wait for indexers; None for all others."""
    published: SetQuestion | None = None
    """Its identity in a public set, and that set's scores; None for all others."""
    controls: Controlled | None = None
    """The replies in the run's controls; None without any."""
    ladder: Climbed | None = None
    """The replies on the ladder; None if it was not missed, or not asked again."""

    @property
    def for_judges(self) -> bool:
        """Whether judges may decide it: its matcher cannot, or its published scorer may ask one."""
        return self.matched is Outcome.UNDECIDED or self.published is not None

    @property
    def asked_of(self) -> tuple[Opinion, ...]:
        """All answers about its reply that were paid for: the blind reader's and the judges'."""
        return (*(self.reading.opinions if self.reading is not None else ()), *self.opinions)

    @property
    def outcome(self) -> Outcome:
        """The verdict's outcome."""
        return self.verdict.outcome

    @property
    def score(self) -> float | None:
        """From 0 to 1; None if it cannot be decided."""
        return self.verdict.score

    @property
    def reason(self) -> str:
        """The verdict in a sentence."""
        return self.verdict.reason

    @property
    def parts(self) -> tuple[float, ...]:
        """The scores of the parts of a question that asks for several things, in the order of the needles."""
        return self.verdict.parts

    @property
    def counted(self) -> float | None:
        """The part of its score that counts."""
        return None if self.score is None else self.score * self.counts

    _nested = model_validator(mode="before")(nested)

    @model_serializer(mode="wrap")
    def _flat(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _flattened(handler(self))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the flat form; pydantic would only say that it is an object."""
        own = {key: value for key, value in core_schema.items() if key != "serialization"}
        made = handler.resolve_ref_schema(handler(cast(CoreSchema, own)))
        verdict = handler.resolve_ref_schema(made["properties"]["verdict"])
        made["properties"] = _flattened(made["properties"] | {"verdict": verdict["properties"]})
        place = made["required"].index("verdict")
        made["required"][place : place + 1] = verdict["required"]
        return made


FIELDS = tuple(field.name for field in fields(Question))
"""The names of a question's fields."""

_QUESTION = TypeAdapter(Question)


def as_json(question: Question, names: AbstractSet[str]) -> dict[str, Any]:
    """Return some fields of a question as in JSON, those of its verdict beside the others."""
    found: dict[str, Any] = _QUESTION.dump_python(question, mode="json", include=set(names))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
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


class ScenarioResult(BaseModel, frozen=True):
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
    """As its matchers declare it."""
    guessed: Guessed | None = None
    """What guessing was measured to score; None if its content has changed since."""
    outcomes: dict[Outcome, int]
    lost: dict[str, int] = Field(default_factory=dict)
    """Number of answers that retrieval lost, by place, if known."""
    ranking: Ranking | None = None
    """How well retrieval finds needles; None if the agent cannot tell."""
