"""The events of a log: frozen values with one JSON form each, told apart by `event`.

`sent` is written before the agent is called and `replied` after, so a log says what a killed run was doing. `forked`
marks where a question was asked beside the conversation; all `answered` come at the end, in order of id. `jumped`,
`ended` and `finished` record the scheduler's decisions; `published` is the score that an imported result came with.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field, TypeAdapter, ValidationError

from ltm_bench.core.clock import moment
from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Finish, Kind, Message, Reply, Usage
from ltm_bench.log.lines import LARGEST, to_line

Count = Annotated[int, Field(ge=0, lt=LARGEST)]


class NotAnEvent(ValueError):
    """A line of a log is not an event. The message says why."""


def is_usage(usage: object) -> bool:
    """Whether this is a usage whose figures are all non-negative integers."""
    if (
        not isinstance(usage, Usage)
        or not isinstance(usage.besides, tuple)
        or not isinstance(usage.parts, tuple)
    ):
        return False
    figures = [getattr(usage, each.name) for each in fields(Usage) if each.type == "int"]
    names = (usage.model, usage.provider)
    return (
        # Not isinstance: a bool is an int, and would be written as `true`.
        all(type(n) is int and 0 <= n < LARGEST for n in figures)
        and all(name is None or isinstance(name, str) for name in names)
        and (usage.at is None or (isinstance(usage.at, datetime) and usage.at.tzinfo is not None))
        and all(map(is_usage, (*usage.besides, *usage.parts)))
    )


def _check_usage(usage: Usage) -> Usage:
    if not is_usage(usage):
        raise ValueError("its figures must be whole numbers of at least 0")
    return usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message goes out to the agent."""

    event: Literal["sent"] = "sent"
    turn: Count
    kind: Kind
    example: str | None = None
    """The example that speaks; None for filler."""
    message: str
    tokens: Count
    """Tokens of the message."""
    position: Count
    """Tokens of the conversation before it."""
    due: Count | None = None
    """The position at which the scheduler wanted it."""
    at: AwareDatetime
    """Benchmark time."""
    expect: dict[str, Any] | None = None
    """A question's matcher in JSON form."""
    ideal: str | None = None
    buried: tuple[tuple[str, Count | None], ...] | None = None
    """Needles inside the message: their texts, and how many of its tokens come before each (None: cut off)."""
    user: str | None = None
    """The speaker, if several users talk to the agent."""
    shows: str | None = None
    """What a right reply proves to be remembered."""
    needs: str | None = None
    """What the example must have proved for this question to count."""
    aspect: str | None = None
    """Under which name its outcome is counted apart."""
    session: str | None = None
    """The session of a record that the message belongs to."""
    search_by: str | None = None
    """What a memory is searched by, if not the message."""

    @property
    def said(self) -> Message:
        """The message as the agent receives it."""
        return Message(self.message, self.at, self.turn, user=self.user, search_by=self.search_by)

    @property
    def asked(self) -> str:
        """A question's own words, without its date and how to answer, which stand above them."""
        return self.search_by or self.message.rpartition("\n")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied:
    """The agent replied, or a script did for it (scripted filler, scripted acknowledgements)."""

    event: Literal["replied"] = "replied"
    turn: Count
    reply: str
    tokens: Count
    """Tokens of the reply."""
    finish: Finish
    usage: Annotated[Usage, AfterValidator(_check_usage)] | None = None
    answered: Literal["script"] | None = None
    """`script` if a script acknowledged a needle. For filler, see the manifest."""

    @classmethod
    def of(cls, turn: int, said: Reply, tokens: int, answered: Literal["script"] | None = None) -> "Replied":
        """Return the event of a reply, as the adapter returned it."""
        usage, finish = said.usage, said.finish
        return cls(turn=turn, reply=said.text, tokens=tokens, finish=finish, usage=usage, answered=answered)

    @property
    def said(self) -> Reply:
        """The reply as the adapter returned it."""
        return Reply(self.reply, self.usage, self.finish)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """A question is asked beside the conversation; its fields are those of `Sent`."""

    event: Literal["forked"] = "forked"
    id: Count
    """Turns and forks are numbered together."""
    example: str
    message: str
    tokens: Count
    position: Count
    due: Count | None = None
    at: AwareDatetime
    expect: dict[str, Any]
    ideal: str | None = None
    buried: tuple[tuple[str, Count | None], ...] | None = None
    user: str | None = None
    shows: str | None = None
    needs: str | None = None
    aspect: str | None = None
    search_by: str | None = None

    @property
    def sent(self) -> Sent:
        """The same question as a message of the conversation."""
        same: dict[str, Any] = {
            name: getattr(self, name) for name in _FIELDS[Forked] if name not in ("event", "id")
        }
        return Sent(turn=self.id, kind="ask", **same)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The agent answered a fork; the fields are those of `Replied`."""

    event: Literal["answered"] = "answered"
    id: Count
    reply: str
    tokens: Count
    finish: Finish
    usage: Annotated[Usage, AfterValidator(_check_usage)] | None = None

    @property
    def said(self) -> Reply:
        """The reply as the adapter returned it."""
        return Reply(self.reply, self.usage, self.finish)

    @property
    def replied(self) -> Replied:
        """The same reply as one of the conversation."""
        return Replied.of(self.id, self.said, self.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jumped:
    """The benchmark's clock jumped."""

    event: Literal["jumped"] = "jumped"
    to: AwareDatetime
    position: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An example said its last message."""

    event: Literal["ended"] = "ended"
    example: str
    span: Count
    """Tokens from its first message to its last question."""
    overrun: Count
    """Tokens by which the last question missed the span."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore:
    """An imported example came with a score."""

    event: Literal["published"] = "published"
    example: str
    score: Annotated[int | float, Field(ge=0, le=1)]
    reason: str | None = None
    """What was published with it."""
    by_hand: bool | None = None
    """Whether a person corrected it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Everything was said. The last event of a conversation."""

    event: Literal["finished"] = "finished"
    turns: Count
    tokens: Count
    at: AwareDatetime


_KINDS = (Sent, Replied, Forked, Answered, Jumped, Ended, PublishedScore, Finished)

Event = Annotated[
    Sent | Replied | Forked | Answered | Jumped | Ended | PublishedScore | Finished,
    Field(discriminator="event"),
]

_FIELDS: Mapping[type[Any], tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind)) for kind in (*_KINDS, Usage)
}

_EVENTS: TypeAdapter[Any] = TypeAdapter(Event, config=ConfigDict(strict=True))


def decode(line: bytes) -> Event:
    """Return the event on a line of a log. Raises NotAnEvent."""
    try:
        return _read(line)
    except ValidationError as error:
        if error.errors(include_url=False)[0]["type"] != "json_invalid":
            raise NotAnEvent(_problem(error)) from error
    # Lone surrogates are escaped in the log, and only `json` reads them; pydantic checks the rest of the event without
    # them, and gets them back below.
    try:
        raw = json_of(line)
        event = _read(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"))
    except ValidationError as error:
        raise NotAnEvent(_problem(error)) from error
    except ValueError as error:
        raise NotAnEvent(f"damaged line ({error})") from error
    texts = {
        name: raw[name]
        for name in ("message", "reply", "example", "ideal", "expect", "search_by")
        if name in raw
    }
    return replace(event, **texts)


_BESIDES = 20
"""Maximum nesting of `besides` in a usage; each level is an agent within an agent."""

_NESTED = ("besides", "parts")
"""The fields of a usage that hold usages."""


def _read(line: bytes) -> Event:
    # Before it is parsed: nesting without a limit would exhaust the stack.
    if line.count(b'"besides"') > _BESIDES or line.count(b'"parts"') > _BESIDES:
        raise NotAnEvent(f"damaged event, replied: usage has besides in more than {_BESIDES} levels")
    event = _EVENTS.validate_json(line)
    if isinstance(event, Sent):
        if event.kind != "fill" and event.example is None:
            raise NotAnEvent(f"damaged event, sent: example is missing: kind = {event.kind!r} has one")
        if event.kind == "ask" and event.expect is None:
            raise NotAnEvent("damaged event, sent: expect is missing: kind = 'ask' has one")
    return event  # type: ignore[no-any-return]  # the adapter of an annotated union is typed Any


def _problem(error: ValidationError) -> str:
    found = error.errors(include_url=False)[0]
    where = ".".join(map(str, found["loc"][1:]))
    if found["type"] == "union_tag_invalid":
        known = ", ".join(kind.__name__.lower() for kind in _FIELDS if kind is not Usage)
        name = found["input"]["event"]
        return f"damaged event, event = {name!r:.60}: there is no such event here (known: {known})"
    if not found["loc"]:  # not an object, or one without an event
        return f"not an event: {found['input']!r:.60}"
    if found["type"] == "missing":
        return f"damaged event, {found['loc'][0]}: {where} is missing"
    return f"damaged event, {found['loc'][0]}: {where} = {found['input']!r:.60}: {found['msg']}"


def encode(event: Event) -> bytes:
    """Return an event as one line; what is None is left out."""
    return to_line(dict(_items(event)))


def _items(event: Event) -> Iterator[tuple[str, object]]:
    for name in _FIELDS[type(event)]:
        value = getattr(event, name)
        if value is None:
            continue
        # In this form: pydantic would write UTC as `Z`, and old logs would not stay as they are.
        if isinstance(value, datetime):
            value = value.isoformat()
        elif isinstance(value, Usage):
            value = usage_data(value, timed=False)
        yield name, value


def usage_data(usage: Usage, *, timed: bool = True) -> dict[str, Any]:
    """Return the JSON form of a usage: figures of 0 and unknown names are left out; times, unless it is `timed`."""
    data = {name: getattr(usage, name) for name in _FIELDS[Usage]}
    data["at"] = usage.at.isoformat() if timed and usage.at is not None else None
    for name in _NESTED:
        data[name] = [usage_data(each, timed=timed) for each in data.pop(name)]
    return {name: value for name, value in data.items() if value}


def usage_of(data: object) -> Usage | None:
    """Return the usage of a JSON form; None if it is not one."""
    if not isinstance(data, dict) or not set(data) <= set(_FIELDS[Usage]):
        return None
    nested = {}
    for name in _NESTED:
        given = data.get(name, [])
        found = [usage_of(each) for each in given] if isinstance(given, list) else [None]
        nested[name] = tuple(each for each in found if each is not None)
        if len(nested[name]) < len(found):
            return None
    usage = Usage(**{**data, **nested, "at": moment(data.get("at"))})
    return usage if is_usage(usage) else None
