"""The part of LoCoMo that can be run."""

from dataclasses import replace

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.locomo.files import TEMPORAL, histories
from ltm_bench.datasets.locomo.matcher import locomo_answer
from ltm_bench.datasets.public import PublicSet

_DATES = "Work out the date from those of the conversation, as well as they allow."
_UNKNOWN = 'If it was not said, answer "Not mentioned".'


def _put(question: HistoryQuestion, scorer: str, dice: Dice) -> HistoryQuestion:
    """Return a question with the hint of its category or, for the official scorer, as a choice."""
    options = dice.shuffled(question.options) if scorer == "official" else []
    said = [question.text]
    if question.type == TEMPORAL:
        said.append(_DATES)
    if options:
        said.append(f"Which is right: (a) {options[0]} (b) {options[1]}")
    elif scorer != "official" or question.unanswerable:
        said.append(_UNKNOWN)
    return replace(question, text=" ".join(said), options=tuple(options))


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return locomo_answer(question.gold, question.type, id=question.id, mode=mode, options=question.options)


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
        instruction="Answer with a short phrase, in words of the conversation where you can.",
        histories=histories,
        put=_put,
        expect=_expect,
        scorers=("official", "strict", "open"),
    ),
)
