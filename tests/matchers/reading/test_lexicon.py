"""How a vocabulary is found in words: longer names first, short forms if no other name has the word."""

import pytest

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading import lexicon, words
from ltm_bench.matchers.reading.numbers import in_words

PLACES = lexicon(
    ("wooden hatch", "train station", "old opera", "opera", "Monday", "hot-air balloon", "telephone")
)


def heard(said: str) -> list[str]:
    return [named.value for _, _, named in sorted(PLACES.hear(words(said)))]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("the wooden hatch", ["wooden hatch"]),
        ("the hatch", ["wooden hatch"]),
        ("the Trainstation", ["train station"]),
        ("the train-station", ["train station"]),
        ("the old opera and the opera", ["old opera", "opera"]),
        ("on Mon", ["Monday"]),
        ("the hot-air balloon", ["hot-air balloon"]),
        ("the hot air balloon", ["hot-air balloon"]),
        ("an operator", []),
        ("by tele phone", ["telephone"]),
        ("te lephone", []),
    ],
)
def test_a_thing_is_recognised_by_its_names(said: str, expected: list[str]) -> None:
    assert heard(said) == expected


def test_part_of_a_name_with_something_else_attached_is_marked() -> None:
    ((_, _, named),) = PLACES.hear(words("the police station"))
    assert (named.value, named.exact, named.attached) == ("train station", False, "before")


def test_a_hyphenated_name_without_its_hyphen_is_said_in_full() -> None:
    ((_, _, named),) = PLACES.hear(words("a hot air balloon"))
    assert named.exact


def test_what_a_thing_comes_with_may_be_left_out() -> None:
    menu = lexicon(("prawn paella with saffron", "roast duck with cabbage", "prawn toast with lime", "tea"))
    for said, value in [
        ("prawn paella", "prawn paella with saffron"),
        ("the duck", "roast duck with cabbage"),
    ]:
        ((_, _, named),) = menu.hear(words(said))
        assert (named.value, named.attached) == (value, ""), said
    assert not [*menu.hear(words("the prawn"))]


@pytest.mark.parametrize("row", listed("other names", "\n"))
def test_what_is_called_otherwise_elsewhere_is_the_same(row: str) -> None:
    name, *others = row.split("|")
    known = lexicon((name, "umbrella stand"))
    for other in others:
        assert [(named.value, named.exact) for *_, named in known.hear(words(f"It is the {other}."))] == [
            (name, True)
        ]


def test_another_name_that_could_mean_two_things_means_neither() -> None:
    for known in (
        lexicon(("gramophone", "record player")),
        lexicon(("mouth organ", "harmonica", "phonograph")),
    ):
        assert not [
            n
            for *_, n in known.hear(words("a phonograph, a harmonica"))
            if n.value not in ("harmonica", "phonograph")
        ]


@pytest.mark.parametrize("year", ["1066", "1700", "1716", "1805", "1947", "1999", "2024"])
def test_a_year_or_a_code_may_be_read_out(year: str) -> None:
    known = lexicon((year, "1234"))
    for said in in_words(year):
        for way in (said, said.replace("-", " "), f"in {said} or so"):
            assert [named.value for *_, named in known.hear(words(way))] == [year], way


def test_small_numbers_are_left_to_those_who_read_numbers() -> None:
    assert not [*lexicon(("12", "7")).hear(words("twelve of the seven"))]
