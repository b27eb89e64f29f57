"""How much examples differ: distinct answers, questions and openings of every scenario's examples, and of filler.

    python -m perf.variety [--examples 40] [--seed 0]

To measure another version, run this file from a checkout of it: `PYTHONPATH=. python …/perf/variety.py`.

`answers` counts the answers (a place, a word, a meaning) to the questions of `--examples` examples of one run, and how
many of them are distinct; `twice` counts answers that two of the first three examples share, as in a run of the
standard suite, over ten seeds. `openings` are the first five words of a message.
"""

from collections.abc import Hashable, Iterator, Sequence

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Ask, Matcher
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import Filler, shipped
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import Rehearsed, rehearse
from ltm_bench.script.scenario import Example
from perf.harness import Arguments, measurement, table

SCENARIOS = (
    "colours", "name_list", "jokes", "locations_directions", "prospective_memory", "trigger_response", "sally_anne",
    "spy_meeting", "shopping_list", "chapter_break", "restaurant", "counting_stars", "conflicting_facts",
    "delayed_recall", "instruction_recall", "key_value", "locations", "niah",
    "never_told", "hinted", "what_came_first", "tally", "contradiction", "standing_order", "forget_me", "two_users",
    "mind_your_business", "who_said_it", "revised_plan", "the_third_poem",
)  # fmt: skip
"""The scenarios of this project; `infinitebench` and `swim` ask as published."""

IN_A_RUN = 3
"""Examples of each scenario in the standard suite."""

FILLER = 1000
"""How many filler messages are composed."""


def answers(expect: Matcher) -> Iterator[Hashable]:
    """Yield the answer that a matcher expects, piece by piece."""
    match dump(expect):
        case {"value": value} | {"phrase": value} | {"text": value}:
            yield value
        case {"values": values}:
            yield from values
        case {"matcher": "ItemCounts", "expected": items}:
            yield from (item for item, _ in items)
        case {"matcher": "Decodes", "expected": meanings}:
            yield from meanings
        case {"legs": legs}:
            yield from (place for *_, place in legs)
        case {"one": one, "other": other}:
            yield from (one, other)
        case {"answer": answer} if answer:
            yield answer
        case {"counts": counts}:
            yield from counts
        case {"wanted": dish}:
            yield dish
        case {"east": east, "north": north}:
            yield (east, north)


def opening(text: str) -> str:
    """Return the first five words."""
    return " ".join(text.split()[:5])


def rehearsed(name: str, seed: int, examples: int) -> list[list[Rehearsed]]:
    """Return the steps of this many examples of one run."""
    return [rehearse(Example(scenario(name), i, seed, {}), counter()) for i in range(examples)]


def wanted(steps: Sequence[Rehearsed]) -> set[Hashable]:
    """Return the answers of an example."""
    return {each for step in steps if isinstance(step.line, Ask) for each in answers(step.line.expect)}


def twice(name: str) -> int:
    """Return how many answers occur in two of the first examples, over ten seeds."""
    found = 0
    for seed in range(10):
        run = [wanted(steps) for steps in rehearsed(name, seed, IN_A_RUN)]
        found += sum(map(len, run)) - len(set().union(*run))
    return found


def _of(values: Sequence[Hashable]) -> str:
    return f"{len(set(values))} of {len(values)}"


@measurement(__doc__, examples=40, seed=0)
def main(args: Arguments) -> None:
    """Measure and print a table."""
    row = table("scenario", "distinct answers", "twice in a run", "distinct questions", "distinct openings")
    for name in SCENARIOS:
        examples = rehearsed(name, args.seed, args.examples)
        held = [answer for steps in examples for answer in sorted(wanted(steps), key=str)]
        texts = [step.text for steps in examples for step in steps if isinstance(step.line, Ask)]
        openings = [opening(step.text) for steps in examples for step in steps]
        row(name, _of(held), twice(name), _of(texts), _of(openings))
    filler = Filler(shipped(), Dice(f"{args.seed}/filler"), counter())
    row("filler", "–", "–", "–", _of([opening(filler.compose(400).text) for _ in range(FILLER)]))
