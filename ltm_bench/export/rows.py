"""A run as a table: one flat row for every question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ltm_bench.score.results import Results

Row = Mapping[str, Any]


def rows(results: Results) -> Iterator[Row]:
    """Yield a row for every question; `needles` is a list of depths in tokens, times are ISO 8601."""
    for example in results.examples:
        for number, question in enumerate(example.questions):
            yield {
                "run": results.run,
                "agent": results.agent,
                "suite": results.suite,
                "span": results.span,
                "seed": results.seed,
                "scenario": example.scenario,
                "example": example.id,
                "number": number,
                "turn": question.turn,
                "position": question.position,
                "at": None if question.at is None else question.at.isoformat(),
                "needles": [needle.depth for needle in example.needles],
                "question": question.text,
                "expected": question.expected,
                "reply": question.reply,
                "outcome": question.outcome.value,
                "score": question.score,
                "example_score": example.score,
                "reason": question.reason,
                "scorer": question.scorer,
                "chance": question.chance,
            }
