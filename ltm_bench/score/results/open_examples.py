"""One example while its log is read: what it was told, what it was asked, and the verdicts on the replies."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.marks import set_question
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.log.events import Ended, Sent
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.forms import form_of, is_exact
from ltm_bench.score.audits.judgements import BlindReading, Judgement, Override, reply_hash
from ltm_bench.score.audits.unread import is_for_reader
from ltm_bench.score.results.examples import BLIND, EXACT, SCORER, TEXT, ExampleResult, Needle, Question
from ltm_bench.score.results.headline import decide, example_score, gated
from ltm_bench.score.results.ingestion import Taking
from ltm_bench.score.results.written import Examined

SHOWN = 4000
"""Maximum characters of a question or needle in results and pages; the log has all of it."""

OF_A_SESSION = 400
"""Maximum characters of a message of a record's session: results hold many histories, whose texts are not needles."""

_NOT_REACHED = Question(
    turn=None,
    text="",
    expected="",
    reply=None,
    verdict=Verdict(Outcome.NOT_REACHED, None, "the run stopped before this question"),
    scorer="",
    chance=0.0,
    position=None,
    at=None,
)


def unanswered(sent: Sent, expect: Matcher, *, beside: int) -> Question:
    """Return a question as it was sent. Raises LogError if the log's matcher cannot be used."""
    try:
        right, chance = expect.right()[0], float(expect.chance)
        in_words = expect.in_words()
    except Exception as error:  # the log can contain anything in a matcher's fields
        raise LogError(
            f"the log's matcher {type(expect).__name__!r} of turn {sent.turn} cannot be used: "
            f"{type(error).__name__}: {error}"
        ) from error
    return Question(
        turn=sent.turn,
        text=_elided(sent.message, SHOWN),
        expected=sent.ideal or right,
        in_words=in_words,
        reply=None,
        verdict=Verdict(Outcome.AGENT_ERROR, None, "the agent did not reply"),
        scorer=f"{type(expect).__name__}@{expect.version}",
        chance=chance,
        # If a message contains its own material, the question comes after it.
        position=sent.position + (sent.tokens if sent.buried is not None else 0),
        beside=beside,
        at=sent.at,
        can_leak=expect.can_leak,
        shows=sent.shows,
        needs=sent.needs,
        aspect=sent.aspect,
    )


@dataclass
class AskedQuestion:
    """A question that was asked, and its verdict, which readers, judges and people may still change."""

    example: str
    expect: Matcher
    matched: Question
    """With the matcher's verdict."""
    question: Question
    """With the final verdict."""
    words: str
    """The question's own words."""

    def decide(
        self, judgement: Judgement | None, override: Override | None, reading: BlindReading | None = None
    ) -> None:
        """Let readers, judges and people decide, if they have read the reply."""
        question = self.matched
        if question.reply is not None:
            question = decide(self._read(question, reading), judgement, override)
        changes: dict[str, Any] = {}
        if isinstance(self.expect, SetMatcher):
            told = self.words, question.expected, question.reply
            judged = [opinion.scores for opinion in question.opinions if opinion.scores]
            changes["published"] = set_question(self.expect, *told, judged)
            if question.retrieval is not None and question.score not in {None, 0, 1}:
                # A share of the words, say: whoever is right at length gets one, too, so nothing need have been lost.
                changes["retrieval"] = question.retrieval.model_copy(update={"stored": None})
        if question.matched is not None:
            # The words decided for the matcher; a judge gives a reason, and is not explained by them.
            changes["decisive"] = ()
        self.question = replace(question, **changes) if changes else question

    def _read(self, question: Question, reading: BlindReading | None) -> Question:
        """Say who gave the verdict: the matcher or, if it has read this reply and decides, a blind reader."""
        said, form = question.reply or "", form_of(self.expect)
        changes: dict[str, Any] = {}
        if question.outcome is not Outcome.UNDECIDED and not question.outcome.infrastructure:
            changes["decided_by"] = SCORER if form is None else EXACT if is_exact(said, form) else TEXT
        if form is not None:
            for_reader = is_for_reader(self.expect, form, question.text, said, question.verdict)
            changes["for_reader"] = for_reader
        if reading is not None and reading.reply == reply_hash(said):
            changes["reading"] = reading
            verdict = verdict_by_reading(question.verdict, self.expect, question.text, said, reading)
            if verdict is not None and form is not None:
                changes |= {"matched": question.outcome, "doubt": question.reason}
                changes |= {"verdict": verdict, "decided_by": BLIND}
        return replace(question, **changes)


class _OpenNeedle(NamedTuple):
    """A needle whose distance from the last question is not known yet."""

    turn: int
    text: str
    position: int
    at: datetime
    cut: bool


@dataclass
class OpenExample:
    """What is known of an example so far."""

    id: str
    taking: Taking
    turns: list[Turn] = field(default_factory=list)
    asked: list[AskedQuestion] = field(default_factory=list)
    published: float | None = None
    ended: Ended | None = None
    examined: Examined | None = None
    """Which of its facts the agent's store held."""
    _planted: list[_OpenNeedle] = field(default_factory=list)

    def plant(self, sent: Sent) -> None:
        """Take the needles of a message: the message itself, or those inside it."""
        buried: Iterable[tuple[str, int | None]]
        buried = ((sent.message, 0),) if sent.buried is None else sent.buried
        most = SHOWN if sent.session is None else OF_A_SESSION
        self._planted += [
            _OpenNeedle(
                sent.turn, _elided(text, most), sent.position + (before or 0), sent.at, before is None
            )
            for text, before in buried
        ]

    def end(self, ended: Ended) -> None:
        """Take the end of the example; its turns need not be kept any longer."""
        self.ended = ended
        self.turns.clear()

    @property
    def result(self) -> ExampleResult:
        """Its result; questions that an unfinished example did not reach stay in the denominator."""
        questions = [each.question for each in self.asked]
        failed = bool(questions) and questions[-1].outcome is Outcome.AGENT_ERROR
        if self.ended is None and not failed:
            # A run that stops early must not score higher than one that goes on, so what it did not reach counts. A
            # question that the agent failed at does that already.
            questions.append(_NOT_REACHED)
        last = max((q.position for q in questions if q.position is not None), default=0)
        return ExampleResult(
            id=self.id,
            scenario=self.id.rpartition("/")[0],
            score=example_score(questions),
            span=self.ended.span if self.ended else 0,
            overrun=self.ended.overrun if self.ended else 0,
            needles=[
                Needle(depth=max(0, last - each.position), **each._asdict())
                for each in self._planted
                if self.ended is None or each.position <= last  # what follows the last question is a farewell
            ],
            questions=gated(questions),
            published=self.published,
            written=None if self.examined is None else self.examined.written,
            ingestion=self.taking.ingestion,
        )


def _elided(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters, see the log …]\n{text[-half:]}"
