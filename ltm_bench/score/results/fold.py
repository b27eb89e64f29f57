"""One fold over a run's log: events in, sums and verdicts out. Only the turns of open examples are held.

The log is read once; a `TurnListener` gets every turn, for example to write the transcript.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from ltm_bench.core.messages import Finish, Matcher, Reply, Turn, Usage, Verdict
from ltm_bench.core.servers import without_thinking
from ltm_bench.log.calls import Call, context_of
from ltm_bench.log.events import Answered, Ended, Finished, Forked, Jumped, PublishedScore, Replied, Sent
from ltm_bench.log.journal import retrieval_trace_of, written_of
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import EventReader, join_digests
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.heaps import Guard
from ltm_bench.score.audits.judgements import (
    FIGURES,
    BlindReading,
    Judgement,
    Place,
    VagueTrial,
    newest,
    overrides,
)
from ltm_bench.score.audits.verdicts import decisive, verdict_on
from ltm_bench.score.results.accounts import Bookkeeping, used_by
from ltm_bench.score.results.controls import controlled
from ltm_bench.score.results.course import CourseFold
from ltm_bench.score.results.evidence import traces, writings
from ltm_bench.score.results.examples import Question
from ltm_bench.score.results.files import RunFiles
from ltm_bench.score.results.hearing import Hearing
from ltm_bench.score.results.ingestion import Taking
from ltm_bench.score.results.ladder import climbed
from ltm_bench.score.results.open_examples import AskedQuestion, OpenExample, unanswered


class TurnListener:
    """Gets a run's turns, one after the other, while the log is read; what it does not want, it ignores."""

    def conversation(self, example: str | None) -> None:
        """Begin a conversation: an isolated example's, or (None) the only one."""

    def turn(
        self, sent: Sent, replied: Replied | None, question: Question | None, *, forked: bool = False
    ) -> None:
        """Take a turn, or a forked question at its place.

        Args:
            sent: The message.
            replied: The agent's reply; None if it never answered.
            question: The question, if one was asked.
            forked: Whether it is no turn of the conversation.
        """

    def jumped(self, jumped: Jumped) -> None:
        """Take a jump of the benchmark's clock."""


_Used = tuple[Usage | None, Decimal | None, tuple[int | None, int]]
"""What a reply used and cost, and its context, as `context_of` tells it; None if unknown."""

_UNKNOWN: _Used = (None, None, (None, 0))


class Fold:
    """Sums over all conversations of a run, and its examples, whose verdicts judges may still change.

    Args:
        files: The run.
        verdicts: Known verdicts of today's matchers, by example and turn; the others are computed.
        explain: Whether to find the words that decided each verdict, which takes one verdict per word.
        listeners: Get every turn.
    """

    def __init__(
        self,
        files: RunFiles,
        *,
        verdicts: Mapping[Place, Verdict] | None = None,
        explain: bool = False,
        listeners: Sequence[TurnListener] = (),
    ) -> None:
        manifest = files.manifest
        self.files = files
        self._free = manifest.agent.free
        self.examples = {name: OpenExample(name, Taking(free=self._free)) for name in planned(manifest)}
        # What a run asks again that asks another one's questions, only its logs say.
        self._unplanned: dict[str, OpenExample] = {} if manifest.asks is None else self.examples
        self.positions: dict[int, int] = {}
        """Tokens before each turn and fork; empty in isolated runs."""
        self.turns = self.tokens = self.forks = self.fork_tokens = 0
        self.flaws = Counter[str]()
        """Replies of the agent that say nothing, or were only thought (`silent`), and those that were `cut`."""
        self.time = timedelta()
        self.users: dict[str, None] = {}
        self.hearing = Hearing(manifest)
        self.books = Bookkeeping(free=self._free, kept=files.calls)
        self.course = CourseFold(isolated=manifest.suite.isolated)
        self._isolated = manifest.suite.isolated
        self._by_hand = overrides(files.ratings)
        self._heard, self._blind = dict(files.judgements), dict(files.blind)
        self._verdicts, self._explain, self._listeners = verdicts or {}, explain, listeners
        self.vague = files.vague
        self.digest = self._read()

    def hear(
        self, judgements: Sequence[Judgement], vague: Sequence[VagueTrial], blind: Sequence[BlindReading] = ()
    ) -> None:
        """Take judges' opinions and what readers have read as if they had been on record from the start."""
        self.vague = newest([*self.vague, *vague])
        self._heard |= {(each.example, each.turn): each for each in judgements}
        self._blind |= {(each.example, each.turn): each for each in blind}
        new = {(each.example, each.turn) for each in (*judgements, *blind)}
        for each in self.asked:
            if (each.example, each.question.turn or 0) in new:
                self._decide(each)

    def _decide(self, asked: AskedQuestion) -> None:
        place = (asked.example, asked.question.turn or 0)
        asked.decide(self._heard.get(place), self._by_hand.get(place), self._blind.get(place))

    @property
    def asked(self) -> list[AskedQuestion]:
        """All questions that were asked."""
        return [each for example in self.examples.values() for each in example.asked]

    def _read(self) -> str:
        """Read all logs of the run; return the digest of the run."""
        digests = {}
        names = {name.replace("/", "-"): name for name in self.examples}
        for log in self.files.conversations():
            stem = log.path.stem if self._isolated else None
            for listener in self._listeners:
                listener.conversation(None if stem is None else names.get(stem, stem))
            self._conversation(log, stem)
            for name, found in writings(written_of(log.path)).items():
                if name in self.examples:
                    self.examples[name].examined = found
            digests[log.path] = log.digest
        first = self.files.log
        if first.path not in digests:
            # An isolated run's first log holds the manifest alone, and changing it must change the digest.
            for _ in first:
                pass
            digests = {first.path: first.digest, **digests}
        self.books.add(self.files.calls.every)
        return join_digests(list(digests.values()))

    def _conversation(self, log: EventReader, stem: str | None) -> None:
        """Take all events of one conversation, and the replies to its forks, which come last."""
        self._guard = Guard()
        self._trace, self._beside = traces(retrieval_trace_of(log.path)), 0
        self._stem = stem
        self._taken, self._spent = self.files.timings.seconds(stem), self.files.timings.spent(stem)
        self._since = self.files.timings.since_told(stem)
        answers: Mapping[int, Answered] | None = None
        sent: Sent | None = None
        last: Sent | None = None
        begun: datetime | None = None
        now: datetime | None = None
        for event in log:
            if isinstance(event, Sent):
                sent = last = event
                self._place(event)
                now = event.at
                begun = begun or now
                self.tokens += event.tokens
            elif isinstance(event, Replied) and sent is not None:
                question = self._turn(sent, event)
                for listener in self._listeners:
                    listener.turn(sent, event, question)
                sent = None
            elif isinstance(event, Forked):
                # A fork's reply stands at the end of the log; the log is open here, and most have no forks at all.
                answers = log.answers() if answers is None else answers
                answered = answers.get(event.id)
                reply = None if answered is None else answered.replied
                self._place(event.sent)
                forked = self._fork(event.sent, reply)
                for listener in self._listeners:
                    listener.turn(event.sent, reply, forked, forked=True)
            elif isinstance(event, Jumped):
                # The clock jumps between turns, when `sent` has been answered: the jump counts from the last message.
                if last is not None:
                    self.course.jumped(last, event)
                for listener in self._listeners:
                    listener.jumped(event)
            elif isinstance(event, PublishedScore):
                self._example(event.example).published = event.score
            elif isinstance(event, Ended):
                self._example(event.example).end(event)
            elif isinstance(event, Finished):
                now = event.at
        if sent is not None:  # the agent never answered it
            question = self._question(sent, None) if sent.kind == "ask" else None
            for listener in self._listeners:
                listener.turn(sent, None, question)
        if begun is not None and now is not None:
            self.time += now - begun

    def _place(self, sent: Sent) -> None:
        if sent.user is not None:
            self.users[sent.user] = None
        if not self._isolated:
            self.positions[sent.turn] = sent.position

    def _example(self, name: str | None) -> OpenExample:
        """Return an example; one that was not planned is read like the others, and has no result."""
        found = self.examples.get(name or "") or self._unplanned.get(name or "")
        if found is None:
            found = self._unplanned[name or ""] = OpenExample(name or "", Taking(free=self._free))
        return found

    def _turn(self, sent: Sent, replied: Replied) -> Question | None:
        self.turns += 1
        self.tokens += replied.tokens
        if sent.kind == "fill":
            self._guard.hear(sent.message)
            self.course.filled(sent, replied)
        itself = self.hearing.add(sent, replied)
        calls = self._calls(sent, replied, itself=itself)  # one that was observed settles its calls, too
        used = self._called(sent, replied, calls) if itself else (replied.usage, None, (None, 0))
        if sent.example is None:
            return None
        # the histories of public sets are long, and published scorers ask about them
        if sent.session is None:
            self._guard.hear(sent.message)
        example = self._example(sent.example)
        example.turns.append(Turn(sent.said, replied.said, sent.kind, example.id))
        if sent.kind == "tell":
            example.taking.told(sent, self._spent.get(sent.turn), asked=replied.answered is None)
        if sent.kind == "tell" or sent.buried is not None:
            example.plant(sent)
        return self._question(sent, replied, used) if sent.kind == "ask" else None

    def _calls(self, sent: Sent, replied: Replied, *, itself: bool = True) -> Sequence[Call]:
        place, kept = (self._stem, sent.turn), self.files.calls
        return kept.take_reply(place, replied.usage, self.files.begun, itself=itself)

    def _called(self, sent: Sent, replied: Replied, calls: Sequence[Call]) -> _Used:
        """Take the cost of a reply, and return it."""
        self.flaws["silent"] += replied.finish is Finish.STOP and not without_thinking(replied.reply).strip()
        self.flaws["cut"] += replied.finish is Finish.LENGTH
        self.books.replies += 1
        usage = replied.usage
        if all(each.passed or each.lost for each in calls):
            usage = used_by([each for each in calls if each.passed])  # the gateway saw it
        unpriced = usage is None and self._free
        price = None if unpriced else self.books.price_of(calls)
        self.course.called(sent, usage, price)
        return usage, price, context_of(calls)

    def _fork(self, sent: Sent, replied: Replied | None) -> Question:
        """Take a forked question: neither it nor its reply is a turn."""
        self.forks += 1
        if replied is None:
            return self._question(sent, None)
        used = self._called(sent, replied, self._calls(sent, replied))
        question = self._question(sent, replied, used, forked=True)
        self.fork_tokens += sent.tokens + replied.tokens
        self._beside += sent.tokens + replied.tokens
        return question

    def _question(
        self, sent: Sent, replied: Replied | None, used: _Used = _UNKNOWN, *, forked: bool = False
    ) -> Question:
        example, expect = self._example(sent.example), self._expected(sent)
        example.taking.waited(self._spent.get(sent.turn))
        question = unanswered(sent, expect, beside=self._beside)
        if replied is None:
            asked = AskedQuestion(example.id, expect, question, question, sent.asked)
            asked.decide(None, None)
            example.asked.append(asked)
            return asked.question
        reply, place = replied.said, (example.id, sent.turn)
        turns = (
            [*example.turns, Turn(sent.said, reply, "ask", example.id, forked=True)]
            if forked
            else example.turns
        )
        matched, verdict = self._scored(place, expect, reply, turns)
        again = controlled(self.files.again, place, verdict, partial(self._again, expect, turns))
        rungs = climbed(self.files.again, place, expect, turns, partial(self._instead, expect, turns))
        usage, price, (context, context_calls) = used
        question = replace(
            question,
            reply=replied.reply,
            verdict=verdict,
            usage=None if usage is None else {name: getattr(usage, name) for name in FIGURES},
            context=context,
            context_calls=context_calls,
            dollars=None if price is None else round(float(price), 9),
            seconds=self._taken.get(sent.turn),
            since_told=self._since.get(sent.turn),
            retrieval=self._trace.get(sent.turn),
            controls=again,
            ladder=rungs,
        )
        asked = AskedQuestion(example.id, expect, question, question, sent.asked)
        self._decide(asked)
        if self._explain and verdict is matched and asked.question.matched is None:
            words = decisive(expect, reply, turns, verdict)
            asked.matched = replace(question, decisive=words)
            asked.question = replace(asked.question, decisive=words)
        example.asked.append(asked)
        return asked.question

    def _expected(self, sent: Sent) -> Matcher:
        """Return the matcher of a question. Raises LogError if it is unknown."""
        return load(sent.expect or {})

    def _scored(
        self, place: Place, expect: Matcher, reply: Reply, turns: Sequence[Turn]
    ) -> tuple[Verdict, Verdict]:
        """Return the matcher's verdict, and the same after a look at what other examples said."""
        matched = self._verdicts.get(place) or verdict_on(expect, reply, turns)
        return matched, self._guard.checked(matched, expect, reply.text, turns)

    def _again(self, expect: Matcher, turns: Sequence[Turn], again: Mapping[Place, Turn]) -> Verdict:
        """Return the verdict on the last turn, with those of its example's replies that a control has."""
        heard = [
            replace(turn, reply=again.get((turn.example or "", turn.message.turn), turn).reply)
            for turn in turns
        ]
        return self._instead(expect, heard, heard[-1])

    def _instead(self, expect: Matcher, turns: Sequence[Turn], last: Turn) -> Verdict:
        """Return the verdict on a turn that stands in place of the last one."""
        heard, reply = [*turns[:-1], last], last.reply
        return self._guard.checked(verdict_on(expect, reply, heard), expect, reply.text, heard)


def planned(manifest: Manifest) -> Iterator[str]:
    """Yield the ids of all examples of a run, as far as its manifest says which they are."""
    for entry in manifest.suite.scenarios if manifest.asks is None else ():
        for index in range(entry.examples):
            yield f"{entry.name}/{index}"
