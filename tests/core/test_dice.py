import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Dice


def test_these_dice_roll_the_same_on_every_machine_and_always() -> None:
    dice = Dice("0/colours/1")
    assert [dice.integer(0, 99) for _ in range(6)] == [50, 60, 4, 82, 8, 54]
    assert dice.sample("abcdef", 3) == ["d", "b", "f"]


def test_streams_do_not_move_each_other() -> None:
    one, two = Dice("a"), Dice("a")
    Dice("b").fraction()
    one.child("x").fraction()
    assert [one.fraction() for _ in range(3)] == [two.fraction() for _ in range(3)]
    assert Dice("a").child("x").fraction() == Dice("a/x").fraction()


@given(low=st.integers(-50, 50), size=st.integers(0, 50), name=st.text())
def test_a_number_lies_between_its_bounds(low: int, size: int, name: str) -> None:
    assert low <= Dice(name).integer(low, low + size) <= low + size


@given(items=st.lists(st.integers(), unique=True), name=st.text())
def test_a_shuffle_keeps_every_item(items: list[int], name: str) -> None:
    assert sorted(Dice(name).shuffled(items)) == sorted(items)


def test_every_item_has_the_same_chance() -> None:
    dice = Dice("fair")
    rolls = [dice.choice("abcde") for _ in range(5000)]
    assert all(900 < rolls.count(item) < 1100 for item in "abcde")


def test_what_cannot_be_drawn_is_explained() -> None:
    dice = Dice("d")
    with pytest.raises(ValueError, match="cannot choose from nothing"):
        dice.choice([])
    with pytest.raises(ValueError, match="cannot draw 4 of 3 items"):
        dice.sample("abc", 4)
    with pytest.raises(ValueError, match="no integer lies between 2 and 1"):
        dice.integer(2, 1)


@given(items=st.integers(0, 200), name=st.text())
def test_dice_that_skip_a_shuffle_roll_on_like_those_that_made_it(items: int, name: str) -> None:
    one, other = Dice(name), Dice(name)
    one.fraction(), other.fraction()
    before = one.copy()
    order = one.shuffled(range(items))
    other.pass_over(items)
    assert one.fraction() == other.fraction()
    assert before.shuffled(range(items)) == order


@given(size=st.integers(1, 60), data=st.data(), run=st.text())
def test_no_two_examples_of_a_run_hold_the_same_item_until_the_deck_runs_out(
    size: int, data: st.DataObject, run: str
) -> None:
    count = data.draw(st.integers(1, size))
    hands = [Dice(f"{run}/scene/{i}").hand("places", range(size), count) for i in range(2 * (size // count))]
    for shuffle in (hands[: len(hands) // 2], hands[len(hands) // 2 :]):
        held = [item for hand in shuffle for item in hand]
        assert len(held) == len(set(held)) == count * (size // count)


@given(name=st.text(), deck=st.text(), items=st.lists(st.integers(), min_size=1, unique=True))
def test_a_hand_depends_on_the_name_of_the_dice_alone_and_leaves_their_rolls_alone(
    name: str, deck: str, items: list[int]
) -> None:
    dice, other = Dice(name), Dice(name)
    hand = dice.hand(deck, items, len(items))
    assert dice.fraction() == other.fraction()
    assert hand == dice.hand(deck, items, len(items)) == other.hand(deck, items, len(items))
    assert sorted(hand) == sorted(items)


def test_runs_scenarios_and_decks_are_dealt_apart() -> None:
    names = ("0/scene/0", "1/scene/0", "0/play/0", "0/scene")
    hands = [Dice(name).hand(deck, range(30), 10) for name in names for deck in ("places", "people")]
    assert len(set(map(tuple, hands))) == len(hands) - 2  # of these, 0/scene and 0/scene/0 hold the same
    assert hands[0] == [25, 19, 0, 15, 18, 13, 26, 10, 2, 21]  # on every machine, always


def test_every_item_is_dealt_to_the_first_example_equally_often() -> None:
    cards = [Dice(f"{seed}/scene/0").card("places", "abcde") for seed in range(5000)]
    assert all(900 < cards.count(item) < 1100 for item in "abcde")


def test_dice_carry_the_number_of_their_example() -> None:
    assert [Dice(name).index for name in ("0/colours/12", "0/colours", "", "7")] == [12, 0, 0, 7]


def test_a_deck_that_is_too_small_is_named() -> None:
    with pytest.raises(ValueError, match="the deck 'places' of '0/scene/1' cannot deal 4 of 3 items"):
        Dice("0/scene/1").hand("places", "abc", 4)


def test_a_text_names_what_decks_have_dealt() -> None:
    dice = Dice("0/walk/1")
    [who], (one, two, three) = dice.hand("who", PEOPLE, 1), dice.hand("towns", TOWNS, 3)
    assert dice.named("{who}: {towns}, {other} {}") == f"{who}: {one}, {two} and {three}, {{other}} {{}}"
    assert dice.copy().named("{who}") == who
    assert Dice("0/walk/1").named("{who}") == "{who}"


PEOPLE, TOWNS = ("Ada", "Bo", "Cem"), ("Bonn", "Cork", "Graz", "Nice")
