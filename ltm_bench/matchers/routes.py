"""`follows_route`: the reply leads from place to place, with the distance and direction of each leg."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import Form, Lexicon, Reading, lexicon, number, plain, read
from ltm_bench.matchers.reading.doubting import RECITAL, DoubtingMatcher, unanswered
from ltm_bench.matchers.reading.figures import in_figures
from ltm_bench.matchers.reading.quantities import LETTERS, UNIT
from ltm_bench.matchers.reading.text import spelt

Leg = tuple[str, int, str]
"""Direction, kilometres, and the place at the end."""

_Told = tuple[str | None, float | None, str | None]

_WAY = r"(?:north|south|east|west)"
_TURN = re.compile(
    r"\b(?P<way>(?:(?:north|south)[\s-]?)?(?:north|south|east|west))(?:wards?|bound|erly|ern)?\b(?!\s{0,3}(?:side|end)\b)"
    r"|(?<![\w.'’])(?P<letter>[nsew])(?![\w.'’])"
)
_DISTANCE = re.compile(
    rf"\b(?P<number>\d+(?:\.\d+)?|one|an?(?= (?:further )?kilom))(?:[\s-]+[a-z]{{2,10}}\b)?[\s-]*(?P<unit>{UNIT})\b"
    rf"|\b(?:{UNIT}|distance)[\"']?\s*[:=]\s*[\"']?(?P<given>\d+)"
    r"|\b(?P<bare>\d{1,4})(?=,?\s(?:north|south|east|west|[nsew])\b)"
)
_CORRECTED = re.compile(rf"\b{_WAY}\W{{1,4}}(?:no|sorry|wait|i mean)\b[^\d\n.]{{0,20}}(?={_WAY})")
"""A direction that is taken back, up to the right one."""
_END = re.compile(r"[.!?](?=\s|$)|[\n}]")
_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LITTLE = frozenset("of the a an to".split())
_ORIGIN = re.compile(r"\b(?:from|leav(?:e|es|ing)|(?<!front )of)\W{1,3}(?:the )?\W{0,3}$")
"""Before a place from which a leg leads away."""
_COLUMN = re.compile(r"\b(?:distance|km|kilomet(?:er|re)s?|length)\b")
_INTO = re.compile(r"\b(?:to|next|destination|end|place|arrive|reach)")


def _names(text: str) -> list[re.Match[str]]:
    """Return the words of which names of places consist; whose founder a statue shows is no part of them."""
    found = (each for each in _NAME.finditer(text) if each[0] not in _LITTLE)
    return [each for each in found if not each[0].endswith(("'s", "’s"))]


@lru_cache(maxsize=64)
def _known(among: tuple[str, ...]) -> Lexicon:
    ways = {place: (" ".join(each[0] for each in _names(plain(place))),) for place in among}
    return Lexicon(ways, shortened=False)


def _places(text: str, among: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return where each place is named, unless a leg leads away from it."""
    said = _names(text)
    heard = _known(among).hear([spelt(each[0]) for each in said])
    found = sorted((said[begin].start(), named.value) for begin, _, named in heard)
    return [(at, place) for at, place in found if not _ORIGIN.search(text, max(0, at - 20), at)]


def _nearest(left: list[re.Match[str]], turn: re.Match[str], begin: int, end: int) -> float | None:
    """Take the kilometres that stand nearest to a direction in its sentence."""
    i = bisect_left(left, turn.start(), key=re.Match.start)
    near = [k for k in range(max(0, i - 1), min(i + 1, len(left))) if begin <= left[k].start() < end]
    if not near:
        return None
    found = left.pop(min(near, key=lambda k: max(left[k].start() - turn.end(), turn.start() - left[k].end())))
    value = float(number(found["number"] or found["given"] or found["bare"]) or found["number"] or 0)
    return value / 1000 if (found["unit"] or "").startswith("m") else value


def _lines(reading: Reading, among: tuple[str, ...]) -> Iterator[str]:
    """Yield the reply with everything about a leg on one line: its heading, its sub-points, its row or object."""
    line, current, keys = "", -1, set[str]()
    for block in reading.blocks:
        key, text = "".join(block.path[-1:]).replace("_", " "), block.text
        if block.form not in (Form.CELL, Form.JSON):
            begins, current = not line or bool(_places(text, among)), -1
        else:
            begins = block.line != current or (block.form is Form.JSON and key in keys)
            current = block.line
            if _COLUMN.search(key) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", text):
                text = f"{text} km"
            elif _INTO.search(key):
                text = f"to {text}"
        if begins:
            yield line
            line, keys = "", set()
        keys.add(key)
        line += f", {text}"
    yield line


@dataclass(frozen=True, slots=True)
class FollowsRoute(DoubtingMatcher):
    """Right if the reply tells every leg, in order, with its direction, its distance and its end.

    Partial credit counts joints: the share of pairs of neighbouring legs that are both right, each in its place. A
    single leg only repeats one needle, so it earns nothing. Net displacement is not enough. A recap after the route may
    repeat its legs; an alternative after it is ignored.
    """

    version: ClassVar[int] = 4
    concludes: ClassVar[bool] = True

    start: str
    legs: tuple[tuple[str, int, str], ...]
    among: tuple[str, ...]
    """Every place that could have been named."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge leg by leg."""
        told = self._told(reply)
        if not told:
            return unanswered(reply, Outcome.WRONG, "the reply gives no distances and directions")
        if len(told) > 3 * len(self.legs) + 3:
            return RECITAL
        fault = self._fault(told)
        if not fault:
            return Verdict(Outcome.CORRECT, 1.0, f"all {len(self.legs)} legs are right")
        right = [self._stands(i, told) for i in range(len(self.legs))]
        joints = sum(a and b for a, b in pairwise(right))
        parts = tuple(map(float, right))
        most = max(2, len(self.legs), sum(None not in leg for leg in told)) - 1
        return Verdict(Outcome.PARTIAL if joints else Outcome.WRONG, round(joints / most, 6), fault, parts)

    def candidates(self) -> Lexicon:
        """Return every place."""
        return lexicon(self.among)

    def sought(self) -> Collection[str]:
        """Return the places of the route, and each distance with its direction."""
        return (self.start, *(part for way, far, place in self.legs for part in (place, f"{far} {way}")))

    def _fault(self, told: Sequence[_Told]) -> str | None:
        """Return what is wrong with a route, if anything."""
        for i, expected in enumerate(self.legs):
            if i >= len(told):
                return f"the route ends early: leg {i + 1} {_shown(expected)} is missing"
            if told[i] != expected:
                return f"leg {i + 1} should go {_shown(expected)}, the reply goes {_shown(told[i])}"
        after = told[len(self.legs) :]
        strange = next((leg for leg in after if None not in leg and leg not in self.legs), None)
        return None if strange is None else f"after its end, the route goes on {_shown(strange)}"

    def _stands(self, i: int, told: Sequence[_Told]) -> bool:
        """Whether leg `i` is told after the one before it, or at its number."""
        leg = self.legs[i]
        if i < len(told) and told[i] == leg:
            return True
        return any(a == self.legs[i - 1] and b == leg for a, b in pairwise(told)) if i else told[:1] == [leg]

    def _told(self, reply: str) -> Sequence[_Told]:
        """Return the legs of a reply, in order: each direction with its distance, and the place that it leads to.

        The place comes after it, but before it in a sentence that begins with one and ends with none.
        """
        text = in_figures("\n".join(_lines(read(reply), self.among)))
        before, *alternative = re.split(r"\balternat", text, maxsplit=1)
        text = _CORRECTED.sub(" ", before if alternative and plain(self.legs[-1][2]) in before else text)
        turns, left, places = [*_TURN.finditer(text)], [*_DISTANCE.finditer(text)], _places(text, self.among)
        starts = [*(turn.start() for turn in turns), len(text) + 1]
        ends = [0, *(each.end() for each in _END.finditer(text)), len(text) + 1]
        told, here, begin, end, led = list[_Told](), self.start, 0, 0, False

        def named(start: int, stop: int) -> list[str]:
            found = places[bisect_left(places, (start,)) : bisect_left(places, (stop,))]
            return [place for _, place in found if place != here]

        for i, turn in enumerate(turns):
            if turn.start() >= end:
                begin, end = ends[(k := bisect_right(ends, turn.start())) - 1], ends[k]
                led = not named(starts[bisect_left(starts, end) - 1], end)
            before = named(max(begin, starts[i - 1] if i else 0), turn.start())
            after = named(*starts[i : i + 2])
            reached = before[-1] if before and (led or not after) else next(iter(after), None)
            way = LETTERS.get(turn[0]) or re.sub(r"[\s-]", "", turn["way"])
            distance = _nearest(left, turn, begin, end)
            if reached is not None or distance is not None:
                told.append((way, distance, reached))
                here = here if reached is None or distance is None else reached
        first = next((i for i, leg in enumerate(told) if None not in leg), 0)
        return told[first:]  # those before it are remarks: `mostly west`

    def right(self) -> Sequence[str]:
        """Return the route as sentences, as a list, and in a single sentence."""
        places = (self.start, *(place for _, _, place in self.legs))
        legs = [f"{distance} km {direction} to {place}" for direction, distance, place in self.legs]
        lines = [f"From {here}, go {leg}." for here, leg in zip(places, legs, strict=False)]
        return ("\n".join(lines), f"You go {', then '.join(legs)}.")

    def wrong(self) -> Sequence[str]:
        """Return the route without its last leg, with that leg reversed, its places alone, an abstention, nothing."""
        *lines, last = self.right()[0].splitlines()
        turned = "\n".join([*lines, last.replace(self.legs[-1][0], _OPPOSITE[self.legs[-1][0]])])
        places = " -> ".join((self.start, *(place for _, _, place in self.legs)))
        few = "\n".join(lines) or "You are there already."
        return (few, turned, places, "I do not remember the way.", "")


_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


def _shown(leg: _Told) -> str:
    direction, distance, place = leg
    said = f"{distance:g} km" if distance is not None else "some way"
    return f"{said} {direction or 'somewhere'} to {place or 'no place'}"


def follows_route(start: str, legs: Sequence[Leg], *, among: Collection[str]) -> FollowsRoute:
    """Expect this way from `start`: direction, kilometres and end of every leg; `among` are all known places."""
    return FollowsRoute(start, tuple(legs), tuple(among))


_LEGS = [("north", 2, "Town Hall"), ("east", 1, "Cinema")]
EXAMPLES: tuple[Matcher, ...] = (follows_route("Opera", _LEGS, among=("Opera", "Town Hall", "Cinema")),)
"""Examples for the tests that guard every matcher."""
