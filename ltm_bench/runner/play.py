"""What a conversation says, message by message: whoever drives it sends back how each was answered.

    said = None
    while not isinstance(step := talk.send(said), AllSaid):
        said = step.said(reply) if isinstance(step, Saying) else None

Nothing is called, recorded or scored here: that is what the drivers differ in.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, cast

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import AnsweredBy, Ask, Kind, Message, Reply, Tell, Turn
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.filler import Filler
from ltm_bench.plan.hiding import decoys_of
from ltm_bench.plan.planning import Plan
from ltm_bench.schedule.scheduler import AllSaid, Completed, Fill, Fork, Jump, Scheduler, Send
from ltm_bench.script.rehearsal import acknowledgement, briefed, needs_no_agent
from ltm_bench.script.scenario import Example

UNDERSTOOD = "Understood."
"""The reply to the opening of a conversation, where a script gives it."""


class Exchanged(NamedTuple):
    """The tokens of a message, and its reply: what the scheduler takes."""

    tokens: int
    reply: Reply = Reply("")
    """Of a question that is asked beside the conversation, nobody waits for one."""
    reply_tokens: int = 0


class Filled(NamedTuple):
    """A filler message and the reply that is known to it."""

    text: str
    reply: Reply
    tokens: Callable[[], int]
    reply_tokens: Callable[[], int]
    logged: bool = False
    """Whether it stands in the log, with this reply."""


class Saying(NamedTuple):
    """A message that is to be said now."""

    kind: Kind
    message: Message
    tokens: Callable[[], int]
    """Counts the message, if neither rehearsal nor filler has."""
    reply_tokens: Callable[[Reply], int]
    """Counts a reply, likewise."""
    heard: list[Turn]
    """The turns of its example before it; `turn` adds its own."""
    send: Send | Fork | None
    """What the scheduler decided; None for filler."""
    by: AnsweredBy = "agent"
    known: Reply | None = None
    """The reply, where a script gives it or the log holds it."""
    logged: bool = False
    """Whether the log holds the turn, so that it need not be compared."""

    def turn(self, reply: Reply) -> Turn:
        """Return its turn with this reply, which its example has heard from now on."""
        name = None if self.send is None else self.send.example.id
        line = None if self.send is None else self.send.line
        session, forked = line.session if isinstance(line, Tell) else None, isinstance(self.send, Fork)
        turn = Turn(self.message, reply, self.kind, name, self.by, forked, session)
        self.heard.append(turn)
        return turn

    def said(self, reply: Reply) -> Exchanged:
        """Return what to send back; it counts the tokens."""
        return Exchanged(self.tokens(), reply, self.reply_tokens(reply))


Talk = Generator[Saying | Jump | Completed | AllSaid, Exchanged | None, None]
"""The steps of a conversation, of which a `Saying` takes what was said; `AllSaid` is the last."""


def scheduler_of(plan: Plan, examples: Sequence[Example]) -> Scheduler:
    """Return the scheduler of a conversation of these examples."""
    manifest = plan.manifest
    return Scheduler(
        examples,
        span=manifest.span,
        seed=manifest.seed,
        counter=plan.counter,
        start=manifest.suite.start,
        stagger=manifest.suite.stagger,
        opening=manifest.suite.opening is not None,
        filler=not manifest.suite.isolated,
        forked=manifest.questions == "forked",
        rehearsals=plan.rehearsals,
    )


def filler_of(plan: Plan) -> Filler:
    """Return the source of a conversation's filler."""
    manifest = plan.manifest
    decoys, dice = decoys_of(plan.examples, manifest, plan.counter), Dice(f"{manifest.seed}/filler")
    filler = Filler(plan.bank, dice, plan.counter, manifest.filler.max_tokens, decoys)
    filler.opening = manifest.suite.opening
    return filler


def composed(filler: Filler, tokens: int) -> Filled:
    """Compose a filler message of about this many tokens; the first one may be the opening of the conversation."""
    if filler.opening is not None:
        opening, filler.opening = filler.opening, None
        count, answer = filler.count, Reply(UNDERSTOOD)
        return Filled(opening, answer, partial(count, opening), partial(count, UNDERSTOOD))
    trivia = filler.compose(tokens)
    known = partial(filler.tokens, trivia), partial(filler.answer_tokens, trivia)
    return Filled(trivia.text, Reply(trivia.answers), *known)


def play_of(
    plan: Plan,
    scheduler: Scheduler,
    compose: Callable[[int], Filled] | None = None,
    *,
    told_ideal: bool = False,
) -> Talk:
    """Return a conversation of a plan, whose manifest says who answers what; the rest is as for `play`."""
    manifest = plan.manifest
    return play(
        scheduler,
        compose or partial(composed, filler_of(plan)),
        plan.counter,
        live=manifest.filler.mode == "live",
        acknowledged=manifest.acknowledge == "scripted",
        told_ideal=told_ideal,
    )


def play(
    scheduler: Scheduler,
    compose: Callable[[int], Filled],
    counter: Counter,
    *,
    live: bool = False,
    acknowledged: bool = False,
    told_ideal: bool = False,
) -> Talk:
    """Yield the steps of a conversation.

    Args:
        scheduler: Decides what comes next.
        compose: Gives filler of about this many tokens.
        counter: Counts tokens.
        live: Whether the agent answers filler.
        acknowledged: Whether a script answers needles.
        told_ideal: Whether messages hold the ideal reply.
    """
    heard: dict[str, list[Turn]] = {}

    def counted(reply: Reply) -> int:
        return counter.count(reply.text)

    def filled(filled: Filled) -> Saying:
        known = filled.reply if filled.logged or not live else None
        count = counted if known is None else lambda _: filled.reply_tokens()
        ideal = filled.reply.text if told_ideal else None
        message = Message(filled.text, scheduler.clock.now, scheduler.number, ideal)
        by: AnsweredBy = "agent" if live else "script"
        return Saying("fill", message, filled.tokens, count, [], None, by, known, filled.logged)

    def spoken(send: Send | Fork) -> Saying:
        line, example, text, tokens = send.line, send.example, send.text, send.tokens
        message = Message(text, scheduler.clock.now, scheduler.number, user=line.user)
        kind: Kind = "ask" if isinstance(line, Ask) else "tell" if isinstance(line, Tell) else "chat"
        if isinstance(line, Ask):
            message = replace(message, search_by=line.search_by, settle=line.settle)
        if told_ideal:
            message = briefed(message, line, example)
        turns, known = heard.setdefault(example.id, []), None
        if acknowledged and needs_no_agent(line):
            known = Reply(acknowledgement(example, len(turns)))
        if isinstance(send, Fork):
            turns = [*turns]  # what the example hears later does not belong to this question
        by: AnsweredBy = "agent" if known is None else "script"
        count = partial(counter.count, text) if tokens is None else lambda: tokens
        return Saying(kind, message, count, counted, turns, send, by, known)

    while not isinstance(decision := scheduler.decide(), AllSaid):
        if isinstance(decision, Jump):
            yield decision
            scheduler.take()
            continue
        step = filled(compose(decision.tokens)) if isinstance(decision, Fill) else spoken(decision)
        said = cast(Exchanged, (yield step))  # whoever is told what to say sends what was said
        for ended in scheduler.take(*said):
            heard.pop(ended.example.id, None)
            yield ended
    yield decision
