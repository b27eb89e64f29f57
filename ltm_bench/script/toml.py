"""Scenarios in TOML: a file of messages with seeded choices becomes a `Scenario`.

    about = "Moving house: a town changes; only the last one counts"
    skills = ["recall", "conflict"]

    [choices]
    name = ["Ines", "Oskar"]                              # {name}: one of them
    town = { from = ["Ghent", "Lima", "Bergen"], draw = 2 }   # {town.1}, {town.2}: two different ones
    pet = [{ kind = "cat", call = "Miou" }, { kind = "dog", call = "Rex" }]   # {pet.kind}, {pet.call}

    [[messages]]
    say = "My sister {name} lives in {town.1}."
    at = 0.0

    [[messages]]
    ask = "Where does {name} live?"
    at = 1.0
    expect = { names = "{town.1}", among = "town" }

`{{` and `}}` are braces. A suite can replace the values of a choice, just as it can set the parameters of a scenario in
Python.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import PluginError, nearest
from ltm_bench.core.limits import toml_in
from ltm_bench.core.messages import Ask, Chat, Line, Matcher, Tell
from ltm_bench.matchers.choices import picks
from ltm_bench.matchers.lists import lists_all
from ltm_bench.matchers.names import names_only
from ltm_bench.matchers.phrases import says
from ltm_bench.matchers.quotes import retells
from ltm_bench.script.scenario import Scenario, Script

Value = str | dict[str, str]
"""One value of a choice: a text, or several texts that belong together."""

MOST_VALUES, MOST_CHARACTERS = 1_000, 20_000
"""Of a choice: matchers look for every value in every reply, also in one that lists them all."""


def _bearable(values: list[Value]) -> list[Value]:
    size = sum(len(text) for each in values for text in (each.values() if isinstance(each, dict) else [each]))
    if len(values) > MOST_VALUES or size > MOST_CHARACTERS:
        most = f"{MOST_VALUES:,} values and {MOST_CHARACTERS:,} characters"
        raise ValueError(f"it has {len(values):,} values of {size:,} characters; a choice has at most {most}")
    return values


Values = Annotated[list[Value], AfterValidator(_bearable)]

Phrasings = str | Annotated[list[str], Field(min_length=1)]
"""A text, or several that say the same, of which each example draws one."""

Names = Mapping[str, str]
"""The value of each name in braces."""

_NAME = re.compile(r"(\{\{|\}\})|\{([^{}]*)\}")
_PAUSE = re.compile(r"(?:(\d{1,5})d)? ?(?:(\d{1,5})h)? ?(?:(\d{1,5})m)?")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Draw(_Table):
    """Several different values of one choice."""

    values: Values = Field(alias="from", min_length=2)
    draw: int = Field(default=1, ge=1)


class Expect(_Table):
    """What a question expects: one of `names`, `says`, `lists`, `picks`, `retells`, and its wrong candidates."""

    names: str | None = None
    says: str | None = None
    lists: list[str] | None = None
    picks: int | None = Field(default=None, ge=1)
    retells: str | None = None
    among: str | list[str] = Field(default_factory=list)
    stale: list[str] = Field(default_factory=list)
    of: int | None = Field(default=None, ge=2)

    @model_validator(mode="after")
    def _one_kind(self) -> Expect:
        kinds = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(
                f"exactly one of {', '.join(_KINDS)} is needed, found {', '.join(kinds) or 'none'}"
            )
        if kinds[0] in ("names", "lists", "retells") and not self.among:
            raise ValueError(f"{kinds[0]} needs among: the name of a choice, or a list of values")
        if (kinds[0] == "picks") != (self.of is not None):
            raise ValueError(
                "picks and of belong together: the option's number, and how many options there are"
            )
        if self.stale and kinds[0] != "names":
            raise ValueError("stale goes with names only")
        return self


_KINDS = ("names", "says", "lists", "picks", "retells")


class Said(_Table):
    """A message: one of `say` (a needle), `ask` (a question), `chat` (the agent answers, nobody interrupts)."""

    say: Phrasings | None = None
    ask: Phrasings | None = None
    chat: Phrasings | None = None
    at: float | None = Field(default=None, ge=0.0, le=1.0)
    after: str | None = None
    """Minimum benchmark time since the previous message: `45m`, `2h`, `1d 6h`."""
    ideal: str | None = None
    expect: Expect | None = None
    inline: bool = False
    """Whether a question is part of the conversation even if questions are forked, because later messages build on
    it."""

    @property
    def kind(self) -> Literal["say", "ask", "chat"]:
        """Which of the three keys it has."""
        return "say" if self.say is not None else "ask" if self.ask is not None else "chat"

    @property
    def texts(self) -> Sequence[str]:
        """Its phrasings, with names still in braces."""
        found = self.say or self.ask or self.chat or ""
        return [found] if isinstance(found, str) else found

    @property
    def pause(self) -> timedelta | None:
        """`after` as a duration."""
        if self.after is None:
            return None
        days, hours, minutes = (int(n or 0) for n in _pause(self.after).groups())
        return timedelta(days=days, hours=hours, minutes=minutes)

    @model_validator(mode="after")
    def _one_text(self) -> Said:
        kinds = [kind for kind in ("say", "ask", "chat") if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(
                f"exactly one of say, ask, chat is needed, found {' and '.join(kinds) or 'none'}"
            )
        if (self.ask is None) != (self.expect is None):
            raise ValueError("ask and expect belong together")
        if self.after is not None:
            _pause(self.after)
        return self


def _pause(text: str) -> re.Match[str]:
    match = _PAUSE.fullmatch(text.strip())
    if match is None or not any(match.groups()):
        raise ValueError(f"after = {text!r}: write a duration such as 45m, 2h or 1d 6h")
    return match


class Recipe(_Table):
    """A scenario as written in its file."""

    about: str = Field(min_length=1)
    skills: list[str] = Field(min_length=1)
    topics: list[str] = Field(default_factory=list)
    forget: Phrasings | None = None
    version: int = Field(default=1, ge=1)
    choices: dict[str, Values | Draw] = Field(default_factory=dict)
    messages: list[Said] = Field(min_length=1)

    def script(self, dice: Dice, replaced: Mapping[str, Any]) -> Script:
        """Deal the choices, then yield the messages in order. Raises ValueError."""
        pools = {name: [*replaced.get(name, _values(choice))] for name, choice in self.choices.items()}
        names: dict[str, str] = {}
        for name, choice in self.choices.items():
            count = choice.draw if isinstance(choice, Draw) else 1
            for i, value in enumerate(dice.hand(name, pools[name], count), start=1):
                stem = name if count == 1 else f"{name}.{i}"
                parts = value.items() if isinstance(value, Mapping) else [("", value)]
                names.update({f"{stem}.{part}" if part else stem: str(text) for part, text in parts})
        for i, message in enumerate(self.messages, start=1):
            try:
                texts = [_filled(text, names) for text in message.texts]
                line = _line(message, texts[0] if len(texts) == 1 else dice.choice(texts), names, pools)
            except ValueError as error:
                raise ValueError(f"messages {i}: {error}") from error
            yield line


def _values(choice: Values | Draw) -> Sequence[Value]:
    return choice.values if isinstance(choice, Draw) else choice


def _filled(text: str, names: Names) -> str:
    def value(match: re.Match[str]) -> str:
        brace, name = match.groups()
        if brace:
            return str(brace[0])
        if name not in names:
            raise ValueError(
                f"{text!r}: there is no choice {name!r}{nearest(name, names)} (there are: {', '.join(names) or 'none'})"
            )
        return names[name]

    return _NAME.sub(value, text)


def _line(message: Said, text: str, names: Names, pools: Mapping[str, Sequence[Value]]) -> Line:
    ideal = None if message.ideal is None else _filled(message.ideal, names)
    if message.kind == "ask" and message.expect is not None:
        expect = _matcher(message.expect, names, pools)
        return Ask(text, expect, message.at, message.pause, ideal, inline=message.inline)
    if message.kind == "chat":
        return Chat(text, ideal, message.at, message.pause)
    return Tell(text, message.at, message.pause, ideal)


def _matcher(expect: Expect, names: Names, pools: Mapping[str, Sequence[Value]]) -> Matcher:
    among = _pool(expect.among, pools) if isinstance(expect.among, str) else expect.among
    among = [_filled(text, names) for text in among]
    if expect.names is not None:
        value = _filled(expect.names, names)
        return names_only(
            value, among=_with(value, among), stale=[_filled(text, names) for text in expect.stale]
        )
    if expect.says is not None:
        return says(_filled(expect.says, names), among=among)
    if expect.lists is not None:
        wanted = [_filled(text, names) for text in expect.lists]
        return lists_all(wanted, among=list(dict.fromkeys([*wanted, *among])))
    if expect.retells is not None:
        text = _filled(expect.retells, names)
        return retells(text, among=_with(text, among))
    assert expect.picks is not None
    assert expect.of is not None
    return picks(expect.picks, of=expect.of)


def _with(value: str, among: Sequence[str]) -> list[str]:
    return list(dict.fromkeys([value, *among]))


def _pool(name: str, pools: Mapping[str, Sequence[Value]]) -> list[str]:
    """Return all values of a choice, `pet`, or of one of its parts, `pet.call`."""
    stem, _, part = name.partition(".")
    if stem not in pools:
        raise ValueError(
            f"among = {name!r}: there is no such choice{nearest(stem, pools)} (there are: {', '.join(pools) or 'none'})"
        )
    values = [value.get(part) if isinstance(value, Mapping) else value for value in pools[stem]]
    if not all(isinstance(value, str) for value in values):
        parts = next(list(value) for value in pools[stem] if isinstance(value, Mapping))
        raise ValueError(
            f"among = {name!r}: name a part of the choice: {', '.join(f'{stem}.{p}' for p in parts)}"
        )
    return [str(value) for value in values]


def summary(path: Path) -> str:
    """Return the first line of a file's `about`."""
    try:
        return str(toml_in(path).get("about", "")).partition("\n")[0]
    except (OSError, ValueError):
        return "(cannot be parsed)"


def read(path: Path) -> Scenario:
    """Return the scenario that a TOML file describes. Raises PluginError with file, key and nearest name."""
    try:
        content = toml_in(path)
    except OSError as error:
        raise PluginError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise PluginError(f"{path}: not valid TOML: {error}") from error
    try:
        recipe = Recipe.model_validate(content)
    except ValidationError as error:
        raise _explained(path, error) from error
    try:
        list(recipe.script(Dice("trial"), {}))
    except ValueError as error:
        raise PluginError(f"{path}: {error}") from error
    return Scenario(
        name=path.stem,
        summary=recipe.about.strip().partition("\n")[0],
        skills=tuple(sorted(recipe.skills)),
        topics=tuple(sorted({path.stem, *recipe.topics})),
        forget=recipe.forget,
        version=recipe.version,
        parameters=MappingProxyType({name: _values(choice) for name, choice in recipe.choices.items()}),
        build=lambda dice, **replaced: recipe.script(dice, replaced),
    )


_KNOWN: Mapping[str, type[_Table]] = {"messages": Said, "expect": Expect, "choices": Draw}


def _explained(path: Path, error: ValidationError) -> PluginError:
    """Return an error for the first problem, with its key as written in the file and the nearest known key."""
    first, *others = error.errors()
    # Of the forms that a choice can have, that to which the file comes nearest is meant.
    problem = max(
        (first, *(e for e in others if e["loc"][:2] == first["loc"][:2])), key=lambda e: len(e["loc"])
    )
    # Like `list[…]` and others in brackets, what pydantic tried, not what the file says.
    forms = ("Draw", "str")
    keys = [key for key in problem["loc"] if key not in forms and "[" not in str(key)]
    where = "".join(f" {key + 1}" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
    if problem["type"] == "extra_forbidden":
        table = next((_KNOWN[str(key)] for key in reversed(keys[:-1]) if key in _KNOWN), Recipe)
        known = [field.alias or name for name, field in table.model_fields.items()]
        return PluginError(
            f"{path}: unknown key {where!r}{nearest(str(keys[-1]), known)} (known: {', '.join(known)})"
        )
    if problem["type"] == "missing":
        return PluginError(f"{path}: {where} is missing")
    what = problem["msg"].removeprefix("Value error, ")
    shown = "" if isinstance(problem["input"], dict | list) else f" = {problem['input']!r:.60}"
    return PluginError(f"{path}: {where}{shown}: {what[:1].lower() + what[1:]}")
