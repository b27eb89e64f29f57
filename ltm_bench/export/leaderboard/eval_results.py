"""An entry in the form that Hugging Face reads from `.eval_results/` of a model (its documentation is in progress)."""

import json

from ltm_bench.export.leaderboard.boards import Board
from ltm_bench.export.leaderboard.entries import BoardEntry
from ltm_bench.plan.values import spell_span


def eval_results(entry: BoardEntry, board: Board) -> str:
    """Return the YAML of an entry. Texts are written as JSON, which YAML reads."""
    results, interval = entry.results, entry.results.interval
    within = "" if interval is None else f", 95 % {interval.low:.2f} to {interval.high:.2f}"
    notes = (
        f"{results.score:.2f} of {results.out_of}{within}, {len(results.examples)} examples, seed {results.seed}, "
        f"{board.mode}; bundle SHA-256 {entry.digest}"
    )
    lines = [
        "- dataset:",
        f"    id: {_text(f'ltm-bench/{results.suite}')}",
        f"    task_id: {_text(f'{results.suite}-{spell_span(results.span)}')}",
        f"    revision: {_text(f'bench_version {board.version}')}",
        f"  value: {results.score!r}",
        *([f"  date: {_text(entry.run_on)}"] if entry.run_on is not None else []),
        "  source:",
        '    name: "ltm-bench"',
        f"  notes: {_text(notes)}",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return json.dumps(text)
