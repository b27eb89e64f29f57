"""Damages files and JSON values by dice."""

import contextlib
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

DEEP = 3_000

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**53, 2**63, 2**64, 10**300, 10**400, -(10**400), 0.5, -0.0, 1e308, float("inf"),
    float("nan"), "", "x", "\ud800", "\x00\x1b[2J", "9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-23:00",
    "0001-01-01T00:00:00+14:00", "2026-01-05T09:00:00", "2026-13-45", "1e999", "a/b/0", "colours/0", "../../etc",
    [], [[]], [None], [[1, 2], [3]], {}, {"": ""}, {"matcher": []}, {"matcher": "Names", "version": 10**30}, "[" * 50,
    "x" * 100_000,
)  # fmt: skip
"""Replacements for a value."""

_DEEP = "\ue000deep\ue000"
"""Stands for something nested deeply."""


def replaced(dice: random.Random, value: Any) -> Any:
    """Return a JSON value with one of its values replaced."""
    places: list[tuple[Any, Any]] = []

    def walk(each: Any) -> None:
        if isinstance(each, dict | list):
            for key in each if isinstance(each, dict) else range(len(each)):
                places.append((each, key))
                walk(each[key])

    walk(value)
    if not places:
        return dice.choice(VALUES)
    holder, key = dice.choice(places)
    if dice.random() < 0.15 and isinstance(holder, dict):
        del holder[key]
    elif dice.random() < 0.15:
        holder[key] = _DEEP
    else:
        holder[key] = dice.choice(VALUES)
    return value


def dumped(dice: random.Random, value: Any) -> bytes:
    """Return JSON in which the placeholder for depth is expanded, which json itself could not write."""
    with _no_limit():
        text = json.dumps(value)
    opening = dice.choice(("[", '{"besides":[', '{"a":'))
    closing = {"[": "]", '{"besides":[': "]}", '{"a":': "}"}[opening]
    depth = dice.choice((50, 150, DEEP))
    return text.replace(json.dumps(_DEEP), opening * depth + "1" + closing * depth).encode("utf-8", "replace")


@contextlib.contextmanager
def _no_limit() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(before)


def changed(dice: random.Random, content: bytes) -> tuple[str, bytes]:
    """Damage a file; return a description and the file."""
    match dice.randrange(8):
        case 0:
            return "cut", content[: dice.randrange(len(content) + 1)]
        case 1:
            changed = bytearray(content or b"x")
            for _ in range(dice.choice((1, 3, 40))):
                changed[dice.randrange(len(changed))] = dice.randrange(256)
            return "bytes changed", bytes(changed)
        case 2:
            return "nonsense", dice.randbytes(dice.choice((0, 1, 300)))
        case 3:
            return "deep", dice.choice((b"[", b'{"a":', b'[{"b":')) * DEEP
        case 4:
            lines = content.splitlines(keepends=True) or [b""]
            for _ in range(dice.randrange(1, 4)):
                lines.insert(dice.randrange(len(lines) + 1), lines[dice.randrange(len(lines))])
            return "lines doubled", b"".join(lines)
        case _:
            lines = content.splitlines(keepends=True)
            jsonl = len(lines) > 1 and content.startswith(b'{"')
            n = dice.randrange(len(lines)) if lines and jsonl else 0
            part = lines[n] if jsonl else content
            try:
                part = dumped(dice, replaced(dice, json.loads(part)))
            except ValueError:
                return "nothing", content
            if not jsonl:
                return "a value replaced", part
            lines[n] = part + b"\n"
            return "a value replaced", b"".join(lines)
