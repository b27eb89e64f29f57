"""Scenarios: a scenario is a seeded recipe for a piece of conversation, written as a generator of messages.

    @scenario(skills={"recall"}, topics={"favourite colour"})
    def colours(dice: Dice, *, changes: int = 3) -> Script: ...

Everything that a suite may change (counts, templates, pools) is a keyword-only parameter with a default.
"""

import inspect
import json
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.core.messages import Ask, Chat, Line, Reply, Tell
from ltm_bench.core.seeds import Seed

Script = Generator[Tell | Ask | Chat, Reply, None]
"""What a scenario returns: each `yield` sends a message and returns the reply to it."""

Forget = str | Sequence[str] | Callable[[Mapping[str, Any]], str | Sequence[str]]
"""A message, several phrasings of it, or a function from the parameters to either."""


@dataclass(frozen=True)
class Scenario:
    """A recipe: calling it with dice (and parameters) gives the script of one example."""

    name: str
    summary: str
    """The first line of its file's docstring, or of its own."""
    skills: tuple[str, ...]
    topics: tuple[str, ...]
    """Two examples that share a topic never overlap. The scenario's own name is always among them."""
    forget: Forget | None
    """A message sent after the last question, so that later examples are not disturbed. An example with a conversation
    of its own does not need it.
    """
    version: int
    parameters: Mapping[str, Any]
    """Names and defaults of what a suite may change."""
    build: Callable[..., Script]
    decoys: Mapping[str, Any] | None = None
    """Parameters with which further examples, that nobody plays, tell decoys; None if it has none."""

    def __call__(self, dice: Dice, **parameters: Any) -> Script:
        """Return a fresh script. Raises ConfigError for a parameter that the scenario does not have."""
        for name in parameters:
            if name not in self.parameters:
                raise ConfigError(
                    f"scenario {self.name}: no parameter {name!r}{nearest(name, self.parameters)} "
                    f"(it has: {', '.join(self.parameters) or 'none'})"
                )
        return self.build(dice, **parameters)


def content(file: str) -> Any:
    """Return what the JSON file beside a scenario's holds, its lists as tuples: `content(__file__)`.

    It belongs to the scenario: the manifest's hash covers it. Raises ConfigError if it cannot be read.
    """
    path = Path(file).with_suffix(".json")
    try:
        return _frozen(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: the content of {Path(file).name} cannot be read: {error}") from error


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def scenario(
    *,
    skills: Collection[str],
    topics: Collection[str] = (),
    forget: Forget | None = None,
    version: int = 1,
    decoys: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Script]], Scenario]:
    """Turn a generator function, whose name is its file's stem, into a scenario.

    Args:
        skills: What it tests, e.g. `{"recall", "conflict"}`.
        topics: What it talks about; two examples that share a topic never overlap.
        forget: A message to send after the last question, or phrasings of it, of which each example draws one; or a
            function from the parameters to either. `{place}` in it is what the deck `place` dealt to the example, so
            that it takes back nothing else.
        version: Increase it whenever the same dice can give different messages.
        decoys: Parameters, perhaps none (`{}`), with which what further examples tell can stand in filler: nothing that
            any example asks may be about it. Without them, its needles alone have their form.
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
        for field, value in (("skills", skills), ("topics", topics)):
            several = isinstance(value, Collection) and not isinstance(value, str)
            if not (several and all(isinstance(each, str) for each in value)):
                raise TypeError(
                    f"scenario {name}: {field}={value!r:.60}; write texts in braces: {{'recall'}}"
                )
        if not isinstance(version, int):
            raise TypeError(f"scenario {name}: version={version!r:.60}; write a whole number")
        if unknown := [each for each in decoys or () if each not in [p.name for p in keywords]]:
            raise TypeError(f"scenario {name}: decoys={unknown[0]!r:.60}; name parameters that it has")
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
            decoys=decoys,
        )

    return decorate


@dataclass(frozen=True)
class Example:
    """One scenario with one seed: the unit of scheduling and of score."""

    scenario: Scenario
    index: int
    seed: Seed
    parameters: Mapping[str, Any]
    alone: bool = False
    """Whether it has its own conversation, in which nothing follows it."""
    around: Callable[[Line, Dice], Line] | None = None
    """Puts a needle inside a longer message, or leaves it; None if all stand as the scenario says them."""

    @property
    def id(self) -> str:
        """Its name in log and pages, e.g. `colours/2`."""
        return f"{self.scenario.name}/{self.index}"

    def dice(self) -> Dice:
        """Return fresh dice for its script."""
        return Dice(f"{self.seed}/{self.id}")

    def script(self, dice: Dice | None = None) -> Script:
        """Return a fresh script, the same every time; the scenario's `forget` message comes last.

        `dice` are fresh ones, for callers that look at them afterwards.
        """
        dice = dice or self.dice()
        lines = self.scenario(dice, **self.parameters)
        yield from lines if self.around is None else self._inside(lines, self.around)
        forget = self.scenario.forget
        if forget is not None and not self.alone:
            if callable(forget):
                forget = forget({**self.scenario.parameters, **self.parameters})
            if not isinstance(forget, str):
                if not isinstance(forget, Sequence) or not forget:
                    raise TypeError(f"forget={forget!r:.60}; it must be a string, or a list of strings")
                forget = dice.child("forget").choice(forget)
            last = Tell(dice.named(forget), at=1.0)
            yield replace(last if self.around is None else self.around(last, self._beside("forget")), at=None)

    def _inside(self, lines: Script, around: Callable[[Line, Dice], Line]) -> Script:
        reply: Reply | None = None
        for number in count():
            try:
                line = lines.send(cast(Reply, reply))  # a fresh generator takes None
            except StopIteration:
                return
            reply = yield around(line, self._beside(str(number)))

    def _beside(self, name: str) -> Dice:
        """Return dice of their own: what a scenario says does not depend on what stands around it."""
        return Dice(f"{self.seed}/{self.id}/around/{name}")
