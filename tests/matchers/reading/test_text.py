"""How text is read: the fast path gives the same result as the slow one."""

import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ltm_bench.matchers.reading import READ, flat, plain, words
from ltm_bench.matchers.reading.text import sentences, shown
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plugins.files import catalogue
from ltm_bench.script.rehearsal import rehearse

STRAIGHT = str.maketrans("’‘ʼ“”„–—łŁøØđĐ", "'''\"\"\"--lloodd")


@given(st.text(max_size=60) | st.text("aÉłØ’‘ʼ“”„–—…½ﷺŉſİΣς\u0301\x00 ", max_size=12))
@example("“It’s — well … fine”")
@settings(deadline=None)
def test_plain_text_has_no_case_no_accents_and_no_curly_quotes(text: str) -> None:
    decomposed = unicodedata.normalize("NFKD", text.translate(STRAIGHT))
    assert plain(text) == "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def test_plain_text_is_no_longer_than_the_original() -> None:
    assert len(plain("ﷺ" * READ)) == len(plain("…" * READ)) == len(plain("a" * (READ + 1))) == READ


@given(st.text(max_size=60) | st.text("aÉ’“—…½ﷺŉſİΣς\u0301 ", max_size=12))
@example("“It’s — well … fine”")
@settings(deadline=None)
def test_flat_text_has_the_length_of_the_original(text: str) -> None:
    assert len(flat(text)) == len(text)


def test_a_letter_with_a_stroke_counts_as_the_plain_letter() -> None:
    assert words("Wrocław, TØNDER, Đà Nẵng") == ["wroclaw", "tonder", "da", "nang"]
    assert flat("Wrocław") == "wroclaw"


def test_words_are_in_british_spelling_and_a_hyphenated_word_is_one() -> None:
    assert words("My favorite COLOR is “off-white”, isn’t it?") == [
        "my", "favourite", "colour", "is", "off-white", "isn't", "it",
    ]  # fmt: skip


def test_reasoning_before_the_answer_is_not_read() -> None:
    assert words("<think>Blue? Red?</think>\nRed.") == ["red"]
    assert words("Red.</think>") == [], "a thought alone is no answer"


def test_a_sentence_ends_at_its_full_stop_or_at_a_semicolon_but_not_within_a_number() -> None:
    text = "it is 2.5 km north. then east; 红色。done"
    found = [text[begin:end].strip() for begin, end in sentences(text)]
    assert found == ["it is 2.5 km north.", "then east;", "红色。", "done"]


def test_what_a_reply_shows_is_no_longer_than_what_is_read_of_it() -> None:
    assert len(shown("red, " * READ)) == len(shown("< red, " * READ)) == READ
    assert shown("<think>blue</think>red") == "red"


def test_american_words_are_british_ones() -> None:
    said = words(
        "The zucchini, two backpacks, the bookstore and a kilometer by railroad to the movie theater"
    )
    assert " ".join(said) == (
        "the courgette two rucksacks the bookshop and a kilometre by railway to the film theatre"
    )


def test_no_two_values_of_a_scenario_become_the_same_words() -> None:
    for name in catalogue("scenarios"):
        plan = make_plan(Request(agent="perfect", span="16k", scenarios=[name], examples=2, pace=True))
        for each in plan.examples:
            for step in rehearse(each, plan.counter):
                among = getattr(getattr(step.line, "expect", None), "among", ())
                assert len({tuple(words(value)) for value in among}) == len(set(among)), (name, among)
