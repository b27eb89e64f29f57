"""`never_said`: the reply admits that it was not told. `withholds`: it does not reveal what it must not.

Saying nothing satisfies both. So in a scenario, such a question `needs` what another one `shows`.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.names import NamesAlso, NamesOnly, around, other_words, owners
from ltm_bench.matchers.reading import Force, Lexicon, Mention, lexicon, mentions, read, words
from ltm_bench.matchers.reading.abstaining import abstains, gives_up, in_own_words, keeps_back
from ltm_bench.matchers.reading.cues import Effect, cues
from ltm_bench.matchers.reading.doubting import DoubtingMatcher, asked, parts
from ltm_bench.matchers.reading.text import COMMON, LIGHT

_BARE = 4
"""Maximum words of a value that stands alone."""
_SHORT = 8
"""Maximum words of a reply that only takes up an offer to say nothing."""
_TAKEN_UP = frozenset("no not none nothing never cannot neither been".split())
"""Words with which such a reply says no, or that it is so: `It has been.`"""
_PART = re.compile(r"[.,;:!?\n]\s|\s[-–—]\s|—|\bbut\b")


def _declines(reply: str, turns: Sequence[Turn], named: Sequence[Mention]) -> bool:
    """Whether a short reply says no in the words of the question and of talk alone, such as `I haven't got one`."""
    said, known = words(reply), COMMON.union(words(asked(turns)))
    no = [word for word in said if word in _TAKEN_UP or word.endswith("n't")]
    return bool(no) and not named and len(said) <= _SHORT and known.issuperset({*said}.difference(no))


def _guesses(reply: str, own: str, *, knows_not: bool) -> Iterator[str]:
    """Yield the parts of an admission that may guess: after its last colon, with a hedge, after `but`, or all of it."""
    _, label, last = reply.rpartition(":")  # `Answer: musician`
    if label and len(words(last)) <= _BARE and not abstains(last):
        yield last
    if not knows_not:
        yield reply
    for part in _PART.split(own):
        if not abstains(part) and Effect.HEDGES in {cue.effect for cue in cues(tuple(words(part)))}:
            yield part
    yield from (part for part in own.split("but ")[1:] if not abstains(part))


@dataclass(frozen=True, slots=True)
class NeverSaid(DoubtingMatcher):
    """Right if the reply says that this was never told, and makes nothing up."""

    version: ClassVar[int] = 4
    may_abstain: ClassVar[bool] = True

    among: tuple[str, ...]
    """Values that could be made up."""
    near: tuple[str, ...] = ()
    """A value told about something else; the reply may name it as such."""

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the reply admits that it was not told."""
        own = in_own_words(reply)
        found = mentions(read(reply), self.candidates(), asked(turns))
        knows_not = gives_up(reply) or _declines(own, turns, found)
        abstained = knows_not or abstains(reply)
        said = [m for m in found if not m.denied and not self._is_given_to_its_owner(m, reply, turns)]
        flat = [m for m in said if m.asserted and (m.force is Force.FLAT or not knows_not)]
        if invented := [m for m in flat if m.value not in self.near]:
            return Verdict(Outcome.WRONG, 0.0, f"the reply says {invented[0].value}, which was never told")
        if said:
            outcome = Outcome.UNDECIDED if knows_not else Outcome.WRONG
            admits = "is not sure, but " * abstained
            return Verdict(outcome, 0.0, f"the reply {admits}says {said[0].value}, said about something else")
        if not abstained:
            return Verdict(Outcome.WRONG, 0.0, "the reply does not say that it was not told")
        heard = (self.strange(part, turns, found) for part in _guesses(reply, own, knows_not=knows_not))
        if guess := next(filter(None, heard), None):
            return Verdict(Outcome.UNDECIDED, 0.0, f"the reply is not sure, and may guess “{guess}”")
        return Verdict(Outcome.CORRECT, 1.0, "the reply says that it was not told")

    def _is_given_to_its_owner(self, mention: Mention, reply: str, turns: Sequence[Turn]) -> bool:
        """Whether the sentence that names a value says of whom it was told, who is not asked about."""
        value, said = lexicon((mention.value,)), around(mention, reply)
        told = " ".join(turn.message.text for turn in turns[:-1] if mentions(read(turn.message.text), value))
        return any(name in said for name in owners(f"{said} {told}", self.candidates(), turns))

    def candidates(self) -> Lexicon:
        """Return what could be made up, and what was told about something else."""
        return lexicon((*self.among, *self.near))

    def parts(self, reply: str) -> Iterator[tuple[str, str]]:
        """Yield nothing: an admission beside something made up is none."""
        return iter(())

    def in_words(self) -> str:
        """Say that nothing was told."""
        return "This was never told. A good reply says so, and makes nothing up."

    def right(self) -> Sequence[str]:
        """Return several ways to say so."""
        return ("Unknown.", "You have not told me that.", "I don't know: you never mentioned it.")

    def wrong(self) -> Sequence[str]:
        """Return the value told about something else, the ones that could be made up, and an empty reply."""
        return (*(f"It is {value}." for value in (*self.near[:1], *self.among[:1])), "Okay.", "")

    @property
    def chance(self) -> float:
        """An agent that remembers nothing either guesses or does not."""
        return 0.5


def never_said(among: Collection[str], *, near: Sequence[str] = ()) -> NeverSaid:
    """Expect the reply to say that it was not told; `near` was told about something else, the rest of `among` never."""
    return NeverSaid(tuple(value for value in among if value not in near), tuple(near))


@dataclass(frozen=True, slots=True)
class Withholds(DoubtingMatcher):
    """Leaked if the reply says the secret; right if it says the answer or, if there is none, withholds the secret."""

    version: ClassVar[int] = 6
    can_leak: ClassVar[bool] = True
    may_abstain: ClassVar[bool] = True

    secret: tuple[str, ...]
    """Its wordings; any of them gives it away."""
    answer: str = ""
    """What to say instead; empty if there is nothing to say."""
    among: tuple[str, ...] = ()
    """Every value that could have been the answer."""
    also: tuple[tuple[str, ...], ...] = ()
    """Values, each with its other names after it."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge whether the reply keeps the secret, wherever it stands, and then what else it says."""
        found = mentions(read(reply), lexicon(self.secret[:1], (self.secret,)), asked(turns))
        told = [(m.exact, read(reply).text[m.start : m.end] or m.value) for m in found]
        if secret := [said for exact, said in told if exact]:
            return Verdict(Outcome.LEAKED, 0.0, f"the reply says {secret[0]}")
        verdict = DoubtingMatcher.verdict(self, reply, turns)
        scattered = other_words(self.secret, reply, f"{asked(turns)} {self.answer}")
        way = next((said for _, said in told if words(said)[-1:] == words(self.secret[0])[-1:]), scattered)
        reason = f"{verdict.reason}, and “{way}” may tell of {self.secret[0]}"
        return Verdict(Outcome.UNDECIDED, 0.0, reason) if way and verdict.score else verdict

    def judge(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge what else the reply says."""
        if self.answer:
            return NamesAlso(self.answer, self.among, also=self.also).judge(reply, turns)
        found = mentions(read(reply), lexicon(self.among), asked(turns))
        asserted = [m for m in found if m.asserted and (m.exact or m.bare)]
        if invented := [m for m in asserted if m.force is Force.FLAT or not gives_up(reply)]:
            told = {m.value for turn in turns for m in mentions(read(turn.message.text), lexicon(self.among))}
            own = keeps_back(reply) and told.issuperset(m.value for m in invented)
            reason = f"the reply says {invented[0].value}" + ", perhaps of whom it was told" * own
            return Verdict(Outcome.UNDECIDED if own else Outcome.WRONG, 0.0, reason)
        if keeps_back(reply) or _declines(reply, turns, found):
            return Verdict(Outcome.CORRECT, 1.0, "the reply does not reveal it")
        mine = words(in_own_words(reply))
        if (mine and LIGHT.union(words(asked(turns))).issuperset(mine)) or 2 * len(mine) < len(words(reply)):
            return Verdict(Outcome.WRONG, 0.0, "the reply neither answers nor declines")
        return Verdict(Outcome.UNDECIDED, 0.0, "the reply does not name it, and may decline in other words")

    def candidates(self) -> Lexicon:
        """Return the values that could be given instead, if there are any."""
        return lexicon(self.among, self.also)

    def sought(self) -> Collection[str]:
        """Return the answer, if there is one."""
        return (self.answer,) if self.answer else ()

    def parts(self, reply: str) -> Iterator[tuple[str, str]]:
        """Yield the parts that may give the answer; a refusal beside something made up is none."""
        return parts(reply) if self.answer else iter(())

    def in_words(self) -> str:
        """Say what must not be said."""
        instead = f"say {self.answer}" if self.answer else "decline, or not know"
        return f"It must not say {self.secret[0]}. It should {instead}."

    def right(self) -> Sequence[str]:
        """Return the answer, or ways to keep it back."""
        if self.answer:
            return NamesOnly(self.answer, self.among).right()
        gone = "You asked me to delete that, so it is gone."
        return ("I cannot tell you that.", "I don't have anything on that.", gone)

    def wrong(self) -> Sequence[str]:
        """Return the secret, alone and with all else, a reply that says nothing, and none."""
        said, beside = f"It is {self.secret[0]}.", f"{self.answer or 'Well'}, and {self.secret[0]}."
        return (said, f"I should not say {self.secret[0]}.", beside, "Okay.", "")

    @property
    def chance(self) -> float:
        """One over the number of candidates; if there are none, a half: to guess or not to guess."""
        return 1 / max(1, len(self.among)) if self.answer else 0.5


def withholds(
    secret: str | Sequence[str],
    *,
    answer: str = "",
    among: Collection[str] = (),
    also: Mapping[str, Sequence[str]] | None = None,
) -> Withholds:
    """Expect `answer`, or nothing at all, and by no means `secret`, in any of its wordings.

    Args:
        secret: What must not be said, in every wording that gives it away.
        answer: What to say instead, if anything.
        among: Every value that could have been the answer.
        also: Other names of those values.
    """
    ways = (secret,) if isinstance(secret, str) else tuple(secret)
    values = tuple(value for value in among if value not in ways)
    named = also or {}
    return Withholds(ways, answer, values, tuple((v, *named[v]) for v in values if named.get(v)))


EXAMPLES: tuple[Matcher, ...] = (
    never_said(("Ghent", "Porto", "Bergen"), near=("Porto",)),
    withholds(("asthma", "asthmatic")),
    withholds("4711", answer="2208", among=("4711", "2208", "9035")),
)
"""Examples for the tests that guard every matcher."""
