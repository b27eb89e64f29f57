"""What servers really send: a table of observed behaviour, `core/tables/servers.toml`, and your own `./servers.toml`.

Nobody else knows how a reply ends, where a usage has its figures, how an error speaks of money, and what of a text was
only thought.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.limits import toml_in

Protocol = Literal["chat", "responses", "messages"]
"""OpenAI's Chat Completions and Responses, and Anthropic's Messages."""

Ending = Literal["stop", "tools", "length", "refusal", "overflow", "fails"]
"""What the word means with which a reply ends; `fails`: it broke off."""

OWN = "servers.toml"
"""A file of rows in the current folder, which come before ours."""

KINDS: Mapping[str, Mapping[str, type | tuple[str, ...]]] = {
    "endings": {"protocol": get_args(Protocol), "words": list, "means": get_args(Ending)},
    "figures": {
        "protocol": ("chat", "messages"),
        "figure": (
            *("prompt", "uncached", "cache_read", "cache_write", "cache_write_1h"),
            *("output", "reasoning", "total"),
        ),
        "fields": list,
    },
    "money": {"pattern": str},
    "refused": {"pattern": str},
    "too_long": {"pattern": str},
    "too_long_codes": {"code": str},
    "not_too_long": {"pattern": str},
    "thoughts": {"begins": str, "ends": str},
    "pauses": {"header": str, "unit": ("seconds", "milliseconds", "reset")},
    "empties": {"protocol": get_args(Protocol), "reply": str, "means": ("empty", "fails", "length")},
    "embeddings": {"sends": str, "means": ("vectors", "uncounted", "fails")},
    "cuts": {"counts": str},
}
"""The kinds of rows; what each needs, besides `servers`, `known` and `source`."""

OWN_KINDS = [kind for kind in KINDS if kind not in ("thoughts", "empties", "embeddings", "cuts")]
"""Those of which a user may add rows; on thoughts verdicts depend, and the last three no code looks up."""

KNOWN = ("seen", "types", "reported")
"""How a row is known: by us, from the types of an SDK, from a public report."""


@cache
def rows(kind: str, own: Path | None = None) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a kind, those of a user's file first. Raises ConfigError."""
    shipped = toml_in(Path(__file__).parent / "tables" / "servers.toml")
    if own is None:
        return tuple(shipped[kind])
    try:
        return (*_checked(toml_in(own), own).get(kind, ()), *shipped[kind])
    except (OSError, ValueError) as error:
        raise ConfigError(f"{own}: {error}") from error


def _checked(table: Mapping[str, Any], path: Path) -> Mapping[str, list[Mapping[str, Any]]]:
    for kind, found in table.items():
        if kind not in OWN_KINDS:
            raise ConfigError(f"{path}: {kind!r} is no kind of row; there are {', '.join(OWN_KINDS)}")
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ConfigError(f"{path}: {kind} is no list of rows; begin each with [[{kind}]]")
        for each in found:
            for name, wanted in KINDS[kind].items():
                if wrong := _problem(name, each.get(name), wanted):
                    raise ConfigError(f"{path}: [[{kind}]] {name} = {each.get(name)!r:.60}: {wrong}")
            for odd in each.keys() - KINDS[kind].keys() - _ABOUT:
                raise ConfigError(f"{path}: [[{kind}]] has no field {odd!r}{nearest(odd, KINDS[kind])}")
    return table


_ABOUT = {"servers", "known", "source"}
"""What every row may say besides."""


def _problem(name: str, value: Any, wanted: type | tuple[str, ...]) -> str:
    """Return what is wrong with a field; empty if nothing is."""
    if isinstance(wanted, tuple):
        return "" if value in wanted else f"it is one of {', '.join(wanted)}"
    texts = value if wanted is list and isinstance(value, list) else [value] if wanted is str else []
    if not texts or not all(isinstance(each, str) and each for each in texts):
        return "it is a list of texts" if wanted is list else "it is a text"
    try:
        if name == "pattern":
            re.compile(value)
        return ""
    except re.error as error:
        return f"it is no regular expression: {error}"


def rows_here(kind: str) -> tuple[Mapping[str, Any], ...]:
    """Return the rows of a kind, those in the current folder first. Raises ConfigError."""
    return rows(kind, path if (path := Path.cwd() / OWN).is_file() else None)


def ending(protocol: Protocol, word: object) -> Ending | None:
    """Return what the word means with which a reply ended; None if no row has it."""
    found = (row for row in rows_here("endings") if row["protocol"] == protocol and word in row["words"])
    row = next(found, None)
    return None if row is None else row["means"]


def advice_on(protocol: Protocol, word: object) -> str:
    """Return what to do about a word that no row has."""
    if not isinstance(word, str):
        return "without a word for its end, a whole reply cannot be told from one that broke off"
    return (
        f"no known ending; if the reply is whole, add to ./{OWN}: [[endings]] protocol = {protocol!r}, "
        f"words = [{word!r}], means = 'stop'"
    )


def figure(protocol: Protocol, name: str, usage: Mapping[str, Any]) -> Any:
    """Return a figure of a usage as the server gives it; None if no row's field is there.

    What stands in place of a group of figures is returned in a list, which is no figure.
    """
    for row in rows_here("figures"):
        if row["figure"] != name or row["protocol"] != ("messages" if protocol == "messages" else "chat"):
            continue
        for path in row["fields"]:
            value: Any = usage
            for part in path.split("."):
                value = value.get(part) if isinstance(value, Mapping) else value if value is None else [value]
            if value is not None:
                return value
    return None


def says(kind: Literal["money", "refused", "too_long", "not_too_long"], text: str) -> bool:
    """Whether the text of an error fits a row of a kind."""
    return any(re.search(row["pattern"], text, re.IGNORECASE) for row in rows_here(kind))


_QUOTING = ("{", "`")
"""How JSON begins, which may quote any mark."""

_SIGNS = ("<", "[", "◁", "analysis", "assistantfinal")
"""One of these is in every mark of a thought; most texts have none."""


@cache
def _thoughts() -> tuple[re.Pattern[str], list[tuple[re.Pattern[str], ...]]]:
    known = rows("thoughts")
    marks = "|".join(row[name] for row in known for name in ("begins", "ends"))
    each = [
        tuple(re.compile(row.get(n, r"\Z"), re.IGNORECASE) for n in ("begins", "ends", "stops"))
        for row in known
    ]
    return re.compile(marks, re.IGNORECASE), each


def without_thinking(text: str) -> str:
    """Return a text without what the model only thought.

    What follows the last end of a thought counts; if nothing does, what stands before its beginning. A thought that
    does not end has nothing after it. Linear in the length of the text.
    """
    if not any(map(text.__contains__, _SIGNS)) or text.lstrip()[:1] in _QUOTING:
        return text
    marks, known = _thoughts()
    if marks.search(text) is None:
        return text
    for begins, ends, stops in known:
        if not (begun := begins.search(text)) and not ends.search(text):
            continue
        ended = list(ends.finditer(text))
        rest = text[ended[-1].end() if ended else 0 :]
        cuts = [each.start() for pattern in (begins, stops) if (each := pattern.search(rest)) is not None]
        rest = rest[: min(cuts, default=None)]
        if ended and not rest.strip():
            rest = text[: begun.start()] if begun is not None and begun.start() < ended[0].start() else ""
        text = rest
    return text
