"""`who_said_it`, `revised_plan` and `the_third_poem`, which belong to no suite: their promises and their scoring."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import pytest

from ltm_bench import Ask, Message, Reply, Tell, Turn
from ltm_bench.core.messages import Line, Outcome
from ltm_bench.core.tokens import counter
from ltm_bench.matchers.earlier import Formerly
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.phrases import Says
from ltm_bench.plugins.files import find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

if TYPE_CHECKING:
    from tests.styles import STYLES
else:
    from styles import STYLES

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

NAMES = ("who_said_it", "revised_plan", "the_third_poem")
SUBJECTS = load(find("scenarios", "the_third_poem")).SUBJECTS
SEEDS = range(40)
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def lines(name: str, seed: int) -> list[Line]:
    return [step.line for step in rehearse(Example(scenario(name), 0, seed, {}), counter())]


def told(name: str, seed: int) -> list[str]:
    *needles, _ = [cast(str, line.text) for line in lines(name, seed) if isinstance(line, Tell)]
    return needles


def asked(name: str, seed: int) -> list[Ask]:
    return [line for line in lines(name, seed) if isinstance(line, Ask)]


def outcome(question: Ask, reply: str) -> Outcome:
    turn = Turn(Message(cast(str, question.text), START, 0), Reply(reply))
    return question.expect.verdict(reply, [turn]).outcome


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_a_right_answer_is_right_in_every_style(name: str, style: str) -> None:
    for seed in SEEDS:
        for pick, question in enumerate(asked(name, seed)):
            stale = list(getattr(question.expect, "stale", ()))
            reply = STYLES[style](question.expect.right()[0], stale, "", seed + pick)
            assert outcome(question, reply) is Outcome.CORRECT, reply


# who_said_it


def test_two_people_mention_everything_and_only_one_favours_it() -> None:
    for seed in SEEDS:
        needles, questions = told("who_said_it", seed), asked("who_said_it", seed)
        assert len(needles) == 8
        for question in questions:
            expect = cast(NamesOnly, question.expect)
            assert len(expect.among) == 4
            assert expect.chance == 0.25
            assert sum(expect.value in needle for needle in needles) == 2


WHO = [
    ("{right}.", Outcome.CORRECT),
    ("It was {right}, not {other}.", Outcome.CORRECT),
    ("{other}", Outcome.WRONG),
    ("{right} or {other}", Outcome.UNDECIDED),
    ("I do not recall who said that.", Outcome.ABSTAINED),
]


@pytest.mark.parametrize(("reply", "expected"), WHO)
def test_who_said_it_is_one_of_four(reply: str, expected: Outcome) -> None:
    for seed in range(8):
        for question in asked("who_said_it", seed):
            expect = cast(NamesOnly, question.expect)
            other = next(value for value in expect.among if value != expect.value)
            assert outcome(question, reply.format(right=expect.value, other=other)) is expected


# revised_plan


def test_questions_cover_the_current_plan_and_the_earlier_one() -> None:
    for seed in SEEDS:
        needles, (now, first, before) = told("revised_plan", seed), asked("revised_plan", seed)
        assert cast(NamesOnly, now.expect).value in needles[-1]
        assert cast(Formerly, first.expect).value in needles[0]
        assert cast(Formerly, before.expect).value in needles[-2]
        assert len(needles) == 4
        assert now.expect.chance == first.expect.chance == before.expect.chance == 0.05
        assert len(cast(NamesOnly, now.expect).stale) == 3


PLANS = [
    (0, "{last}.", Outcome.CORRECT),
    (0, "First {first}, but now it is {last}.", Outcome.CORRECT),
    (0, "{first}", Outcome.STALE),
    (1, "Originally {first}.", Outcome.CORRECT),
    (1, "First {first}, then {before}, and now {last}.", Outcome.CORRECT),
    (1, "{last}", Outcome.WRONG),
    (1, "It used to be {before}.", Outcome.WRONG),
    (2, "Previously {before}.", Outcome.CORRECT),
    (2, "It was {before} until you changed it to {last}.", Outcome.CORRECT),
    (2, "{first}", Outcome.WRONG),
    (2, "I don't know.", Outcome.ABSTAINED),
]


@pytest.mark.parametrize(("number", "reply", "expected"), PLANS)
def test_an_old_value_is_right_when_it_is_what_was_asked_for(
    number: int, reply: str, expected: Outcome
) -> None:
    for seed in range(8):
        questions = asked("revised_plan", seed)
        values = (
            cast(NamesOnly, questions[0].expect).value,
            *(cast(Formerly, q.expect).value for q in questions[1:]),
        )
        said = reply.format(last=values[0], first=values[1], before=values[2])
        assert outcome(questions[number], said) is expected, said


# the_third_poem


def test_the_poem_is_the_nth_on_its_subject() -> None:
    places = ("first", "second", "third", "fourth")
    for seed in SEEDS:
        needles, (question,) = told("the_third_poem", seed), asked("the_third_poem", seed)
        words = re.findall(r"\w+", cast(str, question.text))
        (subject,) = (word for word in SUBJECTS if word in words)
        own = [needle for needle in needles if re.search(rf"(?i)\b{subject}\b", needle)]
        place = next(i for i, name in enumerate(places) if name in words)
        assert len(own) == 4
        assert len(needles) == 7
        assert 0 < place < 3
        assert cast(Says, question.expect).phrase in own[place]
        assert own[-1] == needles[-1]


def test_another_poem_a_description_and_all_of_them_are_wrong() -> None:
    for seed in SEEDS:
        (question,) = asked("the_third_poem", seed)
        expect = cast(Says, question.expect)
        assert outcome(question, f"“{expect.phrase}”") is Outcome.CORRECT
        assert outcome(question, expect.phrase.replace("; ", ";\n")) is Outcome.CORRECT
        assert outcome(question, expect.others[0]) is Outcome.WRONG
        assert outcome(question, " ".join((*expect.others, expect.phrase))) is Outcome.WRONG
        assert outcome(question, "It was a fine poem, and it rhymed.") is Outcome.WRONG
        assert outcome(question, "I do not remember that poem.") is Outcome.ABSTAINED
