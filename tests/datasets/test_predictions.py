"""Prediction files from elsewhere: lists and lines, compressed or not; a bad line is skipped and reported."""

import gzip
from pathlib import Path

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.streaming import CUT, Entry, read_predictions

LINES = '\ufeff{"id": 1}\n\n  \n{oops\nnull\n{"text": "a\u2028b"}\r\n' + "[" * 100_000 + '\n{"id": 2}'
READ = [Entry(1, {"id": 1}), Entry(5, None), Entry(6, {"text": "a\u2028b"}), Entry(8, {"id": 2})]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_are_read_one_by_one(tmp_path: Path, packed: bool) -> None:
    path, complaints = tmp_path / "preds.jsonl", list[str]()
    content = LINES.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert list(read_predictions(path, complaints.append)) == READ
    assert [line.partition(": ")[2][:18] for line in complaints] == [
        "skipped, not JSON:",
        "skipped, not JSON:",
    ]
    assert complaints[0].startswith(f"{path}:4: ")


@pytest.mark.parametrize("ending", ["", "\n", "\n \n"])
def test_a_truncated_last_line_is_yielded_on_request(tmp_path: Path, ending: str) -> None:
    path, complaints = tmp_path / "preds.jsonl", list[str]()
    path.write_text('{oops\n{"id": 1}\n{"id": ' + ending)
    assert list(read_predictions(path, complaints.append, keep_cut=True)) == [
        Entry(2, {"id": 1}),
        Entry(3, CUT),
    ]
    assert list(read_predictions(path, complaints.append)) == [Entry(2, {"id": 1})]


def test_a_list_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "preds.json"
    path.write_text(' [{"id": 1}, 3]')
    assert list(read_predictions(path, pytest.fail)) == [Entry(1, {"id": 1}), Entry(2, 3)]
    path.write_text('[{"id": 1}, ')
    with pytest.raises(ConfigError, match="not JSON"):
        list(read_predictions(path, pytest.fail))


@pytest.mark.parametrize("content", [b"\x1f\x8bnot gzip", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "preds.jsonl"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"preds\.jsonl: cannot be read"):
        list(read_predictions(path, pytest.fail))
