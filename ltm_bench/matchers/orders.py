"""`orders`: a guest orders something from the menu. `notices`: a guest notices that the wrong dish was served."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import alternatives
from ltm_bench.matchers.reading import Force, Lexicon, Mention, Reading, Time, mentions, plain, read
from ltm_bench.matchers.reading.abstaining import abstains, gives_up
from ltm_bench.matchers.reading.doubting import RECITAL, RECITES, UNKNOWN, DoubtingMatcher
from ltm_bench.matchers.reading.text import flat, sentences, words

_GARNISH = re.compile(r"\s(?:with|served|in|on|of|from|topped|and its)\b")
_NO_GUEST = "the reply does not speak as the guest"

_OUT_OF_ROLE = re.compile(alternatives("out of role"))


@lru_cache(maxsize=64)
def _lexicon(menu: tuple[str, ...]) -> Lexicon:
    """Return the items of a menu, named with or without their garnish."""
    return Lexicon({item: (item, _GARNISH.split(item, maxsplit=1)[0]) for item in menu})


_ASKS = re.compile(r"\b(?:(?:could|can|may|might) (?:i|we|you)|please|how about|i'?ll|i'd|i will|i would)\b")
_MOST = 400
"""Characters of a sentence in which it can be asked for a recommendation."""
_RECOMMEND = re.compile(rf"\b(?:recommend|suggest|which(?=[^?]{{0,{_MOST}}}\?)|or should|what would you)\b")


def _sentence(mention: Mention, reading: Reading) -> str:
    return reading.blocks[mention.block].text[mention.within[0] : mention.within[1]][:_MOST]


def _is_wanted(mention: Mention, reading: Reading) -> bool:
    """Whether a dish is ordered: asserted or asked for, not weighed against another, and not part of another's name."""
    said = _sentence(mention, reading)
    asked = mention.force is Force.QUESTION and _ASKS.search(said) is not None
    put = asked or mention.force in (Force.FLAT, Force.HEDGED)
    gone = mention.denied or mention.time is Time.REPLACED or mention.choice or mention.attached
    return put and not gone and _RECOMMEND.search(said) is None


def ordered(reply: str, menu: Collection[str]) -> list[str]:
    """Return the items of the menu that a guest orders, as spoken; items asked about or declined are left out.

    For scenarios whose script continues with what was ordered. It may change with the reader, so a scenario that must
    not change has its own parser.
    """
    reading = read(reply)
    wanted = [m for m in mentions(reading, _lexicon(tuple(menu))) if _is_wanted(m, reading)]
    return list(dict.fromkeys(m.value for m in wanted))


@dataclass(frozen=True, slots=True)
class Orders(DoubtingMatcher):
    """Right if the reply is a guest's and orders something available; reciting the menu is not an order."""

    version: ClassVar[int] = 4
    single: ClassVar[bool] = True
    certain: ClassVar[Collection[str]] = (RECITES, _NO_GUEST)

    menu: tuple[str, ...]
    gone: tuple[str, ...] = ()
    """Items of the menu that are sold out."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the items that are ordered."""
        reading = read(reply)
        named = mentions(reading, self.candidates())
        ordered = [m for m in named if _is_wanted(m, reading)]
        asked_for = [m for m in ordered if m.final or m.bare or _ASKS.search(_sentence(m, reading))]
        wanted = list(dict.fromkeys(m.value for m in [m for m in ordered if m.final] or asked_for or ordered))
        if not named and abstains(reply):
            return UNKNOWN
        if _OUT_OF_ROLE.search(plain(reply)):
            return Verdict(Outcome.WRONG, 0.0, _NO_GUEST)
        if ordered and not asked_for and (word := self._asks_for(reply, turns)) is not None:
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply names {wanted[0]}, but ends with “{word}”")
        kept = {m.value for m in named if not m.denied}  # with arrows between them, only the last is wanted
        if any((len(kept) == len(self.menu) > 2, len(wanted) > max(1, len(self.menu) // 2))):
            return RECITAL
        if had := [item for item in wanted if item not in self.gone]:
            return Verdict(Outcome.CORRECT, 1.0, f"the guest orders {' and '.join(had)}")
        if wanted:
            return Verdict(Outcome.STALE, 0.0, f"the guest orders {wanted[0]}, which is sold out")
        return Verdict(Outcome.WRONG, 0.0, "the guest orders nothing of what there is to order")

    def _asks_for(self, reply: str, turns: Sequence[Turn]) -> str | None:
        """Return a word of the last sentence that may name something that is not on the menu."""
        *_, (start, end) = sentences(flat(reply))
        last = " ".join(words(reply[start:end])[-self.short :])
        known = any(not m.attached for m in mentions(read(last), self.candidates()))
        return None if known else self.strange(last, turns, ())

    def candidates(self) -> Lexicon:
        """Return the items of the menu."""
        return _lexicon(self.menu)

    def in_words(self) -> str:
        """Say what an order is."""
        left = ", ".join(item for item in self.menu if item not in self.gone)
        return f"As a guest, an order of something that is on the menu and not sold out, but not of most of it: {left}."

    def right(self) -> Sequence[str]:
        """Return polite and curt orders of the first available item."""
        item = next(item for item in self.menu if item not in self.gone)
        return (f"I would like the {item}, please.", f"The {item}.", f"Could I have the {item}, please?")

    def wrong(self) -> Sequence[str]:
        """Return the whole menu, orders of sold-out items, replies out of role, and nothing."""
        sold_out = [f"I would like the {item}, please." for item in self.gone]
        out_of_role = (f"Waiter: the {self.menu[-1]}, very good!", "As an AI, I do not eat or drink.", "")
        return (", ".join(self.menu), " → ".join(self.menu), *sold_out, *out_of_role, "A hamburger, please.")


def orders(menu: Collection[str], *, gone: Collection[str] = ()) -> Orders:
    """Expect an order from the menu that is not among `gone`."""
    return Orders(tuple(menu), tuple(gone))


_MISMATCH = re.compile(rf"\b(?:{alternatives('mismatch')})\b")
"""Says that what came is not what was ordered."""
_NOT_ORDERED = re.compile(rf"(?:\b(?:not|never)|n't)(?: [\w']+){{0,4}} (?:{alternatives('not ordered')})\b")
_NO_MISMATCH = re.compile(alternatives("content"))
_ORDERED = re.compile(alternatives("ordered"))
_CONTRAST = re.compile(r"\b(?:but|however|not|though)\b")
_PLEASED = re.compile(r"\b(?:delicious|lovely|wonderful|perfect|great|tasty|enjoy|smells?|looks? good)\b")


@dataclass(frozen=True, slots=True)
class Notices(DoubtingMatcher):
    """Right if the guest notices that another dish was served than the one ordered."""

    version: ClassVar[int] = 4
    certain: ClassVar[Collection[str]] = (RECITES, _NO_GUEST)

    wanted: str
    served: str

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the guest objects; one who only names the ordered dish may be objecting."""
        text = plain(reply)
        if _NO_MISMATCH.search(text):
            return Verdict(Outcome.WRONG, 0.0, f"the guest is content with the {self.served}")
        found = mentions(read(reply), _lexicon((self.wanted, self.served)))
        named = any(m.value == self.wanted for m in found)
        pleased, forgets = _PLEASED.search(text) is not None, not named and abstains(reply)
        mismatch, ordered = _MISMATCH.search(text) is not None, _ORDERED.search(text) is not None
        if _OUT_OF_ROLE.search(text):
            return Verdict(Outcome.ABSTAINED if forgets and not ordered else Outcome.WRONG, 0.0, _NO_GUEST)
        contrast = ordered and _CONTRAST.search(text) is not None
        if forgets and not mismatch and (pleased or not ordered or gives_up(reply)):
            return Verdict(Outcome.WRONG, 0.0, "the guest does not object") if pleased else UNKNOWN
        objects = mismatch or self._refuses(text, found)
        if (ordered and objects) or (not pleased and (objects or contrast or (named and ordered))):
            return Verdict(Outcome.CORRECT, 1.0, f"the guest notices that the {self.served} was not ordered")
        if named and not pleased:
            return Verdict(Outcome.UNDECIDED, 0.0, f"the guest names the {self.wanted}, but does not object")
        return Verdict(Outcome.WRONG, 0.0, "the guest does not notice")

    def _refuses(self, text: str, found: Sequence[Mention]) -> bool:
        """Whether the guest says that it was not ordered: `the stew, not the tart`."""
        denied, named = {m.value for m in found if m.denied}, {m.value for m in found}
        return _NOT_ORDERED.search(text) is not None or (self.wanted in named and self.served in denied)

    def in_words(self) -> str:
        """Say what is to be noticed."""
        return f"As a guest, that the {self.served} is not what was ordered; it was the {self.wanted}."

    def right(self) -> Sequence[str]:
        """Return polite and curt objections."""
        objection = f"Excuse me, I ordered the {self.wanted}, not the {self.served}."
        return (objection, "I am afraid that this is not what I ordered.", "There seems to be a mix-up.")

    def wrong(self) -> Sequence[str]:
        """Return several forms of contentment."""
        content = f"Ah, the {self.served}, exactly what I ordered."
        return ("Thank you, this looks delicious!", content, f"Waiter: Here you are, the {self.served}.", "")


def notices(wanted: str, *, served: str) -> Notices:
    """Expect the guest to object to being served something other than `wanted`."""
    return Notices(wanted, served)


EXAMPLES: tuple[Matcher, ...] = (
    orders(("apple juice", "mint tea", "beer"), gone=("beer",)),
    notices("lamb stew", served="plum tart"),
)
"""Examples for the tests that guard every matcher."""
