"""In which form replies answer, by matcher, and whether one answers in exactly that form. Pure.

A matcher of a user's own says so itself (`Matcher.form`). Published scorers say nothing: no model reads for them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from ltm_bench.core.limits import json_of
from ltm_bench.core.messages import Matcher, ReplyForm
from ltm_bench.matchers.reading import number, plain

FOR_JUDGES = ("quotation", "statement")
"""Kinds of forms that no code can compare."""

_AROUND = " \t\n.,!*_`\"'“”#:"
"""What may stand around a bare value."""

_FENCE = re.compile(r"\A```[a-z]*\n|\n?```\Z")


def _one_of(pool: tuple[str, ...]) -> ReplyForm:
    coded = bool(pool) and all(any(map(str.isdigit, value)) for value in pool)
    return ReplyForm("number or code") if coded else ReplyForm("one of a set", pool)


_FORMS: Mapping[str, Callable[[Any], ReplyForm]] = {
    "BothSaid": lambda _: ReplyForm("statement"),
    "Decodes": lambda m: ReplyForm(
        "fields", fields=tuple((group, tuple(words[0] for _, words in each)) for group, each in m.groups)
    ),
    "Displaced": lambda _: ReplyForm("displacement"),
    "FollowsRoute": lambda m: ReplyForm("route", m.among),
    "InOrder": lambda m: ReplyForm("order", m.among),
    "ItemCounts": lambda m: ReplyForm("quantities", m.among),
    "ListsAll": lambda m: ReplyForm("list", m.among),
    "NeverSaid": lambda m: _one_of((*m.among, *m.near)),
    "Notices": lambda m: ReplyForm("objection", (m.wanted, m.served)),
    "Orders": lambda m: ReplyForm("list", m.menu, terse="I would like the {}, please."),
    "Picks": lambda m: ReplyForm("choice", tuple(str(n + 1) for n in range(m.of))),
    "Tallies": lambda _: ReplyForm("number or code"),
    **dict.fromkeys(("Formerly", "NamesOnly"), lambda m: _one_of(m.among)),
    **dict.fromkeys(("Retells", "SaidIn", "Says"), lambda _: ReplyForm("quotation")),
    "Withholds": lambda m: _one_of(m.among) if m.among else ReplyForm("statement"),
}
"""By the name of a matcher of ours: a run need not import those that it does not use."""


def form_of(expect: Matcher) -> ReplyForm | None:
    """Return the form in which replies answer; None for published scorers, which no model's reading may change."""
    try:
        told = expect.form()
    except Exception:  # a matcher of a user's own can raise anything, and its log still has to be read
        return None
    if told is not None:
        return told
    ours = (
        kind.__name__ for kind in type(expect).__mro__ if kind.__module__.startswith("ltm_bench.matchers.")
    )
    make = next((_FORMS[name] for name in ours if name in _FORMS), None)
    return None if make is None else make(expect)


def is_exact(reply: str, form: ReplyForm) -> bool:
    """Whether a reply is a value of its form and nothing else: a member of the set, a number, or JSON."""
    bare = plain(reply).strip(_AROUND)
    if form.fields or form.kind in ("list", "order", "quantities", "route"):
        try:
            return isinstance(json_of(_FENCE.sub("", reply.strip())), dict | list)
        except ValueError:
            return False
    if bare in {plain(value).strip(_AROUND) for value in form.pool}:
        return True
    return len(bare.split()) == 1 and number(bare) is not None
