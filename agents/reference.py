"""Reference: `perfect` with a known, seeded fault, such as losing 30 % of the facts. It calibrates the benchmark."""

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import Agent, AgentError, Ask, Chat, Dice, Message, Outcome, Reply, Tell, Turn, Verdict
from ltm_bench.adapters import ConfigError, counter
from ltm_bench.adapters.needles import likeness

UNKNOWN = "I do not know."

SHOWN_BY: Mapping[str, tuple[Outcome, ...]] = {
    "leaks": (Outcome.LEAKED,),
    "mixes": (Outcome.WRONG, Outcome.LEAKED),
    "stale": (Outcome.STALE,),
    "one_step": (Outcome.STALE,),
    "updates_all": (Outcome.OVERDONE,),
    "doubts": (Outcome.ABSTAINED,),
    "uses": (Outcome.WRONG,),
}
"""The faults that put another reply in place of the right one, and the outcomes of such a reply."""


_LEARNT = Path(__file__).with_suffix(".json")
"""What `filters` goes by: weights of words, and from where on it keeps a message; `perf/filler.py` writes it."""

_FAR = re.compile(r"; (?!1 )\d+ steps?(?:;|$)")
"""The detail of an aspect that says that more than one rule leads to the answer."""
_CUE = 4
"""Words of a needle, one after the other, that recall all of it."""


class Telling(NamedTuple):
    """A fact or, where a needle states none, the whole needle, as it was told."""

    key: str
    about: str | None
    """What the fact is about; None for a needle."""
    value: str
    """The value of the fact, or the text of the needle."""
    at: datetime
    position: int
    """Tokens of the conversation before it."""
    number: int
    """Facts written before it, of all examples."""
    said: str
    """The needle's text."""
    line: int
    """The number of its line in the script, without the questions."""


Facts = Sequence[Sequence[Telling]]
"""Facts, each with all its tellings: it is known if one of them is."""


class Reference(Agent):
    """Answers as `perfect` does, but for its faults; without any, it is `perfect`.

    A question that tells a fact again needs no memory of it, and one that offers the answer, or repeats what else was
    said, finds it if it was written.

    What is lost is answered with “I do not know.”, or left out where the reply is a list; wrong replies are those of
    the matcher. A fault that a question cannot show leaves its reply right. Chance depends on the seeds and on the fact
    or question alone, not on the span or the order of the conversation.

    Args:
        loses: The share of facts that are never written.
        finds: The share of written facts that are found, by question.
        uses: The share of questions in which what was found is used; otherwise the reply is made up.
        stale: The share of facts that keep the value that they replaced.
        mixes: The share of facts that are answered with what was said of another person or thing.
        leaks: The share of questions that reveal what they must not.
        updates_all: The share of questions in which a change that does not reach what is asked about is taken for one.
        doubts: The share of questions that are answered as though nobody could know.
        one_step: The share of questions, where a change reaches over more than one rule, that do not follow it so far.
        forgets_after: Tokens of conversation after which a fact is forgotten; 0: never.
        readable_after: Seconds of benchmark time until a fact can be read.
        holds: The number of facts that it holds; the oldest is dropped. 0: any number.
        filters: Whether it hears only what a naive classifier takes for a needle: the rest is neither written nor
            counted by `forgets_after`. The classifier has learnt from runs of training seeds.
        seed: Seed of its faults, besides the run's.

    Raises:
        ConfigError: A share lies outside 0..1.
    """

    free = True
    forks = "snapshot"
    told_ideal = True

    def __init__(
        self,
        *,
        loses: float = 0.0,
        finds: float = 1.0,
        uses: float = 1.0,
        stale: float = 0.0,
        mixes: float = 0.0,
        leaks: float = 0.0,
        updates_all: float = 0.0,
        doubts: float = 0.0,
        one_step: float = 0.0,
        forgets_after: int = 0,
        readable_after: float = 0.0,
        holds: int = 0,
        filters: bool = False,
        seed: int = 0,
    ) -> None:
        given = {"loses": loses, "finds": finds, "uses": uses, "stale": stale, "mixes": mixes, "leaks": leaks}
        given |= {"updates_all": updates_all, "doubts": doubts, "one_step": one_step}
        for name, share in given.items():
            if not 0 <= share <= 1:
                raise ConfigError(f"reference: {name} = {share}, but it is a share, from 0 to 1")
        self._fails = given | {"finds": 1 - finds, "uses": 1 - uses}
        self._forgets_after = forgets_after
        self._readable_after = timedelta(seconds=readable_after)
        self._seed = seed
        self._told: dict[str, list[Telling]] = {}
        self._heard: dict[str | None, list[Turn]] = {}
        self._holds = holds
        self._filter = json.loads(_LEARNT.read_text("utf-8")) if filters else None
        self._missed = set[str]()
        self.position = self.written = 0

    async def reply(self, message: Message) -> Reply:
        """Return the ideal reply, or what a fault makes of it."""
        reply = self._answer(message)
        self._hear(message, reply)
        return reply

    async def observe(self, turn: Turn) -> None:
        """Hear a turn."""
        self._hear(turn.message, turn.reply)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze the reply, and hear nothing."""
        frozen = self._answer(message)

        async def answer() -> Reply:
            return frozen

        return answer

    def _hear(self, message: Message, reply: Reply) -> None:
        if message.stream is not None:
            self._heard.setdefault(message.stream, []).append(Turn(message, reply, "chat", message.stream))
        if isinstance(message.line, Tell) and message.stream is not None:
            told, heard = self._told.setdefault(message.stream, []), self._heard[message.stream]
            needle = "\n".join(each.text for each in message.line.buried) or message.text
            line = sum(not isinstance(turn.message.line, Ask) for turn in heard) - 1
            facts: list[tuple[str | None, str]] = [(fact.about, fact.value) for fact in message.line.facts]
            for about, value in facts or [(None, needle)]:
                key = f"{message.stream} {len(told)}"
                place = (message.at, self.position, self.written)
                told.append(Telling(key, about, value, *place, needle, line))
                if not self._keeps(message.text):
                    self._missed.add(key)
                self.written += not self._loses(key)
        if self._forgets_after and self._keeps(message.text):
            self.position += sum(counter().count(text) for text in (message.text, reply.text))

    def _keeps(self, text: str) -> bool:
        learnt = self._filter
        return learnt is None or likeness(text, learnt["weights"]) >= learnt["least"]

    def _loses(self, key: str) -> bool:
        return key in self._missed or self._chance("loses", key)

    def _answer(self, message: Message) -> Reply:
        line, right = message.line, message.ideal
        if right is None:
            raise AgentError(f"reference was not told the ideal reply to turn {message.turn}")
        needs, beside = self.needs(message), _beside(message)
        told_again = bool(needs) and all(_told_in(beside, fact) for part in needs for fact in part)
        for fault in SHOWN_BY:
            if told_again and fault in ("mixes", "stale"):
                continue
            # A fact is stale or mixed up for good; the others are matters of a moment.
            fact = needs[-1][-1][-1].key if needs and fault in ("mixes", "stale") else question(message)
            said = self.instead(fault, message, needs) if self._chance(fault, fact) else None
            if said is not None:
                return Reply(said)
        known = [all(any(self._knows(t, message) for t in fact) for fact in part) for part in needs]
        if all(known) or line is None:
            return Reply(right)
        return Reply(_shortened(right, known) if any(known) else UNKNOWN)

    def needs(self, message: Message) -> Sequence[Facts]:
        """Return the facts that each part of the right reply rests on.

        A reply has one part or, if it is a list, one for each entry. It rests on the facts whose values it names or, if
        the scenario states no facts, on the needles that name it; where there are none, on all that was told. Nothing
        is needed where nothing is known, or where saying so is right; nor where earlier replies decide, so that the
        fault lies in those.
        """
        line, told = message.line, self._told.get(message.stream or "", ())
        told = [each for each in told if each.about is not None] or told
        if not told or not isinstance(line, Ask | Chat):
            return ()
        if isinstance(line, Ask) and line.evidence:
            told = [each for each in told if each.line in line.evidence]
        if isinstance(line, Chat):
            return () if line.ideal is None else ([[each] for each in told],)
        if self.judged(message, UNKNOWN).score == 1 or self.judged(message, message.ideal or "").score != 1:
            return ()
        parts = [_concerned(told, each) for _, each in _entries(message.ideal)]
        if parts and all(parts):
            return parts
        whole = (_concerned(told, each.rstrip(".")) for each in (message.ideal or "", *line.expect.right()))
        return (next(filter(None, whole), [[each] for each in told]),)

    def instead(self, fault: str, message: Message, needs: Sequence[Facts]) -> str | None:
        """Return the reply that shows a fault of SHOWN_BY; None if this message cannot show it."""
        line = message.line
        if not isinstance(line, Ask) or (fault == "uses" and not needs and not self._in_hand(message, line)):
            return UNKNOWN if fault == "uses" and needs else None
        replies, told = line.expect.wrong(), self._told.get(message.stream or "", ())
        can = {
            "leaks": line.expect.can_leak,
            "stale": len(told) > 1,
            "one_step": _FAR.search(line.aspect or "") is not None,
        }
        if not can.get(fault, True):
            return None
        if fault == "mixes":
            replies = [f"It is {value}." for value in _others(told, needs) if value in str(line.expect)]
        return next((each for each in replies if self.judged(message, each).outcome in SHOWN_BY[fault]), None)

    def _in_hand(self, message: Message, line: Ask) -> bool:
        """Whether a question brings all that it asks about: nothing was told before it."""
        alone = message.stream not in self._heard and not line.buried
        return alone and self.judged(message, UNKNOWN).score != 1

    def judged(self, message: Message, reply: str) -> Verdict:
        """Return the matcher's verdict on a reply to a question, after what was said before."""
        assert isinstance(message.line, Ask)
        turn = Turn(message, Reply(reply), "ask", message.stream)
        return message.line.expect.verdict(reply, (*self._heard.get(message.stream, ()), turn))

    def _knows(self, fact: Telling, message: Message) -> bool:
        beside = _beside(message)
        return _told_in(beside, [fact]) or (
            not self._loses(fact.key)
            and not 0 < self._holds < self.written - fact.number
            and (_cues(beside, fact, message) or not self._chance("finds", f"{question(message)} {fact.key}"))
            and not 0 < self._forgets_after < self.position - fact.position
            and self._age(fact, message) >= self._readable_after
        )

    def _age(self, fact: Telling, message: Message) -> timedelta:
        """Return how old a fact is: for a question that is paced in real time, what was told last is as old as that."""
        line = message.line
        if not message.settle and line is not None and fact is self._told[message.stream or ""][-1]:
            return line.after or timedelta()
        return message.at - fact.at

    def _chance(self, fault: str, what: str) -> bool:
        share = self._fails[fault]
        return share > 0 and Dice(f"{self._seed}/{fault}/{what}").chance(share)


def _beside(message: Message) -> str:
    """Return what a message says beside the question that the script asks."""
    if message.line is None:
        return message.text
    text = message.line.text
    # The last one: a needle that is told again may hold the question, as the cue of an order does.
    before, _, after = message.text.rpartition(text if isinstance(text, str) else text(message.at))
    return before + after


def _told_in(beside: str, fact: Sequence[Telling]) -> bool:
    """Whether a message tells a fact again."""
    return any(telling.said in beside for telling in fact)


def _cues(beside: str, fact: Telling, message: Message) -> bool:
    """Whether a message helps to find a fact: it offers the answer, or repeats what else was said."""
    right = message.line.expect.right() if isinstance(message.line, Ask) else ()
    said = fact.said.split()
    parts = (" ".join(said[i : i + _CUE]) for i in range(len(said) - _CUE + 1))
    return bool(beside) and any(_names(beside, each) for each in (*right, *parts))


def question(message: Message) -> str:
    """Return what tells a question from all others, whenever it is asked."""
    line = message.line
    if line is None:
        return ""
    text = line.text if isinstance(line.text, str) else ""  # else the time stands in it
    return f"{message.stream} {line.at} {text} {line.expect if isinstance(line, Ask) else ''}"


def _concerned(told: Sequence[Telling], said: str) -> Facts:
    """Return the facts that part of a reply names, or the needles that name it."""
    found: dict[str, list[Telling]] = {}
    for each in told:
        if _names(each.value, said) if each.about is None else _names(said, each.value):
            found.setdefault(each.value, []).append(each)
    return list(found.values())


def _names(text: str, what: str) -> bool:
    """Whether a text names something, in the singular or the plural."""
    forms = rf"{re.escape(what)}(?:e?s)?|{re.escape(what[:-1])}ies"
    return bool(what) and re.search(rf"(?<!\w)(?:{forms})(?!\w)", text, re.IGNORECASE) is not None


def _entries(reply: str | None) -> list[tuple[Any, str]]:
    """Return the entries of a reply that is a list in JSON, each with what it is about."""
    try:
        read = json.loads(reply or "")
    except ValueError:
        return []
    held = (
        next((each for each in read.values() if isinstance(each, list)), [])
        if isinstance(read, dict)
        else read
    )
    listed = held if isinstance(held, list) else []
    return [(each, str(next(iter(each.values())) if isinstance(each, dict) else each)) for each in listed]


def _shortened(reply: str, known: Sequence[bool]) -> str:
    """Return a list without the entries that are not known."""
    kept = [entry for (entry, _), there in zip(_entries(reply), known, strict=True) if there]
    read = json.loads(reply)
    if isinstance(read, dict):
        return json.dumps({k: kept if isinstance(v, list) else v for k, v in read.items()})
    return json.dumps(kept)


def _others(told: Sequence[Telling], needs: Sequence[Facts]) -> list[str]:
    """Return the values of what was told of other things than a question needs."""
    own = {each.about for part in needs for fact in part for each in fact}
    return [each.value for each in told if each.about is not None and each.about not in own]
