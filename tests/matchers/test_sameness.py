"""Which words are the same, and which phrases occur among words: the fast paths miss nothing."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.matchers.reading.lexicon import Lexicon
from ltm_bench.matchers.sameness import ends, same_word

ENDINGS = ("", "s", "es", "ies", "ves", "ches", "sses", "'s", "ies's", "us", "1")
WORDS = st.builds(str.__add__, st.text("abeſé1'", min_size=1, max_size=8), st.sampled_from(ENDINGS))


def slipped(word: str, place: int, kind: int, letter: str) -> str:
    """Type a word with a letter too many, too few, swapped with the next, or another one instead."""
    i = place % len(word)
    middle = (letter + word[i], "", word[i : i + 2][::-1], letter)[kind]
    return word[:i] + middle + word[i + (2 if kind == 2 else 1) :]


SLIPPED = st.builds(slipped, WORDS, st.integers(0, 12), st.integers(0, 3), st.sampled_from("abſx1")).filter(
    bool
)
SAID = WORDS | SLIPPED


@pytest.mark.parametrize(
    ("said", "meant", "same"),
    [
        ("berries", "berry", True),
        ("boxes", "box", True),
        ("knives", "knif", True),
        ("ladies's", "lady", True),
        ("lmap", "lamp", False),  # too short for slips
        ("lantren", "lantern", True),
        ("alntern", "lantern", True),
        ("lantenr", "lantern", True),
        ("xlantern", "lantern", False),  # another letter at either end makes another word
        ("lanternx", "lantern", False),
        ("lanternn", "lantern", True),
        ("antern", "lantern", False),
        ("lanter", "lantern", True),
        ("range", "orange", False),
        ("brownies", "brown", False),
        ("create", "crate", False),  # an existing word is not a slip
        ("strain", "train", False),
        ("minutes", "minuet", False),
        ("latnerns", "lantern", True),
        ("lantarn", "lantern", False),
        ("white", "while", False),
        ("lanetrn", "lantern", True),
        ("ltanern", "lantern", False),  # moved by two places
        ("a12345", "a12354", False),
    ],
)
def test_a_typing_slip_is_forgiven_in_a_long_word(said: str, meant: str, same: bool) -> None:
    assert same_word(said, meant) is same


@pytest.mark.parametrize("meant", ["half", "halve"])
def test_a_plural_is_found_under_each_word_that_it_may_come_from(meant: str) -> None:
    assert same_word("halves", meant)
    assert not set(ends("halves")).isdisjoint(ends(meant))


def test_an_s_makes_no_plural_of_a_word_that_ends_in_one() -> None:
    assert not same_word("11iess", "11ies")


@given(st.data(), WORDS)
@settings(deadline=None)
def test_words_that_match_share_an_ending(data: st.DataObject, word: str) -> None:
    place, kind = data.draw(st.integers(0, 12)), data.draw(st.integers(0, 3))
    said = slipped(word, place, kind, data.draw(st.sampled_from("abſx1"))) + data.draw(
        st.sampled_from(ENDINGS)
    )
    assert not same_word(said, word) or not set(ends(said)).isdisjoint(ends(word))


def one_by_one(phrases: Sequence[Sequence[str]], said: Sequence[str]) -> set[tuple[int, int, int]]:
    return {
        (begin, begin + len(phrase), number)
        for number, phrase in enumerate(phrases)
        for begin in range(len(said) - len(phrase) + 1)
        if all(map(same_word, said[begin : begin + len(phrase)], phrase))
    }


@given(st.lists(SAID, max_size=5).flatmap(lambda few: st.tuples(
    st.lists(st.lists(st.sampled_from(few) | SAID if few else SAID, min_size=1, max_size=3), max_size=6),
    st.lists(st.sampled_from(few) | SAID if few else SAID, max_size=12),
)))  # fmt: skip
@settings(deadline=None)
def test_a_lexicon_hears_what_is_found_by_comparing_every_word(
    both: tuple[list[list[str]], list[str]],
) -> None:
    phrases, said = both
    known = Lexicon(
        {str(number): [" ".join(phrase)] for number, phrase in enumerate(phrases)}, shortened=False
    )
    ranks = list(known._heard(said))
    heard = [(begin, begin + len(known._every[rank][0]), rank) for rank, begin in ranks]
    assert set(heard) == one_by_one([list(parts) for parts, _ in known._every], said)
    assert len(heard) == len(set(heard))
    assert heard == sorted(heard, key=lambda each: each[0])
