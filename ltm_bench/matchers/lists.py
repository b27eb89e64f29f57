"""`lists_all`: the reply lists several values, each once; order is not scored."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import abstains, gives_example, known_words, last_readable, lexicon, words
from ltm_bench.matchers.reading.doubting import UNKNOWN, DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.json_values import unwrapped
from ltm_bench.matchers.sameness import same_word

_CLOSE = 75
"""Minimum ratio (rapidfuzz) of two spellings of a name."""
_NOTE = re.compile(r"\([^()]{0,60}\)")
"""A note beside a value: `Ada (the first)`."""


def read_strings(value: Any) -> list[str] | None:
    """Read a list of strings from JSON; None if it is not one.

    It understands a list of strings, a list of objects that hold one string each, a wrapper object around either, and a
    mapping from numbers or labels to strings. A list inside a single string is read too.
    """
    return unwrapped(value, _strings)


def _strings(value: Any) -> list[str] | None:
    entries = value
    if isinstance(value, Mapping) and value:  # `{"past": ["Ada", "Ben"], "present": "Cleo"}`
        inner = (each if isinstance(each, list) else [each] for each in value.values())
        entries = list(chain.from_iterable(inner))
    found = [_read_one(entry) for entry in entries] if isinstance(entries, list) else [None]
    return _opened([text for text in found if text is not None]) if None not in found else None


def _opened(texts: list[str]) -> list[str]:
    """Return the list inside a single string, as in `{"answer": "['Ann', 'Bob']"}`; else the strings."""
    if len(texts) != 1 or not texts[0].lstrip().startswith("["):
        return texts
    return last_readable(texts[0], read_strings) or texts


def _read_one(entry: Any) -> str | None:
    if isinstance(entry, Mapping):
        texts = [v for v in entry.values() if isinstance(v, str)]
        nested = any(isinstance(v, list | Mapping) for v in entry.values())
        return texts[0] if len(texts) == 1 and not nested else None
    return entry if isinstance(entry, str) else None


@dataclass(frozen=True, slots=True)
class ListsAll(DoubtingMatcher):
    """Rightly listed values, divided by the listed or the expected ones, whichever are more.

    A value that is listed twice is one too many.
    """

    version: ClassVar[int] = 7
    concludes: ClassVar[bool] = True

    values: tuple[str, ...]
    among: tuple[str, ...]
    """Every value that could have been expected; prose is searched for them."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the last list in the reply or, if there is none, the candidates that its prose names."""
        listed = last_readable(reply, read_strings)
        if listed is None:
            listed = self._named(reply)
            if not listed:
                return unanswered(reply, Outcome.MALFORMED, "no list can be read from the reply")
        if abstains(reply) and (not listed or gives_example(reply)):
            return UNKNOWN
        return self._compare(listed, words(reply.rpartition("]")[2]))

    def _named(self, reply: str) -> list[str]:
        heard = {named.value for *_, named in lexicon(self.among, shortened=False).hear(words(reply))}
        return [value for value in self.among if value in heard]

    def _compare(self, listed: list[str], beside: Sequence[str]) -> Verdict:
        left, missing = [" ".join(words(_NOTE.sub("", text)) or words(text)) for text in listed], list[str]()
        for value in self.values:
            if same := [text for text in left if _same(text.split(), known_words(value))]:
                left.remove(same[0])
            else:
                missing.append(" ".join(known_words(value)))
        hits = len(self.values) - len(missing)
        score = hits / max(len(self.values), len(listed))
        extra = f"; extra: {', '.join(each[:40] for each in left[:8])}" if left else ""
        reason = f"{hits} of {len(self.values)} listed{extra}"
        if score == 1.0:
            return Verdict(Outcome.CORRECT, 1.0, reason)
        if hits and (meant := self._meant(missing, (*left, *beside))) is not None:
            return Verdict(Outcome.UNDECIDED, 0.0, f"“{meant[:40]}” may be meant as well; {reason}")
        return Verdict(Outcome.PARTIAL if hits else Outcome.WRONG, round(score, 6), reason)

    def _meant(self, missing: Sequence[str], said: Sequence[str]) -> str | None:
        """Return what is listed, or said after the list, and spelt nearly like what is missing: `Rafael`."""
        from rapidfuzz import fuzz

        others = {" ".join(known_words(value)) for value in self.among}.difference(missing)
        near = (text for text in said if any(fuzz.ratio(text, each) >= _CLOSE for each in missing))
        return next((text for text in near if text not in others), None)

    def right(self) -> Sequence[str]:
        """Return the list in several notations."""
        values = list(self.values)
        fenced = "```json\n" + json.dumps({"values": values}, indent=1) + "\n```"
        return (json.dumps(values, ensure_ascii=False), fenced, "They were " + ", ".join(values) + ".")

    def wrong(self) -> Sequence[str]:
        """Return every candidate, all values but one, other candidates, nothing, and an abstention."""
        others = [value for value in self.among if value not in self.values] or ["Nobody"]
        few, other = json.dumps(self.values[1:] or others[:1]), json.dumps(others[: len(self.values)])
        return (json.dumps([*self.among, "Nobody"]), few, other, "[]", "I do not know.", "")

    @property
    def chance(self) -> float:
        """The expected score of as many random candidates."""
        return len(self.values) / max(len(self.among), len(self.values), 1)


def _same(said: Sequence[str], meant: Sequence[str]) -> bool:
    return len(said) == len(meant) and all(map(same_word, said, meant))


def lists_all(values: Sequence[str], *, among: Collection[str]) -> ListsAll:
    """Expect all of `values` and nothing else, in any order; `among` is every possible value."""
    return ListsAll(tuple(values), tuple(among))


EXAMPLES: tuple[Matcher, ...] = (
    lists_all(["Ada Lovelace", "Barnaby"], among=("Ada Lovelace", "Barnaby", "Callum", "Delphine")),
    lists_all(["milk", "bread"], among=("milk", "bread", "tea")),
)
"""Examples for the tests that guard every matcher."""
