"""From verdicts to the headline: the only place with its formula.

The score of an example is the mean of its questions' verdicts, that of a scenario the mean over its examples, the
headline the sum over scenarios. A question may need what another one of its example shows: if staying silent is right,
it counts only as far as the example proved that there was something to be silent about. Infrastructure errors
are never "wrong" and never leave the denominator: a result with any of them is incomplete and has no headline score.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import BaseModel, computed_field

from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Outcome, Verdict
from ltm_bench.score.audits.judgements import Judgement, Override, majority, reply_hash
from ltm_bench.score.results.examples import DECIDERS, JUDGE, PERSON, ExampleResult, Question, ScenarioResult
from ltm_bench.score.results.retrieval import Retrieval, lost, ranking
from ltm_bench.score.statistics.intervals import wilson


class Leaks(BaseModel, frozen=True):
    """How often the agent said something that it must not."""

    leaked: int
    """Replies."""
    questions: int
    """Questions with something to withhold, and a reply."""
    keeps_users: bool | None = None
    """Whether the agent says that it keeps users apart; None if it had one user."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def rate(self) -> float:
        """Leaks per question."""
        return self.leaked / self.questions if self.questions else 0.0


def mean(scores: Iterable[float | None]) -> float | None:
    """Return the mean of the scores that are known; None if there is none."""
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None


def by_scenario(examples: Iterable[ExampleResult]) -> dict[str, list[float]]:
    """Return the known scores of examples, by scenario."""
    return grouped((each.scenario, each.score) for each in examples if each.score is not None)


def headline(by_scenario: Mapping[str, Iterable[float | None]]) -> float:
    """Return the sum over scenarios of the mean over the examples whose scores are known."""
    return sum(mean(scores) or 0.0 for scores in by_scenario.values())


def gates(asked: Iterable[tuple[str | None, float | None]]) -> dict[str, float]:
    """Return how far each thing was shown: the lowest score of the questions that show it, by name.

    Args:
        asked: What each question shows, if anything, and its score; one without a score shows nothing.
    """
    shown: dict[str, float] = {}
    for name, score in asked:
        if name is not None:
            shown[name] = min(shown.get(name, 1.0), score or 0.0)
    return shown


def gated(questions: Sequence[Question]) -> list[Question]:
    """Return an example's questions, each with how much of its score counts."""
    shown = gates((q.shows, q.score) for q in questions)
    return [q if q.needs is None else replace(q, counts=shown.get(q.needs, 0.0)) for q in questions]


def own_score(question: Question) -> float | None:
    """Return a question's score; None, never 0, for an infrastructure error: the agent had no chance to be wrong."""
    return None if question.outcome.infrastructure else question.score


def example_score(
    questions: Sequence[Question], score: Callable[[Question], float | None] = own_score
) -> float | None:
    """Return the mean over an example's questions of what counts, or None if one of them has no score.

    Args:
        questions: The questions.
        score: What each of them scores. Other scores open and close other gates than results were gated by.
    """
    asked = [(q.shows, q.needs, found) for q in questions if (found := score(q)) is not None]
    return mean(counted(asked)) if len(asked) == len(questions) else None


def counted(asked: Sequence[tuple[str | None, str | None, float]]) -> list[float]:
    """Return how much of each score counts, given what each question shows, what it needs, and its score."""
    shown = gates((shows, score) for shows, _, score in asked)
    return [score * (1.0 if needs is None else shown.get(needs, 0.0)) for _, needs, score in asked]


def summarise_scenario(
    name: str, summary: str, skills: Sequence[str], examples: Sequence[ExampleResult]
) -> ScenarioResult:
    """Average the examples of one scenario."""
    scores = [e.score for e in examples if e.score is not None]
    so_far = mean(scores)
    complete = len(scores) == len(examples) and so_far is not None
    chances = [
        chance for e in examples for chance in counted([(q.shows, q.needs, q.chance) for q in e.questions])
    ]
    return ScenarioResult(
        name=name,
        summary=summary,
        skills=tuple(skills),
        n=len(examples),
        score=so_far if complete else None,
        score_so_far=so_far,
        interval=None if so_far is None else wilson(so_far, len(scores)),
        chance=sum(chances) / len(chances) if chances else 0.0,
        outcomes=count_outcomes(examples),
        lost=lost(retrievals(examples)),
        ranking=ranking(retrievals(examples)),
    )


def decide(question: Question, judgement: Judgement | None, override: Override | None) -> Question:
    """Return a question with its final verdict: a person's, else what it has, else the judges'.

    Opinions on a different reply are ignored.
    """
    if judgement is None and override is None and question.outcome is not Outcome.UNDECIDED:
        return question
    said, matched = reply_hash(question.reply or ""), question.verdict
    changes: dict[str, Any] = {}
    heard = judgement.opinions if judgement is not None and judgement.reply == said else ()
    # A published scorer asks a judge about every reply, even if text alone could tell.
    published = any(opinion.scores for opinion in heard)
    if matched.outcome is Outcome.UNDECIDED or published:
        changes |= {"matched": matched.outcome, "doubt": matched.reason}
        if heard:
            verdict = majority(heard)
            changes |= {"verdict": verdict, "opinions": heard}
            changes["decided_by"] = "" if verdict.outcome.infrastructure else JUDGE
    if override is not None and override.reply == said:
        by_hand = f"{override.reviewer}, by hand: {override.reason}"
        verdict = Verdict(override.outcome, override.score, by_hand)
        # A blind reader's verdict is not the matcher's.
        changes |= {"matched": question.matched or matched.outcome, "verdict": verdict}
        overruled = changes.get("decided_by", question.decided_by)
        changes |= {"override": override, "decided_by": PERSON, "overruled": overruled}
    if "verdict" in changes:
        # Judges and people do not read a reply part by part, so needle recall goes on by the matcher's parts.
        changes["verdict"] = replace(changes["verdict"], parts=matched.parts)
    return replace(question, **changes) if changes else question


def worth_of_undecided(examples: Sequence[ExampleResult]) -> float:
    """Return how much higher the headline would be if every undecided question were right."""
    count = Counter(example.scenario for example in examples)
    return sum(worth(example) / count[example.scenario] for example in examples)


def worth(example: ExampleResult) -> float:
    """Return how much higher an example's score would be if its undecided questions were right."""
    if all(question.outcome is not Outcome.UNDECIDED for question in example.questions):
        return 0.0  # most are decided, and need no copies

    def score(question: Question, undecided: float) -> float:
        doubtful = question.outcome is Outcome.UNDECIDED and question.score is not None
        return undecided if doubtful else own_score(question) or 0.0

    most, least = (example_score(example.questions, partial(score, undecided=each)) for each in (1.0, 0.0))
    return (most or 0.0) - (least or 0.0)


def scores_by_judge(examples: Sequence[ExampleResult]) -> dict[str, float]:
    """Return the sum over scenarios by each judge alone, for judges that decided every doubtful reply."""
    doubtful = [q for e in examples for q in e.questions if q.opinions and q.override is None]
    names = dict.fromkeys(o.judge for q in doubtful for o in q.opinions)
    heard = [
        {o.judge for o in q.opinions if o.outcome is not Outcome.JUDGE_ERROR and o.judge in names}
        for q in doubtful
    ]
    found = {}
    for judge in names:
        if not all(judge in each for each in heard):
            continue
        by_scenario: dict[str, list[float | None]] = {}
        for example in examples:
            score = example_score(example.questions, partial(_by_judge, judge=judge))
            if score is None:
                return {}
            if any(question.outcome.infrastructure for question in example.questions):
                continue  # judges disagree, so that it has no verdict, and is part of nobody's score
            by_scenario.setdefault(example.scenario, []).append(score)
        found[judge] = headline(by_scenario)
    return found


def _by_judge(question: Question, judge: str) -> float | None:
    if question.override is None and question.opinions:
        return max(
            float(o.outcome is Outcome.CORRECT) if o.score is None else o.score
            for o in question.opinions
            if o.judge == judge
        )
    return own_score(question)


def retrievals(examples: Iterable[ExampleResult]) -> list[Retrieval]:
    """Return the known retrievals of all questions."""
    return [q.retrieval for e in examples for q in e.questions if q.retrieval is not None]


def leaks(examples: Iterable[ExampleResult], *, keeps_users: bool | None = None) -> Leaks | None:
    """Return how often a secret was leaked; None if there was nothing to withhold.

    Args:
        examples: The examples.
        keeps_users: Whether the agent says that it keeps users apart; None if it had one user.
    """
    asked = [q for e in examples for q in e.questions if q.can_leak and q.reply is not None]
    if not asked:
        return None
    leaked = sum(q.outcome is Outcome.LEAKED for q in asked)
    return Leaks(leaked=leaked, questions=len(asked), keeps_users=keeps_users)


def count_deciders(examples: Sequence[ExampleResult]) -> dict[str, int]:
    """Count the verdicts on replies by who gave them."""
    counts = Counter(question.decided_by for example in examples for question in example.questions)
    return {name: counts[name] for name in DECIDERS if counts[name]}


def count_outcomes(examples: Sequence[ExampleResult]) -> dict[Outcome, int]:
    """Count the outcomes of all questions, in the order in which they are defined."""
    counts = Counter(outcome for example in examples for outcome in example.outcomes)
    return {outcome: counts[outcome] for outcome in Outcome if counts[outcome]}
