"""Lighthouse: a code of flashes is agreed, changed and asked for; a secret is deleted, and must not come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from ltm_bench import (
    Ask,
    Chat,
    Dice,
    Fact,
    Matcher,
    Outcome,
    Reply,
    Script,
    Tell,
    Turn,
    Verdict,
    formerly,
    item_counts,
    lists_all,
    names_only,
    picks,
    retells,
    says,
    scenario,
    spoken_duration,
    withholds,
)

SHIPS = ("Albatross", "Bluebell", "Cormorant", "Dauntless", "Emerald", "Falcon")
PLACES = ("chart room", "lamp room", "boat house", "coal cellar", "signal mast", "rain barrel")
STORES = {"rope": 3, "candle": 12, "biscuit": 7}
VERSES = (
    "The lamp is lit, the night is long, the sea is never still.",
    "The lamp is out, the morning grey, the gulls are on the hill.",
)
VERSE = VERSES[0]


@dataclass(frozen=True)
class Flashes(Matcher):
    """Right if the reply gives this number of short and long flashes, as dots and dashes."""

    version: ClassVar[int] = 2

    code: str
    among: tuple[str, ...] = ()

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        said = "".join(each for each in reply if each in ".-")
        if said == self.code:
            return Verdict(Outcome.CORRECT, 1.0, "the code is right")
        if said in self.among:
            return Verdict(Outcome.STALE, 0.0, "that was the code before")
        if not said:
            return Verdict(Outcome.MALFORMED, 0.0, f"no flashes in the last of {len(turns)} replies")
        same = sum(one == other for one, other in zip(said, self.code, strict=False))
        return Verdict(Outcome.WRONG, 0.0, f"{same} flashes agree")

    def right(self) -> Sequence[str]:
        return (self.code, f"It is {self.code}")

    def wrong(self) -> Sequence[str]:
        return (*self.among, "I do not know", "")

    def in_words(self) -> str:
        return f"the flashes {self.code}"

    @property
    def chance(self) -> float:
        return 2.0 ** -len(self.code)


def flashes(code: str, *, before: Sequence[str] = ()) -> Flashes:
    """Expect this code; `before` are codes that no longer hold."""
    return Flashes(code, tuple(before))


def _code(dice: Dice) -> str:
    return "".join(dice.choice(".-") for _ in range(6))


@scenario(
    skills={"recall", "conflict", "forgetting"},
    topics={"lighthouse"},
    forget="The lighthouse is closed: nothing that I said of it counts any more.",
    version=3,
)
def lighthouse(dice: Dice, *, ships: tuple[str, ...] = SHIPS, hours: float = 2.0) -> Script:
    """Agree on a code and change it; read a verse; delete where the key is; then ask for everything."""
    old, new = _code(dice), _code(dice)
    while new == old:
        new = _code(dice)
    first, second = dice.hand("ship", ships, 2)
    key = dice.card("place", PLACES)
    fact = Fact("the key", key, words=("key",), among=PLACES)
    heard = yield Tell(f"The lighthouse flashes {old} for friends.", at=0.0)
    assert isinstance(heard, Reply)
    yield Tell(f"I have hidden the key of the lighthouse in the {key}.", at=0.05, facts=(fact,))
    yield Tell(f"The keeper of the lighthouse says: {VERSE}", at=0.1)
    yield Tell("In store: " + ", ".join(f"{n} {name}s" for name, n in STORES.items()) + ".", at=0.15)
    yield Tell(f"The {first} lies in the lighthouse's harbour.", at=0.2, user="Ada")
    yield Tell(f"The {first} has left, and the {second} lies there now.", at=0.3, user="Ada")
    yield Chat("Is it not a fine evening at the lighthouse?", at=0.35)
    asked = "Where is the key of the lighthouse? Name the place alone."
    yield Ask(asked, expect=names_only(key, among=PLACES), at=0.4, shows="the key")
    yield Tell("Please forget where the key of the lighthouse is.", at=0.45, deletes=("the key",))
    yield Tell(f"From now on the lighthouse flashes {new}.", at=0.5, after=timedelta(hours=hours))

    def late(at: datetime) -> str:
        return f"It is {at:%H:%M}, {waited} later. What does the lighthouse flash now? Dots and dashes alone."

    waited = spoken_duration(timedelta(hours=hours))
    yield Ask(late, expect=flashes(new, before=[old]), at=0.7)
    yield Ask(asked, expect=withholds(key, among=PLACES), at=0.75, needs="the key")
    lay = "Which ship lay in the lighthouse's harbour before the one that is there now? Its name alone."
    yield Ask(lay, expect=formerly(first, among=SHIPS), at=0.8, user="Ada")
    both = "Which two ships were in the lighthouse's harbour?"
    yield Ask(both, expect=lists_all([first, second], among=SHIPS), user="Ada")
    yield Ask("What does the keeper say? Word for word.", expect=retells(VERSE, among=VERSES), at=0.85)
    stock = item_counts(STORES, among=[*STORES, "lantern", "anchor"])
    yield Ask("What is in store? A JSON list with 'item' and 'quantity'.", expect=stock, at=0.9)
    hail = Ask("Hail the lighthouse: say 'ahoy there'.", expect=says("ahoy there"), at=0.95, inline=True)
    answer = yield hail
    polite = "please" in answer.text.lower()
    kinds = ("a lighthouse", "a windmill", "a castle")
    numbered = "; ".join(f"({i}) {kind}" for i, kind in enumerate(kinds, start=1))
    text = f"What was all this about: {numbered}?{' Thank you.' if polite else ''} The number alone."
    yield Ask(text, expect=picks(1, of=len(kinds)), at=1.0)
