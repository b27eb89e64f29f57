"""Any text is safe to show, and nothing is lost without a notice."""

import re
from html import escape

from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.report.text import marked, shortened, visible


@given(text=st.text(st.characters(exclude_categories=[])))
@settings(max_examples=200, deadline=None)
def test_visible_text_can_be_encoded_and_holds_no_controls(text: str) -> None:
    seen = visible(text)
    seen.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", seen)


@given(text=st.text(), limit=st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_a_text_is_cut_only_where_it_is_too_long(text: str, limit: int) -> None:
    cut = shortened(text, limit)
    assert (cut == text) == (len(text) <= limit)
    assert cut.startswith(text[:limit])


@given(st.text(st.sampled_from("ab <&>\"'\x00\u202e\ud800\r\n"), max_size=30), st.sets(st.integers(0, 30)))
def test_marking_words_leaves_the_text_unchanged(text: str, ends: set[int]) -> None:
    edges = sorted(end for end in ends if end <= len(text))
    places = list(zip(edges[::2], edges[1::2], strict=False))
    shown = str(marked(text, places, limit=1000))
    assert shown.count("<mark>") == shown.count("</mark>") == len(places)
    bare = shown.replace("<mark>", "").replace("</mark>", "")
    if "\r\n" not in text:  # a split pair is two line ends
        assert bare == escape(visible(text))


def test_decisive_words_are_marked_in_what_is_shown_of_the_reply() -> None:
    assert marked("It is <red>.", [(7, 10)], 100) == "It is &lt;<mark>red</mark>&gt;."
    assert marked("red and blue", [(0, 3), (8, 12)], 9).startswith(
        "<mark>red</mark> and b … (3 characters more"
    )
