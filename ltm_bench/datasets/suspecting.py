"""Finds keys of a public set that may be wrong, by rule, for a person to look at; none of them is an erratum yet."""

import re
from calendar import day_name, month_name
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import History, HistoryQuestion, OnBad
from ltm_bench.datasets.errata import errata, error_of
from ltm_bench.datasets.locomo.scorer import stems
from ltm_bench.datasets.public import PublicSet, public_sets

_LONG = 12
"""Words of a key from which on it tells the answer in words of its own."""


_ITEM = 4
"""Maximum number of words of an item of a list."""

_YES_OR_NO = re.compile(r"(?:(?:likely|probably),? )?(?:yes|no)\b", re.IGNORECASE)

_DATE = re.compile(rf"(?:(\d{{1,2}}) )?\b({'|'.join(month_name[1:])})\b(?: (\d{{1,2}})\b)?,?(?: (\d{{4}}))?")
"""A date: a month, with day, year or both."""


class Suspect(NamedTuple):
    """A key that a rule finds odd."""

    id: str
    rule: str
    question: str
    key: str
    known: str
    """The class of a known erratum; empty for none."""


def set_in(path: Path) -> PublicSet:
    """Return a public set whose format a file or folder has. Raises ConfigError if there is none."""
    tried: dict[str, PublicSet] = {}
    for each in public_sets().values():
        tried.setdefault(each.dataset, each)
    for each in tried.values():
        try:
            if next(each.histories(path, lambda _: None), None) is not None:
                return each
        except (ConfigError, AttributeError, TypeError, LookupError):
            continue  # another set's file may have any form
    raise ConfigError(f"{path}: it has the form of no public set (known: {', '.join(tried)})")


def suspects(path: Path, on_bad: OnBad) -> Iterator[Suspect]:
    """Yield the odd keys of a set's file, rule by rule within a history. Raises ConfigError."""
    which = set_in(path)
    known = errata(which.dataset)
    for history in which.histories(path, on_bad):
        cases = [_Case(history, question) for question in history.questions]
        for rule, odd in {
            "the key contradicts its rubric": lambda case: which.suspect(case.question),
            **RULES,
        }.items():
            for question in (case.question for case in cases if odd(case)):
                error = error_of(known, question.id, question.text)
                key = "; ".join(question.gold)
                yield Suspect(question.id, rule, question.text, key, error.kind if error else "")


class _Case:
    """A question with the evidence that it cites."""

    def __init__(self, history: History, question: HistoryQuestion) -> None:
        self.history, self.question = history, question
        self.cited = [
            (session, each)
            for session in history.sessions
            for each in session.utterances
            if {session.id, each.id} & {*question.evidence}
        ]
        """What it cites, if it can be looked for there; nothing for a question without an answer, or with options."""
        if question.unanswerable or question.options:
            self.cited = []
        self.said = " ".join(each.text for _, each in self.cited)


def _cites_nothing(case: _Case) -> bool:
    """Whether it cites an utterance or a session that does not exist."""
    known = {
        name for each in case.history.sessions for name in (each.id, *(said.id for said in each.utterances))
    }
    return any(name not in known for name in case.question.evidence)


def _not_in_evidence(case: _Case) -> bool:
    """Whether the evidence, with its dates, has no word of a short key that is more than yes or no."""
    days = (f"{each.at:%d %B %Y} {each.at.day}" for each, _ in case.cited if each.at)
    heard, wanted = set(stems(" ".join((case.said, *days)))), stems(case.question.gold[0])
    tells = 0 < len({*wanted}) <= _LONG and not _YES_OR_NO.match(case.question.gold[0])
    return tells and bool(heard) and not heard & {*wanted}


def _part_missing(case: _Case) -> bool:
    """Whether the evidence has no word of one of the items that a key lists."""
    heard, gold = set(stems(case.said)), case.question.gold[0]
    parts = [set(stems(part)) for part in gold.split(",")] if heard and not re.search(r"\d", gold) else []
    return len(parts) > 1 and any(0 < len(part) <= _ITEM and not part & heard for part in parts)


def _another_speaks(case: _Case) -> bool:
    """Whether it asks about one of those who talk, and all that it cites was said by others."""
    names = {each.speaker for session in case.history.sessions for each in session.utterances if each.speaker}
    asked = {name for name in names if re.search(rf"\b{re.escape(name)}\b", case.question.text)}
    speakers = {each.speaker for _, each in case.cited}
    return len(asked) == 1 and bool(speakers) and not asked & speakers


def _another_day(case: _Case) -> bool:
    """Whether it names a date that is none of its evidence, or the key a day of the week that is not said there."""
    named, told = (
        {day for day in day_name if day.lower() in text.lower()}
        for text in (case.question.gold[0], case.said)
    )
    dates = [each for each in _DATE.findall(case.question.text) if "".join((each[0], *each[2:]))]
    days = [each.at for each, _ in case.cited if each.at]
    off = days and dates and not any(_is_on(at, date) for at in days for date in dates)
    return bool(off) or bool(named and told and not named & told)


def _is_on(at: datetime, date: tuple[str, str, str, str]) -> bool:
    before, month, after, year = date
    day = before or after
    return f"{at:%B}" == month and day in ("", str(at.day)) and year in ("", str(at.year))


def _asked_otherwise(case: _Case) -> bool:
    def asked(each: HistoryQuestion) -> tuple[object, ...]:
        return each.text.casefold().split(), each.at, sorted(each.options)

    own = case.question
    return any(asked(each) == asked(own) and each.gold != own.gold for each in case.history.questions)


RULES: Mapping[str, Callable[[_Case], bool]] = {
    "it cites what does not exist": _cites_nothing,
    "the key is not in the evidence": _not_in_evidence,
    "a part of the key is not in the evidence": _part_missing,
    "the evidence is what another said": _another_speaks,
    "the evidence is of another day": _another_day,
    "the same question has another key": _asked_otherwise,
}
"""What is odd about a key, by what is said of it."""
