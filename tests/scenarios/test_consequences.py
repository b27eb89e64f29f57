"""The scenarios of the suite `consequences`: solved by code, with twins that every shortcut fails."""

import asyncio
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from ltm_bench import Agent, Ask, Matcher, Message, Outcome, Reply, Tell, run
from ltm_bench.core.tokens import counter
from ltm_bench.matchers.consequences import Corrects, NoLonger
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.agents import make_agent
from ltm_bench.plugins.files import bundled, find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.runner.references import play_alone
from ltm_bench.script.consequences import STEPS, World, WorldRule, solved
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example
from tests.scenarios.test_abilities import START

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

NAMES = tuple(read_suite(bundled("configs") / "consequences.toml").scenarios)
REACHED = ("to update", "no longer known", "premise to correct")
"""The aspects of questions for which something has followed."""


@cache
def lines(name: str, seed: int) -> Sequence[Tell | Ask]:
    example = Example(scenario(name), seed % 3, seed, {})
    return cast(list[Tell | Ask], [step.line for step in rehearse(example, counter())])


def asked(name: str, seed: int) -> list[Ask]:
    return [line for line in lines(name, seed) if isinstance(line, Ask)]


def reached(question: Ask) -> bool:
    return str(question.aspect).startswith(REACHED)


# The solver


def test_a_value_goes_by_what_it_depends_on_over_any_number_of_rules() -> None:
    rules = {
        "place": WorldRule("case", {"rain": "barn"}, "lake"),
        "driver": WorldRule("place", {"barn": "Ben", "lake": "Lea"}),
        "tin": WorldRule("van"),
        "pin": WorldRule("tin"),
    }
    world = World({"case": "", "van": "Graz"}, rules)
    assert [world.value(each) for each in ("pin", "place", "driver")] == ["Graz", "lake", "Lea"]
    assert [world.steps(each) for each in ("van", "tin", "pin", "driver")] == [0, 1, 2, 2]
    assert [world.after("case", "rain").value(each) for each in ("pin", "driver")] == ["Graz", "Ben"]
    assert world.after("case", "snow").value("driver") == "Lea"
    assert world.after("van", "").value("pin") == ""
    assert world.value("driver") == "Lea"


def test_each_shortcut_of_a_thread_says_something_else() -> None:
    world = World({"van": "Graz", "car": "Graz"}, {"tin": WorldRule("van"), "pin": WorldRule("tin")})
    hits = ("van", "Cork")
    found = solved(world, "pin", hits, hits, "Lima", ("van", "Oslo"))
    assert (found.right, found.old, found.newest, found.other, found.one_step) == (
        "Cork", "Graz", "Lima", "Oslo", "Graz",
    )  # fmt: skip
    beside = solved(world, "pin", ("car", "Cork"), hits, "Lima")
    assert (beside.right, beside.over, beside.follows) == ("Graz", "Cork", False)
    assert solved(world, "tin", hits, hits, "Lima").one_step == "Cork"


# Solved again, from the texts alone


class Heard(NamedTuple):
    """What a reader without the code finds in the texts of an example, and what each shortcut would say."""

    right: str
    old: str
    over: str
    newest: str
    steps: int


@cache
def pattern(phrasing: str) -> re.Pattern[str]:
    """Return what a phrasing looks like with its gaps filled; what fills a gap twice is the same."""
    parts, seen = re.split(r"\{(\w+)\}", phrasing), list[str]()
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.escape(part)
        else:
            parts[i] = f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
            seen.append(part)
    return re.compile("".join(parts))


def found_in(text: str, templates: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, str]] | None:
    """Return which message a text is, and what fills its gaps; None if it is none of them."""
    for kind, phrasings in templates.items():
        for each in phrasings:
            if match := pattern(each).fullmatch(text):
                return kind, match.groupdict()
    return None


def read(name: str, seed: int, *kinds: str) -> list[tuple[str, str, dict[str, str]]]:
    """Return the texts of an example, each with the message that it is and what fills its gaps."""
    messages = load(find("scenarios", name)).MESSAGES
    templates = {kind: messages[kind] for kind in kinds or messages if kind in messages}
    templates.pop("circumstances", None)
    found = [(str(line.text), found_in(str(line.text), templates)) for line in lines(name, seed)]
    assert kinds or all(each for _, each in found), name
    return [(text, *each) for text, each in found if each]


def plain(name: str) -> str:
    return re.sub(r"^(?:my|the) ", "", name)


def read_stowed(name: str, seed: int) -> dict[str, Heard]:
    inside, home, moved, far = dict[str, str](), dict[str, str](), dict[str, str](), list[str]()
    heard = {}
    for text, kind, filled in read(name, seed):
        gaps = {key: plain(each) for key, each in filled.items()}
        if kind in ("nested", "handed"):
            inside[gaps["inner"]] = gaps["outer"]
        elif kind == "home":
            home |= {gaps["one"]: gaps["town"], gaps["other"]: gaps["town"]}
        elif kind == "moved":
            moved[gaps["thing"]] = gaps.get("town", "")
        elif kind == "elsewhere":
            far.append(gaps["town"])
        elif kind == "question":
            held, steps = gaps["item"], 0
            while held in inside:
                held, steps = inside[held], steps + 1
            (would,) = {moved[each] for each in moved if home[each] == home[held]}
            heard[text] = Heard(moved.get(held, home[held]), home[held], would, far[-1], steps)
    return heard


def read_plans(name: str, seed: int) -> dict[str, Heard]:
    told = defaultdict[str, dict[str, dict[str, str]]](dict)
    happened, last, heard = list[str](), "", dict[str, Heard]()
    for text, kind, gaps in read(name, seed):
        if kind == "happened":
            happened.append(gaps["this"])
        elif kind.endswith("aside"):
            last = gaps["value"]
        elif kind.endswith("question"):
            plan = told[gaps["outing"]]
            rules, drives, eats = plan["rules"], plan.get("drivers", {}), plan.get("food", {})
            places = {rules["one"]: rules["first"], rules["two"]: rules["second"]}
            found = []
            for place in (*(places[each] for each in happened if each in places), plan["plan"]["place"]):
                driver = next((drives[p] for at, p in ("ap", "bq", "cr") if drives.get(at) == place), "")
                food = next((eats[x] for p, x in ("px", "qy", "rz") if eats.get(p) == driver), "")
                found.append({"place": place, "driver": driver, "food": food}[kind.partition(" ")[0]])
            heard[text] = Heard(found[0], found[-1], "", last, 1 + bool(drives) + bool(eats))
        elif "outing" in gaps:
            told[gaps["outing"]][kind] = gaps
    return heard


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_of_the_texts_alone_finds_the_answers_of_the_code(name: str) -> None:
    for seed in range(1_000):
        heard = (read_plans if name == "cascade" else read_stowed)(name, seed)
        for question in asked(name, seed):
            found = heard[str(question.text)]
            assert str(question.aspect).split("; ")[1][0] == str(found.steps)
            assert reached(question) == (found.right != found.old)
            expect = question.expect
            shortcuts = [found.old, found.newest, *([found.over] if found.over else [])]
            assert len({*shortcuts}) == len(shortcuts)
            if isinstance(expect, NoLonger):
                assert (found.right, expect.near) == ("", (found.old,))
            elif name != "premise" or isinstance(expect, Corrects):
                assert expect.right()[-1].removesuffix(".") == found.right or found.right in expect.right()[0]
                wrong = [each for each in shortcuts if each != found.right]
                assert all(expect.verdict(f"{each}.", ()).score == 0 for each in wrong)
            else:
                assert getattr(expect, "premise", "") == found.right


# Twins


@pytest.mark.parametrize("name", NAMES)
def test_each_example_has_a_thread_that_is_reached_and_a_twin_that_is_not(name: str) -> None:
    for seed in range(1_000):
        one, other = questions = asked(name, seed)
        assert sorted(map(reached, questions)) == [False, True]
        assert (one.needs, other.needs) == (other.shows, one.shows)
        assert str(one.aspect).split("; ")[1:] == str(other.aspect).split("; ")[1:]


def test_the_examples_of_a_run_take_one_two_and_three_steps() -> None:
    for name in NAMES:
        for seed in range(10):
            told = (rehearse(Example(scenario(name), index, seed, {}), counter()) for index in range(3))
            aspects = [str(step.line.aspect) for each in told for step in each if isinstance(step.line, Ask)]
            assert Counter(each.split("; ")[1][0] for each in aspects) == dict.fromkeys(map(str, STEPS), 2)


LEARNT, TESTED = range(400), range(400, 1_000)


def clauses(name: str, seed: int) -> dict[bool, str]:
    """Return what happens in each thread, by whether it reaches what is asked about."""
    told = read(name, seed, "rules", "nested", "handed")
    chain = {gaps[key] for _, _, gaps in told for key in ("one", "two") if key in gaps}
    inside = {plain(gaps["inner"]): plain(gaps["outer"]) for _, _, gaps in told if "inner" in gaps}
    chain |= {*inside.values()}
    happens = read(name, seed, "moved", "happened")
    return {plain(gaps.get("thing", gaps.get("this", ""))) in chain: text for text, _, gaps in happens}


@pytest.mark.parametrize("name", NAMES)
def test_a_bag_of_words_of_the_deciding_clause_tells_the_twins_apart_no_better_than_a_coin(name: str) -> None:
    counts = {True: Counter[str](), False: Counter[str]()}
    for seed in LEARNT:
        for follows, text in clauses(name, seed).items():
            counts[follows].update(set(re.findall(r"\w+", text.lower())))
    right = 0
    for seed in TESTED:
        found = clauses(name, seed)
        assert set(found) == {True, False}
        odds = {
            follows: sum(
                math.log((counts[True][w] + 1) / (counts[False][w] + 1))
                for w in set(re.findall(r"\w+", text.lower()))
            )
            for follows, text in found.items()
        }
        right += odds[True] > odds[False]
    assert abs(right / len(TESTED) - 0.5) < 3 * (0.25 / len(TESTED)) ** 0.5


# Attitudes and floors


class Scripted(Agent):
    """Answers a question as a function of it, and of what it heard, says."""

    free = True
    told_ideal = True

    def __init__(self, answer: Callable[[Ask, Sequence[str]], str]) -> None:
        self.answer, self.heard = answer, list[str]()

    async def reply(self, message: Message) -> Reply:
        line = message.line
        self.heard.append(message.text)
        return Reply(self.answer(line, self.heard) if isinstance(line, Ask) else "Okay.")


def old(question: Ask, heard: Sequence[str]) -> str:
    """Hold on to what was told first."""
    return next((r for r, o in judged(question.expect) if o is Outcome.STALE), question.expect.right()[0])


def updates(question: Ask, heard: Sequence[str]) -> str:
    """Take every change for one that reaches what is asked about."""
    over = (r for r, o in judged(question.expect) if o in (Outcome.OVERDONE, Outcome.ABSTAINED))
    return question.expect.right()[0] if reached(question) else next(over)


def doubts(question: Ask, heard: Sequence[str]) -> str:
    """Know nothing for certain."""
    return "I don't know."


def gives_and_doubts(question: Ask, heard: Sequence[str]) -> str:
    """Say what was, and that it may be anywhere now: of what has changed, and of what has not."""
    expect = question.expect
    was = *getattr(expect, "near", ()), *getattr(expect, "stale", ()), getattr(expect, "value", "")
    return f"It was in {was[0]}, but I don't know where it is now."


def newest(question: Ask, heard: Sequence[str]) -> str:
    """Say the value of the kind asked for that was mentioned last."""
    pool = getattr(question.expect, "among", ())
    return next((v for text in reversed(heard[:-1]) for v in pool if re.search(rf"\b{v}\b", text)), "")


def judged(expect: Matcher) -> list[tuple[str, Outcome]]:
    return [(each, expect.verdict(each, ()).outcome) for each in expect.wrong()]


@pytest.mark.parametrize("attitude", [old, updates, doubts, gives_and_doubts, newest, lambda *_: "Okay."])
@pytest.mark.parametrize("name", NAMES)
def test_no_shortcut_earns_anything(name: str, attitude: Callable[[Ask, Sequence[str]], str]) -> None:
    examples = [Example(scenario(name), seed % 3, seed, {}) for seed in range(40)]
    played = asyncio.run(play_alone(examples, lambda: Scripted(attitude), START))
    assert sum(each.score for each in played) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_perfect_is_right_and_declared_chance_is_little(name: str) -> None:
    examples = [Example(scenario(name), seed % 3, seed, {}) for seed in range(40)]
    played = asyncio.run(play_alone(examples, lambda: make_agent("perfect", {}), START))
    assert {each.score for each in played} == {1.0}
    assert max(each.chance for each in played) < 0.03


# Faults that are known, found again


def outcomes(**fault: float) -> list[tuple[Ask, Outcome]]:
    """Return the questions of 20 seeds with the outcome of what a memory with this fault says."""
    found = list[tuple[Ask, Outcome]]()

    class Noting(make_agent("reference", {}).__class__):  # type: ignore[misc]  # its file is no package
        async def reply(self, message: Message) -> Reply:
            reply: Reply = await super().reply(message)
            if isinstance(message.line, Ask):
                found.append((message.line, self.judged(message, reply.text).outcome))
            return reply

    examples = [
        Example(scenario(name), i, seed, {}) for name in NAMES for seed in range(20) for i in range(3)
    ]
    asyncio.run(play_alone(examples, lambda: Noting(**fault), START))
    return found


FOUND = [
    ("stale", Outcome.STALE, lambda question: reached(question)),
    ("one_step", Outcome.STALE, lambda question: reached(question) and "; 1 step" not in question.aspect),
    ("updates_all", Outcome.OVERDONE, lambda question: not reached(question)),
    ("doubts", Outcome.ABSTAINED, lambda question: not isinstance(question.expect, NoLonger)),
]


@pytest.mark.parametrize("share", [0.2, 0.5])
@pytest.mark.parametrize(("fault", "outcome", "shows"), FOUND, ids=[each[0] for each in FOUND])
def test_a_known_fault_is_found_again_within_three_standard_errors_and_nowhere_else(
    fault: str, outcome: Outcome, shows: Callable[[Ask], bool], share: float
) -> None:
    shown = list[bool]()
    for question, found in outcomes(**{fault: share}):
        if shows(question):
            shown.append(found is outcome)
        assert found is Outcome.CORRECT or (found is outcome and shows(question))
    # Eight draws of one seed each: an interval of 95 % would miss one of them in a third of all wordings.
    error = math.sqrt(share * (1 - share) / len(shown))
    assert abs(sum(shown) / len(shown) - share) <= 3 * error


@pytest.mark.unkept
@pytest.mark.parametrize(("fault", "lost"), [("stale", "retold"), ("one_step", "none"), ("doubts", "none")])
def test_the_ladder_tells_what_was_lost_in_memory_from_what_does_not_follow_for_the_agent(
    fault: str, lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(
        agent="reference",
        settings={fault: 1.0},
        suite="consequences",
        scenarios=["implied"],
        span="2k",
        ladder=True,
    ).results.ladder
    assert found is not None
    assert set(found.lost) == {lost}
