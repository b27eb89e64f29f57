"""Replies with known verdicts, composed from the scenarios' own right and wrong answers. The same every time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TypeVar

from ltm_bench.core.clock import stamp
from ltm_bench.core.messages import Ask, Matcher, Outcome, Tell
from ltm_bench.core.tokens import counter
from ltm_bench.judge.rubric import Case, Earlier
from ltm_bench.judge.texts import TEXTS
from ltm_bench.matchers.lists import ListsAll
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.phrases import Says
from ltm_bench.matchers.quotes import Retells
from ltm_bench.plan.scenarios import Scenarios, find_suite
from ltm_bench.score.audits.forms import form_of
from ltm_bench.script.rehearsal import ideal_reply, rehearse
from ltm_bench.script.scenario import Example

T = TypeVar("T")

KINDS = {
    "right": True,
    "paraphrased": True,
    "right, the key is wrong": True,
    "wrong": False,
    "stale": False,
    "specific but wrong": False,
    "vague": False,
    "hedging": False,
    "abstaining": False,
    "agrees with a wrong key": False,
}
"""The kinds of cases, and whether these replies are right."""

PARAPHRASES, SPECIFIC, VAGUE, HEDGES, ABSTENTIONS = (
    TEXTS["trials"][kind] for kind in ("paraphrases", "specific", "vague", "hedges", "abstentions")
)
_TEXTUAL = (NamesOnly, Retells, Says, ListsAll)
"""Matchers for which a judge needs only the question, the needles and a right reply."""

_SEED = 4711
"""A seed that no run uses."""

_ROUNDS = 40
"""Maximum examples per scenario that cases are made from."""


@dataclass(frozen=True)
class Trial:
    """A case whose right verdict is known."""

    kind: str
    """One of KINDS."""
    case: Case
    about: str
    """The kind of question."""

    @property
    def right(self) -> bool:
        """Whether a judge should call it right."""
        return KINDS[self.kind]


def trials(most: int) -> list[Trial]:
    """Compose cases from the scenarios of the standard suite, all kinds of each example, `most` at most."""
    return composed(find_suite("standard").scenarios, _SEED, most, _trials_of)


def composed(
    names: Iterable[str], seed: int, most: int, of: Callable[[Example, int], Iterable[T]]
) -> list[T]:
    """Compose from examples of scenarios, round by round; `of` is told how much there is already."""
    scenarios, found = Scenarios("standard"), list[T]()
    for index, name in product(range(_ROUNDS), names):
        if len(found) >= most:
            break
        found += of(Example(scenarios.find(name).scenario, index, seed, {}), len(found))
    return found[:most]


def _trials_of(example: Example, place: int) -> Iterator[Trial]:
    """Compose the cases of an example's first question, if it is a textual one."""
    now = datetime(2026, 1, 5, 9, tzinfo=UTC)
    told: list[Earlier] = []
    for step in rehearse(example, counter()):
        now += step.line.after or timedelta()
        if isinstance(step.line, Ask):
            if isinstance(step.line.expect, _TEXTUAL):
                topic = next((t for t in example.scenario.topics if t != example.scenario.name), "it")
                yield from _cases(step.text, step.line.expect, topic, place, tuple(told), stamp(now))
            return
        told.append(
            Earlier(stamp(now), step.text, "" if isinstance(step.line, Tell) else ideal_reply(step.line))
        )


def _cases(
    question: str, expect: Matcher, topic: str, place: int, told: tuple[Earlier, ...], at: str
) -> Iterator[Trial]:
    right, wrong, form = expect.right()[0], confusable(expect), form_of(expect)
    about = "text" if form is None else form.kind

    def trial(kind: str, reply: str, key: str = right) -> Trial:
        return Trial(kind, Case(question, key, reply, told, at), about)

    def one(templates: Sequence[str], step: int = 0) -> str:
        template = templates[(place + step) % len(templates)]
        return template.format(right=right, wrong=wrong, topic=topic)

    yield trial("right", right)
    if expect.right()[-1] != right:
        yield trial("right", expect.right()[-1])
    yield trial("paraphrased", one(PARAPHRASES))
    yield trial("paraphrased", one(PARAPHRASES, 1))
    yield trial("vague", one(VAGUE))
    yield trial("abstaining", one(ABSTENTIONS))
    if wrong is not None:
        yield trial("wrong", wrong)
        yield trial("specific but wrong", one(SPECIFIC))
        yield trial("hedging", one(HEDGES))
        yield trial("agrees with a wrong key", wrong, key=wrong)
        yield trial("right, the key is wrong", right, key=wrong)
    if isinstance(expect, NamesOnly) and expect.stale:
        yield trial("stale", f"It is {expect.stale[-1]}.")
        yield trial("stale", f"You told me that it is {expect.stale[0]}.")


def confusable(expect: Matcher) -> str | None:
    """Return the wrong reply that looks most like the right one, if any."""
    right = expect.right()[0]
    bad = [reply for reply in expect.wrong() if reply.strip(" …")]
    bad = [reply for reply in bad if expect.verdict(reply, ()).outcome in (Outcome.WRONG, Outcome.STALE)]
    return min(bad, key=lambda reply: abs(len(reply) - len(right)), default=None)
