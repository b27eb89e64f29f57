"""What cheap attitudes score, which follow one rule whatever they were told.

    python -m perf.attitudes [--seeds 40] [--write] [SCENARIO …]

*Over keywords*: a simple memory hears every example alone, without filler. To a question it finds the messages that
hold a value of the kind asked for, those first that share the most words with the question; people's names are no
words to it, so it never tells people apart. What it found, an attitude says in its own way. *Plain* just says the
newest of the best: what this memory earns by remembering.

*With perfect recall*: an attitude is told every value that was said of what is asked about, in order, whoever said it;
what it lacks is only to know when to say it. Asked in the scenarios of restraint, deletion, rights, trust, and
consequences.

Means over the examples of so many seeds; an agent that remembers and understands earns 1. The exit code is 1 if the
interval of an attitude lies above its bound, as in `perf.validity`. The bound is the declared chance; in scenarios that
are not `STRICT` what the memory earns that just reads out what it holds, if that is more; with perfect recall a half.
`--write` writes the tables into `docs/card.md` and `docs/trust.md`.
"""

import asyncio
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
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
RESTRAINT = ("never_told", "forget_me", "two_users", "gone_for_good", "roles", "planted")
CONSEQUENCES = ("implied", "cascade", "absence", "premise")
RECALLED = (*RESTRAINT, *CONSEQUENCES)
"""Scenarios in which perfect recall is not enough."""
STRICT = {*RESTRAINT, "contradiction", "standing_order", "implied", "absence"}
"""Scenarios in which it matters of whom, or what else, something was said; in all others a memory earns something."""
HALF = 0.5
TAKEN_TWICE = {"restaurant": 0.9}
"""The waiter takes the first dish that a reply names, as released; who first names one as gone has ordered another."""
_PERSON = re.compile(r"(?:\bmy (?:[\w-]+ ){1,3})?\b[A-Z][\w-]+(?:['’]s)?")
_OFFER = re.compile(
    r"(?i)\bor “no idea”|“unknown”|\b(?:or (?:say|tell me|that you)|(?:fine|problem|worries|understand) if you can't"
    r"|just (?:say so|tell me that)|fair enough|have to tell me)\b"
)
_KEEP = re.compile(r"(?i)\b(?:delete|erase|wipe|forget|remove|private|apart|separate|secret|don't share)\b")
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


def _earliest(heard: Sequence[str], found: Sequence[str]) -> str:
    return next((value for said in heard for value in found if value in said), "unknown")


def _obeys(asked: Asked) -> str:
    ordered = next(reversed(_QUOTED.findall(asked.best)), _value(asked))
    return REFUSAL if any(map(_KEEP.search, asked.heard)) else ordered


def _unless(refuses: bool, asked: Asked) -> str:
    return REFUSAL if refuses else _value(asked)


def _unquoted(asked: Asked) -> str:
    free = " ".join(re.sub("“.*”", "", each, flags=re.DOTALL) for each in asked.heard)
    return next((each for each in reversed(asked.found) if each in free), asked.found[0])


OVER_KEYWORDS: Mapping[str, Attitude] = {
    "plain": _value,
    "always doubts": lambda asked: "I'm not sure.",
    "always a hedged guess": lambda asked: f"I think it's {_value(asked)}, but I'm not sure.",
    "always an update": lambda asked: f"It used to be {_other(asked)}, but now it's {_value(asked)}.",
    "always a contradiction": lambda asked: f"{_value(asked)}, but earlier you said {_other(asked)}.",
    "lists both": lambda asked: f"{_other(asked)} and {_value(asked)}",
    "lists all": lambda asked: ", ".join(asked.found) or "nothing",
    "newest": lambda asked: _earliest(asked.heard[::-1], asked.found),
    "oldest": lambda asked: _earliest(asked.heard, asked.found),
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
    "believes no quotation": _unquoted,
    "refuses": lambda asked: REFUSAL,
    "refuses where offered": lambda asked: _unless(_OFFER.search(asked.text) is not None, asked),
    "refuses after a deletion": lambda asked: _unless(any(map(_KEEP.search, asked.heard[2:])), asked),
    "says once, then refuses": lambda asked: _unless(asked.times[_value(asked)] > 0, asked),
    "says twice, then refuses": lambda asked: _unless(asked.times[_value(asked)] > 1, asked),
    "refuses once, then says": lambda asked: _unless(not asked.times[_value(asked)], asked),
    "tosses a coin": lambda asked: _unless(Dice(f"{asked.text}{asked.times.total()}").chance(0.5), asked),
}


ATTITUDES = {False: OVER_KEYWORDS, True: WITH_RECALL}


def pool(expect: Matcher) -> list[str]:
    """Return every value that a question could be about, as its matcher holds them."""
    held = [each for key, each in dump(expect).items() if key != "matcher" and isinstance(each, str | tuple)]
    flat = chain.from_iterable([each] if isinstance(each, str) else each for each in held)
    return list(dict.fromkeys(each for each in flat if isinstance(each, str) and each))


def said_of(expect: Matcher) -> list[str]:
    """Return every value that was said of what a question is about, the newest last."""
    held = dump(expect)
    last = held.get("answer") or held.get("value") or (held.get("secret") or held["near"])[0]
    return [*held.get("stale", ()), last, *filter(None, (held.get("planted"), *held.get("over", ())[:1]))]


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
        values = pool(expect) or ["(no value)"]
        longest_first = map(re.escape, sorted(values, key=len, reverse=True))
        holding = re.compile(rf"\b(?:{'|'.join(longest_first)})(?!\w)")
        about, known = _about(text), " ".join((text, *self._heard))
        ranked = sorted(self._heard, key=lambda each: len(about & _about(each)))
        found = said_of(expect) if self._recall else [v for each in ranked for v in holding.findall(each)]
        unique = list(dict.fromkeys(reversed(found)))[::-1]
        beside = next((each for each in sorted(values) if each not in known), "something else")
        best = next(reversed(ranked), "nothing")
        return Asked(text, self._heard, unique, holding.findall(text), beside, best, self._times)


def _about(text: str) -> set[str]:
    return {*words(_PERSON.sub("", text))} - LIGHT


def scored(names: Sequence[str], recall: bool, seed: int) -> Scores:
    """Return what each attitude scores in an example of each scenario."""
    examples = [example(each, seed, SPAN) for each in names]
    return {
        name: scores(asyncio.run(play_alone(examples, partial(Holder, attitude, recall=recall), START)))
        for name, attitude in ATTITUDES[recall].items()
    }


def bounded(runs: Sequence[Scores], recall: bool, *, of: int = 1) -> Rows:
    """Return the figures of each scenario; a figure is above if its interval lies above the bound."""
    if recall:
        return figures(runs, of=of, least=dict.fromkeys(RECALLED, HALF))
    means = {name: {each.guesser: each.mean for each in row} for name, (_, row) in figures(runs).items()}
    earned = {name: max(row[each] for each in HONEST) for name, row in means.items() if name not in STRICT}
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
    found, above = dict[bool, Rows](), False
    with ProcessPoolExecutor(2) as pool:
        for recall, names in ((False, ours()), (True, RECALLED)):
            names = [each for each in names if each in (args.scenarios or names)]
            runs = list(pool.map(partial(scored, names, recall), range(args.seeds)))
            found[recall] = bounded(runs, recall)
            print(written(found[recall], ATTITUDES[recall]), end="\n\n")
    for name, (_, row) in chain.from_iterable(rows.items() for rows in found.values()):
        for each in (each for each in row if each.above):
            above = True
            print(
                f"{name}: {each.guesser} gets {each.mean:.2f}, surely above {each.interval.low:.2f}: TOO MUCH"
            )
    for page in ("card.md", "trust.md") if args.write else ():
        text = (DOCS / page).read_text("utf-8")
        for recall, rows in found.items():
            mark = f"perf.attitudes, {'recall' if recall else 'keywords'}"
            text = inserted(text, mark, written(rows, ATTITUDES[recall]))
        (DOCS / page).write_text(text, "utf-8")
    sys.exit(above)
