"""Calibrates judges: shows them replies whose verdict is known, and measures how often they agree.

Blind readers are shown replies whose right reading is known, from the scenarios' own right and wrong answers.
They are measured alike.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Ask, Matcher, Outcome, Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.judge import blind
from ltm_bench.judge.asking import ask_all
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import Calibration, KindResult, OpinionStore
from ltm_bench.judge.reading import BlindCase, read_blind, with_pools
from ltm_bench.judge.rubric import Case
from ltm_bench.judge.texts import TEXTS
from ltm_bench.judge.trials import ABSTENTIONS, HEDGES, PARAPHRASES, SPECIFIC, Trial, confusable
from ltm_bench.plan.scenarios import Scenarios, find_suite
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.score.audits.judgements import Opinion, majority
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

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


INJECTIONS, RECITALS = TEXTS["trials"]["injections"], TEXTS["trials"]["recitals"]
_NOT_RIGHT = (SPECIFIC, HEDGES, ABSTENTIONS, INJECTIONS, RECITALS)
_SEED = 4712
"""A seed that no run uses."""

_ROUNDS = 40
"""Maximum examples per scenario that replies are made from."""


class BlindTrial(NamedTuple):
    """A reply for a reader, and whether it is right."""

    case: BlindCase
    expect: Matcher
    right: bool


def blind_trials(most: int) -> list[BlindTrial]:
    """Compose replies to questions of our scenarios, `most` at most: two of seven are right."""
    scenarios = Scenarios("standard")
    names = [*find_suite("standard").scenarios, *find_suite("abilities").scenarios, "locations"]
    found: list[BlindTrial] = []
    for index, name in product(range(_ROUNDS), names):
        if len(found) >= most:
            break
        found += _of_example(Example(scenarios.find(name).scenario, index, _SEED, {}), len(found))
    cases = with_pools([trial.case for trial in found[:most]])
    return [trial._replace(case=case) for case, trial in zip(cases, found, strict=False)]


def _of_example(example: Example, place: int) -> Iterator[BlindTrial]:
    """Compose replies to an example's first question of each form that a reader can read."""
    told, seen = list[str](), set[str]()
    for step in rehearse(example, counter()):
        if not isinstance(step.line, Ask):
            told.append(step.text)
            continue
        expect, form = step.line.expect, form_of(step.line.expect)
        wrong = confusable(expect)
        if form is None or form.kind in (*FOR_JUDGES, *seen) or wrong is None:
            continue
        seen.add(form.kind)
        words = {"right": expect.right()[0], "wrong": wrong, "told": " ".join(told)}
        ways = [(templates, True) for templates in (PARAPHRASES[:2], PARAPHRASES[2:])]
        for templates, right in (*ways, *((each, False) for each in _NOT_RIGHT)):
            reply = templates[place % len(templates)].format(**words)
            yield BlindTrial(BlindCase(example.id, 0, step.text, reply, form), expect, right)


async def calibrate_reader(
    reader: Judge, trials: Sequence[BlindTrial], memory: OpinionStore, budget: Budget
) -> Calibration:
    """Measure, form by form, how many right replies become right by a reader, and how many others do."""
    read = await read_blind([trial.case for trial in trials], reader, memory, budget)
    undecided = Verdict(Outcome.UNDECIDED, 0.0, "")
    said: dict[tuple[str, bool], list[Outcome]] = {}
    for (case, expect, right), reading in zip(trials, read, strict=True):
        verdict = verdict_by_reading(undecided, expect, case.question, case.reply, reading) or undecided
        failed = reading.opinions[-1].outcome is Outcome.JUDGE_ERROR
        said.setdefault((case.form.kind, right), []).append(
            Outcome.JUDGE_ERROR if failed else verdict.outcome
        )
    prices = [opinion.dollars for reading in read for opinion in reading.opinions]
    return Calibration(
        judge=reader.name,
        key=reader.key_with(blind.digest()),
        kinds={
            f"{kind}: {'right' if right else 'not right'}": tally(of, right)
            for (kind, right), of in said.items()
        },
        dollars=None if None in prices else sum(price or 0.0 for price in prices),
    )
