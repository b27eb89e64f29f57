"""The rungs of the ladder: a missed question, asked again with ever more help. Pure.

The first rung that succeeds says where the answer was: *cued*, there but not found; *recognised*, there but not
recalled; *retold*, gone. What fails even then is reading, reasoning or form.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from ltm_bench.core.clock import stamp
from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Ask, Matcher, Message, Outcome, Reply, Turn, Verdict
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.matchers.reading import Lexicon, words
from ltm_bench.matchers.reading.doubting import DoubtingMatcher
from ltm_bench.script.rehearsal import ACKNOWLEDGEMENT, holding
from ltm_bench.script.scenario import Example

KNOWS_NOTHING = "I do not know."
"""The ideal reply of whoever was told nothing."""

_IN_HAND = """\
Here is everything that I have told you about this, in order, each with its date:

{told}

And this is my question:

{question}"""

_CUED = """\
{question}

To help you remember, here is what else I said at those moments; the dots stand for what you have to know:

{told}"""

_RECOGNISED = """\
{question}

The answer is one of these:

{options}

Reply with that one alone, as it is written here."""

MOST_OPTIONS = 4
"""Answers that a choice offers at most."""
_LONGER = 60
"""Characters by which a wrong answer may be longer than twice the right one; otherwise its length would tell."""
_DOTS = "…"
_WORD = re.compile(r"[\w'’-]+")
_MISSED = (Outcome.WRONG, Outcome.STALE, Outcome.OVERDONE, Outcome.ABSTAINED, Outcome.MALFORMED)


class Rung(NamedTuple):
    """A question of the ladder."""

    name: str
    message: Message
    choices: int = 0
    """Number of answers that it offers; 0 if it offers none."""


def is_missed(expect: Matcher, verdict: Verdict, turns: Sequence[Turn]) -> bool:
    """Whether a reply misses what it should have remembered. Where restraint is right, nothing is missed."""
    silent = [expect.verdict(KNOWS_NOTHING, turns).score]
    if isinstance(expect, SetMatcher):
        # A verdict may ask for a form besides, where the published mark does not.
        silent.append(expect.scores(KNOWS_NOTHING).get(expect.columns[0]))
    return verdict.outcome in _MISSED and 1 not in silent


def in_hand(told: Sequence[Message], question: str) -> str:
    """Return a question that comes with all that was told."""
    return _IN_HAND.format(told=_listed(told), question=question)


def _listed(told: Sequence[Message]) -> str:
    """Return what was said, each message with its date."""
    return "\n".join(f"[{stamp(each.at)}] {each.text}" for each in told)


def rungs_of(
    example: Example, line: Ask, asked: Message, heard: Sequence[Turn], *, whole: str = ""
) -> tuple[list[Rung], dict[str, str]]:
    """Return the rungs of a question, and why it lacks the others, by name.

    Args:
        example: Its example.
        line: What the script yielded.
        asked: The question as it was asked.
        heard: The example's turns before it.
        whole: Why one message cannot tell what the example told; empty if it can.
    """
    spoken = [turn.message for turn in heard if turn.kind != "ask"]
    told = [spoken[place] for place in holding(line, len(spoken), example)]
    found, lacking = [Rung("again", asked)], dict[str, str]()
    expect, turns = line.expect, [*heard, Turn(asked, Reply(""), "ask", example.id)]
    names = expect.candidates() if isinstance(expect, DoubtingMatcher) else None
    cue = list(_without(told, names)) if names else []
    if whole or not cue:
        nothing = "what was said holds no answer that could be left out of it"
        lacking["cued"] = whole or (nothing if names else "nothing says which words could be the answer")
    else:
        text = _CUED.format(question=asked.text, told=_listed(cue))
        found.append(Rung("cued", _rephrased(asked, text)))
    dice = Dice(f"{example.seed}/{example.id}/ladder/{asked.text}")
    options = _options(expect, turns, told, names, dice)
    if isinstance(options, str):
        lacking["recognised"] = options
    else:
        offered = "\n".join(f"- {each}" for each in dice.shuffled(options))
        text = _RECOGNISED.format(question=asked.text, options=offered)
        found.append(Rung("recognised", _rephrased(asked, text), len(options)))
    if whole or not told:
        lacking["retold"] = whole or "nothing was told before it"
    else:
        found.append(Rung("retold", _rephrased(asked, in_hand(told, asked.text))))
    return found, lacking


def _rephrased(asked: Message, text: str) -> Message:
    """Return a question in other words; a memory is searched by all of them."""
    return replace(asked, text=text, search_by=None)


def _named(text: str, names: Lexicon) -> Iterator[tuple[int, int, str]]:
    """Yield where a text names something, and what."""
    found = list(_WORD.finditer(text))
    single = ((each, words(each[0])) for each in found)
    said = [spelt[0] if len(spelt) == 1 else "" for _, spelt in single]
    for begin, end, named in sorted(names.hear(said), key=lambda each: each[0]):
        if named.exact:  # a part of a name is a word like any other
            yield found[begin].start(), found[end - 1].end(), named.value


def _without(told: Sequence[Message], names: Lexicon) -> Iterator[Message]:
    """Yield the messages that name a possible answer, with dots in its place."""
    for message in told:
        kept, place = "", 0
        for start, end, _ in _named(message.text, names):
            kept, place = kept + message.text[place:start] + _DOTS, end
        if place:
            yield replace(message, text=kept + message.text[place:])


def _options(
    expect: Matcher, turns: Sequence[Turn], told: Sequence[Message], names: Lexicon | None, dice: Dice
) -> list[str] | str:
    """Return the right answer and at most three others, first those that were told; or why there is no choice."""

    def verdict(reply: str) -> Verdict:
        return expect.verdict(reply, turns)

    asked = turns[-1].message.text
    right, others = expect.right()[0], [each for each in expect.wrong() if each]
    if names is not None and isinstance(expect, DoubtingMatcher) and expect.single:
        (right,) = expect.sought() or (right,)
        said = [value for each in told for *_, value in _named(each.text, names)]
        others = list(dict.fromkeys([*said, *dice.shuffled(sorted(names.values))]))
    if _holds(asked, right):
        return "its question is a choice already"
    if expect.as_published:
        # What its key calls wrong is a stand-in, beside which anybody finds the right answer.
        return "its set names no wrong answers"
    if verdict(right).score != 1:
        return "its answer has no form of its own"
    near = (
        each
        for each in others
        if each not in (right, ACKNOWLEDGEMENT)
        and len(each) <= 2 * len(right) + _LONGER
        and _shape(each) == _shape(right)
        and verdict(each).outcome in (Outcome.WRONG, Outcome.STALE, Outcome.OVERDONE, Outcome.PARTIAL)
    )
    found = [right, *islice(near, MOST_OPTIONS - 1)]
    return found if len(found) > 1 else "no wrong answer is like the right one"


def _shape(reply: str) -> tuple[object, ...]:
    """Return what must not tell the right answer from the others: how it begins, and how it is divided."""
    first = reply[:1]
    return first.isdigit() or first.isalpha() or first, first.isdigit(), ":" in reply, "\n" in reply


def _holds(text: str, answer: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text, re.IGNORECASE) is not None
