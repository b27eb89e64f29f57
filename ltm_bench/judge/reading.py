"""Has a model read blind what the matchers could not read: it copies what a reply answers, and the matchers compare.

It works from the log, after the conversation, like a judge, and with the same store, budget and prices. Nobody reads
unless named.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Ask, Outcome, ReplyForm
from ltm_bench.core.servers import without_thinking
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.matching import Judged
from ltm_bench.judge import blind
from ltm_bench.judge.interview import Interview, Interviewed, interviewing, opinion_of, together
from ltm_bench.judge.judges import Judge
from ltm_bench.score.audits.forms import FOR_JUDGES, form_of
from ltm_bench.score.audits.judgements import BlindReading, Opinion, append, reply_hash
from ltm_bench.score.audits.unread import is_for_reader
from ltm_bench.score.results.fold import Fold
from ltm_bench.score.results.open_examples import AskedQuestion
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

_LARGE = 10
"""Number of members from which a pool is the scenario's, not the example's; a smaller one has to recur."""


class BlindCase(NamedTuple):
    """A question and a reply, as a blind reader gets them."""

    example: str
    turn: int
    question: str
    reply: str
    form: ReplyForm
    whole: bool = False
    """Whether the form's pool may be shown."""

    @property
    def scenario(self) -> str:
        """The example's scenario."""
        return self.example.rpartition("/")[0]

    @property
    def prompts(self) -> list[str]:
        """The messages to the reader."""
        return blind.prompts(self.question, self.reply, self.form, self.scenario, whole=self.whole)

    def heard(self, answer: str) -> blind.CopiedAnswer:
        """Read an answer."""
        return blind.heard(without_thinking(answer), self.reply, self.form, whole=self.whole)

    def inquiry(self) -> Generator[str, str, blind.CopiedAnswer]:
        """Ask for it in one order of the options and, if something was read, in the other: nothing, if they differ."""
        found: list[blind.CopiedAnswer] = []
        for text in self.prompts:
            found.append(self.heard((yield text)))
            if not found[-1].said:  # nothing that a second answer could agree with
                break
        if len({each.said for each in found if each.said}) > 1:
            return blind.CopiedAnswer(found[-1].span, "", "it reads the options otherwise in another order")
        return found[-1]


def with_pools(cases: Sequence[BlindCase]) -> list[BlindCase]:
    """Return the cases, each with whether its pool is whole and may be shown: if it recurs, or is large."""
    owners: defaultdict[tuple[str, frozenset[str]], set[str]] = defaultdict(set)
    for case in cases:
        owners[case.scenario, frozenset(case.form.pool)].add(case.example)
    found = []
    for case in cases:
        kind, pool = case.form.kind, case.form.pool
        recurs = len(owners[case.scenario, frozenset(pool)]) > 1
        whole = kind != "objection" and (recurs or kind == "choice" or len(pool) >= _LARGE)
        found.append(case._replace(whole=whole))
    return found


def cases_of(asked: Sequence[AskedQuestion]) -> list[tuple[BlindCase, AskedQuestion]]:
    """Return the questions whose replies have a form, as a blind reader gets them."""
    formed, cases = [], []
    for each in asked:
        said, form = each.matched, form_of(each.expect)
        if said.reply is not None and form is not None:
            formed.append(each)
            cases.append(BlindCase(each.example, said.turn or 0, said.text, said.reply, form))
    return list(zip(with_pools(cases), formed, strict=True))


def to_be_read(asked: Sequence[AskedQuestion], *, quoted: bool) -> list[BlindCase]:
    """Return what a blind reader is asked about.

    Args:
        asked: All questions of a run.
        quoted: Whether also about quotations and free statements, which a judge will compare.
    """
    return [
        case
        for case, each in cases_of(asked)
        if is_for_reader(
            each.expect, case.form, case.question, case.reply, each.matched.verdict, quoted=quoted
        )
    ]


async def read_blind(cases: Sequence[BlindCase], reader: Judge, interview: Interview) -> list[BlindReading]:
    """Have a reader read replies, several at a time. Raises BudgetReached."""
    holds = (interview.hold(reader, case.inquiry(), schema=blind.schema(case.form)) for case in cases)
    return [_reading(case, reader, heard) for case, heard in zip(cases, await together(holds), strict=True)]


def _reading(case: BlindCase, reader: Judge, heard: Interviewed[blind.CopiedAnswer]) -> BlindReading:
    opinions = []
    for text, answer in heard.said:
        copied = case.heard(answer.text)
        noted = None if answer.failed else Judged(Outcome.UNDECIDED, None, copied.said or copied.why)
        opinions.append(opinion_of(reader, blind.digest(), Interviewed(noted, [(text, answer)])))
    return BlindReading(
        example=case.example,
        turn=case.turn,
        reply=reply_hash(case.reply),
        opinions=tuple(opinions),
        form=case.form.kind,
        version=blind.VERSION,
        **(heard.found or blind.CopiedAnswer("", "", opinions[-1].reason))._asdict(),
    )


def settled(case: BlindCase, opinions: Sequence[Opinion]) -> blind.CopiedAnswer:
    """Return what a reader's recorded answers about a reply come to."""
    inquiry = case.inquiry()
    next(inquiry)
    for each in opinions:
        if each.outcome is Outcome.JUDGE_ERROR:
            return blind.CopiedAnswer("", "", each.reason)
        try:
            inquiry.send(each.answer)
        except StopIteration as done:
            copied: blind.CopiedAnswer = done.value
            return copied
    return blind.CopiedAnswer("", "", "it was asked in one order only")


async def have_read_blind(
    fold: Fold, reader: Judge, *, quoted: bool, budget: Budget, notify: Callable[[str], None]
) -> None:
    """Have a reader read what the matchers could not; the fold takes what it read, and the folder keeps it.

    Args:
        fold: The run; a database beside its folder holds earlier answers.
        reader: The reader.
        quoted: As in `to_be_read`.
        budget: What may be spent. Raises BudgetReached when it is exhausted.
        notify: Called with a line for each event.
    """
    cases = to_be_read(fold.asked, quoted=quoted)
    if not cases:
        return
    run = fold.files.folder
    with interviewing(run, fold.files.calls, "reader", budget) as interview:
        replies = "1 reply" if len(cases) == 1 else f"{len(cases)} replies"
        price = interview.quote(reader, prompts_of(cases))
        notify(f"{replies} to be read by {reader.name}, which is not told the right answers: {price} …")
        read = await read_blind(cases, reader, interview)
    append(run, [each for each in read if fold.files.blind.get((each.example, each.turn)) != each])
    fold.hear((), (), read)
    if failed := sum(each.opinions[-1].outcome is Outcome.JUDGE_ERROR for each in read):
        notify(f"{failed} answers of the reader are missing; rescore --reader asks for them again")


def prompts_of(cases: Iterable[BlindCase]) -> Iterator[tuple[str, int]]:
    """Yield all that a reader may be asked about these replies, each for the first time."""
    return ((text, 1) for case in cases for text in case.prompts)


def foreseen(examples: Sequence[Example]) -> list[BlindCase]:
    """Return the questions of examples that a reader could read, each with a right reply."""
    count = counter()
    cases = [
        BlindCase(example.id, 0, step.text, step.line.expect.right()[0], form)
        for example in examples
        for step in rehearse(example, count)
        if isinstance(step.line, Ask) and (form := form_of(step.line.expect)) is not None
        if form.kind not in FOR_JUDGES
    ]
    return with_pools(cases)
