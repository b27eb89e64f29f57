"""Files in scenarios/ and agents/ are found by their stem and loaded by their path."""

import sys
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event
from types import ModuleType

import pytest

from ltm_bench.core.errors import PluginError
from ltm_bench.plugins import files
from ltm_bench.plugins.scenarios import scenario_at

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


def test_the_current_folder_is_searched_too(place: Path) -> None:
    (place / "agents" / "mine.py").write_text(ADAPTER, "utf-8")
    (place / "agents" / "_helper.py").write_text("", "utf-8")
    (place / "agents" / ".hidden.py").write_text("", "utf-8")
    found = files.catalogue("agents")
    assert found["mine"] == place / "agents" / "mine.py"
    assert {"perfect", "goldfish", "vector_memory"} <= set(found)
    assert not {"_helper", ".hidden"} & set(found)


def test_listing_executes_nothing(place: Path) -> None:
    (place / "agents" / "mine.py").write_text('"""Mine: fails.\n\nMore."""\nraise SystemExit\n', "utf-8")
    (place / "agents" / "broken.py").write_text("def x(:", "utf-8")
    found = files.catalogue("agents")
    assert files.summary(found["mine"]) == "Mine: fails."
    assert files.summary(found["broken"]) == "(cannot be parsed)"


DEEP = {
    "signs": "x = " + "-" * 100_000 + "1",
    "a sum": "x = 1" + "+1" * 100_000,
    "attributes": "x = a" + ".a" * 100_000,
    "brackets": "x = " + "(" * 100_000,
    "skills": "f(skills=1" + "+1" * 600 + ")",
}


@pytest.mark.parametrize("content", DEEP.values(), ids=DEEP)
def test_a_file_too_deep_to_be_parsed_is_listed(place: Path, content: str) -> None:
    path = place / "scenarios" / "deep.py"
    path.write_text(content, "utf-8")
    assert files.summary(path) in ("(cannot be parsed)", "")
    assert files.skills(path) == ()
    with pytest.raises(PluginError, match=r"deep\.py"):
        scenario_at(path)


def test_a_file_that_another_thread_is_executing_is_waited_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = ModuleType("gate")
    gate.begun, gate.open = Event(), Event()  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "gate", gate)
    path = place / "scenarios" / "slow.py"
    path.write_text("import gate\ngate.begun.set()\ngate.open.wait()\nwhole = True\n", "utf-8")
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(files.load, path)
        assert gate.begun.wait(60)
        other = threads.submit(files.load, path)
        wait([other], timeout=0.2)  # without a lock, it has a module without its last line by now
        gate.open.set()
        assert one.result() is other.result()
        assert other.result().whole


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PluginError, match=r"no scenario is called 'color'; did you mean 'colours'\?"):
        files.find("scenarios", "color")
    with pytest.raises(PluginError, match=r"nowhere\.py: there is no such file"):
        files.find("agents", "nowhere.py")


def test_a_hash_is_the_same_whatever_the_line_endings(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"a\nb\n")
    other.write_bytes(b"a\r\nb\r\n")
    assert files.content_hash(one) == files.content_hash(other)
    other.write_bytes(b"a\nc\n")
    assert files.content_hash(one) != files.content_hash(other)


def test_a_file_that_fails_leaves_no_module_behind(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("1 / 0", "utf-8")
    with pytest.raises(PluginError, match=r"mine\.py:1: ZeroDivisionError"):
        files.load(path)
    assert not [name for name in sys.modules if name.endswith("agents.mine")]
    path.write_text(ADAPTER, "utf-8")
    assert files.load(path) is files.load(path)


def test_an_error_is_blamed_on_the_file_it_came_through(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("def fail(give):\n    give()\n", "utf-8")
    fail = files.load(path).fail

    def give() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError) as raised:
        fail(give)
    assert str(files.blame(raised.value)) == f"{path}:2: LookupError: gone"
    with pytest.raises(LookupError) as raised:
        give()
    assert files.blame(raised.value) is None


def test_loading_takes_no_name_that_a_package_could_use(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("x = 1", "utf-8")
    before = set(sys.modules)
    files.load(path)
    assert set(sys.modules) - before <= {"ltm_bench._bundled.agents.mine"}
    assert "agents" not in sys.modules
