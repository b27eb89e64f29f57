"""Calibrates judges: shows them replies whose verdict is known, and measures how often they agree."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.asking import ask_all
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import Calibration, KindResult, OpinionStore
from ltm_bench.judge.rubric import Case
from ltm_bench.judge.trials import Trial
from ltm_bench.score.audits.judgements import Opinion, majority

REPEATED = 40
"""Number of cases asked repeatedly, to see whether the judge is consistent."""


class Calibrated(NamedTuple):
    """The result of a calibration."""

    calibration: Calibration
    outcomes: Sequence[Outcome]
    """The judge's opinion on each trial."""


def repeated(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials to repeat: as many kinds and scenarios as possible."""
    step = max(1, -(-len(trials) // REPEATED))
    return [*trials][::step]


async def calibrate(
    judge: Judge,
    trials: Sequence[Trial],
    memory: OpinionStore,
    budget: Budget,
    on_done: Callable[[], None] = lambda: None,
    *,
    times: int = 1,
) -> Calibrated:
    """Calibrate a judge.

    Args:
        judge: The judge to calibrate; its result is stored in `memory`.
        trials: Cases whose right verdict is known.
        memory: Opinions so far, as in `ask_all`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        on_done: Called after each opinion.
        times: How often each of the `repeated` trials is asked.
    """
    heard = await ask_all([judge], [trial.case for trial in trials], memory, budget, on_done)
    said = [majority(opinions).outcome for opinions in heard]
    kinds = {
        kind: tally(
            [outcome for trial, outcome in zip(trials, said, strict=True) if trial.kind == kind], right
        )
        for kind, right in dict.fromkeys((trial.kind, trial.right) for trial in trials)
    }
    again = [trial.case for trial in repeated(trials)] if times > 1 else []
    answers: dict[Case, list[Opinion]] = {case: [] for case in again}
    for time in range(1, times + 1 if again else 1):
        for case, opinions in zip(
            again, await ask_all([judge], again, memory, budget, on_done, time=time), strict=True
        ):
            answers[case] += opinions
            heard += [opinions] if time > 1 else []
    costs = [opinion.dollars for opinions in heard for opinion in opinions]
    calibration = Calibration(
        judge=judge.name,
        key=judge.key,
        kinds=kinds,
        repeated=len(again),
        flipped=sum(_flipped(opinions) for opinions in answers.values()),
        dollars=None if None in costs else sum(each or 0.0 for each in costs),
    )
    memory.keep_calibration(calibration)
    return Calibrated(calibration, said)


def tally(said: Sequence[Outcome], right: bool) -> KindResult:
    """Count the outcomes of replies that are all right, or all not right."""
    return KindResult(
        n=len(said),
        accepted=said.count(Outcome.CORRECT),
        unreadable=said.count(Outcome.JUDGE_ERROR),
        right=right,
    )


def _flipped(opinions: Sequence[Opinion]) -> bool:
    """Whether a judge called the same reply both right and not right."""
    heard = [each.outcome for each in opinions if each.outcome is not Outcome.JUDGE_ERROR]
    return len({outcome is Outcome.CORRECT for outcome in heard}) > 1
