"""`star_counts`: the reply lists the counts scattered over the conversation. `star_sum`: it adds them up.

Scored as in Counting-Stars (Song et al. 2024, and its code): cut the list to M, then check for every star whether its
count is among the distinct numbers. Order is not scored. In the reasoning variant a star is worth 1 for the corrected
count alone, 0.5 if the mistaken one is there as well, 0.25 for the mistaken one alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.datasets.counting_stars.scorer import Hits, score
from ltm_bench.datasets.matching import SetMatcher, by_score
from ltm_bench.matchers.reading import last_readable, number
from ltm_bench.matchers.reading.doubting import DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.figures import given_number, told_numbers

_KEYED = 3


def read_numbers(value: Any) -> list[int] | None:
    """Read a list of integers from JSON; None if it is not one.

    It understands a list of numbers or numeric strings, a wrapper object around one, a list of objects or pairs that
    hold one number each (numbered lists aside), and a mapping whose values are numbers.
    """
    if isinstance(value, list):
        found = [_read_one(entry) for entry in value]
        return [n for n in found if n is not None] if value and all(n is not None for n in found) else None
    if isinstance(value, Mapping):
        lists = [numbers for v in value.values() if (numbers := read_numbers(v)) is not None]
        if lists:
            return lists[0] if len(lists) == 1 else None
        single = [number(v) for v in value.values()]
        return [n for n in single if n is not None] if single and None not in single else None
    return None


def _read_one(entry: Any) -> int | None:
    if isinstance(entry, Mapping):
        numbers = [n for v in entry.values() if (n := number(v)) is not None]
        return numbers[-1] if 0 < len(numbers) <= _KEYED else None
    return number(entry)


def numbers_in(reply: str) -> list[int]:
    """Return the last list of numbers in a reply or, if there is none, the numbers that its prose gives.

    In prose, the numbering of list entries, announced counts (`8 counts: …`) and replaced values (`20, corrected from
    19`) do not count.
    """
    listed = last_readable(reply, read_numbers)
    return listed if listed is not None else list(told_numbers(reply))


@dataclass(frozen=True, slots=True)
class StarCounts(DoubtingMatcher):
    """The mean over the stars, less one star for every number beyond their count."""

    version: ClassVar[int] = 5
    concludes: ClassVar[bool] = True

    counts: tuple[int, ...]
    """The right count of every star, in the order of the conversation."""
    mistaken: tuple[int | None, ...] = ()
    """The counts that were corrected later, in the same order; None for a star without a correction."""
    foreign: tuple[int, ...] = ()
    """The counts of others, which the question does not ask for."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the list of numbers in the reply."""
        listed = numbers_in(reply)
        if not listed:
            verdict = unanswered(reply, Outcome.MALFORMED, "no numbers can be read from the reply")
            return replace(verdict, parts=tuple(0.0 for _ in self.counts))
        heard = frozenset(listed[: len(self.counts)])
        wrong = self.mistaken or (None,) * len(self.counts)
        parts = tuple(
            _star(count in heard, mistake in heard) for count, mistake in zip(self.counts, wrong, strict=True)
        )
        beyond = max(0, sum(n not in self.mistaken for n in listed) - len(self.counts))
        score = max(0.0, sum(parts) - beyond) / len(parts)
        found = sum(count in heard for count in self.counts)
        reason = f"{found} of {len(self.counts)} counts found, {self.placed(listed)} in the right place"
        if faults := self.faults(listed):
            reason += f"; {faults}"
        if beyond:
            reason += f"; {beyond} more than asked for"
        if score == 1.0:
            return Verdict(Outcome.CORRECT, 1.0, reason, parts)
        if beyond and set(self.counts).issubset(listed) and last_readable(reply, read_numbers) is None:
            return Verdict(Outcome.UNDECIDED, 0.0, f"all counts are there, and {beyond} more in prose", parts)
        if found and score:
            return Verdict(Outcome.PARTIAL, round(score, 6), reason, parts)
        stale = any(mistake in heard for mistake in self.mistaken)
        return Verdict(Outcome.STALE if stale else Outcome.WRONG, round(score, 6), reason, parts)

    def placed(self, listed: Sequence[int]) -> int:
        """Return how many counts are in the right place in a list: an order-aware figure that is not scored."""
        return sum(a == b for a, b in zip(listed, self.counts, strict=False))

    def faults(self, listed: Sequence[int]) -> str:
        """Describe the surplus of a list: corrected counts, counts of others, and invented numbers."""
        numbers = set(listed) - set(self.counts)
        stale, foreign = numbers & set(self.mistaken), numbers & set(self.foreign) - set(self.mistaken)
        kinds = ((stale, "mistaken"), (foreign, "of others"), (numbers - stale - foreign, "invented"))
        return ", ".join(f"{len(each)} {name}" for each, name in kinds if each)

    def right(self) -> Sequence[str]:
        """Return the counts in several notations."""
        counts = list(self.counts)
        return (
            json.dumps({"counts": counts}),
            "```json\n" + json.dumps(counts) + "\n```",
            "They were " + ", ".join(map(str, counts)) + ".",
        )

    def wrong(self) -> Sequence[str]:
        """Return every possible number, the mistaken ones, none, and an abstention."""
        highest = max(self.counts)
        everything = [n for n in range(highest + 1) if n not in self.counts[: max(1, len(self.counts) // 4)]]
        return (
            json.dumps(everything + list(self.counts)),
            json.dumps([m for m in self.mistaken if m is not None] or [highest + 1]),
            "[]",
            "I do not know.",
            "",
        )


def _star(right: bool, mistaken: bool) -> float:
    return (0.5 if mistaken else 1.0) if right else 0.0


def star_counts(
    counts: Sequence[int], *, mistaken: Sequence[int | None] = (), foreign: Sequence[int] = ()
) -> StarCounts:
    """Expect these counts; `mistaken` are the ones that were corrected, in the same order, or None."""
    return StarCounts(tuple(counts), tuple(mistaken), tuple(foreign))


def _said(reply: str) -> Sequence[int]:
    listed = last_readable(reply, read_numbers)
    if listed is not None:
        return listed
    given = given_number(reply)
    return [] if given is None else [given]


@dataclass(frozen=True, slots=True)
class StarSum(DoubtingMatcher):
    """Right if the reply says the sum of all counts; a wrong sum is traced to the list that came before it."""

    version: ClassVar[int] = 5

    counts: tuple[int, ...]
    mistaken: tuple[int | None, ...] = ()
    foreign: tuple[int, ...] = ()

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the sum that the reply gives; the reply to the previous question is taken as the list."""
        total = sum(self.counts)
        said = _said(reply)
        if not said:
            return unanswered(reply, Outcome.MALFORMED, "no number can be read from the reply")
        if said[-1] == total:
            return Verdict(Outcome.CORRECT, 1.0, "the sum is right")
        reason = f"the sum is {said[-1]}, not {total}"
        before = next((turn.reply.text for turn in reversed(turns[:-1]) if turn.kind == "ask"), "")
        if listed := numbers_in(before):
            reason += f"; {self._trace(listed, said[-1])}"
        return Verdict(Outcome.WRONG, 0.0, reason)

    def _trace(self, listed: Sequence[int], said: int) -> str:
        missing = len(set(self.counts) - set(listed))
        faults = StarCounts(self.counts, self.mistaken, self.foreign).faults(listed)
        flaws = ", ".join(filter(None, (f"{missing} not found" if missing else "", faults)))
        if not flaws:
            return "the list was right, the sum was not"
        added = "it is the sum of the list" if sum(listed) == said else "it is not even the sum of the list"
        return f"{added}, which was wrong: {flaws}"

    def right(self) -> Sequence[str]:
        """Return the sum alone, and in a sentence."""
        total = sum(self.counts)
        return (str(total), f"Altogether that makes {total}.", f"{total:,}")

    def wrong(self) -> Sequence[str]:
        """Return another number, the list, an abstention and nothing."""
        return (str(sum(self.counts) + 1), json.dumps([*self.counts, 0]), "I do not know.", "")


def star_sum(
    counts: Sequence[int], *, mistaken: Sequence[int | None] = (), foreign: Sequence[int] = ()
) -> StarSum:
    """Expect the sum of these counts, asked for after the counts themselves."""
    return StarSum(tuple(counts), tuple(mistaken), tuple(foreign))


@dataclass(frozen=True, slots=True)
class StarList(SetMatcher):
    """The mean over the stars, as the published program counts them, for replies of others."""

    dataset: ClassVar[str] = "counting_stars"
    columns: ClassVar[tuple[str, ...]] = ("official", "placed", "exact")

    counts: tuple[int, ...]
    test: str
    """`searching`, or `reasoning` where stars were first counted wrongly; the scenario of a run of ours."""
    mistaken: tuple[int, ...] = ()
    """In the reasoning test, the count that each star was first given."""
    size: int = 0
    """Length of the text in the units of the file; 0 if it does not say."""
    id: str = ""
    parts: tuple[float, ...] = ()
    """What each star is worth on a run's own page; empty for replies of others."""

    @classmethod
    def of_run(cls, expect: Matcher, name: str, span: int, parts: Sequence[float]) -> "StarList | None":
        """Return the matcher for a question that our runs ask with `star_counts`, by the scores of their page."""
        if isinstance(expect, StarCounts):
            return cls(expect.counts, name.split("/")[0], size=span, id=name, parts=tuple(parts))
        return expect if isinstance(expect, cls) else None

    def hits(self, reply: str) -> Hits:
        """Return which of the counts the reply has, and in what order."""
        found = score(reply, self.counts, self.size, mistaken=self.mistaken)
        return found._replace(parts=self.parts or found.parts)

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the list in the reply."""
        found = self.hits(reply)
        judged = by_score(sum(found.parts) / len(found.parts), reply, f"Counting-Stars' test of {self.test}")
        return replace(judged, parts=found.parts)

    @property
    def kind(self) -> str:
        """The test."""
        return self.test

    def scores(self, reply: str) -> Mapping[str, float]:
        """Return the official score, and ours about order."""
        found = self.hits(reply)
        means = (sum(found.parts), found.placed, found.exact * len(self.counts))
        return {name: value / len(self.counts) for name, value in zip(self.columns, means, strict=True)}

    def right(self) -> Sequence[str]:
        """Return the counts as the program reads them."""
        return (json.dumps(list(self.counts)),)

    def wrong(self) -> Sequence[str]:
        """Return another list, none, and nothing."""
        return (json.dumps([max(self.counts) + 1]), "[]", "")


EXAMPLES: tuple[Matcher, ...] = (
    StarList((15, 4, 29), "searching"),
    star_counts([15, 4, 29]),
    star_counts([10, 20], mistaken=[11, 19]),
    star_sum([15, 4, 29]),
)
"""Examples for the tests that guard every matcher."""
