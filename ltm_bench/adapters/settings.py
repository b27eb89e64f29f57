"""Settings of adapters: inherited from a base class, and checked."""

import re
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar

import httpx2

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.keys import read_key, scrubbed
from ltm_bench.core.limits import json_of

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
"""A header's name (RFC 9110, section 5.6.2)."""

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")


class Inheriting:
    """Base of adapters that inherit settings: `**settings` in a constructor stand for those of the base class.

    So a setting is declared once, with its type, default and meaning, and a subclass restates only what differs:

        class Ours(ServedProduct):
            def __init__(self, *, timeout: float = 300.0, colour: str = "red", **settings: Any) -> None:
                super().__init__(timeout=timeout, **settings)
    """

    lacks_settings: ClassVar[frozenset[str]] = frozenset()
    """Keyword arguments of the base class that are no settings here: the constructor passes them, or needs none."""

    __signature__: ClassVar[Signature]
    """All settings, where `inspect` looks for the arguments of a class."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Gather the settings of a new class."""
        super().__init_subclass__(**more)
        cls.__signature__ = Signature(list(_inherited(cls).values()))


def _inherited(kind: type[Inheriting]) -> dict[str, Parameter]:
    """Return the settings of a class by name, those of its base classes first."""
    declared: list[dict[str, Parameter]] = []
    for each in (each for each in kind.__mro__ if "__init__" in vars(each)):
        constructor = vars(each)["__init__"]
        try:
            given = signature(constructor, eval_str=True).parameters
        except NameError:  # a type that only type checkers know; the setting then has any type
            given = signature(constructor).parameters
        declared.insert(0, {name: one for name, one in given.items() if one.kind is Parameter.KEYWORD_ONLY})
        if all(one.kind is not Parameter.VAR_KEYWORD for one in given.values()):
            break
    lacking = {name for each in kind.__mro__ for name in vars(each).get("lacks_settings", ())}
    found = {name: one for settings in declared for name, one in settings.items()}
    return {name: one for name, one in found.items() if name not in lacking}


def at_least(adapter: str, **settings: tuple[int, int]) -> None:
    """Raise ConfigError for the first setting below its minimum: `at_least("zep", recent=(recent, 0))`."""
    for name, (value, least) in settings.items():
        if value < least:
            raise ConfigError(f"{adapter}: {name} = {value}, but at least {least} is needed")


def object_set(adapter: str, name: str, text: str) -> dict[str, Any]:
    """Parse a setting that holds a JSON object: `object_set("http", "extra", '{"stream": false}')`.

    Raises ConfigError if it does not; the error shows at most 300 characters of the setting, and no known key.
    """
    try:
        found = json_of(text)
    except ValueError as error:
        raise ConfigError(f"{adapter}: {name}={scrubbed(text)!r:.300} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{adapter}: {name}={scrubbed(text)!r:.300} is not a JSON object")
    return found


def check_url(setting: str, text: str) -> None:
    """Raise ValueError if a setting is not the URL of a server."""
    if not _is_url(text):
        # an unparseable URL may contain a password anywhere
        shown = "" if "@" in text else f"={scrubbed(text)!r}"
        raise ValueError(f"{setting}{shown} is not a URL; it looks like https://host/path")


def _is_url(text: str) -> bool:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL:
        return False
    return url.scheme in ("http", "https") and bool(url.host) and (url.port is None or 0 < url.port < 65536)


def headers_from_environment(headers: str) -> list[tuple[str, str]]:
    """Return the HTTP headers of `Name=VARIABLE, …`, with the variables' values. Raises ValueError."""
    found = []
    for each in filter(None, map(str.strip, headers.split(","))):
        name, equals, variable = (part.strip() for part in each.partition("="))
        if not equals or not _NAME.fullmatch(name):
            raise ValueError(
                f"headers={scrubbed(headers)!r}: write Name=VARIABLE; the variable's value is sent"
            )
        if not _VARIABLE.fullmatch(variable):
            raise ValueError(
                f"headers: the value of {name}= is not the name of a variable (it is not shown here); write "
                f"{name}=VARIABLE; the variable's value is sent"
            )
        value = read_key(variable)
        if not value:
            raise ValueError(f"headers={scrubbed(headers)!r}: the variable {scrubbed(variable)} is not set")
        if not value.isascii() or not value.isprintable():
            raise ValueError(
                f"headers={headers!r}: {variable} holds characters that no header can (its value is not shown here)"
            )
        found.append((name, value))
    return found
