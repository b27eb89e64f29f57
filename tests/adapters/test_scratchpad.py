"""A model's notes to itself are read, or left alone."""

import json
from pathlib import Path

import pytest

from ltm_bench.adapters.memories.scratchpad import Scratchpad, read_queries


@pytest.mark.parametrize("answer", ["", "[", "none", '{"a": 1}', "[[[[", '["", 3]', "][", "[" * 5000])
def test_unreadable_queries_count_as_none(answer: str):
    assert read_queries(answer) == []


@pytest.mark.parametrize("answer", ["", "{", "[]", "notes", "{" * 5000, json.dumps({"a": "b" * 7000})])
def test_unreadable_or_overlong_notes_leave_the_old_ones_in_place(answer: str, tmp_path: Path):
    pad = Scratchpad()
    pad.open(tmp_path / "pad.jsonl")
    pad.note(0, '{"a": 1}')
    pad.note(1, answer)
    assert pad.text == '{"a": 1}'
