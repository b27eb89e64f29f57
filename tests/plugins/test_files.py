"""Files that are dropped into scenarios/ and agents/: found by their stem, loaded by their path."""

import asyncio
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, DropInError
from ltm_bench.core.messages import Message
from ltm_bench.plugins import agents
from ltm_bench.plugins import files as dropins

ADAPTER = '''"""Mine: has a setting of every kind."""
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
        other=None,
    ) -> None:
        self.values = (name, many, share, loud, limit, level, items, other)
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "scenarios"):
        (tmp_path / folder).mkdir()
    return tmp_path


def test_the_folder_in_which_one_stands_is_looked_up_too(place: Path) -> None:
    (place / "agents" / "mine.py").write_text(ADAPTER, "utf-8")
    (place / "agents" / "_helper.py").write_text("", "utf-8")
    (place / "agents" / ".hidden.py").write_text("", "utf-8")
    found = dropins.catalogue("agents")
    assert found["mine"] == place / "agents" / "mine.py"
    assert {"perfect", "goldfish", "vector_memory"} <= set(found)
    assert not {"_helper", ".hidden"} & set(found)


def test_listing_executes_nothing(place: Path) -> None:
    (place / "agents" / "mine.py").write_text('"""Mine: fails.\n\nMore."""\nraise SystemExit\n', "utf-8")
    (place / "agents" / "broken.py").write_text("def x(:", "utf-8")
    found = dropins.catalogue("agents")
    assert dropins.summary(found["mine"]) == "Mine: fails."
    assert dropins.summary(found["broken"]) == "(cannot be parsed)"


def test_a_name_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(DropInError, match=r"no scenario is called 'color'; did you mean 'colours'\?"):
        dropins.find("scenarios", "color")
    with pytest.raises(DropInError, match=r"nowhere\.py: there is no such file"):
        dropins.find("agents", "nowhere.py")


def test_a_hash_is_the_same_whatever_the_line_endings(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a\nb\n")
    other.write_bytes(b"a\r\nb\r\n")
    assert dropins.content_hash(one) == dropins.content_hash(other)
    other.write_bytes(b"a\nc\n")
    assert dropins.content_hash(one) != dropins.content_hash(other)


def test_a_file_that_fails_leaves_no_module_behind(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("1 / 0", "utf-8")
    with pytest.raises(DropInError, match=r"mine\.py:1: ZeroDivisionError"):
        dropins.load(path)
    assert not [name for name in sys.modules if name.endswith("agents.mine")]
    path.write_text(ADAPTER, "utf-8")
    assert dropins.load(path) is dropins.load(path)


def test_an_error_is_blamed_on_the_file_that_it_came_through(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("def fail(give):\n    give()\n", "utf-8")
    fail = dropins.load(path).fail

    def give() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError) as raised:
        fail(give)
    assert str(dropins.blame(raised.value)) == f"{path}:2: LookupError: gone"
    with pytest.raises(LookupError) as raised:
        give()
    assert dropins.blame(raised.value) is None


def made(settings: dict[str, Any]) -> Any:
    return agents.make_agent("mine", settings)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("name", ["", "x"], [3, 0.5, True, ["x"]]),
        ("many", [0, -3], ["3", 0.5, True]),
        ("share", [1, 0.25], ["0.5", False]),
        ("loud", [True, False], [1, "yes"]),
        ("limit", [None, 3], ["3", 0.5]),
        ("level", ["low", "high"], ["middle", 3]),
        ("items", [None, ["x"], []], []),
        ("other", [3, "x", None, {"a": 1}], []),
    ],
)
def test_a_setting_has_the_type_that_the_adapter_says(
    place: Path, name: str, good: list[object], bad: list[object]
) -> None:
    path = place / "agents" / "mine.py"
    path.write_text(ADAPTER, "utf-8")
    for value in good:
        assert value in made({name: value}).values
    for value in bad:
        with pytest.raises(ConfigError, match=f"agent mine: {name}=.*: this setting is "):
            agents.make_agent("mine", {name: value})


def test_types_that_only_type_checkers_know_are_not_judged(place: Path) -> None:
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
        agents.make_agent("mine", {name: "hush-hush"})
    assert "hush" not in str(raised.value)


def ask(agent: Agent, text: str) -> str:
    return asyncio.run(agent.reply(Message(text, datetime(2026, 1, 5, tzinfo=UTC), 0))).text


@given(text=st.text(max_size=40))
def test_a_function_is_an_agent(text: str) -> None:
    async def later(message: str) -> str:
        return message[::-1]

    assert ask(agents.FunctionAgent(lambda message: message[::-1]), text) == text[::-1]
    assert ask(agents.FunctionAgent(later), text) == text[::-1]


def test_a_function_that_returns_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="returned int, not a string"):
        ask(agents.FunctionAgent(lambda _: 3), "x")


def test_loading_takes_no_name_that_a_package_could_have(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("x = 1", "utf-8")
    before = set(sys.modules)
    dropins.load(path)
    assert set(sys.modules) - before <= {"ltm_bench._bundled.agents.mine"}
    assert "agents" not in sys.modules
