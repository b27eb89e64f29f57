"""Where the ladder says that memories with known faults lose answers, beside what their hooks say: docs/losses.md.

    python -m perf.losses [--seeds 20] [--folder docs]

Writes table and picture into the folder's `losses.md`, which explains them.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import run
from ltm_bench.score.results.ladder import LOSSES
from ltm_bench.score.statistics.intervals import wilson
from perf.harness import Arguments, inserted, measurement

ONE_FACT = ("colours", "hinted", "never_told", "jokes")
"""Scenarios whose answers rest on one fact each."""
COLOURS = {
    "again": "#6b6b6b", "cued": "#1f72b0", "recognised": "#5548b0", "retold": "#b3400a", "none": "#b07a00",
    "unknown": "#dcd8cf", "memory": "#7a6a2a",
}  # fmt: skip
WIDE, ROW, LEFT = 640, 26, 210


class Case(NamedTuple):
    """A memory, its faults, and what it is asked."""

    name: str
    agent: str
    faults: Mapping[str, float] = {}
    scenarios: Sequence[str] = ONE_FACT


OWN = Path(__file__).with_name("faulty")
CASES = (
    Case("never writes 30 %", "reference", {"loses": 0.3}),
    Case("finds 70 %", "reference", {"finds": 0.7}),
    Case("uses 80 %", "reference", {"uses": 0.8}),
    Case("writes 80 %, finds 70 %, uses 80 %", "reference", {"loses": 0.2, "finds": 0.7, "uses": 0.8}),
    Case("the same, with hooks", str(OWN / "hooked.py"), {"loses": 0.2, "finds": 0.7, "uses": 0.8}),
    Case("counts double", str(OWN / "miscounts.py"), scenarios=["tally"]),
    Case("answers backwards", str(OWN / "backwards.py")),
    Case("right by chance, in 40 %", str(OWN / "fickle.py")),
    Case("vector_memory", "vector_memory"),
    Case("goldfish", "goldfish"),
    Case("perfect", "perfect"),
)


def measured(case: Case, seeds: int, reports: str) -> dict[str, Any]:
    """Run a case with every seed; return its losses and, if there are any, what they say of its faults."""
    lost, asked, missed, same, both = Counter[str](), 0, 0, 0, 0
    for seed in range(seeds):
        done = run(
            agent=case.agent, span="8k", suite="abilities", scenarios=case.scenarios, seed=seed, quick=True,
            settings=case.faults, ladder=True, reports=reports, name=f"{CASES.index(case)}-{seed}",
        )  # fmt: skip
        ladder = done.results.ladder
        assert ladder is not None
        lost.update(ladder.lost)
        asked += sum(q.expected != "Unknown." for e in done.examples for q in e.questions)
        missed += ladder.missed
        if ladder.agreement is not None:
            same, both = same + ladder.agreement.same, both + ladder.agreement.n
    return {
        "case": case, "asked": asked, "missed": missed, "lost": dict(lost),
        "faults": recovered(lost, asked) if case.faults else {}, "agree": (same, both),
    }  # fmt: skip


def recovered(lost: Mapping[str, float], asked: int) -> dict[str, str]:
    """Return each fault that the losses show, with its 95 % interval."""
    used = asked - lost["none"]
    kept = used - lost["retold"]
    found = kept - lost["cued"] - lost["recognised"]
    shares = {"uses": (used, asked), "loses": (lost["retold"], used), "finds": (found, kept)}
    return {name: _with_interval(part, whole) for name, (part, whole) in shares.items() if whole}


def _with_interval(part: float, whole: float) -> str:
    interval = wilson(part / whole, whole)
    return f"{part / whole:.2f} ({interval.low:.2f}–{interval.high:.2f})"


def table(rows: Sequence[Mapping[str, Any]], seeds: int) -> str:
    """Return the figures as a table."""
    lines = [
        f"Over {seeds} seeds at 8k, `--quick`; n is the number of questions.",
        "",
        f"| memory | n | missed | {' | '.join(LOSSES.values())} | `loses` | `finds` | `uses` | hooks agree |",
        f"|---|--:|--:|{'--:|' * len(LOSSES)}---|---|---|---|",
    ]
    for row in rows:
        counts = " | ".join(f"{row['lost'].get(loss, 0):.3g}" for loss in LOSSES)
        faults = " | ".join(row["faults"].get(name, "–") for name in ("loses", "finds", "uses"))
        same, both = row["agree"]
        agree = f"{same} of {both}" if both else "–"
        lines.append(
            f"| {row['case'].name} | {row['asked']} | {row['missed']} | {counts} | {faults} | {agree} |"
        )
    return "\n".join(lines)


def drawing(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw a bar per memory: its questions, by what became of them."""
    drawn = []
    for place, row in enumerate(rows):
        x, scale = float(LEFT), (WIDE - LEFT) / row["asked"]
        drawn.append(
            f'<text x="{LEFT - 8}" y="{ROW * place + 15}" text-anchor="end">{row["case"].name}</text>'
        )
        drawn.append(f'<path d="M{LEFT} {ROW * place + 10}h{WIDE - LEFT}" stroke="#8a8a8a"/>')
        for loss, number in row["lost"].items():
            wide = scale * number
            drawn.append(
                f'<rect x="{x:.1f}" y="{ROW * place + 2}" width="{wide:.1f}" height="16" fill="{COLOURS[loss]}"/>'
            )
            x += wide
    for place, (loss, words) in enumerate(LOSSES.items()):
        at = f"{place % 3 * 220} {ROW * len(rows) + 14 + place // 3 * 20}"
        drawn.append(f'<g transform="translate({at})"><rect width="10" height="10" fill="{COLOURS[loss]}"/>')
        drawn.append(f'<text x="15" y="10">{words}</text></g>')
    view = f'viewBox="0 0 {WIDE + 20} {ROW * len(rows) + 76}"'
    looks = 'class="losses" font-family="sans-serif" font-size="12" role="img"'
    head = f"<svg {view} {looks}><title>Questions by where they were lost</title>"
    return "\n".join((head, "<style>.losses text{fill:currentColor}</style>", *drawn, "</svg>"))


@measurement(__doc__, seeds=20, folder="docs")
def main(args: Arguments) -> None:
    """Measure, and write."""
    rows = []
    with tempfile.TemporaryDirectory() as reports:
        for case in CASES:
            rows.append(measured(case, args.seeds, reports))
            print(f"{time.process_time():6.0f} s  {rows[-1]}", file=sys.stderr, flush=True)
    page, found = Path(args.folder) / "losses.md", f"{drawing(rows)}\n\n{table(rows, args.seeds)}"
    page.write_text(inserted(page.read_text("utf-8"), "perf.losses", found), "utf-8")
