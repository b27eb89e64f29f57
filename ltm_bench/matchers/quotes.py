"""`retells`: the reply retells one of several known texts, and no other. Fuzzy, so that no judge is needed."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading import (
    Lexicon,
    abstains,
    answer,
    is_foreign,
    mentions,
    plain,
    read,
    resolve,
    words,
)  # fmt: skip
from ltm_bench.matchers.reading.surplus import GENEROUS, TIMES
from ltm_bench.matchers.sameness import singular

_CLOSE = 88.0
"""Minimum partial ratio (rapidfuzz) of a quoted sentence; it allows for typos."""

_FEW = 2
"""Minimum words shared with a text for a reply to be possibly about it."""

_READ = 10_000
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_STOP = frozenset(
    "the and for are but not you all can had her was one our out has him his how its may new now old see two way who "
    "did let say she too use that with have this will your from they been call come each find give hand here into "
    "just like long made make many more most much must name only over part some such take than them then these thing "
    "think time very want well were what when where which while would about after again also back because before "
    "being could does down even every first joke told tell ever good great know last might never other said same "
    "should since still their there those through under until upon".split()
)


def _content(text: str) -> frozenset[str]:
    return frozenset(singular(w) for w in words(text) if len(w) > 3 and w not in _STOP)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> Sequence[str]:
    """Return what a reply may quote from a known text: its longer sentences, or all of it."""
    whole = plain(text)
    return [s for s in (*map(str.strip, _SENTENCE.findall(whole)), whole) if len(s.split()) >= 4]


_ABOUT = re.compile(
    r"\b(?:joke|one|story|riddle|gag|pun|quote|saying)s?\b[^.!?\n]{0,20}?\b(?:about|involving|featuring|"
    r"(?:with|of) (?=the |an? ))"
    r"((?: ?[\w'-]+){1,5})"
)
_NAMED = re.compile(r"\b((?:[\w'-]{1,30} )?[\w'-]{1,30}) (?:joke|story|riddle|gag|pun|one)\b")


def _has(reply: str, sentence: str) -> bool:
    from rapidfuzz import fuzz

    return len(sentence) <= len(reply) + 8 and fuzz.partial_ratio(sentence, reply, score_cutoff=_CLOSE) > 0


def _quotes(reply: str, text: str) -> bool:
    """Whether the reply contains a sentence of `text`, nearly word for word."""
    return any(_has(reply, sentence) for sentence in _sentences(text))


class _Telling(NamedTuple):
    """The words of several texts."""

    content: Mapping[str, frozenset[str]]
    own: Mapping[str, Collection[str]]
    """For each text, the words that no other text has."""
    listener: Listener[tuple[str, str]]
    """Finds those words; each means a text and the word."""
    lexicon: Lexicon
    """The texts, named by any of their own words."""


@lru_cache(maxsize=16)
def _telling(texts: frozenset[str]) -> _Telling:
    content = {text: _content(text) for text in texts}
    texts_with = Counter(word for each in content.values() for word in each)
    own = {text: [word for word in each if texts_with[word] == 1] for text, each in content.items()}
    listener = Listener(([word], (text, word)) for text in texts for word in own[text])
    return _Telling(content, own, listener, Lexicon(own, shortened=False))


def _described(telling: _Telling, said: str) -> Collection[str]:
    """Return the texts whose distinctive words the reply says often enough; first letters must match."""
    heard = list(dict.fromkeys(map(singular, words(said))))
    hits = {(text, word) for i, _, (text, word) in telling.listener.hear(heard) if heard[i][:1] == word[:1]}
    counts = Counter(text for text, _ in hits)
    return [text for text, own in telling.own.items() if counts[text] >= max(2, len(own) // 3)]


@dataclass(frozen=True, slots=True)
class Retells(Matcher):
    """Right if the reply quotes or unmistakably describes `text`, and none of the others."""

    version: ClassVar[int] = 2

    text: str
    others: tuple[str, ...]
    """The other texts that the reply could mean."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the known texts the reply retells, or tells apart by what it is about."""
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        texts = (self.text, *self.others)
        telling = _telling(frozenset(texts))
        said = plain(answer(reply)[:_READ])
        described = _described(telling, said)
        told = [text for text in texts if text in described or _quotes(said, text)]
        about = mentions(read(reply), telling.lexicon)
        asserted = {m.value for m in about if not m.denied}
        told = [text for text in told if text in asserted or not any(m.value == text for m in about)]
        if len(told) != 1:
            meant = resolve(about)
            quoted = [text for text in told if _quotes(said, text)]
            if len(quoted) == 1:  # the others are only spoken of
                told = quoted
            elif (
                not told
                and len(meant.values) == 1
                and meant.sure
                and self._is_named(meant.values[0], reply, turns)
            ):
                told = list(meant.values)
        if told == [self.text]:
            if self._ends_otherwise(said, described):
                return Verdict(
                    Outcome.UNDECIDED, 0.0, "the reply begins like the right one and ends differently"
                )
            if len(words(said)) > GENEROUS + TIMES * len(words(self.text)):
                return Verdict(Outcome.WRONG, 0.0, "the reply tells it amid much other text")
            return Verdict(Outcome.CORRECT, 1.0, "the reply retells the right one")
        if self.text in told:
            return Verdict(Outcome.WRONG, 0.0, f"the reply retells {len(told)} of them, not just one")
        if told:
            return Verdict(Outcome.WRONG, 0.0, f"the reply retells another one: {told[0]}")
        if is_foreign(reply) and not abstains(reply):
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply is in a language that no matcher reads")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        heard = _content(answer(reply)[:_READ])
        near = [
            text
            for text in texts
            if len(heard & telling.content[text]) >= _FEW
            or any(m.value == text and m.asserted for m in about)
        ]
        if near == [self.text]:
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may be retelling the right one in other words")
        return Verdict(Outcome.WRONG, 0.0, "the reply retells none of them")

    def _is_named(self, text: str, reply: str, turns: Sequence[Turn]) -> bool:
        """Whether a reply names a text by what it is about: `the one about the boomerang`."""
        said = plain(reply)
        named = [*_ABOUT.findall(said), *_NAMED.findall(said)]
        topics = {singular(word) for each in named for word in words(each)}
        own = {singular(word) for word in _telling(frozenset((self.text, *self.others))).own[text]}
        asked = {singular(word) for turn in turns[-1:] for word in words(turn.message.text)}
        return bool(topics & own - asked)

    def _ends_otherwise(self, said: str, described: Collection[str]) -> bool:
        """Whether a reply quotes the beginning of the text and then tells another end."""
        parts = _sentences(self.text)[:-1]
        if len(parts) < 2 or not _has(said, parts[0]) or _has(said, parts[-1]):
            return False
        end = _content(parts[-1]) - _content(parts[0])
        after = said[said.find(parts[0][-12:]) + 12 :] if parts[0][-12:] in said else ""
        return len(words(after)) >= 3 and 2 * len(end & _content(after)) <= len(end)

    def right(self) -> Sequence[str]:
        """Return the text itself, quoted, and in capitals."""
        return (self.text, f"You told me this one: “{self.text}”", self.text.upper())

    def wrong(self) -> Sequence[str]:
        """Return another text, all texts, none, and an abstention."""
        return (*self.others[:1], " ".join((self.text, *self.others)), "I do not remember.", "")

    @property
    def chance(self) -> float:
        """One over the number of texts."""
        return 1 / (1 + len(self.others))


def retells(text: str, *, among: Collection[str]) -> Retells:
    """Expect `text` to be retold, and no other of `among`."""
    return Retells(text, tuple(other for other in among if other != text))


EXAMPLES: tuple[Matcher, ...] = (
    retells(
        "Two antennas got married on the roof.",
        among=("Two antennas got married on the roof.", "A snail was mugged."),
    ),
)
"""Examples for the tests that guard every matcher."""
