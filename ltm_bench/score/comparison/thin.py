"""Results without what no comparison looks at, so that ten thousand of them fit into memory."""

import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from ltm_bench.core.messages import Verdict
from ltm_bench.log.controls import KINDS
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.course import Course
from ltm_bench.score.results.examples import Controlled, ExampleResult, Needle, Question
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
        told = dict.fromkeys(("interval", "guessed", "ranking"))
        scenarios = [_without(each, summary="", outcomes={}, lost={}, **told) for each in results.scenarios]
        kept = {
            "examples": [self._example(each) for each in results.examples],
            "scenarios": list(map(self._once, scenarios)),
            "operations": [_without(each, along=()) for each in results.operations],
            "costs": _without(results.costs, accounts=[], usage={}),
            "course": _COURSE,
        }
        empty = dict.fromkeys(("aspects", "audits", "raters", "skills", "distances", "needle_recall"), ())
        none = dict.fromkeys(("ranking", "writing", "leaks", "heard"), None)
        return Scored(_without(manifest, **shared), _without(results, **kept, **empty, **none))

    def _once(self, value: Any) -> Any:
        return self._known.setdefault(repr(value), value)

    def _example(self, example: ExampleResult) -> ExampleResult:
        questions, needles = [self._question(each) for each in example.questions], _last_needles(example)
        same = {name: sys.intern(getattr(example, name)) for name in ("id", "scenario")}
        return _without(example, needles=needles, questions=questions, written=None, ingestion=None, **same)

    def _question(self, question: Question) -> Question:
        verdict = self._once(Verdict(question.outcome, question.score, ""))
        same: dict[str, Any] = {
            name: sys.intern(getattr(question, name)) for name in ("text", "expected", "scorer")
        }
        if question.controls is not None:
            same["controls"] = _without(question.controls, **self._answers(question.controls))
        gone = {"in_words": "", "doubt": "", "decisive": (), "at": None, "retrieval": None, "usage": None}
        return _without(question, verdict=verdict, **same, **gone)

    def _answers(self, controls: Controlled) -> dict[str, Any]:
        answers = {kind: getattr(controls, kind) for kind in KINDS}
        return {
            kind: each and self._once(_without(each, reply="", reason="")) for kind, each in answers.items()
        }


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
