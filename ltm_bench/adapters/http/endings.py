"""Answers that only look like a success, as the failures that they are.

Then libraries ask again by themselves, and no cache keeps them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from ltm_bench.adapters.overflow import is_rate_limit, is_too_long
from ltm_bench.core.limits import json_of
from ltm_bench.core.servers import Protocol, advice_on, ending, says

if TYPE_CHECKING:
    import httpx2

BROKEN = "the reply broke off"
"""How the message begins of an answer whose reply did not end well."""

_PATHS: Mapping[str, Protocol | Literal[""]] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
    "/embeddings": "",
}
"""Where a model is asked, and by which protocol it replies, if it does."""
_BAD_GATEWAY = 502
_OVERLOADED = 529


def ended(protocol: Protocol, body: Mapping[str, Any]) -> object:
    """Return the word with which a reply ended. Raises KeyError if the body has no place for one."""
    match protocol:
        case "messages":
            return body["stop_reason"]
        case "responses":
            why = body.get("incomplete_details")
            reason = why.get("reason") if isinstance(why, dict) else None
            return f"{body['status']}: {reason}" if reason else body["status"]
    return _choice(body)["finish_reason"]


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def with_true_status(response: httpx2.Response) -> tuple[httpx2.Response, bool]:
    """Return an answer about a model's reply, and whether that broke off.

    If it reports a failure with status 200, it gets the status that it deserves.

    Where asking again is in vain, it says so in the header `x-should-retry`, which the SDKs obey: the account has no
    credit, the prompt is too long, or a word that nobody knows came a second time.
    """
    status, body = response.status_code, _body(response)
    vain = status >= 400 and (says("money", response.text) or is_too_long(status, telling(body)))
    protocol = next((p for path, p in _PATHS.items() if response.request.url.path.endswith(path)), None)
    if status == 200 and protocol is not None and body is not None:
        again = response.request.headers.get("x-stainless-retry-count", "0") != "0"
        status, error, vain = _failure(protocol, body, again=again)
    if vain:
        response.headers["x-should-retry"] = "false"
    if status == response.status_code:
        return response, False
    library = sys.modules[type(response).__module__.partition(".")[0]]
    changed: httpx2.Response = library.Response(
        status,
        headers=[(name, value) for name, value in response.headers.raw if name.lower() != b"content-length"],
        content=json.dumps({"type": "error", "error": error}).encode(),
        request=response.request,
        extensions=response.extensions,
        history=response.history,
    )
    return changed, BROKEN in str(error["message"])


def telling(body: object) -> str:
    """Return the text of an error's body that says most: one that a row of the table knows, or else its message.

    Routers put the words of those behind them into fields of their own, and some servers know no `message`.
    """
    texts = list(islice(_texts(body), _MOST_TEXTS))
    first = next(iter(texts), "")
    known = next((text for kind in _TOLD for text in texts if says(kind, text)), first)
    return known if known == first or " " in known else f"{first} ({known})"


_TOLD: tuple[Literal["money", "too_long", "refused"], ...] = ("money", "too_long", "refused")
_MOST_TEXTS = 50
_FIRST = ("message", "detail", "error")
"""Where the message of an error stands."""


def _texts(value: object) -> Iterator[str]:
    """Yield all texts of a JSON value, those that may be its message first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name in sorted(value, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST)):
            if name != "input":  # where FastAPI's servers quote the request
                yield from _texts(value[name])
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _body(response: httpx2.Response) -> dict[str, Any] | None:
    try:
        body = json_of(response.content)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _failure(
    protocol: Protocol | Literal[""], body: Mapping[str, Any], *, again: bool
) -> tuple[int, Mapping[str, object], bool]:
    """Return the status that an answer deserves, its error, and whether asking again is in vain.

    Args:
        protocol: The protocol; empty if no reply is due.
        body: The answer, with HTTP 200.
        again: Whether it answers a second attempt.
    """
    given = body.get("error") or (_choice(body).get("error") if protocol == "chat" else None)
    if given:
        error = given if isinstance(given, dict) else {"message": str(given)}
        code, kind, said = error.get("code"), error.get("type"), telling(error) or str(error)
        status = _status(said, code, kind)
        return status, {**error, "message": said}, says("money", f"{said} {code} {kind}")
    if not protocol:
        return 200, {}, False
    try:
        word = ended(protocol, body)
    except KeyError:
        if protocol == "chat" and body.get("choices", {}) in ([], None):  # routers lose a reply in this way
            return _BAD_GATEWAY, {"message": f"{BROKEN}: it came without a choice"}, False
        return 200, {}, False  # of another shape, and unreadable
    called = _choice(body).get("message") if protocol == "chat" else None
    means = ending(protocol, word)
    if means is None and isinstance(called, dict) and called.get("tool_calls"):
        means = "tools"  # calls are whole, or would not be there
    if means not in (None, "fails"):
        return 200, {}, False
    why = advice_on(protocol, word) if means is None else "no whole reply"
    return _BAD_GATEWAY, {"message": f"{BROKEN}: it ended with {word!r}: {why}"}, means is None and again


def _status(said: str, code: object, kind: object) -> int:
    """Return the status of an error: what it says itself, or else what it speaks of."""
    # Before the rest: a filter that declines within HTTP 200 was asked again, and billed again.
    if is_too_long(400, said, code, kind) or says("refused", f"{said} {code} {kind}"):
        return 400
    if re.fullmatch(r"[45]\d\d", str(code)):
        return int(str(code))
    if "overloaded" in f"{code} {kind}":
        return _OVERLOADED
    return 429 if is_rate_limit(None, f"{said} {code} {kind}".replace("_", " ")) else _BAD_GATEWAY
