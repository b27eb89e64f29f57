"""How well the local embedder finds one fact among many others. `python -m perf.retrieval`.

Forty things that people might say about themselves, each with a question that shares a word with it, hidden among
trivia. `recall@k`: the share of questions whose fact is among the k nearest passages; `tests/adapters/test_hashing.py`
holds a lower bound. What a store of them costs is in `memory.py`.
"""

import json
from pathlib import Path

from ltm_bench.adapters import hashing
from ltm_bench.filler.filler import shipped
from perf.harness import Arguments, measurement, table

DEPTHS = (1, 5, 20)

FACTS: list[tuple[str, str]] = [*json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()]
"""A statement, and a natural question about it (`retrieval.json`)."""


def distractors(count: int) -> list[str]:
    """Return this many lines of trivia, spread over the whole bank; if that is too small, pairs of lines."""
    lines = [f"Q: {question} A: {answer}" for question, answer in shipped().items]
    step = 1 if count >= len(lines) else len(lines) // count
    taken = lines[::step][:count]
    shift = 0
    while len(taken) < count:
        shift += 1
        taken += [f"{a} {b}" for a, b in zip(lines, lines[shift:], strict=False)][: count - len(taken)]
    return taken


def ranks(count: int) -> list[int]:
    """Return for every question how many passages rank before its fact, among this many distractors."""
    stored = hashing.embed([fact for fact, _ in FACTS] + distractors(count))
    scores = hashing.embed([question for _, question in FACTS]) @ stored.T
    return [int((row > row[i]).sum()) for i, row in enumerate(scores)]


def recall(found: list[int], k: int) -> float:
    """Return the share of the questions whose fact is among the first k."""
    return sum(rank < k for rank in found) / len(found)


@measurement(__doc__, sizes={"type": int, "nargs": "*"})
def main(args: Arguments) -> None:
    """Print the figures for the sizes on the command line (default: 1000, 10000, 30000)."""
    row = table("distractors", *(f"recall@{k}" for k in DEPTHS), names=0)
    for count in args.sizes or [1000, 10_000, 30_000]:
        found = ranks(count)
        row(f"{count:,}", *(f"{recall(found, k):.3f}" for k in DEPTHS))
