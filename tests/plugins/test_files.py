"""Files that are dropped into scenarios/ and agents/: found by their stem, loaded by their path."""

import sys
from pathlib import Path

import pytest

from ltm_bench.core.errors import DropInError
from ltm_bench.plugins import files as dropins

ADAPTER = '''"""Mine: never answers."""
from ltm_bench import Agent


class Mine(Agent):
    pass
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


def test_loading_takes_no_name_that_a_package_could_have(place: Path) -> None:
    path = place / "agents" / "mine.py"
    path.write_text("x = 1", "utf-8")
    before = set(sys.modules)
    dropins.load(path)
    assert set(sys.modules) - before <= {"ltm_bench._bundled.agents.mine"}
    assert "agents" not in sys.modules
