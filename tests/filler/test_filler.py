import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import Bank, Filler, FillerMessage, Trivia, count_items, shipped, triviaqa
from ltm_bench.filler.kinds import INLINE, KINDS, PROSE, Deck, deck, kind
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.script.rehearsal import rehearse

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


DECKS = [deck(of, name) for of in KINDS[1:] for name in kind(of).names]
EACH = pytest.mark.parametrize("each", DECKS, ids=lambda each: each.name)


@EACH
def test_the_items_of_a_deck_differ_and_can_be_told_apart(each: Deck) -> None:
    assert len(set(each.texts)) == len(each.texts) == len(each.keys)
    for text in each.texts:
        assert text == " ".join(text.split()), text
        assert not set("{}") & set(text), text
        if each.joint == INLINE:
            assert "," not in text
        elif each.joint == PROSE:
            assert text.count(".") == 1, text
            assert text.endswith(".")


def test_talk_and_plans_say_thousands_of_things() -> None:
    assert sum(len(each.texts) for each in DECKS if each.name.startswith(("talk", "plans"))) > 4000


def draw(filler: Filler, count: int) -> list[str]:
    """Compose until this many questions have been asked."""
    asked: list[str] = []
    while len(asked) < count:
        message = filler.compose(400)
        if message.frame.kind == "quiz":
            asked += [message.frame.deck.texts[i] for i in message.items]
    return asked[:count]


def test_questions_repeat_only_when_the_bank_is_exhausted() -> None:
    count = len(shipped().items)
    asked = draw(Filler(shipped(), Dice("x"), counter()), count)
    assert len(set(asked)) == count


def composed(count: int, tokens: int = 300) -> list[FillerMessage]:
    filler = Filler(shipped(), Dice("kinds"), counter())
    return [filler.compose(tokens) for _ in range(count)]


def test_the_dice_mix_all_kinds() -> None:
    found = Counter(message.frame.kind for message in composed(1000))
    assert set(found) == set(KINDS)
    assert min(found.values()) > 150


def test_a_message_says_hardly_anything_twice() -> None:
    for message in composed(1000, 1000):
        different = len({message.frame.deck.texts[i] for i in message.items})
        assert different == len(message.items) or not message.frame.deck.once
        assert different >= 0.8 * len(message.items)  # where talk and plans begin their round again


def test_the_reply_to_a_list_is_the_list_in_order() -> None:
    for message in composed(400):
        if message.frame.kind == "lists":
            keys = [message.frame.deck.keys[i] for i in message.replied]
            order = [int(key) if key.isdecimal() else key.casefold() for key in keys]
            assert order == sorted(order)
            assert sorted(message.replied) == sorted(message.items)
            places = [message.answers.index(message.frame.deck.texts[i]) for i in message.replied[:1]]
            assert places[0] < 4


def test_a_quiz_is_answered_in_the_form_that_it_asks_for() -> None:
    forms = set()
    for message in composed(400):
        if message.frame.kind == "quiz":
            answers = [message.frame.deck.keys[i] for i in message.items]
            form = message.frame.form
            forms.add(form)
            if form == "json":
                assert json.loads(message.answers) == answers
            else:
                heads = [f"{form.format(n=n + 1)} {answer}" for n, answer in enumerate(answers)]
                assert message.answers == "\n".join(heads)
    assert forms == {"json", "-", "{n}."}


def test_summaries_and_remarks_are_short_and_complete() -> None:
    for message in composed(600):
        if message.frame.kind not in ("quiz", "lists"):
            assert counter().count(message.answers) < 60
            assert not set("{}") & set(message.text + message.answers)
            assert "\n" not in message.answers


def test_the_same_dice_compose_the_same_filler() -> None:
    assert draw(Filler(shipped(), Dice("x"), counter()), 50) == draw(
        Filler(shipped(), Dice("x"), counter()), 50
    )
    assert draw(Filler(shipped(), Dice("x"), counter()), 50) != draw(
        Filler(shipped(), Dice("y"), counter()), 50
    )


@given(tokens=st.integers(1, 3000), seed=st.text(max_size=4))
@settings(deadline=None, max_examples=60)
def test_filler_has_about_the_requested_size(tokens: int, seed: str) -> None:
    filler = Filler(shipped(), Dice(seed), counter())
    message = filler.compose(tokens)
    count = counter().count
    size = count(message.text) + count(message.answers)
    assert size <= max(130, min(tokens, 1000) * 1.15)  # what a kind of filler needs around its text
    # A text too long for one message is split between two; some subjects are exhausted earlier.
    assert size >= min(tokens, 1000, 900) * 0.45 - 50


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
    assert bank.counted is not None, "its texts have changed: run scripts/count_facts"
    found = count_items(bank, counter())
    assert bank.counted.tokenizer == found.tokenizer
    for name, counts in found.decks.items():
        assert [list(each) for each in bank.counted.decks[name]] == [list(each) for each in counts], name


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
        opening, ending = passed.pass_over(text)
        assert text.startswith(opening)
        assert text.endswith(ending)
    assert [passed.compose(300) for _ in range(3)] == [composed.compose(300) for _ in range(3)]


def test_filler_opens_in_hundreds_of_ways() -> None:
    filler = Filler(shipped(), Dice("x"), counter())
    texts = [filler.compose(400).text for _ in range(1000)]
    assert len({" ".join(text.split()[:5]) for text in texts}) > 500
    first = Counter(text.split()[0] for text in texts)
    assert max(first.values()) < 150  # no first word dominates


def test_dice_that_are_out_of_step_expect_other_introductions() -> None:
    filler, other = Filler(shipped(), Dice("x"), counter()), Filler(shipped(), Dice("y"), counter())
    messages = [other.compose(100).text for _ in range(20)]
    assert not all(text.startswith(filler.pass_over(text)[0]) for text in messages)


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
    assert bank.digest != shipped().digest


def test_a_quiz_of_triviaqa_is_mixed_with_our_other_kinds(tmp_path: Path) -> None:
    path = tmp_path / "trivia.json"
    path.write_text(json.dumps(FORMS["rc"]), "utf-8")
    filler, ours = Filler(triviaqa(path), Dice("x"), counter()), Filler(shipped(), Dice("x"), counter())
    for _ in range(50):
        message, other = filler.compose(300), ours.compose(300)
        if message.frame.kind == "quiz":
            assert message.items == [0]
            assert "Paris" in message.answers
        else:
            assert message == other
        assert filler.tokens(message) == counter().count(message.text)


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


@pytest.mark.parametrize("suite", ["standard", "abilities"])
def test_talk_and_plans_hold_no_answer_of_a_scenario(suite: str) -> None:
    said = "\n".join(text for each in DECKS if each.name.startswith(("talk", "plans")) for text in each.texts)
    words = set(re.findall(r"\w+", said.casefold()))
    for seed in range(3):
        plan = make_plan(Request(agent="perfect", span="32k", suite=suite, seed=seed))
        lines = [step.line for example in plan.examples for step in rehearse(example, plan.counter)]
        for reply in (each for line in lines if isinstance(line, Ask) for each in line.expect.right()):
            assert reply.casefold() not in words or reply.isdecimal(), reply
