"""Turns as events: where they stand, whose tokens they have, and what of a matcher survives JSON."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_bench import Ask, Buried, Dice, Reply, Script, Tell, says, scenario
from ltm_bench.core.errors import ReplayDiverged
from ltm_bench.core.messages import Kind, Line, Message
from ltm_bench.core.tokens import counter
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import read_events
from ltm_bench.log.recorder import Recorder
from ltm_bench.runner.play import Saying
from ltm_bench.runner.recording import Recording, json_form
from ltm_bench.schedule.scheduler import Scheduler, Send
from ltm_bench.script.scenario import Example

TEXT = "The dog is called Bruno."
ASKED = Ask("Its name?", says("Bruno"), shows="name", user="Ada")


@scenario(skills={"recall"})
def dog(dice: Dice) -> Script:
    yield Tell(TEXT)


@pytest.fixture
def scheduler() -> Scheduler:
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    return Scheduler([Example(dog, 0, 0, {})], span=2000, seed=0, counter=counter(), start=start)


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / "events.jsonl") as recorder:
        yield recorder


def saying(scheduler: Scheduler, line: Line, tokens: int, due: int = 0) -> Saying:
    """A line as a conversation says it, whose tokens a rehearsal has counted."""
    assert isinstance(line.text, str)
    message = Message(line.text, scheduler.clock.now, scheduler.number, user=line.user)
    send = Send(Example(dog, 0, 0, {}), line, line.text, due, first=False, tokens=tokens)
    kind: Kind = "ask" if isinstance(line, Ask) else "tell"
    return Saying(kind, message, lambda: tokens, lambda reply: counter().count(reply.text), [], send)


def test_tokens_are_counted_only_where_nobody_knows_them(recorder: Recorder, scheduler: Scheduler) -> None:
    recording, told = Recording(recorder, scheduler), saying(scheduler, Tell(TEXT), 7)
    assert recording.sent(told) == 7
    assert recording.replied(told, Reply("Noted, of course.")) == counter().count("Noted, of course.")
    sent, replied = read_events(recorder.path)
    assert isinstance(sent, Sent)
    assert isinstance(replied, Replied)
    assert [sent.turn, sent.tokens, sent.at] == [0, 7, scheduler.clock.now]
    assert [replied.turn, replied.tokens] == [0, counter().count("Noted, of course.")]


def test_a_logged_text_keeps_the_tokens_of_the_log_and_another_one_is_refused(
    recorder: Recorder, scheduler: Scheduler
) -> None:
    Recording(recorder, scheduler).sent(saying(scheduler, Tell(TEXT), 7))
    with Recorder(recorder.path) as again:
        assert Recording(again, scheduler).sent(saying(scheduler, Tell(TEXT), 8)) == 7
    with Recorder(recorder.path) as again, pytest.raises(ReplayDiverged, match="It barks"):
        Recording(again, scheduler).sent(saying(scheduler, Tell(f"{TEXT} It barks."), 8))


def test_an_event_holds_what_its_line_says(recorder: Recorder, scheduler: Scheduler) -> None:
    recording = Recording(recorder, scheduler)
    told = Tell(TEXT, buried=(Buried("Bruno", 4),), session="first")
    recording.sent(saying(scheduler, told, 7))
    recording.sent(saying(scheduler, ASKED, 3, due=5))
    tell, ask = read_events(recorder.path)
    assert isinstance(tell, Sent)
    assert isinstance(ask, Sent)
    assert (tell.buried, tell.session, tell.expect, tell.user) == ((("Bruno", 4),), "first", None, None)
    assert (ask.shows, ask.user, ask.session, ask.buried, ask.due) == ("name", "Ada", None, None, 5)
    assert ask.expect is not None
    assert ask.expect["matcher"] == "Says"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({1: "one"}, "has a key 1; in JSON a key must be a string"),
        ([{"a": {2: 3}}], "has a key 2; in JSON a key must be a string"),
        ({"red", "blue"}, "holds set"),
        ((b"x",), "holds bytes b'x'; JSON has no such value"),
    ],
)
def test_what_would_not_survive_json_is_refused(value: object, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        json_form({"field": value})


def test_tuples_become_lists_as_in_a_log_that_is_read_back() -> None:
    assert json_form({"among": ("a", ("b", 1.5, None, True))}) == {"among": ["a", ["b", 1.5, None, True]]}
