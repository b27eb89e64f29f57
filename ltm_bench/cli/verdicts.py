"""The verdicts stored when a run was last scored, and whether every reply has one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.core.errors import RunIncomplete
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Outcome

if TYPE_CHECKING:
    from ltm_bench.api import Run


def stored_verdicts(run: Path) -> dict[str, str]:
    """Return outcome and score in words, by example and turn; empty if the file is missing or cannot be read."""
    path = run / "verdicts.jsonl"
    if not path.exists():
        return {}
    try:
        records = [json_of(line) for line in content_of(path).splitlines()]
        return {f"{r['example']} turn {r['turn']}": _spelt(r["outcome"], r["score"]) for r in records}
    except (ValueError, LookupError, TypeError):  # a derived file: scoring writes it again
        return {}


def _spelt(outcome: str, score: float | None) -> str:
    return outcome if score is None else f"{outcome} {score:.2f}"


def check_judged(runs: "Sequence[Run]") -> None:
    """Raise RunIncomplete if replies of a run could not be judged: no judge gave an answer that can be read, say."""
    for run in runs:
        if lacking := run.results.outcomes.get(Outcome.JUDGE_ERROR):
            how = f"`ltm-bench rescore {run.name} --judge NAME` asks another judge"
            raise RunIncomplete(f"{run.name} is incomplete: {lacking} replies could not be judged; {how}")
