"""The suite `swim` about documents of a user's own: which tasks fit, and how many examples ask all of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.datasets.swim.arranging import Kept, keep
from ltm_bench.datasets.swim.documents import read_documents
from ltm_bench.datasets.swim.tasks import read_tasks
from ltm_bench.script.deliveries import room

TESTS = ("position", "size", "absent", "voting", "control")
"""The rows of the suite `swim`."""

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The default depths and shares."""

RUNS = 5
"""Conversations per question of voting and control, if the suite does not say."""


class Own(NamedTuple):
    """What a row asks about documents of a user's own."""

    kept: Kept
    variants: int
    """Examples of each question."""

    @property
    def examples(self) -> int:
        """The number of examples that ask all questions."""
        return len(self.kept.tasks) * self.variants


def own(parameters: Mapping[str, Any], span: int) -> Own:
    """Return what a row asks about a user's own documents. Raises ValueError if no task fits."""
    tasks = Path(parameters["tasks"])
    kept = keep(read_documents(str(parameters["data"])), read_tasks(tasks), room(span))
    if not kept.tasks:
        raise ValueError(f"{tasks}: no task fits a span of {span:,}; choose a larger one")
    test, runs = parameters.get("test", TESTS[0]), int(parameters.get("runs", RUNS))
    places = {"position": parameters.get("depths", DEPTHS), "size": parameters.get("shares", DEPTHS)}
    return Own(kept, 1 if test == "absent" else len(places.get(test, range(runs))))
