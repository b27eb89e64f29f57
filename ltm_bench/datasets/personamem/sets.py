"""The part of PersonaMem that can be run: conversations of 32k tokens."""

from dataclasses import replace

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.personamem.files import histories
from ltm_bench.datasets.personamem.matcher import fitting_reply
from ltm_bench.datasets.public import PublicSet


def put(question: HistoryQuestion) -> HistoryQuestion:
    """Return a question with its replies in the order of their letters, which belong to the key."""
    options = tuple(sorted(question.options))
    return replace(question, text="\n".join((question.text, "", *options)), options=options)


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return fitting_reply(question.gold[0], question.type, id=question.id, mode=mode)


SETS = (
    PublicSet(
        name="personamem-32k",
        dataset="personamem",
        about="20 people in 32k tokens each, 589 choices among four replies, of seven types",
        licence="none: ask its authors before you pass it on",
        url="https://github.com/vectorize-io/agent-memory-benchmark (data/personamem/32k)",
        file="32k",
        instruction=(
            "Someone whom you know from the conversation says what follows. Which of the replies below it suits them "
            "best? Answer with its letter alone, in brackets."
        ),
        histories=histories,
        put=lambda question, scorer, dice: put(question),
        expect=_expect,
    ),
)
