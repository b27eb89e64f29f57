"""Doubt: *wrong* is said only of a reply that was read. One rule for every matcher of ours.

A reply that reads as wrong is undecided where

- *A*, some part of it, read alone, is right: its first or last sentence, or all of it without parentheses;
- *B*, a short one, or what it announces at its end, has a word that nobody has used: it may be another word for the
  answer;
- *C*, all that is expected stands in it, and no rival does;
- or it is in a language that is not read.

Partial credit is doubted where the end alone would be right. A recital stays wrong: every answer is a part of it.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.abstaining import abstains, is_abstention, is_foreign
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.lexicon import Lexicon, lexicon
from ltm_bench.matchers.reading.mention import Mention, Time
from ltm_bench.matchers.reading.stance import mentions, places
from ltm_bench.matchers.reading.structure import read
from ltm_bench.matchers.reading.surplus import Span, may_recite, recites, told_words
from ltm_bench.matchers.reading.text import COMMON, answer, flat, known_words, sentences, shown, words
from ltm_bench.matchers.reading.verbatim import stem
from ltm_bench.matchers.sameness import same_word, singular

RECITES = "the reply recites"
RECITAL = Verdict(Outcome.WRONG, 0.0, f"{RECITES} what it was told")
"""The verdict on a heap, and on a list of candidates."""

_UNREAD = (Outcome.ABSTAINED, Outcome.MALFORMED)
_FLAT = (Outcome.WRONG, Outcome.STALE, Outcome.MALFORMED)
LAST = "its last"
"""How the names of the parts begin after which nothing else is said."""
_BESIDE = 2
"""Words besides each value, at most, in a recital of all values: `first red, later blue, finally grey`."""
_ANNOUNCING = re.compile(r"[:=→]\s")
_LISTED = re.compile(r"\b(?:and|or|nor)\b")
"""Joins things named side by side, whose commas divide no clauses."""
_FORMS = ("{", "[", "`")
"""How JSON and fences begin."""
_OTHERS = frozenset(("he", "she", "they"))
_ASKING = frozenset("what where which who when why how".split())
_TALK = frozenset(map(stem, COMMON.union(listed("days"), listed("months"))))
_TINY = 2
"""Maximum length of an English word that names nothing: a unit, an initial."""
_ASIDE = re.compile(r"\([^()]{0,1000}\)|\[[^\[\]]{0,1000}\]")
_CLAUSE = re.compile(r"[;:]\s|\s[-–—]\s|—|,\s(?:and|but|so)\s(?=[^,]*(?:['’]s|\b(?:is|are))\s)")
_COMMA = re.compile(r"[;:,]\s|\s[-–—]\s|—")


UNKNOWN = Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know, or cannot say")


def asked(turns: Sequence[Turn]) -> str:
    """Return the question that a reply answers."""
    return turns[-1].message.text if turns else ""


def unanswered(reply: str, outcome: Outcome, reason: str) -> Verdict:
    """Return the verdict where nothing answers: abstained or empty, or else `outcome`."""
    if not reply.strip():
        return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
    return UNKNOWN if abstains(reply) else Verdict(outcome, 0.0, reason)


class DoubtingMatcher(Matcher):
    """A matcher that reads a reply with `judge`, and says *wrong* only where nothing speaks against it."""

    certain: ClassVar[Collection[str]] = (RECITES,)
    """How the reasons of its verdicts begin that leave no doubt."""

    may_abstain: ClassVar[bool] = False
    """Whether not knowing can be right."""

    single: ClassVar[bool] = False
    """Whether one of its candidates answers, so that naming all of them with hardly a word is a recital."""

    concludes: ClassVar[bool] = False
    """Whether what a reply announces at its end (`So the list is: …`) is its answer, whatever stands before."""

    short: ClassVar[int] = 12
    """Maximum number of words of a reply that is little more than its answer."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what a reply shows to its reader: right, or wrong beyond doubt, or undecided."""
        seen = shown(reply)
        if not seen.strip():
            return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
        verdict = self.judge(seen, turns)
        recited = verdict.outcome not in _UNREAD and may_recite(seen, turns)
        if recited and recites(seen, turns, self.used(seen)):
            return verdict if verdict.outcome in _FLAT else RECITAL
        if verdict.score and self.single and self._names_all(seen):
            return RECITAL
        if verdict.score and not self.may_abstain and self._gives_up_at_last(seen, turns):
            return Verdict(Outcome.UNDECIDED, 0.0, f"it ends with not knowing; before that: {verdict.reason}")
        sure = verdict.reason.startswith(tuple(self.certain))
        doubted = verdict.outcome in (*_FLAT, Outcome.PARTIAL) and not sure
        if self.concludes and (doubted or verdict.outcome is Outcome.UNDECIDED):
            end = self.judge(announced(seen), turns)
            verdict = end if end.outcome is Outcome.CORRECT else verdict
        if not doubted or verdict.score == 1:
            return verdict
        doubt = self._doubt(seen, turns, verdict.outcome)
        if doubt is None:
            return verdict
        reason = f"{doubt}; read as a whole: {verdict.reason}"
        return replace(verdict, outcome=Outcome.UNDECIDED, score=0.0, reason=reason)

    @abstractmethod
    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what can be read of a reply that is not empty. Never raises."""

    def candidates(self) -> Lexicon:
        """Return what could be named instead; nothing if nothing is looked for by name."""
        return lexicon(())

    def used(self, reply: str) -> Sequence[Span]:
        """Return where the answer stands in a reply; the rest must not be a heap, nor repeat the user's messages."""
        return places(read(reply), self.candidates())

    def sought(self) -> Collection[str]:
        """Return the candidates that a right reply names; none if their words alone prove nothing."""
        return ()

    def parts(self, reply: str) -> Iterator[tuple[str, str]]:
        """Yield the parts of a reply that may be its answer on their own."""
        return parts(reply)

    def _names_all(self, reply: str) -> bool:
        known = self.candidates()
        found = mentions(read(reply), known)
        named, chosen = {m.value for m in found}, any(m.denied or m.final for m in found)
        few = not chosen and len(words(reply)) <= (_BESIDE + 1) * len(named)
        return few and len(named) == len(known.values) > _BESIDE

    def _gives_up_at_last(self, reply: str, turns: Sequence[Turn]) -> bool:
        """Whether the last sentence of several says nothing but that the answer is not known."""
        *before, (start, end) = [(0, 0), *sentences(flat(reply))]
        if len(before) < 2 or not is_abstention(reply[start:end]):
            return False
        last = " ".join(said := words(reply[start:end]))
        if not _OTHERS.union(set(words(asked(turns))) - COMMON).isdisjoint(said[:1]):
            return False  # somebody else does not know: `Viggo has no idea`
        used = any(begin < end and start < stop for begin, stop in self.used(reply))
        return not used and not any(last in " ".join(each) for each in told_words(turns))

    def _doubt(self, reply: str, turns: Sequence[Turn], outcome: Outcome) -> str | None:
        if is_foreign(reply):
            return "it is in a language that no matcher reads"
        known, expected = self.candidates(), self.sought()
        found = mentions(read(reply), known, asked(turns))
        if (part := self._right_part(reply, turns, outcome, found)) is not None:
            return f"{part} alone would be right"
        if outcome is Outcome.PARTIAL:
            return None
        named = known.words or (outcome is Outcome.MALFORMED and reply.lstrip()[:1] not in _FORMS)
        end = announced(reply) if expected else ""
        word = self.strange(end, turns, mentions(read(end), known)) if end else None
        if named and (word := word or self.strange(reply, turns, found)) is not None:
            return f"“{word}” may be another word for what is expected"
        rivals = {m.value for m in found}.difference(expected)
        if expected and not rivals and not (found and all(m.denied for m in found)):
            said = words(reply)
            wanted = [part for value in expected for part in known_words(value)]
            if all(any(same_word(word, part) for word in said) for part in wanted):
                return f"{', '.join(expected)} and nothing else is named"
        return None

    def _right_part(
        self, reply: str, turns: Sequence[Turn], outcome: Outcome, found: Sequence[Mention]
    ) -> str | None:
        """Return the name of a part that would be right by itself."""
        expected = self.sought()
        gone = [m.denied or m.time in (Time.PAST, Time.REPLACED) for m in found if m.value in expected]
        if gone and all(gone) and any(m.time is Time.NOW for m in found if m.value not in expected):
            return None  # no part says what the whole sets aside
        for name, part in self.parts(reply):
            late = outcome is not Outcome.PARTIAL or name.startswith(LAST)  # what goes on wrong is not right
            if late and self.judge(part, turns).outcome is Outcome.CORRECT:
                return name
        return None

    def strange(self, reply: str, turns: Sequence[Turn], found: Sequence[Mention]) -> str | None:
        """Return a word in the answer's place that neither the user nor the matcher has used.

        A reply that has also acknowledged what was told is no answer.
        """
        said = words(reply)
        if any(turn.kind != "ask" and turn.reply.text == reply for turn in turns[:-1]):
            return None
        sought = self.sought()
        part = {word for value in sought for word in known_words(value)}  # `train` for night train
        exact = {m.value for m in found if m.exact and not m.denied and m.time is not Time.REPLACED}
        if len(said) > self.short or any(v in sought or not part.issuperset(known_words(v)) for v in exact):
            return None
        if sought and said and said[0] in _ASKING and reply.rstrip().endswith("?"):
            return None  # a question answers nothing
        told = told_words(turns)
        # a message that tells the answer has other words for it
        heard = {word for each in told if not part or not part.issubset(each) for word in each}
        known, named = _TALK.union(map(stem, heard.union(*told[-1:]))), self.candidates().words
        left = (word for word in said if stem(word) not in known and singular(word) not in named)
        return next(filter(_is_name, left), None)


def _is_name(word: str) -> bool:
    """Whether a word may name something."""
    long = len(word) > _TINY or not word.isascii()
    return long and word.replace("-", "").isalpha()


@dataclass(frozen=True, slots=True)
class OneOf(DoubtingMatcher):
    """A matcher of one value among several."""

    single: ClassVar[bool] = True

    value: str
    among: tuple[str, ...]
    """Every value that could have been the answer, including this one."""

    def candidates(self) -> Lexicon:
        """Return every value that could be the answer."""
        return lexicon(self.among)

    def sought(self) -> Collection[str]:
        """Return the value."""
        return (self.value,)

    def wrong(self) -> Sequence[str]:
        """Return another value, all of them, a denial, an abstention, and nothing."""
        others = [value for value in self.among if value != self.value][:1]
        every = "It is " + ", ".join(self.among) + "."
        return (*(f"It is {v}." for v in others), every, f"It is not {self.value}.", "I do not know.", "")

    @property
    def chance(self) -> float:
        """One over the number of candidates."""
        return 1 / max(1, len(self.among))


def announced(reply: str) -> str:
    """Return what a reply announces at its end; nothing if it announces what does not hold."""
    text = answer(reply).rstrip()
    *_, sign = None, *_ANNOUNCING.finditer(text)
    if sign is None or text[-1:] in "]}`":
        return ""
    label = words(re.split(r"[.!?\n]", text[: sign.start()])[-1])
    gone = any(cue.effect in (Effect.DENIES, Effect.REPLACED) for cue in cues(tuple(label)))
    return "" if gone else text[sign.end() :]


def parts(reply: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a reply that may be its answer, with their names: at most a dozen, each once."""
    text = answer(reply)
    if text.lstrip()[:1] in _FORMS:  # the form that was asked for, read as a whole
        return
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    lines = [line for line in text.splitlines() if line.strip()]
    said = [text[start:end] for start, end in sentences(flat(text))]
    named = [("what stands outside its parentheses", _ASIDE.sub(" ", text))]
    for kind, each in (("line", lines), ("paragraph", blocks), ("sentence", said)):
        named += [(f"{LAST} {kind}", each[-1]), (f"its first {kind}", each[0])] if each else []
    for end in (-1, 0):
        at = _CLAUSE if said and _LISTED.search(said[end]) else _COMMA
        clauses = [part for part in at.split(said[end]) if part.strip()] if said else []
        which = f"{LAST if end else 'the'} clause"
        named += [(f"{which} “{clause.strip()[:60]}”", clause) for clause in clauses[end : end + 1 or None]]
    told = {text.strip()}
    for name, part in named:
        if part.strip() and part.strip() not in told:
            told.add(part.strip())
            yield name, part
