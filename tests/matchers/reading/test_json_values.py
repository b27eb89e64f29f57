"""JSON is found in any wrapping, and the last usable value wins."""

from typing import Any

import pytest

from ltm_bench.matchers.reading import json_values, last_readable
from ltm_bench.matchers.reading.json_values import embedded


def one_number(value: Any) -> int | None:
    return value["n"] if isinstance(value, dict) and isinstance(value.get("n"), int) else None


@pytest.mark.parametrize(
    ("reply", "n"),
    [
        ('{"n": 1}', 1),
        ('Here:\n```json\n{"n": 1}\n```\nBye', 1),
        ('It is {"n": 1}, I think.', 1),
        ('First {"n": 1}, no, {"n": 2}', 2),
        ("{'n': 1,}", 1),
        ('{"n": 1', 1),
        ('{"n": "one"}', None),
        ("n is 1", None),
    ],
)
def test_json_is_read_as_written_and_then_repaired(reply: str, n: int | None) -> None:
    assert last_readable(reply, one_number) == n


def test_json_in_prose_is_found_with_its_place() -> None:
    text = 'a {"n": 1} b [2, 3] c [ ] {broken'
    assert [(value, text[begin:end]) for value, begin, end in embedded(text)] == [
        ({"n": 1}, '{"n": 1}'),
        ([2, 3], "[2, 3]"),
        ([], "[ ]"),
    ]


def test_json_nested_beyond_reason_is_left_out() -> None:
    deep = "[" * 60 + "]" * 60
    assert list(embedded(deep)) == []
    assert all(str(value).count("[") <= 41 for value in json_values(deep))
