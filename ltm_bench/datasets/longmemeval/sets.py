"""The parts of LongMemEval that can be run: three files with the same questions."""

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.longmemeval.files import histories
from ltm_bench.datasets.longmemeval.matcher import remembered
from ltm_bench.datasets.public import PublicSet

_S_SHA256 = "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442"
_HUB = "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/main"


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return remembered(
        question.gold, question.type, id=question.id, unanswerable=question.unanswerable, mode=mode
    )


SETS = tuple(
    PublicSet(
        name=f"longmemeval-{name}",
        dataset="longmemeval",
        about=f"500 questions of six types, 30 of them unanswerable; {about}",
        licence="MIT",
        url=f"{_HUB}/{file}",
        file=file,
        sha256=sha256,
        fetched=True,
        histories=histories,
        expect=_expect,
    )
    for name, file, about, sha256 in (
        ("oracle", "longmemeval_oracle.json", "the sessions that hold the evidence", ""),
        ("s", "longmemeval_s_cleaned.json", "115k tokens each", _S_SHA256),
        ("m", "longmemeval_m_cleaned.json", "1.5M tokens each", ""),
    )
)
