"""What was stored of each question when a run was last scored, and whether every reply has a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench.core.errors import RunIncomplete
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Outcome
from ltm_bench.score.results.ladder import LOSSES
from ltm_bench.score.results.retrieval import Retrieval

if TYPE_CHECKING:
    from ltm_bench.api import Run


def stored_verdicts(run: Path) -> dict[str, Sequence[str]]:
    """Return outcome and score in words, and lines that say why, by example and turn; empty if they cannot be read."""
    try:
        examples = json_of(content_of(run / "results.json"))["examples"]
        asked = [(f"{each['id']} turn {of['turn']}", of) for each in examples for of in each["questions"]]
        return {place: tuple(_told(question)) for place, question in asked}
    except (OSError, ValueError, LookupError, TypeError):  # a derived file: scoring writes it again
        return {}


def _told(question: Mapping[str, Any]) -> Iterator[str]:
    """Yield outcome and score; then the reason, what was expected, and where the answer was lost, if that is known."""
    score = question["score"]
    yield question["outcome"] if score is None else f"{question['outcome']} {score:.2f}"
    yield f"why: {question['reason']}"
    yield f"expected: {question.get('in_words') or question['expected']}"
    memory = question.get("retrieval") and Retrieval.model_validate(question["retrieval"])
    if memory and memory.lost:
        yield f"memory: {memory.lost} (needles: {memory.needles}, {memory.stored} stored, {memory.retrieved} retrieved)"
    if climbed := question.get("ladder"):
        yield f"ladder: {LOSSES[climbed['lost']]}"


def check_judged(runs: "Sequence[Run]") -> None:
    """Raise RunIncomplete if replies of a run could not be judged: no judge gave an answer that can be read, say."""
    for run in runs:
        if lacking := run.results.outcomes.get(Outcome.JUDGE_ERROR):
            how = f"`ltm-bench rescore {run.name} --judge NAME` asks another judge"
            raise RunIncomplete(f"{run.name} is incomplete: {lacking} replies could not be judged; {how}")
