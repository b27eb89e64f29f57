"""`displaced`: the reply says how far, and in which directions, one place lies from another."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import Form, Reading, gives_up, read, words
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.quantities import Distance, distances
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.reading.text import sentences
from ltm_bench.matchers.unanswered import unanswered

_BACK = re.compile(r"\b(?:back|return(?:ing)?|reverse[ds]?|opposite|the other way)\b")
_TOTAL = re.compile(
    r"\b(?:total|net|altogether|in all|sum|combined|displacement|offset|relative to|final position)\b"
)

Place = tuple[Decimal, Decimal]
"""Kilometres to the east and to the north."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence that says how far."""

    axes: Mapping[str, Decimal]
    concludes: bool
    spans: tuple[tuple[int, int], ...]

    @property
    def place(self) -> Place:
        return self.axes.get("ew", Decimal(0)), self.axes.get("ns", Decimal(0))


def _statements(reading: Reading) -> Iterator[_Statement]:
    """Yield what each sentence says, without the way back. Lines that give one axis each count as one sentence."""
    waiting: _Statement | None = None
    in_json: defaultdict[int, list[Distance]] = defaultdict(list)
    for block in reading.blocks:
        if block.form is Form.JSON:
            in_json[block.line] += distances(block, 0, len(block.text))
    for found in in_json.values():  # `{"north": 3, "south": 0, …}`
        if found:
            axes = {
                axis: sum((d.value for d in found if d.axis == axis), Decimal(0)) for axis in ("ew", "ns")
            }
            yield _Statement(axes, True, ())
    for block in reading.blocks:
        for begin, end in sentences(block.text):
            found = list(distances(block, begin, end))
            if not found or block.form is Form.JSON or _BACK.search(block.text, begin, end):
                continue
            said = list(cues(words(block.text[begin:end])))
            if block.text[begin:end].rstrip().endswith("?"):
                continue
            concludes = any(c.effect in (Effect.CONCLUDES, Effect.CORRECTS) for c in said) or bool(
                _TOTAL.search(block.text, begin, end)
            )
            spans = tuple((block.start + d.start, block.start + d.end) for d in found)
            own = _Statement({d.axis: d.value for d in found}, concludes, spans)  # the last one on each axis
            alone = len(found) == 1
            if waiting is not None:
                if alone and not waiting.axes.keys() & own.axes.keys():
                    axes = {**waiting.axes, **own.axes}
                    yield _Statement(axes, waiting.concludes or own.concludes, waiting.spans + own.spans)
                    waiting = None
                    continue
                yield waiting
                waiting = None
            if alone:
                waiting = own
            else:
                yield own
    if waiting is not None:
        yield waiting


@dataclass(frozen=True, slots=True)
class Displaced(Matcher):
    """Right if the reply ends with this distance on each axis; working it out aloud is fine."""

    version: ClassVar[int] = 2

    east: int
    """Kilometres; west is negative."""
    north: int
    """Kilometres; south is negative."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge where the reply puts the place: with its conclusion, or where it says both axes at once."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        said = list(_statements(read(reply)))
        if not said:
            return unanswered(reply, Outcome.MALFORMED, "the reply gives no distance with a direction")
        if recites(reply, turns, [span for each in said for span in each.spans]):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        if gives_up(reply) and not any(len(each.axes) == 2 for each in said):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know all of it")
        right = (Decimal(self.east), Decimal(self.north))
        whole = [each for each in said if len(each.axes) == 2] or [
            _Statement({a: v for each in said for a, v in each.axes.items()}, False, ())
        ]
        concluded = [each for each in whole if each.concludes]
        given = [concluded[-1]] if concluded else [whole[0], whole[-1]]
        places = list(dict.fromkeys(each.place for each in given))
        if len(places) > 1 and right in places:
            return Verdict(
                Outcome.UNDECIDED, 0.0, f"the reply gives two places; the best guess is {_spelt(*places[-1])}"
            )
        if places[-1] == right:
            return Verdict(Outcome.CORRECT, 1.0, f"{_spelt(*right)}, as expected")
        return Verdict(Outcome.WRONG, 0.0, f"{_spelt(*right)} expected, the reply says {_spelt(*places[-1])}")

    def right(self) -> Sequence[str]:
        """Return the displacement in a sentence, with its axes swapped, and after some working."""
        vertical = f"{abs(self.north)} km {'north' if self.north >= 0 else 'south'}"
        across = f"{abs(self.east)} km {'east' if self.east >= 0 else 'west'}"
        return (
            f"It lies {vertical} and {across}.",
            f"{across}, {vertical}",
            f"First it is 9 km north and then 8 km west, so in all {vertical} and {across}.",
        )

    def wrong(self) -> Sequence[str]:
        """Return the mirrored displacement, another one, and nothing."""
        other = Displaced(-self.east - 1, -self.north - 1)
        return (other.right()[0], f"{abs(self.east) + abs(self.north)} km away", "I do not know.", "")


def _spelt(east: Decimal, north: Decimal) -> str:
    return f"{abs(north)} km {'north' if north >= 0 else 'south'} and {abs(east)} km {'east' if east >= 0 else 'west'}"


def displaced(*, east: int, north: int) -> Displaced:
    """Expect this distance in kilometres; negative numbers lead west and south."""
    return Displaced(east, north)


EXAMPLES: tuple[Matcher, ...] = (displaced(east=-2, north=3), displaced(east=3, north=4))
"""Examples for the tests that guard every matcher."""
