"""The cost of reading a file with the size and format of LongMemEval-S, and of telling it to an agent.

    python -m perf.sets [--histories 500] [--tokens 115k] [--agents goldfish,vector_memory] [--told 5,50]
                        [--questions in-line,forked]

Every figure comes from a separate process. `read` reads the whole file, one history at a time; its memory must not grow
with the number of histories, which is why a tenth of them is also read alone. A run tells an agent whole histories:
`tokens/s` is the rate of ingestion, including planning, log and page, and `MB` must not grow with their number.
"""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from ltm_bench.datasets.public import contents, public_set
from ltm_bench.plan.values import parse_span
from perf.harness import Arguments, apart, measurement, peak, spent_on

SUITE = "longmemeval-s"
TYPES = ("multi-session", "temporal-reasoning", "knowledge-update", "single-session-user")
SESSIONS = 48
"""Sessions of a history."""

WORDS = (
    "garden boat letter winter kitchen answer window market river teacher music paper simple walk yellow quiet "
    "remember between morning perhaps travel number bridge story butter engine before cousin listen carpet and the of "
    "to in is was that for with on my your have about could would when"
).split()
"""The words of the conversations; each is about one token."""


def record(number: int, tokens: int) -> dict[str, Any]:
    """Return a history of about this many tokens with its question; the same number gives the same history."""
    dice = random.Random(number)
    talk = [
        [
            {
                "role": role,
                "content": " ".join(dice.choices(WORDS, k=tokens // SESSIONS // 4)).capitalize() + ".",
            }
            for role in ("user", "assistant", "user", "assistant")
        ]
        for _ in range(SESSIONS)
    ]
    where = dice.randrange(SESSIONS)
    talk[where][0]["content"] += f" My locker has the number {number * 7 + 1000}."
    return {
        "question_id": f"made{number:04}",
        "question_type": TYPES[number % len(TYPES)],
        "question": "Which number does my locker have?",
        "answer": str(number * 7 + 1000),
        "question_date": "2023/06/30 (Fri) 21:56",
        "haystack_session_ids": [f"s{number}_{place}" for place in range(SESSIONS)],
        "haystack_dates": [
            f"2023/05/{place // 2 + 1:02} (Mon) {place % 2 + 10}:00" for place in range(SESSIONS)
        ],
        "haystack_sessions": talk,
        "answer_session_ids": [f"s{number}_{where}"],
    }


def write(path: Path, histories: int, tokens: int) -> None:
    """Write a file of this many histories."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(histories):
            file.write(("[" if number == 0 else ",\n") + json.dumps(record(number, tokens)))
        file.write("]\n")


def read(path: Path) -> dict[str, float]:
    """Read a file to its end in this process; return the time and memory that it took."""
    before = time.perf_counter()
    held = contents(public_set(SUITE), path, print)
    return {"histories": held.histories, "seconds": time.perf_counter() - before, "MB": peak()}


def told(path: Path, agent: str, histories: int, questions: str) -> dict[str, float]:
    """Tell an agent this many histories in a run, and ask about each; return the process's time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("run", "--suite", SUITE, "--data", str(path), "--agent", agent, "--examples", str(histories))
        spent = spent_on([*words, "--questions", questions, "--name", "r"], Path(folder))
        results = json.loads(Path(folder, "reports", "r", "results.json").read_text("utf-8"))
    taken = [each["ingestion"] for each in results["examples"]]
    tokens = sum(each["tokens"] for each in taken)
    seconds = sum(each["seconds"] or 0.0 for each in taken)
    return {
        "histories": len(taken),
        "tokens": tokens,
        "seconds": spent.wall,
        "cpu": spent.cpu,
        "tokens/s": tokens / spent.wall,
        "agent's tokens/s": tokens / seconds if seconds else 0.0,
        "MB": spent.mb,
        "score": results["score"],
    }


def measured(
    path: Path, histories: int, tokens: int, agents: list[str], counts: list[int], modes: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each measurement."""
    for count in (histories // 10 or 1, histories):
        write(path, count, tokens)
        yield {"what": "read", "file MB": path.stat().st_size / 1e6, **apart(read, path)}
    for agent, mode, count in product(agents, modes, counts):
        yield {"what": f"told {agent}, {mode}", **told(path, agent, count, mode)}


@measurement(
    __doc__,
    histories=500,
    tokens="115k",
    agents="goldfish,vector_memory",
    told=("5,50", "how many histories an agent is told"),
    questions=("in-line", "how to ask the questions"),
)
def main(args: Arguments) -> None:
    """Measure and print."""
    tokens = parse_span(args.tokens)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "longmemeval_s_cleaned.json"
        counts = [int(each) for each in args.told.split(",")]
        agents, modes = args.agents.split(","), args.questions.split(",")
        for row in measured(path, args.histories, tokens, agents, counts, modes):
            said = (f"{key} {of:,.3g}" if isinstance(of, float) else f"{key} {of}" for key, of in row.items())
            print("  ".join(said), flush=True)
