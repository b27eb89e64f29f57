"""Matchers: pure functions from text to a verdict, held as frozen data so that an old log can be scored again.

Each asks of every reply: is it right, is it a value that has been replaced, does it say that it does not know, can
it be read at all? A reply that lists every candidate is not right, nor is an echo of the question.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ltm_bench.errors import LogError
from ltm_bench.matchers.answers import Answers, Declines, answers, declines
from ltm_bench.matchers.benchmarked import Benchmarked, benchmarked
from ltm_bench.matchers.choices import Picks, picks
from ltm_bench.matchers.counts import StarCounts, StarSum, star_counts, star_sum
from ltm_bench.matchers.decoding import Decodes, decodes
from ltm_bench.matchers.displacement import Displaced, displaced
from ltm_bench.matchers.items import ItemCounts, item_counts
from ltm_bench.matchers.lists import ListsAll, lists_all
from ltm_bench.matchers.names import NamesOnly, names_only
from ltm_bench.matchers.orders import Notices, Orders, notices, ordered, orders
from ltm_bench.matchers.phrases import SaidIn, Says, said_in, says
from ltm_bench.matchers.published import Published
from ltm_bench.matchers.quotes import Retells, retells
from ltm_bench.matchers.routes import FollowsRoute, follows_route
from ltm_bench.messages import Matcher


def _tuples(value: Any) -> Any:
    """Turn JSON lists back into the tuples that frozen matchers hold."""
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def dump(matcher: Matcher) -> dict[str, Any]:
    """Return the JSON form of a matcher: its class, its version, its fields."""
    data = {field.name: getattr(matcher, field.name) for field in fields(matcher)}  # type: ignore[arg-type]
    return {"matcher": type(matcher).__name__, "version": matcher.version, **data}


def load(data: Mapping[str, Any]) -> Matcher:
    """Return the matcher of a JSON form, in the version of today. Raises LogError for an unknown one.

    A matcher of a user's own is known once the scenario's file that defines it has been loaded.
    """
    name = data.get("matcher")
    known: dict[str, type[Matcher]] = {each.__name__: each for each in _descendants(Matcher)}
    if name not in known:
        raise LogError(
            f"the log expects a matcher {name!r}, which is not defined (known: {', '.join(sorted(known))})"
        )
    settings = {key: _tuples(value) for key, value in data.items() if key not in ("matcher", "version")}
    try:
        return known[name](**settings)
    except TypeError as error:
        raise LogError(f"the log's matcher {name!r} cannot be read: {error}") from error


def _descendants(kind: type[Any]) -> list[type[Any]]:
    return [each for sub in kind.__subclasses__() for each in (sub, *_descendants(sub))]


__all__ = [
    "Answers",
    "Benchmarked",
    "Declines",
    "Decodes",
    "Displaced",
    "FollowsRoute",
    "ItemCounts",
    "ListsAll",
    "NamesOnly",
    "Notices",
    "Orders",
    "Picks",
    "Published",
    "Retells",
    "SaidIn",
    "Says",
    "StarCounts",
    "StarSum",
    "answers",
    "benchmarked",
    "declines",
    "decodes",
    "displaced",
    "dump",
    "follows_route",
    "item_counts",
    "lists_all",
    "load",
    "names_only",
    "notices",
    "ordered",
    "orders",
    "picks",
    "retells",
    "said_in",
    "says",
    "star_counts",
    "star_sum",
]
