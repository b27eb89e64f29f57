"""The part of LoCoMo that can be run."""

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.locomo.files import histories
from ltm_bench.datasets.locomo.matcher import locomo_answer
from ltm_bench.datasets.public import PublicSet


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return locomo_answer(question.gold[0], question.type, id=question.id, mode=mode)


SETS = (
    PublicSet(
        name="locomo",
        dataset="locomo",
        about="10 dialogues of two people over months, 1,986 questions of five categories",
        licence="CC BY-NC 4.0: not for commercial use",
        url="https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        file="locomo10.json",
        sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
        fetched=True,
        instruction=(
            "Answer them with a short phrase, in words of the conversation where you can. "
            'If it was not said, answer "Not mentioned".'
        ),
        histories=histories,
        expect=_expect,
    ),
)
