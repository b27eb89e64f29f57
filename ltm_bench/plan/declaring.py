"""How arguments are declared: each once, with type, default and help, for the terminal, files, Python and the docs."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

FORMER = {"backend": "executor", "on": "executor", "setting": "agent-arg", "parameter": "scenario-arg"}
"""Spellings of flags that are still accepted, in the terminal and in files, and shown nowhere."""


class Option(NamedTuple):
    """What there is to say about an argument besides name, type and default. Stands in its `Annotated` type."""

    help: str
    metavar: str | None = None
    """What `--help` shows in place of a value."""
    parse: Callable[[Any], Any] | None = None
    """Makes the value of a text, or of a list of texts if the option can be repeated. Raises ValueError, saying what
    to write.
    """
    least: int | None = None
    """The least whole number."""
    most: int | None = None
    """The greatest whole number."""
    flags: Sequence[str] = ()
    """Its flags, if they do not follow from its name; errors name the first long one."""
    variable: str | Sequence[str] | None = ()
    """Its environment variables, without their prefix, if they do not follow from the flag; None if it has none."""
    terminal: bool = True
    """Whether it can be an option, or is for Python alone."""


class Given(set[str]):
    """The names of the arguments that were given, instead of left out. An environment variable gives none.

    A field of this type is no argument: whoever makes the declaration of what was given fills it in.
    """


class Argument(NamedTuple):
    """A declared argument."""

    name: str
    kind: Any
    """Its type."""
    default: Any
    """`Parameter.empty` if it is required."""
    option: Option

    @property
    def kinds(self) -> set[Any]:
        """The classes that its type names: `{Sequence, NoneType}` for `Sequence[str] | None`."""
        whole = get_origin(self.kind) or self.kind
        return {whole, *(get_origin(each) or each for each in get_args(self.kind))}

    @property
    def repeated(self) -> bool:
        """Whether its option can be repeated."""
        return bool(self.kinds & {list, Sequence, Mapping})

    @property
    def flags(self) -> Sequence[str]:
        """The flags of its option: `--max-cost` for `max_cost`, `--judge` for `judges`."""
        name = self.name.removesuffix("s") if self.repeated else self.name
        return self.option.flags or (f"--{name.replace('_', '-')}",)

    @property
    def flag(self) -> str:
        """The flag that errors name."""
        return next(flag for flag in self.flags if flag.startswith("--"))

    @property
    def variables(self) -> list[str]:
        """Its environment variables."""
        if self.option.variable is None:
            return []
        given = self.option.variable or self.flag.removeprefix("--").replace("-", "_").upper()
        return [f"LTM_BENCH_{name}" for name in ((given,) if isinstance(given, str) else given)]


def argument(name: str, kind: Any, default: Any) -> Argument | None:
    """Return an argument by its `Annotated` type; None if that has no `Option`."""
    bare, *notes = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    option = next((note for note in notes if isinstance(note, Option)), None)
    return None if option is None else Argument(name, bare, default, option)


@cache
def arguments(declaration: type) -> Mapping[str, Argument]:
    """Return the arguments that a dataclass declares, by name. Raises TypeError if a field has no `Option`."""
    found, hints = {}, get_type_hints(declaration, include_extras=True)
    for each in fields(declaration):
        if hints[each.name] is Given:
            continue
        default = Parameter.empty if each.default is MISSING else each.default
        declared = argument(each.name, hints[each.name], default)
        if declared is None:
            raise TypeError(f"{declaration.__name__}.{each.name} has no Option")
        found[each.name] = declared
    return found


def spelled(declaration: type, given: object, usual: object) -> str:
    """Return the arguments in which something given is unusual, as they would be typed, each after a space."""
    said = ""
    for name, declared in arguments(declaration).items():
        value, flag = getattr(given, name), f" {declared.flag}"
        if value != getattr(usual, name):
            each = value if isinstance(value, list | tuple) else [value]
            said += "".join(flag if one is True else f"{flag} {shlex.quote(str(one))}" for one in each)
    return said
