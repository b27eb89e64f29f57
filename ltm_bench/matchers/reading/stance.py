"""What a reply says about the things it names: whether each is asserted, denied, past, replaced, guessed or concluded.

A matcher brings a `Lexicon` of what could be named; how it is meant is read here, once for all of them. A clause may
name two things and mean them differently (`from yellow to black`), so a stance belongs to a mention, not to a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from ltm_bench.matchers.reading.clauses import JOINS, Part, sentences
from ltm_bench.matchers.reading.cues import Cue, Effect, Reach, cues
from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.mention import Force, Mention, Time
from ltm_bench.matchers.reading.structure import Form, Piece, Reading
from ltm_bench.matchers.reading.text import words

_FUNCTION = frozenset(
    "the a an your my our his her its their it it's is are be 's was were that that's this these there here with in at "
    "to on by of for and as you i we he she they would will yes yeah yep sure ok okay right oh ah well hi hello hey "
    "answer option number no choice certainly course absolutely definitely ha got easy one mr mrs ms s "
    "hmm um let me see "
    "thanks thank get please you'd you're i'd i'm say go take have choose pick like just simply clearly "
    "also too indeed "
    "honestly still remember do correct true".split()
)
_CLAUSE = frozenset("is it's are i'd i'll it you're that's says say shows reads".split())
"""Words that begin a clause (`after the second it is …`), or announce one (`a stone over the door says …`)."""
_TAGS = frozenset(
    "right correct yes no true isn't it wasn't ok okay eh huh if i'm not mistaken am i am".split()
)
_QUESTION_WORDS = frozenset(
    "what which when where who whom whose how tell does have your mine please that this with from give "
    "name answer only "
    "just alone nothing else word words write".split()
)
_INTO = frozenset("to into with by for towards".split())
_PASSIVE = frozenset("was were been got get gets being is are be".split())
_MOST = 2000
_NEARBY = 20


@lru_cache(maxsize=8)  # a matcher asks several things of the same mentions
def mentions(reading: Reading, lexicon: Lexicon, question: str = "") -> tuple[Mention, ...]:
    """Return what a reply names of a lexicon, in order, and how each is meant.

    Args:
        reading: The reply.
        lexicon: What could be named.
        question: What was asked; its own words are no cues (`where will she look first?`).
    """
    asked = frozenset(words(question))
    found: list[Mention] = []
    sentence = 0
    for number, piece in enumerate(reading.pieces):
        # Words that retract something named before, or leave it open, matter only after something was named.
        for parts, ending, within in sentences(piece, lexicon, silent=bool(found)):
            sentence += 1
            if any(part.named for part in parts):
                found.extend(_meant(parts, ending, piece, number, sentence, within, asked))
                if len(found) > _MOST:
                    return tuple(found)
            if not found:
                continue
            if any(
                c.effect is Effect.CHOICE and c.reach is Reach.BEFORE
                for part in parts
                for c in cues(part.said)
            ):
                _leave_open(found, sentence)
            corrected = next(
                (
                    k
                    for k, part in enumerate(parts)
                    if any(c.effect is Effect.CORRECTS for c in cues(part.said))
                ),
                None,
            )
            if corrected is not None:
                _take_back(found, sentence, sum(len(part.named) for part in parts[:corrected]))
    if found and all(m.time is Time.REPLACED for m in found) and any(m.taken_back for m in found):
        found = [
            m._replace(time=Time.PLAIN) if m.taken_back else m for m in found
        ]  # nothing came in its place
    return tuple(_emphasised(found, reading))


def _leave_open(found: list[Mention], sentence: int) -> None:
    """Mark what `one of these` refers to: the values named in the last two sentences, or in those of two values."""
    last = found[-1]
    other = next((m for m in reversed(found[-_NEARBY:]) if m.value != last.value), last)
    since = min(sentence - 1, other.sentence)
    for i in range(len(found) - 1, -1, -1):
        if found[i].sentence < since or (found[i].choice and i + 1 < len(found)):
            return
        found[i] = found[i]._replace(choice=True)


def _take_back(found: list[Mention], sentence: int, within: int) -> None:
    """Mark what was named before a correction as replaced: earlier sentences, and the first mentions of this one."""
    own = sum(1 for _ in takewhile(lambda m: m.sentence == sentence, reversed(found)))
    for i in range(len(found) - own + min(own, within) - 1, -1, -1):
        if found[i].taken_back:
            return  # and so is all before it
        found[i] = found[i]._replace(time=Time.REPLACED, lead=False, final=False, taken_back=True)


def _meant(
    parts: Sequence[Part],
    ending: str,
    piece: Piece,
    number: int,
    sentence: int,
    within: tuple[int, int],
    asked: frozenset[str],
) -> Iterator[Mention]:
    """Yield the mentions of a sentence."""
    said = [word for part in parts for word in part.said if word]
    topic = {word for word in said if len(word) > 3 and word not in _QUESTION_WORDS}
    on_topic = not topic.isdisjoint(asked)
    force = _force(parts, ending)
    above = [cue for title in piece.path for cue in cues(words(title), asked)]
    past = False
    formerly = _is_labelled(parts[0], Effect.REPLACED, asked)
    last: list[Mention] = []
    whole: list[list[Mention]] = []
    continues = bool(parts[0].said) and parts[0].said[0] == "or"
    for k, part in enumerate(parts):
        own = [
            m._replace(sentence=sentence, piece=number, within=within)
            for m in _part(part, k, piece, asked, above)
        ]
        if part.opener == "until" and whole and whole[-1]:  # `red until you said blue`
            whole[-1] = [m if m.denied else m._replace(time=Time.REPLACED) for m in whole[-1]]
            own = [m._replace(time=Time.NOW, next=True) if m.time is Time.REPLACED else m for m in own]
        if past:  # `it was first red, then blue`: what came next is past as well
            own = [m._replace(time=Time.PAST) if m.next and m.time is Time.NOW else m for m in own]
        effects = {cue.effect for cue in cues(part.said, asked)}
        past = past or (Effect.PAST in effects and not effects & {Effect.CHANGES, Effect.OUSTS})
        if part.bare() and part.opener == "," and k and not parts[k - 1].named:
            own = [_apposed(m, parts[k - 1], asked) for m in own]
        if formerly:  # `Before: first red, then blue`
            own = [m._replace(time=Time.REPLACED, next=False, final=False) for m in own]
        inherits = part.bare() and last and part.opener in JOINS and not any(m.time is Time.NOW for m in own)
        if inherits:
            model = last[-1]
            own = [
                m._replace(
                    denied=model.denied,
                    time=m.time if m.next else model.time,
                    force=model.force,
                    final=model.final,
                    choice=m.choice or model.choice,
                )
                for m in own
            ]
        if part.opener == "(" and not part.named and whole and len(part.said) <= 4:
            note = next((_TIMES[c.effect] for c in cues(part.said, asked) if c.effect in _TIMES), None)
            if note is not None:  # `red (outdated)`, `red and blue (earlier)`
                for j in range(len(whole) - 1, -1, -1):
                    whole[j] = [m._replace(time=note, lead=False) for m in whole[j]]
                    if parts[j].opener not in JOINS:
                        break
        if k and part.said == ["though"] and whole and whole[-1]:
            whole[-1] = [m._replace(force=Force.CONCEDED) for m in whole[-1]]
        if continues and k == 0:
            own = [m._replace(choice=True) for m in own]
        if part.opener == "or" and own and last:
            own = [m._replace(choice=True) for m in own]
            for j in range(len(whole) - 1, -1, -1):
                if whole[j] and all(m.choice for m in whole[j]):
                    break  # by an `or` before, together with what came before it
                whole[j] = [m._replace(choice=True) for m in whole[j]]
                if parts[j].opener not in JOINS or not parts[j].bare():
                    break
        if part.opener in ("and", "or") and own and last and whole and not parts[k - 1].said[-1]:
            former = next((m for m in own if m.time in (Time.REPLACED, Time.PAST)), None)
            if former is not None and not part.bare():
                whole[-1] = [m._replace(time=former.time) if m.time is Time.PLAIN else m for m in whole[-1]]
        whole.append(own)
        last = own
    lead, announced = (_leads(parts, whole, asked), _announced(parts)) if ending != "?" else (None, None)
    for k, own in enumerate(whole):
        for m in own:
            stance = m if force is Force.FLAT or m.force is not Force.FLAT else m._replace(force=force)
            stands = stance.asserted and m.time is not Time.PAST
            yield stance._replace(
                on_topic=on_topic,
                lead=k == lead and stands,
                final=m.final or (k == announced and stands),
            )


def _apposed(mention: Mention, before: Part, asked: frozenset[str]) -> Mention:
    """Return a mention with what the part before it says about what follows: `forget the old one, red`."""
    effects = {c.effect for c in cues(before.said, asked) if c.reach is Reach.AFTER}
    if Effect.REPLACED in effects:
        return mention._replace(time=Time.REPLACED)
    return mention


def _is_labelled(part: Part, effect: Effect, asked: frozenset[str]) -> bool:
    """Whether a sentence opens with a label of this effect: a few words up to a colon, and nothing named before it."""
    if ":" not in part.said:
        return False
    end = part.said.index(":")
    return (
        end <= 4
        and all(place > end for place, *_ in part.named)
        and any(cue.effect is effect for cue in cues(part.said[:end], asked))
    )


def _force(parts: Sequence[Part], ending: str) -> Force:
    """Return how a sentence as a whole puts things forward."""
    if ending in ("?", "？"):
        if len(parts) > 1 and parts[-1].said and set(parts[-1].said) <= _TAGS:
            return Force.HEDGED
        return Force.QUESTION
    if any(cue.effect is Effect.HEDGES for part in parts for cue in cues(part.said)):
        return Force.HEDGED
    return Force.FLAT


def _part(part: Part, k: int, piece: Piece, asked: frozenset[str], above: Sequence[Cue]) -> Iterator[Mention]:
    """Yield the mentions in one part of a sentence with what its own cues, and the titles above it, say about them."""
    found = [c for c in cues(part.said, asked) if not _opens_talk(c, k, part)] if part.named else []
    for n, (place, named, begin, end) in enumerate(part.named):
        before = part.named[n - 1][0] if n else -1
        after = part.named[n + 1][0] if n + 1 < len(part.named) else len(part.said)
        at = -1 if piece.form is Form.JSON else piece.start + begin
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
        if any(begin >= s and end <= e for s, e in piece.struck):
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
    times = [c for c in found if c.reach is Reach.ALL and c.effect in _TIMES]
    times = [c for c in times if c.effect is not Effect.PAST] or times
    if not times:
        return mention
    nearest = min(times, key=lambda c: min(abs(c.begin - place), abs(c.end - 1 - place)))
    return mention._replace(time=_TIMES[nearest.effect], next=nearest.effect is Effect.NEXT)


def _titled(mention: Mention, above: Sequence[Cue]) -> Mention:
    """Return a mention with what the headings, labels, columns or keys above it say."""
    for c in above:
        if c.effect in _TIMES:
            mention = mention._replace(time=_TIMES[c.effect])
        elif c.effect is Effect.CONCLUDES:
            mention = mention._replace(final=True)
        elif c.effect is Effect.DENIES:
            mention = mention._replace(denied=True)
    return mention


_NEAR = 4
"""Maximum words between a thing and a later remark about it."""

_CONCESSIONS = ("though", "although", "while", "whereas")
_THEREFORE = ("so", "therefore", "thus", "hence")
_CHANGES = (Effect.CHANGES, Effect.OUSTS)
_TIMES = {
    Effect.REPLACED: Time.REPLACED,
    Effect.PAST: Time.PAST,
    Effect.PRESENT: Time.NOW,
    Effect.NEXT: Time.NOW,
}


def _opens_talk(cue: Cue, k: int, part: Part) -> bool:
    """Whether a `so` opens the reply instead of concluding it: `So, first you said …`."""
    return cue.words == ("so",) and cue.begin == 0 and k == 0 and "first" in part.said


def _is_passive(part: Part, cue: Cue) -> bool:
    return any(word in _PASSIVE for word in part.said[max(0, cue.begin - 3) : cue.begin])


def _announced(parts: Sequence[Part]) -> int | None:
    """Return the number of the part that announces one thing with a colon, if one does: `What you need is: red`."""
    last = parts[-1]
    if len(last.named) != 1 or ":" not in last.said:
        return None
    colon = len(last.said) - 1 - last.said[::-1].index(":")
    bare = all(not word or word in _FUNCTION for word in last.said[colon + 1 :])
    return len(parts) - 1 if bare and last.named[0][0] > colon and colon > 0 else None


def _leads(parts: Sequence[Part], whole: Sequence[Sequence[Mention]], asked: frozenset[str]) -> int | None:
    """Return the number of the part that gives an answer before the sentence says anything else, if one does."""
    light = _FUNCTION | asked
    for k, part in enumerate(parts):
        if not part.named:
            if all(word in light or not word.strip(":") for word in part.said):
                continue
            return None
        if part.opener == "→" or part.arrow_after or len({m.value for m in whole[k]}) != 1:
            return None
        if any(word and word not in light and word != ":" for word in part.said):
            return None
        following = _past_remark(parts, k + 1)
        listed = following is not None and following.named and following.opener in JOINS
        if listed and following is not None and (following.bare() or following.opener in ("and", "or")):
            return None
        return k
    return None


def _past_remark(parts: Sequence[Part], k: int) -> Part | None:
    """Return the part after a remark in parentheses, if there is one at `k`: `red (old), blue`."""
    remark = k < len(parts) and parts[k].opener == "(" and not parts[k].named
    while remark and k < len(parts) and not parts[k].named:
        k += 1
    return parts[k] if k < len(parts) else None


def _emphasised(found: Sequence[Mention], reading: Reading) -> Iterator[Mention]:
    """Yield the mentions, `lead` only where one begins the reply, ends it on a line of its own, or alone is bold."""
    lone = [i for i, m in enumerate(found) if m.lead]
    first = next(iter(found), None)
    kept: set[int] = set()
    leading = {found[i].value for i in lone}
    if lone and len({found[i].piece for i in lone if reading.pieces[found[i].piece].form is Form.BULLET}) < 2:
        if first is not None and found[lone[0]] == first:
            kept |= {i for i in lone if found[i].sentence == first.sentence}
        last = found[lone[-1]]
        ends = all(m.piece <= last.piece for m in found) and _alone(reading.pieces[last.piece])
        if ends and (len(leading) == 1 or not kept):
            kept.add(lone[-1])
    bold = {m.value for m in found if m.asserted and _is_bold(m, reading)}
    for i, m in enumerate(found):
        strong = (
            len(bold) == 1
            and m.value in bold
            and m.asserted
            and _is_bold(m, reading)
            and m.time is not Time.PAST
        )
        yield m._replace(lead=i in kept or strong)


def _alone(piece: Piece) -> bool:
    return len(piece.text.split()) <= 6


def _is_bold(mention: Mention, reading: Reading) -> bool:
    piece = reading.pieces[mention.piece]
    if mention.start < 0 or not piece.bold:
        return False
    return any(s <= mention.start - piece.start and mention.end - piece.start <= e for s, e in piece.bold)
