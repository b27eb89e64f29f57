"""Rehearsals: a script is checked and measured against the ideal agent before it costs anything."""

from collections.abc import Callable, Generator, Iterator
from datetime import timedelta
from typing import Any

import pytest

from ltm_bench import Ask, Chat, Dice, Tell, names_only
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.script.rehearsal import ACKNOWLEDGEMENT, ideal_reply, rehearse
from ltm_bench.script.scenario import Example, scenario

RED = names_only("red", among=("red", "blue"))


def example(build: Callable[..., Any]) -> Example:
    return Example(scenario(skills={"recall"})(build), 0, 0, {})


def test_a_rehearsal_gives_each_message_with_its_tokens_and_those_of_its_ideal_reply() -> None:
    heard: list[str] = []

    def mine(dice: Dice) -> Generator[Any, Any, None]:
        reply = yield Tell("It is red.")
        heard.append(reply.text)
        yield Chat(lambda now: f"It is {now:%H:%M}.", ideal="So it is.", after=timedelta(hours=2))
        yield Ask("Which colour is it?", expect=RED)

    count = counter()
    steps = rehearse(example(mine), count)
    assert [step.text for step in steps] == ["It is red.", "It is 02:00.", "Which colour is it?"]
    assert [ideal_reply(step.line) for step in steps] == [ACKNOWLEDGEMENT, "So it is.", RED.right()[0]]
    assert [step.message_tokens for step in steps] == [count.count(step.text) for step in steps]
    assert [step.reply_tokens for step in steps] == [count.count(ideal_reply(step.line)) for step in steps]
    assert heard == [ACKNOWLEDGEMENT]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("It is red.", "yields str 'It is red.'; a script yields Tell, Ask or Chat"),
        (Ask("Which?", expect="red"), "expect=str 'red'; an Ask expects a matcher"),  # type: ignore[arg-type]  # the error under test
        (Tell(3), "a text of type int"),  # type: ignore[arg-type]  # the error under test
        (Tell("It is red.", at=1.5), "at=1.5, which lies outside 0..1"),
        (Ask("Which?", expect=RED, evidence=("0",)), "each must be a int"),  # type: ignore[arg-type]  # the error under test
        (Tell("It is red.", after=3), "after=3; it must be a timedelta"),  # type: ignore[arg-type]  # the error under test
    ],
)
def test_a_script_that_yields_something_else_is_refused(line: object, complaint: str) -> None:
    def mine(dice: Dice) -> Iterator[Any]:
        yield line

    with pytest.raises(ConfigError, match="scenario mine: ") as raised:
        rehearse(example(mine), counter())
    assert complaint in str(raised.value)


@pytest.mark.parametrize(("evidence", "untold"), [((0, 2), 2), ((-1,), -1), ((1, 3), 3)])
def test_a_question_that_names_a_line_which_is_not_told_before_it_is_refused(
    evidence: tuple[int, ...], untold: int
) -> None:
    def mine(dice: Dice) -> Iterator[Any]:
        yield Tell("It is red.")
        yield Ask("Which colour is it?", expect=RED, evidence=(0,))
        yield Tell("It is large.")
        yield Ask("Which colour is it now?", expect=RED, evidence=evidence)
        yield Tell("Good night.")

    with pytest.raises(
        ConfigError, match="scenario mine: its script yields a question with evidence="
    ) as raised:
        rehearse(example(mine), counter())
    assert f"no line {untold} is told before it; count what is told from 0, without questions" in str(
        raised.value
    )


def test_a_script_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltm_bench.script.rehearsal.MOST", 100)

    def mine(dice: Dice) -> Iterator[Any]:
        while True:
            yield Tell("And another thing.")

    with pytest.raises(
        ConfigError, match="scenario mine: its script has yielded 100 messages, and has not ended"
    ):
        rehearse(example(mine), counter())


def test_a_script_that_fails_is_named_with_its_parameters() -> None:
    def mine(dice: Dice) -> Iterator[Any]:
        yield Tell("It is red.")
        raise LookupError("no colour left")

    with pytest.raises(ConfigError, match=r"scenario mine: its script fails .*: LookupError: no colour left"):
        rehearse(example(mine), counter())
