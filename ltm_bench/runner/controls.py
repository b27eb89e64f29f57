"""Asks a run's questions again under other conditions: alone, with everything in hand, and without filler.

What is said comes from the run's log. Each conversation of a control has a fresh agent and a log of its own, and is
replayed and resumed like any other.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

from ltm_bench.adapters.routing import conversing
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import CannotCombine, ReplayDiverged, RunIncomplete
from ltm_bench.core.messages import AnsweredBy, Ask, Chat, Kind, Line, Message, Reply, Tell, Turn
from ltm_bench.log.calls import SideFiles
from ltm_bench.log.controls import control_of, write_scope
from ltm_bench.log.events import Finished, Forked, Replied, Sent
from ltm_bench.log.forks import answers_in
from ltm_bench.log.journal import Journal
from ltm_bench.log.reader import conversations, is_finished, read_events
from ltm_bench.log.recorder import Recorder, locked
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.rungs import KNOWS_NOTHING, in_hand
from ltm_bench.runner.standing import Cost, cost_of
from ltm_bench.script.rehearsal import briefed, holding, ideal_reply, needs_no_agent, rehearse
from ltm_bench.script.scenario import Example
from ltm_bench.script.sealed import SealedReply


class LoggedLine(NamedTuple):
    """A message of an example, as the log has it."""

    sent: Sent
    line: Line
    """What the script yielded."""
    reply: Reply


class ControlTalk(NamedTuple):
    """A conversation of a control."""

    name: str
    example: Example
    said: Sequence[LoggedLine]
    """What is said in it. Replies count where a script acknowledges."""


def said_in(plan: Plan, folder: Path) -> Iterator[tuple[Example, list[LoggedLine]]]:
    """Yield every example with what its script said in a run. Raises ReplayDiverged if it now says anything else."""
    examples = {example.id: example for example in plan.examples}
    for path in conversations(folder, plan.manifest):
        heard: dict[str, list[tuple[Sent, Reply]]] = {}
        answers, sent = answers_in(path), None
        for event in read_events(path):
            if isinstance(event, Sent) and event.example is not None:
                sent = event
            elif isinstance(event, Replied) and sent is not None and event.turn == sent.turn:
                heard.setdefault(sent.example or "", []).append((sent, replace(event.said, at=sent.at)))
            elif isinstance(event, Forked) and event.id in answers:
                heard.setdefault(event.example, []).append((event.sent, SealedReply(event.at)))
        for name, exchanges in heard.items():
            yield examples[name], _lines(path, examples[name], exchanges)


def _lines(path: Path, example: Example, exchanges: Sequence[tuple[Sent, Reply]]) -> list[LoggedLine]:
    """Return what was said with the lines of the script, which is played again with the logged replies."""
    script, last, found = example.script(), None, list[LoggedLine]()
    for sent, reply in exchanges:
        line = None
        with suppress(StopIteration):
            line = script.send(cast(Reply, last))  # a fresh generator takes None
        text = getattr(line, "text", None)
        text = text(sent.at) if callable(text) else text
        if line is None or text != sent.message:
            raise ReplayDiverged(
                f"{path}: at turn {sent.turn} the log says {sent.message!r:.300}, the script of {example.id} now says "
                f"{text!r:.300}; install the version of the manifest"
            )
        found.append(LoggedLine(sent, line, reply))
        last = reply
    return found


def rehearsed(example: Example, plan: Plan) -> list[LoggedLine]:
    """Return what an example would say, with ideal replies and without any pauses."""
    at, found = plan.manifest.suite.start, list[LoggedLine]()
    for turn, step in enumerate(rehearse(example, plan.counter)):
        kind: Kind = "ask" if isinstance(step.line, Ask) else "tell"
        sent = Sent(turn=turn, kind=kind, example=example.id, message=step.text, tokens=0, position=0, at=at)
        found.append(LoggedLine(sent, step.line, Reply(ideal_reply(step.line))))
    return found


def unfit(kind: str, said: Sequence[LoggedLine]) -> str:
    """Return why an example cannot be asked so; empty if it can."""
    lines = [each.line for each in said]
    if any(line.inline if isinstance(line, Ask) else isinstance(line, Chat) and line.ideal for line in lines):
        return "its replies decide how it goes on"
    if any(isinstance(line, Ask) and line.buried for line in lines):
        return "its question holds what it asks about"
    if kind != "evidence":
        return ""
    if len({line.user for line in lines}) > 1:
        return "one message cannot come from several users"
    if any(isinstance(line, Tell) and line.deletes for line in lines):
        return "one message cannot delete what it says"
    if all(unnamed(said, each) for each in said if isinstance(each.line, Ask)):
        return "its set does not name what holds the answers"
    return ""


def unnamed(said: Sequence[LoggedLine], asked: LoggedLine) -> bool:
    """Whether one message cannot hold a history, and nothing says which part of it holds the answer to a question."""
    told = any(isinstance(each.line, Tell) and each.line.session for each in said)
    return told and isinstance(asked.line, Ask) and not asked.line.evidence


def talks(kind: str, example: Example, said: Sequence[LoggedLine]) -> list[ControlTalk]:
    """Return the conversations in which a control asks an example's questions."""
    stem = example.id.replace("/", "-")
    places = [place for place, each in enumerate(said) if isinstance(each.line, Ask)]
    if kind == "near":
        return [ControlTalk(stem, example, said[: places[-1] + 1])] if places else []
    found = []
    for place in places:
        sent, asked_line = said[place].sent, cast(Ask, said[place].line)
        if kind == "evidence":
            if unnamed(said, said[place]):
                continue
            told = [each.sent.said for each in said[:place] if not isinstance(each.line, Ask)]
            held = [told[each] for each in holding(asked_line, len(told), example)]
            sent = replace(sent, message=in_hand(held, sent.message))
        asked = replace(sent, search_by=None if kind == "evidence" else sent.search_by)
        found.append(ControlTalk(f"{stem}-{sent.turn}", example, [said[place]._replace(sent=asked)]))
    return found


async def run_controls(
    plan: Plan,
    folder: Path,
    kinds: Sequence[str],
    *,
    budget: Budget,
    notify: Callable[[str], None],
    concurrent: int,
) -> None:
    """Ask a finished run's questions again, as far as the logs do not hold the replies yet.

    Args:
        plan: The run's plan.
        folder: Its folder.
        kinds: The controls.
        budget: What may be spent; it includes what the controls have cost so far.
        notify: Called with single lines.
        concurrent: Maximum concurrent conversations.

    Raises:
        RunIncomplete, BudgetReached: A conversation had to stop; the others were finished.
    """
    from ltm_bench.adapters.product import MemoryProduct

    sample = plan.agents.sample
    if sample.interactive or isinstance(sample, MemoryProduct):  # which share a person, or a server
        concurrent = 1
    places = asyncio.Semaphore(concurrent)
    try:
        with locked(folder):
            for kind in kinds:
                home = control_of(folder, kind)
                cost = cost_of_controls(plan, folder, kind)
                asked = _asked(plan, folder, kind, home)
                clock = time.perf_counter
                with SideFiles(home, clock) as files:
                    calls = partial(
                        Caller,
                        files=files,
                        role="control",
                        budget=budget,
                        places=places,
                        on_doubt=partial(_doubt, notify, kind),
                        charged=cost.replies,
                    )
                    open_ones = asyncio.Semaphore(concurrent)
                    outcomes = await asyncio.gather(
                        *(_converse(plan, kind, home, talk, calls, open_ones, files.calls) for talk in asked),
                        return_exceptions=True,  # a failure waits for the others, which are paid for
                    )
                for outcome in outcomes:
                    if isinstance(outcome, BaseException):
                        raise outcome
    except OSError as error:  # a full disk
        raise RunIncomplete(
            f"{error.filename or folder}: {error.strerror or error}; `ltm-bench control {folder.name}` continues once "
            "it can be written again"
        ) from error


def cost_of_controls(plan: Plan, folder: Path, kind: str) -> Cost:
    """Return what a control of a run has cost so far. Raises LogError if one of its logs is damaged."""
    suite = plan.manifest.suite.model_copy(update={"isolated": True})
    return cost_of(control_of(folder, kind), plan.manifest.model_copy(update={"suite": suite}))


def check_controls(kinds: Sequence[str], *, isolated: bool) -> None:
    """Raise CannotCombine if a run has no such control."""
    if isolated and "near" in kinds:
        raise CannotCombine(
            "--control near: the examples of this run have no filler, so it would be the run itself; leave it out"
        )


def _asked(plan: Plan, folder: Path, kind: str, home: Path) -> list[ControlTalk]:
    """Return the conversations of a control that are not finished; note what it asks, and what it cannot."""
    found: list[ControlTalk] = []
    left_out, questions = dict[str, str](), 0
    for example, said in said_in(plan, folder):
        if why := unfit(kind, said):
            left_out[example.id] = why
            continue
        asked = [each for each in said if isinstance(each.line, Ask)]
        apart = [each for each in asked if kind == "evidence" and unnamed(said, each)]
        left_out |= {f"{example.id}#{each.sent.turn}": "its set names no evidence for them" for each in apart}
        questions += len(asked) - len(apart)
        found += talks(kind, example, said)
    write_scope(home, questions, left_out)
    return [talk for talk in found if not is_finished(_log_of(home, talk))]


def _doubt(notify: Callable[[str], None], kind: str, where: str) -> None:
    notify(f"The control {kind} may have sent {where} twice: it was on the way when the run stopped.")


def _log_of(home: Path, talk: ControlTalk) -> Path:
    return home / "isolated" / f"{talk.name}.jsonl"


async def _converse(
    plan: Plan,
    kind: str,
    home: Path,
    talk: ControlTalk,
    make_calls: Callable[..., Caller],
    open_ones: asyncio.Semaphore,
    seen: Journal,
) -> None:
    async with open_ones, conversing(seen, talk.name):
        with Recorder(_log_of(home, talk)) as recorder:
            own = home / "agent" / talk.name
            calls = make_calls(plan.agents, recorder, home=own, conversation=talk.name)
            try:
                await _Replay(plan, kind, talk, recorder, calls).run()
            finally:
                await calls.close()


class _Replay:
    """One conversation of a control."""

    def __init__(self, plan: Plan, kind: str, talk: ControlTalk, recorder: Recorder, calls: Caller) -> None:
        self._plan, self._kind, self._talk = plan, kind, talk
        self._recorder, self._calls = recorder, calls
        self._turns = self._position = 0

    async def run(self) -> None:
        """Say everything that is not logged yet. Raises RunIncomplete or BudgetReached if it cannot continue."""
        calls, recorder = self._calls, self._recorder
        for said in self._talk.said:
            tokens = self._plan.counter.count(said.sent.message)
            sent = replace(said.sent, tokens=tokens, position=self._position, due=None, buried=None)
            turn = await self._say(sent, said)
            self._position += tokens + self._plan.counter.count(turn.reply.text)
            self._turns += 1
            if isinstance(said.line, Tell) and said.line.deletes:
                await calls.delete(said.line.deletes, turn.message, turns=self._turns)
        recorder.put(Finished(turns=self._turns, tokens=self._position, at=self._talk.said[-1].sent.at))

    async def _say(self, sent: Sent, said: LoggedLine) -> Turn:
        """Record a message and its reply, from the log or the agent."""
        calls, recorder, line = self._calls, self._recorder, said.line
        scripted = self._plan.manifest.acknowledge == "scripted" and needs_no_agent(line)
        message = self._briefed(sent.said, line)
        doubtful = recorder.logged is not None
        if doubtful:
            recorder.put(sent)
        logged, replayed = recorder.logged, False
        if isinstance(logged, Replied):
            reply, replayed = logged.said, True
            self._replied(sent, reply, scripted=scripted)
            calls.replayed(sent.turn, reply)
        elif scripted:
            reply = said.reply
            await calls.catch_up(sent.turn, self._turns)
            self._record(sent, doubtful)
            self._replied(sent, reply, scripted=True)
        else:
            # Only what goes through a memory waits for its indexers.
            question = self._kind == "near" and isinstance(line, Ask)
            answer = await calls.ask(
                message,
                partial(self._record, sent, doubtful),
                turns=self._turns,
                question=question,
                doubtful=doubtful,
            )
            reply = answer.reply
            self._replied(sent, reply)
            await calls.note(sent.turn, answer)
        answered: AnsweredBy = "script" if scripted else "agent"
        turn = Turn(message, reply, sent.kind, sent.example, answered, session=sent.session)
        if calls.opened and (replayed or scripted):
            await calls.observe(turn)
        return turn

    def _briefed(self, message: Message, line: Line) -> Message:
        if not self._calls.agent.told_ideal:
            return message
        if self._kind == "blind":
            return replace(message, ideal=KNOWS_NOTHING)
        return briefed(message, line, self._talk.example)

    def _record(self, sent: Sent, doubtful: bool) -> int:
        if not doubtful:
            self._recorder.put(sent)
        return sent.tokens

    def _replied(self, sent: Sent, reply: Reply, *, scripted: bool = False) -> None:
        tokens = self._plan.counter.count(reply.text)
        self._recorder.put(Replied.of(sent.turn, reply, tokens, "script" if scripted else None))
