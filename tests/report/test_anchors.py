"""Every example and every turn has its own anchor."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.report.anchors import anchor, slug


@given(names=st.lists(st.text(min_size=1), unique=True, max_size=5))
@settings(max_examples=200, deadline=None)
def test_examples_that_differ_have_anchors_that_differ(names: list[str]) -> None:
    plain = [name.replace("/", "") for name in names]
    ids = [f"{name}/{i}" for name in dict.fromkeys(plain) for i in range(2)]
    anchors = [slug(each) for each in ids]
    assert len(set(anchors)) == len(ids)
    assert all(re.fullmatch(r"[\w.-]+", each, re.ASCII) for each in anchors)


def test_in_an_isolated_run_turns_are_told_apart_by_their_example() -> None:
    assert anchor(3, "colours/0", isolated=False) == anchor(3, "jokes/1", isolated=False) == "turn-3"
    assert anchor(3, "colours/0", isolated=True) == "colours-0-turn-3"
