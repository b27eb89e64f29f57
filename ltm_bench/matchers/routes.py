"""`follows_route`: the reply leads from place to place, with the distance and direction of each leg."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading import abstains, answer, plain, words
from ltm_bench.matchers.sameness import same_word

Leg = tuple[str, int, str]
"""Direction, kilometres, and the place at the end."""

DIRECTIONS = ("north", "south", "east", "west")

_NUMBERS = "one two three four five six seven eight nine ten".split()
_UNIT = r"(?:kms?|kilomet(?:er|re)s?)"
_NUMBER = rf"(?P<number>\d+(?:\.\d+)?|{'|'.join(_NUMBERS)})"
_EVENT = re.compile(
    rf"(?P<end>[.!?](?=\s|$)|[\n}}])|\b{_NUMBER}[\s-]*{_UNIT}\b"
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


@dataclass(frozen=True, slots=True)
class FollowsRoute(Matcher):
    """Right if the reply tells every leg, in order, with its direction, its distance and its end.

    Net displacement is not enough. A recap after the route may repeat its legs; an alternative after it is ignored.
    """

    start: str
    legs: tuple[tuple[str, int, str], ...]
    among: tuple[str, ...]
    """Every place that could have been named."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge leg by leg."""
        told = list(self._read(reply))
        if not told:
            if not reply.strip():
                return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
            if abstains(reply):
                return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
            said, end = words(reply), _content(self.legs[-1][2])
            if all(any(same_word(word, part) for word in said) for part in end) and (
                sum(map(str.isdigit, answer(reply))) >= len(self.legs)
            ):
                return Verdict(Outcome.UNDECIDED, 0.0, "distances are told, but no way can be read from them")
            return Verdict(Outcome.WRONG, 0.0, "the reply tells no distances and directions")
        for i, expected in enumerate(self.legs):
            if i >= len(told):
                return Verdict(
                    Outcome.WRONG, 0.0, f"the route ends early: leg {i + 1} {_shown(expected)} is missing"
                )
            if told[i] != expected:
                return Verdict(
                    Outcome.WRONG,
                    0.0,
                    f"leg {i + 1} should go {_shown(expected)}, the reply goes {_shown(told[i])}",
                )
        strange = next((leg for leg in told[len(self.legs) :] if leg not in self.legs), None)
        if strange is not None:
            return Verdict(Outcome.WRONG, 0.0, f"the reply goes on {_shown(strange)} after its end")
        return Verdict(Outcome.CORRECT, 1.0, f"all {len(self.legs)} legs are right")

    def _read(self, reply: str) -> Iterator[tuple[str | None, float | None, str | None]]:
        """Yield the legs of a reply, in order."""
        text = plain(answer(reply))
        text = _ALTERNATIVE.split(text, maxsplit=1)[0] if self._ends_before_alternative(text) else text
        places, longest = _listener(self.among)
        events = list(_EVENT.finditer(text))
        draft, here = _Draft(), self.start
        i = 0
        while i < len(events):
            event = events[i]
            place, size = self._place_at(events, i, places, longest)
            if place is not None:
                i += size
                if place in (here, draft.place) or draft.after in _ORIGIN:
                    draft.after = ""
                    continue
                if draft.place is not None:
                    if leg := draft.as_leg():
                        yield leg
                    draft = _Draft()
                draft.place = place
            else:
                i += 1
                kind = event.lastgroup
                if kind == "word":
                    if event["word"] not in _LITTLE or event["word"] == "of":
                        draft.after = event["word"]
                    continue
                draft.after = ""
                if kind == "end":
                    if draft.place is not None and draft.as_leg() is None:
                        draft = _Draft()
                    continue
                if kind in ("direction", "letter"):
                    if draft.direction is not None:
                        if leg := draft.as_leg():
                            yield leg
                        draft = _Draft()
                    draft.direction = _direction(event[kind])
                else:
                    if draft.distance is not None:
                        if leg := draft.as_leg():
                            yield leg
                        draft = _Draft()
                    draft.distance = _distance(event["number"] or event["given"])
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


def _distance(text: str) -> float:
    return float(_NUMBERS.index(text) + 1) if text in _NUMBERS else float(text)


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
"""What the tests that guard every matcher are run with."""
