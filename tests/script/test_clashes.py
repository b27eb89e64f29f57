"""A scenario is right for a memory of the whole conversation, not only for who is told the answers."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from ltm_bench import Ask, Dice, Fact, Script, Tell, formerly, lists_all, names_only, scenario
from ltm_bench.core.tokens import counter
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.script.clashes import clashes, spent
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example, Scenario

PATIENTS = ("Ada Lind", "Ben Moss", "Cleo Park", "Dan Voss")
ALLERGENS = ("nuts", "milk", "wasps", "latex", "pollen", "penicillin", "shellfish", "dust")
SETS = {"dialogue", "infinitebench", "niah", "swim"}


def found(made: Scenario, examples: int = 20) -> list[str]:
    played = [Example(made, i, 0, {}) for i in range(examples)]
    return list(clashes([(each, rehearse(each, counter())) for each in played]))


def told_and_withdrawn(patient: str, told: Iterable[str]) -> Script:
    first, *kept = told
    for each in (first, *kept):
        yield Tell(f"{patient} is allergic to {each}.", at=0.1)
    yield Tell(f"The test was wrong: {patient} can have {first}.", at=0.5)
    yield Ask(f"Which allergies does {patient} have?", expect=lists_all(kept, among=ALLERGENS), at=1.0)


@scenario(skills={"recall"})
def allergies(dice: Dice) -> Script:
    """Ask about one of four patients."""
    yield from told_and_withdrawn(dice.choice(PATIENTS), dice.sample(ALLERGENS, 3))


@scenario(skills={"recall"})
def single(dice: Dice) -> Script:
    """Expect a single allergy."""
    patient, (gone, kept) = dice.choice(PATIENTS), dice.sample(ALLERGENS, 2)
    yield Tell(f"{patient} is allergic to {gone}.", at=0.0)
    yield Tell(f"Not {gone}, it turns out: {patient} is allergic to {kept}.", at=0.5)
    expect = names_only(kept, among=ALLERGENS, stale=(gone,))
    yield Ask(f"Which allergies does {patient} have?", expect=expect, at=1.0)


@scenario(skills={"recall"})
def dealt(dice: Dice) -> Script:
    """Ask about each patient once."""
    patient = dice.card("patient", tuple(f"Patient {letter * 3}" for letter in "abcdefghijklmnopqrst"))
    yield from told_and_withdrawn(patient, dice.sample(ALLERGENS, 3))


@scenario(skills={"recall"})
def keyword(dice: Dice) -> Script:
    """Tell the answer anew in each example."""
    word = dice.choice(ALLERGENS)
    yield Tell(f"The keyword is {word}.", at=0.0)
    yield Ask("What is the keyword?", expect=names_only(word, among=ALLERGENS), at=1.0)


@scenario(skills={"recall"})
def unsaid(dice: Dice) -> Script:
    """Never say what the question is about."""
    word = dice.choice(ALLERGENS)
    yield Tell(f"Listen: {word}!", at=0.0)
    yield Ask("What is the keyword?", expect=names_only(word, among=ALLERGENS), at=1.0)


def facts(named: Callable[[str, int], str]) -> Scenario:
    @scenario(skills={"recall"})
    def wards(dice: Dice) -> Script:
        """Tell a fact about one of four patients."""
        patient, value = dice.choice(PATIENTS), dice.choice(ALLERGENS)
        yield Tell(f"{patient} takes {value}.", at=0.0, facts=(Fact(named(patient, dice.index), value),))
        yield Ask(f"What does {patient} take?", expect=names_only(value, among=ALLERGENS), at=1.0)

    return wards


@scenario(skills={"recall"})
def at_first(dice: Dice) -> Script:
    """Ask what was said first."""
    first, last = dice.sample(ALLERGENS, 2)
    yield Tell(f"The plan is {first}.", at=0.0)
    yield Tell(f"The plan is {last}.", at=0.5)
    yield Ask("What was the first plan?", expect=formerly(first, among=ALLERGENS), at=1.0)


def test_questions_about_the_same_patient_with_different_answers_are_found() -> None:
    same, open_value = found(allergies)
    assert "allergies/0 and allergies/" in same
    assert "ask “Which allergies does " in same
    assert "let forget= say that it no longer counts, or deal from decks (dice.card, dice.hand)" in same
    assert ", and nothing takes “" in open_value


def test_another_value_of_the_same_patient_is_found_even_if_the_question_asks_for_one() -> None:
    assert [", and nothing takes “" in each for each in found(single)] == [True]


@pytest.mark.parametrize("made", [dealt, keyword, replace(allergies, forget="They have all gone home.")])
def test_examples_that_can_know_better_do_not_clash(made: Scenario) -> None:
    assert found(made) == []


def test_an_example_that_never_says_what_it_asks_for_clashes() -> None:
    assert "unsaid/" in found(unsaid)[0]


def test_a_fact_of_the_same_name_replaces_another_and_one_of_another_name_does_not() -> None:
    assert found(facts(lambda patient, index: patient)) == []
    assert found(facts(lambda patient, index: f"{patient} {index}"))


def test_telling_anew_does_not_replace_what_was_said_at_first() -> None:
    assert "at_first/" in found(at_first)[0]


@pytest.mark.parametrize("name", [name for name in Catalogue.open().scenarios if name not in SETS])
def test_no_shipped_scenario_clashes(name: str) -> None:
    assert found(Catalogue.open().scenario(name), 40) == []


def test_a_deck_that_runs_out_is_named_with_the_first_example_that_it_ran_out_for() -> None:
    assert spent(Example(dealt, 19, 0, {}), counter()) == {}
    assert spent(Example(dealt, 20, 0, {}), counter()) == {"patient": 20}
