"""The verdicts stored when a run was last scored."""

from pathlib import Path

from ltm_bench.core.limits import content_of, json_of


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
