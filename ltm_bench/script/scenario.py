"""What is asked: a scenario is a seeded recipe for a piece of conversation, written as a generator of messages.

    @scenario(skills={"recall"}, topics={"favourite colour"})
    def colours(dice: Dice, *, changes: int = 3) -> Script: ...

Everything that a suite may change (counts, templates, pools) is a keyword-only parameter with a default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.messages import Ask, Chat, Line, Matcher, Reply, Tell
from ltm_bench.core.tokens import Counter

Script = Generator[Tell | Ask | Chat, Reply, None]
"""What a scenario returns: each `yield` sends a message and returns the reply to it."""

ACKNOWLEDGEMENT = "Okay."
"""What the ideal agent says where nothing is asked."""


@dataclass(frozen=True)
class Scenario:
    """A recipe: calling it with dice (and parameters) gives the script of one example."""

    name: str
    summary: str
    """The first line of its file's docstring, or of its own."""
    skills: tuple[str, ...]
    topics: tuple[str, ...]
    """Two examples that share a topic never overlap. The scenario's own name is always among them."""
    forget: str | Callable[[Mapping[str, Any]], str] | None
    """A message sent after the last question, so that later examples are not disturbed; or what makes it of the
    parameters. In a conversation of its own an example does not need it.
    """
    version: int
    parameters: Mapping[str, Any]
    """Names and defaults of what a suite may change."""
    build: Callable[..., Script]

    def __call__(self, dice: Dice, **parameters: Any) -> Script:
        """Return a fresh script. Raises ConfigError for a parameter that the scenario does not have."""
        for name in parameters:
            if name not in self.parameters:
                raise ConfigError(
                    f"scenario {self.name}: no parameter {name!r}{nearest(name, self.parameters)} "
                    f"(it has: {', '.join(self.parameters) or 'none'})"
                )
        return self.build(dice, **parameters)


def scenario(
    *,
    skills: Collection[str],
    topics: Collection[str] = (),
    forget: str | Callable[[Mapping[str, Any]], str] | None = None,
    version: int = 1,
) -> Callable[[Callable[..., Script]], Scenario]:
    """Make a scenario of a generator function whose name is its file's stem.

    Args:
        skills: What it tests, e.g. `{"recall", "conflict"}`.
        topics: What it talks about; two examples that share a topic never overlap.
        forget: A message to send after the last question, or a function from the parameters to it.
        version: Raise it when the same dice can give other messages than before.
    """

    def decorate(build: Callable[..., Script]) -> Scenario:
        name = build.__name__
        parameters = list(inspect.signature(build).parameters.values())
        if not parameters:
            raise TypeError(
                f"scenario {name}: it takes no dice; write it as def {name}(dice, *, option=default, …)"
            )
        positional, *keywords = parameters
        wrong = [p.name for p in keywords if p.kind is not p.KEYWORD_ONLY or p.default is p.empty]
        if wrong or positional.kind not in (positional.POSITIONAL_ONLY, positional.POSITIONAL_OR_KEYWORD):
            raise TypeError(
                f"scenario {name}: write it as def {name}(dice, *, option=default, …); "
                f"wrong: {', '.join(wrong) or positional.name}"
            )
        text = inspect.getdoc(inspect.getmodule(build)) or inspect.getdoc(build) or ""
        return Scenario(
            name=name,
            summary=text.strip().partition("\n")[0],
            skills=tuple(sorted(skills)),
            topics=tuple(sorted({name, *topics})),
            forget=forget,
            version=version,
            parameters=MappingProxyType({p.name: p.default for p in keywords}),
            build=build,
        )

    return decorate


@dataclass(frozen=True)
class Example:
    """One scenario with one seed: the unit of scheduling and of score."""

    scenario: Scenario
    index: int
    seed: int
    parameters: Mapping[str, Any]
    alone: bool = False
    """Whether it has a conversation of its own, in which nothing comes after it."""

    @property
    def id(self) -> str:
        """Its name in log and pages, e.g. `colours/2`."""
        return f"{self.scenario.name}/{self.index}"

    def script(self) -> Script:
        """Return a fresh script, the same one every time; the scenario's `forget` message comes last."""
        yield from self.scenario(Dice(f"{self.seed}/{self.id}"), **self.parameters)
        forget = self.scenario.forget
        if forget is not None and not self.alone:
            yield Tell(
                forget if isinstance(forget, str) else forget({**self.scenario.parameters, **self.parameters})
            )


class Step(NamedTuple):
    """A message of a rehearsal, with the tokens of it and of its ideal reply."""

    line: Line
    text: str
    message_tokens: int
    reply_tokens: int


def ideal_reply(line: Line) -> str:
    """Return what the ideal agent would answer."""
    if line.ideal is not None:
        return line.ideal
    return line.expect.right()[0] if isinstance(line, Ask) else ACKNOWLEDGEMENT


def _check(example: Example, line: object) -> None:
    """Refuse what is no line: a file of a user's own may yield anything. Raises ConfigError."""
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
            f"{where} a text of type {type(line.text).__name__}; it is a string, or a function of the time"
        )
    if line.at is not None and not 0.0 <= line.at <= 1.0:
        raise ConfigError(f"{where} at={line.at}, which lies outside 0..1")
    if line.after is not None and not isinstance(line.after, timedelta):
        raise ConfigError(f"{where} after={line.after!r:.60}; it is a timedelta")


def rehearse(example: Example, counter: Counter) -> list[Step]:
    """Run a script against the ideal agent, to learn how much room it needs.

    Benchmark time stands still in a rehearsal but for the `after` that the script asks for.
    """
    now = datetime(2000, 1, 1, tzinfo=UTC)
    steps: list[Step] = []
    script = example.script()
    reply: Reply | None = None
    while True:
        try:
            line = script.send(cast(Reply, reply))  # a fresh generator takes None, later ones a Reply
        except StopIteration:
            break
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ConfigError(
                f"scenario {example.scenario.name}: its script fails with the parameters "
                f"{dict(example.parameters)}: {type(error).__name__}: {error}"
            ) from error
        _check(example, line)
        now += line.after or timedelta()
        text = line.text if isinstance(line.text, str) else line.text(now)
        said = ideal_reply(line)
        steps.append(Step(line, text, counter.count(text), counter.count(said)))
        reply = Reply(said, at=now)
    return steps
