"""From which length on a memory is cheaper than the whole conversation in the prompt, or one agent than another."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from pydantic import BaseModel, computed_field

from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.course import Step

_FIGURES: Mapping[str, Callable[[Step], float | None]] = {
    "costs less": lambda step: step.dollars,
    "sends fewer tokens a call": lambda step: step.prompt,
}
"""By what is said of the one that takes less: the dollars of a whole run of that length, and a call's prompt there."""


_LEAST = 0.05
"""The share by which two agents must differ in the end."""


class BreakEven(BaseModel):
    """Where one agent begins to take less than another, and does so until the conversation's end."""

    less: str
    """The agent that takes less from there on."""
    more: str
    does: str
    """In what: `costs less`, as a run that ends there; `sends fewer tokens a call`."""
    position: int
    """In tokens of the conversation."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def sentence(self) -> str:
        """The same in words."""
        return f"from {self.position:,} tokens of conversation on, {self.less} {self.does} than {self.more}"


def break_even(
    runs: Mapping[tuple[str, int], Sequence[Scored]], span: int, first: str, second: str
) -> list[BreakEven]:
    """Return where one of two entrants begins to take less, from the first seed that both were run with.

    Nothing of what is unknown, or if the same one takes less all along. Nor if it changes more than once, or if they
    differ by less than `_LEAST` in the end: that is chance.
    """
    theirs = {run.results.seed: run for run in runs[second, span]}
    both = [(run, theirs[run.results.seed]) for run in runs[first, span] if run.results.seed in theirs]
    found: list[BreakEven] = []
    if not both or any(run.manifest.suite.isolated for run in both[0]):
        return found
    one, other = (run.results.course.steps for run in both[0])
    for does, of in _FIGURES.items():
        ours, others = ([each for step in steps if (each := of(step)) is not None] for steps in (one, other))
        if (len(ours), len(others)) != (len(one), len(other)) or not others:
            continue  # it is not known everywhere
        places = [step.position for step in one if step.position <= other[-1].position]
        at = [step.position for step in other]
        gaps = [value - np.interp(place, at, others) for place, value in zip(places, ours, strict=False)]
        before = [i for i, gap in enumerate(gaps) if np.sign(gap) != np.sign(gaps[-1])]
        once = bool(before) and before == [*range(len(before))]
        if once and abs(gaps[-1]) > _LEAST * others[-1]:
            less, more = (first, second) if gaps[-1] < 0 else (second, first)
            found.append(BreakEven(less=less, more=more, does=does, position=places[before[-1] + 1]))
    return found
