"""What is known of adapters besides their code: how each was last tried, and how its product is started and used."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, Literal

from ltm_bench.plugins.files import bundled


@dataclass(frozen=True, kw_only=True)
class Driven:
    """What is known of a built-in adapter; agents/driven.toml explains the fields."""

    how: Literal["real", "stand-in"]
    product: str
    date: date
    package: str = ""
    version: str = ""
    model: str = ""
    note: str = ""
    users: Literal["apart", "together", "by settings"] = "together"
    extras: Sequence[str] = ()
    module: str = ""
    keeps: str = ""
    runs: str = ""
    environment: str = ""
    counts: str = ""
    start: Sequence[str] = ()
    can: Sequence[Mapping[str, str]] = ()
    group: Mapping[str, Any] = field(default_factory=dict)

    @property
    def what(self) -> str:
        """The product and its version."""
        return f"{self.product} {self.version}".strip()

    def __str__(self) -> str:
        """Return it in a few words: `real: mem0ai 2.2.1, 2026-11-22`."""
        return f"{self.how}: {self.what}, {self.date.isoformat()}"


@cache
def driven() -> dict[str, Driven]:
    """Return what is known of adapters, by name; those that drive no product are left out."""
    text = (bundled("agents") / "driven.toml").read_text("utf-8")
    return {name: Driven(**table) for name, table in tomllib.loads(text).items()}
