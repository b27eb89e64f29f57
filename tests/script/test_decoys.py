"""Decoys are what other examples would tell: the same form, another subject, and never an answer to what is asked."""

from dataclasses import replace
from itertools import islice

import pytest

from ltm_bench import Ask, Dice, Memory, Script, Tell, names_only, scenario
from ltm_bench.core.tokens import counter
from ltm_bench.plugins import scenarios as plugins
from ltm_bench.plugins.files import catalogue
from ltm_bench.score.results.written import held
from ltm_bench.script.clashes import second_answers
from ltm_bench.script.decoys import decoys, spare, told
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example, Scenario

COUNT = counter()
PETS = ("cat", "dog", "newt", "owl", "pig", "rat")
PEOPLE = ("Ada", "Bo", "Cem", "Dora", "Ella")


@scenario(skills={"recall"}, decoys={})
def pets(dice: Dice, *, people: tuple[str, ...] = PEOPLE) -> Script:
    """Tell whose pet is what, of somebody who is dealt."""
    who, pet = dice.card("who", people), dice.choice(PETS)
    yield Tell(f"{who} has a {pet}.", at=0.0)
    yield Ask(f"What pet has {who}?", expect=names_only(pet, among=PETS), at=1.0)


@scenario(skills={"recall"}, decoys={})
def pet(dice: Dice) -> Script:
    """Tell the user's pet, who is the same in each example."""
    mine = dice.card("pet", PETS)
    yield Tell(f"I have a {mine}.", at=0.0)
    yield Ask("What pet do I have?", expect=names_only(mine, among=PETS), at=1.0)


def played(of: Scenario, seed: int = 0, examples: int = 3) -> list[Example]:
    parameters = {} if of.name == "jokes" else of.decoys or {}  # decoys of jokes are of another kind
    return [Example(of, index, seed, parameters) for index in range(examples)]


def wrong(examples: list[Example], said: list[str]) -> list[str]:
    return [why for _, why in second_answers([(each, rehearse(each, COUNT)) for each in examples], said)]


WITH_DECOYS = [name for name in catalogue("scenarios") if plugins.scenario(name).decoys is not None]


def test_most_scenarios_of_the_standard_suite_have_decoys() -> None:
    assert {"colours", "name_list", "shopping_list", "locations_directions", "sally_anne"} <= {*WITH_DECOYS}


@pytest.mark.parametrize("name", WITH_DECOYS)
def test_no_decoy_of_a_shipped_scenario_answers_a_question_or_belies_a_retraction(name: str) -> None:
    for seed in range(5):
        examples = played(plugins.scenario(name), seed)
        said = list(islice(decoys(examples, COUNT), 150))
        assert len(said) == 150
        assert wrong(examples, said) == []


def test_a_decoy_that_answers_a_question_is_found() -> None:
    examples = played(pet)
    found = wrong(examples, ["I have a newt."])
    assert len(found) == 3
    assert "asks “What pet do I have?”, and a decoy says “I have a newt.”" in found[0]
    assert "deal it from a deck" in found[0]


@pytest.mark.parametrize(
    ("forget", "belied"),
    [
        ("No more pets for anybody.", 3),
        ("No more pets for {who}.", 0),
        ("{who} and the others have none.", 0),
    ],
)
def test_a_retraction_that_names_nothing_of_its_example_would_be_belied_by_decoys(
    forget: str, belied: int
) -> None:
    examples = played(replace(pets, forget=forget))
    found = wrong(examples, list(islice(decoys(played(pets), COUNT), 2)))
    assert len([each for each in found if "takes back “No more pets for anybody.”" in each]) == 2 * belied
    assert len(found) == 2 * belied
    assert bool(list(islice(decoys(examples, COUNT), 1))) == (not belied)


def test_a_request_to_delete_that_names_nothing_would_be_belied_by_decoys() -> None:
    @scenario(skills={"recall"}, decoys={})
    def burnt(dice: Dice) -> Script:
        """Have a pet, and have all of them deleted."""
        who = dice.card("who", PEOPLE)
        yield Tell(f"{who} has a {dice.choice(PETS)}.", at=0.0)
        yield Tell("Delete all pets.", deletes=(who,))

    assert "takes back “Delete all pets.”" in wrong(played(burnt), ["Zoe has a newt."])[0]


def test_siblings_answer_nothing_if_all_questions_name_what_they_are_not() -> None:
    @scenario(skills={"recall"}, decoys={"kind": "riddle"})
    def tales(dice: Dice, *, kind: str = "joke") -> Script:
        """Tell a joke; its siblings are riddles."""
        what = dice.choice(PETS)
        yield Tell(f"Here is a {kind} about a {what}.", at=0.0)
        yield Ask("Which joke was it?", expect=names_only(what, among=PETS), at=1.0)

    examples = [Example(tales, index, 0, {}) for index in range(3)]
    assert wrong(examples, ["Here is a riddle about an owl."]) == []
    assert len(wrong(examples, ["Here is a joke about an owl."])) == 3
    assert "riddle" in next(decoys(examples, COUNT))


def test_decoys_are_about_those_who_are_dealt_to_no_example() -> None:
    said = list(islice(decoys(played(pets), COUNT), 20))
    asked = {each.script().send(None).text for each in played(pets)}  # type: ignore[arg-type]  # begins a generator
    whose = {text.split()[0] for text in said}
    assert len(whose) == 2
    assert whose.isdisjoint(str(text).split()[0] for text in asked)
    assert len(set(said)) > 4, "those who come again have other pets"


def test_decoys_come_in_an_order_of_the_seed_alone() -> None:
    one, again = (list(islice(decoys(played(pets), COUNT), 20)) for _ in range(2))
    assert one == again != list(islice(decoys(played(pets, seed=1), COUNT), 20))


@pytest.mark.parametrize(("examples", "spares"), [(1, 4), (4, 1), (5, 0), (6, 0)])
def test_a_deck_that_has_run_out_leaves_no_decoys(examples: int, spares: int) -> None:
    last = played(pets, examples=examples)[-1]
    assert len(spare(last, COUNT)) == spares
    assert bool(list(islice(decoys(played(pets, examples=examples), COUNT), 3))) == (spares > 0)


def test_a_scenario_without_decoys_tells_none() -> None:
    @scenario(skills={"recall"})
    def silent(dice: Dice) -> Script:
        """Have no decoys."""
        yield Tell(f"I have a {dice.card('pet', PETS)}.")

    assert silent.decoys is None
    assert list(decoys([Example(silent, 0, 0, {})], COUNT)) == []


def test_a_spare_example_has_its_subject_dealt_whatever_it_rolls() -> None:
    [first, *_] = spare(played(pets)[-1], COUNT)
    said = [told(first, COUNT, turn=turn) for turn in range(8)]
    assert len({text.split()[0] for [text] in said}) == 1
    assert len({text for [text] in said}) > 1


def test_decoys_name_parameters_that_the_scenario_has() -> None:
    with pytest.raises(TypeError, match="scenario odd: decoys='sevral'"):

        @scenario(skills={"recall"}, decoys={"sevral": True})
        def odd(dice: Dice, *, several: bool = False) -> Script:
            """Have a decoy of a parameter that is not there."""
            yield Tell("…")


@pytest.mark.parametrize("seed", range(6))
def test_decoys_of_one_row_are_about_nobody_of_whom_another_row_of_the_scenario_asks(seed: int) -> None:
    people = tuple(f"{letter * 3}a" for letter in "ABCDEFGHIJKLMNOPQRST")
    rows = [
        [replace(each, parameters={"people": people}) for each in played(replace(pets, name=name), seed)]
        for name in ("pets", "more")
    ]
    asked = {str(each.script().send(None).text).split()[0] for row in rows for each in row}  # type: ignore[arg-type]  # begins a generator
    whose = {text.split()[0] for text in islice(decoys([*rows[0], *rows[1]], COUNT), 200)}
    assert whose.isdisjoint(asked)
    assert len(whose) > 8 or len(asked) < 6, "none, if both rows ask about the same person"


def test_examples_without_the_subject_that_decoys_have_get_none() -> None:
    colours = plugins.scenario("colours")
    plain = [Example(colours, index, 0, {}) for index in range(3)]
    assert list(islice(decoys(plain, COUNT), 1)) == []
    assert list(islice(decoys(played(colours), COUNT), 1)) != []


@pytest.mark.parametrize("name", WITH_DECOYS)
def test_no_decoy_and_no_other_example_states_a_fact_that_is_looked_for_in_a_store(name: str) -> None:
    examples = played(plugins.scenario(name))
    steps = {each.id: [step.line for step in rehearse(each, COUNT)] for each in examples}
    facts = {
        of: [fact for line in lines if isinstance(line, Tell) for fact in line.facts]
        for of, lines in steps.items()
    }
    said = list(islice(decoys(examples, COUNT), 100)) if any(facts.values()) else []
    for of, wanted in facts.items():
        others = [str(line.text) for each, lines in steps.items() if each != of for line in lines]
        found = held(wanted, [Memory(text) for text in (*said, *others)])
        assert not any(found.values()), found
