"""Suites of public sets: `locomo`, `longmemeval-s`, …; and the same in one conversation."""

import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.seeds import Seed
from ltm_bench.datasets.public import Chosen, choose, public_set, public_sets
from ltm_bench.plan.suites import Suite

WOVEN = "-woven"
"""The suffix of suites that interleave sessions with filler."""

_MODES = {"": "", WOVEN: "; in one conversation, with filler between"}

_START = datetime(2020, 1, 1, 9, tzinfo=UTC)
"""Earlier than any session of any set, so that the clock can show their dates."""


def dialogue_suites() -> Mapping[str, str]:
    """Return the names of these suites, each with a one-line description."""
    return {
        name + mode: f"{each.about}{how}"
        for name, each in public_sets().items()
        for mode, how in _MODES.items()
    }


def dialogue_suite(name: str, data: str | None, most: int | None, seed: Seed, alone: bool) -> Suite | None:
    """Return such a suite; None for any other name.

    Args:
        name: The suite's name.
        data: The set's file or folder; None for where `datasets fetch` puts it.
        most: Number of questions; None for all.
        seed: Selects the questions.
        alone: Whether a history is an example once for each of its questions.

    Raises:
        ConfigError: The data is missing or cannot be read.
    """
    if name not in dialogue_suites():
        return None
    base = name.removesuffix(WOVEN)
    each = public_set(base)
    path = Path(data) if data is not None else each.place
    if not path.exists():
        gets = f"fetch {base}` downloads it" if each.fetched else f"show {base}` says where to get it"
        raise ConfigError(
            f"--suite {name}: {'there is no ' + str(path) if data else 'name its data with --data'}; "
            f"`ltm-bench datasets {gets}"
        )
    chosen = _chosen(base, path, most, seed)
    return Suite(
        about=dialogue_suites()[name],
        start=_START,
        isolated=not name.endswith(WOVEN),
        public=True,
        scenarios={
            base: {
                "scenario": "dialogue",
                "set": base,
                "data": str(path),
                "scorer": "official",
                "chosen": " ".join(chosen.questions),
                "examples": chosen.total if alone else chosen.histories,
                **({"alone": True} if alone else {}),
            }
        },
    )


@cache
def _chosen(name: str, path: Path, most: int | None, seed: Seed) -> Chosen:
    def complain(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    return choose(public_set(name), path, most, seed, complain)
