"""`displaced`: the reply says how far, and in which directions, one place lies from another."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, NamedTuple

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import Block, Form, Reading, gives_up, read, words
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.doubting import DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.quantities import distances
from ltm_bench.matchers.reading.text import sentences

_BACK = re.compile(r"\b(?:back|return(?:ing)?|reverse[ds]?|opposite|the other way)\b")
_TOTAL = re.compile(r"\b(?:total|net|in all|sum|combined|displacement|offset|relative to)\b")


class _Statement(NamedTuple):
    """A sentence that says how far."""

    axes: Mapping[str, Decimal]
    concludes: bool = False

    @property
    def place(self) -> tuple[Decimal, Decimal]:
        """Kilometres to the east and to the north."""
        return self.axes.get("ew", Decimal(0)), self.axes.get("ns", Decimal(0))


def _statements(reading: Reading) -> list[_Statement]:
    """Return what each sentence says, without the way back. Lines that give one axis each count as one sentence."""
    in_json: defaultdict[int, dict[str, Decimal]] = defaultdict(lambda: {"ew": Decimal(0), "ns": Decimal(0)})
    for block in (each for each in reading.blocks if each.form is Form.JSON):
        for each in distances(block, 0, len(block.text)):
            in_json[block.line][each.axis] += each.value  # `{"north": 3, "south": 0, …}`
    said = [_Statement(axes, True) for axes in in_json.values()]
    spoken = (block for block in reading.blocks if block.form is not Form.JSON)
    for own in (each for block in spoken for each in _sentences(block)):
        last = said[-1] if said else own
        if len(last.axes) == len(own.axes) == 1 and last.axes.keys() != own.axes.keys():
            said[-1] = _Statement({**last.axes, **own.axes}, last.concludes or own.concludes)
        else:
            said.append(own)
    return said


def _sentences(block: Block) -> Iterator[_Statement]:
    """Yield what the sentences of a block say: the last distance on each axis."""
    for begin, end in sentences(block.text):
        axes = {each.axis: each.value for each in distances(block, begin, end)}
        if axes and not _BACK.search(block.text, begin, end) and not block.text[:end].rstrip().endswith("?"):
            effects = {cue.effect for cue in cues(tuple(words(block.text[begin:end])))}
            concludes = _TOTAL.search(block.text, begin, end) is not None
            yield _Statement(axes, concludes or not effects.isdisjoint((Effect.CONCLUDES, Effect.CORRECTS)))


@dataclass(frozen=True, slots=True)
class Displaced(DoubtingMatcher):
    """Right if the reply ends with this distance on each axis; working it out aloud is fine."""

    version: ClassVar[int] = 4

    east: int
    """Kilometres; west is negative."""
    north: int
    """Kilometres; south is negative."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge where the reply puts the place: with its conclusion, or where it says both axes at once."""
        said = _statements(read(reply))
        if not said:
            return unanswered(reply, Outcome.MALFORMED, "the reply gives no distance with a direction")
        if gives_up(reply) and not any(len(each.axes) == 2 for each in said):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know all of it")
        right = (Decimal(self.east), Decimal(self.north))
        every = _Statement({axis: value for each in said for axis, value in each.axes.items()})
        whole = [each for each in said if len(each.axes) == 2] or [every]
        concluded = [each for each in whole if each.concludes]
        places = [each.place for each in (concluded[-1:] or (whole[0], whole[-1]))]
        if right in places and places[0] != places[-1]:
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply gives two places, last {_spelt(*places[-1])}")
        if places[-1] == right:
            return Verdict(Outcome.CORRECT, 1.0, f"{_spelt(*right)}, as expected")
        return Verdict(Outcome.WRONG, 0.0, f"{_spelt(*right)} expected, the reply says {_spelt(*places[-1])}")

    def right(self) -> Sequence[str]:
        """Return the displacement in a sentence, with its axes swapped, and after some working."""
        vertical, across = _spelt(Decimal(self.east), Decimal(self.north)).split(" and ")
        worked_out = f"First it is 9 km north and then 8 km west, so in all {vertical} and {across}."
        return (f"It lies {vertical} and {across}.", f"{across}, {vertical}", worked_out)

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
