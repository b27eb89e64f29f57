"""The side file `calls.jsonl`: every call to a model, what it used and cost. Sums of money are made of these.

A call that has ended has a line with its `ending`. What is said before serves whoever finds no such line: an agent's
call has marks with its turn (`sending`, with what is reserved; `refused`, `failed`), a judge's or a reader's with its
key, also `unread` if its answer cannot be read; one through the gateway has a line with what is reserved for it, whose
`call` its ending repeats. A line with `opened` says that the gateway saw a turn's calls.

Earlier releases kept this in `gateway.jsonl` and, of lost attempts alone, in `timings.jsonl`; what a reply used is in
the log.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from ltm_bench.core.clock import moment
from ltm_bench.core.keys import scrubbed
from ltm_bench.core.messages import Finish, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.doubts import Doubt, price_in
from ltm_bench.log.events import usage_data, usage_of
from ltm_bench.log.journal import Journal
from ltm_bench.log.lines import records

CALLS = "calls.jsonl"

LOST = "lost"
"""The ending of a call to which no answer came, and which may have been billed all the same."""

KEPT = "kept"
"""The ending of a judge's or a reader's call that another run made, and whose answer was kept."""

_SAYS_NOTHING = ("empty", *(each.value for each in Finish if each is not Finish.STOP))

Role = Literal["agent", "memory", "judge", "reader", "control"]
"""Whose call it is; `memory`: of another model, beside the agent's."""

Place = tuple[str | None, int]
"""A turn or a fork: its conversation, if the run has several, and its number."""


class Call(NamedTuple):
    """One call to a model."""

    model: str | None = None
    conversation: str | None = None
    turn: int | None = None
    """None if it belongs to no turn; behind the gateway, if not exactly one was open when it came."""
    dollars: Decimal | None = None
    """What was charged; the reservation, if its end is not recorded. None if unknown."""
    usage: Usage | None = None
    role: str = "agent"
    ending: str = ""
    at: datetime | None = None
    sent: int | None = None
    """Tokens that were sent, if the server counted far fewer."""
    retry: bool = False
    """Whether the agent's library says that it repeats a call."""
    lost: bool = False
    """Whether it was charged without an answer: it was cut off, or the process died."""
    passed: bool = False
    """Whether it went through the gateway."""
    key: str | None = None
    """Of a judge's or a reader's: a hash of who was asked, and what."""
    name: str | None = None
    """The judge's or the reader's."""

    @property
    def came(self) -> bool:
        """Whether a judge's or a reader's answer came, be it readable or not."""
        return self.ending in (Finish.STOP, KEPT)

    @property
    def price(self) -> Decimal | None:
        """What it cost, if that is not recorded by the prices of its own time; None if unknown."""
        if self.dollars is not None or self.usage is None:
            return self.dollars
        return dollars(self.usage, self.at)


class KeptCalls:
    """The calls of a run, record by record. Nonsense is ignored: it is evidence, not truth."""

    def __init__(self) -> None:
        self._ended: list[Call] = []
        self._passed: dict[str, Call] = {}
        self._asked: list[Call] = []
        self._asking: dict[str, tuple[Call, Doubt]] = {}
        """What is known of calls to judges and readers without an end, by key."""
        self.unread = Counter[str]()
        """Answers of judges and readers that say nothing, or cannot be read, by key."""
        self.opened: set[Place] = set()
        """Turns and forks that were asked while the gateway saw the agent's calls."""
        self.alone: dict[Place, list[Call]] = {}
        """Those that the log alone knows, by the replies that were taken from it."""
        self._replied: set[Place] = set()
        self._open: dict[Place, Doubt] = {}

    def take(self, record: Mapping[str, Any]) -> None:
        """Take a record of a side file."""
        turn, named, call = record.get("turn"), record.get("conversation"), record.get("call")
        turn = turn if isinstance(turn, int) else None
        conversation = named if isinstance(named, str) else None
        place = None if turn is None else (conversation, turn)
        if place is not None and "opened" in record:
            self.opened.add(place)
        elif isinstance(call, str) and "status" not in record:
            most, model, again = price_in(record, "reserved"), str(record.get("model")), "retry" in record
            role: Role = "memory" if record.get("path") == "/embeddings" else "agent"
            self._passed[call] = Call(
                model, conversation, turn, most, role=role, retry=again, lost=True, passed=True
            )
        elif isinstance(call, str) and call in self._passed:
            self._passed[call] = _ended(self._passed[call], record)
        elif call is None and (isinstance(record.get("ending"), str) or price_in(record, "dollars")):
            ended = _ended(Call(None, conversation, turn), record)
            (self._asked if ended.role in ("judge", "reader") else self._ended).append(ended)
            if place is not None and not ended.lost:
                self._replied.add(place)
        if place is None and isinstance(key := record.get("key"), str):
            doubt = self._asking[key][1] if key in self._asking else Doubt()
            self._asking[key] = _ended(Call(), record), doubt.after(record)
            self.unread[key] += record.get("unread") is True or record.get("ending") in _SAYS_NOTHING
        if place is not None:
            self._open[place] = self._open.get(place, Doubt()).after(record)

    def passing(self, found: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield records, each of which is taken."""
        for record in found:
            self.take(record)
            yield record

    def read(self, folder: Path, *before: str) -> Self:
        """Take the records of a folder: of files named here, and of all that hold nothing but calls."""
        names = (*before, "gateway.jsonl", CALLS)
        for record in chain.from_iterable(records(folder / each) for each in names):
            self.take(record)
        return self

    @property
    def asked(self) -> list[Call]:
        """Those to judges and readers, which are in no other figure here, with what `interrupted` ones may cost."""
        return [*self._asked, *self.interrupted()]

    def interrupted(self) -> list[Call]:
        """Return the calls to judges and readers that were under way when their process died."""
        return [
            call._replace(dollars=doubt.reserved, ending=LOST, lost=True)
            for call, doubt in self._asking.values()
            if doubt.reserved is not None
        ]

    @property
    def calls(self) -> list[Call]:
        """All of them but those to judges and readers."""
        return [*self._passed.values(), *self._ended]

    @property
    def every(self) -> list[Call]:
        """The same, once the log's replies were taken, with those that the log alone knows, and what is reserved."""
        return [*self.calls, *chain(*self.alone.values()), *self._owed()]

    @property
    def spent(self) -> Decimal:
        """What all calls cost, as far as it is known."""
        return spent_on(self.calls)

    @cached_property
    def turns(self) -> dict[Place, list[Call]]:
        """The calls of each turn and fork; behind the gateway, if the agent was asked."""
        found: dict[Place, list[Call]] = {}
        for call in self.calls:
            place = None if call.turn is None else (call.conversation, call.turn)
            if place is not None and (not call.passed or place in self.opened):
                found.setdefault(place, []).append(call)
        return found

    def take_reply(
        self, place: Place, usage: Usage | None, on: datetime | None = None, *, itself: bool = True
    ) -> list[Call]:
        """Take a reply of the log; return all its calls.

        Args:
            place: Where it stands.
            usage: What the log says that it used.
            on: The time whose prices apply to calls whose own time is unknown.
            itself: Whether the agent was asked, so that it counts even if the log alone knows of it.
        """
        self._open.pop(place, None)
        seen = usage is None and bool(self._passed) and place in self.opened
        if itself and not seen and place not in self._replied:
            self.alone[place] = calls_of(usage, Call(None, *place, at=on))
        return [*self.turns.get(place, ()), *self.alone.get(place, ())]

    def _owed(self) -> list[Call]:
        """Return the reservations for calls whose replies were not taken from the log."""
        return [
            Call(None, *place, doubt.reserved, ending=LOST, lost=True)
            for place, doubt in self._open.items()
            if doubt.reserved is not None
        ]


def spent_on(calls: Iterable[Call]) -> Decimal:
    """Return what calls cost, as far as it is known."""
    return sum((each.price or Decimal() for each in calls), Decimal())


def context_of(calls: Iterable[Call]) -> tuple[int | None, int]:
    """Return the prompt tokens of the calls behind an answer, without a memory's own, and the number of these calls.

    The tokens are None if they are unknown. The prompts of several calls are added up: which of them answered is not
    known to whoever only sees them pass.
    """
    own = [each for each in calls if each.role != "memory" and (each.passed or not each.lost)]
    # What was refused, or waits for the gateway to count it, had no prompt; an answer from a cache had one.
    own = [each for each in own if each.usage is not None or each.dollars != 0 or each.ending == "HTTP 200"]
    known = [each.usage.prompt for each in own if each.usage is not None]
    return sum(known) if known and len(known) == len(own) else None, len(own)


def calls_of(usage: Usage | None, known: Call) -> list[Call]:
    """Return the calls that a reply's usage is the sum of; of all of them the rest is known."""
    if usage is None:
        return [known]
    own = [
        known._replace(model=each.model, usage=replace(each, besides=(), parts=()), at=each.at or known.at)
        for each in usage.parts or (usage,)
    ]
    beside = known._replace(role="memory", sent=None)
    return own + [call for each in usage.besides for call in calls_of(each, beside)]


def line_of(call: Call, server: str | None = None) -> dict[str, Any]:
    """Return the line of a call that has ended, without its turn."""
    return {
        "role": call.role,
        **({} if server is None else {"server": scrubbed(server)}),
        "ending": call.ending,
        "usage": call.usage and usage_data(call.usage, timed=False),
        "dollars": None if call.dollars is None else float(call.dollars),
        "at": call.at and call.at.isoformat(),
        **{name: each for name in ("sent", "key", "name") if (each := getattr(call, name)) is not None},
    }


def mark_of(mark: str, price: Decimal | None) -> dict[str, Any]:
    """Return a mark of a call that has not ended, by which it is known after a crash what it may have cost."""
    return {mark: True} | ({"reserved": float(price)} if mark == "sending" and price else {})


def read_calls(folder: Path) -> KeptCalls:
    """Read a folder's calls, those that earlier releases kept elsewhere too."""
    return KeptCalls().read(folder, "timings.jsonl")


def _ended(call: Call, record: Mapping[str, Any]) -> Call:
    """Return a call as it ended."""
    used, price, most = usage_of(record.get("usage")), price_in(record, "dollars"), call.dollars
    if price is not None and call.passed:
        # No call costs more than was reserved for it, but for reasoning that no limit covers.
        known = [each for each in (most, dollars(used) if used is not None else None) if each is not None]
        price = min(price, max(known, default=price))
    ending, role, sent, key, name = (record.get(each) for each in ("ending", "role", "sent", "key", "name"))
    return call._replace(
        model=call.model if used is None else call.model or used.model,
        dollars=price,
        usage=used,
        role=role if isinstance(role, str) else call.role,
        ending=ending if isinstance(ending, str) else call.ending,
        at=moment(record.get("at")),
        sent=sent if isinstance(sent, int) else None,
        lost=ending == LOST or record.get("lost") is True or record.get("doubtful") is True,
        key=key if isinstance(key, str) else None,
        name=name if isinstance(name, str) else None,
    )


class SideFiles(ExitStack):
    """What is noted of calls while they are made: how long they took, and what they used and cost.

    Args:
        folder: The folder of the run, or of what belongs to it.
        clock: As for a journal.
    """

    def __init__(self, folder: Path, clock: Callable[[], float]) -> None:
        super().__init__()
        self.timings = self.enter_context(Journal(folder / "timings.jsonl", clock))
        self.calls = self.enter_context(Journal(folder / CALLS, clock))
