"""Seeded randomness: every owner has its own stream, named by a string, so that streams never disturb each other.

Each example of a scenario rolls its own dice, but all share decks: an item dealt to one is dealt to no other.

Python guarantees the same numbers across versions only for `random()`, so everything here is derived from it.
"""

from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of random choices that depends only on its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._random = Random(name)
        self.spent: dict[str, int] = {}
        """Each deck that has run out and was shuffled again, with how many examples it lasts."""
        self._dealt: dict[str, Sequence[object]] = {}

    def fraction(self) -> float:
        """Return a number from 0 up to, but excluding, 1."""
        return self._random.random()

    def integer(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included. Raises ValueError if the range is empty."""
        if low > high:
            raise ValueError(f"no integer lies between {low} and {high}")
        return low + int(self._random.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self._random.random() < probability

    def choice(self, items: Sequence[T]) -> T:
        """Return one of the items. Raises ValueError if there are no items."""
        if not items:
            raise ValueError(f"the dice {self.name!r} cannot choose from nothing")
        return items[self.integer(0, len(items) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """Return `count` different items in random order. Raises ValueError if there are fewer."""
        if count > len(items):
            raise ValueError(f"the dice {self.name!r} cannot draw {count} of {len(items)} items")
        pool, fraction = list(items), self._random.random
        for i, left in zip(range(count), range(len(pool), 0, -1), strict=False):
            j = i + int(fraction() * left)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]

    @property
    def index(self) -> int:
        """The number of the example that rolls these dice, as the end of their name says: 2 for `0/colours/2`.

        0 if their name does not end with a number.
        """
        return self._owner()[1]

    def hand(self, deck: str, items: Sequence[T], count: int) -> list[T]:
        """Deal `count` different items from a deck that all examples of a scenario share, in random order.

        No two examples of a run hold the same item until the deck runs out and is reshuffled. An example that
        asks for a deck twice gets the same hand, so decks of different items need different names. Dealing
        rolls no number, so later rolls stay as they are. Raises ValueError if there are fewer items.
        """
        scenario, index = self._owner()
        hands = len(items) // count if count else 1
        if not hands:
            raise ValueError(f"the deck {deck!r} of {self.name!r} cannot deal {count} of {len(items)} items")
        shuffle, place = divmod(index, hands)
        if shuffle:
            self.spent[deck] = hands
        order = _order(f"{scenario}/deck {deck}/{shuffle}", len(items))
        self._dealt[deck] = found = [items[i] for i in order[place * count : (place + 1) * count]]
        return found

    def card(self, deck: str, items: Sequence[T]) -> T:
        """Deal a single item, as `hand` does."""
        return self.hand(deck, items, 1)[0]

    def named(self, text: str) -> str:
        """Return a text in which `{deck}` stands for what that deck has dealt, such as `Ada, Bo and Cem`."""
        for deck, found in self._dealt.items():
            *most, last = map(str, found) if f"{{{deck}}}" in text else [""]
            text = text.replace(f"{{{deck}}}", f"{', '.join(most)} and {last}" if most else last)
        return text

    def _owner(self) -> tuple[str, int]:
        """Return the name that all examples of a scenario share, and which of them this is."""
        scenario, _, index = self.name.rpartition("/")
        return (scenario, int(index)) if index.isdecimal() else (self.name, 0)

    def copy(self) -> "Dice":
        """Return dice that will roll the same numbers from here on."""
        other = Dice.__new__(Dice)  # skips seeding a stream that is replaced at once
        other.name, other._random, other.spent, other._dealt = self.name, Random(0), self.spent, self._dealt
        other._random.setstate(self._random.getstate())
        return other

    def rolling(self, name: str) -> "Dice":
        """Return dice that roll other numbers, and to which the same is dealt."""
        other = self.copy()
        other._random = Random(f"{self.name}/{name}")
        return other

    def pass_over(self, items: int) -> None:
        """Advance by what shuffling this many items consumes, without shuffling them."""
        if items:  # one fraction consumes 64 bits
            self._random.getrandbits(64 * items)

    def child(self, name: str) -> "Dice":
        """Return an independent stream, `<this name>/<name>`."""
        return Dice(f"{self.name}/{name}")


@lru_cache(maxsize=128)
def _order(name: str, items: int) -> Sequence[int]:
    """Return the order of a deck of so many items; every example deals from it, and is played several times."""
    return Dice(name).shuffled(range(items))
