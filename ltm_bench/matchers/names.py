"""`names_only`: the reply names one value of a known set, and no other as the answer."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.core.words import alternatives, listed
from ltm_bench.matchers.reading import Force, Lexicon, Mention, gives_up, lexicon, mentions, read, resolve
from ltm_bench.matchers.reading.abstaining import notices_conflict
from ltm_bench.matchers.reading.doubting import RECITAL, RECITES, OneOf, asked, parts, unanswered
from ltm_bench.matchers.reading.json_values import last_readable
from ltm_bench.matchers.reading.mention import Time
from ltm_bench.matchers.reading.resolving import FEW, Decision
from ltm_bench.matchers.reading.surplus import hardly_adds
from ltm_bench.matchers.reading.text import flat, known_words, words
from ltm_bench.matchers.sameness import same_word, singular

_GIVEAWAYS = (ways.split("|") for ways in listed("giveaways", "\n"))
GIVEAWAYS: Mapping[str, Sequence[str]] = {matter: ways for matter, *ways in _GIVEAWAYS}
"""What tells of a private matter without its name; where it is said, nobody can say that it was kept, or not known."""
_SHORT = 60
_TALK = 8
"""Minimum words for each value of a reply that weighs several; a recital has fewer."""
_PAIR = 2
"""Maximum number of candidates between which a reply may leave the choice open."""
NAME = re.compile(
    r"(?<=[\w,] )[A-Z][\w-]+|\b(?!(?:It|This|That|There|Here|What|Where|Who|Let)\b)[A-Z][\w-]+(?=['’]s\b)"
)
"""A name within a sentence."""
_SEVERAL = (re.compile(r"\b[Ii]f\b"), re.compile(r"\b(?:all of them|both|everything|something else)\b"))
"""Words of a question that wants all values, if there are several."""
_BESIDE = "beside the answer, the reply says"
_ALLEGED = re.compile(rf"\b(?:{alternatives('alleged')})\b", re.IGNORECASE)
"""Words with which another value is said to have been told, too."""
_LOOKS = r"\b(?:look|search|check|go|expect|reach)(?:s|es|ed|ing)?\b"
_BACK = re.compile(
    rf"{_LOOKS}[^.;!?\n]{{0,60}}?\b(?:(?<!in )there|where|(?:original|first|same|old) (?:place|spot))\b"
    rf"|\b(?:there|where)(?:'s)? [^.;!?\n]{{0,20}}?{_LOOKS}"
)
"""Looking somewhere that is only referred to."""
_LATER = re.compile(
    rf"\b(?:is|was|comes?|came|ranks?) (?:only |in )?(?:{'|'.join(listed('ordinals')[1:])})\b"
)
"""A place in a row that is not the first: `comes second, after …`."""


@dataclass(frozen=True, slots=True)
class NamesOnly(OneOf):
    """Right if the reply gives `value` as the answer; earlier values may be named as earlier ones."""

    version: ClassVar[int] = 4
    certain: ClassVar[Collection[str]] = (RECITES, _BESIDE)

    stale: tuple[str, ...] = ()
    """Values that were right once."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer."""
        stated = last_readable(reply, _single)
        if stated is not None:  # JSON was asked for, or given: the surrounding text only explains
            reply = stated
        found = mentions(read(reply), self.candidates(), asked(turns))
        if not found:
            heard = _told(self.candidates(), tuple(turn.message.text for turn in turns[:-1]))
            found = mentions(read(reply), heard, asked(turns))
        if not found:
            return unanswered(reply, Outcome.WRONG, f"{self.value} is not named")
        if gives_up(reply) and not any(m.asserted and m.force is Force.FLAT for m in found):
            named = list(dict.fromkeys(m.value for m in found if m.asserted))
            guesses = f"does not know, and guesses: {', '.join(named)}"
            outcome = Outcome.UNDECIDED if named == [self.value] else Outcome.ABSTAINED
            reason = guesses if named else "gives no answer, and says of something that it is not known"
            return Verdict(outcome, 0.0, f"the reply {reason}")
        return self._weighed(reply, turns, found)

    def _weighed(self, reply: str, turns: Sequence[Turn], found: Sequence[Mention]) -> Verdict:
        """Judge what `resolve` takes for the answer."""
        decision = resolve(found)
        given = decision.values
        if not given:
            return Verdict(Outcome.WRONG, 0.0, "the reply denies all that it names, or calls it replaced")
        rivals = len({m.value for m in found}) > 1
        if verdict := self._several(reply, turns, found, decision):
            return verdict
        if all(m.attached for m in decision.evidence):
            return Verdict(Outcome.WRONG, 0.0, f"{self.value} is not named")
        doubtful = rivals or all(m.time is Time.NOW for m in decision.evidence)
        if doubtful and not any(m.lead or m.bare for m in decision.evidence) and _refers_back(reply, found):
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply says {given[0]}, and refers back to a place")
        if given[0] != self.value:
            outcome = Outcome.STALE if given[0] in self.stale else Outcome.WRONG
            return Verdict(outcome, 0.0, f"the reply says {given[0]}, expected {self.value}")
        if rivals and any(_LATER.search(around(m, reply).lower()) for m in decision.evidence):
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply says {self.value}, and ranks it lower")
        if other := _ascribed(reply, asked(turns), decision.evidence):
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply says {self.value} of {other}")
        return Verdict(Outcome.CORRECT, 1.0, f"the reply says {self.value}")

    def _several(
        self, reply: str, turns: Sequence[Turn], found: Sequence[Mention], decision: Decision
    ) -> Verdict | None:
        """Judge a reply that names more than an answer; None if one value is its answer."""
        given = decision.values
        rivals = len({m.value for m in found}) > 1
        many = len(given) > max(FEW, len(self.among) // 2) and len(words(reply)) < _TALK * len(given)
        if many or (rivals and hardly_adds(reply, turns)):
            return RECITAL
        if beside := self._beside(reply, turns, found):
            return beside
        several = len(given) > 1
        if len(given) > (_PAIR if decision.sure else FEW) or (several and self.value not in given):
            return Verdict(Outcome.WRONG, 0.0, f"several values are named: {', '.join(given)}")
        if several or (not decision.sure and given[0] == self.value):
            return Verdict(Outcome.UNDECIDED, 0.0, f"{decision.reason}: {' or '.join(given)}")
        return None

    def _beside(self, reply: str, turns: Sequence[Turn], found: Sequence[Mention]) -> Verdict | None:
        """Judge a reply that alleges another value where a question wants all that are true; None for any other."""
        alleged = [m for m in found if m.value != self.value and not (m.denied or m.taken_back)]
        answered = any(m.value == self.value for m in found)
        if alleged and answered and not self.stale and all(each.search(asked(turns)) for each in _SEVERAL):
            said = around(alleged[0], reply)
            told = bool(_ALLEGED.search(said)) or notices_conflict(reply)
            owned = owners(said, self.candidates(), turns)  # of somebody else, it may be true
            outcome = Outcome.WRONG if told and not owned else Outcome.UNDECIDED
            return Verdict(outcome, 0.0, f"{_BESIDE} {alleged[0].value}")
        return None

    def parts(self, reply: str) -> Iterator[tuple[str, str]]:
        """Yield the parts that may be the answer; JSON alone is the answer where there is any."""
        return parts(reply) if last_readable(reply, _single) is None else iter(())

    def right(self) -> Sequence[str]:
        """Return the value alone, in a sentence, and with its history."""
        history = f"{self.value}. Before that it was {self.stale[-1]}." if self.stale else f"{self.value}."
        return (f"It is {self.value}.", self.value, f"You told me that it is {history}")

    def wrong(self) -> Sequence[str]:
        """Return another value, a stale one, and what is wrong of every value."""
        other, *rest = OneOf.wrong(self)
        return (other, *(f"It is {value}." for value in self.stale[-1:]), *rest)


@dataclass(frozen=True, slots=True)
class NamesAlso(NamesOnly):
    """`NamesOnly` for values with other names, or values that must not be named beside the answer at all."""

    version: ClassVar[int] = 5

    also: tuple[tuple[str, ...], ...] = ()
    """Values, each with its other names after it: `("hat maker", "milliner", "hatter")`."""
    without: tuple[str, ...] = ()
    """Values beside which the answer is not certain, however they are meant."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what the reply gives as its answer; beside what it should not mention, that is undecided."""
        verdict = NamesOnly.judge(self, reply, turns)
        if verdict.score and (found := mentions(read(reply), lexicon(self.without), asked(turns))):
            return Verdict(Outcome.UNDECIDED, 0.0, f"{verdict.reason}, and mentions {found[0].value}")
        if verdict.score or mentions(read(reply), self.candidates()):
            return verdict
        way = other_words((self.value,), reply, asked(turns))
        meant = f"“{way}” may be {self.value} in other words"
        return verdict if way is None else Verdict(Outcome.UNDECIDED, 0.0, meant)

    def candidates(self) -> Lexicon:
        """Return every value that could be the answer, with its other names."""
        return lexicon(self.among, self.also)


def other_words(value: Sequence[str], reply: str, besides: str) -> str | None:
    """Return how a reply may tell of a value without its name: in words of its own, or in those of the name, scattered.

    Args:
        value: Its names.
        reply: The reply.
        besides: What has words that tell nothing of it.
    """
    said = {*words(reply)}.difference(words(besides))
    ways = [*value, *GIVEAWAYS.get(value[0], ())]
    there = (w for w in ways if all(any(same_word(word, part) for word in said) for part in known_words(w)))
    return next(there, None)


def around(mention: Mention, reply: str) -> str:
    """Return the clause that names a value."""
    text = read(reply).text
    begin = max(text.rfind(sign, 0, max(0, mention.start)) for sign in ".;\n") + 1
    return re.split(r"[.;\n]", text[begin : begin + 400], maxsplit=1)[0]


def owners(text: str, known: Lexicon, turns: Sequence[Turn]) -> set[str]:
    """Return whom a text names, but for the values themselves and who was asked about."""
    named = {each for each in NAME.findall(text) if known.words.isdisjoint(map(singular, words(each)))}
    return named.difference(NAME.findall(asked(turns)))


@lru_cache(maxsize=16)
def _told(known: Lexicon, messages: tuple[str, ...]) -> Lexicon:
    """Return the values that were told: fewer, so that less of a name tells one from the others, such as `the bowl`."""
    said = {m.value: None for text in messages for m in mentions(read(text), known) if m.exact}
    return lexicon(tuple(said))


def _ascribed(reply: str, question: str, evidence: Sequence[Mention]) -> str | None:
    """Return whom the reply says it of, if that is not who was asked about: `It is Ada's; for Ben I have nothing`."""
    text, meant = read(reply).text, set(NAME.findall(question))
    others = set[str]()
    for m in evidence:
        clause = around(m, reply)
        if m.start < 0 or any(name in clause for name in meant):
            return None
        others.update(name for name in NAME.findall(clause) if name.lower() not in m.value.lower())
    return min(others) if others and any(name in text for name in meant) else None


def _refers_back(reply: str, found: Sequence[Mention]) -> bool:
    """Whether a reply says by reference alone where somebody looks: `so she'll look there`, `where she left it`."""
    back = [each.span() for each in _BACK.finditer(flat(read(reply).text))]
    return any(not any(start <= m.start < end for m in found) for start, end in back)


def _single(value: Any) -> str | None:
    """Read `{"answer": "red"}`: an object that holds one short text, and nothing else."""
    held = list(value.values()) if isinstance(value, Mapping) else []
    return held[0] if len(held) == 1 and isinstance(held[0], str) and len(held[0]) <= _SHORT else None


def names_only(
    value: str,
    *,
    among: Collection[str],
    stale: Sequence[str] = (),
    also: Mapping[str, Sequence[str]] | None = None,
    without: Sequence[str] = (),
) -> NamesOnly:
    """Expect `value` and no other of `among`.

    Args:
        value: The answer.
        among: Every value that could have been the answer, this one included.
        stale: Earlier values; the value itself is never stale.
        also: Other names of values, such as `{"hat maker": ("milliner", "hatter")}`.
        without: Values that only a recital of the conversation would mention; beside them the answer is undecided.

    Raises:
        ValueError: `among` lacks the value.
    """
    if value not in among:
        raise ValueError(f"names_only({value!r:.60}): among lacks this value; name all values, this one too")
    earlier = tuple(v for v in dict.fromkeys(stale) if v != value)
    if not also and not without:
        return NamesOnly(value, tuple(among), earlier)
    named = also or {}
    others = tuple((name, *named[name]) for name in among if named.get(name))
    return NamesAlso(value, tuple(among), earlier, others, tuple(without))


EXAMPLES: tuple[Matcher, ...] = (
    names_only("red", among=("red", "blue", "light blue"), stale=("blue",)),
    names_only("red", among=("red", "blue", "green")),
    names_only(
        "tailor", among=("tailor", "cobbler", "hat maker"), also={"hat maker": ("milliner", "hatter")}
    ),
)
"""Examples for the tests that guard every matcher."""
