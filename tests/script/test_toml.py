"""Scenarios as data: a TOML file's messages are asked as written, and every mistake in it is named."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from ltm_bench import Ask, Chat, Outcome, Tell
from ltm_bench.core.errors import ConfigError, LtmBenchError, PluginError
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.script import toml as recipes
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

WHOLE = """
about = "Moving: a town changes"
skills = ["recall", "conflict"]
topics = ["towns"]
forget = "Never mind."

[choices]
name = ["Ines", "Oskar", "Ulla"]
town = { from = ["Ghent", "Lima", "Bergen"], draw = 2 }
pet = [{ kind = "cat", call = "Miou" }, { kind = "dog", call = "Rex" }]

[[messages]]
say = "{name} lives in {town.1} with a {pet.kind} called {pet.call}."
at = 0.0

[[messages]]
chat = "How are you?"
after = "1d 2h 30m"
ideal = "Fine, {name}."

[[messages]]
say = "{name} has moved to {town.2}."
at = 0.5

[[messages]]
ask = "Where does {name} live?"
at = 1.0
expect = { names = "{town.2}", among = "town", stale = ["{town.1}"] }

[[messages]]
ask = "What is the pet called?"
expect = { names = "{pet.call}", among = "pet.call" }
"""


def lines(path: Path, seed: int = 0, **replaced: object) -> list[Line]:
    return [step.line for step in rehearse(Example(recipes.read(path), 0, seed, replaced), counter())]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    path = tmp_path / "moving.toml"
    path.write_text(WHOLE, "utf-8")
    return path


def test_a_file_becomes_a_scenario_with_everything_in_it(whole: Path) -> None:
    scenario = recipes.read(whole)
    assert (scenario.name, scenario.summary, scenario.skills) == (
        "moving", "Moving: a town changes", ("conflict", "recall"),
    )  # fmt: skip
    assert scenario.topics == ("moving", "towns")
    assert scenario.parameters["town"] == ["Ghent", "Lima", "Bergen"]
    first, chat, second, where, pet, leave = lines(whole)
    assert isinstance(chat, Chat)
    assert (chat.after, chat.at) == (timedelta(days=1, hours=2, minutes=30), None)
    assert [line.at for line in (first, second, where, pet)] == [0.0, 0.5, 1.0, None]
    assert leave == Tell("Never mind.")
    assert isinstance(where, Ask)
    before, after = (str(line.text).rpartition(" in ")[2].partition(" with")[0] for line in (first, first))
    assert before == after
    stale, new = before, str(second.text).removesuffix(".").rpartition(" ")[2]
    assert stale != new
    assert where.expect.verdict(f"In {stale}.", []).outcome is Outcome.STALE
    assert where.expect.verdict(f"In {new}.", []).outcome is Outcome.CORRECT


def test_choices_follow_the_seed_and_related_ones_stay_together(whole: Path) -> None:
    said = [str(lines(whole, seed)[0].text) for seed in range(20)]
    assert said == [str(lines(whole, seed)[0].text) for seed in range(20)]
    assert len(set(said)) > 8
    assert all(("cat called Miou" in text) != ("dog called Rex" in text) for text in said)


def test_an_added_choice_changes_no_other(whole: Path, tmp_path: Path) -> None:
    more = tmp_path / "more" / "moving.toml"
    more.parent.mkdir()
    more.write_text(WHOLE.replace('name = ["Ines"', 'extra = ["a", "b"]\nname = ["Ines"'), "utf-8")
    assert [line.text for line in lines(more)] == [line.text for line in lines(whole)]


def test_a_suite_replaces_the_values_of_a_choice(whole: Path) -> None:
    assert "Zoe" in str(lines(whole, name=["Zoe"])[0].text)
    with pytest.raises(ConfigError, match="no parameter 'nam'; did you mean 'name'"):
        lines(whole, nam=["Zoe"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("about =", "abuot =", "unknown key 'abuot'; did you mean 'about'|about is missing"),
        ('about = "Moving: a town changes"\n', "", "about is missing"),
        ("at = 0.5", "at = 1.5", r"messages 3\.at = 1\.5: .*less than or equal to 1"),
        ("at = 0.5", "att = 0.5", r"unknown key 'messages 3\.att'; did you mean 'at'"),
        ("at = 0.5", 'ask = "x"', "messages 3: exactly one of say, ask, chat is needed, found say and ask"),
        ('say = "{name} has', 'ask = "{name} has', "messages 3: ask and expect belong together"),
        ('names = "{town.2}", ', "", r"messages 4\.expect: exactly one of names, says"),
        (
            'names = "{town.2}"',
            'name = "{town.2}"',
            r"unknown key 'messages 4\.expect\.name'; did you mean 'names'",
        ),
        (', among = "town"', "", r"messages 4\.expect: names needs among"),
        (
            'among = "town"',
            'among = "towns"',
            "among = 'towns': there is no such choice; did you mean 'town'",
        ),
        (
            'among = "pet.call"',
            'among = "pet"',
            r"among = 'pet': name a part of the choice: pet\.kind, pet\.call",
        ),
        (
            "lives in {town.1}",
            "lives in {town}",
            r"messages 1: .*there is no choice 'town'; did you mean 'town\.[12]'",
        ),
        ("draw = 2", "draw = 9", "cannot deal 9 of 3"),
        ('after = "1d 2h 30m"', 'after = "soon"', "after = 'soon': write a duration such as 45m"),
        ('skills = ["recall", "conflict"]', "skills = []", "skills: list should have at least 1 item"),
        ("[choices]", "[choices", "not valid TOML: .*line"),
        ('stale = ["{town.1}"]', "of = 3", r"messages 4\.expect: picks and of belong together"),
    ],
)
def test_a_mistake_is_named_with_its_key_and_the_nearest_name(
    whole: Path, old: str, new: str, message: str
) -> None:
    assert old in WHOLE
    whole.write_text(WHOLE.replace(old, new, 1), "utf-8")
    with pytest.raises(LtmBenchError, match=message) as caught:
        lines(whole)
    assert "moving" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"gone\.toml: No such file"):
        recipes.read(tmp_path / "gone.toml")


def test_every_kind_of_expectation_becomes_its_matcher(tmp_path: Path) -> None:
    for expect, right, wrong in (
        ('{ says = "Beware of the geese" }', "Beware of the geese!", "Quack."),
        ('{ lists = ["{a}", "fig"], among = ["kiwi"] }', '["plum", "fig"]', '["plum", "kiwi"]'),
        ("{ picks = 2, of = 3 }", "Option 2", "Option 3"),
        ('{ retells = "A snail was mugged by two tortoises.", among = ["Two antennas got married."] }',
         "A snail was mugged by two tortoises.", "Two antennas got married."),
    ):  # fmt: skip
        path = tmp_path / "one.toml"
        head = 'about = "x"\nskills = ["y"]\n[choices]\na = ["plum"]\n[[messages]]\nask = "{a}?"\n'
        text = f"{head}expect = {expect}\n"
        path.write_text(text, "utf-8")
        (line,) = lines(path)
        assert isinstance(line, Ask)
        assert line.expect.verdict(right, []).outcome is Outcome.CORRECT
        assert line.expect.verdict(wrong, []).outcome is not Outcome.CORRECT


def test_two_braces_are_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'about = "x"\nskills = ["recall"]\n[choices]\nword = ["tea", "milk"]\n'
        '[[messages]]\nsay = "{{ {word}: {{}} }}"\n',
        "utf-8",
    )
    assert str(lines(path)[0].text) in ("{ tea: {} }", "{ milk: {} }")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            [f"v{i}" for i in range(1001)],
            "it has 1,001 values of 3,895 characters; a choice has at most 1,000 values",
        ),
        (
            ["a" * 20_000, "b"],
            "it has 2 values of 20,001 characters; a choice has at most 1,000 values and 20,000",
        ),
    ],
    ids=["many", "long"],
)
@pytest.mark.parametrize("form", ["{}", "{{ from = {} }}"])
def test_a_choice_is_no_larger_than_a_matcher_can_bear(
    tmp_path: Path, values: list[str], said: str, form: str
) -> None:
    path = tmp_path / "big.toml"
    text = f"about = 'x'\nskills = ['recall']\n[choices]\ntown = {form.format(values)}\n[[messages]]\nsay = 'x'\n"
    path.write_text(text, "utf-8")
    with pytest.raises(PluginError, match=rf"big\.toml: choices\.town(\.from)?: {re.escape(said)}"):
        recipes.read(path)
