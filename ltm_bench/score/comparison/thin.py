"""Results without what no comparison looks at, so that ten thousand of them fit into memory."""

import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from ltm_bench.core.messages import Verdict
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.course import Course
from ltm_bench.score.results.examples import ExampleResult, Needle, Question
from ltm_bench.score.results.run import Results

M = TypeVar("M", bound=BaseModel)

_NONE: set[str] = set()
"""Which fields were set: pydantic would keep a set of names for every object."""


class Thinner:
    """Thins runs, one after the other; what several of them have in common is kept once."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def thin(self, manifest: Manifest, results: Results) -> Scored:
        """Return a run without what no comparison looks at."""
        shared = {
            name: self._once(getattr(manifest, name)) for name in ("suite", "agent", "filler", "scorers")
        }
        scenarios = [
            _without(each, summary="", interval=None, guessed=None, outcomes={}, lost={}, ranking=None)
            for each in results.scenarios
        ]
        return Scored(
            _without(manifest, **shared),
            _without(
                results,
                examples=[self._example(each) for each in results.examples],
                scenarios=[self._once(each) for each in scenarios],
                operations=[_without(each, along=()) for each in results.operations],
                costs=_without(results.costs, accounts=[], usage={}),
                course=_COURSE,
                **dict.fromkeys(("audits", "raters", "skills", "distances", "needle_recall"), ()),
                **dict.fromkeys(("ranking", "writing", "leaks", "heard"), None),
            ),
        )

    def _once(self, value: Any) -> Any:
        return self._known.setdefault(repr(value), value)

    def _example(self, example: ExampleResult) -> ExampleResult:
        return _without(
            example,
            id=sys.intern(example.id),
            scenario=sys.intern(example.scenario),
            needles=_last_needles(example),
            questions=[self._question(each) for each in example.questions],
            written=None,
            ingestion=None,
        )

    def _question(self, question: Question) -> Question:
        verdict = Verdict(question.outcome, question.score, "")
        return _without(
            question,
            text=sys.intern(question.text),
            expected=sys.intern(question.expected),
            scorer=sys.intern(question.scorer),
            verdict=self._once(verdict),
            decisive=(),
            **dict.fromkeys(("in_words", "doubt"), ""),
            **dict.fromkeys(("at", "retrieval", "usage"), None),
        )


_COURSE = Course()


def _without(model: M, **instead: Any) -> M:
    """Return a copy with other values, of which pydantic does not note which were set."""
    return type(model).model_construct(_NONE, **(dict(model) | instead))


def _last_needles(example: ExampleResult) -> Sequence[Needle]:
    """Return the needles from which the distances of questions are measured."""
    found: dict[int, Needle] = {}
    for question in example.questions:
        told = [n for n in example.needles if n.position < (question.position or 0)]
        found |= {each.position: _without(each, text="") for each in told[-1:]}
    return [found[position] for position in sorted(found)]
