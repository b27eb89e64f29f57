"""What a run needs from a cluster's node: CPUs, GPUs, memory, and custom resources."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ltm_bench.core.errors import ConfigError, first_problem, nearest


class Resources(BaseModel):
    """What a run of an agent needs from a node, in Ray's terms."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_cpus: float = Field(default=1, ge=0, allow_inf_nan=False)
    num_gpus: float = Field(default=0, ge=0, allow_inf_nan=False)
    memory: int = Field(default=0, ge=0)
    """In bytes."""
    custom: dict[str, float] = Field(default_factory=dict)
    """Custom resources of the cluster."""

    @field_validator("num_cpus", "num_gpus")
    @classmethod
    def _whole_above_one(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError("above 1, Ray accepts only whole numbers")
        return value

    def asked(self) -> dict[str, float]:
        """Return the needs by the names that nodes report."""
        named = {"CPU": self.num_cpus, "GPU": self.num_gpus, "memory": float(self.memory), **self.custom}
        return {name: amount for name, amount in named.items() if amount}

    def options(self) -> dict[str, Any]:
        """Return the options of a Ray task."""
        given: dict[str, Any] = {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus}
        if self.memory:
            given["memory"] = self.memory
        if self.custom:
            given["resources"] = dict(self.custom)
        return given


EVERYBODY = "*"
"""The name of the table of defaults for all agents."""


def read_resources(text: str) -> Resources:
    """Parse `num_cpus=1,num_gpus=0.5`. Raises ConfigError."""
    values: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or key not in Resources.model_fields or key == "custom":
            known = [name for name in Resources.model_fields if name != "custom"]
            raise ConfigError(
                f"--resources {text}: write it as num_cpus=1,num_gpus=0.5{nearest(key, known)} "
                f"(known: {', '.join(known)}; custom ones go into the file)"
            )
        values[key] = value
    try:
        return Resources.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"--resources {text}: {first_problem(error)}") from error


def resources_of(agent: str, tables: Mapping[str, Resources]) -> Resources:
    """Return what a run of an agent needs: its own table, completed from the defaults."""
    merged: dict[str, Any] = {}
    for table in (tables.get(EVERYBODY), tables.get(agent)):
        if table is not None:
            merged |= table.model_dump(exclude_unset=True)
    return Resources.model_validate(merged)


def fits(resources: Resources, nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether one of the nodes is large enough."""
    asked = resources.asked().items()
    alive = [node.get("Resources", {}) for node in nodes if node.get("Alive")]
    return any(all(has.get(name, 0) >= amount for name, amount in asked) for has in alive)
