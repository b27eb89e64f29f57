"""What a model wrote for itself is read, or left alone."""

import json
from pathlib import Path

import pytest

from ltm_bench.adapters.scratchpad import Scratchpad, read_queries


@pytest.mark.parametrize("answer", ["", "[", "none", '{"a": 1}', "[[[[", '["", 3]', "][", "[" * 5000])
def test_queries_that_cannot_be_read_are_none(answer: str):
    assert read_queries(answer) == []


@pytest.mark.parametrize("answer", ["", "{", "[]", "notes", "{" * 5000, json.dumps({"a": "b" * 7000})])
def test_notes_that_cannot_be_read_or_are_too_long_leave_the_old_ones(answer: str, tmp_path: Path):
    pad = Scratchpad()
    pad.open(tmp_path / "pad.jsonl")
    pad.note(0, '{"a": 1}')
    pad.note(1, answer)
    assert pad.text == '{"a": 1}'
