"""What agents score that are clever and do not remember, beside the chance level that each scenario declares.

    python -m perf.validity [--span 2k] [--seeds 40] [--write] [SCENARIO …]
    python -m perf.validity --questions FILE.jsonl [SCENARIO …]
    python -m perf.validity --answers FILE.jsonl [SCENARIO …]

Most guessers see the question alone. *Picks* choose one of the candidates in the question: numbered options, and
values that other seeds' expectations hold; where there are none, they say something else each. *Constants* reply alike
to everything. *Learners* know the questions and answers of 200 other seeds: they give the commonest answer, or that of
the most similar question (in brackets and never marked: so answers who has read our files). *Reciters* repeat what was
said, without filler: all of their example, or the last messages of a conversation with one of each scenario. All are
scored as in a run, gates and guard against heaps included.

Intervals are of 95 %. A guesser is marked, and the exit code is 1, if even the interval that holds for all figures
together (Bonferroni) lies above the declared chance, or above 0.01 where less is declared: with so many figures, a few
95 % intervals do by luck. Examples of a run that would be wrong for a perfect memory are errors too
(`ltm_bench/script/clashes.py`).

`--questions` writes the questions alone, for readers with fresh eyes (`{"id": …, "question": …}`); `--answers` scores
what they wrote down (`{"id": …, "answer": …}`). `--write` writes the best guesser of each scenario into the file from
which the page reports measured chance.
"""

import asyncio
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ltm_bench import Agent, Ask, Dice, Message, Reply
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import shipped
from ltm_bench.matchers.forms import dump
from ltm_bench.matchers.reading.text import words
from ltm_bench.plan.scenarios import find_suite
from ltm_bench.plan.suites import suites
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import parse_span
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.runner.references import Played, play, play_alone
from ltm_bench.schedule.fitting import smallest_span
from ltm_bench.score.results.guessing import FILE, Guessed
from ltm_bench.score.statistics.intervals import CONFIDENCE, Interval, mean_interval, sum_interval
from ltm_bench.script.clashes import clashes
from ltm_bench.script.rehearsal import Rehearsed, rehearse
from ltm_bench.script.scenario import Example
from perf.harness import Arguments, measurement
from perf.recitals import CUT, HEAP, Heaps

OURS = ("standard", "abilities", "trust", "consequences")
OTHERS = 200
"""Number of other seeds that guessers know."""
FIRST_OTHER = 1_000_000
EXAMPLES = 20
"""Number of examples of one run that are compared for what a perfect memory would know."""
LEAST = 0.01
"""The chance level below which a scenario may declare none."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)
NUMBERED = re.compile(r"^\W*\w+ (\d+): (.+)$", re.MULTILINE)


class Known(NamedTuple):
    """What guessers know of a scenario from other seeds."""

    answers: Mapping[frozenset[str], Counter[str]]
    """By a question's words, its right answers."""
    commonest: str
    values: re.Pattern[str]
    """Finds every value that could be an answer."""
    common: Counter[str]
    """How often each word stands in a question."""


Candidate = tuple[str, str]
"""An answer that stands in the question, and the text beside it."""


@cache
def catalogue() -> Catalogue:
    """Return all scenarios, read once."""
    return Catalogue.open()


def ours() -> list[str]:
    """Return the scenarios of this project: those of its own suites, and those in no suite, public sets left out."""
    played = {name: find_suite(name) for name in suites(config_folders())}
    rows = {name: {suite.plays(row) for row in suite.scenarios} for name, suite in played.items()}
    own = set[str]().union(*(rows[name] for name in OURS))
    others = {"dialogue"}.union(*rows.values()) - own
    return [name for name in catalogue().scenarios if name not in others]


def example(name: str, seed: int, span: int, index: int = 0) -> Example:
    """Return an example as a run of this seed and span has it."""
    scenario = catalogue().scenario(name)
    return Example(scenario, index, seed, {"span": span} if "span" in scenario.parameters else {})


def asked(name: str, seed: int, span: int) -> list[Rehearsed]:
    """Return an example's questions."""
    return [s for s in rehearse(example(name, seed, span), counter()) if isinstance(s.line, Ask)]


@cache
def known(name: str, span: int) -> Known:
    """Return what the questions of other seeds teach about a scenario."""
    answers, values, common = dict[frozenset[str], Counter[str]](), set[str](), Counter[str]()
    for seed in range(FIRST_OTHER, FIRST_OTHER + OTHERS):
        for step in asked(name, seed, span):
            assert isinstance(step.line, Ask)
            said, data = frozenset(words(step.text)), dump(step.line.expect)
            answers.setdefault(said, Counter())[step.line.expect.right()[0]] += 1
            common.update(said)
            pools = [pool for key in ("among", "menu") for pool in data.get(key, ())]
            values.update(re.escape(v) for v in (*pools, data.get("value")) if v)
    commonest = max(sorted(all_answers := sum(answers.values(), Counter[str]())), key=all_answers.__getitem__)
    longest_first = sorted(values, key=lambda each: (-len(each), each))
    return Known(answers, commonest, re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE), common)


def candidates(question: str, values: re.Pattern[str]) -> list[Candidate]:
    """Return the candidates in a question, in their order: numbered options, else known values."""
    if numbered := NUMBERED.findall(question):
        return numbered
    return [(each, each) for each in dict.fromkeys(values.findall(question)) if each]


def _shared(one: Candidate, those: Sequence[Candidate]) -> float:
    own = set(words(one[1]))
    return sum(len(own & set(words(each[1]))) for each in those if each is not one) / max(1, len(own))


def _specific(one: Candidate, common: Counter[str]) -> int:
    rare = sum(common[word] <= 1 for word in words(one[1]))
    return rare + sum(letter.isdigit() or letter.isupper() for letter in one[1])


Guess = Callable[[Known, str], str]
"""Answers a question alone."""

Pick = Callable[[str, Sequence[Candidate], Counter[str]], Candidate]

PICKS: Mapping[str, tuple[str, Pick]] = {
    "first": ("That is not what I ordered.", lambda q, those, common: those[0]),
    "last": ("unknown", lambda q, those, common: those[-1]),
    "random": ("Yes.", lambda q, those, common: Dice(q).choice(those)),
    "odd one out": ("No.", lambda q, those, common: min(those, key=lambda each: _shared(each, those))),
    "longest": ("I may not say.", lambda q, those, common: max(those, key=lambda each: len(each[1]))),
    "shortest": ("It is a secret.", lambda q, those, common: min(those, key=lambda each: len(each[1]))),
    "most specific": ("2", lambda q, those, common: max(those, key=lambda each: _specific(each, common))),
    "least specific": ("10", lambda q, those, common: min(those, key=lambda each: _specific(each, common))),
}
"""What each says where it finds no candidates, and how it picks one."""

CONSTANTS = ("Yes.", "No.", "unknown", "I do not know.", "That is not what I ordered.", "1")

RECITERS: Mapping[str, Callable[[], Agent]] = {
    "last 5 messages": partial(Heaps, None, 5),
    f"last {HEAP} messages": Heaps,
    f"last {HEAP} messages, cut": partial(Heaps, CUT),
}


def _nearest(about: Known, question: str) -> str:
    own = set(words(question))
    best = max(about.answers, key=lambda each: len(own & each) / len(own | each))
    return about.answers[best].most_common(1)[0][0]


def _picked(name: str, about: Known, question: str) -> str:
    otherwise, pick = PICKS[name]
    those = candidates(question, about.values)
    return pick(question, those, about.common)[0] if len(those) > 1 else otherwise


DUMP = "everything heard"
READER = "(nearest question)"
"""Shown, but not marked: it knows the answers to all questions that can come up, as who has read our files."""


def _constant(said: str, about: Known, question: str) -> str:
    return said


GUESSERS: Mapping[str, Guess] = {
    **{name: partial(_picked, name) for name in PICKS},
    **{f"“{said}”": partial(_constant, said) for said in CONSTANTS},
    "commonest answer": lambda about, question: about.commonest,
    READER: _nearest,
}


class Guesses(Agent):
    """Replies to every message by itself."""

    def __init__(self, guess: Callable[[str], str]) -> None:
        self._guess = guess

    async def reply(self, message: Message) -> Reply:
        """Guess."""
        return Reply(self._guess(message.text))


class Scored(NamedTuple):
    """A guesser's score in an example, and the chance level."""

    scenario: str
    score: float
    chance: float


Scores = Mapping[str, Sequence[Scored]]
"""By guesser, what it scores in each example."""


def scores(played: Iterable[Played]) -> list[Scored]:
    """Return score and chance of each example."""
    return [Scored(each.example.scenario.name, each.score, each.chance) for each in played]


def alone(each: Example, make: Callable[[], Agent]) -> list[Scored]:
    """Return what an agent scores that hears no other example."""
    return scores(asyncio.run(play_alone([each], make, START)))


def guessed(names: Sequence[str], span: int, seed: int) -> Scores:
    """Return what every guesser scores in an example of each scenario."""
    examples = [example(name, seed, span) for name in names]
    fitting = [each for each in examples if smallest_span(rehearse(each, counter())) <= span]
    learnt = [(each, known(each.scenario.name, span)) for each in examples]
    found = {}
    for name, guess in GUESSERS.items():
        made = ((each, partial(Guesses, partial(guess, about))) for each, about in learnt)
        found[name] = [scored for each, make in made for scored in alone(each, make)]
    found[DUMP] = [scored for each in examples for scored in alone(each, partial(Heaps, None, None))]
    for name, make in RECITERS.items() if fitting else ():
        talk = play(fitting, make(), span=span, seed=seed, counter=counter(), bank=shipped(), start=START)
        found[name] = scores(asyncio.run(talk))
    return found


class Guessing(NamedTuple):
    """What a guesser scores in a scenario."""

    guesser: str
    mean: float
    interval: Interval
    above: bool
    """Whether it is more than it may be, by the interval that holds for all figures together."""


Rows = Mapping[str, tuple[float, Sequence[Guessing]]]
"""Each scenario's declared chance and its guessers' figures, the best first."""


def figures(runs: Sequence[Scores], *, of: int = 1, least: Mapping[str, float] | None = None) -> Rows:
    """Return the figures of every scenario.

    Args:
        runs: The scores of each seed.
        of: How many such families of figures hold together.
        least: What a guesser may earn in a scenario, even if its declared chance is less.
    """
    found: dict[str, dict[str, list[Scored]]] = {}
    for run in runs:
        for guesser, played in run.items():
            for each in played:
                found.setdefault(each.scenario, {}).setdefault(guesser, []).append(each)
    level = 1 - (1 - CONFIDENCE) / (of * sum(map(len, found.values())))
    rows = {}
    for name, by_guesser in found.items():
        first = next(iter(by_guesser.values()))
        chance, row = sum(each.chance for each in first) / len(first), []
        for guesser, those in by_guesser.items():
            got = [each.score for each in those]
            far = sum_interval({name: got}, level)
            above = (
                guesser != READER
                and far is not None
                and far.low > max(chance, (least or {}).get(name, LEAST))
            )
            row.append(Guessing(guesser, sum(got) / len(got), mean_interval(got), above))
        rows[name] = (chance, sorted(row, key=lambda each: -each.mean))
    return rows


def wrong_for_perfect(names: Sequence[str], span: int) -> Iterator[str]:
    """Yield where a perfect memory would be wrong in a run of many examples of these scenarios."""
    examples = [example(name, 0, span, index) for name in names for index in range(EXAMPLES)]
    return clashes([(each, rehearse(each, counter())) for each in examples])


def questions(names: Sequence[str], span: int, seeds: int) -> Iterator[tuple[str, str]]:
    """Yield the identity and the text of every question, without what was said before it."""
    for name in names:
        for seed in range(seeds):
            for i, step in enumerate(asked(name, seed, span)):
                yield f"{name}/{seed}/{i}", step.text


def answered(names: Sequence[str], span: int, answers: Mapping[str, str]) -> list[Scores]:
    """Return what the answers score that were written down for questions; examples without any are left out."""
    runs: list[Scores] = []
    for name, seed in dict.fromkeys((key.split("/")[0], int(key.split("/")[1])) for key in answers):
        if name in names:
            steps = enumerate(asked(name, seed, span))
            said = defaultdict(str, {s.text: answers.get(f"{name}/{seed}/{i}", "") for i, s in steps})
            runs.append({"answers": alone(example(name, seed, span), partial(Guesses, said.__getitem__))})
    return runs


def write(rows: Rows, seeds: int) -> None:
    """Write the best guesser of each scenario into the file that the page reads; other scenarios' stay."""
    found = json.loads(FILE.read_text("utf-8"))
    for name, (_, row) in rows.items():
        best = next(each for each in row if each.guesser != READER)
        figure = Guessed(scenario=name, **best._asdict(), seeds=seeds)
        found[catalogue().hash(name)] = figure.model_dump()
    today = {catalogue().hash(name) for name in ours()}
    kept = {hash: found[hash] for hash in sorted(today & found.keys())}
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


@measurement(
    __doc__,
    span="2k",
    seeds=40,
    questions="",
    answers="",
    write=False,
    scenarios={"nargs": "*", "metavar": "SCENARIO"},
)
def main(args: Arguments) -> None:
    """Measure, print and write."""
    names, span, seeds = args.scenarios or ours(), parse_span(args.span), args.seeds
    if args.questions:
        rows = (json.dumps({"id": id, "question": text}) for id, text in questions(names, span, seeds))
        Path(args.questions).write_text("\n".join(rows) + "\n", "utf-8")
        return
    wrong = []
    if args.answers:
        lines = map(json.loads, Path(args.answers).read_text("utf-8").splitlines())
        runs = answered(names, span, {line["id"]: line["answer"] for line in lines})
    else:
        wrong = list(wrong_for_perfect(names, span))
        for name in names:
            known(name, span)  # before processes are forked, which then need not learn it again
        with ProcessPoolExecutor(2) as pool:
            runs = list(pool.map(partial(guessed, names, span), range(seeds)))
    found = figures(runs)
    for name, (chance, row) in found.items():
        print(f"\n{name}: declared chance {chance:.2f}")
        for each in row:
            mark = "  ABOVE CHANCE" if each.above else ""
            low, high = each.interval.low, each.interval.high
            print(f"  {each.guesser:30} {each.mean:.2f} ({low:.2f}–{high:.2f}){mark}")
    print(*wrong, sep="\n")
    if args.write:
        write(found, seeds)
    sys.exit(bool(wrong) or any(each.above for each in chain.from_iterable(row for _, row in found.values())))
