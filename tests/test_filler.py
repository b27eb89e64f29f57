import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.dice import Dice
from ltm_bench.errors import ConfigError
from ltm_bench.filler import Bank, Filler, Trivia, shipped, triviaqa
from ltm_bench.tokens import counter

FACTS = sorted((Path(__file__).parents[1] / "ltm_bench" / "facts").glob("*.json"))
SHARED = Path(__file__).parents[2] / "shared" / "data" / "triviaqa" / "goodai-selection.json"


def test_the_bank_holds_thousands_of_distinct_questions() -> None:
    items = shipped().items
    assert len(items) >= 3000
    assert len({item.question.casefold() for item in items}) == len(items)


def test_no_question_holds_its_answer_and_every_line_is_one_line() -> None:
    for question, answer in shipped().items:
        assert question.endswith(("?", ".")), question
        assert question == " ".join(question.split())
        assert answer == " ".join(answer.split()) != ""
        assert "{" not in question + answer


@pytest.mark.parametrize("path", FACTS, ids=lambda path: path.stem)
def test_every_table_of_facts_is_whole(path: Path) -> None:
    table = json.loads(path.read_text("utf-8"))
    assert table["rows"]
    assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    keys = [json.dumps(row) for row in table["rows"]]
    assert len(set(keys)) == len(keys)


def draw(filler: Filler, count: int) -> list[str]:
    """Compose until so many questions have been asked."""
    asked: list[str] = []
    while len(asked) < count:
        asked += [line for line in filler.compose(400).text.splitlines() if line.startswith("Q: ")]
    return asked[:count]


def test_questions_come_again_only_when_the_bank_is_exhausted() -> None:
    count = len(shipped().items)
    asked = draw(Filler(shipped(), Dice("x")), count)
    assert len(set(asked)) == count


def test_the_same_dice_compose_the_same_filler() -> None:
    assert draw(Filler(shipped(), Dice("x")), 50) == draw(Filler(shipped(), Dice("x")), 50)
    assert draw(Filler(shipped(), Dice("x")), 50) != draw(Filler(shipped(), Dice("y")), 50)


@given(tokens=st.integers(1, 3000), seed=st.text(max_size=4))
@settings(deadline=None, max_examples=60)
def test_filler_has_about_the_wanted_size_and_its_answers_are_json(tokens: int, seed: str) -> None:
    filler = Filler(shipped(), Dice(seed))
    message = filler.compose(tokens)
    count = counter().count
    size = count(message.text) + count(message.answers)
    assert size <= max(110, min(tokens, 1000) * 1.1)
    assert size >= min(tokens, 1000) * 0.45 - 50  # what does not fit into one message is shared by two
    answers = json.loads(message.answers)
    assert len(answers) == sum(line.startswith("Q: ") for line in message.text.splitlines())


ENTRY = {"Question": 'Which  "city"\nis it?', "QuestionId": "tc_1"}
FORMS: dict[str, Any] = {
    "rc": {
        "Data": [{**ENTRY, "Answer": {"Value": "Paris", "Aliases": ["Paris"]}}],
        "Domain": "Web",
        "Version": 1.0,
    },
    "reduced": {"Data": [{**ENTRY, "AnswerValue": "Paris"}]},
    "list": [{**ENTRY, "AnswerValue": "Paris"}, {"Question": "No answer?"}, 7, None],
}


@pytest.mark.parametrize("form", FORMS)
def test_triviaqa_is_read_in_its_published_forms(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"{form}.json"
    path.write_text(json.dumps(FORMS[form]), "utf-8")
    bank = triviaqa(path)
    assert bank.items == [Trivia('Which "city" is it?', "Paris")]
    assert bank.name == f"triviaqa:{form}.json"
    assert triviaqa(tmp_path).items == bank.items


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no trivia in it"),
        ('{"Data": [{}]}', "no trivia in it"),
    ],
)
def test_a_broken_file_is_named_with_what_is_wrong(tmp_path: Path, content: str, complaint: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(content, "utf-8")
    with pytest.raises(ConfigError, match=rf"broken\.json: {complaint}"):
        triviaqa(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        triviaqa(tmp_path / "missing.json")


def test_an_empty_bank_is_refused() -> None:
    with pytest.raises(ConfigError, match="bank none is empty"):
        Filler(Bank("none", "", ()), Dice("x"))


@pytest.mark.skipif(not SHARED.exists(), reason="the reduced TriviaQA file is not here")
def test_the_reduced_triviaqa_file_is_read_whole() -> None:
    items = triviaqa(SHARED).items
    assert len(items) > 11_000
    assert all(item.answer for item in islice(items, 1000))
