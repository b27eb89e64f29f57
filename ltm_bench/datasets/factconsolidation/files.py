"""Reads FactConsolidation: numbered facts, where the newest wins, and questions of one hop or several.

The file is the list that MemoryAgentBench publishes as `Conflict_Resolution`: `context`, `questions`, `answers` and
`metadata.source`, eight records in all. The facts contradict the world on purpose.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ltm_bench.datasets.dialogue import Histories, History, HistoryQuestion, OnBad, Session, Utterance
from ltm_bench.datasets.streaming import read_elements, skipping
from ltm_bench.datasets.values import golds_of, needed

SETS = tuple(f"{hops}-{size}" for hops in ("sh", "mh") for size in ("6k", "32k", "64k", "262k"))
"""Single-hop and multi-hop questions, by the tokens of their facts."""

_FACT = re.compile(r"(?m)^(\d+)\. ")


def set_of(source: str) -> str:
    """Return `sh-6k` for `factconsolidation_sh_6k`, in either spelling."""
    return source.strip().lower().removeprefix("factconsolidation").strip("_-").replace("_", "-")


def histories(path: Path, on_bad: OnBad) -> Histories:
    """Yield the records of a file. Raises ConfigError if it cannot be read; bad records are named and skipped."""
    for number, record in read_elements(path, on_bad):
        with skipping(f"{path}: record {number}", on_bad):
            yield _history(record, f"{path}: record {number}", on_bad)


def _history(record: Mapping[str, Any], where: str, on_bad: OnBad) -> History:
    name = set_of(needed(record["metadata"], "source"))
    context = needed(record, "context")
    starts = [found.start() for found in _FACT.finditer(context)]
    if not starts:
        raise ValueError("its context has no numbered fact")
    facts = [context[a:b].strip() for a, b in zip(starts, [*starts[1:], len(context)], strict=True)]
    questions, answers = record["questions"], record["answers"]
    if len(questions) != len(answers):
        raise ValueError(f"there are {len(questions)} questions and {len(answers)} answers")
    asked = list[HistoryQuestion]()
    for i, (text, gold) in enumerate(zip(questions, answers, strict=True)):
        with skipping(f"{where}: question {i}", on_bad):
            words = needed({"question": text}, "question")
            asked.append(HistoryQuestion(f"{name}/{i}", name, words, golds_of(gold)))
    said = tuple(Utterance("user", fact, id=fact.partition(".")[0]) for fact in facts)
    return History(name, (Session(name, None, said),), tuple(asked))
