"""Whether a text is about something, by its words."""

import pytest

from ltm_bench.adapters import is_about


@pytest.mark.parametrize(
    ("text", "query", "about"),
    [
        ("My parrot is called Zebedee.", "parrot", True),
        ("User says: my parrots are called Zebedee and Ann.", "What is my parrot called?", True),
        ("My parrot is called Zebedee.", "the parrot's cage", False),
        ("I moved to Ribe.", "parrot", False),
        ("I moved to Ribe.", "", False),
        ("", "parrot", False),
        ("What is the name?", "the name", True),  # only common words, which then count
    ],
)
def test_every_telling_word_must_be_there(text: str, query: str, about: bool) -> None:
    assert is_about(text, query) is about
