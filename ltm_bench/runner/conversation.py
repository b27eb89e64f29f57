"""Drives conversations, one event at a time. What it knows of the outside is an agent, a recorder and a counter.

There is one path for running and for resuming: every event is put before the recorder, which compares it with what
the log holds already and writes it where the log ends. The agent is only called from there on.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar, cast

from ltm_bench.adapters.http import Traffic, listening
from ltm_bench.core.agent import Agent, Memory
from ltm_bench.core.budget import NOTHING, Budget
from ltm_bench.core.clock import Clock
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import AgentError, LtmBenchError
from ltm_bench.core.messages import Ask, Finish, Kind, Line, Message, Reply, Tell, Turn, Usage, Verdict
from ltm_bench.core.pricing import dollars
from ltm_bench.filler.filler import Filler
from ltm_bench.log.log import (
    Event,
    Journal,
    Recorder,
    is_finished,
    is_usage,
    read_turns,
    recalls_of,
    reply_of,
    side_records,
    usage_data,
)
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import Plan
from ltm_bench.schedule import Ended, Fill, Jump, Scheduler, Send
from ltm_bench.score.results import judge
from ltm_bench.script.scenario import Example, ideal_reply

T = TypeVar("T")

RECALLED = 50
"""Memories that an agent is asked for to find out where an answer was lost."""

COMPARED = 100
"""Filler turns of a log that are composed again and compared, when it is gone through; later ones are passed over.

The manifest settles what the filler is (its digest, the seed, the version), and a hundred messages tell whether that
still holds. Of the others the introductions are compared, which come from the same dice, and all of the last one.
"""

CONCURRENT = 8
"""Isolated examples that run at the same time."""


class Observer(Protocol):
    """Is told of what happens, as it happens. Events that the log held already are told as well."""

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        """Report that a message has been answered."""

    def verdict(self, example: Example, verdict: Verdict) -> None:
        """Report the verdict on a question."""

    def ended(self, ended: Ended) -> None:
        """Report that an example has said its last message."""


class Conversation:
    """One conversation of one agent: the whole run, or one example of an isolated run."""

    def __init__(
        self,
        plan: Plan,
        examples: Sequence[Example],
        agent: Agent,
        recorder: Recorder,
        journal: Journal,
        budget: Budget,
        observer: Observer,
        places: asyncio.Semaphore,
        on_doubt: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._on_doubt = on_doubt
        self._places = places
        self._agent = agent
        self._recorder = recorder
        self._journal = journal
        self._recalls = Journal(recalls_of(recorder.path), journal.clock)
        self._budget = budget
        self._observer = observer
        suite = plan.manifest.suite
        self._name = recorder.path.stem if suite.isolated else None
        self._scheduler = Scheduler(
            examples,
            span=plan.manifest.span,
            seed=plan.manifest.seed,
            counter=plan.counter,
            start=suite.start,
            stagger=suite.stagger,
            filler=not suite.isolated,
            rehearsals=plan.rehearsals,
        )
        self._filler = Filler(
            plan.bank, Dice(f"{plan.manifest.seed}/filler"), plan.counter, plan.manifest.filler.max_tokens
        )
        self._composed = 0
        self._turn = 0
        self._opened = self._live = False
        self._heard: dict[str, list[Turn]] = {}

    async def run(self, home: Path) -> None:
        """Talk until every example has ended. Raises RunIncomplete or BudgetReached when it cannot go on."""
        home.mkdir(parents=True, exist_ok=True)
        try:
            # Most agents are restored by observing every turn, and can do so while the log is gone through: it is
            # read once. The others are restored from it when it has been, and of a finished one nobody needs to know.
            observes = type(self._agent).restore is Agent.restore
            if observes and self._recorder.logged is not None and not is_finished(self._recorder.path):
                await self._open(home)
            with self._recalls:
                await self._talk(home)
        finally:
            if self._opened:
                await self._guard(self._agent.close(), self._opening())

    async def _talk(self, home: Path) -> None:
        scheduler, task = self._scheduler, asyncio.current_task()
        while True:
            if task is not None and task.cancelling():  # an agent that never waits would not let it through
                raise asyncio.CancelledError
            decision = scheduler.decide()
            if isinstance(decision, Send):
                await self._send(decision, home)
            elif isinstance(decision, Fill):
                passed = self._pass_over()
                if passed is None:
                    await self._fill(decision, home)
                elif self._opened:
                    await self._guard(self._agent.observe(passed), passed.message)
            elif isinstance(decision, Jump):
                self._put({"event": "jumped", "to": decision.to.isoformat(), "position": scheduler.position})
                scheduler.take()
            else:
                break
        self._put(
            {
                "event": "finished",
                "turns": self._turn,
                "tokens": scheduler.position,
                "at": scheduler.clock.now.isoformat(),
            }
        )

    def _put(self, event: Event) -> None:
        self._recorder.put(event)

    async def _send(self, send: Send, home: Path) -> None:
        if self._recorder.logged is None:
            await self._go_live(home)
        line = send.line
        kind: Kind = "ask" if isinstance(line, Ask) else "tell" if isinstance(line, Tell) else "chat"
        message = Message(
            send.text,
            self._scheduler.clock.now,
            self._turn,
            ideal_reply(line) if self._agent.told_ideal else None,
        )
        heard = self._heard.setdefault(send.example.id, [])
        before = None
        if kind == "ask" and self._live:  # the agent is never asked before its indexers are done
            await self._guard(self._agent.settle(), message)
            before = await self._recalled(message)
        record = partial(self._sent, kind, send.text, lambda: send.tokens, send.example.id, send.due, line)
        sent, reply, tokens = await self._exchange(message, home, record, question=kind == "ask")
        turn = Turn(message, reply, kind, send.example.id)
        heard.append(turn)
        replayed = not self._live
        if replayed and self._opened:
            await self._guard(self._agent.observe(turn), message)
        ended = self._take(sent, reply, tokens)
        self._observer.turn(turn, sent + tokens, self._scheduler.position, replayed=replayed)
        if isinstance(line, Ask):
            verdict = judge(line.expect, reply, heard)
            self._observer.verdict(send.example, verdict)
            if before is not None and verdict.score is not None and verdict.score < 1:
                await self._trace(message, heard, before)
        for each in ended:
            self._heard.pop(each.example.id, None)
            self._put(
                {"event": "ended", "example": each.example.id, "span": each.span, "overrun": each.overrun}
            )
            self._observer.ended(each)

    async def _recalled(self, message: Message) -> Sequence[Memory] | None:
        """Return what the agent's retrieval gives for a question; None where it has none."""
        if type(self._agent).recall is Agent.recall:
            return None
        if (
            self._budget.limit is not None and not self._agent.free
        ):  # what recalling costs nobody has set aside
            return None
        try:
            return await self._agent.recall(message.text, RECALLED)
        except (NotImplementedError, AgentError):
            return None

    async def _trace(self, message: Message, heard: Sequence[Turn], found: Sequence[Memory]) -> None:
        """Write down of an example's needles which were stored, and which were found for a question that failed.

        This is evidence beside the log, not part of it: what a retrieval would have given cannot be replayed.
        """
        needles = []
        for turn in heard[:-1]:
            if turn.kind == "tell":
                try:
                    stored = await self._agent.recall(turn.message.text, RECALLED)
                except (NotImplementedError, AgentError):
                    return
                needles.append([turn.message.turn, _among(turn, stored), _among(turn, found)])
        self._recalls.put({"turn": message.turn, "needles": needles})

    async def _fill(self, fill: Fill, home: Path) -> None:
        if self._recorder.logged is None:
            await self._go_live(home)
        self._composed += 1
        filler = self._filler.compose(fill.tokens)
        record = partial(self._sent, "fill", filler.text, lambda: self._filler.tokens(filler))
        ideal = filler.answers if self._agent.told_ideal else None
        message = Message(filler.text, self._scheduler.clock.now, self._turn, ideal)
        if self._plan.manifest.filler.mode == "live":
            sent, reply, tokens = await self._exchange(message, home, record)
            turn = Turn(message, reply, "fill")
            told = self._opened and not self._live
        else:
            sent = record()
            if self._recorder.logged is None:  # killed between message and answer
                await self._go_live(home)
            reply = Reply(filler.answers)
            tokens = self._replied(reply, lambda: self._filler.answer_tokens(filler))
            turn = Turn(message, reply, "fill")
            told = self._opened
        if told:
            await self._guard(self._agent.observe(turn), message)
        replayed = not self._live
        self._take(sent, reply, tokens)
        self._observer.turn(turn, sent + tokens, self._scheduler.position, replayed=replayed)

    def _pass_over(self) -> Turn | None:
        """Take a turn of filler from the log as it stands there, without composing it; None where it has to be.

        It has to stand where the scheduler wants filler, with its reply, and begin as the dice say. The last one of a
        log is composed: it is the same only if all before it were as long as they should be.
        """
        sent, last = self._recorder.logged, self._recorder.last_filler
        if (
            sent is None
            or last is None
            or self._composed < COMPARED
            or self._turn >= last
            or self._agent.told_ideal
            or sent.get("kind") != "fill"
            or sent["turn"] != self._turn
            or sent["position"] != self._scheduler.position
        ):
            return None
        replied = self._recorder.peek()
        if replied is None or replied["event"] != "replied":
            return None
        text: str = sent["message"]
        introduction = self._filler.pass_over(text)
        if text.partition("\n")[0] != introduction:
            raise self._recorder.diverged(f"turn {self._turn} the log says message", text, introduction)
        self._recorder.skip()
        self._recorder.skip()
        reply = reply_of(replied)
        if self._plan.manifest.filler.mode == "live":
            self._budget.settle(reply.usage, free=self._agent.free)
        turn = Turn(Message(text, self._scheduler.clock.now, self._turn), reply, "fill")
        self._take(sent["tokens"], reply, replied["tokens"])
        tokens = sent["tokens"] + replied["tokens"]
        self._observer.turn(turn, tokens, self._scheduler.position, replayed=True)
        return turn

    def _take(self, sent: int, reply: Reply, tokens: int) -> list[Ended]:
        self._turn += 1
        return self._scheduler.take(sent, reply, tokens)

    def _sent(
        self,
        kind: Kind,
        text: str,
        known: Callable[[], int | None],
        example: str | None = None,
        due: int | None = None,
        line: Line | None = None,
    ) -> int:
        """Record that a message goes out; return its tokens."""
        tokens = self._tokens("message", text, known)
        event: Event = {"event": "sent", "turn": self._turn, "kind": kind}
        if example is not None:
            event["example"] = example
        event |= {"message": text, "tokens": tokens, "position": self._scheduler.position}
        if due is not None:
            event["due"] = due
        event["at"] = self._scheduler.clock.now.isoformat()
        if isinstance(line, Ask):
            event["expect"] = _json(dump(line.expect))
        if line is not None and line.ideal is not None:
            event["ideal"] = line.ideal
        if isinstance(line, Tell | Ask) and line.buried:
            event["buried"] = [[each.text, each.tokens] for each in line.buried]
        self._put(event)
        return tokens

    def _tokens(self, key: str, text: str, known: Callable[[], int | None]) -> int:
        """Return the tokens of a text that the log may hold already, or that others may know; else count them."""
        logged = self._recorder.logged
        if logged is not None and logged.get(key) == text:
            tokens: int = logged["tokens"]
            return tokens
        found = known()
        return self._plan.counter.count(text) if found is None else found

    def _replied(self, reply: Reply, known: Callable[[], int | None] = lambda: None) -> int:
        """Record a reply; return its tokens."""
        tokens = self._tokens("reply", reply.text, known)
        event: Event = {
            "event": "replied",
            "turn": self._turn,
            "reply": reply.text,
            "tokens": tokens,
            "finish": reply.finish.value,
        }
        if reply.usage is not None:
            event["usage"] = usage_data(reply.usage)
        self._put(event)
        return tokens

    async def _exchange(
        self, message: Message, home: Path, record: Callable[[], int], *, question: bool = False
    ) -> tuple[int, Reply, int]:
        """Record a message, and the reply that the log holds or the agent's; return it between the tokens of both."""
        if self._recorder.logged is None:
            return await self._ask(message, home, record, question)
        sent = record()
        logged = self._recorder.logged
        if logged is None or logged["event"] != "replied" or logged["turn"] != message.turn:
            return await self._ask(message, home, lambda: sent, question, doubtful=True)
        reply = reply_of(logged)
        self._budget.settle(reply.usage, free=self._agent.free)
        return sent, reply, self._replied(reply)

    async def _ask(
        self,
        message: Message,
        home: Path,
        record: Callable[[], int],
        question: bool,
        *,
        doubtful: bool = False,
    ) -> tuple[int, Reply, int]:
        """Have the agent reply. That the message goes out is recorded at the last moment, when nothing can stop it."""
        await self._go_live(home)
        lost = self._lost(message) if doubtful else NOTHING
        self._budget.spent += lost
        if question:
            await self._guard(self._agent.settle(), message)
        async with self._places:
            held = self._budget.hold(self._agent, message)
            begun = self._journal.clock()
            with listening() as heard:
                try:
                    sent, begun = record(), self._journal.clock()
                    if doubtful:
                        self._doubt(lost)
                    reply = await self._guard(self._agent.reply(message), message)
                    seconds = self._journal.clock() - begun
                except BaseException:
                    self._budget.release(held)
                    if heard.attempts:
                        self._note("failed_after", self._journal.clock() - begun, heard)
                    raise
        if problem := _unusable(reply):
            raise AgentError(f"the agent failed at turn {message.turn}: reply() returned {problem}")
        self._budget.settle(reply.usage, free=self._agent.free, held=held)
        tokens = self._replied(reply)  # before all else: what is lost now was paid for
        self._note("seconds", seconds, heard)
        if not self._agent.free:
            self._recorder.sync_soon()
            await asyncio.sleep(0)  # where an agent never waits, nothing else would have its turn
        return sent, reply, tokens

    def _lost(self, message: Message) -> Decimal:
        """Return what a call can have cost whose reply never got into the log; a limit holds whatever happened to it.

        It is nothing where the price is unknown, and where the provider is known to have refused.
        """
        if self._agent.free or _refused(self._journal.path, self._where()):
            return NOTHING
        most = self._agent.reserve(message)
        return (dollars(most) if most is not None else None) or NOTHING

    def _doubt(self, lost: Decimal) -> None:
        """Name a turn whose message the log has and whose reply it lacks: the agent now gets it once more."""
        self._journal.put(self._where() | {"doubtful": True} | ({"dollars": float(lost)} if lost else {}))
        self._on_doubt(f"turn {self._turn}" + (f" of {self._name}" if self._name else ""))

    def _where(self) -> Event:
        """Return how a record beside the log says where in which conversation it belongs."""
        return {"turn": self._turn} | ({"conversation": self._name} if self._name else {})

    def _note(self, name: str, seconds: float, heard: Traffic) -> None:
        """Write down how long a reply took, and what went over the wire for it."""
        record = self._where() | {name: round(seconds, 6)}
        if heard.attempts:
            record["attempts"] = [attempt.record() for attempt in heard.attempts]
        self._journal.put(record)

    async def _open(self, home: Path) -> None:
        self._opened = True
        await self._guard(self._agent.open(home), self._opening())

    def _opening(self) -> Message:
        return Message("", self._scheduler.clock.now, self._turn)

    async def _go_live(self, home: Path) -> None:
        """Open the agent and bring it to where the log ends, unless it has been there all along."""
        if self._live:
            return
        self._live = True
        if self._turn:
            self._journal.put(self._where() | {"resumed": True})
        if not self._opened:
            await self._open(home)
            if self._turn:
                turns: Iterator[Turn] = islice(read_turns(self._recorder.path), self._turn)
                await self._guard(self._agent.restore(turns), self._opening())

    async def _guard(self, call: Awaitable[T], message: Message) -> T:
        """Await a call to the agent; whatever it raises becomes an error of ours that can be resumed from."""
        try:
            result = await call
        except (LtmBenchError, asyncio.CancelledError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise AgentError(
                f"the agent failed at turn {message.turn}: {type(error).__name__}: {error}"
            ) from error
        return result


def _refused(timings: Path, turn: Event) -> bool:
    """Whether the last that is known of a turn's call is that the provider answered with nothing but errors."""
    last: Event = {}
    for record in side_records(timings):
        same = all(record.get(key) == turn.get(key) for key in ("turn", "conversation"))
        if same and isinstance(record.get("attempts"), list):
            last = record
    statuses = [attempt.get("status") for attempt in last.get("attempts", ()) if isinstance(attempt, dict)]
    refused = [isinstance(status, int) and status >= 400 for status in statuses]
    return "failed_after" in last and bool(refused) and all(refused)


def lost_before(timings: Path) -> Decimal:
    """Return what calls can have cost whose replies never got into the log, as far as that is known."""
    prices = (record.get("dollars") for record in side_records(timings))
    return sum(
        (
            Decimal(str(price))
            for price in prices
            if isinstance(price, int | float) and math.isfinite(price) and price > 0
        ),
        Decimal(),
    )


def _among(needle: Turn, memories: Sequence[Memory]) -> bool:
    """Whether a needle is among memories: by its turn where they say it, else by its text."""
    text = " ".join(needle.message.text.split())
    return any(
        memory.turn == needle.message.turn
        if memory.turn is not None
        else text in " ".join(memory.text.split())
        for memory in memories
    )


def _unusable(reply: object) -> str:
    """Return why something that an adapter returned is no reply that can be written down; nothing if it is one."""
    if not isinstance(reply, Reply):
        return f"{type(reply).__name__}, not a Reply"
    if not isinstance(reply.text, str):
        return f"a Reply whose text is {type(reply.text).__name__}, not a string"
    if not isinstance(reply.finish, Finish):
        return f"a Reply whose finish is {reply.finish!r:.60}, not one of Finish ({', '.join(Finish)})"
    if reply.usage is not None and not (isinstance(reply.usage, Usage) and is_usage(usage_data(reply.usage))):
        return f"a Reply whose usage is {reply.usage!r:.200}, not a Usage of whole numbers from 0"
    return ""


def _json(value: object) -> object:
    """Return a value as it will look when it has been through JSON, so that it can be compared with the log.

    Raises TypeError for what would not come back from there as it is.
    """
    if isinstance(value, dict):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"a matcher's field has a key {strange[0]!r:.60}; in JSON a key is a text")
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a matcher's field holds {type(value).__name__} {value!r:.60}; JSON has no such value")


async def run(
    plan: Plan,
    make_agent: Callable[[], Agent],
    folder: Path,
    *,
    budget: Budget,
    observer: Observer,
    clock: Callable[[], float],
    on_cut: Callable[[int], None] = lambda _: None,
    on_doubt: Callable[[str], None] = lambda _: None,
    places: asyncio.Semaphore | None = None,
    concurrent: int = CONCURRENT,
) -> None:
    """Run or resume all conversations of a plan in a run folder whose manifest has been written.

    `places` are for calls to the agent that are under way at the same time; several runs may share them. Of an isolated
    run `concurrent` examples are held at the same time. `on_cut` is told of a torn last line of a log, `on_doubt` of a
    turn that the agent may get twice, because its message was on the way when the run stopped.

    Raises RunIncomplete or BudgetReached if one of them had to stop; the others have been brought to their end.
    """
    budget.spent += lost_before(folder / "timings.jsonl")
    home = folder / "agent"
    places = places or asyncio.Semaphore(concurrent)
    open_ones = asyncio.Semaphore(concurrent)

    async def hold(log: Path, examples: Sequence[Example], home: Path, journal: Journal) -> None:
        with Recorder(log) as recorder:
            if recorder.cut:
                on_cut(recorder.cut)
            talk = Conversation(
                plan, examples, make_agent(), recorder, journal, budget, observer, places, on_doubt
            )
            await talk.run(home)

    async def alone(example: Example, journal: Journal) -> None:
        name = example.id.replace("/", "-")
        async with open_ones:
            await hold(folder / "isolated" / f"{name}.jsonl", [example], home / name, journal)

    with Journal(folder / "timings.jsonl", clock) as journal:
        if not plan.manifest.suite.isolated:
            await hold(folder / "events.jsonl", plan.examples, home, journal)
            return
        talks = (alone(example, journal) for example in plan.examples)
        outcomes = await asyncio.gather(*talks, return_exceptions=True)
    failures = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    if failures:
        raise failures[0]


def finished(plan: Plan, folder: Path) -> bool:
    """Whether all conversations of a plan have come to their end."""
    if not plan.manifest.suite.isolated:
        return is_finished(folder / "events.jsonl")
    names = (example.id.replace("/", "-") for example in plan.examples)
    return all(is_finished(folder / "isolated" / f"{name}.jsonl") for name in names)


async def score_alone(examples: Sequence[Example], make_agent: Callable[[], Agent], start: datetime) -> float:
    """Return what an agent scores on these examples without any filler: the sum of the scenarios' means.

    For agents to which filler makes no difference: the floor and the ceiling. Nothing is written.
    """
    scores: dict[str, list[float]] = {}
    for example in examples:
        agent, clock, turns = make_agent(), Clock(start), list[Turn]()
        script, reply, verdicts = example.script(), None, list[float]()
        while True:
            try:
                line = script.send(cast(Reply, reply))  # a fresh generator takes None
            except StopIteration:
                break
            clock.jump(clock.now + (line.after or timedelta()))
            text = line.text if isinstance(line.text, str) else line.text(clock.now)
            message = Message(text, clock.now, len(turns), ideal_reply(line) if agent.told_ideal else None)
            reply = replace(await agent.reply(message), at=clock.now)
            turns.append(Turn(message, reply))
            if isinstance(line, Ask):
                verdicts.append(judge(line.expect, reply, turns).score or 0.0)
        scores.setdefault(example.scenario.name, []).append(sum(verdicts) / max(len(verdicts), 1))
    return sum(sum(each) / len(each) for each in scores.values())
