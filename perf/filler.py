"""How well needles are told from all else that is told: by a naive Bayes classifier on the words of a message.

    python -m perf.filler [--suite standard] [--spans 32k,120k,500k] [--seeds 5] [--first 0] [--write FILE]

It learns from the messages of runs with `--seeds` training seeds, and is measured on others, from `--first` on:
how many of the messages that it keeps hold a needle if it keeps 95 % of those that do, and what share of the tokens
that nobody asks about it keeps with them. Another is told what holds a decoy; "decoys" is its chance of ranking a
needle above a decoy, .5 if it cannot tell them. Beside that: whether lengths tell needles (two-sample
Kolmogorov-Smirnov, in each run), and how many messages and tokens a run has.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ltm_bench.adapters.needles import Weights, likeness, words_of
from ltm_bench.core.messages import Reply
from ltm_bench.core.seeds import Seed
from ltm_bench.plan.hiding import decoys_of
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.play import Exchanged, Saying, play_of, scheduler_of
from ltm_bench.schedule.scheduler import AllSaid
from perf.harness import Arguments, measurement

RECALL = 0.95
WEAKEST = 0.5
"""The weight below which a word is not written: it says next to nothing."""


class Said(NamedTuple):
    """A message of a run that is no question."""

    text: str
    needle: bool
    tokens: int
    decoy: bool = False


def planned(span: str, seed: Seed, suite: str = "standard") -> Plan:
    """Return the plan of a run."""
    return make_plan(Request(agent="goldfish", span=span, seed=seed, suite=suite))


def said(plan: Plan) -> tuple[int, list[Said]]:
    """Return the number of messages of a conversation, and its needles and filler."""
    talk, turns, found, step = play_of(plan, scheduler_of(plan, plan.examples)), 0, list[Said](), None
    drawn = decoys_of(plan.examples, plan.manifest, plan.counter)
    waiting = list(islice(drawn, 40))
    while not isinstance(now := talk.send(step), AllSaid):
        step = None
        if isinstance(now, Saying):
            text, tokens, reply = now.message.text, now.tokens(), now.known or Reply("Okay.")
            turns, step = turns + 1, Exchanged(tokens, reply, now.reply_tokens(reply))
            decoy = next((each for each in waiting if each in text), "") if now.kind == "fill" else ""
            if decoy:
                waiting.remove(decoy)
                waiting += islice(drawn, 1)
            if now.kind in ("fill", "tell"):
                found.append(Said(text, now.kind == "tell", tokens, bool(decoy)))
    return turns, found


def learn(said: Iterable[tuple[str, bool]]) -> dict[str, float]:
    """Return the weights that these messages teach, each with whether it is what is sought."""
    found, totals = {True: Counter[str](), False: Counter[str]()}, Counter[bool]()
    for text, sought in said:
        found[sought].update(words_of(text))
        totals[sought] += 1
    return {
        word: math.log(
            (found[True][word] + 1) / (totals[True] + 2) * (totals[False] + 2) / (found[False][word] + 1)
        )
        for word in found[True] | found[False]
    }


def least(weights: Weights, said: Sequence[Said]) -> float:
    """Return the likeness above which 95 % of the messages with needles are."""
    found = sorted((likeness(each.text, weights) for each in said if each.needle), reverse=True)
    return found[math.ceil(RECALL * len(found)) - 1]


def ranked(weights: Weights, said: Sequence[Said]) -> tuple[float, float]:
    """Return the precision at a recall of 95 %, and the share of all other tokens that is kept with it."""
    bar = least(weights, said)
    kept = [each for each in said if likeness(each.text, weights) >= bar]
    others = sum(each.tokens for each in said if not each.needle)
    return sum(each.needle for each in kept) / len(kept), sum(
        each.tokens for each in kept if not each.needle
    ) / max(1, others)


def alike(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the p-value of the two-sample Kolmogorov-Smirnov test, by its limit."""
    one, other = sorted(one), sorted(other)
    i = j = 0
    gap = 0.0
    for value in sorted({*one, *other}):
        while i < len(one) and one[i] <= value:
            i += 1
        while j < len(other) and other[j] <= value:
            j += 1
        gap = max(gap, abs(i / len(one) - j / len(other)))
    weight = math.sqrt(len(one) * len(other) / (len(one) + len(other))) * gap
    if weight < 0.3:  # the series converges too slowly where the answer is 1
        return 1.0
    return max(0.0, 2.0 * sum((-1.0) ** (k - 1) * math.exp(-2 * (k * weight) ** 2) for k in range(1, 50)))


def sides(said: Sequence[Said]) -> tuple[list[int], list[int]]:
    """Return the lengths of needles, and of all else."""
    return [each.tokens for each in said if each.needle], [each.tokens for each in said if not each.needle]


def told_apart(learnt: Sequence[Said], said: Sequence[Said]) -> float:
    """Return the chance that a needle looks more like one than a decoy does, to who knows which is which of others."""
    weights = learn((each.text, each.needle) for each in learnt if each.needle or each.decoy)
    needles = [likeness(each.text, weights) for each in said if each.needle]
    decoys = [likeness(each.text, weights) for each in said if each.decoy]
    above = sum((one > other) + (one == other) / 2 for one in needles for other in decoys)
    return above / (len(needles) * len(decoys))


@measurement(
    __doc__,
    suite="standard",
    spans="32k,120k,500k",
    seeds=5,
    first=0,
    write=("", "file to write what was learnt at all spans into, for `filter`"),
)
def main(args: Arguments) -> None:
    """Measure and print."""
    pooled, seeds = list[Said](), range(args.first, args.first + args.seeds)
    print(
        "span   messages  told, tokens  filler, tokens  precision  kept of filler  decoys  lengths alike (p)"
    )
    for span in args.spans.split(","):
        learnt, seen = (
            [said(planned(span, seed, args.suite)) for seed in group]
            for group in ([f"train:{args.first + n}" for n in range(args.seeds)], seeds)
        )
        before, after = ([each for _, found in runs for each in found] for runs in (learnt, seen))
        pooled += before
        precision, kept = ranked(learn((each.text, each.needle) for each in before), after)
        lengths, (needles, hay), runs = (
            sorted(alike(*sides(found)) for _, found in seen),
            sides(after),
            len(seen),
        )
        print(
            f"{span:5}  {sum(n for n, _ in seen) / runs:8.0f}  {len(needles) / runs:4.0f} {sum(needles) / runs:7.0f}  "
            f"{len(hay) / runs:6.0f} {sum(hay) / runs:7.0f}  {precision:9.3f}  {kept:14.3f}  "
            f"{told_apart(before, after):6.3f}  {lengths[runs // 2]:.3f} ({lengths[0]:.3f} … {lengths[-1]:.3f}), "
            f"above .05 in {sum(p > 0.05 for p in lengths)} of {runs}"
        )
    if args.write:
        learnt_from_all = learn((each.text, each.needle) for each in pooled)
        strong = {
            word: round(each, 2) for word, each in sorted(learnt_from_all.items()) if abs(each) >= WEAKEST
        }
        found = {"least": round(least(strong, pooled), 2), "weights": strong}
        Path(args.write).write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n", "utf-8")
