"""Scores of the reference memories against what their faults say that they must be: docs/calibration.md.

    python -m perf.calibration [--seeds 20] [--comparisons 100] [--folder docs]

Writes `calibration.json` into the folder, and table and plot into its `calibration.md`, which explains them.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations, product
from math import prod, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

from ltm_bench.core.agent import Agent
from ltm_bench.core.grouping import grouped
from ltm_bench.core.messages import Ask, Message, Reply, Turn
from ltm_bench.filler.filler import shipped
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.agents import agent_class
from ltm_bench.report.plotting import PALETTE
from ltm_bench.runner.references import Played, play, play_alone
from ltm_bench.score.results.headline import headline
from ltm_bench.score.statistics.intervals import mean_interval, paired_clusters, sum_interval
from ltm_bench.score.statistics.power import Size, noise_of, power, seeds_needed, smallest_difference
from perf.harness import Arguments, inserted, measurement

SHARES = (0.0, 0.1, 0.3, 0.5, 0.8)
FAULTS: Mapping[str, Sequence[float]] = {
    "loses": SHARES,
    "finds": [round(1 - share, 1) for share in SHARES],
    "uses": [round(1 - share, 1) for share in SHARES],
    "stale": SHARES,
    "mixes": SHARES,
    "leaks": SHARES,
    "forgets_after": (0, 6000, 4000, 2000, 1000),
    "readable_after": (0, 120, 400, 800, 1400),
    "holds": (0, 60, 30, 15, 5),
}
"""Each fault's levels, from none to the worst."""
BY_DISTANCE = ("forgets_after", "readable_after", "holds")
"""The faults for which it matters what lies between needle and question, so that filler is needed."""
SHOWN = ("uses", "stale", "mixes", "leaks")
"""The faults that a question can show or not."""
TYPICAL = 2
"""The level that the table shows."""
SUITES = ("standard", "abilities")
SPAN, SPANS = 8000, (8000, 32_000, 120_000)
COMPARED = (0.3, 0.4)
"""What two memories lose that are to be told apart."""


def share(known: Sequence[bool]) -> float:
    """Return the share of the entries of a list that are known."""
    return sum(known) / len(known)


def of_items(known: Sequence[bool]) -> float:
    """Return what a shopping list earns: thirds for its items, their amounts, and for nothing else in it."""
    return (2 * share(known) + 1) / 3


def of_order(known: Sequence[bool]) -> float:
    """Return what an order earns: tau-b, with what is missing tied in the last place, times F1."""
    pairs = list(combinations(known, 2))
    agree = sum(a if a == b else a - b for a, b in pairs)
    tau = max(0, agree) / sqrt(len(pairs) * sum(a or b for a, b in pairs))
    return tau * 2 * sum(known) / (len(known) + sum(known))


CREDIT = {"ItemCounts": of_items, "InOrder": of_order}
"""What matchers of lists give if some entries are known, where it is not their share."""


class Question(NamedTuple):
    """A question as a memory without a fault met it."""

    example: str
    key: str
    kind: str
    shows: str | None
    needs: str | None
    facts: Sequence[Sequence[Sequence[Any]]]
    """What `Reference.needs` says."""
    shown: frozenset[str]
    """Which of SHOWN it can show."""
    at: datetime
    position: int
    written: int


class Notes(Agent):
    """A reference memory without a fault; notes what every question needs, and could show."""

    free = told_ideal = observes = True

    def __init__(self) -> None:
        self.agent: Any = agent_class("reference")(forgets_after=10**12)
        self.questions: list[Question] = []
        self._tasks: dict[str | None, tuple[Any, frozenset[str]]] = {}

    async def observe(self, turn: Turn) -> None:
        """Hear a turn."""
        await self.agent.observe(turn)

    async def reply(self, message: Message) -> Reply:
        """Note a question, or a task that an earlier reply fulfils."""
        agent, line = self.agent, message.line
        facts = agent.needs(message)
        shown = frozenset(each for each in SHOWN if agent.instead(each, message, facts) is not None)
        if isinstance(line, Ask):
            facts, shown = (facts, shown) if facts else self._tasks.pop(message.stream, (facts, shown))
            example, kind = str(message.stream).partition("/")[2], type(line.expect).__name__
            key = f"{example} {len(self.questions)}"
            told = (example, key, kind, line.shows, line.needs, facts, shown)
            self.questions.append(Question(*told, message.at, agent.position, agent.written))
        elif facts:
            self._tasks[message.stream] = facts, shown
        reply: Reply = await agent.reply(message)
        return reply


def planned(suite: str, seed: int, span: int = SPAN, scenarios: tuple[str, ...] = ()) -> Plan:
    """Return the plan of a run."""
    return make_plan(Request(agent="perfect", span=str(span), suite=suite, seed=seed, scenarios=scenarios))


def played(plan: Plan, agent: Any, *, alone: bool) -> list[Played]:
    """Play a plan's examples with agents of this kind, each alone or all in one conversation."""
    manifest = plan.manifest
    if alone:
        return asyncio.run(play_alone(plan.examples, agent, manifest.suite.start))
    given: Any = {"span": manifest.span, "seed": manifest.seed, "counter": plan.counter, "bank": shipped()}
    return asyncio.run(play(plan.examples, agent(), start=manifest.suite.start, **given))


def noted(plan: Plan) -> dict[str, list[Question]]:
    """Return the questions of every example."""
    notes, found = Notes(), defaultdict[str, list[Question]](list)
    played(plan, lambda: notes, alone=False)
    for each in notes.questions:
        found[each.example].append(each)
    return found


def scores(plan: Plan, *, alone: bool = True, **settings: Any) -> dict[str, float]:
    """Return the score of every example for a memory with these settings."""
    kind: Any = agent_class("reference")
    return {each.example.id: each.score for each in played(plan, lambda: kind(**settings), alone=alone)}


def chances(each: Question, fault: str, level: float) -> list[dict[frozenset[str], float]]:
    """Return for each part of a reply what has to be known, and the probability that it is not.

    Equal keys fail together.
    """
    fails = 1 - level if fault in ("finds", "uses") else level
    if fault in SHOWN:
        lasting = fault in ("stale", "mixes") and each.facts
        coin = each.facts[-1][-1][-1].key if lasting else each.key
        return [{frozenset({coin}): fails}] if fault in each.shown else []

    def gone(told: Any) -> float:
        if fault == "forgets_after":
            return float(0 < level < each.position - told.position)
        if fault == "readable_after":
            return float((each.at - told.at).total_seconds() < level)
        return float(0 < level < each.written - told.number) if fault == "holds" else fails

    of = "" if fault == "loses" else each.key
    return [
        {frozenset(f"{of} {told.key}" for told in fact): prod(map(gone, fact)) for fact in part}
        for part in each.facts
    ]


def predicted(asked: Sequence[Question], fault: str, level: float) -> float:
    """Return the expected score of an example, from what its questions need."""
    found = []
    for each in asked:
        gates = [other for other in asked if each.needs is not None and other.shows == each.needs]
        parts = chances(each, fault, level)
        coins = {
            coin: p
            for one in (each, *gates)
            for part in chances(one, fault, level)
            for coin, p in part.items()
        }
        if len(parts) < 2:
            found.append(prod(1 - p for p in coins.values()))
            continue
        expected, open_ = 0.0, [coin for coin, p in coins.items() if 0 < p < 1]
        for falls in product((False, True), repeat=len(open_)):
            lost = {coin: p == 1 for coin, p in coins.items()} | dict(zip(open_, falls, strict=True))
            known = [not any(lost[coin] for coin in part) for part in parts]
            if any(known):
                likely = prod(coins[coin] if lost[coin] else 1 - coins[coin] for coin in open_)
                expected += likely * CREDIT.get(each.kind, share)(known)
        found.append(expected)
    return fmean(found)


def calibrated(plans: Sequence[Plan], faults: Mapping[str, Sequence[float]] = FAULTS) -> dict[str, Any]:
    """Return by scenario and fault, for each level: score, its 95 % interval, and what is predicted."""
    cells = defaultdict[tuple[str, str, int], list[tuple[float, float]]](list)
    for n, plan in enumerate(plans, start=1):
        asked, perfect = noted(plan), scores(plan)
        for fault, levels in faults.items():
            for i, level in enumerate(levels):
                got = scores(plan, alone=fault not in BY_DISTANCE, **{fault: level}) if i else perfect
                for name, score in got.items():
                    foretold = predicted(asked[name], fault, level)
                    cells[name.partition("/")[0], fault, i].append((score, foretold))
        say(f"{plan.manifest.suite.name}: seed {n} of {len(plans)}")
    found: dict[str, Any] = defaultdict(lambda: defaultdict(list))
    for (name, fault, _), pairs in cells.items():
        each = [score for score, _ in pairs]
        interval = mean_interval(each)
        figures = (fmean(each), interval.low, interval.high, fmean(p for _, p in pairs))
        keys = ("score", "low", "high", "predicted")
        found[name][fault].append({k: round(v, 4) for k, v in zip(keys, figures, strict=True)})
    return found


def flat(cells: Sequence[Mapping[str, float]]) -> bool:
    """Whether a scenario cannot show a fault: the score is predicted to stay 1."""
    return all(cell["predicted"] == 1 for cell in cells)


def by_scenario(of: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Group figures of examples by scenario."""
    return grouped((name.partition("/")[0], figure) for name, figure in of)


def told_apart(pilots: int, comparisons: int) -> dict[str, Any]:
    """Return how often two memories are told apart, beside what `plan-size` promises after a pilot."""

    def differences(seed: int) -> dict[str, list[float]]:
        plan = planned("standard", seed)
        one, other = (scores(plan, loses=level, seed=i) for i, level in enumerate(COMPARED))
        return by_scenario((name, one[name] - other[name]) for name in one)

    pilot = [differences(seed) for seed in range(pilots)]
    asked = [of for seed in range(pilots) for of in noted(planned("standard", seed)).items()]
    low, high = (
        headline(by_scenario((name, predicted(of, "loses", level)) for name, of in asked))
        for level in COMPARED
    )
    noise = noise_of(pilot)
    assert noise is not None
    count, each = len(pilot[0]), len(next(iter(pilot[0].values())))
    needed = seeds_needed(low - high, count, each, noise) or 1
    shown = dict.fromkeys(sorted({1, needed // 2 or 1, needed}), 0)
    for i in range(comparisons):
        drawn = [differences(1000 + needed * i + j) for j in range(needed)]
        for seeds in shown:
            shown[seeds] += paired_clusters(drawn[:seeds]).shown
        if i % 10 == 9:
            say(f"comparison {i + 1} of {comparisons}, of {needed} seeds")
    sizes = []
    for seeds, n in shown.items():
        size = Size(scenarios=count, examples=each, seeds=seeds)
        promise, least = power(low - high, size, noise), smallest_difference(size, noise)
        sizes.append({"seeds": seeds, "shown": n / comparisons, "promised": promise, "smallest": least})
    return {"difference": low - high, "comparisons": comparisons, "seeds_needed": needed, "sizes": sizes}


def spread(seeds: Sequence[Sequence[Plan]], foretold: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return for each share that is lost: headline and its spread over seeds, and how many intervals hold the line."""
    rows = []
    for i, level in enumerate(SHARES):
        line = sum(cells["loses"][i]["predicted"] for cells in foretold.values())
        played = [[each for plan in plans for each in scores(plan, loses=level).items()] for plans in seeds]
        runs = [by_scenario(each) for each in played]
        heads, intervals = [headline(run) for run in runs], filter(None, map(sum_interval, runs))
        held = fmean(each.low - 1e-9 <= line <= each.high + 1e-9 for each in intervals)
        figures = (level, line, fmean(heads), stdev(heads), held)
        rows.append(dict(zip(("loses", "predicted", "score", "spread", "held"), figures, strict=True)))
    return rows


def across_spans(seeds: int) -> list[dict[str, Any]]:
    """Return for each span which scenarios' scores differ there from those of the same examples, alone, at 8k."""
    rows = []
    for span in SPANS:
        differ, n = set[str](), 0
        for suite, seed in ((suite, seed) for suite in SUITES for seed in range(seeds)):
            here, there = planned(suite, seed, span), planned(suite, seed)
            for fault in (each for each in FAULTS if each not in BY_DISTANCE):
                settings: Any = {fault: FAULTS[fault][TYPICAL]}
                got, usual = scores(here, alone=False, **settings), scores(there, **settings)
                n += len(got)
                differ |= by_scenario((k, v) for k, v in got.items() if abs(v - usual[k]) > 1e-9).keys()
        rows.append({"span": span, "examples": n, "differ": sorted(differ)})
        say(f"span {span}")
    return rows


RUN = "{loses:g} | {predicted:.2f} | {score:.2f} | {spread:.2f} | {held:.0%}"


def text(data: Mapping[str, Any]) -> str:
    """Return tables and plot of the data, as Markdown."""
    scenarios, compared = data["scenarios"], data["power"]
    lines = [line for faults in scenarios.values() for line in faults.values() if not flat(line)]
    cells = [cell for line in lines for cell in line[1:]]
    held = sum(cell["low"] <= cell["predicted"] <= cell["high"] for cell in cells)
    worst = max(abs(cell["score"] - cell["predicted"]) for cell in cells)
    return f"""\
{data["seeds"]} seeds at {SPAN:,} tokens, three examples each. Of {len(cells)} cells that are not flat, {held} intervals
hold the prediction; the largest difference is {worst:.3f}.

{_table("scenario", *(f"`{fault}={levels[TYPICAL]:g}`" for fault, levels in FAULTS.items()))}
{_rows((f"`{name}`", *(_cell(faults[fault]) for fault in FAULTS)) for name, faults in scenarios.items())}

{drawing(scenarios)}

Two memories that lose {COMPARED[0]} and {COMPARED[1]} differ by {compared["difference"]:.2f} points of the suite
`standard`; {compared["comparisons"]} comparisons, each with seeds of its own:

{_table("seeds", "told apart", "promised", "smallest difference at 80 %")}
{_rows(("{seeds} | {shown:.0%} | {promised:.0%} | {smallest:.2f}".format(**each),) for each in compared["sizes"])}

The headlines of single runs, both suites together:

{_table("`loses`", "predicted", "score", "spread over seeds", "intervals that hold the line")}
{_rows((RUN.format(**each),) for each in data["spread"])}

The same examples in conversations of other lengths, with faults that do not depend on it:

{_table("span", "examples", "scenarios that differ")}
{_rows((f"{each['span']:,}", str(each["examples"]), ", ".join(each["differ"]) or "none") for each in data["spans"])}"""


def _table(*heads: str) -> str:
    return _rows([heads, ("---", *("--:" for _ in heads[1:]))])


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(line: Sequence[Mapping[str, float]]) -> str:
    return "flat" if flat(line) else "{score:.2f} ({predicted:.2f})".format(**line[TYPICAL])


COLOURS = dict(zip(FAULTS, (*PALETTE, "#8a8a8a"), strict=True))
WIDE, HIGH, COLUMNS = 170, 130, 4
OF = ("score", "predicted")
LOOKS = 'class="calibration" font-family="sans-serif" font-size="12" fill="none" role="img"'
STYLE = "<style>.calibration text{fill:currentColor}</style>"


def drawing(scenarios: Mapping[str, Any]) -> str:
    """Draw a panel per scenario: points are scores, lines are predictions, from no fault (left) to the worst level."""
    drawn = []
    for i, (name, faults) in enumerate(scenarios.items()):
        drawn.append(f'<g transform="translate({i % COLUMNS * WIDE} {i // COLUMNS * HIGH})">')
        drawn.append(f'<path d="M10 20v90h150" stroke="#8a8a8a"/><text x="10" y="14">{name}</text>')
        for fault, cells in faults.items():
            points, line = (
                [f"{10 + 36 * x} {110 - 90 * each[of]:.1f}" for x, each in enumerate(cells)] for of in OF
            )
            dots = "".join(f"M{each}h0" for each in points)
            if not flat(cells):
                drawn.append(f'<g stroke="{COLOURS[fault]}"><path d="M{"L".join(line)}"/>')
                drawn.append(f'<path d="{dots}" stroke-width="5" stroke-linecap="round"/></g>')
        drawn.append("</g>")
    rows = -(-len(scenarios) // COLUMNS)
    for i, (fault, colour) in enumerate(COLOURS.items()):
        drawn.append(f'<g transform="translate({10 + i % 5 * 135} {rows * HIGH + 10 + i // 5 * 18})">')
        drawn.append(
            f'<path d="M0 0h18" stroke="{colour}" stroke-width="3"/><text x="24" y="4">{fault}</text></g>'
        )
    view = f'viewBox="0 0 {COLUMNS * WIDE} {rows * HIGH + 40}"'
    return "\n".join((f"<svg {view} {LOOKS}><title>Scores and predictions</title>", STYLE, *drawn, "</svg>"))


def insert(page: str, data: Mapping[str, Any]) -> str:
    """Return a page with table and plot between its marks."""
    return inserted(page, "perf.calibration", text(data))


def say(line: str) -> None:
    """Report progress."""
    print(f"{time.process_time():6.0f} s  {line}", file=sys.stderr, flush=True)


@measurement(__doc__, seeds=20, comparisons=100, folder="docs")
def main(args: Arguments) -> None:
    """Measure, and write."""
    begun = time.monotonic()
    plans = {suite: [planned(suite, seed) for seed in range(args.seeds)] for suite in SUITES}
    scenarios = {name: of for suite in SUITES for name, of in calibrated(plans[suite]).items()}
    data = {
        "seeds": args.seeds,
        "scenarios": scenarios,
        "spread": spread(list(zip(*plans.values(), strict=True)), scenarios),
        "power": told_apart(args.seeds, args.comparisons),
        "spans": across_spans(2),
    }
    folder = Path(args.folder)
    (folder / "calibration.json").write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    page = folder / "calibration.md"
    page.write_text(insert(page.read_text("utf-8"), json.loads(json.dumps(data))), "utf-8")
    say(f"written in {time.monotonic() - begun:.0f} s by the clock")
