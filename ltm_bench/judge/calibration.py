"""Calibrates judges: shows them replies whose verdict is known, and measures how often they agree.

Blind readers are shown replies whose right reading is known, from the scenarios' own right and wrong answers.
They are measured alike.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from ltm_bench.core.messages import Ask, Matcher, Outcome, Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.judge import blind, rubric
from ltm_bench.judge.asking import by_rubric
from ltm_bench.judge.interview import Interview
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import Calibration, KindResult
from ltm_bench.judge.reading import BlindCase, read_blind, with_pools
from ltm_bench.judge.texts import TEXTS
from ltm_bench.judge.trials import ABSTENTIONS, HEDGES, PARAPHRASES, SPECIFIC, Trial, composed, confusable
from ltm_bench.plan.scenarios import find_suite
from ltm_bench.score.audits.blind import verdict_by_reading
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.score.audits.judgements import Opinion
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

T = TypeVar("T")

REPEATED = 40
"""Number of cases asked repeatedly, to see whether the judge is consistent."""


def repeated(trials: Sequence[T]) -> list[T]:
    """Return the trials to repeat: as many kinds and scenarios as possible."""
    step = max(1, -(-len(trials) // REPEATED))
    return [*trials][::step]


async def calibrate(
    judge: Judge, trials: Sequence[Trial], interview: Interview, *, times: int = 1
) -> Calibration:
    """Calibrate a judge. Raises BudgetReached.

    Args:
        judge: The judge.
        trials: Cases whose right verdict is known.
        interview: Puts them to it.
        times: How often each of the `repeated` trials is asked.
    """
    heard = [said for (said,) in await interview.opinions([judge], [by_rubric(each.case) for each in trials])]
    again = repeated([*zip(trials, heard, strict=True)]) if times > 1 else []
    answers = {trial.case: [opinion] for trial, opinion in again}
    for time in range(2, times + 1):
        said = await interview.opinions([judge], [by_rubric(case) for case in answers], time=time)
        for case, opinions in zip(answers, said, strict=True):
            answers[case] += opinions
    verdicts = [(trial.kind, trial.right, said.outcome) for trial, said in zip(trials, heard, strict=True)]
    every = [(trial.about, opinion) for trial, opinion in zip(trials, heard, strict=True)]
    every += [(trial.about, opinion) for trial, _ in again for opinion in answers[trial.case][1:]]
    flipped = sum(_flipped(opinions) for opinions in answers.values())
    return _summed(judge, rubric.digest(), verdicts, every, repeated=len(again), flipped=flipped)


_QUOTED = re.compile(r""":? ['"{<]""")


def _summed(
    judge: Judge,
    rubric: str,
    said: Sequence[tuple[str, bool, Outcome]],
    every: Sequence[tuple[str, Opinion]],
    **repeats: int,
) -> Calibration:
    """Count outcomes by the kind of reply, each given with whether such replies are right.

    What came to nothing is counted by its reason, and by the kind of question, with which each opinion is given.
    """
    costs = [opinion.dollars for _, opinion in every]
    failed = [(about, each.reason) for about, each in every if each.outcome is Outcome.JUDGE_ERROR]
    # without what the answer says, which differs from one to the next
    lost = Counter(_QUOTED.split(reason)[0][:150] for _, reason in failed)
    asked, nothing = (Counter(about for about, _ in some) for some in (every, failed))
    return Calibration(
        judge=judge.name,
        key=judge.key_with(rubric),
        kinds={
            kind: _tally([outcome for of, _, outcome in said if of == kind], right)
            for kind, right in dict.fromkeys((kind, right) for kind, right, _ in said)
        },
        dollars=None if None in costs else sum(each or 0.0 for each in costs),
        unread=dict(lost.most_common()),
        unread_about={about: (many, asked[about]) for about, many in nothing.most_common()},
        **repeats,
    )


def _tally(said: Sequence[Outcome], right: bool) -> KindResult:
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


class BlindTrial(NamedTuple):
    """A reply for a reader, and whether it is right."""

    case: BlindCase
    expect: Matcher
    right: bool


def blind_trials(most: int) -> list[BlindTrial]:
    """Compose replies to questions of our scenarios, `most` at most: two of seven are right."""
    names = [*find_suite("standard").scenarios, *find_suite("abilities").scenarios, "locations"]
    found = composed(names, _SEED, most, _of_example)
    cases = with_pools([trial.case for trial in found])
    return [trial._replace(case=case) for case, trial in zip(cases, found, strict=True)]


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


async def calibrate_reader(reader: Judge, trials: Sequence[BlindTrial], interview: Interview) -> Calibration:
    """Measure, form by form, how many right replies become right by a reader, and how many others do."""
    read = await read_blind([trial.case for trial in trials], reader, interview)
    undecided = Verdict(Outcome.UNDECIDED, 0.0, "")
    said = []
    for (case, expect, right), reading in zip(trials, read, strict=True):
        verdict = verdict_by_reading(undecided, expect, case.question, case.reply, reading) or undecided
        failed = reading.opinions[-1].outcome is Outcome.JUDGE_ERROR
        kind = f"{case.form.kind}: {'right' if right else 'not right'}"
        said.append((kind, right, Outcome.JUDGE_ERROR if failed else verdict.outcome))
    every = [(t.case.form.kind, said) for t, of in zip(trials, read, strict=True) for said in of.opinions]
    return _summed(reader, blind.digest(), said, every)
