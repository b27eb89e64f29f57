"""Long files are read one record at a time, and broken records are reported."""

import gzip
import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets import streaming
from ltm_bench.datasets.dates import read_date
from ltm_bench.datasets.streaming import Entry, read_elements, read_predictions

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a\\"é,]}\n\u2028'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("k,", max_size=2), inner, max_size=3),
)


@given(values=st.lists(JSON, max_size=6), block=st.integers(1, 9), indent=st.sampled_from([None, 1]))
def test_a_list_gives_its_records_however_it_is_cut_into_blocks(
    tmp_path_factory: pytest.TempPathFactory, values: list[object], block: int, indent: int | None
) -> None:
    path = tmp_path_factory.mktemp("lists") / "records.json"
    path.write_text("\ufeff \n" + json.dumps(values, indent=indent) + "\n", "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streaming, "_BLOCK", block)
        patched.setattr(streaming, "_SLACK", 8)
        found = list(read_elements(path, pytest.fail)) if block > 3 else None
    if found is not None:
        assert found == [Entry(i, value) for i, value in enumerate(values, start=1)]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_give_their_values_and_a_bad_line_is_skipped(tmp_path: Path, packed: bool) -> None:
    path, complaints = tmp_path / "records.jsonl", list[str]()
    content = b'{"id": 1}\n\n{oops\n{"id": 2}'
    path.write_bytes(gzip.compress(content) if packed else content)
    assert list(read_elements(path, complaints.append)) == [Entry(1, {"id": 1}), Entry(4, {"id": 2})]
    assert complaints[0].startswith(f"{path}:3: skipped, not JSON")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[1, {oops}, 3" + " " * 100 + "]", "record 2 is not JSON"),
        ('[1, {"a": ', "record 2 is not JSON"),
        ("[1, 2", "record 2 is not JSON"),
        ("[1, ", "without a closing bracket"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "1" * 5000 + ", 2]", "record 1 cannot be read"),
    ],
)
def test_a_broken_list_is_refused_with_the_place(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "records.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=complaint):
        list(read_elements(path, pytest.fail))


@given(value=st.dictionaries(st.text("k,", max_size=2), JSON, max_size=3), block=st.integers(4, 30))
@pytest.mark.parametrize("indent", [1, None])
@pytest.mark.parametrize("before", ["", "\ufeff \n"])
def test_a_lone_object_is_one_record_however_it_is_printed_and_cut_into_blocks(
    tmp_path_factory: pytest.TempPathFactory,
    value: dict[str, object],
    block: int,
    indent: int | None,
    before: str,
) -> None:
    path = tmp_path_factory.mktemp("lone") / "record.json"
    path.write_text(before + json.dumps(value, indent=indent) + "\n", "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(streaming, "_BLOCK", block)
        assert [each.value for each in read_elements(path, pytest.fail)] == [value]
    assert [each.value for each in read_predictions(path, pytest.fail)] == [value]


def test_lines_after_a_broken_first_one_are_read(tmp_path: Path) -> None:
    path, complaints = tmp_path / "records.jsonl", list[str]()
    path.write_text('{"id":\n{"id": 2}\n{"id": 3}')
    assert [each.value for each in read_elements(path, complaints.append)] == [{"id": 2}, {"id": 3}]
    assert [line.partition(": ")[0] for line in complaints] == [f"{path}:1"]


def test_memory_holds_one_record_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "records.json"
    with path.open("w") as file:
        record = json.dumps({"text": "word " * 100_000})
        file.write("[" + ", ".join([record] * 40) + "]")
    tracemalloc.start()
    assert sum(1 for _ in read_elements(path, pytest.fail)) == 40
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


def test_dates_are_read_in_every_form_that_a_set_uses() -> None:
    forms = [
        "9:05 pm on 8 May, 2023",
        "2023/05/08 (Mon) 21:05",
        "2023-05-08T21:05",
        "2023-05-08T21:05:00+00:00",
    ]
    assert [read_date(form) for form in forms] == [datetime(2023, 5, 8, 21, 5, tzinfo=UTC)] * 4
    assert read_date("March-15-2024") == datetime(2024, 3, 15, tzinfo=UTC)
    assert read_date("") is None
    with pytest.raises(ValueError, match="no known form"):
        read_date("the day after")
