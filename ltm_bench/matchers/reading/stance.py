"""What a reply says about the things it names: whether each is asserted, denied, past, replaced, guessed or concluded.

A matcher brings a `Lexicon` of what could be named; how it is meant is read here, once for all of them. A clause may
name two things and mean them differently (`from yellow to black`), so a stance belongs to a mention, not to a clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

from ltm_bench.matchers.reading.clauses import JOINS, Part, sentences
from ltm_bench.matchers.reading.cues import Effect, Reach, cues
from ltm_bench.matchers.reading.governing import TIMES, governed
from ltm_bench.matchers.reading.leading import announced, emphasised, leads
from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.reading.mention import Force, Mention, Time
from ltm_bench.matchers.reading.structure import Block, Reading
from ltm_bench.matchers.reading.text import words

_TAGS = frozenset(
    "right correct yes no true isn't it wasn't ok okay eh huh if i'm not mistaken am i am".split()
)
_QUESTION_WORDS = frozenset(
    "what which when where who whom whose how tell does have your mine please that this with from give "
    "name answer only "
    "just alone nothing else word words write".split()
)
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
    for number, block in enumerate(reading.blocks):
        # Words that retract something named before, or leave it open, matter only after something was named.
        for parts, ending, within in sentences(block, lexicon, silent=bool(found)):
            sentence += 1
            if any(part.named for part in parts):
                found.extend(_meant(parts, ending, block, number, sentence, within, asked))
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
    return tuple(emphasised(found, reading))


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
    block: Block,
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
    above = [cue for title in block.path for cue in cues(words(title), asked)]
    past = False
    formerly = _is_labelled(parts[0], Effect.REPLACED, asked)
    last: list[Mention] = []
    whole: list[list[Mention]] = []
    continues = bool(parts[0].said) and parts[0].said[0] == "or"
    for k, part in enumerate(parts):
        own = [
            m._replace(sentence=sentence, block=number, within=within)
            for m in governed(part, k, block, asked, above)
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
            note = next((TIMES[c.effect] for c in cues(part.said, asked) if c.effect in TIMES), None)
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
    lead, told = (leads(parts, whole, asked), announced(parts)) if ending != "?" else (None, None)
    for k, own in enumerate(whole):
        for m in own:
            stance = m if force is Force.FLAT or m.force is not Force.FLAT else m._replace(force=force)
            stands = stance.asserted and m.time is not Time.PAST
            yield stance._replace(
                on_topic=on_topic,
                lead=k == lead and stands,
                final=m.final or (k == told and stands),
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
