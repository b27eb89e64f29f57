"""The part of the runs that one page of the table shows: those that are asked for, in order, a page at a time."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ltm_bench.viewer.states import RunState

PAGE = 200
"""Maximum rows of a page. If all runs fit on one, the browser sorts and filters them."""

_ORDERS: Mapping[str, Callable[[RunState], Any]] = {
    "name": lambda each: _natural(each.name),
    "agent": lambda each: _natural(each.agent),
    "span": lambda each: each.span,
    "state": lambda each: each.state,
    "score": lambda each: _share(each),
    "cost": lambda each: -1.0 if each.dollars is None else each.dollars,
    "started": lambda each: each.started,
}


class Listing(NamedTuple):
    """A page of the table."""

    rows: Sequence[RunState]
    found: int
    """Runs that are asked for, on all pages."""
    page: int
    pages: int


def listed(states: Sequence[RunState], asked: Mapping[str, str]) -> Listing:
    """Return the page that is asked for; all runs if they fit on one.

    Args:
        states: All runs.
        asked: `words` that a row must hold, its `state`, the column to `sort` by, `down` (0 for up), and the `page`.
    """
    if len(states) <= PAGE:
        return Listing(states, len(states), 1, 1)
    words, state = asked.get("words", "").casefold().split(), asked.get("state")
    found = [each for each in states if state in ("", None, each.state) and _holds(each, words)]
    order = _ORDERS.get(asked.get("sort", ""), _ORDERS["started"])
    found.sort(key=lambda each: _natural(each.name))
    found.sort(key=order, reverse=asked.get("down") != "0")
    pages = max(1, -(-len(found) // PAGE))
    given = asked.get("page", "")
    page = min(max(1, int(given)), pages) if re.fullmatch(r"[0-9]{1,9}", given) else 1
    return Listing(found[(page - 1) * PAGE : page * PAGE], len(found), page, pages)


def _holds(each: RunState, words: Sequence[str]) -> bool:
    tags = " ".join(f"{key}={value}" for key, value in each.tags.items())
    text = f"{each.name} {each.agent} {each.suite} seed {each.seed} {each.state} {each.verdict} {tags}".casefold()
    return all(word in text for word in words)


def _natural(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts the numbers in texts as numbers."""
    return [
        (int(digits or 0), word) for word, digits in re.findall(r"([^0-9]*)([0-9]{0,18})", text.casefold())
    ]


def _share(each: RunState) -> float:
    score = each.so_far if each.score is None else each.score
    return -1.0 if score is None or not each.out_of else score / each.out_of
