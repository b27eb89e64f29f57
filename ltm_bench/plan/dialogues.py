"""Suites of public sets: `locomo`, `longmemeval-s`, …; and the same in one conversation."""

import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.seeds import Seed
from ltm_bench.datasets.public import Chosen, choose, public_set, public_sets
from ltm_bench.plan.suites import Suite

WOVEN = "-woven"
"""The suffix of suites that interleave sessions with filler."""

_MODES = {"": "", WOVEN: "; in one conversation, with filler between"}

_START = datetime(2020, 1, 1, 9, tzinfo=UTC)
"""Earlier than any session of any set, so that the clock can show their dates."""


class DialogueSuite(Suite):
    """The suite of a public set."""

    questions: int
    """The number of questions that are asked."""
    all_examples: int
    """The number of examples if every question of the set were asked."""
    all_questions: int

    def usual(self, scenario: str) -> tuple[int, dict[str, Any]]:
        """Return the examples and the parameters of the whole set."""
        return self.all_examples, self.parameters(scenario) | {"chosen": ""}

    def alone(self) -> Suite:
        """Return the suite with an example for each question, for which its history is told again."""
        each = {"examples": self.questions, "alone": True}
        rows = {name: row | each for name, row in self.scenarios.items()}
        return self.model_copy(update={"scenarios": rows, "all_examples": self.all_questions})


def dialogue_suites() -> Mapping[str, str]:
    """Return the names of these suites, each with a one-line description."""
    return {
        name + mode: f"{each.about}{how}"
        for name, each in public_sets().items()
        for mode, how in _MODES.items()
    }


def dialogue_suite(name: str, data: str | None, most: int | None, seed: Seed) -> DialogueSuite | None:
    """Return such a suite; None for any other name.

    Args:
        name: The suite's name.
        data: The set's file or folder; None for where `datasets fetch` puts it.
        most: Number of questions; None for all.
        seed: Selects the questions.

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
    return DialogueSuite(
        about=dialogue_suites()[name],
        start=_START,
        isolated=not name.endswith(WOVEN),
        public=True,
        questions=chosen.total,
        all_examples=chosen.all_histories,
        all_questions=chosen.all_questions,
        scenarios={
            base: {
                "scenario": "dialogue",
                "set": base,
                "data": str(path),
                "scorer": "official",
                "chosen": " ".join(chosen.questions),
                "examples": chosen.histories,
            }
        },
    )


@cache  # the agents of a sweep are asked the same
def _chosen(name: str, path: Path, most: int | None, seed: Seed) -> Chosen:
    def complain(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    return choose(public_set(name), path, most, seed, complain)
