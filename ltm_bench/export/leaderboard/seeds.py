"""Draws seeds after an agent was submitted, so that it cannot have been prepared for them.

The keeper of a board draws a seed for a bundle's agent. The adapter's content and its settings are recorded with the
seed and the day; a run counts as drawn if all of them match, and if it did not start before that day.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.seeds import Seed
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.plan.tables import read_toml

DRAWN = "drawn.toml"
"""The file beside the bundles that records which seed was drawn for which agent, and when."""

HIGHEST = 2**31


class DrawnSeed(BaseModel, frozen=True, extra="forbid"):
    """A seed that was drawn for an agent."""

    agent: str
    """Its name, for readers."""
    handed_in: str = Field(pattern="^[0-9a-f]{64}$")
    """The agent's identity: see `identity`."""
    seed: int = Field(ge=0, lt=HIGHEST)
    on: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    """The day, in UTC."""

    @property
    def toml(self) -> str:
        """The draw as a table of `DRAWN`; texts are written as JSON, which TOML reads."""
        lines = [f"{name} = {json.dumps(value)}" for name, value in self.model_dump().items()]
        return "\n".join(["[[drawn]]", *lines]) + "\n"


def identity(agent: AgentEntry) -> str:
    """Return a hash of an agent's identity: its adapter, the adapter's content, and its settings."""
    content = [agent.adapter, agent.hash, agent.settings]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def draws(folder: Path) -> Mapping[tuple[str, Seed], DrawnSeed]:
    """Return what was drawn, by agent and seed; nothing if the folder has no such file. Raises ConfigError."""
    path = folder / DRAWN
    if not path.exists():
        return {}
    found: dict[tuple[str, Seed], DrawnSeed] = {}
    rows = read_toml(path).get("drawn", [])
    for number, row in enumerate(rows if isinstance(rows, list) else [rows], start=1):
        try:
            draw = DrawnSeed.model_validate(row)
        except ValidationError as error:
            problem = error.errors()[0]
            where = ".".join(map(str, problem["loc"]))
            raise ConfigError(f"{path}: drawn {number}: {where}: {problem['msg']}") from error
        found[draw.handed_in, draw.seed] = draw
    return found
