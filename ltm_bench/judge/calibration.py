"""Calibrates judges: shows them replies whose verdict is known, and measures how often they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Ask, Matcher, Outcome
from ltm_bench.core.tokens import counter
from ltm_bench.judge.asking import ask_all
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.memory import Calibration, Memory
from ltm_bench.judge.rubric import Case
from ltm_bench.matchers.lists import ListsAll
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.phrases import Says
from ltm_bench.matchers.quotes import Retells
from ltm_bench.plan.scenarios import Scenarios, find_suite
from ltm_bench.score.judgements import majority
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

PARAPHRASES = (
    "If I remember rightly: {right}",
    "{right} At least that is what you told me last.",
    "Let me think … yes, I have it. {right} Is there anything else?",
)
HEDGES = (
    "It could be one of two. Either: {right} Or else: {wrong} I cannot choose between them.",
    "Perhaps this: {wrong} Or perhaps that: {right} It might also be neither.",
)
ABSTENTIONS = (
    "I am sorry, but I have nothing about that in my memory.",
    "Could you remind me? We have talked about so much that this one is gone.",
)
_TEXTUAL = (NamesOnly, Retells, Says, ListsAll)
"""Matchers for which the question and a right reply tell a judge everything that it needs."""


def trials(most: int) -> list[Trial]:
    """Compose replies whose verdict is known, from the scenarios of the standard suite."""
    count = counter()
    scenarios = Scenarios("standard")
    found: list[Trial] = []
    examples = [
        Example(scenarios.find(name).scenario, index, 4711, {})
        for index in range(4)
        for name in find_suite("standard").scenarios
    ]
    for example in examples:
        for step in rehearse(example, count):
            if isinstance(step.line, Ask) and isinstance(step.line.expect, _TEXTUAL):
                found += _trials_of(step.text, step.line.expect, len(found))
                break
    return found[:most]


def _trials_of(question: str, expect: Matcher, place: int) -> Iterator[Trial]:
    right, wrong = expect.right()[0], expect.wrong()[0]
    doubt = "the program cannot read the reply"
    replies = {
        "right": expect.right()[-1],
        "paraphrased": PARAPHRASES[place % len(PARAPHRASES)].format(right=right),
        "wrong": wrong,
        "hedging": HEDGES[place % len(HEDGES)].format(right=right, wrong=wrong),
        "abstaining": ABSTENTIONS[place % len(ABSTENTIONS)],
    }
    if isinstance(expect, NamesOnly) and expect.stale:
        replies["stale"] = f"It is {expect.stale[-1]}."
    for kind, reply in replies.items():
        yield Trial(kind, Case(question, right, doubt, reply))


@dataclass(frozen=True)
class Trial:
    """A case whose right verdict is known."""

    kind: str
    """`right`, `paraphrased`, `wrong`, `stale`, `hedging` or `abstaining`."""
    case: Case

    @property
    def right(self) -> bool:
        """Whether a judge should call it right."""
        return self.kind in ("right", "paraphrased")


class Calibrated(NamedTuple):
    """What came of a calibration."""

    calibration: Calibration
    outcomes: Sequence[Outcome]
    """What the judge said of each trial."""


async def calibrate(
    judge: Judge,
    trials: Sequence[Trial],
    memory: Memory,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
) -> Calibrated:
    """Calibrate a judge.

    Args:
        judge: The judge to calibrate; its result is stored in `memory`.
        trials: Cases whose right verdict is known.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
    """
    heard = await ask_all([judge], [trial.case for trial in trials], memory, budget, on_done)
    said = [majority(opinions).outcome for opinions in heard]
    right = [outcome is Outcome.CORRECT for trial, outcome in zip(trials, said, strict=True) if trial.right]
    other = [
        outcome not in (Outcome.CORRECT, Outcome.JUDGE_ERROR)
        for trial, outcome in zip(trials, said, strict=True)
        if not trial.right
    ]
    costs = [opinion.dollars for opinions in heard for opinion in opinions]
    calibration = Calibration(
        judge=judge.name,
        key=judge.key,
        cases=len(trials),
        sensitivity=sum(right) / max(len(right), 1),
        specificity=sum(other) / max(len(other), 1),
        unreadable=said.count(Outcome.JUDGE_ERROR),
        dollars=None if None in costs else sum(each or 0.0 for each in costs),
    )
    memory.keep_calibration(calibration)
    return Calibrated(calibration, said)
