"""One file is one thing, found, described and imported by its name alone."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.plugins.members import described, member, members


@pytest.fixture
def shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of two modules, one of which cannot be imported."""
    package = tmp_path / "shapes"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "circle.py").write_text('"""A round one.\n\nMore about it.\n"""\nSIDES = 0\n')
    (package / "square.py").write_text('"""One with corners."""\nraise RuntimeError\n')
    monkeypatch.syspath_prepend(tmp_path)
    yield "shapes"
    for name in [name for name in sys.modules if name.partition(".")[0] == "shapes"]:
        del sys.modules[name]


def test_modules_are_described_without_being_imported(shapes: str) -> None:
    assert members(shapes) == {"circle": "A round one.", "square": "One with corners."}
    assert described(shapes) == "circle: A round one; square: One with corners."
    assert "shapes.square" not in sys.modules


def test_an_added_file_is_found(shapes: str, tmp_path: Path) -> None:
    (tmp_path / "shapes" / "star.py").write_text('"""One with points."""\n')
    assert list(members(shapes)) == ["circle", "square", "star"]


def test_a_module_is_imported_by_its_name(shapes: str) -> None:
    assert member(shapes, "circle", "--shape").SIDES == 0


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all(shapes: str) -> None:
    complaint = r"--shape circel: unknown; did you mean 'circle'\? \(known: circle, square\)"
    with pytest.raises(ConfigError, match=complaint):
        member(shapes, "circel", "--shape")
