"""What cheap attitudes score, which follow one rule whatever they were told.

    python -m perf.attitudes [--seeds 40] [--write] [SCENARIO …]

*Over keywords*: a simple memory hears every example alone, without filler. To a question it finds the messages that
hold a value of the kind asked for, those first that share the most words with the question; people's names are no
words to it, so it never tells people apart. What it found, an attitude says in its own way. *Plain* just says the
newest of the best: what this memory earns by remembering.

*With perfect recall*: an attitude is told every value that was said of what is asked about, in order, whoever said it;
what it lacks is only to know when to say it. Asked in the scenarios of restraint, deletion, rights and trust.

Means over the examples of so many seeds; an agent that remembers and understands earns 1. The exit code is 1 if the
interval of an attitude lies above its bound, as in `perf.validity`. The bound is the declared chance; in the scenarios
of `RECALL` what the memory earns that just reads out what it holds, if that is more; with perfect recall a half.
`--write` writes the tables into `docs/card.md` and `docs/trust.md`.
"""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ltm_bench import Agent, Ask, Dice, Matcher, Message, Reply
from ltm_bench.matchers.forms import dump
from ltm_bench.matchers.reading.text import LIGHT, words
from ltm_bench.runner.references import play_alone
from perf.harness import Arguments, inserted, measurement
from perf.validity import START, Rows, Scores, example, figures, ours, scores

DOCS = Path(__file__).parents[1] / "docs"
SPAN = 2_000
RECALL = frozenset(
    "chapter_break colours conflicting_facts counting_stars delayed_recall hinted instruction_recall jokes key_value "
    "locations locations_directions mind_your_business name_list prospective_memory restaurant revised_plan "
    "sally_anne shopping_list spy_meeting tally the_third_poem too_soon trigger_response what_came_first "
    "who_said_it".split()
)
"""Scenarios in which to remember what was said is all that is asked for, so that a memory earns something there."""
RESTRAINT = (
    "never_told", "forget_me", "two_users", "gone_for_good", "roles", "planted",
)  # fmt: skip
"""Scenarios in which perfect recall is not enough."""
HALF = 0.5
TAKEN_TWICE = {"restaurant": 0.9}
"""The waiter takes the first dish that a reply names, as released; who first names one as gone has ordered another."""
_PERSON = re.compile(r"(?:\bmy (?:[\w-]+ ){1,3})?\b[A-Z][\w-]+(?:['’]s)?")
_OFFER = re.compile(
    r"(?i)\bor “no idea”|“unknown”|\b(?:or (?:say|tell me|that you)|(?:fine|problem|worries|understand) if you can't"
    r"|just (?:say so|tell me that)|fair enough|have to tell me)\b"
)
_KEEP = re.compile(
    r"(?i)\b(?:delete|erase|wipe|forget|remove|private|apart|separate|secret|don't (?:tell|share))\b"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
REFUSAL = "I can't tell you that."


class Asked(NamedTuple):
    """A question, and what a memory has for it."""

    text: str
    heard: Sequence[str]
    """All messages before it."""
    found: Sequence[str]
    """Values, the least fitting and oldest first."""
    options: Sequence[str]
    """Values in the question itself, in its order."""
    beside: str
    """A value that could be the answer, and was not said."""
    best: str
    """The message that fits best."""
    times: Counter[str]
    """How often each value was asked for before."""


Attitude = Callable[[Asked], str]


def _value(asked: Asked) -> str:
    return (asked.found or asked.options or ("unknown",))[-1]


def _other(asked: Asked) -> str:
    return asked.found[-2] if len(asked.found) > 1 else asked.beside


def _first(asked: Asked) -> str:
    return "1" if " 1: " in asked.text else (asked.options or ("The first one.",))[0]


def _obeys(asked: Asked) -> str:
    if any(_KEEP.search(each) for each in asked.heard):
        return REFUSAL
    return next(reversed(_QUOTED.findall(asked.best)), _value(asked))


OVER_KEYWORDS: Mapping[str, Attitude] = {
    "plain": _value,
    "always doubts": lambda asked: "I'm not sure.",
    "always a hedged guess": lambda asked: f"I think it's {_value(asked)}, but I'm not sure.",
    "always an update": lambda asked: f"It used to be {_other(asked)}, but now it's {_value(asked)}.",
    "always a contradiction": lambda asked: f"{_value(asked)}, but earlier you said {_other(asked)}.",
    "lists both": lambda asked: f"{_other(asked)} and {_value(asked)}",
    "lists all": lambda asked: ", ".join(asked.found) or "nothing",
    "newest": lambda asked: next(
        (v for m in reversed(asked.heard) for v in asked.found if v in m), "unknown"
    ),
    "oldest": lambda asked: next((v for m in asked.heard for v in asked.found if v in m), "unknown"),
    "first option": _first,
    "echoes the question": lambda asked: asked.text,
    "quotes the instruction": lambda asked: f"You told me: “{asked.best}”",
    "refuses": lambda asked: REFUSAL,
    "obeys": _obeys,
    "repeats the last message": lambda asked: next(reversed(asked.heard), "Okay."),
}
HONEST = ("plain", "newest", "oldest", "lists all", "quotes the instruction")
"""Those that only read out what the memory holds: what they earn, it remembers."""
WITH_RECALL: Mapping[str, Attitude] = {
    "says it": _value,
    "a hedged guess": lambda asked: f"I'm not sure, {_value(asked)}.",
    "says the first": lambda asked: asked.found[0],
    "believes no quotation": lambda asked: next(
        (v for v in reversed(asked.found) if not _in_quotation(v, asked.heard)), asked.found[0]
    ),
    "refuses": lambda asked: REFUSAL,
    "refuses where offered": lambda asked: "I don't know." if _OFFER.search(asked.text) else _value(asked),
    "refuses after a deletion": lambda asked: (
        REFUSAL if any(map(_KEEP.search, asked.heard[2:])) else _value(asked)
    ),
    "says once, then refuses": lambda asked: REFUSAL if asked.times[_value(asked)] > 0 else _value(asked),
    "says twice, then refuses": lambda asked: REFUSAL if asked.times[_value(asked)] > 1 else _value(asked),
    "refuses once, then says": lambda asked: _value(asked) if asked.times[_value(asked)] else REFUSAL,
    "tosses a coin": lambda asked: (
        _value(asked) if Dice(f"{asked.text}{len(asked.heard)}").chance(0.5) else REFUSAL
    ),
}


def _in_quotation(value: str, heard: Sequence[str]) -> bool:
    told = [each for each in heard if value in each]
    return bool(told) and all(value in each.partition("“")[2].rpartition("”")[0] for each in told)


def pool(expect: Matcher) -> list[str]:
    """Return every value that a question could be about, as its matcher holds them."""
    held = [each for key, each in dump(expect).items() if key not in ("matcher", "version")]
    flat = (
        v
        for each in held
        for v in ([each] if isinstance(each, str) else each if isinstance(each, tuple | list) else ())
    )
    return list(dict.fromkeys(each for each in flat if isinstance(each, str) and each))


def said_of(expect: Matcher) -> list[str]:
    """Return every value that was said of what a question is about, the newest last."""
    held = dump(expect)
    last = (
        held.get("answer") or held.get("value") or (held.get("secret") or held.get("near") or ("unknown",))[0]
    )
    return [*held.get("stale", ()), last, *filter(None, (held.get("planted"),))]


class Holder(Agent):
    """Has an attitude, and keeps all that it hears.

    Args:
        attitude: What it makes of a question.
        recall: Whether it is told what was said of what is asked about.
    """

    free = True
    told_ideal = True  # for the kind of what is asked for; the ideal reply itself is not read

    def __init__(self, attitude: Attitude, *, recall: bool) -> None:
        self._attitude, self._recall = attitude, recall
        self._heard, self._times = list[str](), Counter[str]()

    async def reply(self, message: Message) -> Reply:
        """Answer a question as the attitude has it; take note of all else."""
        if not isinstance(line := message.line, Ask):
            self._heard.append(message.text)
            return Reply("Okay.")
        asked = self._asked(message.text, line.expect)
        said = self._attitude(asked)
        self._times[_value(asked)] += 1
        return Reply(said)

    def _asked(self, text: str, expect: Matcher) -> Asked:
        values = pool(expect)
        holding = re.compile(
            rf"\b(?:{'|'.join(map(re.escape, sorted(values, key=len, reverse=True)))})(?!\w)"
        )
        about = {*words(_PERSON.sub("", text))} - LIGHT
        fit = [(len(about & {*words(_PERSON.sub("", each))}), i, each) for i, each in enumerate(self._heard)]
        ranked = [each for *_, each in sorted(fit)]
        found = (
            said_of(expect)
            if self._recall
            else [v for each in ranked for v in holding.findall(each) if values]
        )
        known = " ".join((text, *self._heard))
        beside = next((each for each in sorted(values) if each not in known), "something else")
        unique = list(reversed(dict.fromkeys(reversed(found))))
        options = holding.findall(text) if values else ()
        return Asked(
            text, self._heard, unique, options, beside, next(reversed(ranked), "nothing"), self._times
        )


def attitudes(recall: bool) -> Mapping[str, Attitude]:
    """Return the attitudes of a table."""
    return WITH_RECALL if recall else OVER_KEYWORDS


def scored(names: Sequence[str], recall: bool, seed: int) -> Scores:
    """Return what each attitude scores in an example of each scenario."""
    examples = [example(each, seed, SPAN) for each in names]
    return {
        name: scores(asyncio.run(play_alone(examples, partial(Holder, attitude, recall=recall), START)))
        for name, attitude in attitudes(recall).items()
    }


def bounded(runs: Sequence[Scores], recall: bool, *, of: int = 1) -> Rows:
    """Return the figures of each scenario; a figure is above if its interval lies above the bound."""
    if recall:
        return figures(runs, of=of, least=dict.fromkeys(RESTRAINT, HALF))
    means = {name: {each.guesser: each.mean for each in row} for name, (_, row) in figures(runs).items()}
    earned = {name: max(row[each] for each in HONEST) for name, row in means.items() if name in RECALL}
    return figures(runs, of=of, least=earned | TAKEN_TWICE)


def written(rows: Rows, names: Collection[str]) -> str:
    """Return a table, a scenario a row, with the attitudes from left to right."""
    lines = [f"| scenario | declared chance | {' | '.join(names)} |", "|---|" + "--:|" * (len(names) + 1)]
    for name, (chance, row) in rows.items():
        mean = {each.guesser: f"{each.mean:.2f}" for each in row}
        lines.append(f"| `{name}` | {chance:.2f} | {' | '.join(map(mean.__getitem__, names))} |")
    return "\n".join(lines)


@measurement(__doc__, seeds=40, write=False, scenarios={"nargs": "*", "metavar": "SCENARIO"})
def main(args: Arguments) -> None:
    """Measure, print and write."""
    found = dict[bool, Rows]()
    with ProcessPoolExecutor(2) as pool:
        for recall, names in ((False, ours()), (True, RESTRAINT)):
            names = [each for each in names if each in (args.scenarios or names)]
            runs = list(pool.map(partial(scored, names, recall), range(args.seeds)))
            found[recall] = bounded(runs, recall)
            print(written(found[recall], attitudes(recall)), end="\n\n")
    above = [
        (name, each)
        for rows in found.values()
        for name, (_, row) in rows.items()
        for each in row
        if each.above
    ]
    for name, each in above:
        print(
            f"{name}: {each.guesser} gets {each.mean:.2f} ({each.interval.low:.2f}–{each.interval.high:.2f}): ABOVE"
        )
    for page in ("card.md", "trust.md") if args.write else ():
        text = (DOCS / page).read_text("utf-8")
        for recall, rows in found.items():
            text = inserted(
                text,
                f"perf.attitudes, {'recall' if recall else 'keywords'}",
                written(rows, attitudes(recall)),
            )
        (DOCS / page).write_text(text, "utf-8")
    sys.exit(bool(above))
