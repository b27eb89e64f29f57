"""`names_only`: the reply names one value of a known set, and no other as the answer."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.listening import Listener
from ltm_bench.matchers.reading import DENIAL, abstains, known_words, last_readable, plain, words

_SENTENCE = re.compile(r"[.!?\n]+")
_CLAUSE = re.compile(
    r"[,;:()]|\b(?:(?<!anything )but|though|although|while|however)\b"
    r"|\band (?=now|then|later|finally|most|currently|lately)\b"
)
_NEGATED_AFTER = re.compile(r"\b(?:any ?more|no longer|is wrong|is not|isn't)\b")
_LONG_PAST = re.compile(
    r"\b(?:previous(?:ly)?|earlier|originally|initially|formerly|used to|had been|before|at first|first|prior|"
    r"once|old|older|former|started|replaced|after|changed (?:it |that |your mind )?from|switched from|moved from)\b"
)
_PAST = re.compile(r"\b(?:was|were|mentioned|different points|throughout)\b")
_PRESENT = re.compile(
    r"\b(?:now|currently|current|latest|most recent(?:ly)?|recently|last(?:ly)?|final(?:ly)?|newest|nowadays|"
    r"these days|today|changed (?:it |your mind |that )?to|switched to|settled on|updated (?:it )?to|at the moment)\b"
)
_THEN = re.compile(r"\s{0,20}(?:and |but )?then\b")
_UNDECIDED = re.compile(
    r"\b(?:not sure|unsure|not certain|uncertain|which (?:one|of)|either|or maybe|perhaps|confus\w+)\b"
)
_QUESTION_WORDS = frozenset("what which when where tell does have your mine please that this".split())
_SHORT = 60
_ENUMERATED = 3
"""Maximum words of a clause that continues the one before it: `brown, then cream, then red`."""


class _Mention(NamedTuple):
    value: str
    sentence: int
    negated: bool
    past: int
    """0 if the clause seems to speak of today, 1 if it is in the past tense, 2 if it speaks of earlier times."""
    present: bool
    then: bool
    """Whether it is introduced as what came next: `… and then red`."""
    on_topic: bool
    """Whether the sentence shares a word with the question, or speaks of now."""


_Candidate = tuple[int, tuple[str, ...], str]
"""Its rank, its words, and the value."""


@lru_cache(maxsize=64)
def _listener(among: tuple[str, ...]) -> tuple[Listener[_Candidate], frozenset[str]]:
    """Return a listener for candidates, those with more words ranked first, and the set of all their words."""
    ranked = sorted(((known_words(value), value) for value in among), key=lambda each: -len(each[0]))
    exact = frozenset(word for parts, _ in ranked for word in parts)
    return Listener((parts, (rank, parts, value)) for rank, (parts, value) in enumerate(ranked)), exact


@dataclass(frozen=True, slots=True)
class NamesOnly(Matcher):
    """Right if the reply gives `value` as the answer; earlier values may be named as earlier ones."""

    value: str
    among: tuple[str, ...]
    """Every value that could have been the answer, including this one."""
    stale: tuple[str, ...] = ()
    """Values that were right once."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the candidates that the reply names, clause by clause."""
        stated = last_readable(reply, _single)
        if stated is not None:  # it was asked for as JSON, or is given so: what surrounds it explains
            reply = stated
        mentions = self._mentions(reply, turns[-1].message.text if turns else "")
        if not mentions:
            if not reply.strip():
                return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
            if abstains(reply):
                return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
            return Verdict(Outcome.WRONG, 0.0, f"{self.value} is not named")
        if any(m.on_topic for m in mentions):
            mentions = [m for m in mentions if m.on_topic]
        named = _distinct(m.value for m in mentions)
        answers = _answers(mentions)
        if len(answers) > 1 or (len(named) > 1 and _UNDECIDED.search(plain(reply))):
            return Verdict(Outcome.WRONG, 0.0, f"several values are named: {', '.join(named)}")
        if not answers:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says what it is not: {', '.join(named)}")
        answer = answers[0]
        if answer != self.value:
            outcome = Outcome.STALE if answer in self.stale else Outcome.WRONG
            return Verdict(outcome, 0.0, f"the reply says {answer}, expected {self.value}")
        return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}")

    def _mentions(self, reply: str, question: str) -> list[_Mention]:
        topic = frozenset(w for w in words(question) if len(w) > 3 and w not in _QUESTION_WORDS)
        found: list[_Mention] = []
        for number, sentence in enumerate(_SENTENCE.split(plain(reply))):
            clauses = [
                (clause, said := words(clause), list(self._candidates(said)))
                for clause in _CLAUSE.split(sentence)
            ]
            if not any(candidates for *_, candidates in clauses):
                continue
            now = _PRESENT.search(sentence) is not None
            on_topic = now or not topic.isdisjoint(words(sentence))
            past = 0
            for clause, said, candidates in clauses:
                own = 2 if _LONG_PAST.search(clause) else 1 if _PAST.search(clause) else 0
                past = max(past, own) if len(said) <= _ENUMERATED else own
                present = _PRESENT.search(clause) is not None
                then = _THEN.match(clause) is not None
                starts = list(accumulate((len(word) + 1 for word in said), initial=0))
                joined = " ".join(said)
                denied = next((m.end() for m in DENIAL.finditer(joined)), len(joined))
                *_, denied_later = -1, *(m.start() for m in _NEGATED_AFTER.finditer(joined))
                for value, begin, end in candidates:
                    negated = denied <= starts[begin] or denied_later >= starts[end]
                    found.append(_Mention(value, number, negated, past, present, then, on_topic))
        return found

    def _candidates(self, said: list[str]) -> Iterator[tuple[str, int, int]]:
        """Find the candidates in the words of a clause; a longer candidate hides a shorter one within it."""
        listener, exact = _listener(self.among)
        free = [True] * len(said)
        for begin, end, (_, parts, value) in sorted(listener.hear(said), key=lambda heard: heard[2][0]):
            if all(free[begin:end]) and all(
                word == part or word not in exact for word, part in zip(said[begin:end], parts, strict=True)
            ):
                free[begin:end] = [False] * len(parts)
                yield value, begin, end

    def right(self) -> Sequence[str]:
        """Return the value alone, in a sentence, and with its history."""
        history = f"{self.value}. Before that it was {self.stale[-1]}." if self.stale else f"{self.value}."
        return (f"It is {self.value}.", self.value, f"You told me that it is {history}")

    def wrong(self) -> Sequence[str]:
        """Return another value, the stale ones, all values, none, and an abstention."""
        others = [v for v in self.among if v != self.value]
        return (
            *(f"It is {v}." for v in (*others[:1], *self.stale[-1:])),
            "It is " + ", ".join(self.among) + ".",
            f"It is not {self.value}.",
            "I do not know.",
            "",
        )

    @property
    def chance(self) -> float:
        """One over the number of candidates."""
        return 1 / len(self.among)


def _single(value: Any) -> str | None:
    """Read `{"answer": "red"}`: an object that holds one short text, and nothing else."""
    held = list(value.values()) if isinstance(value, Mapping) else []
    return held[0] if len(held) == 1 and isinstance(held[0], str) and len(held[0]) <= _SHORT else None


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _answers(mentions: list[_Mention]) -> list[str]:
    """Return the values given as the answer, without those that are denied or past."""
    asserted = [m for m in mentions if not m.negated]
    answers = _distinct(m.value for m in asserted)
    if len(answers) < 2:
        return answers
    if asserted[-1].then and asserted[-1].past < 2:
        return [asserted[-1].value]
    present = _distinct(m.value for m in asserted if m.present)
    if len(present) == 1:
        return present
    for past in (2, 1):
        standing = _distinct(m.value for m in asserted if m.past < past or m.present)
        if len(standing) == 1:
            return standing
    return answers


def names_only(value: str, *, among: Collection[str], stale: Sequence[str] = ()) -> NamesOnly:
    """Expect `value` and no other of `among`; `stale` are earlier values (the value itself is never stale)."""
    return NamesOnly(value, tuple(among), tuple(v for v in dict.fromkeys(stale) if v != value))


EXAMPLES: tuple[Matcher, ...] = (
    names_only("red", among=("red", "blue", "light blue"), stale=("blue",)),
    names_only("red", among=("red", "blue", "green")),
)
"""What the tests that guard every matcher are run with."""
