"""The words that tell how something is meant: denied, past, replaced, present, guessed, asked, concluded, corrected.

They are data, without any vocabulary of what is asked about, and are shared by all matchers. A cue reaches

- what comes *after* it, up to the next thing named: `not`, `from`, `instead of`;
- what came *before* it: `… fell through`, `… any more`;
- *all* that its clause names: `at first`, `currently`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from ltm_bench.matchers.reading.text import spelt


class Effect(Enum):
    """What a cue says about what it reaches."""

    DENIES = auto()
    REPLACED = auto()
    """It held once, and was replaced by something else."""
    PAST = auto()
    PRESENT = auto()
    NEXT = auto()
    """It replaced what was named before."""
    CHANGES = auto()
    """A verb of change: what follows is replaced, and by what comes after `to`, `with`, `by`, `for` or `into`."""
    OUSTS = auto()
    """`replaced`: what comes before replaced what follows, or the other way round in the passive."""
    HEDGES = auto()
    CONDITIONS = auto()
    CONCEDES = auto()
    EXEMPLIFIES = auto()
    CONCLUDES = auto()
    CORRECTS = auto()
    """What was named before is taken back."""
    CHOICE = auto()
    """One of several, not decided: `either`, `between`."""


class Reach(Enum):
    """What a cue reaches within its clause."""

    AFTER = auto()
    BEFORE = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class Cue:
    """A phrase with its effect; `begin` and `end` count the words of its clause."""

    effect: Effect
    reach: Reach
    begin: int = 0
    end: int = 0
    words: tuple[str, ...] = ()


_TABLE: dict[tuple[Effect, Reach], str] = {
    (Effect.DENIES, Reach.AFTER): (
        "not|never|neither|nor|no|without|everything but|all but|isn't|wasn't|aren't|weren't|don't|"
        "doesn't|didn't|won't|wouldn't|can't|cannot|"
        "couldn't|shouldn't|haven't|hasn't|hadn't|ain't|anything but|anything except|other than|except|except for|"
        "excluding|unlike|apart from|aside from|rule out|rules out|ruled out|ruling out|eliminate|eliminates|"
        "eliminated|eliminating|incorrectly|wrongly|mistakenly|❌|✗|✘|✖|🚫|not to be confused with|"
        "nothing to do with|far from"
    ),
    (Effect.DENIES, Reach.BEFORE): (
        "is wrong|are wrong|was wrong|is incorrect|is not|are not|isn't|aren't|wasn't|was not|were not|"
        "doesn't|does not|"
        "don't|do not|didn't|did not|can't be|cannot be|is false|isn't right|is ruled out|are ruled out|contradicts|"
        "contradict|fails|is impossible|can be ruled out|can be excluded|is out|are out"
    ),
    (Effect.REPLACED, Reach.AFTER): (
        "from|instead of|rather than|in place of|as opposed to|away from|moved on from|forget|"
        "forget about|forgot|ignore|"
        "ignored|disregard|disregarded|drop|dropped|dropping|discard|discarded|scrap|scrapped|abandon|abandoned|"
        "abandoning|cancelled|canceled|supersedes|superseding|superseded|overrides|overrode|overriding|overwrote|"
        "took the place of|takes the place of|taking the place of|used to be|no longer|not anymore|before|"
        "after|prior to|"
        "since leaving|until|over|over from|tired of|gave up|gave up on|giving up|went off|preferred to|previously|"
        "formerly|ex|out with|than"
    ),
    (Effect.REPLACED, Reach.ALL): (
        "originally|initially|formerly|previously|at first|first|firstly|at the beginning|"
        "in the beginning|at the start|"
        "at the outset|to begin with|to start with|started|started out|started off|began|"
        "earliest|early on|prior|previous|former|old|older|original|initial|outdated|obsolete|once|"
        "used to|had been|past|"
        "second|back then|in the past|before that|prior to that|before then|superseded|crossed out|"
        "struck out|deprecated|stale|predecessor"
    ),
    (Effect.REPLACED, Reach.BEFORE): (
        "fell through|fell out|any more|anymore|no longer|is off|is gone|was cancelled|was canceled|got cancelled|"
        "is cancelled|was dropped|was scrapped|was discarded|was abandoned|is outdated|is obsolete|is history|"
        "came first|was first|was the first|was before|before that|before it|for a while|for a time|at first|"
        "was overwritten|was superseded|is superseded|is the old|was the old|was ruled out|"
        "didn't work out|no longer holds|no longer hold|no longer applies|no longer valid|"
        "no longer counts|not going by|"
        "did not work out|was fully booked|were fully booked|was full|was sold out|was the plan|had been the plan|"
        "earlier|first|initially|originally|previously|before|beforehand|once"
    ),
    (Effect.PAST, Reach.ALL): (
        "earlier|earlier on|was|were|did|had|liked|loved|preferred|favoured|favored|chose|picked|wanted|"
        "told|said|mentioned|thought|planned|"
        "considered|at one point|at some point|at one time|at the time|for a time|for a while|throughout|"
        "timeline|history|"
        "sequence|chronologically|changes|evolution|recap|along the way|you've had|you have had|over time"
    ),
    (Effect.PRESENT, Reach.ALL): (
        "now|currently|current|presently|present|latest|newest|most recent|most recently|recently|lately|last|lastly|"
        "final|finally|nowadays|these days|today|at the moment|at present|at this point|still|in the end|as of now|"
        "right now|up to date|updated|new|ended up|ends up|ending up|end up|settled|settled on|settling on|landed on|"
        "stuck with|stands at|as it stands|actual|valid|in force"
    ),
    (Effect.NEXT, Reach.ALL): (
        "then|later|later on|next|subsequently|afterwards|afterward|eventually|after that|after this|thereafter|"
        "more recently|moved on to|moved to|moving to|became|becomes|becoming|turned into|graduated to"
    ),
    (Effect.CHANGES, Reach.AFTER): (
        "changed|change|changes|changing|switched|switch|switches|switching|corrected|correct it|correcting|updated|"
        "update|updating|revised|revise|revising|amended|swapped|swap|swapping|exchanged|traded|modified|altered|edited|"
        "converted|shifted|turned|moved|went|came|go|replacing|progressed|evolved|transitioned|reverted"
    ),
    (
        Effect.OUSTS,
        Reach.AFTER,
    ): "replaced|replaces|replace|ousted|supplanted|displaced|overtook|overtaken|succeeded",
    (Effect.HEDGES, Reach.ALL): (
        "maybe|perhaps|possibly|probably|likely|i think|i believe|i guess|i suppose|i'd guess|my guess|"
        "best guess|guess|"
        "might|could|may|if i remember|if i recall|as far as i|not sure|unsure|not certain|uncertain|not 100|"
        "not entirely|not completely|not totally|not absolutely|not quite sure|or something|presumably|"
        "apparently|seems|"
        "seem|i'd say|roughly|vaguely|assume|assuming|suspect|something like"
    ),
    (
        Effect.CONDITIONS,
        Reach.AFTER,
    ): "if|unless|whether|in case|would have|would've|had you|supposing|provided that",
    (Effect.CONCEDES, Reach.AFTER): (
        "though|although|even though|albeit|while|whereas|despite|in spite of|granted|admittedly|regardless of"
    ),
    (Effect.EXEMPLIFIES, Reach.AFTER): (
        "e.g|eg|for example|for instance|such as|hypothetically|say|any colour|any of|anything from|like for example"
    ),
    (Effect.CONCLUDES, Reach.AFTER): (
        "✅|✔|☑|so|therefore|thus|hence|consequently|accordingly|answer|final answer|in conclusion|conclusion|in short|"
        "in summary|bottom line|long story short|to sum up|in sum|that makes|which makes|making|that leaves|"
        "which leaves|leaving|leaves|that means|which means|meaning|must be|has to be|i'd go with|i'll go with|"
        "i will go with|i would go with|going with|go with|i'd pick|i'd choose|i choose|i pick|i'd answer|i'd say|"
        "result|verdict|the winner is|ergo|all in all|ultimately|overall|correct answer|right answer|solution"
    ),
    (
        Effect.CONCLUDES,
        Reach.BEFORE,
    ): "it is|is the answer|is correct|is right|is the one|is my answer|it must be",
    (Effect.CORRECTS, Reach.AFTER): (
        "no wait|wait|scratch that|strike that|correction|i mean|i meant|on second thought|on second thoughts|"
        "let me correct|my mistake|i misspoke|hold on|let me rephrase|oops|sorry i meant|or rather|rather it's|"
        "actually no|no actually|apologies|to correct myself|make that"
    ),
    (Effect.CHOICE, Reach.BEFORE): (
        "not sure which|not certain which|unsure which|can't tell which|cannot tell which|"
        "don't know which|which one is it|"
        "not sure which one|one of these|one of those|one of them|one of the two|swear to either"
    ),
    (
        Effect.CHOICE,
        Reach.AFTER,
    ): "either|between|one of|any of|not sure whether|not sure if|unsure whether|both",
}

KEEPS = frozenset(
    "once more|once again|at once|"
    "not only|not just|not merely|not simply|not to mention|not forget|don't forget|never forget|not surprisingly|"
    "no doubt|no question|no problem|no worries|not a problem|don't worry|do not worry|not least|no need|"
    "haven't forgotten|have not forgotten|didn't forget|did not forget|can't go wrong|couldn't be|not sure|not certain|"
    "not 100|not entirely|not completely|not totally|not absolutely|not wrong|not mistaken|"
    "don't have any doubt|do not have any doubt|no doubts|"
    "comes from|come from|came from|is from|are from|was from|were from|he's from|she's from|they're from|hails from|"
    "dates from|dating from".split("|")
)
"""Phrases with a word that usually denies or replaces what follows, but does not here."""


def _compiled() -> dict[str, list[tuple[tuple[str, ...], Effect, Reach]]]:
    table: defaultdict[str, list[tuple[tuple[str, ...], Effect, Reach]]] = defaultdict(list)
    for (effect, reach), phrases in _TABLE.items():
        for phrase in phrases.split("|"):
            parts = tuple(map(spelt, phrase.split()))
            table[parts[0]].append((parts, effect, reach))
    for phrases_of in table.values():
        phrases_of.sort(key=lambda each: -len(each[0]))
    return dict(table)


_CUES = _compiled()
_KEEPS = {tuple(phrase.split()) for phrase in KEEPS}
_LONGEST = max(map(len, _KEEPS))
_KEPT = {phrase[0] for phrase in _KEEPS}


def cues(said: Sequence[str], besides: frozenset[str] = frozenset()) -> Sequence[Cue]:
    """Return the cues in the words of a clause, the longest at each place; `besides` are words that are none here.

    A phrase that reaches in two ways is returned twice.
    """
    return _cues(tuple(said), besides)


@lru_cache(
    maxsize=256
)  # a clause's cues are requested several times, as are those of a reply that lacks one word
def _cues(said: tuple[str, ...], besides: frozenset[str]) -> Sequence[Cue]:
    return tuple(_found(said, besides))


def _found(said: tuple[str, ...], besides: frozenset[str]) -> Iterator[Cue]:
    i = 0
    while i < len(said):
        word = said[i]
        kept = 0
        if word in _KEPT:
            kept = next((n for n in range(_LONGEST, 1, -1) if said[i : i + n] in _KEEPS), 0)
        if kept:
            for parts, effect, reach in _CUES.get(word, ()):
                if len(parts) >= kept and said[i : i + len(parts)] == parts:
                    yield Cue(effect, reach, i, i + len(parts), parts)
            i += kept
            continue
        size = 0
        for parts, effect, reach in _CUES.get(word, ()):
            if size > len(parts) or said[i : i + len(parts)] != parts or besides.issuperset(parts):
                continue
            yield Cue(effect, reach, i, i + len(parts), parts)
            if reach is not Reach.BEFORE:  # what may reach nothing must not hide what it is made of
                size = len(parts)
        i += size or 1
