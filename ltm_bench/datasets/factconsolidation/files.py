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
            yield _history(record)


def _history(record: Mapping[str, Any]) -> History:
    name = set_of(str(record["metadata"]["source"]))
    context = str(record["context"])
    starts = [found.start() for found in _FACT.finditer(context)]
    if not starts:
        raise ValueError("its context has no numbered fact")
    facts = [context[a:b].strip() for a, b in zip(starts, [*starts[1:], len(context)], strict=True)]
    questions, answers = record["questions"], record["answers"]
    if len(questions) != len(answers):
        raise ValueError(f"there are {len(questions)} questions and {len(answers)} answers")
    said = tuple(Utterance("user", fact, id=fact.partition(".")[0]) for fact in facts)
    return History(
        name,
        (Session(name, None, said),),
        tuple(
            HistoryQuestion(f"{name}/{i}", name, str(text), golds_of(gold))
            for i, (text, gold) in enumerate(zip(questions, answers, strict=True))
        ),
    )


def golds_of(value: Any) -> tuple[str, ...]:
    """Return the accepted answers of a text, a list, or a list of lists. Raises ValueError if there is none."""
    parts = value if isinstance(value, list) else [value]
    golds = tuple(str(each) for part in parts for each in (part if isinstance(part, list) else [part]))
    if not golds:
        raise ValueError("a question has no answer")
    return golds
