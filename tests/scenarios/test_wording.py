"""How a question is worded tells nothing about what is the right thing to do: to tell or to keep, whom to believe."""

import json
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

from ltm_bench import Ask
from ltm_bench.core.tokens import counter
from ltm_bench.matchers.planted import Unmoved
from ltm_bench.matchers.restraint import Withholds
from ltm_bench.plugins.files import find
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example
from tests.scenarios.test_phrasings import lists
from tests.scenarios.test_trust import played

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

TWINS = {
    "gone_for_good": {"town", "country"},
    "roles": {"asked"},
    "planted": {"question", "signal"},
    "two_users": {"asked"},
    "forget_me": {"present again", "hiding place again"},
}
"""The messages of each scenario that ask for what must be told, or believed, and for what must not."""
OFFER = re.compile(r"(?i)\bor “no idea”|\b(or (say|tell me|that you)|fine if you can't|just say so)\b")
LEARNT, TESTED = range(200), range(1_000, 1_200)


def offers(text: str) -> bool:
    """Whether a question offers to be refused."""
    return OFFER.search(text) is not None


@cache
def phrasings(name: str) -> list[tuple[str, str, re.Pattern[str]]]:
    """Return every phrasing of a scenario's messages, with the name of the message, and how to find it."""
    said = json.loads(find("scenarios", name).with_suffix(".json").read_text("utf-8"))["messages"]
    return [
        (kind, text, re.compile(re.sub(r"\\{\w+\\}", ".+?", re.escape(text))))
        for kind, texts in lists(said)
        for text in texts
    ]


def asked(name: str, seed: int) -> list[tuple[str, str, bool]]:
    """Return the message, the phrasing of each question, and whether something must be resisted."""
    found = []
    for step in rehearse(Example(scenario(name), 0, seed, {}), counter()):
        if isinstance(step.line, Ask):
            kind, text = next((k, t) for k, t, each in phrasings(name) if each.fullmatch(step.text))
            expect = step.line.expect
            keeps = isinstance(expect, Withholds) and not expect.answer
            found.append((kind, text, keeps or isinstance(expect, Unmoved)))
    return found


@pytest.mark.parametrize("name", TWINS)
def test_what_must_be_resisted_and_what_must_not_are_asked_for_in_the_same_words(name: str) -> None:
    sides = defaultdict[str, tuple[set[str], set[str]]](lambda: (set(), set()))
    for seed in LEARNT:
        for kind, text, resists in asked(name, seed):
            sides[kind][resists].add(text)
    assert {kind for kind, (told, kept) in sides.items() if told and kept} == TWINS[name]
    assert all(sides[kind][0] == sides[kind][1] for kind in TWINS[name])


@pytest.mark.parametrize("name", TWINS)
def test_who_learns_the_wordings_tells_the_twins_apart_no_better_than_a_coin(name: str) -> None:
    seen = defaultdict[str, Counter[bool]](Counter)
    for seed in LEARNT:
        for kind, text, resists in asked(name, seed):
            seen[kind][resists] += 1
            seen[text][resists] += 1
    right = {True: list[bool](), False: list[bool]()}
    for seed in TESTED:
        for kind, text, resists in asked(name, seed):
            if kind in TWINS[name]:
                usual = seen[kind][True] / seen[kind].total()
                right[resists].append((seen[text][True] > usual * seen[text].total()) is resists)
    shares = [sum(each) / len(each) for each in right.values()]
    most = sum((0.25 / len(each)) ** 0.5 for each in right.values()) / 2  # if both vary together
    assert sum(shares) / 2 - 0.5 < 3 * most


def refuses_where_offered(question: Ask) -> str:
    """Refuse wherever that is offered, and else reply as one should."""
    return "I don't know." if offers(str(question.text)) else question.expect.right()[0]


def refuses_once_it_was_told_to_forget(question: Ask) -> str:
    """Know everything until the deletion, and from then on only what is asked for in a list."""
    known = "before" in str(question.aspect) or "list" in str(question.aspect)
    return question.expect.right()[0] if known else "I don't know."


@pytest.mark.parametrize("name", ["forget_me", "gone_for_good", "roles", "two_users"])
def test_who_refuses_wherever_that_is_offered_earns_nothing(name: str) -> None:
    withheld = [
        step.text
        for seed in LEARNT
        for step in rehearse(Example(scenario(name), 0, seed, {}), counter())
        if isinstance(step.line, Ask)
        and isinstance(step.line.expect, Withholds)
        and not step.line.expect.answer
    ]
    assert [text for text in withheld if not offers(text)] == []
    assert played(name, refuses_where_offered) == 0.0


def test_who_refuses_everything_from_the_deletion_on_earns_nothing() -> None:
    assert played("gone_for_good", refuses_once_it_was_told_to_forget) == 0.0
