"""Quotes the cost of asking a judge, before it is asked."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import OpinionStore
from ltm_bench.judge.rubric import Case, prompt
from ltm_bench.judge.saying import AT

ANSWER = 60
"""Tokens of a typical answer: a sentence and a word, as JSON."""


class Quote(NamedTuple):
    """The number of calls, and their price."""

    calls: int
    known: int
    """Stored answers, which cost nothing."""
    likely: Decimal | None
    """Price with answers of the usual length; None if unknown."""
    most: Decimal | None
    """Price with the longest possible answers."""
    free: bool

    def __str__(self) -> str:
        """Return it in one line."""
        said = "1 call" if self.calls == 1 else f"{self.calls} calls"
        if self.known:
            said += f", {self.known} answered earlier"
        if self.free or not self.calls:
            return f"{said}, no cost"
        if self.likely is None or self.most is None:
            return f"{said}, price unknown"
        return f"{said}, about {_spelt(self.likely)}, at most {_spelt(self.most)}"


def _spelt(price: Decimal) -> str:
    return f"${price:.2f}" if price >= 1 else f"${price:.4f}"


def quote(judge: Judge, cases: Iterable[tuple[Case, int]], memory: OpinionStore) -> Quote:
    """Quote the cost of asking a judge about these cases, each for the n-th time."""
    return quote_texts(
        judge, ((prompt(case), memory.opinion(judge, case, time) is not None) for case, time in cases)
    )


def quote_texts(judge: Judge, texts: Iterable[tuple[str, bool]]) -> Quote:
    """Quote the cost of sending a judge these texts, each with whether its answer is stored."""
    agent = judge.make()
    calls = known = 0
    likely: Decimal | None = Decimal()
    most: Decimal | None = Decimal()
    for text, is_known in texts:
        if is_known:
            known += 1
            continue
        calls += 1
        if agent.free:
            continue
        used = agent.reserve(Message(text, AT, 0))
        if used is None:
            most = likely = None
            continue
        few = min(ANSWER, used.output)
        usual = replace(used, uncached=used.prompt, cache_read=0, cache_write=0, output=few)
        most, likely = _plus(most, dollars(used)), _plus(likely, dollars(usual))
    return Quote(calls, known, likely, most, agent.free)


def _plus(total: Decimal | None, price: Decimal | None) -> Decimal | None:
    return None if total is None or price is None else total + price
