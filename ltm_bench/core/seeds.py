"""Seeds: an integer is a test seed, which scores are about; `train:17` is a training seed, with streams of its own.

Whoever trains an agent on training seeds has seen no conversation of a test seed.
"""

import re
from collections.abc import Sequence

from ltm_bench.core.errors import ConfigError

TRAINING = "train:"
"""What a training seed begins with."""

_FORM = r"train:(0|[1-9][0-9]{0,14})"

MOST = 100_000
"""Seeds of a sweep."""

Seed = int | str
"""A test seed, or a training seed."""


def parse_seed(given: int | str) -> Seed:
    """Return a seed as it is typed. Raises ValueError."""
    text = str(given).strip()
    if re.fullmatch(_FORM, text, re.ASCII):
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError("write a whole number, or train:17 for a training seed") from None


def parse_seeds(given: Sequence[int | str]) -> list[Seed]:
    """Return seeds as they are typed, and all in a range: `0..99`, `train:0..99`. Raises ConfigError."""
    found: list[Seed] = []
    for each in given:
        first, dots, last = str(each).partition("..")
        seed = checked_seed(first)
        count = number_of(checked_seed(last)) - number_of(seed) + 1 if dots else 1
        if not 0 < count <= MOST - len(found):
            raise ConfigError(
                f"--seed {each!s:.60}: write a range as 0..99, the smaller seed first, for at most {MOST:,} seeds"
            )
        found += seeds_from(seed, count)
    return found


def checked_seed(given: int | str) -> Seed:
    """Return a seed as it is typed. Raises ConfigError."""
    try:
        return parse_seed(given)
    except ValueError as error:
        raise ConfigError(f"--seed {given}: {error}") from None


def spell_seed(seed: Seed) -> str:
    """Return a seed as part of a folder's name."""
    # Not as other words of a name, which lose a minus: seed -1 landed in the folder of seed 1, and was refused there.
    return str(seed).replace(":", "-")


def is_training(seed: Seed) -> bool:
    """Whether it is a training seed."""
    return isinstance(seed, str)


def number_of(seed: Seed) -> int:
    """Return a seed's number within its namespace: 17 for `train:17`."""
    return int(seed.removeprefix(TRAINING)) if isinstance(seed, str) else seed


def numbered(seed: Seed, number: int) -> Seed:
    """Return the seed with this number in the namespace of another."""
    return f"{TRAINING}{number}" if isinstance(seed, str) else number


def seeds_from(seed: Seed, count: int) -> list[Seed]:
    """Return this many seeds, from one on."""
    return [numbered(seed, number_of(seed) + more) for more in range(count)]
