"""Finds keys, tokens and passwords in text, and removes them.

A text is judged by its value, not by where it is found: by the formats of known providers, by how secrets are passed
(after `Bearer`, in a URL, behind `--token`), by how random it looks, and by whether it is the value of an environment
variable that was read for a key, or whose name suggests one.
"""

import json
import math
import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from ltm_bench.core.limits import json_of

T = TypeVar("T")

REMOVED = "[removed]"
"""Replaces a secret."""

SHORTEST = 8
"""Minimum length of a value that counts as secret because of its variable, and of a part of one."""

_NAMES = re.compile(r"(^|_)(key|token|secret|password|credential)s?$", re.IGNORECASE)
_NAMES_INSIDE = re.compile(
    r"(?:^|[_.-])(?:\w*api_?key|keys?|tokens?|secrets?|pass(?:word|wd)?s?|credentials?|auth|authorization)(?:[_.-]|$)",
    re.IGNORECASE,
)

_FORMATS: Mapping[str, str] = {
    r"sk-ant-[\w-]{8,}": "ANTHROPIC_API_KEY",
    r"sk-or-[\w-]{8,}": "OPENROUTER_API_KEY",
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}": "OPENAI_API_KEY",
    r"gsk_[A-Za-z0-9]{16,}": "GROQ_API_KEY",
    r"xai-[A-Za-z0-9_-]{16,}": "XAI_API_KEY",
    r"AIza[A-Za-z0-9_-]{30,}": "GEMINI_API_KEY",
    r"pplx-[A-Za-z0-9]{16,}": "PERPLEXITY_API_KEY",
    r"(?:hf|api_org)_[A-Za-z0-9]{16,}": "HF_TOKEN",
    r"sm_[A-Za-z0-9_-]{24,}": "SUPERMEMORY_API_KEY",
    r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}": "GITHUB_TOKEN",
    r"(?:AKIA|ASIA)[A-Z0-9]{16}": "AWS_ACCESS_KEY_ID",
    r"(?:glpat|hsk|nvapi|tgp_v1|r8|fw|lsv2_[ps]t|z_1d|xox[abeprs])[-_][A-Za-z0-9_.-]{16,}": "",
    r"eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?": "",
}
"""What keys of known providers look like, and the environment variable that holds each."""

_KNOWN = re.compile("|".join(rf"(?<![A-Za-z0-9])(?:{pattern})" for pattern in _FORMATS))
_PASSED = re.compile(
    r"(?i:(?:authorization|api-key|auth-token): ?(?:bearer |basic |token )?+)(?![$\[])([^\s'\",\\]{6,})"
    r"|(?:(?<=[Bb]earer )|(?<=[Bb]asic ))(?=[^ ]*\d)[A-Za-z0-9._~+/=-]{8,}"
    r"|(?i:[?&][\w-]{0,40}?(?:key|token|secret|password|passwd|signature|sig|auth)=)(?!\[)([^&\s#'\"<>\\]{4,})"
    r"|(?i:--(?:[a-z]+-)?(?:api-?key|token|password|secret)[= ])(?![$/\[-])([^\s'\"\\]{6,})"
)
"""How keys are passed: in headers, in a URL's query, to programs. The group, if any, is the key."""

_USER = re.compile(r"(?<=//)[^\s\"'<>@\\]{1,1000}@")
_BARE_USER = re.compile(r"(?<!\S)[^\s/@:\"'\\]{1,200}:[^\s/@\"'\\]{1,200}@[\w.-]+(?::\d+)?(?:/\S*)?(?!\S)")
_RANDOM = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{20,200}(?![A-Za-z0-9])")
_DIGEST = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BITS = 3.2
"""Bits per character from which letters and digits count as random; English words have fewer, and no digits."""

_NO_WORDS = re.compile(r"\d.*\d|[a-z][A-Z]", re.DOTALL)
"""Two digits, or a capital inside a word: hyphenated words have neither."""

_PLACES = ("/", "~", ".", "http:", "https:")
"""How the value of a variable begins that says where a key is, not what it is."""

# By whole words: a MONKEY or a SECRETARY is no key, and was taken for one.
_VARIABLES = re.compile(
    r"(?:^|[\W_]|api|access|private)keys?\d*(?:[\W_]|$)|tokens?\d*(?:[\W_]|$)|secret(?!ar)|passw|passphrase|credential"
    r"|(?:^|[\W_])(?:auth|authorization|pass|pat|creds?|cookies?|jwt|bearer|webhook)(?:[\W_]|$)|_pwd$|netrc|npmrc|pypirc|pgpass|kubeconfig|docker_config|boto_config",
    re.IGNORECASE,
)
"""Names of environment variables that are no agent's to read: a place of a key or an open door is among them."""

_HELD = re.compile(
    r"(?s)\b(?:machine|login|default)\b.{0,200}?\bpassword\s+\S|-----BEGIN [A-Z ]{0,40}PRIVATE KEY"
    r"|(?i:\b(?:password|passwd|pwd|secret|token|api[_-]?key|accountkey)\b[\"']?\s{0,9}[=:]\s{0,9}[\"']?[^\s\"'])"
)
"""How files of `curl` and `ftp`, of keys, connection strings and settings hold one, which may stand in a variable."""

_read: dict[str, str] = {}
"""Keys that were read from the environment, and their variables."""


def looks_secret(name: str) -> bool:
    """Whether a setting or variable of this name holds a secret."""
    return _NAMES.search(name) is not None


def read_key(variable: str) -> str:
    """Return an environment variable's value, and remember it as a secret; empty if it is not set."""
    value = os.environ.get(variable, "").strip()
    if value:
        _read[value] = variable
    return value


def known_values() -> dict[str, str]:
    """Map the environment's secrets to their variables: those that were read, and those whose names suggest one."""
    named = {name: value.strip() for name, value in os.environ.items() if _NAMES_INSIDE.search(name)}
    named = {name: value for name, value in named.items() if not value.startswith(_PLACES)}
    known = {value: name for name, value in named.items()} | _read
    return {value: name for value, name in known.items() if len(value) >= SHORTEST}


def read_values() -> list[str]:
    """Return the values that were read as keys."""
    return [value for value in _read if len(value) >= SHORTEST]


class Key(NamedTuple):
    """A key in a text."""

    start: int
    end: int
    variable: str
    """The environment variable that it belongs in; empty if unknown."""


def betrays(variable: str, value: str, secrets: Iterable[str] = ()) -> bool:
    """Whether an environment variable is named like a key, or its value holds one.

    Of a path, or a list of paths, no part of a key counts, nor what looks random: a program is lost without its PATH.
    """
    secrets = list(secrets)
    if _VARIABLES.search(variable):
        number = value.isdecimal() and len(value) < SHORTEST and "tokens" in variable.lower()  # MAX_TOKENS
        return bool(value) and not number
    if value.startswith(_PLACES):
        return cleaned(value, [*known_values(), *secrets]) != value or any(_patterns_in(value, random=False))
    found = _HELD.search(value) or key_in(value) or keys_in(value, secrets)
    return bool(found) or value.strip() in secrets


def keys_in(text: str, secrets: Iterable[str] = (), *, random: bool = True) -> list[Key]:
    """Return where a text holds keys, or parts of known keys. They may overlap.

    Args:
        text: Any text.
        secrets: Known keys besides those in the environment.
        random: Whether a random-looking word counts as a key.
    """
    secrets = list(secrets)
    found = _keys_in(text, secrets, random=random)
    if _ESCAPED.search(text):
        plain, place_of = _unescaped(text)
        escaped = _keys_in(plain, secrets, random=random)
        found += [Key(place_of(key.start), place_of(key.end), key.variable) for key in escaped]
    return found


def _keys_in(text: str, secrets: Iterable[str], *, random: bool) -> list[Key]:
    found = []
    for value, variable in [*known_values().items(), *((secret, "") for secret in secrets if secret)]:
        for form in _forms(value):
            found += [Key(start, end, variable) for start, end in _parts(text, form)]
    return [*found, *_patterns_in(text, random=random)]


def _patterns_in(text: str, *, random: bool) -> list[Key]:
    """Return what looks like a key, whether or not it is known."""
    known = (match for match in _KNOWN.finditer(text) if _NO_WORDS.search(match[0]))
    found = [Key(*match.span(), _variable_of(match[0])) for match in known]
    found += [Key(*match.span(match.lastindex or 0), "") for match in _PASSED.finditer(text)]
    judged: list[tuple[re.Pattern[str], Callable[[str], bool]]] = [(_USER, _is_user), (_BARE_USER, bool)]
    for pattern, is_secret in [*judged, (_RANDOM, _is_random)] if random else judged:
        found += [Key(*match.span(), "") for match in pattern.finditer(text) if is_secret(match[0])]
    return found


_ESCAPED = re.compile(
    r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|&#[xX]([0-9a-fA-F]{1,5});|&#(\d{1,6});"
)
"""A character as JSON, Python, URLs and HTML write it by its number."""


def _unescaped(text: str) -> tuple[str, Callable[[int], int]]:
    """Return a text with its escaped characters decoded once, and a function from a place in it to that in the text."""
    escapes = list(_ESCAPED.finditer(text))
    longer = [0, *accumulate(len(each[0]) - 1 for each in escapes)]
    places = [each.start() - more for each, more in zip(escapes, longer, strict=False)]
    return _decoded(text), lambda place: place + longer[bisect_left(places, place)]


def _decoded(text: str) -> str:
    return _ESCAPED.sub(lambda each: chr(int(each[each.lastindex or 0], 10 if each[5] else 16)), text)


def scrubbed(text: str, secrets: Iterable[str] = (), *, random: bool = True) -> str:
    """Return a text without its keys; arguments as for `keys_in`. The user part of a URL is dropped without a mark."""
    kept, at = [], 0
    for key in sorted(keys_in(text, secrets, random=random)):
        if key.start > at:
            kept.append(text[at : key.start])
        if key.end > at:
            if text[key.end - 1] != "@" and not (kept and kept[-1] == REMOVED and key.start <= at):
                kept.append(REMOVED)
            at = key.end
    return "".join([*kept, text[at:]])


def cleaned(value: T, secrets: Iterable[str] | None = None) -> T:
    """Return what came from outside without some keys, by default those that were read; only whole keys are removed.

    All its texts are cleaned, wherever they are: in the fields of a dataclass, and in lists, tuples and mappings.
    """
    forms = forms_of(read_values() if secrets is None else secrets)
    found: T = _without(forms, value) if forms else value
    return found


def cleaned_json(content: bytes, secrets: Collection[str]) -> bytes:
    """Return JSON, or any other text, without some whole keys, also where its characters are written by numbers.

    What holds none of them is returned as it is.
    """
    forms = forms_of(secrets)
    text = content.decode("utf-8", "surrogateescape").replace("\0", "")  # which UTF-16 has between letters
    if not _holds(text, forms):
        return content
    try:
        text = json.dumps(_without(forms, json_of(content)))
    except ValueError:
        text = _without(forms, _decoded(text))
    return (json.dumps(REMOVED) if _holds(text, forms) else text).encode("utf-8", "surrogateescape")


def _holds(text: str, forms: Sequence[str]) -> bool:
    """Look a window at a time: one search through all of a large text would hold up every other thread."""
    more = 9 * max(map(len, forms), default=0)  # the most that one character's number takes
    windows = (text[at : at + _WINDOW + more] for at in range(0, len(text), _WINDOW))
    return any(form in each for one in windows for each in (one, _decoded(one)) for form in forms)


_WINDOW = 1 << 18


def _without(forms: Sequence[str], value: Any) -> Any:
    clean = partial(_without, forms)
    match value:
        case Enum():
            return value
        case str():
            for form in forms:
                value = value.replace(form, REMOVED)
            return value
        case Mapping():
            return {clean(key): clean(each) for key, each in value.items()}
        case list():
            return list(map(clean, value))
        case tuple():
            return tuple.__new__(type(value), map(clean, value))  # a named one, too
    if not is_dataclass(value) or isinstance(value, type):
        return value
    texts = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
    return replace(value, **{name: clean(each) for name, each in texts.items()})


def key_in(value: object) -> Key | None:
    """Return a key in a setting's value, however deeply nested, JSON included; None if it holds none."""
    for name, text in _texts(value):
        if name and _NAMES_INSIDE.search(name) and text:
            return Key(0, len(text), "")
        if found := keys_in(text):
            return max(found, key=lambda key: bool(key.variable))
    return None


def _texts(value: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Iterate over all strings in a value, each with its name inside it."""
    match value:
        case str():
            yield name, value
            if value.lstrip().startswith(("{", "[")):
                try:
                    inner = json.loads(value)
                except (ValueError, RecursionError):
                    return
                yield from _texts(inner, name)
        case Mapping():
            for key, each in value.items():
                yield "", str(key)
                yield from _texts(each, str(key))
        case list() | tuple():
            for each in value:
                yield from _texts(each, name)


def forms_of(secrets: Iterable[str]) -> list[str]:
    """Return all ways in which secrets may be written, the longest first; one like `none` is an ordinary word."""
    long = (each for each in secrets if len(each) >= SHORTEST)
    return sorted({form for each in long for form in _forms(each)}, key=len, reverse=True)


def _forms(value: str) -> set[str]:
    """Return the ways a secret may be written: as it is, without the word before it, in JSON, in a URL."""
    bare = value.rpartition(" ")[2]
    plain = {each for each in (value, bare) if len(each) >= SHORTEST} or {value}
    slashed = {json.dumps(each)[1:-1].replace("/", "\\/") for each in plain}
    return slashed | {form for each in plain for form in (each, json.dumps(each)[1:-1], quote(each, safe=""))}


def _parts(text: str, secret: str) -> Iterator[tuple[int, int]]:
    """Iterate over the places of a secret in a text, or of a part that is long enough and not an ordinary word."""
    if len(secret) < 3:  # removing one or two letters would leave nothing of the text
        return
    size = SHORTEST
    grams = {secret[at : at + size] for at in range(len(secret) - size + 1)}
    telling = sorted(gram for gram in grams if re.search(r"\d|[a-z][A-Z]|[A-Z][a-z].*[A-Z]", gram))
    bound = r"(?<!\w)%s(?!\w)" if len(secret) < size else "%s"  # "key" is no part of "monkey"
    first = re.compile("|".join(bound % re.escape(each) for each in (secret, *telling)))
    at = 0
    while match := first.search(text, at):
        start, end = match.span()
        while end < len(text) and text[end - size + 1 : end + 1] in grams:
            end += 1
        while start > at and text[start - 1 : start - 1 + size] in grams:
            start -= 1
        yield start, end
        at = end


def _variable_of(key: str) -> str:
    return next((name for pattern, name in _FORMATS.items() if re.fullmatch(pattern, key)), "")


def _is_user(text: str) -> bool:
    """Whether the text between `//` and `@` is a user, perhaps with a password, rather than a host with a path."""
    host, slash, _ = text[:-1].partition("/")
    return not slash or (":" in host and not host.rpartition(":")[2].isdecimal())


def _is_random(word: str) -> bool:
    digits = sum(map(str.isdecimal, word))
    if digits < 2 or len(word) - digits < 2 or _DIGEST.fullmatch(word):
        return False
    shares = (count / len(word) for count in Counter(word).values())
    return -sum(share * math.log2(share) for share in shares) >= _BITS
