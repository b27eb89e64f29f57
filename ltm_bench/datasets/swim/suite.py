"""The tests of SWiM, as rows of the suite `swim` and parameters of its scenario."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError

TESTS = ("position", "size", "absent", "voting", "control")
"""The rows of the suite `swim`."""

DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The default depths and shares."""


class Tests(NamedTuple):
    """Which tests are run, and how."""

    names: Sequence[str]
    depths: Sequence[float]
    """The positions of the answer's document, from 0 to 1."""
    shares: Sequence[float]
    """The shares of the span that other documents take, from 0 to 1."""
    runs: int
    """Conversations per question of voting and control."""
    delivery: str
    control: float
    """The depth of the control."""

    def check(self) -> None:
        """Raise ConfigError for a test that does not exist."""
        for name in self.names:
            if name not in TESTS:
                raise ConfigError(f"--test {name}: must be one of {', '.join(TESTS)}")

    def parameters(self, tasks: Path, documents: Path, questions: int) -> dict[str, dict[str, Any]]:
        """Return the parameters of each row for a number of questions."""
        variants = {"position": len(self.depths), "size": len(self.shares), "absent": 1}
        return {
            name: {
                "tasks": str(tasks),
                "data": str(documents),
                "depths": [self.control] if name == "control" else list(self.depths),
                "shares": list(self.shares),
                "runs": self.runs,
                "delivery": self.delivery,
                "examples": questions * variants.get(name, self.runs),
            }
            for name in self.names
        }
