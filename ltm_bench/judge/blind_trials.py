"""Replies whose right reading is known, from the scenarios' own right and wrong answers; and readers of them."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Ask, Matcher, Outcome, Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.judge import blind
from ltm_bench.judge.calibration import tally
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import Calibration, OpinionStore
from ltm_bench.judge.reading import BlindCase, read_blind, with_pools
from ltm_bench.judge.texts import TEXTS
from ltm_bench.judge.trials import ABSTENTIONS, HEDGES, PARAPHRASES, SPECIFIC, confusable
from ltm_bench.plan.scenarios import Scenarios, find_suite
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

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
