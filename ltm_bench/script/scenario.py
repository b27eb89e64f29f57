"""Scenarios: a scenario is a seeded recipe for a piece of conversation, written as a generator of messages.

    @scenario(skills={"recall"}, topics={"favourite colour"})
    def colours(dice: Dice, *, changes: int = 3) -> Script: ...

Everything that a suite may change (counts, templates, pools) is a keyword-only parameter with a default.
"""

import inspect
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.messages import Ask, Chat, Reply, Tell

Script = Generator[Tell | Ask | Chat, Reply, None]
"""What a scenario returns: each `yield` sends a message and returns the reply to it."""


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
    """A message sent after the last question, so that later examples are not disturbed; or a function from the
    parameters to it. An example with a conversation of its own does not need it.
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
    """Turn a generator function, whose name is its file's stem, into a scenario.

    Args:
        skills: What it tests, e.g. `{"recall", "conflict"}`.
        topics: What it talks about; two examples that share a topic never overlap.
        forget: A message to send after the last question, or a function from the parameters to it.
        version: Increase it whenever the same dice can give different messages.
    """

    def decorate(build: Callable[..., Script]) -> Scenario:
        name = build.__name__
        parameters = list(inspect.signature(build).parameters.values())
        if not parameters:
            raise TypeError(
                f"scenario {name}: it has no parameter dice; write it as def {name}(dice, *, option=default, …)"
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
    """Whether it has its own conversation, in which nothing follows it."""

    @property
    def id(self) -> str:
        """Its name in log and pages, e.g. `colours/2`."""
        return f"{self.scenario.name}/{self.index}"

    def script(self) -> Script:
        """Return a fresh script, the same every time; the scenario's `forget` message comes last."""
        yield from self.scenario(Dice(f"{self.seed}/{self.id}"), **self.parameters)
        forget = self.scenario.forget
        if forget is not None and not self.alone:
            yield Tell(
                forget if isinstance(forget, str) else forget({**self.scenario.parameters, **self.parameters})
            )
