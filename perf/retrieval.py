"""How well the local embedder finds one fact among many others, and how fast. `python -m perf.retrieval`.

Forty things that people might say about themselves, each with a question that shares a word with it, hidden among
trivia. `recall@k`: the share of questions whose fact is among the k nearest passages; `tests/adapters/test_hashing.py`
holds a lower bound. Then the agent `vector_memory` with as many passages: time per turn, exactness, disk, memory.
"""

import asyncio
import json
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from ltm_bench.adapters import hashing
from ltm_bench.core.messages import Message, Reply, Turn
from ltm_bench.filler.filler import shipped
from ltm_bench.plugins.agents import make_agent

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

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


async def converse(count: int) -> None:
    """Fill the agent with this many passages of trivia, then measure turns, exactness, disk and memory."""
    lines = distractors(count)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        agent: Any = make_agent("vector_memory", {})
        started = time.perf_counter()
        await agent.open(home)
        opened = time.perf_counter() - started
        turns = 0
        started = time.perf_counter()
        for first in range(0, count, 33):
            message = Message("\n".join(lines[first : first + 33]), START + timedelta(minutes=turns), turns)
            await agent.observe(Turn(message, Reply("Noted.")))
            turns += 1
        filled = time.perf_counter() - started
        took: list[float] = []
        for text in (part for fact in FACTS for part in fact):
            message = Message(text, START + timedelta(minutes=turns), turns)
            started = time.perf_counter()
            await agent.reply(message)
            took.append(time.perf_counter() - started)
            turns += 1
        wrong = 0
        store = agent.store
        vectors = store.now().vectors.astype(np.float64)
        for _, question in FACTS:
            scores = vectors @ hashing.embed([question])[0].astype(np.float64)
            exact = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:20]
            found = store.now().nearest(hashing.embed([question])[0], 20)
            wrong += [each.passage for each in found] != [store.passages[i] for i in exact]
        await agent.close()
        disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    took.sort()
    print(
        f"{count:>6} passages: opened in {opened:.2f} s, {filled / count * 1000:.2f} ms per passage and "
        f"{filled / count * 33_000:.1f} ms per turn of 33; a turn of its own {sum(took) / len(took) * 1000:.1f} ms "
        f"(median {took[len(took) // 2] * 1000:.1f}, worst {took[-1] * 1000:.0f}); {wrong} of {len(FACTS)} "
        f"rankings differ from brute force; {disk / 1e6:.0f} MB on disk, "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB in memory at most"
    )


def main() -> None:
    """Print the figures for the sizes on the command line (default: 1000, 10000, 30000)."""
    sizes = [int(size) for size in sys.argv[1:]] or [1000, 10_000, 30_000]
    for count in sizes:
        found = ranks(count)
        print(
            f"{count:>6} distractors: " + "  ".join(f"recall@{k} {recall(found, k):.3f}" for k in (1, 5, 20))
        )
    lines = distractors(5000)
    started = time.perf_counter()
    stored = hashing.embed(lines)
    print(f"embedding: {(time.perf_counter() - started) / len(lines) * 1e6:.0f} µs per passage")
    query = hashing.embed(["What does my sister teach?"])[0]
    started = time.perf_counter()
    for _ in range(100):
        np.dot(stored, query)
    print(f"exact scan: {(time.perf_counter() - started) * 10 / len(lines) * 1000:.2f} ms per 1000 passages")
    for count in sizes:
        asyncio.run(converse(count))


if __name__ == "__main__":
    main()
