"""Rehearsals: an example's script against the ideal agent, before any agent is asked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import UnionType
from typing import NamedTuple, cast

from ltm_bench.core.clock import Worded, later
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Buried, Chat, Fact, Line, Matcher, Message, Reply, Tell
from ltm_bench.core.tokens import Counter
from ltm_bench.script.scenario import Example
from ltm_bench.script.sealed import ReplySealed, SealedReply, is_beside

ACKNOWLEDGEMENT = "Okay."
"""The ideal agent's reply when nothing is asked."""

MOST = 1_000_000
"""Maximum number of messages of one example: at ten tokens each, ten million tokens."""

ACKNOWLEDGEMENTS = (
    "Okay.",
    "All right.",
    "Noted.",
    "Good to know.",
    "I see.",
    "Thank you for telling me.",
    "Got it.",
    "Fine, I will keep that in mind.",
)
"""A script's replies to needles, in place of the agent."""


def acknowledgement(example: Example, said: int) -> str:
    """Return the seeded reply to an example's message that comes after `said` others."""
    return Dice(f"{example.seed}/{example.id}/acknowledgement/{said}").choice(ACKNOWLEDGEMENTS)


def needs_no_agent(line: Line) -> bool:
    """Whether a script can acknowledge a line: a needle without a best reply."""
    return isinstance(line, Tell) and line.ideal is None


class Rehearsed(NamedTuple):
    """A message of a rehearsal, and the tokens of the message and of its ideal reply."""

    line: Line
    text: str
    message_tokens: int
    reply_tokens: int
    beside: bool = False
    """Whether it is asked beside the conversation, where neither message nor reply takes up room."""

    @property
    def room(self) -> int:
        """Tokens that it takes up in the conversation."""
        return 0 if self.beside else self.message_tokens + self.reply_tokens


def ideal_reply(line: Line) -> str:
    """Return the reply of the ideal agent."""
    if line.ideal is not None:
        return line.ideal
    return line.expect.right()[0] if isinstance(line, Ask) else ACKNOWLEDGEMENT


def briefed(message: Message, line: Line, example: Example) -> Message:
    """Return a message as an agent gets it that is told the ideal reply."""
    stream = f"{example.seed}/{example.id}"
    return replace(message, ideal=ideal_reply(line), line=line, stream=stream)


def holding(line: Ask, told: int, example: Example) -> Sequence[int]:
    """Return which of the lines told before a question hold its answer: those that it names, or else all.

    Raises ConfigError if it names a line that was not told.
    """
    if untold := [each for each in line.evidence if not 0 <= each < told]:
        raise ConfigError(
            f"scenario {example.scenario.name}: its script yields a question with evidence={line.evidence!r:.60}, but "
            f"no line {untold[0]} is told before it; count what is told from 0, without questions"
        )
    return line.evidence or range(told)


def _check(example: Example, line: object) -> None:
    """Raise ConfigError unless it is a Tell, Ask or Chat with usable fields: a user's script may yield anything."""
    where = f"scenario {example.scenario.name}: its script yields"
    if not isinstance(line, Tell | Ask | Chat):
        raise ConfigError(f"{where} {type(line).__name__} {line!r:.60}; a script yields Tell, Ask or Chat")
    if isinstance(line, Ask) and not isinstance(line.expect, Matcher):
        kind = type(line.expect).__name__
        raise ConfigError(
            f"{where} a question with expect={kind} {line.expect!r:.60}; an Ask expects a matcher"
        )
    if not isinstance(line.text, str) and not callable(line.text):
        raise ConfigError(
            f"{where} a text of type {type(line.text).__name__}; it must be a string, or a function of the time"
        )
    for name, (kind, words) in _FIELDS.items():
        value = getattr(line, name, None)
        if value is not None and not isinstance(value, kind):
            raise ConfigError(f"{where} {name}={value!r:.60}; it must be {words}")
    for name, kind in _ELEMENTS.items():
        if not all(isinstance(each, kind) for each in getattr(line, name, ())):
            raise ConfigError(f"{where} {name}={getattr(line, name)!r:.60}; each must be a {kind.__name__}")
    if line.at is not None and not 0.0 <= line.at <= 1.0:
        raise ConfigError(f"{where} at={line.at}, which lies outside 0..1")


_FIELDS: Mapping[str, tuple[type | UnionType, str]] = {
    "at": (int | float, "a number from 0 to 1"),
    "after": (timedelta, "a timedelta"),
    **dict.fromkeys(("settle", "restart"), (bool, "True or False")),
    **dict.fromkeys(("ideal", "user", "session", "shows", "needs", "search_by"), (str, "a string")),
    **dict.fromkeys(("buried", "facts", "deletes", "evidence"), (tuple | list, "a tuple")),
}
"""The types of a line's fields, and what to call them."""

_ELEMENTS: Mapping[str, type] = {"buried": Buried, "facts": Fact, "deletes": str, "evidence": int}


def rehearse(
    example: Example, counter: Counter, *, forked: bool = False, dice: Dice | None = None
) -> list[Rehearsed]:
    """Run a script against the ideal agent, to count the tokens it needs.

    Benchmark time stands still, except for the pauses (`after`) that the script asks for. `forked` seals the replies to
    forked questions; `dice` are as for `Example.script`. Raises ConfigError if the script fails, does not end, yields
    anything but lines, or reads a sealed reply.
    """
    now = datetime(2000, 1, 1, tzinfo=UTC)
    steps: list[Rehearsed] = []
    script = example.script(dice)
    reply: Reply | None = None
    while True:
        try:
            line = script.send(cast(Reply, reply))  # a fresh generator takes None, later ones a Reply
        except StopIteration:
            break
        except ReplySealed as error:
            raise ConfigError(f"scenario {example.scenario.name}: {error}") from error
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ConfigError(
                f"scenario {example.scenario.name}: its script fails with the parameters "
                f"{dict(example.parameters)}: {type(error).__name__}: {error}"
            ) from error
        if len(steps) == MOST:
            raise ConfigError(
                f"scenario {example.scenario.name}: its script has yielded {MOST:,} messages, and has not ended; does "
                "a loop of it run forever?"
            )
        _check(example, line)
        if isinstance(line, Ask) and line.evidence:
            holding(line, sum(not isinstance(each.line, Ask) for each in steps), example)
        now = later(now, line.after or timedelta())
        text = line.text
        if not isinstance(text, str):
            text = text.longest if isinstance(text, Worded) else text(now)
        if not isinstance(text, str):
            raise ConfigError(
                f"scenario {example.scenario.name}: the text that a message's function returns is {text!r:.60}; it "
                "must be a string"
            )
        said = ideal_reply(line)
        beside = forked and is_beside(line)
        steps.append(Rehearsed(line, text, counter.count(text), counter.count(said), beside))
        reply = SealedReply(now) if beside else Reply(said, at=now)
    return steps
