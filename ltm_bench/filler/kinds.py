"""The kinds of filler and what they talk about, from the texts in `kinds/` and the tables in `facts/`."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

KINDS: tuple[str, ...] = ("quiz", "talk", "notes", "plans", "lists")
HOLDING: tuple[str, ...] = ("talk", "notes", "plans")
"""Those whose messages can hold something else, since the reply to them is short whatever they hold."""

INLINE, PROSE = ",", ""
"""What stands between the items of a deck whose heads are not used; each item follows a space."""


class Kind(NamedTuple):
    """A kind of filler: its own words, and its decks."""

    leads: Sequence[str]
    reasons: Sequence[str]
    asks: Sequence[tuple[str, str]]
    """Requests, each with the form of the reply to a quiz: `json`, or the head of its lines."""
    replies: Sequence[str]
    last: bool
    """Whether the request always ends the message."""
    least: int
    """The fewest items of a message."""
    decks: Mapping[str, Mapping[str, Any]]
    names: Sequence[str]
    """Of its decks."""


class Deck(NamedTuple):
    """Items of one kind about one subject."""

    name: str
    texts: Sequence[str]
    """Its items, as they stand in a message; for a quiz, the questions."""
    keys: Sequence[str]
    """What a reply may take from each; for a quiz, the answers."""
    groups: Sequence[Sequence[int]]
    """Indices of items that say nearly the same: the next ones of a group appear when all groups have had a turn."""
    joint: str
    """`INLINE`, `PROSE`, or a line break: a line for each item."""
    heads: Sequence[tuple[str, str]]
    """How its lines may begin, and for a quiz what stands before an answer."""
    slots: Mapping[str, str]
    """What the words of its kind say about its subject."""
    once: bool
    """Whether a message holds at most one item of each group: they say the same in other words."""
    ranks: Sequence[int]
    """The place of each item in the order that a list is to be sorted into; empty for other kinds."""


@cache
def _texts(folder: str) -> dict[str, str]:
    """Return the files of a folder of this room, by stem, sorted."""
    paths = sorted(files("ltm_bench.filler").joinpath(folder).iterdir(), key=lambda path: path.name)
    return {path.name[:-5]: path.read_text("utf-8") for path in paths if path.name.endswith(".json")}


@cache
def tables() -> Mapping[str, Any]:
    """Return the tables of facts, by name."""
    return {name: json.loads(text) for name, text in _texts("facts").items()}


@cache
def digest() -> str:
    """Return the SHA-256 of all texts of filler but a quiz's own questions."""
    texts = {**_texts("facts"), **_texts("kinds")}
    return hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()


@cache
def kind(name: str) -> Kind:
    """Return a kind by its name in `KINDS`."""
    found = json.loads(_texts("kinds")[name])
    found["asks"] = [(ask, form) for form, asks in found["asks"].items() for ask in asks]
    return Kind(json.loads(_texts("kinds")["leads"]), **found, names=list(found["decks"]))


@cache
def deck(of: str, name: str) -> Deck:
    """Return a deck of a kind other than a quiz by its name."""
    about = kind(of).decks[name]
    texts, keys, groups = list[str](), list[str](), list[range]()
    once = "table" in about
    for group in _rows(about) if once else _combined(about["templates"]):
        groups.append(range(len(texts), len(texts) + len(group)))
        for text, key in group:
            texts.append(text)
            keys.append(key)
    slots, ranks = about.get("slots", {}), list[int]()
    if "order" in slots:
        ranks = [0] * len(keys)
        order = [(int(key), "") if key.isdecimal() else (0, key.casefold()) for key in keys]
        for rank, place in enumerate(sorted(range(len(keys)), key=order.__getitem__)):
            ranks[place] = rank
    return Deck(f"{of}/{name}", texts, keys, groups, about["joint"], heads(about), slots, once, ranks)


def decks(of: str) -> Sequence[Deck]:
    """Return all decks of a kind other than a quiz."""
    return [deck(of, name) for name in kind(of).decks]


def heads(about: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return the heads of a deck's lines; a dash if it names none."""
    return [(head, middle) for head, middle in about.get("heads", [["-", ""]])]


def _rows(about: Mapping[str, Any]) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield the items of each row of a table; rows that lack a cell, or hold what separates items, have none."""
    table = tables()[about["table"]]
    places = {column: f"{{{place}}}" for place, column in enumerate(table["columns"])}
    key, *lines = (text.format_map(places) for text in (about["key"], *about["lines"]))
    used = [i for i in range(len(places)) if f"{{{i}}}" in "".join(lines)]
    for row in table["rows"]:
        if all(row[i] for i in used):
            found = [line.format(*row) for line in lines]
            if about["joint"] == "\n" or all(_ends(text, about["joint"]) for text in found):
                name = key.format(*row)
                yield [(text[0].upper() + text[1:], name) for text in found]


def _ends(text: str, joint: str) -> bool:
    """Return whether items like this can be told apart in a message: `pass_over` counts what ends them."""
    return text.find(joint or ".") in (-1, len(text) - 1)


def _combined(templates: Sequence[str]) -> Iterator[Sequence[tuple[str, str]]]:
    """Yield all readings of each template, in which `{one|another}` is a choice."""
    for template in templates:
        parts = [part.split("|") for part in re.split(r"[{}]", template)]
        yield [(text, text.rstrip(".")) for text in map("".join, product(*parts))]
