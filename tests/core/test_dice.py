import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench import Dice


def test_these_dice_roll_the_same_on_every_machine_for_ever() -> None:
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


def test_what_cannot_be_drawn_is_said() -> None:
    dice = Dice("d")
    with pytest.raises(ValueError, match="cannot choose from nothing"):
        dice.choice([])
    with pytest.raises(ValueError, match="cannot draw 4 of 3 items"):
        dice.sample("abc", 4)
    with pytest.raises(ValueError, match="no integer lies between 2 and 1"):
        dice.integer(2, 1)


@given(items=st.integers(0, 200), name=st.text())
def test_dice_that_pass_over_a_shuffle_roll_on_like_those_that_did_it(items: int, name: str) -> None:
    one, other = Dice(name), Dice(name)
    one.fraction(), other.fraction()
    before = one.copy()
    order = one.shuffled(range(items))
    other.pass_over(items)
    assert one.fraction() == other.fraction()
    assert before.shuffled(range(items)) == order
