"""How often our verdicts equal the scores that GoodAI published with its LTM Benchmark, scenario by scenario.

    python -m perf.agreement FOLDER [--show]

FOLDER holds their definitions and results, in their own layout or a compact one (see
`ltm_bench/datasets/goodai/files.py`). Scores within 0.02 count as equal. Published scores are not the truth: many come
from a substring match, some were corrected by hand. So every difference that has been examined is explained in
`agreement.toml`. `--show` prints the replies.
"""

import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Matcher, Message, Outcome, Reply, Turn
from ltm_bench.datasets.goodai.expectations import READERS, expectations
from ltm_bench.datasets.goodai.files import Performance, definitions, find_definition, results
from perf.harness import Arguments, measurement, table

CLOSE = 0.02

EXPLAINED = Path(__file__).with_suffix(".toml")
"""Why we differ: `[scenario]`, then `"benchmark, agent, example" = "published | ours | taste: reason"`."""


def ours(published: Performance, asked: list[tuple[int, Matcher]]) -> tuple[float, str]:
    """Return the mean of our scores, and our reasons."""
    turns = [Turn(Message(e.message, e.at, i), Reply(e.reply)) for i, e in enumerate(published.exchanges)]
    verdicts = [expect.verdict(turns[i].reply.text, turns[: i + 1]) for i, expect in asked]
    reasons = "; ".join(dict.fromkeys(f"{v.outcome}: {v.reason}" for v in verdicts))
    if any(v.outcome is Outcome.UNDECIDED for v in verdicts):
        reasons += " (a judge would be asked)"
    return sum(v.score or 0.0 for v in verdicts) / len(verdicts), reasons


@measurement(
    __doc__,
    folder=Path,
    show=(False, "print every reply on which our scores and the published ones differ"),
)
def main(args: Arguments) -> None:
    """Compare and print."""
    explained = tomllib.loads(EXPLAINED.read_text("utf-8"))

    def complain(line: str) -> None:
        print(line, file=sys.stderr)

    try:
        known = definitions(args.folder, complain)
    except ConfigError as error:
        raise SystemExit(str(error)) from None
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    differing: list[dict[str, Any]] = []
    for each in results(args.folder, complain):
        definition = find_definition(known, each.scenario, each.example, each.benchmark)
        if each.scenario not in READERS or definition is None:
            continue
        counts = counted[each.scenario]
        counts["n"] += 1
        try:
            score, reasons = ours(each, expectations(each, definition, known))
        except (LookupError, ValueError) as error:
            complain(f"{each.benchmark}, {each.agent}, {each.scenario} {each.example}: {error}")
            continue
        if abs(score - each.score) <= CLOSE:
            counts["equal"] += 1
            continue
        key = f"{each.benchmark}, {each.agent}, {each.example}"
        why = explained.get(each.scenario, {}).get(key, "not examined yet")
        counts[why.partition(":")[0]] += 1
        asked = sorted({i for i, _ in expectations(each, definition, known)})
        differing.append(
            {
                "scenario": each.scenario,
                "key": key,
                "published": each.score,
                "by_hand": each.by_hand,
                "ours": round(score, 6),
                "why": why,
                "reasons": reasons,
                "expected": each.expected,
                "replies": [each.exchanges[i].reply for i in asked],
            }
        )
    for case in differing:
        by_hand = " by hand" if case["by_hand"] else ""
        print(
            f"{case['scenario']} | {case['key']}\n"
            f"    published {case['published']:.2f}{by_hand}, ours {case['ours']:.2f}: {case['why']}"
        )
        if args.show:
            print(f"    we say   {case['reasons'][:300]}\n    expected {str(case['expected'])[:300]}")
            for reply in case["replies"]:
                print(f"    reply    {reply[:700]!r}")
    kinds = ("published", "ours", "taste", "not examined yet")
    row = table("scenario", "n", "equal", "share", *kinds)
    every = sum(counted.values(), Counter[str]())
    for name, counts in (*sorted(counted.items()), ("all", every)):
        n, equal = counts["n"], counts["equal"]
        row(name, n, equal, f"{equal / max(n, 1):.1%}", *(counts[kind] for kind in kinds))
