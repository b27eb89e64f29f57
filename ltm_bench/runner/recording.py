"""Turns and forks as events: compared with the log as long as that has events, and written after that."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, Protocol

from ltm_bench.core.messages import Ask, Line, Matcher, Reply, Tell
from ltm_bench.log.events import Event, Forked, Replied, Sent
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import load
from ltm_bench.runner.play import Saying
from ltm_bench.schedule.scheduler import Fork, Scheduler


class Events(Protocol):
    """A log: a recorder's file, or one in memory."""

    @property
    def logged(self) -> Event | None:
        """The next event to compare with; None where there is none."""

    def put(self, event: Event) -> None:
        """Take an event."""


class Recording:
    """The events of one conversation's turns, numbered and placed as its scheduler says."""

    def __init__(self, recorder: Events, scheduler: Scheduler) -> None:
        self._recorder = recorder
        self._scheduler = scheduler

    def sent(self, step: Saying) -> int:
        """Record that a message goes out; return its tokens."""
        sent = self.event(step)
        self._recorder.put(sent)
        return sent.tokens

    def event(self, step: Saying) -> Sent:
        """Return the event of a message."""
        send, message = step.send, step.message
        tokens = self._tokens(message.text, step.tokens)
        said = (
            {} if send is None else {"example": send.example.id, "due": send.due, **self._fields(send.line)}
        )
        return Sent(
            turn=message.turn,
            kind=step.kind,
            message=message.text,
            tokens=tokens,
            position=self._scheduler.position,
            at=message.at,
            **said,
        )

    def replied(self, step: Saying, reply: Reply) -> int:
        """Record a reply; return its tokens."""
        answered: Literal["script"] | None = "script" if step.send and step.by == "script" else None
        tokens = self._tokens(reply.text, partial(step.reply_tokens, reply))
        self._recorder.put(Replied.of(step.message.turn, reply, tokens, answered))
        return tokens

    def forked(self, fork: Fork, tokens: Callable[[], int]) -> Forked:
        """Record that a question is asked beside the conversation; return its event.

        Args:
            fork: The question.
            tokens: Counts it.
        """
        forked = Forked(
            id=fork.id,
            example=fork.example.id,
            message=fork.text,
            tokens=self._tokens(fork.text, tokens),
            position=fork.position,
            due=fork.due,
            at=fork.at,
            **self._fields(fork.line),
        )
        self._recorder.put(forked)
        return forked

    def _tokens(self, text: str, count: Callable[[], int]) -> int:
        """Return a text's tokens: from the log, if it has the text there."""
        logged = self._recorder.logged
        if isinstance(logged, Sent | Forked | Replied) and text == (
            logged.reply if isinstance(logged, Replied) else logged.message
        ):
            return logged.tokens
        return count()

    def _fields(self, line: Line) -> dict[str, Any]:
        """Return those fields of an event that a script's line determines."""
        fields: dict[str, Any] = {"ideal": line.ideal, "user": line.user}
        if isinstance(line, Tell | Ask):
            fields["buried"] = tuple((each.text, each.tokens) for each in line.buried) or None
        if isinstance(line, Ask):
            fields |= {"expect": self._form(line.expect), "search_by": line.search_by}
            fields |= {"shows": line.shows, "needs": line.needs, "aspect": line.aspect}
        elif isinstance(line, Tell):
            fields["session"] = line.session
        return fields

    def _form(self, expect: Matcher) -> Mapping[str, object]:
        """Return a matcher's form: the log's, if that is an older one of the same."""
        form, logged = json_form(dump(expect)), self._recorder.logged
        there = logged.expect if isinstance(logged, Sent | Forked) else None
        return there if there is not None and there != form and load(there) == expect else form


def json_form(data: Mapping[str, object]) -> dict[str, object]:
    """Return a matcher's form as JSON would return it, so that it can be compared with the log.

    Raises TypeError if a value would not survive JSON.
    """
    return {key: _through_json(value) for key, value in data.items()}


def _through_json(value: object) -> object:
    if isinstance(value, dict):
        if strange := [key for key in value if not isinstance(key, str)]:
            raise TypeError(f"a matcher's field has a key {strange[0]!r:.60}; in JSON a key must be a string")
        return json_form(value)
    if isinstance(value, list | tuple):
        return [_through_json(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"a matcher's field holds {type(value).__name__} {value!r:.60}; JSON has no such value")
