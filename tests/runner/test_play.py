"""One conversation as its drivers get it: what is said, who answers it, and what each example has heard."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial

import pytest

from ltm_bench import Ask, Chat, Dice, Reply, Script, Tell, says, scenario
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import Filler, shipped
from ltm_bench.runner.play import Saying, composed, play
from ltm_bench.schedule.scheduler import AllSaid, Completed, Fork, Scheduler
from ltm_bench.script.rehearsal import ACKNOWLEDGEMENTS
from ltm_bench.script.scenario import Example

heard: list[str] = []


@scenario(skills={"recall"})
def dog(dice: Dice) -> Script:
    yield Tell("The dog is called Bruno.", at=0.0)
    yield Chat("How are you?", at=0.2)
    reply = yield Tell("It is old.", at=0.5, ideal="Poor dog.")
    heard.append(reply.text)
    yield Ask("Its name?", says("Bruno"), at=0.8)
    yield Ask("Its age?", says("old"), at=1.0)


def steps(*, forked: bool = False, **flags: bool) -> Iterator[Saying | Completed]:
    """Play a conversation in which every reply of the agent is `Hm.`; filler that it answers is as long as told."""
    examples, start = [Example(dog, 0, 0, {})], datetime(2026, 1, 5, 9, tzinfo=UTC)
    scheduler = Scheduler(examples, span=2000, seed=0, counter=counter(), start=start, forked=forked)
    filler = partial(composed, Filler(shipped(), Dice("0/filler"), counter()))
    talk, said = play(scheduler, filler, counter(), **flags), None
    while not isinstance(step := talk.send(said), AllSaid):
        said = None
        if isinstance(step, Saying):
            said = step.said(step.known or Reply("Hm."))
            step.turn(said.reply)
        if isinstance(step, Saying | Completed):
            yield step


def sayings(*, forked: bool = False, **flags: bool) -> list[Saying]:
    return [step for step in steps(forked=forked, **flags) if isinstance(step, Saying)]


@pytest.mark.parametrize("live", [False, True])
def test_filler_is_answered_by_a_script_unless_it_is_live(live: bool) -> None:
    fills = [step for step in sayings(live=live) if step.kind == "fill"]
    assert fills
    for step in fills:
        assert step.send is None
        assert step.by == ("agent" if live else "script")
        assert (step.known is None) is live
        assert step.turn(Reply("")).example is None


def test_only_needles_without_a_best_reply_are_acknowledged() -> None:
    said = [step for step in sayings(acknowledged=True) if step.send is not None]
    assert [step.by for step in said] == ["script", "agent", "agent", "agent", "agent"]
    assert said[0].known is not None
    assert said[0].known.text in ACKNOWLEDGEMENTS
    assert {step.by for step in sayings() if step.send is not None} == {"agent"}


def test_a_script_hears_what_was_sent_back_and_its_example_ends_once() -> None:
    ended = [step for step in steps() if isinstance(step, Completed)]
    assert [each.example.id for each in ended] == ["dog/0"]
    assert heard[-1] == "Hm."  # the rehearsal was first


def test_a_question_beside_the_conversation_is_heard_by_nothing_that_follows() -> None:
    beside, inline = (sayings(forked=forked) for forked in (True, False))
    assert [isinstance(step.send, Fork) for step in beside if step.kind == "ask"] == [True, True]
    assert [len(step.heard) for step in beside if step.kind == "ask"] == [
        4,
        4,
    ]  # its own turn is the last one
    assert [len(step.heard) for step in inline if step.kind == "ask"] == [5, 5]  # one list, which all share


def test_only_an_agent_that_is_told_gets_ideal_replies() -> None:
    assert all(step.message.ideal is not None for step in sayings(told_ideal=True))
    assert all(step.message.ideal is None and step.message.line is None for step in sayings())


def test_a_message_counts_as_many_tokens_as_its_text() -> None:
    for step in sayings():
        assert step.tokens() == counter().count(step.message.text)
        if step.known is not None:
            assert step.reply_tokens(step.known) == counter().count(step.known.text)
