"""How easily filler is told from needles: by a naive Bayes classifier, and by the best pattern of one line.

    python -m perf.filler [--span 32k] [--seeds 10]

Both learn from the messages of `--seeds` runs of the standard suite, and are measured on those of as many other seeds.
The classifier looks at which words and sequences of four letters a message holds. The pattern is the one of `PATTERNS`,
or the single word, with the best F1. To measure another version, run this file from a checkout of it:
`PYTHONPATH=. python …/perf/filler.py`.
"""

import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ltm_bench import run
from ltm_bench.log.reader import read_turns
from perf.harness import Arguments, measurement

PATTERNS = (
    r"(?m)^Q:", "JSON", r"\?", r"\?$", r"\n", r"\n.*\n", r"(?m)^[-*•]", r"(?m)^\d+[.)]", ":", r"\d", '"', "“", "–",
    r"(?s).{150}", r"(?s).{300}", r"(?s).{600}", r"^.{,40}[.!?] ", r"(?:.*[.!?] ){3}", r"[.!?] .*[.!?]",
)  # fmt: skip
"""What a person would try first; each is also tried negated."""

Said = tuple[str, bool]
"""A message, and whether it is filler."""


def messages(span: str, seeds: Iterable[int]) -> list[Said]:
    """Return needles and filler of runs of the standard suite."""
    said = list[Said]()
    with tempfile.TemporaryDirectory() as reports:
        for seed in seeds:
            log = run("goldfish", span, seed=seed, reports=reports).folder / "events.jsonl"
            said += [
                (t.message.text, t.kind == "fill") for t in read_turns(log) if t.kind in ("fill", "tell")
            ]
    return said


def features(text: str) -> set[str]:
    """Return a message's words and its sequences of four letters."""
    text = text.casefold()
    return {*re.findall(r"\w+", text), *(text[i : i + 4] for i in range(len(text) - 3))}


def bayes(learnt: Sequence[Said], seen: Sequence[Said]) -> float:
    """Return the accuracy of the classifier."""
    found = {kind: Counter[str]() for kind in (True, False)}
    for text, fills in learnt:
        found[fills].update(features(text))
    totals = {kind: sum(count.values()) + len(found[True] | found[False]) for kind, count in found.items()}
    weight = {
        each: math.log((found[True][each] + 1) / totals[True] * totals[False] / (found[False][each] + 1))
        for each in found[True] | found[False]
    }
    share = sum(fills for _, fills in learnt) / len(learnt)
    prior = math.log(share / (1 - share))
    right = sum(
        (prior + sum(weight.get(each, 0.0) for each in features(text)) > 0) == fills for text, fills in seen
    )
    return right / len(seen)


def f1(pattern: str, negated: bool, said: Sequence[Said]) -> tuple[float, float]:
    """Return the F1 of a pattern for filler, and its accuracy."""
    matches = re.compile(pattern).search
    found = Counter(((matches(text) is None) == negated, fills) for text, fills in said)
    right, missed = found[True, True], found[False, True]
    return 2 * right / max(1, 2 * right + found[True, False] + missed), (right + found[False, False]) / len(
        said
    )


def candidates(said: Sequence[Said]) -> Iterator[tuple[str, bool]]:
    """Yield patterns, and whether they are negated."""
    words = Counter(word for text, _ in said for word in set(re.findall(r"\w+", text)))
    for pattern in (*PATTERNS, *(rf"\b{word}\b" for word, _ in words.most_common(200))):
        yield pattern, False
        yield pattern, True


@measurement(__doc__, span="32k", seeds=10)
def main(args: Arguments) -> None:
    """Measure and print."""
    learnt = messages(args.span, range(args.seeds))
    seen = messages(args.span, range(args.seeds, 2 * args.seeds))
    share = sum(fills for _, fills in seen) / len(seen)
    pattern, negated = max(candidates(learnt), key=lambda each: f1(each[0], each[1], learnt)[0])
    score, accuracy = f1(pattern, negated, seen)
    print(
        f"{len(seen)} messages, {share:.1%} of them filler; all called filler: F1 {2 * share / (1 + share):.3f}"
    )
    print(f"naive Bayes: accuracy {bayes(learnt, seen):.1%}")
    print(f"best pattern: {'no ' * negated}{pattern!r}, F1 {score:.3f}, accuracy {accuracy:.1%}")
    for pattern in PATTERNS[:5]:
        print(f"  {pattern!r}: F1 {f1(pattern, False, seen)[0]:.3f}")
