"""The order in which the tests begin, which `tests/conftest.py` decides."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Item(NamedTuple):
    """What the order depends on."""

    path: Path
    name: str
    marks: tuple[str, ...] = ()

    def get_closest_marker(self, name: str) -> str | None:
        return name if name in self.marks else None


def test_files_with_long_tests_begin_first_and_stay_whole(pytestconfig: pytest.Config) -> None:
    conftest: Any = pytestconfig.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    quick, mixed, slow, last = map(Path, ("test_a.py", "test_b.py", "test_c.py", "test_d.py"))
    items = [
        Item(quick, "1"),
        Item(mixed, "2"),
        Item(mixed, "3", ("long",)),
        Item(slow, "4", ("slow",)),
        Item(last, "5", ("slow", "long")),
    ]
    conftest.pytest_collection_modifyitems(items)
    assert [each.name for each in items] == ["2", "3", "5", "1", "4"]
