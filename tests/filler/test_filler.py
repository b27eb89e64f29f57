import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import Bank, Filler, Trivia, count_items, shipped, triviaqa

FACTS = sorted((Path(__file__).parents[2] / "ltm_bench" / "filler" / "facts").glob("*.json"))
SHARED = Path(__file__).parents[3] / "shared" / "data" / "triviaqa" / "goodai-selection.json"


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
def test_every_table_of_facts_is_complete(path: Path) -> None:
    table = json.loads(path.read_text("utf-8"))
    assert table["rows"]
    assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    keys = [json.dumps(row) for row in table["rows"]]
    assert len(set(keys)) == len(keys)


def draw(filler: Filler, count: int) -> list[str]:
    """Compose until this many questions have been asked."""
    asked: list[str] = []
    while len(asked) < count:
        asked += [line for line in filler.compose(400).text.splitlines() if line.startswith("Q: ")]
    return asked[:count]


def test_questions_repeat_only_when_the_bank_is_exhausted() -> None:
    count = len(shipped().items)
    asked = draw(Filler(shipped(), Dice("x"), counter()), count)
    assert len(set(asked)) == count


def test_the_same_dice_compose_the_same_filler() -> None:
    assert draw(Filler(shipped(), Dice("x"), counter()), 50) == draw(
        Filler(shipped(), Dice("x"), counter()), 50
    )
    assert draw(Filler(shipped(), Dice("x"), counter()), 50) != draw(
        Filler(shipped(), Dice("y"), counter()), 50
    )


@given(tokens=st.integers(1, 3000), seed=st.text(max_size=4))
@settings(deadline=None, max_examples=60)
def test_filler_has_about_the_requested_size_and_its_answers_are_json(tokens: int, seed: str) -> None:
    filler = Filler(shipped(), Dice(seed), counter())
    message = filler.compose(tokens)
    count = counter().count
    size = count(message.text) + count(message.answers)
    assert size <= max(110, min(tokens, 1000) * 1.1)
    assert size >= min(tokens, 1000) * 0.45 - 50  # a text too long for one message is split between two
    answers = json.loads(message.answers)
    assert len(answers) == sum(line.startswith("Q: ") for line in message.text.splitlines())


@given(sizes=st.lists(st.integers(1, 1200), min_size=1, max_size=30), seed=st.text(max_size=4))
@settings(deadline=None, max_examples=40)
def test_the_tokens_of_filler_are_those_of_its_text(sizes: list[int], seed: str) -> None:
    filler = Filler(shipped(), Dice(seed), counter())
    for tokens in sizes:
        message = filler.compose(tokens)
        assert filler.tokens(message) == counter().count(message.text)
        assert filler.answer_tokens(message) == counter().count(message.answers)


def test_the_shipped_bank_is_counted() -> None:
    bank = shipped()
    assert bank.counted is not None, "facts/ has changed: run scripts/count_facts"
    assert bank.counted == count_items(bank, counter())


class Letters:
    """Counts letters, so that no earlier count can be reused."""

    name = "letters"

    def count(self, text: str) -> int:
        return len(text)

    def ends(self, text: str, head: int, tail: int) -> tuple[str, str]:
        return text[:head], text[len(text) - tail :]


def test_text_without_a_stored_count_is_counted() -> None:
    filler = Filler(shipped(), Dice("x"), Letters())
    message = filler.compose(300)
    assert (filler.tokens(message), filler.answer_tokens(message)) == (
        len(message.text),
        len(message.answers),
    )


BANKS = [
    shipped(),
    Bank("one", "", [Trivia("What is 1?", "1")]),
    Bank("small", "", [Trivia(f"What is {n}?", str(n)) for n in range(7)]),
]


@given(
    sizes=st.lists(st.integers(1, 1200), max_size=40), seed=st.text(max_size=4), bank=st.sampled_from(BANKS)
)
@settings(deadline=None, max_examples=60)
def test_filler_continues_the_same_after_skipped_messages(sizes: list[int], seed: str, bank: Bank) -> None:
    composed, passed = (Filler(bank, Dice(seed), counter()) for _ in range(2))
    for tokens in sizes:
        text = composed.compose(tokens).text
        assert text.startswith(passed.pass_over(text))
    assert [passed.compose(300) for _ in range(3)] == [composed.compose(300) for _ in range(3)]


def test_filler_opens_in_hundreds_of_ways() -> None:
    filler = Filler(shipped(), Dice("x"), counter())
    texts = [filler.compose(400).text for _ in range(1000)]
    assert len({" ".join(text.split()[:5]) for text in texts}) > 500
    first = Counter(text.split()[0] for text in texts)
    assert max(first.values()) < 150  # no first word dominates
    assert all("JSON list" in text.partition("\n")[0] for text in texts)


def test_dice_that_are_out_of_step_expect_other_introductions() -> None:
    filler, other = Filler(shipped(), Dice("x"), counter()), Filler(shipped(), Dice("y"), counter())
    messages = [other.compose(100).text for _ in range(20)]
    assert not all(text.startswith(filler.pass_over(text)) for text in messages)


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
        ("{}", "no trivia found"),
        ('{"Data": [{}]}', "no trivia found"),
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
        Filler(Bank("none", "", ()), Dice("x"), counter())


@pytest.mark.skipif(not SHARED.exists(), reason="the reduced TriviaQA file is not here")
def test_the_reduced_triviaqa_file_is_read_whole() -> None:
    items = triviaqa(SHARED).items
    assert len(items) > 11_000
    assert all(item.answer for item in islice(items, 1000))
