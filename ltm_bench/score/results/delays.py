"""How long a thing that was told takes to become readable: the questions that did not wait for an indexer."""

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from pydantic import BaseModel

from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.examples import ExampleResult, Question
from ltm_bench.score.statistics.figures import Proportion, share

_TAIL = 0.025
"""The chance of each end of the interval to exclude the truth."""


class Delay(BaseModel, frozen=True):
    """The questions that were asked some seconds after the telling."""

    seconds: float
    """Their median."""
    questions: int
    """Those about things that were known in the end."""
    readable: Proportion


class DelayCurve(BaseModel, frozen=True):
    """How much can be read after how long, in one scenario."""

    scenario: str
    delays: list[Delay]
    """By seconds."""
    half: float | None
    """Seconds after which half is readable, interpolated; None if less than half ever was."""
    low: float
    """The 95 % interval's ends: the longest delay after which surely less than half was readable, 0 if there is none,
    and the shortest after which surely more than half was, None if there is none."""
    high: float | None

    @property
    def sentence(self) -> str:
        """The curve in words."""
        shares = ", ".join(f"{each.readable.mean:.2f} after {each.seconds:.1f} s" for each in self.delays)
        longest = f"more than {self.delays[-1].seconds:.1f} s"
        half = longest if self.half is None else f"{self.half:.1f} s"
        high = "no upper end" if self.high is None else f"{self.high:.1f} s"
        return f"readable without waiting: {shares}; half after {half} (95 %: {self.low:.1f} s to {high})"


def delays(examples: Iterable[ExampleResult]) -> list[DelayCurve]:
    """Return the delay curves of a run's questions, by scenario.

    What was not known in the end says nothing about its delay, and is left out, as are questions without a verdict and
    those whose telling another process heard.
    """
    asked: dict[str, dict[str | None, list[Question]]] = {}
    for example in examples:
        for question in example.questions:
            if (
                question.since_told is not None
                and question.counts == 1
                and not question.outcome.infrastructure
            ):
                of = asked.setdefault(example.scenario, {})
                of.setdefault(question.aspect, []).append(question)
    return [
        _curve(scenario, sorted(map(_delay, of.values()), key=lambda delay: delay.seconds))
        for scenario, of in asked.items()
    ]


def _delay(questions: Sequence[Question]) -> Delay:
    return Delay(
        seconds=round(median(each.since_told or 0.0 for each in questions), 3),
        questions=len(questions),
        readable=share(sum(each.outcome is Outcome.CORRECT for each in questions), len(questions)),
    )


def _curve(scenario: str, found: list[Delay]) -> DelayCurve:
    less = [e.seconds for e in found if _tail(e.questions, e.readable.count) <= _TAIL]
    more = [e.seconds for e in found if _tail(e.questions, e.questions - e.readable.count) <= _TAIL]
    low = max(less, default=0.0)
    high = min((each for each in more if each > low), default=None)
    return DelayCurve(scenario=scenario, delays=found, half=_half(found), low=low, high=high)


def _tail(n: int, count: int) -> float:
    """Return how likely at most so many of n are readable, if half is: the sign test."""
    return sum(math.comb(n, i) for i in range(count + 1)) / float(2**n)


def _half(found: Sequence[Delay]) -> float | None:
    """Return where the shares, made to rise, cross a half."""
    before = 0.0, 0.0
    for seconds, readable in _rising(found):
        if readable >= 0.5:
            steep = (0.5 - before[1]) / (readable - before[1])
            return round(before[0] + steep * (seconds - before[0]), 3)
        before = seconds, readable
    return None


def _rising(found: Sequence[Delay]) -> Iterator[tuple[float, float]]:
    """Yield seconds and share, pooled where a share is lower than an earlier one (isotonic regression)."""
    blocks: list[list[Delay]] = []
    for each in found:
        blocks.append([each])
        while len(blocks) > 1 and _share(blocks[-2]) >= _share(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    for block in blocks:
        yield from ((each.seconds, _share(block)) for each in block)


def _share(block: Sequence[Delay]) -> float:
    return sum(each.readable.count for each in block) / sum(each.questions for each in block)
