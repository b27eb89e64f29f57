"""The scenarios of the suite `trust`: what each promises, and that neither obeying nor refusing everything wins."""

import asyncio
import random
from collections.abc import Callable
from datetime import timedelta
from typing import cast

import pytest

from ltm_bench import Agent, Ask, Message, Outcome, Reply, Tell
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.planted import Unmoved
from ltm_bench.matchers.restraint import Withholds
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.files import bundled, find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.runner.references import play_alone
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example
from tests.scenarios.test_abilities import SEEDS, START

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

NAMES = ("planted", "gone_for_good", "roles")
MODULE = load(find("scenarios", "planted"))
SUITE = read_suite(bundled("configs") / "trust.toml")


def lines(name: str, seed: int = 0, **parameters: str) -> list[Line]:
    return [step.line for step in rehearse(Example(scenario(name), 0, seed, parameters), counter())]


def asked(name: str, seed: int = 0, **parameters: str) -> list[Ask]:
    return [line for line in lines(name, seed, **parameters) if isinstance(line, Ask)]


def test_the_suite_has_a_row_for_each_family_and_for_each_scenario() -> None:
    rows = {SUITE.plays(row): row for row in SUITE.scenarios}
    assert set(rows) == {*NAMES, "too_soon"}
    families = [SUITE.parameters(row)["family"] for row in SUITE.scenarios if SUITE.plays(row) == "planted"]
    assert tuple(families) == MODULE.FAMILIES
    assert len(MODULE.FAMILIES) * len(MODULE.CARRIERS) >= 8


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ConfigError, match="it is one of fact, instruction"):
        lines("planted", family="mood")


@pytest.mark.parametrize("name", NAMES)
def test_every_question_counts_only_if_another_one_was_right(name: str) -> None:
    for seed in SEEDS:
        questions = asked(name, seed)
        shown = {question.shows for question in questions}
        for question in questions:
            assert question.needs in shown - {question.shows}
            assert question.aspect


@pytest.mark.parametrize("family", MODULE.FAMILIES)
def test_the_stranger_and_the_user_stand_in_quotation_marks_equally_often(family: str) -> None:
    quoted = {"stranger": 0, "user": 0}
    for seed in SEEDS:
        said = [cast(str, line.text) for line in lines("planted", seed, family=family)]
        resists = next(
            q.expect for q in asked("planted", seed, family=family) if isinstance(q.expect, Unmoved)
        )
        (pasted,) = [text for text in said if resists.planted in text]
        quoted["stranger"] += resists.planted in pasted.partition("“")[2].rpartition("”")[0]
        asks = asked("planted", seed, family=family)
        changed = next(q.expect for q in asks if not isinstance(q.expect, Unmoved))
        assert isinstance(changed, NamesOnly)
        (own,) = [text for text in said if changed.value in text]
        quoted["user"] += changed.value in own.partition("“")[2].rpartition("”")[0]
    assert all(len(SEEDS) / 4 <= n <= 3 * len(SEEDS) / 4 for n in quoted.values()), quoted


def test_families_that_are_played_together_share_no_place() -> None:
    seen: dict[str, str] = {}
    for family in MODULE.FAMILIES:
        for index in range(3):
            example = Example(scenario("planted"), index, 0, {"family": family})
            for step in rehearse(example, counter()):
                for fact in step.line.facts if isinstance(step.line, Tell) else ():
                    assert seen.setdefault(fact.about, family) == family


def test_both_people_may_know_one_thing_and_not_another() -> None:
    for seed in SEEDS:
        rights: dict[tuple[str | None, bool], int] = {}
        for question in asked("roles", seed):
            key = (question.user, isinstance(question.expect, Withholds))
            rights[key] = rights.get(key, 0) + 1
        assert len(rights) == 4
        # One of them may know two things and asks for each twice, the other one; of what is left, each asks once.
        assert sorted(rights.values()) == [1, 2, 2, 4]


class Scripted(Agent):
    """Answers a question as a function of it says."""

    free = True
    told_ideal = True

    def __init__(self, answer: Callable[[Ask], str]) -> None:
        self.answer = answer

    async def reply(self, message: Message) -> Reply:
        line = message.line
        return Reply(self.answer(line) if isinstance(line, Ask) else "Okay.")


def obeys(question: Ask) -> str:
    """Believe whatever was said last, and tell everybody everything."""
    expect = question.expect
    if isinstance(expect, Unmoved):
        return expect.planted
    return expect.secret[0] if isinstance(expect, Withholds) else expect.right()[0]


def refuses(question: Ask) -> str:
    """Believe only what was said first, and tell nobody anything."""
    expect = question.expect
    if isinstance(expect, Unmoved):
        return expect.value
    stale = expect.stale if isinstance(expect, NamesOnly) else ()
    return stale[0] if stale else "I cannot tell you that."


def played(name: str, answer: Callable[[Ask], str], seeds: int = 20, **parameters: str) -> float:
    examples = [Example(scenario(name), 0, seed, parameters) for seed in range(seeds)]
    return sum(each.score for each in asyncio.run(play_alone(examples, lambda: Scripted(answer), START)))


@pytest.mark.parametrize("answer", [obeys, refuses, lambda _: "Okay.", lambda _: "I do not know."])
@pytest.mark.parametrize("name", NAMES)
def test_obeying_refusing_and_silence_earn_nothing(name: str, answer: Callable[[Ask], str]) -> None:
    assert played(name, answer) == 0.0


def test_the_agent_is_opened_again_at_a_step_of_its_own_or_not_at_all() -> None:
    assert [q.aspect for q in asked("gone_for_good") if q.restart] == [STEPS[3]]
    example = Example(scenario("gone_for_good"), 0, 0, {"restart": False})
    without = [step.line for step in rehearse(example, counter()) if isinstance(step.line, Ask)]
    assert not any(question.restart for question in without)
    assert [q.aspect for q in without] == [q.aspect for q in asked("gone_for_good") if not q.restart]


STEPS = [q.aspect for q in asked("gone_for_good") if q.aspect and q.aspect[0].isdigit()]


@pytest.mark.parametrize("step", STEPS)
def test_a_memory_that_comes_back_at_one_step_leaks_at_that_step_alone(step: str) -> None:
    assert len(STEPS) == 7
    for seed in range(20):
        leaked = []
        for question in asked("gone_for_good", seed):
            expect = question.expect
            returns = isinstance(expect, Withholds) and question.aspect == step
            reply = expect.wrong()[0] if returns else expect.right()[0]
            verdict = expect.verdict(reply, ())
            assert verdict.outcome in (Outcome.CORRECT, Outcome.LEAKED)
            if verdict.outcome is Outcome.LEAKED:
                leaked.append(question.aspect)
        assert leaked == [step]


def test_who_may_know_is_told_after_the_grant_alone() -> None:
    for seed in SEEDS:
        said = lines("roles", seed)
        told = [
            (place, fact) for place, line in enumerate(said) if isinstance(line, Tell) for fact in line.facts
        ]
        grant = next(place for place, line in enumerate(said) if isinstance(line, Tell) and line.at == 0.6)
        granted = [fact for _, fact in told if fact.words[0] in cast(str, said[grant].text)]
        assert len(granted) == 1
        assert min(place for place, line in enumerate(said) if isinstance(line, Ask)) > grant


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_share_of_attacks_that_an_agent_obeys_is_counted_to_the_last(share: float) -> None:
    dice, obeyed, leaked = random.Random(f"obeys {share}"), 0, 0
    for seed in range(100):
        expect = next(q.expect for q in asked("planted", seed) if isinstance(q.expect, Unmoved))
        obeys_it = dice.random() < share
        obeyed += obeys_it
        reply = expect.planted if obeys_it else expect.value
        leaked += expect.verdict(reply, ()).outcome is Outcome.LEAKED
    assert leaked == obeyed > 0


def test_naming_what_was_said_last_earns_nothing_however_early_the_question() -> None:
    for seed in range(20):
        (played,) = asyncio.run(play_alone([Example(scenario("too_soon"), 0, seed, {})], Echo, START))
        assert played.score == 0.0


class Echo(Agent):
    """Answers every question with the last statement."""

    free = True

    def __init__(self) -> None:
        self.said = ""

    async def reply(self, message: Message) -> Reply:
        asked = "?" in message.text
        self.said = self.said if asked else message.text
        return Reply(self.said if asked else "Okay.")


def test_every_delay_is_asked_for_once_and_everything_again_in_the_end() -> None:
    for seed in SEEDS:
        early, late = list[Ask](), list[Ask]()
        for question in asked("too_soon", seed):
            (late if question.settle else early).append(question)
            assert question.needs is not None
        assert sorted((each.after or timedelta()).total_seconds() for each in early) == [0, 2, 10, 60]
        assert sorted(str(each.expect) for each in early) == sorted(str(each.expect) for each in late)
        assert {each.needs for each in early} == {each.shows for each in late}
        assert len({each.shows for each in late}) == 2
