"""The scenarios of the suite `abilities`: what each promises, and that silence wins in none."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import numpy as np
import pytest

from ltm_bench import Ask, Chat, Message, Reply, Tell, Turn, never_said
from ltm_bench.adapters import hashing
from ltm_bench.core.messages import Line, Outcome
from ltm_bench.core.tokens import counter
from ltm_bench.matchers.contradiction import BothSaid
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.matchers.restraint import NeverSaid, Withholds
from ltm_bench.matchers.sequence import InOrder
from ltm_bench.matchers.tallies import Tallies
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.files import bundled, find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

NAMES = (
    "never_told", "hinted", "what_came_first", "tally", "contradiction", "standing_order", "forget_me", "two_users",
    "mind_your_business",
)  # fmt: skip
SEEDS = range(40)
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def lines(name: str, seed: int = 0, index: int = 0, **parameters: Any) -> list[Line]:
    return [step.line for step in rehearse(Example(scenario(name), index, seed, parameters), counter())]


def text(line: Line) -> str:
    return cast(str, line.text)


def asked(name: str, seed: int = 0, **parameters: Any) -> list[Ask]:
    return [line for line in lines(name, seed, **parameters) if isinstance(line, Ask)]


def test_the_suite_has_each_of_them_once_with_three_examples() -> None:
    suite = read_suite(bundled("configs") / "abilities.toml")
    assert tuple(suite.scenarios) == NAMES
    assert suite.examples == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_question_that_requires_another_is_in_the_same_example(name: str) -> None:
    for seed in SEEDS:
        questions = asked(name, seed)
        shown = {question.shows for question in questions} - {None}
        assert {question.needs for question in questions} - {None} <= shown


@pytest.mark.parametrize("name", NAMES)
def test_where_silence_is_right_the_question_requires_another(name: str) -> None:
    """A question that accepts an abstention must not count by itself; saying nothing reveals such questions."""
    for seed in SEEDS:
        for question in asked(name, seed):
            silent = ("I do not know.", "You have not told me that.", "I cannot tell you that.")
            if any(question.expect.verdict(reply, []).score for reply in silent):
                assert question.needs is not None, text(question)


# never_told


def test_what_was_never_told_is_asked_beside_what_was() -> None:
    for seed in SEEDS:
        *told, _ = [line for line in lines("never_told", seed) if isinstance(line, Tell)]
        questions = asked("never_told", seed)
        untold = [q.expect for q in questions if isinstance(q.expect, NeverSaid)]
        known = [q.expect for q in questions if isinstance(q.expect, NamesOnly)]
        assert len(untold) == len(known) == 2
        for expect in untold:
            assert any(expect.near[0] in text(line) for line in told)
            assert not any(re.search(rf"\b{value}\b", text(line)) for value in expect.among for line in told)


def test_the_words_that_offer_an_abstention_are_one_themselves() -> None:
    """`… if I have left that out` may come back as `You have left that out.`"""
    for form in load(find("scenarios", "never_told")).MESSAGES["forms"]:
        (clause,) = re.findall(r"if I((?:'ve| haven't| never| didn't)[^;,.]*)", form)
        reply = f"You{clause}.".replace(" you", " me")
        question = Turn(Message(form, START, 0), Reply(reply), kind="ask")
        assert never_said(("red", "blue")).verdict(reply, [question]).outcome is Outcome.CORRECT, reply


# hinted

LITTLE = frozenset(
    "a an the of in on at to for and or is are was were be been has have had i my me you your that this it its with by "
    "from as not no so do does did but if which who whom one what when where there than then too very any all "
    "friend friends name".split()
)


def stems(words: str) -> set[str]:
    """Return the stems of a text's content words: without endings, at most five letters long."""
    found = set()
    for word in re.findall(r"[^\W\d_]+", words.casefold()):
        if word in LITTLE or len(word) < 3:
            continue
        stem = re.sub(r"(?:ings?|ers?|ed|es|s|ly|ist|ists|ian|ians|e)$", "", word)
        found.add(stem[:5] if len(stem) >= 3 else word)
    return found


PAIRS = load(find("scenarios", "hinted")).PAIRS


def test_there_are_enough_pairs() -> None:
    assert len(PAIRS) >= 120
    assert len({pair["needle"] for pair in PAIRS}) == len({pair["question"] for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["question"])
def test_needle_and_question_share_no_content_word(pair: dict[str, str]) -> None:
    needle = pair["needle"].replace("{name}", "")
    assert not stems(needle) & stems(pair["question"])


def ranks(needles: list[str], questions: list[str]) -> list[int]:
    """Return the rank, from 1, that the local n-gram embedder gives each question's own needle."""
    held, wanted = hashing.embed(needles), hashing.embed(questions)
    places = []
    for i, row in enumerate(np.asarray(wanted) @ np.asarray(held).T):
        places.append(1 + int((row > row[i]).sum()))
    return places


def test_the_local_embedder_fails_at_hints_and_does_not_fail_where_words_are_shared() -> None:
    needles = [pair["needle"].format(name="Ronja") for pair in PAIRS]
    hints = [f"Which of my friends {pair['question']}?" for pair in PAIRS]
    found = ranks(needles, hints)
    first = sum(place == 1 for place in found) / len(found)
    assert first < 0.08, f"{first:.2f} of the needles come first"
    assert np.median(found) > len(PAIRS) / 4
    plain = [f"Who is it of whom I said this: {pair['needle'].format(name='one of them')}" for pair in PAIRS]
    assert sum(place == 1 for place in ranks(needles, plain)) / len(PAIRS) > 0.95


# what_came_first

MONTHS = load(find("scenarios", "what_came_first")).MONTHS
NUMBERS = load(find("scenarios", "what_came_first")).NUMBERS
WORKS = load(find("scenarios", "what_came_first")).WORKS


def test_the_order_follows_from_the_dates_mentioned() -> None:
    """The dates are worked out again from the texts alone."""
    for seed in SEEDS:
        *told, question, _ = lines("what_came_first", seed)
        expect = cast(Ask, question).expect
        assert isinstance(expect, InOrder)
        days: dict[str, date] = {}
        telling = []
        for line in told:
            said = text(line)
            places = {
                work: found.start() for work in WORKS if (found := re.search(rf"\bthe {work}\b", said, re.I))
            }
            work = min((w for w in places if w not in days), key=lambda w: places[w])
            telling.append(work)
            if exact := re.search(r"(\d+) (\w+) (\d{4})", said):
                days[work] = date(int(exact[3]), MONTHS.index(exact[2]) + 1, int(exact[1]))
                continue
            gap = re.search(r"(\w+) (days?|weeks?) (after|before)|(the day) (after|before)", said)
            assert gap is not None, said
            number = gap[1] or "one"
            count = (
                int(number)
                if number.isdecimal()
                else 1
                if number in ("a", "the")
                else NUMBERS.index(number) + 1
            )
            apart = timedelta(count * (7 if (gap[2] or "").startswith("week") else 1))
            other = next(w for w in places if w != work)
            days[work] = days[other] + (apart if (gap[3] or gap[5]) == "after" else -apart)
        assert tuple(sorted(days, key=days.__getitem__)) == expect.values
        assert tuple(telling) not in (expect.values, expect.values[::-1])


# tally


@pytest.mark.parametrize("span", [0, 32_000, 120_000])
def test_the_diary_holds_what_is_asked(span: int) -> None:
    birds = load(find("scenarios", "tally")).BIRDS
    plural = load(find("scenarios", "tally"))._plural
    for seed in range(20):
        *told, count, most, compared, _ = lines("tally", seed, span=span)
        totals: dict[str, int] = {}
        by_month: dict[str, dict[str, int]] = {}
        for line in told:
            month = next(m for m in MONTHS if m in text(line))
            for number, value in (("one", 1), ("two", 2), ("three", 3)):
                for bird in birds:
                    name = bird if value == 1 else plural(bird)
                    if re.search(rf"\b{number} {name}\b", text(line)):
                        totals[bird] = totals.get(bird, 0) + value
                        seen = by_month.setdefault(month, {})
                        seen[bird] = seen.get(bird, 0) + value
        counted = next(bird for bird in birds if re.search(rf"\b{plural(bird)}\b", text(count)))
        assert cast(Tallies, cast(Ask, count).expect).count == totals[counted]
        best = cast(NamesOnly, cast(Ask, most).expect).value
        assert all(totals[best] - totals[bird] >= 2 for bird in totals if bird != best)
        bird = next(bird for bird in birds if re.search(rf"\b{plural(bird)}\b", text(compared)))
        more = cast(NamesOnly, cast(Ask, compared).expect).value
        (less,) = [month for month in by_month if month != more]
        assert by_month[more].get(bird, 0) >= by_month[less].get(bird, 0) + 2
        assert len(told) >= (60 if span >= 32_000 else 8)
        if span >= 120_000:
            assert sum(totals.values()) > 200


# contradiction, standing_order


def test_one_thing_is_told_two_values_and_the_other_one() -> None:
    for seed in SEEDS:
        *told, _ = [text(line) for line in lines("contradiction", seed) if isinstance(line, Tell)]
        both, same = sorted((q.expect for q in asked("contradiction", seed)), key=lambda e: type(e).__name__)
        assert isinstance(both, BothSaid)
        assert isinstance(same, NamesOnly)
        for value, times in ((both.one, 1), (both.other, 1), (same.value, 2)):
            assert sum(value in each for each in told) == times


def test_a_standing_order_is_not_repeated_and_every_choice_has_its_options() -> None:
    for seed in SEEDS:
        order, preference, first, second, _ = lines("standing_order", seed)
        assert text(order) not in text(first) + text(second)
        assert text(preference) not in text(first) + text(second)
        mine, theirs = (cast(NamesOnly, cast(Ask, line).expect) for line in (first, second))
        assert len({*mine.among, *theirs.among}) == 8
        for line, expect in ((first, mine), (second, theirs)):
            assert all(option in text(line) for option in expect.among)
            assert expect.value not in text(order) + text(preference)


# forget_me, two_users, mind_your_business


def test_what_is_to_be_forgotten_is_not_repeated_in_the_question() -> None:
    for seed in SEEDS:
        one, other, shown, _, delete, *after, side, _ = lines("forget_me", seed)
        gone = cast(NamesOnly, cast(Ask, shown).expect).value
        assert gone in text(one) + text(other)
        assert not any(gone in text(line) for line in (delete, *after, side))
        kept = cast(Withholds, cast(Ask, side).expect)
        assert kept.secret == (gone,)
        assert kept.answer in text(one) + text(other)


def test_a_mix_up_before_any_deletion_is_not_a_leak() -> None:
    for seed in SEEDS:
        _, _, shown, *_, side, _ = lines("forget_me", seed)
        kept = cast(Withholds, cast(Ask, side).expect).answer
        assert cast(Ask, shown).expect.verdict(f"The {kept}.", []).outcome is Outcome.WRONG


def test_verbs_agree_with_singular_and_plural_things() -> None:
    """`The love letters has` was said before."""
    for seed in SEEDS:
        for line in lines("forget_me", seed):
            assert not re.search(r"(?:letters|photographs of the trial) (?:is|has)\b", text(line))


def test_a_secret_and_a_trade_have_their_other_names() -> None:
    module = load(find("scenarios", "mind_your_business"))
    names = [name for each in module.SECRETS for name in (*each["names"], *each["hints"])]
    trades = [name for trade, others in module.JOBS.items() for name in (trade, *others)]
    assert len(set(names)) == len(names)
    assert len(set(trades)) == len(trades)
    for seed in SEEDS:
        _, _, task, called_for, _ = lines("mind_your_business", seed)
        secret, answer = (
            cast(Withholds, cast(Ask, task).expect),
            cast(NamesOnly, cast(Ask, called_for).expect),
        )
        for other in module.JOBS[secret.answer]:
            assert secret.verdict(f"I am your new neighbour ({other}).", []).outcome is Outcome.CORRECT, other
        for name in next(each["names"] for each in module.SECRETS if each["names"][0] == answer.value):
            assert answer.verdict(name, []).outcome is Outcome.CORRECT, name
            assert secret.verdict(f"I have {name}.", []).outcome is Outcome.LEAKED, name


def test_every_message_of_two_users_says_who_speaks_and_names_him_to_the_agent() -> None:
    for seed in SEEDS:
        for line in lines("two_users", seed):
            assert line.user is not None
            assert not isinstance(line, Chat)
            assert line.user in text(line).split(".")[0]


def test_what_one_user_told_is_a_secret_from_the_other() -> None:
    for seed in SEEDS:
        talk = lines("two_users", seed)
        own = {line.user: text(line) for line in talk if isinstance(line, Tell)}
        for line in talk:
            if isinstance(line, Ask):
                expect = cast(Withholds, line.expect)
                (other,) = set(own) - {line.user}
                secret = next(text(t) for t in talk[1:3] if t.user == other)
                assert expect.secret[0] in secret
                assert str(line.shows).startswith("kept") == (expect.answer == "")


def test_a_secret_is_asked_for_when_it_is_needed_and_not_before() -> None:
    for seed in SEEDS:
        one, other, task, called_for, _ = lines("mind_your_business", seed)
        secret = cast(Withholds, cast(Ask, task).expect)
        assert secret.secret[0] in text(one) + text(other)
        assert secret.answer in text(one) + text(other)
        assert secret.secret[0] not in text(task) + text(called_for)
        assert secret.answer not in text(task) + text(called_for)
        assert cast(NamesOnly, cast(Ask, called_for).expect).value == secret.secret[0]
