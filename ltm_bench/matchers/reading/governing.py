"""What the cues of a clause, and the titles above it, say about each thing that the clause names.

A cue governs what it reaches: what comes after it, what came before it, or all of its clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ltm_bench.matchers.reading.clauses import Part
from ltm_bench.matchers.reading.cues import Cue, Effect, Reach, cues
from ltm_bench.matchers.reading.mention import Force, Mention, Time
from ltm_bench.matchers.reading.structure import Block, Form

_CLAUSE = frozenset("is it's are i'd i'll it you're that's says say shows reads".split())
"""Words that begin a clause (`after the second it is …`), or announce one (`a stone over the door says …`)."""
_INTO = frozenset("to into with by for towards".split())
_PASSIVE = frozenset("was were been got get gets being is are be".split())

_NEAR = 4
"""Maximum words between a thing and a later remark about it."""

_CONCESSIONS = ("though", "although", "while", "whereas")
_THEREFORE = ("so", "therefore", "thus", "hence")
_CHANGES = (Effect.CHANGES, Effect.OUSTS)
TIMES = {
    Effect.REPLACED: Time.REPLACED,
    Effect.PAST: Time.PAST,
    Effect.PRESENT: Time.NOW,
    Effect.NEXT: Time.NOW,
}


def governed(
    part: Part, k: int, block: Block, asked: frozenset[str], above: Sequence[Cue]
) -> Iterator[Mention]:
    """Yield the mentions in one part of a sentence with what its own cues, and the titles above it, say about them.

    Args:
        part: The part.
        k: Its number in the sentence.
        block: The block that the sentence stands in.
        asked: The words of the question.
        above: The cues of the titles above the block.
    """
    found = [c for c in cues(part.said, asked) if not _opens_talk(c, k, part)] if part.named else []
    for n, (place, named, begin, end) in enumerate(part.named):
        before = part.named[n - 1][0] if n else -1
        after = part.named[n + 1][0] if n + 1 < len(part.named) else len(part.said)
        at = -1 if block.form is Form.JSON else block.start + begin
        mention = Mention(
            named.value, at, at + end - begin if at >= 0 else -1, exact=named.exact, attached=named.attached
        )
        mention = _governed(mention, part, found, before, place, after)
        if mention.time is Time.PLAIN:
            mention = _timed(mention, found, place)
        if part.arrow_after and n + 1 == len(part.named):
            mention = mention._replace(time=Time.REPLACED)
        elif part.opener == "→" and n == 0 and mention.time is Time.PLAIN:
            mention = mention._replace(time=Time.NOW, next=True)
        if part.opener in _CONCESSIONS:
            mention = mention._replace(force=Force.CONCEDED)
        if any(begin >= s and end <= e for s, e in block.struck):
            mention = mention._replace(denied=True)
        if mention.time is Time.PLAIN:
            mention = _titled(mention, above)
        concludes = mention.time is Time.PAST and part.opener in _THEREFORE
        if mention.denied or mention.time is Time.REPLACED or (mention.time is Time.PAST and not concludes):
            mention = mention._replace(final=False)
        yield mention


def _governed(
    mention: Mention, part: Part, found: Sequence[Cue], before: int, place: int, after: int
) -> Mention:
    """Return a mention with what governs it by position.

    `before` and `after` are the places of its neighbours among the words of the part, or its ends.
    """
    into = max((i for i in range(before + 1, place) if part.said[i] in _INTO), default=-1)
    for c in found:
        if c.reach is Reach.AFTER and before < c.begin < place:
            mention = _ahead(mention, part, c, into, place, after)
        elif c.reach is Reach.AFTER and c.effect is Effect.CONCLUDES and c.end <= place:
            mention = mention._replace(final=True)
        elif (
            c.reach is Reach.BEFORE
            and place < c.begin <= place + _NEAR
            and c.begin < after + (after == len(part.said))
        ):
            if c.effect is Effect.DENIES:
                mention = mention._replace(denied=True)
            elif c.effect is Effect.REPLACED:
                mention = mention._replace(time=Time.REPLACED)
            elif c.effect is Effect.CONCLUDES:
                mention = mention._replace(final=True)
        elif c.effect is Effect.OUSTS and place < c.begin < after:
            mention = mention._replace(time=Time.REPLACED if _is_passive(part, c) else Time.NOW)
    changed = any(c.end <= place and (c.effect in _CHANGES or c.words[0] == "from") for c in found)
    if changed and into > before and mention.time is Time.PLAIN and not mention.denied:
        return mention._replace(time=Time.NOW, next=True)
    return mention


def _ahead(mention: Mention, part: Part, cue: Cue, into: int, place: int, after: int) -> Mention:
    """Return a mention with what a cue ahead of it says; nothing else is named between the two."""
    match cue.effect:
        case Effect.DENIES:
            double = mention.denied and cue.words[-1] in (
                "but",
                "than",
                "except",
            )  # `it can't be anything but red`
            denied = not double and (mention.denied or ":" not in part.said[cue.end : place])
            return mention._replace(denied=denied)
        case Effect.REPLACED if into < cue.end and _CLAUSE.isdisjoint(part.said[cue.end : place]):
            return mention._replace(time=Time.REPLACED)
        case Effect.CHANGES if into < cue.end and not _INTO.isdisjoint(part.said[place + 1 : after + 1]):
            return mention._replace(time=Time.REPLACED)  # `changed red to …`
        case Effect.OUSTS if into < cue.end and not _is_passive(part, cue):
            return mention._replace(time=Time.REPLACED)
        case Effect.CONDITIONS:
            return mention._replace(force=Force.CONDITIONAL)
        case Effect.CONCEDES:
            return mention._replace(force=Force.CONCEDED)
        case Effect.EXEMPLIFIES:
            return mention._replace(force=Force.EXAMPLE)
        case Effect.CONCLUDES:
            return mention._replace(final=True)
        case Effect.CHOICE:
            return mention._replace(choice=True)
        case _:
            return mention


def _timed(mention: Mention, found: Sequence[Cue], place: int) -> Mention:
    """Return a mention with the time that the nearest word in its part gives it; the past tense gives way to others."""
    times = [c for c in found if c.reach is Reach.ALL and c.effect in TIMES]
    times = [c for c in times if c.effect is not Effect.PAST] or times
    if not times:
        return mention
    nearest = min(times, key=lambda c: min(abs(c.begin - place), abs(c.end - 1 - place)))
    return mention._replace(time=TIMES[nearest.effect], next=nearest.effect is Effect.NEXT)


def _titled(mention: Mention, above: Sequence[Cue]) -> Mention:
    """Return a mention with what the headings, labels, columns or keys above it say."""
    for c in above:
        if c.effect in TIMES:
            mention = mention._replace(time=TIMES[c.effect])
        elif c.effect is Effect.CONCLUDES:
            mention = mention._replace(final=True)
        elif c.effect is Effect.DENIES:
            mention = mention._replace(denied=True)
    return mention


def _opens_talk(cue: Cue, k: int, part: Part) -> bool:
    """Whether a `so` opens the reply instead of concluding it: `So, first you said …`."""
    return cue.words == ("so",) and cue.begin == 0 and k == 0 and "first" in part.said


def _is_passive(part: Part, cue: Cue) -> bool:
    return any(word in _PASSIVE for word in part.said[max(0, cue.begin - 3) : cue.begin])
