"""Settings that an adapter inherits are declared once, and checked as if they were its own."""

import inspect
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.adapters.settings import Inheriting
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.plugins.agents import make_agent


class Base(Inheriting, Agent):
    def __init__(self, place: str, *, size: int = 3, speed: float = 1.0, inner: str) -> None:
        self.said = (place, size, speed, inner)


class Ours(Base):
    lacks_settings = frozenset({"inner"})

    def __init__(self, *, speed: float = 2.0, colour: str = "red", **settings: Any) -> None:
        super().__init__("here", speed=speed, inner="x", **settings)
        self.colour = colour


class Smaller(Ours):
    lacks_settings = frozenset({"size"})


class Alone(Ours):
    def __init__(self, *, only: bool = False) -> None:
        super().__init__()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Base, {"size": 3, "speed": 1.0, "inner": inspect.Parameter.empty}),
        (Ours, {"size": 3, "speed": 2.0, "colour": "red"}),
        (Smaller, {"speed": 2.0, "colour": "red"}),
        (Alone, {"only": False}),
    ],
)
def test_a_class_has_its_own_settings_and_those_of_its_base(
    kind: type[Agent], settings: dict[str, Any]
) -> None:
    found = inspect.signature(kind).parameters
    assert {name: each.default for name, each in found.items()} == settings


def test_an_inherited_setting_has_the_type_of_the_base() -> None:
    assert inspect.signature(Ours).parameters["size"].annotation is int
    assert Ours(size=5).said == ("here", 5, 2.0, "x")


ADAPTER = """
from __future__ import annotations
from typing import TYPE_CHECKING, Any
from ltm_bench.adapters import ServedProduct
if TYPE_CHECKING:
    from nowhere import Colour

class Fiction(ServedProduct):
    vendor_url = "https://fiction.example/"

    def __init__(self, *, depth: int = 1, {more}**settings: Any) -> None:
        super().__init__(**settings)
"""


def made(folder: Path, more: str = "", **settings: object) -> Agent:
    path = folder / "fiction.py"
    path.write_text(ADAPTER.replace("{more}", more), "utf-8")
    return make_agent(str(path), {"core": "openai:m", "base_url": "http://127.0.0.1:9", **settings})


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"memoris": 3}, "no setting 'memoris'; did you mean 'memories'? (it has: core, memories, recent, window, "),
        ({"memories": "many"}, "memories='many': this setting must be a whole number"),
        ({"memories": 0}, "fiction: memories = 0, but at least 1 is needed"),
        ({"depth": 1.5}, "depth=1.5: this setting must be a whole number"),
    ],
)  # fmt: skip
def test_a_wrong_inherited_setting_is_named(
    tmp_path: Path, key: str, settings: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ConfigError) as raised:
        made(tmp_path, **settings)
    assert complaint in str(raised.value)


def test_a_required_inherited_setting_is_asked_for(tmp_path: Path, key: str) -> None:
    made(tmp_path)
    with pytest.raises(ConfigError, match=r"the setting 'core' is required; add -A core=…"):
        make_agent(str(tmp_path / "fiction.py"), {})


def test_a_type_that_only_type_checkers_know_spoils_nothing(tmp_path: Path, key: str) -> None:
    assert made(tmp_path, "colour: Colour = None, ", depth=2, colour="red") is not None
