"""`retells`: the reply retells one of several known texts, word for word or by what it is about, and no other."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import listed
from ltm_bench.matchers.reading import Lexicon, Mention, Reading, mentions, read, resolve
from ltm_bench.matchers.reading.doubting import LAST, RECITAL, DoubtingMatcher, asked, parts, unanswered
from ltm_bench.matchers.reading.surplus import GENEROUS, TIMES, Span
from ltm_bench.matchers.reading.text import COMMON, answer, flat, plain, words
from ltm_bench.matchers.sameness import same_word, singular

_CLOSE = 88.0
"""Minimum partial ratio (rapidfuzz) of a quoted sentence; it allows for typos."""

_FEW = 2
"""Minimum words shared with a text for a reply to be possibly about it."""

_READ = 10_000
_SENTENCE = re.compile(r"[^.!?…]+[.!?…]*")
_STOP = COMMON.union(listed("telling"))
_ABOUT = re.compile(
    r"\b(?:joke|one|story|riddle|gag|pun)s?\b[^.!?\n]{0,20}?\b(?:about|involving|featuring|(?:with|of) (?=the |an? ))"
    r"((?: ?[\w'-]+){1,5})"
)
_NAMED = re.compile(r"\b((?:[\w'-]{1,30} )?[\w'-]{1,30}) (?:joke|story|riddle|gag|pun|one)\b")


def _content(text: str) -> frozenset[str]:
    return frozenset(singular(w) for w in words(text) if len(w) > 3 and w not in _STOP)


@lru_cache(maxsize=1024)
def _sentences(text: str) -> Sequence[str]:
    """Return what a reply may quote from a known text: its longer sentences, or all of it."""
    whole = plain(text)
    return [s for s in (*map(str.strip, _SENTENCE.findall(whole)), whole) if len(s.split()) >= 4]


def _has(reply: str, sentence: str) -> bool:
    """Whether a reply contains a sentence nearly word for word: a changed word of its own makes another one."""
    from rapidfuzz import fuzz

    near = len(sentence) <= len(reply) + 8 and fuzz.partial_ratio(sentence, reply, score_cutoff=_CLOSE) > 0
    return near and all(any(same_word(word, each) for each in words(reply)) for word in _content(sentence))


def _quotes(reply: str, text: str) -> bool:
    """Whether the reply contains a sentence of `text`, nearly word for word."""
    return any(_has(reply, sentence) for sentence in _sentences(text))


@lru_cache(maxsize=16)
def _owned(texts: frozenset[str]) -> tuple[Mapping[str, Collection[str]], Lexicon]:
    """Return the words that each of several texts has alone, and the texts, named by any of them."""
    texts_with = Counter(word for text in texts for word in _content(text))
    own = {text: [word for word in _content(text) if texts_with[word] == 1] for text in texts}
    return own, Lexicon(own, shortened=False)


@dataclass(frozen=True, slots=True)
class Retells(DoubtingMatcher):
    """Right if the reply quotes or unmistakably describes `text`, and none of the others."""

    version: ClassVar[int] = 4

    text: str
    others: tuple[str, ...]
    """The other texts that the reply could mean."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge which of the known texts the reply retells, or tells apart by what it is about."""
        texts = (self.text, *self.others)
        said, reading = plain(answer(reply)[:_READ]), read(reply)
        about = mentions(reading, _owned(frozenset(texts))[1])
        told = self._told(said, reading, about, asked(turns))
        if told == [self.text]:
            if self._ends_otherwise(said):
                return Verdict(Outcome.UNDECIDED, 0.0, "the reply retells it in part, and ends otherwise")
            if len(words(said)) > GENEROUS + TIMES * len(words(self.text)):
                return RECITAL
            return Verdict(Outcome.CORRECT, 1.0, "the reply retells the right one")
        if self.text in told:
            return RECITAL if len(told) > _FEW else Verdict(Outcome.WRONG, 0.0, "the reply tells of two")
        if told:
            return Verdict(Outcome.WRONG, 0.0, f"the reply retells another one: {told[0]}")
        verdict = unanswered(reply, Outcome.WRONG, "the reply retells none of them")
        heard, named = _content(said), {m.value for m in about if m.asserted}
        near = [text for text in texts if len(heard & _content(text)) >= _FEW or text in named]
        if verdict.outcome is Outcome.WRONG and near == [self.text]:
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may be retelling the right one in other words")
        return verdict

    def parts(self, reply: str) -> Iterator[tuple[str, str]]:
        """Yield the parts at its end, after which no other is told."""
        return (each for each in parts(reply) if each[0].startswith(LAST))

    def used(self, reply: str) -> Sequence[Span]:
        """Return all of it: to retell is to repeat a message."""
        return ((0, len(reply)),)

    def _told(self, said: str, reading: Reading, about: Sequence[Mention], question: str) -> list[str]:
        """Return the texts that the reply retells: quoted, described, or named by what they are about."""
        texts = (self.text, *self.others)
        own, _ = _owned(frozenset(texts))
        heard = {(m.value, singular(flat(reading.text[m.start : m.end]))) for m in about}
        counts = Counter(text for text, _ in heard)
        described = [text for text in counts if 2 * counts[text] >= max(5, len(own[text]))]
        asserted = {m.value for m in about if not m.denied}
        unnamed = set(texts).difference(m.value for m in about)
        told = [t for t in texts if (t in described or _quotes(said, t)) and (t in asserted or t in unnamed)]
        quoted = [text for text in told if _quotes(said, text)]
        if len(told) > 1 and len(quoted) == 1:  # the others are only spoken of
            return quoted
        meant = resolve(about)
        if not told and meant.sure and len(meant.values) == 1:  # `the one about the boomerang`
            named = [*_ABOUT.findall(said), *_NAMED.findall(said)]
            topics = {singular(word) for each in named for word in words(each)}
            new = set(map(singular, own[meant.values[0]])).difference(map(singular, words(question)))
            return [] if new.isdisjoint(topics) else list(meant.values)
        return told

    def _ends_otherwise(self, said: str) -> bool:
        """Whether a reply quotes the beginning of the text, or of its end, and then goes on otherwise."""
        parts = [" ".join(words(each)) for each in _sentences(self.text)[:-1]]
        heard = " ".join(words(said))
        if len(parts) < 2 or _has(heard, parts[-1]):
            return False
        half = parts[-1].rfind(" ", 0, len(parts[-1]) // 2)
        for begin, end in ((parts[0], parts[-1]), (parts[-1][:half], parts[-1][half:])):
            own, after = _content(end) - _content(begin), heard.partition(begin[-12:])[2]
            if _has(heard, begin) and len(words(after)) >= 2 and 2 * len(own & _content(after)) <= len(own):
                return True
        return False

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


_JOKES = ("Two antennas got married on the roof.", "A snail was mugged.")
EXAMPLES: tuple[Matcher, ...] = (retells(_JOKES[0], among=_JOKES),)
"""Examples for the tests that guard every matcher."""
