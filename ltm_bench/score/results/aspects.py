"""Questions counted apart by what they show, whatever else their example showed: attacks, twins, steps, rights.

Questions whose aspect has details (`to update; 2 steps; happened late`) are counted together, and by each detail.
"""

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel

from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.statistics.figures import Proportion, share


class Aspect(BaseModel, frozen=True):
    """The replies to the questions of one aspect (`Ask.aspect`), or of those with one of its details."""

    scenario: str
    name: str
    questions: int
    """Those with a reply."""
    right: Proportion
    leaked: Proportion
    """A planted value, something deleted, something for somebody else."""
    stale: Proportion
    """An old value: what the user had changed was not believed, or what followed was not seen."""
    over_updated: Proportion | None = None
    """What would be right if something had changed it. None in results of earlier versions, as is the next."""
    not_known: Proportion | None = None
    """That the answer is not known, where it was; where nobody can know, that is right."""

    @property
    def counted(self) -> str:
        """The counts in words."""
        outcomes = f"{self.right.count} right, {self.leaked.count} leaked, {self.stale.count} outdated"
        further = ((self.over_updated, "over-updated"), (self.not_known, "not known"))
        more = "".join(f", {each.count} {word}" for each, word in further if each is not None and each.count)
        return f"{self.questions} replies, {outcomes}{more}"

    @property
    def whole(self) -> bool:
        """Whether it is all of an aspect, not a detail."""
        return "; " not in self.name


def aspects(examples: Iterable[ExampleResult]) -> list[Aspect]:
    """Return the aspects of a run's questions, by scenario and name; questions without a verdict are left out."""
    found: dict[tuple[str, str], Counter[Outcome]] = {}
    for example in examples:
        for question in example.questions:
            if question.aspect is not None and not question.outcome.infrastructure:
                whole, *details = question.aspect.split("; ")
                for name in (whole, *(f"{whole}; {each}" for each in details)):
                    found.setdefault((example.scenario, name), Counter())[question.outcome] += 1
    return [
        Aspect(
            scenario=scenario,
            name=name,
            questions=counts.total(),
            right=share(counts[Outcome.CORRECT], counts.total()),
            leaked=share(counts[Outcome.LEAKED], counts.total()),
            stale=share(counts[Outcome.STALE], counts.total()),
            over_updated=share(counts[Outcome.OVERDONE], counts.total()),
            not_known=share(counts[Outcome.ABSTAINED], counts.total()),
        )
        for (scenario, name), counts in sorted(found.items())
    ]
