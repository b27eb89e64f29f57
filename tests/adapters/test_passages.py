"""Turns are cut into passages."""

from ltm_bench.adapters.passages import split


def test_long_lines_are_cut_between_sentences():
    line = " ".join(f"This is the sentence with the number {i} in it." for i in range(20))
    passages = list(split(line))
    assert " ".join(passages) == line
    assert all(passage.endswith("in it.") and len(passage) <= 240 for passage in passages)
    assert len(passages) > 3
