"""The parts of FactConsolidation that can be run: eight lists of facts."""

from functools import partial

from ltm_bench.core.messages import Matcher
from ltm_bench.datasets.dialogue import History, HistoryQuestion
from ltm_bench.datasets.factconsolidation.files import SETS as NAMES
from ltm_bench.datasets.factconsolidation.files import histories
from ltm_bench.datasets.factconsolidation.matcher import newest_fact
from ltm_bench.datasets.public import PublicSet

_HOPS = {"sh": "one fact answers each question", "mh": "a question needs several facts"}


def _expect(question: HistoryQuestion, mode: str) -> Matcher:
    return newest_fact(question.gold, id=question.id, mode=mode)


def _is(name: str, history: History) -> bool:
    return history.id == name


SETS = tuple(
    PublicSet(
        name=f"factconsolidation-{name}",
        dataset="factconsolidation",
        about=f"{name.partition('-')[2]} tokens of facts that replace each other; {_HOPS[name[:2]]}; 100 questions",
        licence="MIT",
        url="https://huggingface.co/datasets/ai-hyz/MemoryAgentBench (the split Conflict_Resolution, as a JSON list)",
        file="Conflict_Resolution.json",
        instruction=(
            "The facts are numbered in the order in which they became known: where two contradict each other, the "
            "later one holds, even against what you know of the world. Answer with the name alone."
        ),
        histories=histories,
        keeps=partial(_is, name),
        expect=_expect,
    )
    for name in NAMES
)
