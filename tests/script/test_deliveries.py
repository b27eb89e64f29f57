"""Material arrives whole, in parts or scattered, and its needles are where the log says."""

from itertools import cycle, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench import Ask, Buried, Chat, Piece, Tell, bury, deliver, names_only
from ltm_bench.core.tokens import counter
from ltm_bench.script.deliveries import DELIVERIES, depths, evenly

HAY = ("The lake was calm, and nobody said a word about the boat that lay there.", "It rained.", "So what?")
LONGEST = max(counter().count(hay + "\n") for hay in HAY)
ASK = Ask("Where is the key?", names_only("attic", among=("attic", "cellar")))


def laid(count: int, tokens: int) -> list[Piece]:
    needles = [(depth, f"Needle number {i} of them.") for i, depth in enumerate(evenly(count))]
    return bury(needles, cycle(HAY), tokens, "\n")


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 64), tokens=st.integers(500, 20_000))
def test_needles_are_spaced_evenly_to_within_one_message(count: int, tokens: int) -> None:
    pieces = laid(count, tokens)
    needle = counter().count("Needle number 63 of them.\n")
    crowded = count * needle > tokens
    for i, (before, _) in enumerate(depths(pieces)):
        wanted = (i + 1) / count * tokens
        # The last needles make room for each other, and the very last ends with the material.
        assert crowded or abs(before - wanted) <= LONGEST + needle


@pytest.mark.parametrize("count", [16, 32, 64, 1024])
@pytest.mark.parametrize("tokens", [4_000, 32_000, 128_000])
def test_stars_of_every_published_number_are_evenly_spaced_at_every_length(count: int, tokens: int) -> None:
    places = [before for before, _ in depths(laid(count, tokens))]
    if count * 8 <= tokens:
        gaps = [b - a for a, b in pairwise(places)]
        assert max(gaps) - min(gaps) <= 2 * LONGEST
        assert abs(places[-1] - tokens) <= 2 * LONGEST


@settings(max_examples=40, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["a b c", "Käse", "数一数", "12, 13,", "def f(x):\n    return x"]), min_size=1
    ),
    needle=st.integers(0, 50),
    joint=st.sampled_from(["\n", " ", "\n\n"]),
    chunk=st.integers(1, 40),
)
def test_no_delivery_loses_changes_or_reorders_a_piece(
    words: list[str], needle: int, joint: str, chunk: int
) -> None:
    pieces = [Piece(word, "needle" if i == needle else "matter") for i, word in enumerate(words)]
    whole = joint.join(words)
    for delivery in DELIVERIES:
        lines = list(deliver(pieces, [ASK], delivery=delivery, joint=joint, chunk=chunk, part="{i}/{n}: "))
        texts = [line.text for line in lines if isinstance(line.text, str)]
        if delivery == "one_shot":
            assert texts == [f"{whole}\n\n{ASK.text}"]
            continue
        assert texts[-1] == ASK.text
        if delivery == "chunked":
            texts = [text.partition(": ")[2] for text in texts[:-1]]
            assert joint.join(texts) == whole
        else:
            assert joint.join(texts[:-1]) == whole
            ats = [line.at for line in lines]
            assert ats == sorted(ats, key=lambda at: at or 0.0)


def test_scattered_hay_is_left_to_the_filler_and_a_needle_keeps_its_depth() -> None:
    pieces = bury([(0.25, "The key is in the attic.")], cycle(HAY), 10_000, "\n")
    tell, ask = deliver(pieces, [ASK], delivery="scattered", begin="Read this.")
    assert isinstance(tell, Tell)
    assert tell.text == "The key is in the attic."
    assert tell.at == pytest.approx(0.25, abs=0.01)
    assert ask.at == 1.0


def test_parts_without_a_needle_are_not_needles_and_further_questions_follow_at_once() -> None:
    pieces = bury([(0.5, "The key is in the attic.")], cycle(HAY), 1000, "\n")
    *parts, first, second = deliver(pieces, [ASK, ASK], delivery="chunked", chunk=200)
    assert [type(line) for line in (first, second)] == [Ask, Ask]
    assert first.at is second.at is None
    told = [line for line in parts if isinstance(line, Tell)]
    assert len(told) == 1
    assert all(isinstance(line, Chat) for line in parts if line not in told)
    (buried,) = told[0].buried
    text = told[0].text
    assert isinstance(text, str)
    assert buried.tokens == counter().count(text[: text.index("The key")])


def one(pieces: list[Piece], most: int) -> Ask:
    (line,) = deliver(pieces, [ASK], delivery="one_shot", most=most)
    assert isinstance(line, Ask)
    return line


@pytest.mark.parametrize("depth", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("most", [100, 500, 1500, 5000])
def test_a_cut_takes_the_middle_and_says_whether_the_needle_went_with_it(depth: float, most: int) -> None:
    needle = "The key is in the attic."
    line = one(bury([(depth, needle)], cycle(HAY), 2000, "\n"), most)
    assert isinstance(line.text, str)
    assert counter().count(line.text) <= most + 2
    assert line.text.startswith("The ")
    assert line.text.endswith(str(ASK.text))
    ((text, tokens),) = [(each.text, each.tokens) for each in line.buried]
    assert text == needle
    assert (tokens is None) == (needle not in line.text)
    if tokens is not None:
        assert abs(tokens - counter().count(line.text[: line.text.index(needle)])) <= 2


def test_uncut_material_says_where_its_needles_are() -> None:
    line = one([Piece("aa bb"), Piece("cc", "needle"), Piece("dd")], 0)
    assert line.buried == (Buried("cc", counter().count("aa bb\n")),)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"delivery": "in_one"}, "delivery = 'in_one': must be one_shot, chunked or scattered"),
        ({"delivery": "chunked", "most": 5}, "most = 5: only a delivery in one message can be cut"),
        ({"delivery": "chunked", "chunk": 0}, "chunk = 0: 1 token or more"),
    ],
)
def test_impossible_deliveries_are_named(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        list(deliver([Piece("a")], [ASK], **changes))  # type: ignore[arg-type]  # wrong on purpose
