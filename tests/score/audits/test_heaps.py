"""A reply that recites other examples' messages is not right for what lies in it; an honest one stays right."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Matcher, Message, Outcome, Reply, Turn, item_counts, names_only
from ltm_bench.datasets.infinitebench.matcher import benchmarked
from ltm_bench.export.verify import verify
from ltm_bench.score.audits.heaps import HEAD, LONGEST, Guard
from ltm_bench.score.audits.verdicts import verdict_on

if TYPE_CHECKING:
    from tests.conftest import Command

OWN = (
    "By the way, my favourite colour of all the colours is red.",
    "Which colour do I like best? Name the colour alone, please.",
)
FOREIGN = (
    "Please put two baguettes on my shopping list for the weekend.",
    "From the Bandstand it is only one kilometre west to the Mint.",
    "A little badger looked up at the sky and counted fifteen stars.",
    "You will groan at this joke: the mermaid failed her mathematics exam.",
    "OK, thanks, that is all for now.",
)
COLOUR = names_only("red", among=("red", "blue", "green", "yellow"))
BASKET = item_counts({"milk": 2, "bread": 1}, among=("milk", "bread", "apples"))
FOUND = benchmarked("passkey", "92119")
AT = datetime(2026, 1, 5, tzinfo=UTC)


def outcome(
    reply: str, expect: Matcher = COLOUR, own: Sequence[str] = OWN, foreign: Sequence[str] = FOREIGN
) -> tuple[Outcome, float | None, str]:
    guard = Guard()
    for message in (*foreign, *own):
        guard.hear(message)
    turns = [Turn(Message(text, AT, i), Reply("Okay.")) for i, text in enumerate(own)]
    matched = verdict_on(expect, Reply(reply), turns)
    assert matched.score, "the matcher alone gives credit"
    verdict = guard.checked(matched, expect, reply, turns)
    return verdict.outcome, verdict.score, verdict.reason


THREE, FOUR = "\n".join(FOREIGN[:3]), "\n".join(FOREIGN[:4])
IN_OTHER_WORDS = (
    "You asked for two baguettes, told me how far the Mint is from the Bandstand, and how many stars the badger "
    "counted. None of that is about colours. Your favourite is red."
)


@pytest.mark.parametrize(
    "reply",
    [
        "Red.",
        "Red. You said: “By the way, my favourite colour of all the colours is red.”",
        f"Red. You also said: “{FOREIGN[0]}” and “{FOREIGN[1]}” I found nothing newer on colours than what you told "
        "me in the beginning, and so I am rather sure of my answer, which is red.",
        IN_OTHER_WORDS,
        f"Red. The last thing you said: {FOREIGN[0]}",
        "Red. " + "OK, thanks, that is all for now. " * 6,
        f"Red. {THREE[: THREE.index('counted')]}",
    ],
    ids=["alone", "own message", "two of others", "in other words", "brief", "too short", "not whole"],
)
def test_a_right_reply_stays_right(reply: str) -> None:
    assert outcome(reply)[:2] == (Outcome.CORRECT, 1.0)


def test_a_reply_that_is_little_but_messages_answers_nothing_whoever_they_are_from() -> None:
    own = (FOREIGN[1], *OWN)
    assert outcome(f"{FOREIGN[0]} {FOREIGN[1]} {OWN[0]}", own=own) == (
        Outcome.WRONG,
        0.0,
        "the reply is little but 3 messages that it was told",
    )
    assert outcome(f"{FOREIGN[0]} {FOREIGN[1]} {OWN[0]} So it is red.", own=own)[0] is Outcome.UNDECIDED
    said = f"You said “{FOREIGN[0]}” and also “{FOREIGN[1]}”, and neither has to do with what you asked me; it is red."
    assert outcome(said, own=own)[0] is Outcome.CORRECT


def test_what_the_example_itself_was_told_is_not_foreign() -> None:
    reply = f"Red. {THREE}"
    assert outcome(reply)[0] is Outcome.UNDECIDED
    assert outcome(reply, own=(*FOREIGN[:2], *OWN))[0] is Outcome.CORRECT
    assert outcome(reply, own=(f"My notes say: {FOREIGN[0]} So much for that.", *OWN))[0] is Outcome.CORRECT


@pytest.mark.parametrize(
    ("reply", "expected", "reason"),
    [
        (f"Red. {THREE}", Outcome.UNDECIDED, "recites 3 messages of other examples"),
        (f"{FOUR}\nSo it is red.", Outcome.UNDECIDED, "recites 4 messages of other examples"),
        (f"{FOUR}\n{OWN[0]}", Outcome.WRONG, "recites 4 messages of other examples"),
        (
            f"- {FOREIGN[0].upper()}\n- **{FOREIGN[1]}**\n- {FOREIGN[2]}\n- {OWN[0]}",
            Outcome.WRONG,
            "recites 3 messages of other examples",
        ),
        (f"Red. {THREE} {THREE}", Outcome.UNDECIDED, "recites 3 messages of other examples"),
    ],
    ids=["answer first", "answer last", "nothing else", "as a list", "twice"],
)
def test_a_reply_that_recites_other_examples_earns_nothing(
    reply: str, expected: Outcome, reason: str
) -> None:
    assert outcome(reply) == (expected, 0.0, f"the reply {reason}")


def test_one_message_that_makes_up_most_of_a_long_reply_is_enough() -> None:
    long = "It takes an hour, " * 14 + "and after that we went home again for tea."
    assert outcome(f"Red. {long}", foreign=[long])[0] is Outcome.UNDECIDED
    assert outcome(f"Red. {long}", foreign=[long])[2] == "most of the reply is a message of another example"


def test_of_messages_that_begin_alike_the_longest_is_recited() -> None:
    begin = "Please remember this for me until the weekend comes:"
    both = [f"{begin} milk", f"{begin} milk and honey"]
    foreign = [*both, FOREIGN[0]]
    assert outcome("Red. " + " ".join(foreign), foreign=foreign)[2].endswith(
        "recites 3 messages of other examples"
    )
    assert outcome("Red. " + " ".join(foreign[1:]), foreign=foreign)[0] is Outcome.CORRECT


def test_partial_credit_is_no_reward_for_a_heap_either() -> None:
    reply = f'{THREE}\n[{{"item": "milk", "quantity": 2}}]'
    guard = Guard()
    for message in FOREIGN:
        guard.hear(message)
    matched = verdict_on(BASKET, Reply(reply), [])
    assert matched.outcome is Outcome.PARTIAL
    assert guard.checked(matched, BASKET, reply, []).score == 0.0


def test_published_scorers_decide_alone() -> None:
    assert outcome(f"92119 {THREE}", FOUND)[0] is Outcome.CORRECT


def test_a_message_counts_from_its_place_on() -> None:
    guard, reply = Guard(), f"Red. {THREE}"
    matched = verdict_on(COLOUR, Reply(reply), [])
    for message in FOREIGN[:3]:
        assert guard.checked(matched, COLOUR, reply, []) is matched
        guard.hear(message)
    assert guard.checked(matched, COLOUR, reply, []).outcome is Outcome.UNDECIDED


def test_a_message_longer_than_any_honest_quotation_is_not_looked_for() -> None:
    guard = Guard()
    for i in range(3):
        guard.hear(f"{i} word " * LONGEST)
    assert not guard.__dict__["_unread"]


def test_no_message_of_fewer_words_is_looked_for() -> None:
    short = [f"one two three four five {i}" for i in ("six", "seven", "eight")]
    assert all(len(each.split()) < HEAD for each in short)
    assert outcome("Red. " + " ".join(short), foreign=short)[0] is Outcome.CORRECT


def test_a_right_reply_that_a_run_holds_in_a_heap_earns_nothing_and_is_said_to_recite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "heaps.py").write_text(HEAPS, "utf-8")
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "spoken.py").write_text(SPOKEN, "utf-8")
    words = ("--scenario", "spoken", "--examples", "3", "--span", "8k", "--agent", "heaps")
    for name, *how in (("in-line",), ("forked", "--questions", "forked")):
        assert command("run", *words, "--name", name, *how).exit_code == 0
        asked = questions(tmp_path / "reports" / name)
        assert any("messages of other examples" in each["reason"] for each in asked), name
        verify(tmp_path / "reports" / name)


def questions(run: Path) -> list[dict[str, Any]]:
    results = json.loads((run / "results.json").read_text("utf-8"))
    return [question for example in results["examples"] for question in example["questions"]]


HEAPS = '''"""Heaps: answers every question with the last messages that are not filler."""

from ltm_bench import Agent, Message, Reply


class Heaps(Agent):
    free = True
    forks = "snapshot"

    def __init__(self) -> None:
        self.heard = []

    async def reply(self, message: Message) -> Reply:
        said = Reply("\\n".join(self.heard[-25:]) or "Okay.")
        self.heard.append(message.text)
        return said

    async def fork(self, message):
        said = Reply("\\n".join(self.heard[-25:]) or "Okay.")

        async def answer() -> Reply:
            return said

        return answer
'''

SPOKEN = '''"""Spoken: a name, told once among others that do not matter."""

from collections.abc import Sequence
from dataclasses import dataclass

from ltm_bench import Ask, Dice, Matcher, Outcome, Script, Tell, Turn, Verdict, scenario

NAMES = ("Ada", "Bela", "Cem", "Dora", "Egon", "Fay")


@dataclass(frozen=True)
class Holds(Matcher):
    word: str

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        good = self.word in reply
        return Verdict(Outcome.CORRECT if good else Outcome.WRONG, float(good), "it is in it, or not")

    def right(self) -> Sequence[str]:
        return [self.word]

    def wrong(self) -> Sequence[str]:
        return ["Nobody."]


@scenario(skills={"recall"})
def spoken(dice: Dice) -> Script:
    name = dice.card("name", NAMES)
    yield Tell(f"The neighbour who waters my plants in summer is {name}.", at=0.0)
    yield Tell(f"Whenever {name} comes, the cat hides under the bed.", at=0.5)
    yield Ask("Who waters my plants in summer?", expect=Holds(name), at=1.0)
'''
