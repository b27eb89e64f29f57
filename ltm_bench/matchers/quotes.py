"""`retells`: the reply retells one of several known texts, and no other. Fuzzy, so that no judge is needed."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ltm_bench.matchers.reading import abstains, answer, plain, same_word, singular, words
from ltm_bench.messages import Matcher, Outcome, Turn, Verdict

_CLOSE = 88.0
"""rapidfuzz's partial ratio from which a sentence counts as quoted, spelling slips allowed."""

_FEW = 2
"""Words of a text that a reply has to have in common with it to be about it, perhaps."""

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


def _quotes(reply: str, text: str) -> bool:
    """Whether a sentence of `text` stands in the reply, nearly word by word."""
    from rapidfuzz import fuzz

    sentences = [s.strip() for s in _SENTENCE.findall(plain(text))]
    for sentence in [*sentences, plain(text)]:
        if len(sentence.split()) < 4 or len(sentence) > len(reply) + 8:
            continue
        if fuzz.partial_ratio(sentence, reply, score_cutoff=_CLOSE) > 0:
            return True
    return False


def _resembles(reply: str, text: str) -> bool:
    """Whether a reply has at least two of the words with which a text is told, though not enough to be sure."""
    heard = _content(answer(reply)[:_READ])
    return len(heard & _content(text)) >= _FEW


@dataclass(frozen=True, slots=True)
class Retells(Matcher):
    """Right if the reply quotes or unmistakably describes `text`, and none of the others."""

    text: str
    others: tuple[str, ...]
    """The other texts that could have been meant."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge by which of the known texts the reply retells."""
        told = [text for text in (self.text, *self.others) if self._retold(reply, text)]
        if told == [self.text]:
            return Verdict(Outcome.CORRECT, 1.0, "the reply retells the right one")
        if self.text in told:
            return Verdict(Outcome.WRONG, 0.0, f"the reply retells {len(told)} of them, not one")
        if told:
            return Verdict(Outcome.WRONG, 0.0, f"the reply retells another one: {told[0]}")
        if not reply.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        if abstains(reply):
            return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
        near = [text for text in (self.text, *self.others) if _resembles(reply, text)]
        if near == [self.text]:
            return Verdict(Outcome.UNDECIDED, 0.0, "the reply may be retelling the right one in other words")
        return Verdict(Outcome.WRONG, 0.0, "the reply retells none of them")

    def _retold(self, reply: str, text: str) -> bool:
        said = plain(answer(reply)[:_READ])
        if _quotes(said, text):
            return True
        everyone = [_content(t) for t in (self.text, *self.others) if t != text]
        own = {w for w in _content(text) if not any(w in other for other in everyone)}
        if not own:
            return False
        heard = set(map(singular, words(said)))
        hits = sum(1 for w in own if w in heard or any(same_word(h, w) for h in heard if h[:1] == w[:1]))
        return hits >= max(2, len(own) // 3)

    def right(self) -> Sequence[str]:
        """Give the text itself, quoted, and in capitals."""
        return (self.text, f"You told me this one: “{self.text}”", self.text.upper())

    def wrong(self) -> Sequence[str]:
        """Give another text, all of them, none, and an abstention."""
        return (*self.others[:1], " ".join((self.text, *self.others)), "I do not remember.", "")

    @property
    def chance(self) -> float:
        """One in all texts."""
        return 1 / (1 + len(self.others))


def retells(text: str, *, among: Collection[str]) -> Retells:
    """Expect `text` to be retold, and no other of `among`."""
    return Retells(text, tuple(other for other in among if other != text))
