"""`follows_route`: the reply leads from place to place, with the distance and direction of each leg."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading import Form, Reading, abstains, answer, plain, read, words
from ltm_bench.matchers.reading.surplus import recites
from ltm_bench.matchers.reading.text import sentences
from ltm_bench.matchers.sameness import same_word

Leg = tuple[str, int, str]
"""Direction, kilometres, and the place at the end."""

DIRECTIONS = ("north", "south", "east", "west")

_NUMBERS = "one two three four five six seven eight nine ten".split()
_UNIT = r"(?:kms?|kilomet(?:er|re)s?|m|met(?:er|re)s)"
_NUMBER = rf"(?P<number>\d+(?:\.\d+)?|{'|'.join(_NUMBERS)})"
_EVENT = re.compile(
    rf"(?P<end>[.!?](?=\s|$)|[\n}}])|(?P<arrow>[-=]{{1,3}}>|[→⇒➡⟶➔▶])|\b{_NUMBER}(?:[\s-]+(?:more|further|additional|extra|full))?[\s-]*(?P<unit>{_UNIT})\b"
    rf"|\b(?:{_UNIT}|distance)[\"']?\s*[:=]\s*[\"']?(?P<given>\d+)"
    r"|\b(?P<direction>(?:north|south)?[\s-]?(?:north|south|east|west))(?:wards?|erly|ern)?\b"
    r"|(?<![\w.'’])(?P<letter>[nsew])(?![\w.'’])|(?P<word>[^\W\d_]+(?:['’-][^\W\d_]+)*)"
)
_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LITTLE = frozenset("of the a an to".split())
_ORIGIN = frozenset("from leave leaving leaves start starting starts begin beginning begins of".split())
_TOWARDS = frozenset("to reach reaching at find get towards until".split())
_ALTERNATIVE = re.compile(r"\balternative(?:ly)?\b|\balternate\b")


@lru_cache(maxsize=64)
def _listener(among: tuple[str, ...]) -> tuple[Listener[str], int]:
    """Return a listener for places, and the number of words in the longest name, little words aside."""
    places = {tuple(_content(place)): place for place in among}
    return Listener(places.items()), max(map(len, places))


@dataclass
class _Draft:
    """A leg while it is being read; its parts come in any order."""

    direction: str | None = None
    distance: float | None = None
    place: str | None = None
    after: str = field(default="")

    def as_leg(self) -> tuple[str | None, float | None, str | None] | None:
        """Return the leg, or None if it is not one: places alone (a recap), perhaps with a total."""
        if self.direction is None or (self.distance is None and self.place is None):
            return None
        return (self.direction, self.distance, self.place)


_Told = tuple[str | None, float | None, str | None]

_SUMMARY = re.compile(
    r"\b(?:total|totals|overall|altogether|in all|net|crow flies|end(?:s|ed|ing)? up|all in all|in sum|straight line|"
    r"combined|shortcut|way back|return trip|recap|summary|distance covered)\b"
)
"""Words that open a summary of the way, which is not part of it."""

_CONCLUDED = re.compile(
    r"\b(?:final|full|whole|complete|corrected|entire) (?:route|answer|way|version|directions|list)\b|"
    r"\bso,? (?:the|your) route\b",
    re.IGNORECASE,
)
_REPAIRS = ("sorry", "no", "wait", "mean", "meant", "rather", "actually", "correction")
_SIDE = re.compile(r"\s{0,3}(?:side|bank|end|part|edge|wing|entrance|corner|gate|quarter|shore)\b")
_COLUMN = re.compile(r"\b(?:distance|km|kilomet(?:er|re)s?|length)\b")
_FROM = re.compile(r"\b(?:from|start|origin|begin)")
_INTO = re.compile(r"\b(?:to|next|destination|end|place|arrive|reach)")


def _lines(reading: Reading, places: Listener[str]) -> Iterator[str]:
    """Yield the reply with everything about a leg on one line: its heading, its sub-points, its row or object."""
    line = ""
    current = -1
    keys: set[str] = set()
    for block in reading.blocks:
        text = block.text
        if block.form in (Form.CELL, Form.JSON):
            key = (block.path[-1] if block.path else "").replace("_", " ")
            if block.line != current or (block.form is Form.JSON and key in keys):
                if line:
                    yield line
                line, current, keys = "", block.line, set()
            keys.add(key)
            line += f", {_field(key, text)}"
            continue
        current = -1
        named = any(True for _ in places.hear(_NAME.findall(text)))
        if line and not named and not _SUMMARY.search(text):
            line += f", {text}"
            continue
        if line:
            yield line
        line = text
    if line:
        yield line


def _field(key: str, text: str) -> str:
    """Return what a field of a row or an object says, as it would be said in a sentence."""
    if _COLUMN.search(key) and re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", text):
        return f"{text} km"
    if _FROM.search(key):
        return f"from {text}"
    return f"to {text}" if _INTO.search(key) else text


def _sums_up(text: str, ends: Collection[str], places: Listener[str]) -> bool:
    """Whether a sentence sums the way up: it says so, and names no place but where the way begins and ends."""
    if not _SUMMARY.search(text):
        return False
    return all(
        place in ends for *_, place in places.hear([w for w in _NAME.findall(text) if w not in _LITTLE])
    )


@dataclass(frozen=True, slots=True)
class FollowsRoute(Matcher):
    """Right if the reply tells every leg, in order, with its direction, its distance and its end.

    Partial credit counts joints: the share of pairs of neighbouring legs that are both right, each in its place. A
    single leg only repeats one needle, so it earns nothing. Net displacement is not enough. A recap after the route may
    repeat its legs; an alternative after it is ignored.
    """

    version: ClassVar[int] = 2

    start: str
    legs: tuple[tuple[str, int, str], ...]
    among: tuple[str, ...]
    """Every place that could have been named."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge leg by leg."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        told = self._told(reply)
        if not told:
            if abstains(reply):
                return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
            said, end = words(reply), _content(self.legs[-1][2])
            if all(any(same_word(word, part) for word in said) for part in end) and (
                sum(map(str.isdigit, answer(reply))) >= len(self.legs)
            ):
                return Verdict(
                    Outcome.UNDECIDED, 0.0, "the reply gives distances, but no route can be read from them"
                )
            return Verdict(Outcome.WRONG, 0.0, "the reply gives no distances and directions")
        if len(told) > 3 * len(self.legs) + 3 or recites(reply, turns):
            return Verdict(Outcome.WRONG, 0.0, "the reply recites what it was told")
        fault = self._fault(told)
        if not fault:
            return Verdict(Outcome.CORRECT, 1.0, f"all {len(self.legs)} legs are right")
        right = [self._stands(i, told) for i in range(len(self.legs))]
        joints = sum(a and b for a, b in pairwise(right))
        parts = tuple(map(float, right))
        if joints:
            most = max(len(self.legs), sum(None not in leg for leg in told)) - 1
            return Verdict(Outcome.PARTIAL, round(joints / most, 6), fault, parts)
        return Verdict(Outcome.WRONG, 0.0, fault, parts)

    def _told(self, reply: str) -> list[_Told]:
        """Return the legs of a reply: of all of it or, where it concludes with a whole route, of that one."""
        told = list(self._read(reply))
        if len(told) > len(self.legs) and (concluded := list(_CONCLUDED.finditer(reply))):
            last = list(self._read(reply[concluded[-1].end() :]))
            if len(last) >= len(self.legs):
                return last
        return told

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

    def _read(self, reply: str) -> Iterator[_Told]:
        """Yield the legs of a reply, in order."""
        places, longest = _listener(self.among)
        ends = (self.start, self.legs[-1][2])
        text = ""
        for line in _lines(read(reply), places):
            kept = [line[a:b] for a, b in sentences(line) if not _sums_up(line[a:b], ends, places)]
            text += " ".join(kept) + "\n"
        text = _ALTERNATIVE.split(text, maxsplit=1)[0] if self._ends_before_alternative(text) else text
        events = list(_EVENT.finditer(text))
        draft, here = _Draft(), self.start
        i = 0
        while i < len(events):
            event = events[i]
            place, size = self._place_at(events, i, places, longest)
            if place is not None:
                i += size
                if (
                    draft.place is not None
                    and draft.after in ("to", "→")
                    and draft.distance is None
                    and draft.direction is None
                ):
                    if (
                        draft.place != here
                    ):  # from somewhere else: `Windmill → Opera` instead of the other way round
                        yield (None, None, place)
                    draft.place, draft.after = place, ""
                    continue
                if draft.after in _ORIGIN or (
                    place in (here, draft.place) and draft.after not in ("to", "→")
                ):
                    draft.after = ""
                    continue
                if draft.place is not None:
                    if leg := draft.as_leg():
                        yield leg
                    draft = _Draft()
                draft.place, draft.after = place, ""
            else:
                i += 1
                kind = event.lastgroup
                if kind == "word":
                    if event["word"] not in _LITTLE or event["word"] in ("of", "to"):
                        draft.after = event["word"]
                    continue
                if kind == "arrow":
                    draft.after = "→"
                    continue
                before, draft.after = draft.after, ""
                if kind == "end":
                    if draft.place is not None and draft.as_leg() is None:
                        draft = _Draft()
                    continue
                if kind in ("direction", "letter"):
                    if _SIDE.match(text, event.end()):
                        continue
                    if draft.direction is not None and draft.place is None and before in _REPAIRS:
                        draft.direction = _direction(event[kind])  # `south… sorry, north`
                        continue
                    if draft.direction is not None:
                        if leg := draft.as_leg():
                            yield leg
                        draft = _Draft()
                    draft.direction = _direction(event[kind])
                else:
                    distance = _distance(event["number"] or event["given"], event["unit"])
                    if draft.distance is not None:
                        leg = draft.as_leg()
                        if leg and (
                            draft.place is not None or draft.distance != distance
                        ):  # else it is said again
                            yield leg
                        draft = _Draft()
                    draft.distance = distance
            if draft.direction is not None and draft.distance is not None and draft.place is not None:
                if place is None:  # the place came first: was it the leg's end, or only mentioned?
                    later, size = self._reached(events, i, places, longest)
                    draft.place, i = (later, i + size) if later not in (None, here) else (draft.place, i)
                here = draft.place
                yield (draft.direction, draft.distance, draft.place)
                draft = _Draft()
        if leg := draft.as_leg():
            yield leg

    def _ends_before_alternative(self, text: str) -> bool:
        """Whether a way to the end comes before an alternative is offered."""
        found = _ALTERNATIVE.search(text)
        return found is not None and plain(self.legs[-1][2]) in text[: found.start()]

    def _reached(
        self, events: Sequence[re.Match[str]], i: int, places: Listener[str], longest: int
    ) -> tuple[str | None, int]:
        """Return the place that a leg leads to in the rest of its clause, and the number of events up to its end."""
        before = ""
        for k in range(i, len(events)):
            if events[k].lastgroup != "word":
                break
            place, size = self._place_at(events, k, places, longest)
            if place is not None and before in _TOWARDS:
                return place, k - i + size
            if events[k]["word"] not in ("the", "a", "an"):
                before = events[k]["word"]
        return None, 0

    def _place_at(
        self, events: Sequence[re.Match[str]], i: int, places: Listener[str], longest: int
    ) -> tuple[str | None, int]:
        """Return the place whose name begins with the i-th event, and the number of events in that name."""
        if events[i].lastgroup != "word" or events[i]["word"] in _LITTLE:
            return None, 0
        near = places.beginning(events[i]["word"])
        if not near:
            return None, 0
        said: list[str] = []
        best: tuple[str | None, int] = (None, 0)
        for k in range(i, min(len(events), i + 2 * longest + 2)):
            if events[k].lastgroup != "word":
                break
            word = events[k]["word"]
            if word not in _LITTLE and not (
                said and word.endswith(("'s", "’s"))
            ):  # the statue of the town's founder
                said.append(word)
                for name, place in near:
                    if len(name) == len(said) and all(map(same_word, said, name)):
                        best = (place, k - i + 1)
        return best

    def right(self) -> Sequence[str]:
        """Return the route as sentences, as a list, and in a single sentence."""
        here, lines = self.start, []
        for direction, distance, place in self.legs:
            lines.append(f"From {here}, go {distance} km {direction} to {place}.")
            here = place
        numbered = [f"1. Start at {self.start}."] + [
            f"{i}. Travel {direction} for {distance} kilometres to reach the **{place}**."
            for i, (direction, distance, place) in enumerate(self.legs, start=2)
        ]
        breath = ", then ".join(
            f"{distance} km {direction} to {place}" for direction, distance, place in self.legs
        )
        return ("\n".join(lines), "\n".join(numbered), f"You go {breath}.")

    def wrong(self) -> Sequence[str]:
        """Return the route without its last leg, with that leg reversed, its places alone, an abstention, nothing."""
        lines = self.right()[0].splitlines()
        turned = lines[-1].replace(self.legs[-1][0], _OPPOSITE[self.legs[-1][0]])
        return (
            "\n".join(lines[:-1]) if len(lines) > 1 else "You are there already.",
            "\n".join([*lines[:-1], turned]),
            " -> ".join((self.start, *(place for _, _, place in self.legs))),
            "I do not remember the way.",
            "",
        )


_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


def _content(place: str) -> list[str]:
    return [word for word in _NAME.findall(plain(place)) if word not in _LITTLE]


def _direction(text: str) -> str:
    letters = {each[0]: each for each in DIRECTIONS}
    return letters.get(text, re.sub(r"[\s-]", "", text))


def _distance(text: str, unit: str | None) -> float:
    value = float(_NUMBERS.index(text) + 1) if text in _NUMBERS else float(text)
    return value / 1000 if unit and unit.startswith("m") else value


def _shown(leg: tuple[str | None, float | None, str | None]) -> str:
    direction, distance, place = leg
    said = f"{distance:g} km" if distance is not None else "some way"
    return f"{said} {direction or 'somewhere'} to {place or 'no place'}"


def follows_route(start: str, legs: Sequence[Leg], *, among: Collection[str]) -> FollowsRoute:
    """Expect this way from `start`: direction, kilometres and end of every leg; `among` are all known places."""
    return FollowsRoute(start, tuple(legs), tuple(among))


EXAMPLES: tuple[Matcher, ...] = (
    follows_route(
        "Opera",
        [("north", 2, "Town Hall"), ("east", 1, "Cinema")],
        among=("Opera", "Town Hall", "Cinema"),
    ),
)
"""Examples for the tests that guard every matcher."""
