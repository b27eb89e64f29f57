"""Agents are made from settings, which are checked before anything else happens."""

from pathlib import Path
from typing import Any

import pytest

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError
from ltm_bench.plugins.agents import make_agent

ADAPTER = '''"""Mine: has a setting of every kind."""
from pathlib import Path
from typing import Literal
from ltm_bench import Agent, Message, Reply


class Mine(Agent):
    def __init__(
        self,
        *,
        name: str = "x",
        many: int = 3,
        share: float = 0.5,
        loud: bool = False,
        limit: int | None = None,
        level: Literal["low", "high"] = "low",
        items: list[str] | None = None,
        where: Path = Path("."),
        other=None,
    ) -> None:
        self.values = (name, many, share, loud, limit, level, items, where, other)
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "scenarios"):
        (tmp_path / folder).mkdir()
    return tmp_path


def made(settings: dict[str, Any]) -> Any:
    return make_agent("mine", settings)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("name", ["", "x"], [3, 0.5, True, ["x"]]),
        ("many", [0, -3], ["3", 0.5, True]),
        ("share", [1, 0.25], ["0.5", False]),
        ("loud", [True, False], [1, "yes"]),
        ("limit", [None, 3], ["3", 0.5]),
        ("level", ["low", "high"], ["middle", 3]),
        ("items", [None, ["x"], []], ["x", [3]]),
        ("where", ["a/b"], [3]),
        ("other", [3, "x", None, {"a": 1}], []),
    ],
)
def test_a_setting_has_the_type_that_the_adapter_declares(
    place: Path, name: str, good: list[object], bad: list[object]
) -> None:
    path = place / "agents" / "mine.py"
    path.write_text(ADAPTER, "utf-8")
    for value in good:
        assert value in made({name: value}).values
    for value in bad:
        with pytest.raises(ConfigError, match=f"agent mine: {name}=.*: this setting must be "):
            make_agent("mine", {name: value})


def test_types_known_only_to_type_checkers_are_not_checked(place: Path) -> None:
    (place / "agents" / "mine.py").write_text(
        '"""Mine."""\nfrom __future__ import annotations\nfrom ltm_bench import Agent\n'
        "class Mine(Agent):\n    def __init__(self, *, x: Unknown = 3) -> None: self.x = x\n",
        "utf-8",
    )
    assert made({"x": "y"}).x == "y"


@pytest.mark.parametrize("name", ["api_key", "key", "OPENAI_TOKEN", "password", "client_secret", "keys"])
def test_a_secret_is_refused_and_not_repeated(place: Path, name: str) -> None:
    (place / "agents" / "mine.py").write_text(ADAPTER, "utf-8")
    with pytest.raises(ConfigError, match="looks like a secret") as raised:
        make_agent("mine", {name: "hush-hush"})
    assert "hush" not in str(raised.value)


def test_the_expected_type_of_a_setting_is_described_in_plain_words(place: Path) -> None:
    (place / "agents" / "mine.py").write_text(ADAPTER, "utf-8")
    for settings, said in (
        ({"many": "3"}, "agent mine: many='3': this setting must be a whole number"),
        ({"limit": 0.5}, "agent mine: limit=0.5: this setting must be a whole number"),
        ({"name": 3}, "agent mine: name=3: this setting must be a text; write -A 'name=\"3\"'"),
        ({"loud": 1}, "agent mine: loud=1: this setting must be true or false"),
        ({"level": "middle"}, "agent mine: level='middle': this setting must be 'low' or 'high'"),
        ({"share": float("inf")}, "agent mine: share=inf: this setting must be a finite number"),
        ({"manny": 3}, "agent mine: no setting 'manny'; did you mean 'many'?"),
    ):
        with pytest.raises(ConfigError) as raised:
            make_agent("mine", settings)
        assert str(raised.value).startswith(said)


def test_a_type_that_pydantic_does_not_know_is_not_checked(place: Path) -> None:
    (place / "agents" / "mine.py").write_text(
        '"""Mine."""\nfrom ltm_bench import Agent\nclass Own: ...\n'
        "class Mine(Agent):\n    def __init__(self, *, x: Own | int = 3) -> None: self.x = x\n",
        "utf-8",
    )
    assert made({"x": "y"}).x == "y"


@pytest.mark.parametrize(
    ("fact", "wanted"),
    [
        ("forks = None", "its forks is None; declare it as 'no' or 'snapshot' or 'barrier'"),
        ("forks = True", "its forks is True"),
        ("forks = 'yes'", "its forks is 'yes'"),
        ("observes = None", "its observes is None; declare it as bool"),
        ("free = 'no'", "its free is 'no'"),
        ("uses = '3'", "its uses is '3'; declare it as int or NoneType"),
        ("max_bytes = None", "its max_bytes is None; declare it as int"),
        ("connections = 3", "its connections is 3; declare it as str"),
    ],
)
def test_a_fact_that_an_adapter_cannot_mean_is_refused_before_anything_is_asked(
    place: Path, fact: str, wanted: str
) -> None:
    (place / "agents" / "mine.py").write_text(
        f'"""Mine."""\nfrom ltm_bench import Agent\nclass Mine(Agent):\n    {fact}\n', "utf-8"
    )
    with pytest.raises(ConfigError) as refused:
        made({})
    assert str(refused.value).startswith(f"agent mine: {wanted}")


def test_every_fact_that_the_base_class_states_can_be_declared(place: Path) -> None:
    facts = "".join(f"    {name} = {getattr(Agent, name, 'x')!r}\n" for name in Agent.__annotations__)
    (place / "agents" / "mine.py").write_text(
        f'"""Mine."""\nfrom ltm_bench import Agent\nclass Mine(Agent):\n{facts}    uses = 3\n', "utf-8"
    )
    assert made({}).uses == 3
