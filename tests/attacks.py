"""What a command owes whoever attacks it: an ordinary code, one line of complaint, none of Python's own words."""

import random
import re
from collections.abc import Sequence

CODES = (0, 1, 2, 3, 4)
"""The codes that `--help` names, but for an interruption."""
PYTHON = re.compile(
    r"Traceback|\bbug\b|was read last|object has no attribute|unsupported operand|not subscriptable"
    r"|argument of type|takes \d+ positional|\bNoneType\b|list indices|invalid literal for|\[Errno"
    r"|\b(?:Type|Key|Index|Attribute|Recursion|Assertion|UnicodeDecode|UnicodeEncode|Overflow|Memory|Zero\w+)Error\b"
)
"""What only an error that nobody thought of says."""


def complaint(code: int, out: str, err: str, given: str = "") -> str:
    """Return what a command owes and has not done; empty if it held."""
    if code not in CODES:
        return f"code {code}: {err[-200:]!r}"
    for line in (out + "\n" + err).splitlines():
        if (found := PYTHON.search(line)) and found.group() not in given:
            return f"{found.group()}: {line[:300]!r}"
    if "\x1b" in out + err:
        return f"an escape reaches the terminal: {(out + err)[:200]!r}"
    if code == 1 and not err.strip():
        return "failed without a word"
    return ""


def some(seed: object, values: Sequence[str]) -> random.Random:
    """Return dice for one case."""
    return random.Random(f"{seed} {'|'.join(values)}")
