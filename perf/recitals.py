"""How often a recital is taken for an answer: every value in every order, and a heap of the last messages.

    python -m perf.recitals [--seeds 10] [--span 32000]

*Values*: for every matcher that chooses among values (the `EXAMPLES` of all matchers, and for each scenario its first
question of each kind), all its values, and those that its example was told, in every order (of more than
four: rotations and their reversals), in twelve shapes. None should be right; of those that are, one of each kind is
printed.

*Heaps*: an agent that replies to everything with the last 25 messages that are not filler, whole or cut to 2,000
characters, with and without the guard of `ltm_bench/score/audits/heaps.py`. No score should be above chance.
"""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from unittest.mock import patch

from ltm_bench import Agent, Message, Outcome, Reply, Turn
from ltm_bench.core.messages import Matcher, Verdict
from ltm_bench.filler.filler import shipped
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.matchers import examples
from ltm_bench.runner.references import Played, play, total
from ltm_bench.score.audits.heaps import Guard
from perf.fuzz import Place, places
from perf.harness import Arguments, measurement, table

SHAPES: dict[str, Callable[[Sequence[str]], str]] = {
    "commas": lambda said: f"{', '.join(said)}.",
    "and": lambda said: f"{', '.join(said[:-1])} and {said[-1]}.",
    "bullets": lambda said: "\n".join(f"- {each}" for each in said),
    "numbers": lambda said: "\n".join(f"{i}. {each}" for i, each in enumerate(said, 1)),
    "lines": "\n".join,
    "arrows": " → ".join,
    "then": lambda said: f"{', then '.join(said)}.",
    "table": lambda said: "\n".join(
        ["| | |", "|--:|---|", *(f"| {i} | {e} |" for i, e in enumerate(said, 1))]
    ),
    "JSON": json.dumps,
    "sentences": lambda said: " ".join(f"It was {each}." for each in said),
    "either": lambda said: f"Either {' or '.join(said)}.",
    "history": lambda said: f"First {', later '.join(said[:-1])}, finally {said[-1]}.",
}
FEW = 4
"""Number of values up to which every order is tried."""

SUITES = ("standard", "abilities", "trust")
HEAP = 25
CUT = 2000


class Heaps(Agent):
    """Replies to everything with the last messages that it was told itself."""

    def __init__(self, cut: int | None = None, messages: int | None = HEAP) -> None:
        self._heard: deque[str] = deque(maxlen=messages)
        self._cut = cut

    async def reply(self, message: Message) -> Reply:
        """Recite."""
        said = "\n".join(self._heard)[: self._cut]
        self._heard.append(message.text)
        return Reply(said or "Okay.")

    async def observe(self, turn: Turn) -> None:
        """Take no notice of filler."""


class NoGuard(Guard):
    """Lets every verdict stand."""

    def checked(self, verdict: Verdict, expect: Matcher, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Return the matcher's verdict."""
        return verdict


def pools(expect: Matcher) -> list[tuple[str, ...]]:
    """Return the values that a matcher chooses among and, if it knows them, those that were told."""
    if expect.as_published:
        return []
    data = dump(expect)
    held = [(each,) if isinstance(each, str) else each for name, each in data.items() if name != "matcher"]
    flat = [each for each in held if isinstance(each, tuple) and all(isinstance(v, str) for v in each)]
    every = tuple(dict.fromkeys(value for each in flat for value in each if value))
    told = (*data["stale"], data["value"]) if data.get("stale") else ()
    return [each for each in {every: None, told: None} if len(each) > 1]


def orders(values: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield values in every order; many of them in every rotation, and its reversal."""
    if len(values) <= FEW:
        yield from permutations(values)
        return
    for i in range(len(values)):
        turned = values[i:] + values[:i]
        yield from (turned, turned[::-1])


def judged(asked: Sequence[Place]) -> Iterator[tuple[Place, str, str, bool]]:
    """Yield every recital: the question, the shape, the reply, and whether that is right."""
    for place in asked:
        for values in pools(place.expect):
            for said in orders(values):
                for shape, form in SHAPES.items():
                    reply = form(said)
                    yield place, shape, reply, place.judge(reply) is Outcome.CORRECT


def heaped(suite: str, span: int, seed: int, cut: int | None) -> list[Played]:
    """Return what the reciting agent scores in one conversation."""
    plan = make_plan(Request(agent="reciter", span=str(span), suite=suite, seed=seed))
    start = plan.manifest.suite.start
    return asyncio.run(
        play(
            plan.examples, Heaps(cut), span=span, seed=seed, counter=plan.counter, bank=shipped(), start=start
        )
    )


def recited() -> None:
    """Print how many recitals of values are right, and one of each kind that is."""
    made = [Place("(example)", "Well, what was it?", e, []) for found in examples().values() for e in found]
    asked = {(each.scenario, type(each.expect)): each for each in reversed(places())}
    tried, right, shown = Counter[str](), Counter[str](), dict[tuple[str, str], tuple[Place, str]]()
    for place, shape, reply, is_right in judged([*made, *asked.values()]):
        name = type(place.expect).__name__
        tried[name] += 1
        right[name] += is_right
        if is_right:
            shown.setdefault((name, shape), (place, reply))
    for name, n in sorted(tried.items()):
        print(f"{name:12} {right[name]:6} of {n:6} recitals are right")
    print(f"{'all':12} {right.total():6} of {tried.total():6} recitals are right")
    for (name, shape), (place, reply) in sorted(shown.items()):
        print(
            f"{name} as {shape}, {place.scenario}: {reply!r:.200}, expected {place.expect.right()[0]!r:.60}"
        )


@measurement(__doc__, seeds=10, span=32_000)
def main(args: Arguments) -> None:
    """Measure and print."""
    recited()
    row = table("suite", "heap", "unguarded", "guarded", "chance", names=2)
    for suite in SUITES:
        for cut in (None, CUT):
            with patch("ltm_bench.runner.references.Guard", NoGuard):
                bare = [heaped(suite, args.span, seed, cut) for seed in range(args.seeds)]
            guarded = [heaped(suite, args.span, seed, cut) for seed in range(args.seeds)]
            chance = [[each._replace(score=each.chance) for each in run] for run in guarded]
            means = (sum(map(total, runs)) / args.seeds for runs in (bare, guarded, chance))
            heap = "whole" if cut is None else f"{cut:,} characters"
            row(suite, heap, *(f"{mean:.2f}" for mean in means))
