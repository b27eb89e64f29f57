"""Seeds: numbers are test seeds; training seeds are texts, with numbers of their own."""

import pytest

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.seeds import (
    Seed,
    checked_seed,
    is_training,
    number_of,
    numbered,
    parse_seed,
    parse_seeds,
    seeds_from,
)
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.scenario import Example


@pytest.mark.parametrize(
    ("given", "seed", "number", "training"),
    [("17", 17, 17, False), (0, 0, 0, False), ("-3", -3, -3, False), (" train:17 ", "train:17", 17, True)],
)
def test_a_seed_is_a_number_or_a_training_seed(
    given: int | str, seed: Seed, number: int, training: bool
) -> None:
    assert parse_seed(given) == seed
    assert (number_of(seed), is_training(seed)) == (number, training)
    assert numbered(seed, number) == seed


@pytest.mark.parametrize(
    "given", ["", "x", "train:", "train:-1", "train:01", "train:1.5", "test:1", "Train:1"]
)
def test_anything_else_is_refused_with_what_to_write(given: str) -> None:
    with pytest.raises(
        ConfigError, match=r"^--seed .*: write a whole number, or train:17 for a training seed$"
    ):
        checked_seed(given)
    with pytest.raises(ConfigError, match="--seed"):
        parse_seeds(["1", given])


def test_the_seeds_from_one_on_stay_in_its_namespace() -> None:
    assert seeds_from(7, 3) == [7, 8, 9]
    assert seeds_from("train:7", 3) == ["train:7", "train:8", "train:9"]


def test_a_training_seed_rolls_other_dice_than_the_test_seed_of_its_number() -> None:
    rolled = [Example(scenario("colours"), 0, seed, {}).dice() for seed in (17, "train:17")]
    assert [dice.name for dice in rolled] == ["17/colours/0", "train:17/colours/0"]
    assert rolled[0].fraction() != rolled[1].fraction()
    assert isinstance(rolled[0], Dice)
