"""The tests of SWiM as rows of the suite `swim`: what is asked of documents, as parameters of its scenario."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import ConfigError

TESTS = ("position", "size", "absent", "voting", "control")
"""The rows of the suite `swim`."""

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Depths and shares where none are given."""


class Tests(NamedTuple):
    """What is asked of documents."""

    names: Sequence[str]
    depths: Sequence[float]
    """Where the answer's document stands, from 0 to 1."""
    shares: Sequence[float]
    """How much of the span other documents take, from 0 to 1."""
    runs: int
    """Conversations per question of voting and control."""
    delivery: str
    control: float
    """The depth of the control."""

    def check(self) -> None:
        """Raise ConfigError for a test that does not exist."""
        for name in self.names:
            if name not in TESTS:
                raise ConfigError(f"--test {name}: it is one of {', '.join(TESTS)}")

    def parameters(self, tasks: Path, documents: Path, questions: int) -> list[str]:
        """Return what to set for so many questions, as `test.key=value`."""
        variants = {"position": len(self.depths), "size": len(self.shares), "absent": 1}
        return [
            f"{name}.{key}={json.dumps(value)}"
            for name in self.names
            for key, value in {
                "tasks": str(tasks),
                "data": str(documents),
                "depths": [self.control] if name == "control" else list(self.depths),
                "shares": list(self.shares),
                "runs": self.runs,
                "delivery": self.delivery,
                "examples": questions * variants.get(name, self.runs),
            }.items()
        ]
