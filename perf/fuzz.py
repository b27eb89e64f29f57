"""Sends hostile replies through every matcher and every reader of judges' answers.

    python -m perf.fuzz [--replies 100000] [--seed 0]

Each shipped scenario asks its own questions; matchers that none of them uses are tried on their `EXAMPLES`.

Half of the replies are nonsense: shreds of the question and of JSON without any word of an answer, cut, repeated,
nested, with control characters and lone surrogates. The other half is hostile on purpose: echoes of the question, every
candidate at once, thinking aloud that ends in something else, typical wrong replies. None of them is an answer; if a
matcher raises, takes long or calls one right, the reply is printed.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime

from ltm_bench import Ask, Dice, Message, Outcome, Reply, Turn
from ltm_bench.core.messages import Matcher
from ltm_bench.core.tokens import counter
from ltm_bench.judge import rubric
from ltm_bench.matchers.forms import dump
from ltm_bench.matchers.phrases import SaidIn
from ltm_bench.matchers.reading import abstains, number, words
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.plugins.matchers import examples
from ltm_bench.script.rehearsal import ideal_reply, rehearse
from ltm_bench.script.scenario import Example
from perf.harness import Arguments, measurement

AT = datetime(2026, 1, 1, tzinfo=UTC)
SLOW = 2.0
"""Maximum seconds of processor time for a reply."""

SHREDS = (
    "{ } [ ] : , \" ' ``` ```json null true NaN 1e999 -0 \\u0000 \x00 \x1b[2J \ud800 \u202e \ufeff <script> </think> "
    "<think> not never I do not know ★ ½ 1,000 3.5 and or then now but option Waiter: \n - * # | \\"
).split(" ")


class Place:
    """A question and everything said before it."""

    def __init__(self, scenario: str, question: str, expect: Matcher, before: list[Turn]) -> None:
        self.scenario = scenario
        self.question = question
        self.expect = expect
        self.before = before
        declined = (self.judge("I do not know.") is Outcome.CORRECT, *map(abstains, expect.right()[:1]))
        self.declining = any(declined)
        """Whether an abstention is right here; if so, nonsense may be right as well."""

    def judge(self, reply: str) -> Outcome:
        """Return the matcher's outcome."""
        turns = [*self.before, Turn(Message(self.question, AT, len(self.before)), Reply(reply))]
        return self.expect.verdict(reply, turns).outcome


def places() -> list[Place]:
    """Return the questions of two examples of every scenario, then the matchers that these do not use."""
    count, found, catalogue = counter(), [], Catalogue.open()
    for name in catalogue.scenarios:
        for index in range(2):
            turns: list[Turn] = []
            steps = rehearse(Example(catalogue.scenario(name), index, 17, {}), count)
            late = any(isinstance(step.line, Ask) and isinstance(step.line.expect, SaidIn) for step in steps)
            for step in steps:
                if isinstance(step.line, Ask):
                    found.append(Place(name, step.text, step.line.expect, list(turns)))
                said = "Okay." if late else ideal_reply(step.line)  # it depends on the earlier replies
                turns.append(Turn(Message(step.text, AT, len(turns)), Reply(said)))
    asked = {type(place.expect).__name__ for place in found}
    for name, matchers in examples().items():
        if name not in asked:
            found += [Place("(example)", "Well, what was it?", each, []) for each in matchers]
    return found


def nonsense(place: Place, dice: Dice) -> str:
    """Compose meaningless shreds."""
    answers = set(words(json.dumps(dump(place.expect))))
    harmless = [w for w in place.question.split() if answers.isdisjoint(words(w)) and number(w) is None]
    sources = [harmless or SHREDS, SHREDS, [w[:3] for w in harmless if len(w) > 4] or SHREDS]
    pieces = [str(dice.choice(dice.choice(sources))) for _ in range(dice.integer(0, 40))]
    text = dice.choice(("", " ", "\n", ", ")).join(pieces)
    match dice.integer(0, 5):
        case 0:
            return text * dice.integer(2, 50)
        case 1:
            return json.dumps({"answer": [text, {"x": text}]})
        case 2:
            return dice.choice("[{(") * dice.integer(1, 3000) + text
        case _:
            return text


def hostile(place: Place, dice: Dice) -> str:
    """Compose a reply that contains what a careless scorer looks for, but is not an answer."""
    right, wrong = place.expect.right()[0], [each for each in place.expect.wrong() if each] or ["…"]
    every = max(wrong, key=len)
    kind = dice.integer(0, 5)
    if kind == 0:
        return place.question
    if kind == 1:
        return f"{place.question}\n{every}"
    if kind == 2:
        return f"<think>{right}</think> {dice.choice(wrong)}"
    if kind == 3:
        return dice.choice(wrong) + dice.choice(("", " ", "\n\n", "!", " 🙂"))
    if kind == 4:
        return "I do not remember anything of the kind." + dice.choice(
            ("", " Sorry.", " Could you tell me again?")
        )
    return dice.choice(wrong).upper() if dice.chance(0.5) else f"**{dice.choice(wrong)}**"


@measurement(__doc__, replies=100_000, seed=0)
def main(args: Arguments) -> None:
    """Fuzz and print."""
    asked = places()
    dice = Dice(f"fuzz/{args.seed}")
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    faults = 0
    worst = 0.0
    kinds: tuple[tuple[str, Callable[[Place, Dice], str]], ...] = (
        ("nonsense", nonsense),
        ("hostile", hostile),
    )
    for i in range(args.replies):
        place = asked[i % len(asked)]
        kind, compose = kinds[i // len(asked) % 2]
        reply = compose(place, dice)
        begun = time.process_time()
        try:
            outcome = place.judge(reply).value
            rubric.read(reply)
        except Exception as error:  # any exception is what this program looks for
            outcome = f"raised {type(error).__name__}"
        took = time.process_time() - begun
        worst = max(worst, took)
        outcomes[type(place.expect).__name__][f"{kind}: {outcome}"] += 1
        if outcome.startswith("raised") or took > SLOW or (outcome == "correct" and not place.declining):
            faults += 1
            if faults <= 20:
                print(
                    f"{place.scenario}, {type(place.expect).__name__}, {kind}, {outcome}, {took:.2f} s: {reply[:200]!r}"
                )
    for name, counts in sorted(outcomes.items()):
        print(
            f"{name:<14} {sum(counts.values()):>7}  "
            + ", ".join(f"{k} {n}" for k, n in sorted(counts.items()))
        )
    print(
        f"{args.replies} replies to {len(asked)} questions of {len({p.scenario for p in asked})} scenarios: "
        f"{faults} faults, the slowest took {worst:.2f} s"
    )
    raise SystemExit(1 if faults else 0)
