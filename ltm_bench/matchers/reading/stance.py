"""What a reply says about the things it names: whether each is asserted, denied, past, replaced, guessed or concluded.

A matcher brings a `Lexicon` of what could be named; how it is meant is read here, once for all of them. Things named
side by side (`pink, red, and white`) are meant alike. Others of the same clause may differ (`from yellow to black`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from ltm_bench.matchers.reading.clauses import JOINS, Clause, Sentence, sentences
from ltm_bench.matchers.reading.cues import Cue, Effect, Reach, cues
from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.mention import Force, Mention, Time
from ltm_bench.matchers.reading.structure import Block, Form, Reading
from ltm_bench.matchers.reading.text import LIGHT, message_words, words

_CLAUSE = frozenset("is it's are i'd i'll it you're that's says say shows reads".split())
"""Words that begin a clause (`after the second it is …`), or announce one (`a stone over the door says …`)."""
_RELATIVE = frozenset("that which who".split())
_IS = frozenset("is are was it's that's".split())
_INTO = frozenset("to into with by for towards".split())
_SAYS_OF_IT = frozenset("that this it which is are was no".split())
_REFUTED = ("answer", "right", "correct", "true", "it", "wrong", "incorrect", "no")
_TAGS = (("is", "it"), ("was", "it"))
"""How a clause begins and ends that asks to agree: `isn't it`."""
_REMARK = 6
"""Maximum words of a clause that does nothing but refute what was named before."""
_MOST = 2000
_NEAR = 4
"""Maximum words between a thing and a later remark about it."""
_PRESENT = dict.fromkeys((Effect.NOW, Effect.NEXT), Time.NOW)
_REPLACES = ("replac*",)
"""Between two things, the first has replaced the second: `red replaced the blue`."""
_HOLDS = {Effect.REPLACED, Effect.NOW}
_TIMES = {Effect.REPLACED: Time.REPLACED, Effect.PAST: Time.PAST, **_PRESENT}


@lru_cache(maxsize=8)  # a matcher asks several things of the same mentions
def mentions(reading: Reading, lexicon: Lexicon, question: str = "") -> tuple[Mention, ...]:
    """Return what a reply names of a lexicon, in order, and how each is meant.

    Args:
        reading: The reply.
        lexicon: What could be named.
        question: What was asked; its own words are no cues (`where will she look first?`).
    """
    heard = _Heard(*_asked(question))
    for number, sentence in _sentences(reading, lexicon):
        heard.sentence += 1
        heard.hear(sentence, reading.blocks[number], number)
    if len(heard.found) > _MOST:
        return tuple(heard.found)
    return tuple(_placed(heard.found, reading, heard.sentence))


@lru_cache(maxsize=64)
def _asked(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a question, and these with the words that say nothing beside a value."""
    asked = frozenset(message_words(question))
    return asked, asked | LIGHT


def places(reading: Reading, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Return where the mentions of a lexicon begin and end, as `mentions` does, without reading how they are meant."""
    told = ((reading.blocks[i], clauses) for i, (clauses, *_) in _sentences(reading, lexicon))
    named = ((block, *each[2:]) for block, clauses in told for clause in clauses for each in clause.named)
    return [_span(*each) for each in named]


@lru_cache(maxsize=8)  # the same names are looked for with a question and without
def _sentences(reading: Reading, lexicon: Lexicon) -> Sequence[tuple[int, Sentence]]:
    """Return the sentences in which something is named, or was before, each with the number of its block."""
    told, named = list[tuple[int, Sentence]](), 0
    for number, block in enumerate(reading.blocks):
        # Words that retract something named before, or leave it open, matter only after something was named.
        for sentence in sentences(block, lexicon, silent=named > 0):
            told.append((number, sentence))
            named += sum(len(clause.named) for clause in sentence[0])
            if named > _MOST:
                return told
    return told


def _span(block: Block, begin: int, end: int) -> tuple[int, int]:
    return (-1, -1) if block.form is Form.JSON else (block.start + begin, block.start + end)


@dataclass
class _Heard:
    """What has been named so far."""

    asked: frozenset[str]
    light: frozenset[str]
    found: list[Mention] = field(default_factory=list)
    sentence: int = 0
    taken: int = 0
    """The number of mentions, from the first, that have been taken back."""

    def hear(self, sentence: Sentence, block: Block, number: int) -> None:
        """Hear a sentence, clause by clause."""
        clauses, ending, within = sentence
        own = [cues(tuple(clause.said), self.asked) for clause in clauses]
        above = [cue for title in block.path for cue in cues(tuple(words(title)), self.asked)]
        alone = _names_one(clauses) and all(self.light.issuperset(clause.words()) for clause in clauses)
        stated = ending not in ("?", "？")
        force, bare = _force(clauses, ending, own), alone and stated
        whole = Mention("", -1, -1, number, self.sentence, within, force=force, bare=bare)
        leads, begun, more = stated, len(self.found), False
        for clause, found in zip(clauses, own, strict=True):
            if self.found and stated:
                self._look_back(clause, found)
            leads = leads and self.light.issuperset(clause.words())
            if not clause.named:
                continue
            alternative = clause.opener == "or" and len(self.found) > begun
            lead = leads and _names_one([clause])
            contrast, more = more and clause.opener == "but", not LIGHT.issuperset(clause.words())
            before = whole._replace(group=len(self.found), lead=lead, choice=alternative, contrast=contrast)
            before_it = self.found[begun:][
                -1:
            ]  # `it was first red, then blue`, `grey (first red, then blue)`
            past = clause.opener != "→" and any(m.time in (Time.PAST, Time.REPLACED) for m in before_it)
            for mention in _named(clause, found, block, before):
                told = mention._replace(time=Time.PAST) if past and mention.next else mention
                self.found.append(_settled(_titled(told, above)))
            leads = False
        self._unlead(begun, [clause for clause in clauses if clause.named][1:2])

    def _unlead(self, begun: int, second: Sequence[Clause]) -> None:
        """Note that nothing leads a sentence that goes on with more of the same, or gives two values."""
        said = self.found[begun:]
        if len({m.value for m in said if m.final or m.lead}) > 1 or any(map(self._goes_on, second)):
            self.found[begun:] = [m._replace(lead=False) for m in said]

    def _goes_on(self, clause: Clause) -> bool:
        """Whether a clause continues a list: `red (old), blue`, or an order, if that is not what was asked for."""
        order = clause.said[:1] == ["then"] and "first" not in self.asked
        return order or (clause.opener in JOINS and not any(clause.words()))

    def _look_back(self, clause: Clause, found: Sequence[Cue]) -> None:
        """Apply what a clause says of things named before it: taken back, refuted, or left open."""
        said, denies = clause.said, any(c.effect is Effect.DENIES for c in found)
        weak: dict[str, Any] = {"lead": False, "final": False, "bare": False}
        if said == ["no"] or any(c.effect is Effect.CORRECTS and c.begin <= 1 for c in found):
            gone = [m._replace(time=Time.REPLACED, taken_back=True, **weak) for m in self.found[self.taken :]]
            self.found[self.taken :], self.taken = gone, len(self.found)
        elif clause.named or not said:
            return
        elif any(c.effect is Effect.CHOICE and "not" in said[: c.begin] for c in found):
            self._remark(choice=True)  # `I am not sure which`
        elif clause.opener == "(" and (held := {c.effect for c in found if c.reach is Reach.ALL} & _HOLDS):
            old = Effect.REPLACED in held  # `red (old)`
            self._remark(time=Time.REPLACED, **weak) if old else self._remark(time=Time.NOW)
        elif denies and len(said) <= _REMARK and _refutes(said):
            self._remark(denied=True, **weak)

    def _remark(self, **said: Any) -> None:
        """Note a remark on the last things named side by side, or on all of them where it leaves them open."""
        last = self.found[-1]
        for i in range(len(self.found) - 1, max(-1, len(self.found) - 1 - _MOST), -1):
            m = self.found[i]
            if "choice" in said:
                if m.choice and i + 1 < len(self.found):
                    return
            elif (m.sentence, m.group) != (last.sentence, last.group):
                return
            self.found[i] = m._replace(**said)


def _refutes(said: Sequence[str]) -> bool:
    """Whether a short clause that denies speaks of what was named before; `isn't it` asks to agree."""
    return said[0] in _SAYS_OF_IT and said[-1] in _REFUTED and (said[0], said[-1]) not in _TAGS


def _names_one(clauses: Sequence[Clause]) -> bool:
    return len({named.value for clause in clauses for _, named, *_ in clause.named}) == 1


def _force(clauses: Sequence[Clause], ending: str, own: Sequence[Sequence[Cue]]) -> Force:
    """Return how a sentence as a whole puts things forward."""
    if ending in ("?", "？"):
        tag = len(clauses) > 1 and not clauses[-1].named and len(clauses[-1].said) <= _NEAR
        return Force.HEDGED if tag else Force.QUESTION  # `it's red, right?`
    hedged = any(cue.effect is Effect.HEDGES for found in own for cue in found)
    return Force.HEDGED if hedged else Force.FLAT


def _named(clause: Clause, own: Sequence[Cue], block: Block, before: Mention) -> Iterator[Mention]:
    """Yield what a clause names, with what its own words say of it; `before` is what its sentence says."""
    lower = 0
    groups = list(clause.groups())
    for number, (first, last) in enumerate(groups):
        start, stop = clause.named[first][0], clause.named[last][0]
        upper = clause.named[last + 1][0] if last + 1 < len(clause.named) else len(clause.said)
        stance = _stance(before, _Place(clause, lower, start, stop, upper), own)
        lower = stop + 1
        if clause.arrow_after and number + 1 == len(groups):
            stance = stance._replace(time=Time.REPLACED)
        elif clause.opener == "→" and number == 0 and stance.time is Time.PLAIN:
            stance = stance._replace(time=Time.NOW, next=True)
        choice = stance.choice or not {"or", "/"}.isdisjoint(clause.said[start:stop])
        stance = stance._replace(group=before.group + number, choice=choice)
        for _, named, begin, end in clause.named[first : last + 1]:
            place = _span(block, begin, end)
            denied = stance.denied or any(begin >= s and end <= e for s, e in block.struck)
            yield stance._replace(start=place[0], end=place[1], denied=denied, **named._asdict())


class _Place(NamedTuple):
    """Where things are named side by side, among the words of their clause."""

    clause: Clause
    lower: int
    """After what is named before them."""
    start: int
    stop: int
    upper: int
    """What is named after them, or the end."""

    @property
    def into(self) -> int:
        """The last place before them of a word that tells what something becomes; -1 if there is none."""
        return max((i for i in range(self.lower, self.start) if self.clause.said[i] in _INTO), default=-1)

    @property
    def becomes(self) -> bool:
        """Whether they are said to become something: `from red to …`."""
        return not _INTO.isdisjoint(self.clause.said[self.stop + 1 : self.upper])


def _stance(stance: Mention, place: _Place, own: Sequence[Cue]) -> Mention:
    """Return a mention, without what it names, with what the cues of its clause say."""
    for cue in own:
        if cue.reach is Reach.AFTER and place.lower <= cue.begin < place.start:
            stance = _ahead(stance, cue, place, own)
        elif place.stop < cue.begin < place.upper:
            stance = _behind(stance, cue, place)
    if stance.time is not Time.PLAIN:
        return stance
    changed = any(c.end <= place.start and (c.effect is Effect.CHANGES or c.words == ("from",)) for c in own)
    became = changed and place.into >= place.lower and not stance.denied
    return stance._replace(time=Time.NOW, next=True) if became else _timed(stance, own, place)


def _ahead(stance: Mention, cue: Cue, place: _Place, own: Sequence[Cue]) -> Mention:
    """Return a stance with what a cue ahead says; nothing else is named between the two."""
    between = place.clause.said[cue.end : place.start]
    becomes = place.into >= cue.end
    match cue.effect:
        case Effect.DENIES if _describes(place.clause.said[place.lower : cue.begin], between):
            return stance._replace(force=Force.CONDITIONAL)
        case Effect.DENIES:
            twice = stance.denied and cue.words[-1] in ("but", "than", "except")  # `not anything but red`
            named = ":" not in between or between[0] == ":"  # `I do not know, but: red`
            return stance._replace(denied=(stance.denied or named) and not twice)
        case Effect.REPLACED:
            moves = place.becomes or any(c.effect is Effect.CHANGES for c in own)
            origin = cue.words == ("from",) and not moves  # `she comes from Turku`
            if not (origin or becomes) and _CLAUSE.isdisjoint(between):
                return stance._replace(time=Time.REPLACED)
        case Effect.CHANGES if not becomes and (place.becomes or (place.lower and cue.words == _REPLACES)):
            return stance._replace(time=Time.REPLACED)
        case Effect.CONDITIONS:
            return stance._replace(force=Force.CONDITIONAL)
        case Effect.CONCLUDES:
            return stance._replace(final=True)
        case Effect.CHOICE:
            return stance._replace(choice=True)
    return stance


def _describes(before: Sequence[str], between: Sequence[str]) -> bool:
    """Whether a denial between these words only describes what follows: `the one that does not leak is …`."""
    return not _RELATIVE.isdisjoint(before) and not _IS.isdisjoint(between)


def _behind(stance: Mention, cue: Cue, place: _Place) -> Mention:
    """Return a stance with what a cue behind says."""
    if cue.effect is Effect.CHANGES and place.becomes:  # `red was replaced by blue`
        return stance._replace(time=Time.REPLACED)
    if cue.reach is not Reach.BEFORE or cue.begin > place.stop + _NEAR:
        return stance
    match cue.effect:
        case Effect.DENIES if place.upper == len(place.clause.said) and cue.begin <= place.stop + 2:
            return stance._replace(denied=True)
        case Effect.REPLACED:
            return stance._replace(time=Time.REPLACED)
        case Effect.CONCLUDES:
            return stance._replace(final=True)
    return stance


def _timed(stance: Mention, own: Sequence[Cue], place: _Place) -> Mention:
    """Return a stance with the time that the nearest word gives it; the past tense gives way to others."""
    times = [c for c in own if c.reach is Reach.ALL and c.effect in _TIMES]
    times = [c for c in times if c.effect is not Effect.PAST] or times
    if not times:
        return stance
    nearest = min(times, key=lambda c: min(abs(c.begin - place.start), abs(c.end - 1 - place.start)))
    return stance._replace(time=_TIMES[nearest.effect], next=nearest.effect is Effect.NEXT)


def _titled(mention: Mention, above: Sequence[Cue]) -> Mention:
    """Return a mention with what the headings, labels, columns or keys above it say, if its own words say nothing."""
    for cue in above if mention.time is Time.PLAIN else ():
        if cue.effect in _TIMES:
            mention = mention._replace(time=_TIMES[cue.effect])
        elif cue.effect is Effect.CONCLUDES:
            mention = mention._replace(final=True)
    return mention


def _settled(m: Mention) -> Mention:
    """Return a mention that concludes, leads or stands alone only if it is not set aside."""
    given = not m.denied and m.time is not Time.REPLACED
    stands = given and m.time is not Time.PAST
    return m._replace(final=m.final and given, lead=m.lead and stands, bare=m.bare and stands)


def _placed(found: Sequence[Mention], reading: Reading, sentences: int) -> Iterator[Mention]:
    """Yield the mentions: one that begins the reply leads, one alone at its end is final, and one alone bold leads.

    Several alone in their sentences are a list, of which none stands out.
    """
    alone = {m.value for m in found if m.bare and m.asserted}
    bold = {m.value for m in found if m.asserted and _is_bold(m, reading)}
    mixed = any(not m.bare for m in found)
    concluded = {m.value for m in found if m.final}
    again = any(m.value == found[-1].value for m in found[:-1])  # one of a list, and then alone
    for m in found:
        first = m.lead and m.sentence == found[0].sentence and alone <= {m.value, *concluded}
        last = m.bare and m.asserted and m.sentence == sentences and (again or (mixed and len(alone) == 1))
        strong = bold == {m.value} and m.asserted and m.time is not Time.PAST and _is_bold(m, reading)
        yield m._replace(lead=first or strong, final=m.final or last)


def _is_bold(mention: Mention, reading: Reading) -> bool:
    block = reading.blocks[mention.block]
    return any(s <= mention.start - block.start and mention.end - block.start <= e for s, e in block.bold)
