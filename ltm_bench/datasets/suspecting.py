"""Finds keys of a public set that may be wrong, by rule, for a person to look at; none of them is an erratum yet."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import History, HistoryQuestion, OnBad
from ltm_bench.datasets.errata import errata
from ltm_bench.datasets.locomo.scorer import stems
from ltm_bench.datasets.public import PublicSet, public_sets

_LONG = 12
"""Words of a key from which on it tells the answer in words of its own."""


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
    rules: dict[str, Callable[[History, HistoryQuestion], bool]] = {
        "the key contradicts its rubric": lambda _, question: which.suspect(question),
        "the key is not in the evidence": _not_in_evidence,
        "the same question has another key": _asked_otherwise,
    }
    for history in which.histories(path, on_bad):
        for rule, odd in rules.items():
            for question in history.questions:
                if odd(history, question):
                    kind = known[question.id].kind if question.id in known else ""
                    yield Suspect(question.id, rule, question.text, "; ".join(question.gold), kind)


def _not_in_evidence(history: History, question: HistoryQuestion) -> bool:
    """Whether the evidence, with its dates, has no word of a short key, or lacks a number of it."""
    wanted = set(stems(question.gold[0]))
    if not question.evidence or question.unanswerable or question.options or not 0 < len(wanted) <= _LONG:
        return False
    told: list[str] = []
    for session in history.sessions:
        said = [each.text for each in session.utterances if {session.id, each.id} & set(question.evidence)]
        told += said and [*said, f"{session.at:%d %B %Y} {session.at.day}" if session.at else ""]
    heard = set(stems(" ".join(told)))
    return bool(heard) and not wanted & heard


def _asked_otherwise(history: History, question: HistoryQuestion) -> bool:
    def asked(each: HistoryQuestion) -> tuple[object, ...]:
        return each.text.casefold().split(), each.at, sorted(each.options)

    return any(asked(each) == asked(question) and each.gold != question.gold for each in history.questions)
