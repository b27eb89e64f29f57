"""Positions of the same questions in runs of different modes: a forked question takes up no room."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from pydantic import BaseModel

from ltm_bench.core.seeds import Seed
from ltm_bench.score.results.figures import distance
from ltm_bench.score.results.run import Results


class Placed(BaseModel, frozen=True):
    """A question's position in a run."""

    position: int
    """Tokens of the conversation before it."""
    distance: int | None
    """Tokens between it and the last needle before it; None if there was none."""


class Shift(BaseModel, frozen=True):
    """A question at different positions in different modes."""

    span: int
    seed: Seed
    example: str
    question: int
    """Its number within the example, from 1."""
    placed: dict[str, Placed]
    """By mode."""

    @property
    def by(self) -> int:
        """Tokens between its first and last position."""
        places = [each.position for each in self.placed.values()]
        return max(places) - min(places)

    @property
    def nearer(self) -> int | None:
        """Tokens by which its distance from the last needle differs; None if it has none."""
        apart = [each.distance for each in self.placed.values() if each.distance is not None]
        return max(apart) - min(apart) if len(apart) == len(self.placed) else None


def find_shifts(runs: Sequence[Results]) -> list[Shift]:
    """Return the questions whose positions differ between runs of the same span and seed in different modes.

    Of several runs of a mode, the first counts; a question that one of the modes did not reach is left out.
    """
    placed: dict[tuple[int, Seed, str, int, str], dict[str, Placed]] = defaultdict(dict)
    if len({results.mode for results in runs}) < 2:
        return []
    for results in runs:
        for example in results.examples:
            for number, question in enumerate(example.questions, start=1):
                if question.position is not None:
                    asked = (results.span, results.seed, example.id, number, question.expected)
                    at = Placed(position=question.position, distance=distance(example, question))
                    placed[asked].setdefault(results.mode, at)
    return [
        Shift(span=span, seed=seed, example=name, question=number, placed=places)
        for (span, seed, name, number, _), places in placed.items()
        if len({each.position for each in places.values()}) > 1
    ]


def shift_lines(found: Sequence[Shift]) -> Iterator[str]:
    """Yield a line about the shifts for each span."""
    for span in dict.fromkeys(each.span for each in found):
        by = sorted(each.by for each in found if each.span == span)
        nearer = [each.nearer for each in found if each.span == span and each.nearer is not None]
        yield (
            f"{len(by)} questions have different positions in different modes: {median(by):,.0f} tokens apart in "
            f"the median, {by[-1]:,} at most; their distances from their needles differ by "
            f"{max(nearer, default=0):,} tokens at most"
        )
