"""The parts of BEAM that can be run: conversations of four lengths."""

from functools import partial

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.beam.files import contradicts, histories
from ltm_bench.datasets.beam.matcher import meets
from ltm_bench.datasets.dialogue import History, HistoryQuestion
from ltm_bench.datasets.public import PublicSet


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return meets(question.gold, question.rubric, question.type, id=question.id, mode=mode)


def _is(size: str, history: History) -> bool:
    """Whether a conversation has a given size; one whose folders do not tell matches any."""
    named = history.id.partition("/")[0]
    return named == size or named not in _COUNTS


_COUNTS = {"100K": 20, "500K": 35, "1M": 35, "10M": 10}

SETS = tuple(
    PublicSet(
        name=f"beam-{size.lower()}",
        dataset="beam",
        about=f"{count} conversations of {size} tokens, 20 questions each, of ten abilities",
        licence="none: ask its authors before you pass it on",
        url=f"https://github.com/mohammadtavakoli78/BEAM (chats/{size})",
        file=f"chats/{size}",
        histories=histories,
        keeps=partial(_is, size),
        expect=_expect,
        scorers=("official", "paper", "strict"),
        suspect=contradicts,
    )
    for size, count in _COUNTS.items()
)
