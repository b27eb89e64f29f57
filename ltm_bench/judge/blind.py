"""The prompt of a blind reader, and the parser of its answer. Pure text, identified by its hash.

A blind reader sees a question and a reply, not the right answer. It copies where the reply commits itself, and what it
says there. The reply is untrusted: it stands between fences that it cannot contain, nothing counts that does not stand
in it letter by letter, and a value that a passage of it does not say is not taken.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ltm_bench.core.messages import ReplyForm
from ltm_bench.judge.rubric import READ, object_alone, shortened
from ltm_bench.judge.texts import TEXTS
from ltm_bench.matchers.reading import number

VERSION = 2
"""Raise it whenever the same answer can be read otherwise."""

TEXT: str = TEXTS["reader"]["text"]

_ASKED: Mapping[str, str] = TEXTS["reader"]["asked"]

_TEXT, _NUMBER = {"type": "string"}, {"type": "number"}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with just these keys."""
    keys = {"required": [*properties], "additionalProperties": False}
    return {"type": "object", "properties": properties, **keys}


_SHAPES: Mapping[str, Mapping[str, Any]] = {
    "list": {"type": "array", "items": _TEXT},
    "order": {"type": "array", "items": _TEXT},
    "displacement": _object(east=_NUMBER, north=_NUMBER),
    "route": {"type": "array", "items": _object(direction=_TEXT, km=_NUMBER, to=_TEXT)},
    "objection": _object(objects={"type": "boolean"}, ordered={"type": ["string", "null"]}),
}
"""The schemas of values that are no strings. Schemas cannot allow any keys, so quantities have none."""

_MANY = 3
"""Maximum number of options named in the span of a single answer; more is a recital."""

UNKNOWN = "I do not know."
"""The terse reply of whoever does not know or declines; nobody can tell the two apart."""


class CopiedAnswer(NamedTuple):
    """What a reader's answer says."""

    span: str
    said: str
    """A terse reply in the form asked for; empty if nothing was read."""
    why: str = ""
    """Why nothing was read."""


class _Unread(Exception):
    """The answer says nothing that can be taken."""


_FORMLESS = "its value is not in the form asked for"
_INVENTED = "its value does not follow from what it copied"

UNSETTLED = _NOTHING, _SEVERAL = "the reply commits itself to nothing", "the reply leaves several open"
"""Why nothing was read, where a reader understood that the reply settles on no answer."""


def digest() -> str:
    """Return the first 16 hex digits of the SHA-256 of everything that a reader is told about its task."""
    return hashlib.sha256(json.dumps([VERSION, TEXT, _ASKED, _SHAPES]).encode()).hexdigest()[:16]


def schema(form: ReplyForm) -> dict[str, Any] | None:
    """Return the JSON schema of an answer about a reply of a form; None if there is none."""
    if form.kind == "quantities":
        return None
    shape = _object(**{name: _TEXT for name, _ in form.fields}) if form.fields else _SHAPES.get(form.kind)
    return _object(span=_TEXT, value=_TEXT if shape is None else {"anyOf": [_TEXT, shape]})


def prompts(question: str, reply: str, form: ReplyForm, scenario: str, *, whole: bool) -> list[str]:
    """Return the messages to a reader: two with options, which differ in their order, else one.

    Args:
        question: The question.
        reply: The reply.
        form: In which form it answers.
        scenario: The scenario's name, which alone turns the order of the options.
        whole: Whether the form's pool is all that could be answered in any example, and may be shown.
    """
    reply = reply[:READ].encode("utf-8", "replace").decode()
    code = hashlib.sha256(reply.encode()).hexdigest()[:16]
    pools = dict(form.fields) or ({"options": form.pool} if whole and form.pool else {})
    texts = []
    for back in (False, True) if pools else (False,):
        task: dict[str, Any] = {"question": shortened(question, READ), "value": _ASKED[form.kind]}
        task |= {name: _turned(pool, scenario, back) for name, pool in pools.items()}
        texts.append(
            f"{TEXT}\n{json.dumps(task, indent=1, ensure_ascii=True)}\n\n<<<{code}>>>\n{reply}\n<<<{code}>>>\n"
        )
    return texts


def _turned(pool: Sequence[str], scenario: str, back: bool) -> list[str]:
    """Return the options in an order that is the same for all examples of a scenario."""
    options = sorted(dict.fromkeys(pool))
    first = int.from_bytes(hashlib.sha256(scenario.encode()).digest()[:4]) % max(1, len(options))
    options = options[first:] + options[:first]
    return options[::-1] if back else options


def heard(answer: str, reply: str, form: ReplyForm, *, whole: bool) -> CopiedAnswer:
    """Read a reader's answer.

    Args:
        answer: The answer.
        reply: The reply that it read.
        form: In which form that answers.
        whole: As in `prompts`.
    """
    content = object_alone(answer) or {}
    span = content.get("span")
    if not isinstance(span, str) or {*content} != {"span", "value"}:
        return CopiedAnswer("", "", f"unreadable answer: {answer.strip()[:120]!r}")
    if span not in reply[:READ]:
        return CopiedAnswer("", "", "what it copied does not stand in the reply")
    try:
        return CopiedAnswer(span, _Value(span, form, whole).said(content["value"]))
    except _Unread as error:
        return CopiedAnswer(span, "", str(error))
    except (LookupError, TypeError, ValueError, AttributeError):
        return CopiedAnswer(span, "", _FORMLESS)


def _must(holds: object, why: str = _FORMLESS) -> None:
    if not holds:
        raise _Unread(why)


class _Value:
    """The value of an answer, which has to follow from the span, or to be an option."""

    def __init__(self, span: str, form: ReplyForm, whole: bool) -> None:
        self._span, self._form, self._whole = span.casefold(), form, whole
        found = [number(each) for each in re.findall(r"\d[\d,.]*|[^\W\d_]+(?:-[^\W\d_]+)?", span)]
        # each by itself: nothing is added up
        self._numbers = {abs(each) for each in found if each is not None}

    def said(self, value: Any) -> str:
        """Return a value as a terse reply. Raises _Unread; a TypeError or the like if it has another form."""
        form = self._form
        _must(self._span.strip(), _NOTHING)
        if value == "none":
            return UNKNOWN
        held = [*value.values()] if isinstance(value, dict) else value
        inside = held if isinstance(held, list) else [held]
        _must("several" not in inside, _SEVERAL)
        _must("other" not in inside, "the reply says something that is not among the options")
        match form.kind:
            case "fields":
                return self._fields(value)
            case "quantities":
                counts = {self._option(name): self._counted(count, 1) for name, count in value.items()}
                return json.dumps([{"item": name, "quantity": count} for name, count in counts.items()])
            case "displacement":
                return self._displacement(**value)
            case "route":
                return f"You go {', then '.join(self._leg(**leg) for leg in value)}."
            case "objection":
                return self._objection(**value)
            case "list" | "order":
                _must(isinstance(value, list) and value)
                values = [self._option(each) for each in value]
                return form.terse.format(" and the ".join(values)) if form.terse else json.dumps(values)
            case "number or code":
                said = str(value).strip()
                _must(self._has(said) or (said.isdecimal() and int(said) in self._numbers), _INVENTED)
                return said
            case "choice" | "one of a set":
                return (form.terse or "{}").format(self._single(value))
        raise _Unread("a judge compares what it copied")

    def _option(self, value: str, pool: Sequence[str] = ()) -> str:
        """Return a value as the option that it is or, where none are shown, as it stands in the span."""
        low = value.strip().casefold()
        option = next((each for each in pool or self._form.pool if each.casefold() == low), None)
        _must(option is not None if self._whole or pool else self._has(low), _INVENTED)
        return option or value.strip()

    def _single(self, value: str) -> str:
        """Return the one option that a span names; whatever means the same may stand there, but no other option."""
        option = self._option(value)
        named = [each for each in self._form.pool if self._has(each)]
        _must(len(named) <= _MANY, "what it copied recites the options")
        _must(not named or option in named, f"what it copied names {', '.join(named)}, not {option}")
        return option

    def _has(self, words: str) -> bool:
        """Whether the span has these words."""
        sought = re.escape(words.strip().casefold()) or "$."
        return re.search(rf"(?<!\w){sought}(?!\w)", self._span) is not None

    def _counted(self, value: Any, unsaid: int) -> int:
        """Return a number, if the span says it, or if it needs not be said."""
        _must(not isinstance(value, bool) and value == int(value))
        _must(value == unsaid or abs(value) in self._numbers, _INVENTED)
        return int(value)

    def _fields(self, value: Mapping[str, str]) -> str:
        pools = dict(self._form.fields)
        given = [(name, each) for name, each in value.items() if each != "none"]
        return "; ".join(f"{name}: {self._option(each, pools[name])}" for name, each in given) or UNKNOWN

    def _displacement(self, east: Any, north: Any) -> str:
        across, up = self._counted(east, 0), self._counted(north, 0)
        sides = "east" if across >= 0 else "west", "north" if up >= 0 else "south"
        return f"It lies {abs(up)} km {sides[1]} and {abs(across)} km {sides[0]}."

    def _leg(self, direction: str, km: Any, to: str) -> str:
        towards = direction.strip().casefold()
        _must(self._has(towards) or self._has(towards[:1]), _INVENTED)
        return f"{self._counted(km, 0)} km {towards} to {self._option(to)}"

    def _objection(self, objects: bool, ordered: str | None) -> str:
        _must(isinstance(objects, bool))
        if not objects:
            return "Thank you, this looks delicious!"
        if ordered is None:
            return "I am afraid that this is not what I ordered."
        _must(self._has(ordered), _INVENTED)
        return f"Excuse me, I ordered {ordered}, and this is not what I ordered."
