"""Filler holds decoys as longer messages hold needles: in the same frames, at the same places."""

from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Ask, Chat, Fact, Line, Tell
from ltm_bench.core.tokens import counter
from ltm_bench.filler.around import Around, Room, gap_between
from ltm_bench.filler.filler import ALONE, MAX_TOKENS, Filler, shipped
from ltm_bench.matchers.names import names_only

COUNT = counter().count
NEEDLE = "Ada's cat is called Bo, as it happens."


def decoys() -> Iterator[str]:
    return (
        f"Number {n} likes {'tea. Or so' if n % 2 else 'tea'}{chr(10) * (n % 3)}, they say." for n in count()
    )


def filler(seed: str = "x", pages: int = 0) -> Filler:
    """Compose filler with decoys; one in so many is a page, if any is."""
    held = (
        f"Page {n}. {each * 20}" if pages and n % pages == 0 else each
        for n, each in zip(count(1), decoys(), strict=False)
    )
    return Filler(shipped(), Dice(seed), counter(), decoys=held)


@given(
    sizes=st.lists(st.integers(1, 1200), max_size=40),
    seed=st.text(max_size=4),
    pages=st.sampled_from((0, 1, 2, 5)),
)
@settings(deadline=None, max_examples=60)
def test_filler_with_decoys_continues_the_same_after_skipped_messages(
    sizes: list[int], seed: str, pages: int
) -> None:
    composed, passed = filler(seed, pages), filler(seed, pages)
    for tokens in sizes:
        text = composed.compose(tokens).text
        opening, ending = passed.pass_over(text)
        assert text.startswith(opening)
        assert text.endswith(ending)
    assert [passed.compose(300) for _ in range(5)] == [composed.compose(300) for _ in range(5)]


@given(sizes=st.lists(st.integers(1, 1200), max_size=20), seed=st.text(max_size=4))
@settings(deadline=None, max_examples=60)
def test_messages_with_decoys_are_counted_exactly_and_not_longer_than_asked_for(
    sizes: list[int], seed: str
) -> None:
    source = filler(seed)
    for tokens in sizes:
        message = source.compose(tokens)
        said, answered = source.tokens(message), source.answer_tokens(message)
        assert (said, answered) == (COUNT(message.text), COUNT(message.answers))
        assert said + answered <= max(tokens, 60) + 60


def test_each_decoy_is_said_once_in_order_and_most_filler_holds_one() -> None:
    source, wanted = filler(), decoys()
    texts = [source.compose(500).text for _ in range(400)]
    said = 0
    decoy = next(wanted)
    for text in texts:
        if decoy in text:
            said, decoy = said + 1, next(wanted)
    alone = sum(len(text) < 60 for text in texts)
    assert said > 0.6 * len(texts)
    assert 0.5 * ALONE < alone / len(texts) < 1.5 * ALONE


def test_a_page_waits_for_a_message_that_has_room_for_it_and_holds_no_other_decoy_up() -> None:
    source = filler(pages=4)
    short = [source.compose(150).text for _ in range(200)]
    assert not any("Page " in text for text in short)
    assert sum("they say." in text for text in short) > 0.6 * len(short)
    long = [source.compose(700).text for _ in range(200)]
    assert 0.15 < sum("Page " in text for text in long) / sum("they say." in text for text in long) < 0.35


def test_filler_without_decoys_is_what_it_was() -> None:
    plain, none = (
        Filler(shipped(), Dice("x"), counter()),
        Filler(shipped(), Dice("x"), counter(), decoys=iter(())),
    )
    assert [plain.compose(300) for _ in range(20)] == [none.compose(300) for _ in range(20)]


def around(gap: float = 400.0, limit: int = MAX_TOKENS) -> Around:
    return Around(counter(), lambda: Room(gap, {"pets/0": limit}))


def test_a_needle_inside_a_longer_message_keeps_all_but_its_text() -> None:
    line = Tell(NEEDLE, at=0.5, facts=(Fact("cat", "Bo"),))
    found = [around()("pets/0", line, Dice(str(n))) for n in range(200)]
    inside = [each for each in found if each != line]
    assert len(inside) > 100
    for each in inside:
        assert isinstance(each, Tell)
        [buried] = each.buried
        assert (each.at, each.facts, buried.text) == (line.at, line.facts, NEEDLE)
        before, held, after = str(each.text).partition(NEEDLE)
        assert held
        assert before + after
        assert buried.tokens == COUNT(before)
    places = [each.buried[0].tokens or 0 for each in inside if isinstance(each, Tell)]
    assert len(set(places)) > 50, "it stands anywhere"


def test_a_script_gets_the_same_message_however_often_it_is_played() -> None:
    line, one, other = Tell(NEEDLE, at=0.5), around(), around()
    for n in range(20):
        first = one("pets/0", line, Dice(str(n)))
        assert first == one("pets/0", line, Dice(str(n))) == other("pets/0", line, Dice(str(n)))


@pytest.mark.parametrize(
    "line",
    [
        Ask(NEEDLE, names_only("Bo", among=["Bo"]), at=0.5),
        Chat(NEEDLE, at=0.5),
        Tell(NEEDLE),
        Tell(NEEDLE, at=0.5, user="Ada"),
        Tell(NEEDLE, at=0.5, ideal="Bo!"),
        Tell(NEEDLE, at=0.5, deletes=("cat",)),
        Tell(lambda now: NEEDLE, at=0.5),
        Tell(NEEDLE * 120, at=0.5),
    ],
    ids=["question", "chat", "at once", "of a user", "with a reply", "deletes", "timed", "page"],
)
def test_what_is_no_plain_needle_stands_as_it_is(line: Line) -> None:
    assert all(around()("pets/0", line, Dice(str(n))) == line for n in range(50))


@given(limit=st.integers(0, 1000), gap=st.floats(1, 5000))
@settings(deadline=None, max_examples=60)
def test_no_message_is_longer_than_its_example_may_take(limit: int, gap: float) -> None:
    line = Tell(NEEDLE, at=0.5)
    for n in range(5):
        found = around(gap, limit)("pets/0", line, Dice(f"{limit} {n}"))
        assert COUNT(str(found.text)) <= max(limit, COUNT(NEEDLE)) + 20


def test_gaps_and_needles_together_take_the_room_that_there_is() -> None:
    gap = gap_between(100_000, 250, 150, 10**9)
    assert gap * (250 + 150 * (1 - ALONE)) == pytest.approx(100_000, rel=0.01)
    assert gap_between(-5, 250, 150, 1000) <= 0
