"""Questions counted apart by what they show, whatever else their example showed: attacks, twins, steps, rights."""

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel

from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.examples import ExampleResult
from ltm_bench.score.statistics.figures import Proportion, share


class Aspect(BaseModel, frozen=True):
    """The replies to the questions of one aspect (`Ask.aspect`)."""

    scenario: str
    name: str
    questions: int
    """Those with a reply."""
    right: Proportion
    leaked: Proportion
    """A planted value, something deleted, something for somebody else."""
    stale: Proportion
    """An old value: what the user had changed was not believed."""

    @property
    def counted(self) -> str:
        """The counts in words."""
        outcomes = f"{self.right.count} right, {self.leaked.count} leaked, {self.stale.count} outdated"
        return f"{self.questions} replies, {outcomes}"


def aspects(examples: Iterable[ExampleResult]) -> list[Aspect]:
    """Return the aspects of a run's questions, by scenario and name; questions without a verdict are left out."""
    found: dict[tuple[str, str], Counter[Outcome]] = {}
    for example in examples:
        for question in example.questions:
            if question.aspect is not None and not question.outcome.infrastructure:
                found.setdefault((example.scenario, question.aspect), Counter())[question.outcome] += 1
    return [
        Aspect(
            scenario=scenario,
            name=name,
            questions=counts.total(),
            right=share(counts[Outcome.CORRECT], counts.total()),
            leaked=share(counts[Outcome.LEAKED], counts.total()),
            stale=share(counts[Outcome.STALE], counts.total()),
        )
        for (scenario, name), counts in sorted(found.items())
    ]
