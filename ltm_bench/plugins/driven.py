"""How adapters were last tried: with which product and version, for real or against a stand-in, and when."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Literal

from ltm_bench.plugins.files import bundled


@dataclass(frozen=True, kw_only=True)
class Driven:
    """How a built-in adapter was last tried; agents/driven.toml explains the fields."""

    how: Literal["real", "stand-in"]
    product: str
    date: date
    package: str = ""
    version: str = ""
    model: str = ""
    note: str = ""
    users: Literal["apart", "together", "by settings"] = "together"

    @property
    def what(self) -> str:
        """The product and its version."""
        return f"{self.product} {self.version}".strip()

    def __str__(self) -> str:
        """Return it in a few words: `real: mem0ai 2.2.1, 2026-11-22`."""
        return f"{self.how}: {self.what}, {self.date.isoformat()}"


@cache
def driven() -> dict[str, Driven]:
    """Return how adapters were tried, by name; those that drive no product are left out."""
    text = (bundled("agents") / "driven.toml").read_text("utf-8")
    return {name: Driven(**table) for name, table in tomllib.loads(text).items()}
