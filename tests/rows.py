"""Plays every row of the table of servers: what the provider sends by it, and what that must come to.

A new row is played without a word here, but for one of embeddings; a new kind of row needs a player.
"""

import json
import re
import struct
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.adapters.testing import Fault, Provider
from ltm_bench.core.messages import Usage
from ltm_bench.core.servers import rows
from tests.core.test_thinking import FORMS

PROTOCOLS = ("chat", "responses", "messages")
SAID: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("adapters").joinpath("overflows.json").read_text("utf-8")
)

Body = dict[str, Any]
Edit = Callable[[Body], Body]


class Play(NamedTuple):
    """One way in which a row shows."""

    row: str
    protocol: str
    means: str
    """stop, length, refusal, overflow; fails or unknown: asked for again; money, rejected: not asked for again; empty:
    asked for once more, and then a reply that says nothing; silent: nothing but thinking, as far as the limit went."""
    edit: Edit | None = None
    fault: Fault | None = None
    usage: Usage | None = None
    """What it reports, if that differs from what the provider counted."""

    @property
    def outcome(self) -> str:
        """The finish of a reply, or that there is none."""
        if self.means == "empty":
            return "stop"
        return self.means if self.means in ("stop", "length", "refusal", "overflow") else "error"

    @property
    def tried(self) -> int:
        """The number of attempts where one retry is allowed."""
        return 2 if self.means in ("fails", "unknown", "empty") else 1

    def on(self, server: Provider, times: int = 9) -> None:
        """Make the provider play it."""
        if self.fault is not None:
            server.faults.extend([self.fault] * times)
        left = iter(range(times))
        server.edit = lambda body: self.edit(body) if self.edit and next(left, None) is not None else body


def off(server: Provider) -> None:
    """Make the provider work again."""
    server.faults.clear()
    server.edit = lambda body: body


def ended(word: object) -> Edit:
    """Return an edit that ends a reply with this word, in its protocol."""

    def edit(body: Body) -> Body:
        if "choices" in body:
            return body | {"choices": [body["choices"][0] | {"finish_reason": word}]}
        if "stop_reason" in body:
            return body | {"stop_reason": word}
        status, _, reason = str(word or "").partition(": ")
        why = {"reason": reason} if reason else None
        return body | {"status": None if word is None else status, "incomplete_details": why}

    return edit


def texts(change: Callable[[str], str]) -> Edit:
    """Return an edit of the text of a reply."""

    def edit(body: Body) -> Body:
        body = json.loads(json.dumps(body))
        if "choices" in body:
            message = body["choices"][0]["message"]
            message["content"] = change(message["content"])
        else:
            parts = body["output"][0]["content"] if "output" in body else body["content"]
            parts[0]["text"] = change(parts[0]["text"])
        return body

    return edit


def _endings(row: Mapping[str, Any]) -> Iterator[Play]:
    for word in row["words"]:
        means = "stop" if row["means"] == "tools" else row["means"]
        yield Play(str(word), row["protocol"], means, ended(word))


_PLAIN = {
    "chat": {"prompt_tokens": 100, "completion_tokens": 7},
    "responses": {"input_tokens": 100, "output_tokens": 7},
    "messages": {"input_tokens": 100, "output_tokens": 7},
}
"""A usage without details, as the protocol has it."""
_FIGURES: Mapping[str, tuple[int, dict[str, int]]] = {
    "prompt": (90, {"uncached": 90}),
    "uncached": (90, {"uncached": 90}),
    "output": (9, {"output": 9}),
    "total": (120, {"output": 20}),
    "reasoning": (5, {"reasoning": 5}),
    "cache_read": (60, {"cache_read": 60}),
    "cache_write": (30, {"cache_write": 30}),
    "cache_write_1h": (30, {"cache_write": 30, "cache_write_1h": 30}),
}
"""By figure: what is reported, and what it comes to."""


def _figures(row: Mapping[str, Any]) -> Iterator[Play]:
    figure = row["figure"]
    reported, read = _FIGURES[figure]
    for protocol in ("messages",) if row["protocol"] == "messages" else ("chat", "responses"):
        for path in row["fields"]:
            usage: Body = dict(_PLAIN[protocol])
            names = {
                "prompt": ("prompt_tokens", "input_tokens"),
                "output": ("completion_tokens", "output_tokens"),
            }
            for name in names.get(figure, ()):
                usage.pop(name, None)
            *above, last = path.split(".")
            inner = usage
            for name in above:
                inner = inner.setdefault(name, {})
            inner[last] = reported
            if figure == "cache_write_1h":
                usage["cache_creation_input_tokens"] = reported
            known: dict[str, Any] = {"uncached": 100, "output": 7} | read
            if protocol != "messages":  # where the prompt includes what was cached
                known["uncached"] -= known.get("cache_read", 0) + known.get("cache_write", 0)
            yield Play(path, protocol, "stop", _usage(usage), usage=Usage(**known))


def _usage(usage: Body) -> Edit:
    return lambda body: body | {"usage": usage}


def _worded(row: Mapping[str, Any]) -> Iterator[Play]:
    """Play an error that has these words in a public report. tests/adapters/test_overflow.py reads all of them."""
    fits = [
        said for said in SAID if re.search(row["pattern"], f"{said['text']} {said['code']}", re.IGNORECASE)
    ]
    for said in fits[:1]:
        waits = (
            "fails" if said["status"] == 429 else "rejected"
        )  # a single request above the limit never fits
        means = {"rate limit": waits, "neither": "rejected", "refused": "refusal"}.get(said["is"], said["is"])
        yield from _errors(means, Fault(status=said["status"], message=said["text"], code=said["code"]))


def _coded(row: Mapping[str, Any]) -> Iterator[Play]:
    yield from _errors("overflow", Fault(status=400, message="It cannot be done.", code=row["code"]))


def _errors(means: str, fault: Fault) -> Iterator[Play]:
    """Play an error as such and, in some protocol, within a success."""
    said = f"{fault.message[:50]} {fault.code}"
    for protocol in PROTOCOLS:
        yield Play(said, protocol, means, fault=fault)
    error = {"message": fault.message, "code": fault.code}
    protocol = PROTOCOLS[len(said) % 3]
    if means not in ("fails", "rejected"):
        yield Play(f"{said} in a 200", protocol, means, _replaced({"error": error}))


def _replaced(body: Body) -> Edit:
    return lambda _: body


def _thoughts(row: Mapping[str, Any]) -> Iterator[Play]:
    for opens, closes in FORMS.values():
        if re.match(row["begins"], f"{opens}P", re.IGNORECASE):
            for protocol in PROTOCOLS:
                yield Play(f"{opens} and an end", protocol, "stop", _thinks(opens, closes))


def _thinks(opens: str, closes: str) -> Edit:
    return texts(lambda said: f"{opens}Perhaps another.{closes}{said}")


def _pauses(row: Mapping[str, Any]) -> Iterator[Play]:
    header, unit = row["header"], row["unit"]
    said = {header: {"seconds": "0.01", "milliseconds": "10", "reset": "10ms"}[unit]}
    if unit == "reset":
        said[header.replace("reset", "remaining")] = "0"
    for protocol in PROTOCOLS:
        yield Play(header, protocol, "fails", fault=Fault(status=429, message="Slow down.", headers=said))


def _empties(row: Mapping[str, Any]) -> Iterator[Play]:
    place = {"chat": "choices", "responses": "output", "messages": "content"}[row["protocol"]]
    means = "silent" if row["means"] == "length" else row["means"]
    yield Play(row["reply"], row["protocol"], means, _put(place, json.loads(row["reply"])))


def _put(place: str, what: Any) -> Edit:
    return lambda body: body | {place: what}


def _each(change: Callable[[Body, int], Body]) -> Edit:
    """Return an edit of every vector of an answer, and of its place."""
    return lambda body: body | {"data": [change(each, n) for n, each in enumerate(body["data"])]}


def _base64(each: Body, n: int) -> Body:
    numbers = struct.pack(f"<{len(each['embedding'])}f", *each["embedding"])
    return each | {"embedding": b64encode(numbers).decode()}


EMBEDDINGS: Mapping[str, Edit] = {
    "vectors in another order than their `index`": lambda body: body | {"data": body["data"][::-1]},
    "no `index`": _each(lambda each, _: {name: value for name, value in each.items() if name != "index"}),
    "the same `index` for all": _each(lambda each, _: each | {"index": 0}),
    "base64": _each(_base64),
    "no usage": lambda body: body | {"usage": None},
    "`total_tokens` alone": lambda body: body | {"usage": {"total_tokens": body["usage"]["total_tokens"]}},
    "a usage that is no number": lambda body: body | {"usage": {"prompt_tokens": "many", "total_tokens": -1}},
    "no data": lambda body: body | {"data": []},
    "`data` is null": lambda body: body | {"data": None},
    "fewer vectors than texts": lambda body: body | {"data": body["data"][:-1]},
    "vectors of several lengths": _each(lambda each, n: each | {"embedding": each["embedding"][n:]}),
    "empty vectors": _each(lambda each, _: each | {"embedding": []}),
    "null in a vector": _each(lambda each, n: each | {"embedding": [*each["embedding"][1:], None]}),
    "an error within a success": lambda _: {
        "error": {"message": "The upstream is rate-limited.", "code": 429}
    },
}
"""By what a row says that an answer has."""

PLAYERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Play]]] = {
    "endings": _endings,
    "figures": _figures,
    "money": _worded,
    "refused": _worded,
    "too_long": _worded,
    "too_long_codes": _coded,
    "not_too_long": _worded,
    "thoughts": _thoughts,
    "pauses": _pauses,
    "empties": _empties,
}
"""By kind; rows of embeddings and of cuts are no plays of a reply."""

UNKNOWN = [
    *(
        Play(f"unknown {word!r}", p, "unknown", ended(word))
        for p in PROTOCOLS
        for word in ("halted", None, "")
    ),
    *(Play("cut off", p, "fails", fault=Fault(kind="cut")) for p in PROTOCOLS),
]
"""What no row has."""


def played() -> list[tuple[str, int, list[Play]]]:
    """Return the plays of every row: its kind, its number, and how it shows."""
    return [(kind, n, list(PLAYERS[kind](row))) for kind in PLAYERS for n, row in enumerate(rows(kind))]
