"""Interviews: whoever is asked about a reply is asked here. One place sends, keeps answers, prices, and resumes.

Rubrics, blind readers and the scorers of public sets are inquiries: generators of prompts that take the answers and
return what these come to. An answer that did not end well is none. It is not kept, so the same interview held again
asks for it, and for nothing else; nor is one that an inquiry cannot read.
"""

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, NamedTuple, TypeVar

from ltm_bench.adapters.chat import ChatModel
from ltm_bench.core.agent import Agent
from ltm_bench.core.budget import NOTHING, Budget, Mark
from ltm_bench.core.clock import wall
from ltm_bench.core.errors import AgentError, BudgetReached
from ltm_bench.core.keys import cleaned, known_values, scrubbed
from ltm_bench.core.limits import answers_of
from ltm_bench.core.messages import Finish, Message, Outcome, Reply, Usage
from ltm_bench.core.pricing import dollars, total
from ltm_bench.core.servers import without_thinking
from ltm_bench.datasets.matching import Inquiry, Judged
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import FILE, AnswerFile, JudgeAnswer, OpinionStore, key_of
from ltm_bench.log.calls import CALLS, KEPT, LOST, Call, KeptCalls, Role, line_of, mark_of
from ltm_bench.log.journal import Journal
from ltm_bench.plan.agents import server_of
from ltm_bench.runner.guarding import guarded, unusable
from ltm_bench.score.audits.judgements import FIGURES, Opinion

AT = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of every message to a judge: its answer must not depend on when it is asked."""

CONCURRENT = 8
"""Maximum concurrent calls."""

MOST_ASKED = 10
"""How often a prompt of a run is sent that gets no answer that can be read: whoever resumes pays for each."""

T = TypeVar("T")

Schema = Mapping[str, Any] | None
Note = Callable[[Call, Agent | None], None]
"""Receives a call that has ended; before that, one whose `ending` is a mark, with what is reserved for it."""

ANSWER = 60
"""Tokens of a typical answer: a sentence and a word, as JSON."""


class Quote(NamedTuple):
    """The number of calls, and their price."""

    calls: int
    known: int
    """Stored answers, which cost nothing."""
    likely: Decimal | None
    """Price with answers of the usual length; None if unknown."""
    most: Decimal | None
    """Price with the longest possible answers."""
    free: bool

    def __str__(self) -> str:
        """Return it in one line."""
        said = "1 call" if self.calls == 1 else f"{self.calls} calls"
        if self.known:
            said += f", {self.known} answered earlier"
        if self.free or not self.calls:
            return f"{said}, no cost"
        if self.likely is None or self.most is None:
            return f"{said}, price unknown"
        return f"{said}, about {_spelt(self.likely)}, at most {_spelt(self.most)}"


def _spelt(price: Decimal) -> str:
    return f"${price:.2f}" if price >= 1 else f"${price:.4f}"


class Interviewed(NamedTuple, Generic[T]):
    """What an inquiry came to."""

    found: T | None
    """None if an answer is missing, or cannot be read."""
    said: Sequence[tuple[str, JudgeAnswer]]
    """The prompts, each with its answer."""


class Brief(NamedTuple):
    """What a judge is asked about a reply."""

    rubric: str
    """Hash of what it judges by."""
    inquiry: Callable[[], Inquiry | None]


class Interview:
    """Puts inquiries to judges, several at a time; equal prompts are sent once. Used in one event loop.

    Args:
        answers: Where answers are kept; those that are there are not asked for again. None: the caller keeps them.
        budget: What may be spent. What a kept answer has cost counts in it once.
        on_answer: Called with each answer that was not known, also where it failed.
        note: Called with the key of each call and the judge's name, and as a `Note`; None if calls are not recorded.
        given_up: The keys of calls that are made no more, since their answers could not be read.
    """

    def __init__(
        self,
        answers: OpinionStore | AnswerFile | None,
        budget: Budget,
        on_answer: Callable[[JudgeAnswer], None] = lambda _: None,
        note: Callable[[str, str, Call, Agent | None], None] | None = None,
        given_up: Collection[str] = (),
    ) -> None:
        self._answers, self._budget, self._on_answer, self._note = answers, budget, on_answer, note
        self._given_up = given_up
        self._places = asyncio.Semaphore(CONCURRENT)
        self._turns = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._sent: dict[str, JudgeAnswer] = {}

    def known(self, judge: Judge, text: str, time: int = 1) -> JudgeAnswer | None:
        """Return a kept answer, unless it says nothing: a refusal was once kept as an empty answer."""
        said = None if self._answers is None else self._answers.get(judge, text, time)
        return said if said is not None and without_thinking(said.text).strip() else None

    def quote(self, judge: Judge, asked: Iterable[tuple[str, int]]) -> Quote:
        """Quote the cost of asking a judge these prompts, each for the n-th time."""
        return quote(judge, ((text, self._settled(judge, text, time)) for text, time in asked))

    def _settled(self, judge: Judge, text: str, time: int) -> bool:
        return self.known(judge, text, time) is not None or key_of(judge, text, time) in self._given_up

    async def hold(
        self,
        judge: Judge,
        inquiry: Generator[str, str, T | None] | None,
        *,
        time: int = 1,
        schema: Schema = None,
    ) -> Interviewed[T]:
        """Put an inquiry to a judge. Raises BudgetReached; any other failure is an answer that `failed`.

        Args:
            judge: The judge.
            inquiry: The inquiry; None, as an empty one, comes to nothing.
            time: The number of the repetition: a repeated prompt counts as separate.
            schema: A JSON schema for the answers, for judges that can be held to one.
        """
        said: list[tuple[str, JudgeAnswer]] = []
        if inquiry is None:
            return Interviewed(None, said)
        try:
            text = next(inquiry)
            while True:
                answer = await self._ask(judge, text, time, schema)
                said.append((text, answer))
                if answer.failed:
                    return Interviewed(None, said)
                text = inquiry.send(without_thinking(answer.text))
                self._keep(judge, time, *said[-1])
        except StopIteration as done:
            if said and done.value is not None:
                self._keep(judge, time, *said[-1])
            elif said and self._note is not None:
                self._note(key_of(judge, said[-1][0], time), judge.name, Call(ending="unread"), None)
            return Interviewed(done.value, said)
        finally:
            inquiry.close()

    async def opinions(
        self, judges: Sequence[Judge], asked: Sequence[Brief], *, time: int = 1
    ) -> list[list[Opinion]]:
        """Return every judge's opinion on every reply, reply by reply. Raises BudgetReached."""

        async def one(each: Brief, judge: Judge) -> Opinion:
            return opinion_of(judge, each.rubric, await self.hold(judge, each.inquiry(), time=time))

        found = await together(one(each, judge) for each in asked for judge in judges)
        return [found[i : i + len(judges)] for i in range(0, len(found), len(judges))]

    async def _ask(self, judge: Judge, text: str, time: int, schema: Schema) -> JudgeAnswer:
        key = key_of(judge, text, time)
        async with self._turns[key]:
            if key not in self._sent:
                note = None if self._note is None else partial(self._note, key, judge.name)
                if (known := self.known(judge, text, time)) is not None:
                    self._budget.count_once(key, known.dollars)
                    if note is not None:
                        price = None if known.dollars is None else Decimal(str(known.dollars))
                        note(Call(dollars=price, usage=known.usage, ending=KEPT), None)
                    return known
                if key in self._given_up:
                    why = f"{MOST_ASKED} answers could not be read; name another judge, or change this one"
                    return JudgeAnswer(why, None, 0.0, failed=True)
                async with self._places:
                    self._sent[key] = await say(judge, text, self._budget, schema, note)
                self._budget.keys.setdefault(key, NOTHING)
                self._on_answer(self._sent[key])
            return self._sent[key]

    def _keep(self, judge: Judge, time: int, text: str, said: JudgeAnswer) -> None:
        if self._answers is not None and key_of(judge, text, time) in self._sent:
            self._answers.put(judge, text, time, said)


@contextmanager
def interviewing(run: Path, kept: KeptCalls, role: Role, budget: Budget) -> Iterator[Interview]:
    """Open an interview about a run: its folder keeps a line for each call, the one beside it the answers.

    Args:
        run: The run folder.
        kept: The calls that it keeps; gets the new ones.
        role: Who is asked.
        budget: As for an interview. What the kept calls cost counts in it once.
    """
    asked = [each for each in kept.asked if each.ending != KEPT]  # which count when their answers are needed
    came = ((each.key if each.came else None, each.price or NOTHING) for each in asked)
    budget.count_calls(run.resolve(), came)
    lined = {each.key for each in kept.asked if each.came}
    with OpinionStore(run.parent / FILE) as answers, Journal(run / CALLS, perf_counter) as calls:

        def put(line: dict[str, Any]) -> None:
            calls.put(line)
            calls.sync()  # as with an agent's: a charge that a power failure took back would be spent again
            kept.take(line)

        def note(key: str, name: str, call: Call, agent: Agent | None) -> None:
            if call.ending in ("sending", "refused", "unread"):
                put({"key": key, "role": role, "name": name} | mark_of(call.ending, call.dollars))
            elif call.ending != KEPT or key not in lined:
                lined.add(key)
                server = None if agent is None else server_of(agent)
                put(line_of(call._replace(key=key, name=name, role=role, at=wall()), server))

        for each in kept.interrupted():  # or the mark of another call with its key would take its place
            put(line_of(each._replace(at=wall())))
        given_up = [key for key, times in kept.unread.items() if times >= MOST_ASKED]
        yield Interview(answers, budget, note=note, given_up=given_up)


async def say(judge: Judge, text: str, budget: Budget, schema: Schema, note: Note | None) -> JudgeAnswer:
    """Send a text to a fresh judge. Any failure is an answer that `failed`, except BudgetReached, which is raised.

    Args:
        judge: The judge.
        text: The text.
        budget: What may be spent.
        schema: A JSON schema for the answer, for judges that can be held to one.
        note: Called with each call; what one that failed may have cost, its answer does not say then.
    """
    message, noted, lost = Message(text, AT, 0), note or (lambda *_: None), list[Decimal]()

    def mark(each: Mark, price: Decimal | None) -> None:
        if each == LOST:
            lost.append(price or NOTHING)
        elif agent is None or agent.free:
            return
        ending = "refused" if each == "failed" else each  # a judge may hear it twice
        noted(Call(dollars=payment.price if each == "sending" else price, ending=ending), agent)

    with tempfile.TemporaryDirectory() as home:
        agent = None
        try:
            agent = judge.make()
            if isinstance(agent, ChatModel):
                agent.schema = schema
            with budget.paying(agent, message, mark) as payment:
                await agent.open(Path(home))
                payment.calling()
                with answers_of(agent.max_bytes):
                    reply = cleaned(await guarded(lambda: agent.reply(message)), known_values())
                if problem := unusable(reply, agent.max_bytes):
                    raise AgentError(f"reply() returned {problem}")
                payment.settle(reply.usage)
        except BudgetReached:
            raise
        except Exception as error:  # a judge's adapter can raise anything
            if not lost:
                noted(Call(dollars=NOTHING, ending="failed"), agent)
            return JudgeAnswer(scrubbed(f"{type(error).__name__}: {error}"), None, note and 0.0, failed=True)
        finally:
            if agent is not None:
                await agent.close()
    price = Decimal(0) if agent.free else dollars(reply.usage) if reply.usage else None
    problem = _unsaid(reply)
    ending = "empty" if problem and reply.finish is Finish.STOP else reply.finish
    noted(Call(dollars=payment.charged - sum(lost) or price, usage=reply.usage, ending=ending), agent)
    text = f"{problem}: {reply.text[:200]!r}" if problem else reply.text
    if problem and note:  # its call says what it cost, also when another answer has taken its place
        return JudgeAnswer(text, None, 0.0, failed=True)
    return JudgeAnswer(text, reply.usage, None if price is None else float(price), failed=bool(problem))


def _unsaid(reply: Reply) -> str:
    """Return why a reply that came is no answer: it did not end well, or says nothing; empty if it is one."""
    if reply.finish is not Finish.STOP:
        return f"its answer ended with {reply.finish.value}"
    return "" if without_thinking(reply.text).strip() else "its answer says nothing"


async def together(tasks: Iterable[Awaitable[T]]) -> list[T]:
    """Await tasks concurrently. Raises the first of their errors after all have ended: the others are paid for."""
    futures = [asyncio.ensure_future(each) for each in tasks]
    await asyncio.gather(*futures, return_exceptions=True)
    return [each.result() for each in futures]


def opinion_of(judge: Judge, rubric: str, heard: Interviewed[Judged]) -> Opinion:
    """Return what a judge said as it is recorded: of several prompts, a list of all and the sum of what they cost."""
    texts, said = [text for text, _ in heard.said], [answer for _, answer in heard.said]
    prices, usage = [each.dollars for each in said], [each.usage for each in said if each.usage is not None]
    judged = heard.found
    if judged is None:
        last = said[-1] if said else JudgeAnswer("nothing was asked", failed=True)
        why = f"failed: {last.text}" if last.failed else f"unreadable answer: {last.text.strip()[:120]!r}"
        judged = Judged(Outcome.JUDGE_ERROR, None, why[:500])
    return Opinion(
        judge=judge.name,
        key=judge.key_with(rubric),
        rubric=rubric,
        model=next((each.model for each in usage if each.model), None),
        prompt=_joined(texts),
        answer=_joined([each.text for each in said]),
        outcome=judged.outcome,
        score=judged.score,
        scores=dict(judged.scores),
        reason=judged.reason,
        dollars=None if None in prices else sum(price or 0.0 for price in prices),
        usage={name: sum(getattr(each, name) for each in usage) for name in FIGURES if usage},
        recorded=True,
    )


def _joined(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else json.dumps(texts)


def quote(judge: Judge, texts: Iterable[tuple[str, bool]]) -> Quote:
    """Quote the cost of sending a judge these texts, each with whether its answer is stored."""
    agent, asked = judge.make(), list(texts)
    new = [text for text, known in asked if not known]
    most = [agent.reserve(Message(text, AT, 0)) for text in new if not agent.free]
    likely = [
        each
        and replace(each, uncached=each.prompt, cache_read=0, cache_write=0, output=min(ANSWER, each.output))
        for each in most
    ]
    return Quote(len(new), len(asked) - len(new), _price(likely), _price(most), agent.free)


def _price(used: Iterable[Usage | None]) -> Decimal | None:
    return total(None if each is None else dollars(each) for each in used)
