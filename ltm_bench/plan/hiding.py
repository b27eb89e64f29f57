"""Hides needles: decoys in the filler, and needles inside longer messages, in suites that say `decoys = true`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ltm_bench.core.messages import Tell
from ltm_bench.core.tokens import Counter
from ltm_bench.filler.around import Around, Room, gap_between
from ltm_bench.filler.filler import ALONE
from ltm_bench.log.manifest import Manifest
from ltm_bench.schedule.fitting import USABLE, load_of, rehearse_all
from ltm_bench.script.decoys import LONGEST, decoys, is_plain
from ltm_bench.script.rehearsal import Rehearsed
from ltm_bench.script.scenario import Example

LEAST_SPAN = 8_000
"""Tokens of a span below which nothing is hidden: there, needles and questions leave room for little else."""

CROWDED = 1.4
"""How much longer gaps are than if each message had one: some are due together. Measured, so that lengths of messages
with and without needles are alike (`perf/filler.py`)."""


def hidden(examples: Sequence[Example], manifest: Manifest, counter: Counter) -> Sequence[Example]:
    """Return the examples of a run with most of their needles inside longer messages, if its suite hides them."""
    if not manifest.suite.decoys:
        return examples
    span, longest = manifest.span, manifest.filler.max_tokens

    def room() -> Room:
        rehearsed = rehearse_all(examples, counter, span=None)
        rounds = max(each.index for each in examples) + 1
        free = int(rounds * USABLE * span) - sum(map(load_of, rehearsed.values()))
        placed = [s.line for steps in rehearsed.values() for s in steps if s.line.at is not None]
        held = sum(_holdable(steps, k) for steps in rehearsed.values() for k in range(len(steps)))
        limits = {name: min(longest, _limit(steps, span)) for name, steps in rehearsed.items()}
        told = sum(isinstance(s.line, Tell) for steps in rehearsed.values() for s in steps)
        alone = max(
            0.0, 1 - (1 - ALONE) * told / max(1, held)
        )  # those that must stand alone are of that share
        return Room(CROWDED * gap_between(free, len(placed), held, longest), limits, alone)

    around = Around(counter, room)
    return [replace(each, around=partial(around, each.id)) for each in examples]


def _holdable(steps: Sequence[Rehearsed], place: int) -> bool:
    """Whether a longer message may hold this step: the last one, which asks to forget, too."""
    step = steps[place]
    placed = step.line.at is not None or place == len(steps) - 1
    return placed and is_plain(step.line) and step.message_tokens <= LONGEST


def _limit(steps: Sequence[Rehearsed], span: int) -> int:
    """Return how long the messages of an example may be that hold its needles, so that it takes half of its span."""
    found, said, held = [span], 0, 0
    for place, step in enumerate(steps):
        if held and step.line.at:
            found.append(int(USABLE * step.line.at * span - said) // (2 * held))
        said, held = said + step.room, held + _holdable(steps, place)
    return min(found)


def decoys_of(examples: Sequence[Example], manifest: Manifest, counter: Counter) -> Iterator[str]:
    """Return the decoys of a run; none if its suite hides nothing."""
    return decoys(examples, counter) if manifest.suite.decoys else iter(())
