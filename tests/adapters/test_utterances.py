"""What was said in a turn, by speaker, role and time."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ltm_bench.adapters.passages import utterances_in
from ltm_bench.core.messages import Turn

if TYPE_CHECKING:
    from tests.memories import START, record, turn
else:
    from memories import START, record, turn


def said(*turns: Turn) -> list[tuple[str, str, str]]:
    return [(each.role, each.speaker, each.text) for each in utterances_in(turns)]


def test_an_ordinary_turn_has_two_sides_and_no_blank_one() -> None:
    assert said(turn(0, "Mary: hello", "Hi!")) == [
        ("user", "User", "Mary: hello"),
        ("assistant", "Assistant", "Hi!"),
    ]
    assert said(turn(0, "Hello.", " ")) == [("user", "User", "Hello.")]
    assert utterances_in([turn(0, "Hello.")])[0].at == START


def test_a_session_is_said_by_those_whom_its_lines_name() -> None:
    assert said(
        *record("[Sunday, 7 May 2023, 13:56]\nJo: Hi.\nAl: Hello: it is me.\n\nAgain.\nJo: Yes.")
    ) == [
        ("assistant", "Jo", "Hi."),
        ("user", "Al", "Hello: it is me.\n\nAgain."),
        ("assistant", "Jo", "Yes."),
    ]


def test_the_first_by_name_is_the_user_whoever_speaks_first() -> None:
    for text in ("Jo: One.\nAl: Two.", "Al: Two.\nJo: One."):
        assert set(said(*record(text))) == {("assistant", "Jo", "One."), ("user", "Al", "Two.")}


def test_a_label_in_the_text_of_users_and_assistants_names_nobody() -> None:
    assert said(*record("User: How?\nAssistant: So.\nNote: not so.")) == [
        ("user", "User", "How?"),
        ("assistant", "Assistant", "So.\nNote: not so."),
    ]


def test_whoever_spoke_last_goes_on_in_the_next_part() -> None:
    parts = record("User: How?\nAssistant: So.", "And so on.\nUser: Thanks.")
    assert said(*parts)[2:] == [("assistant", "Assistant", "And so on."), ("user", "User", "Thanks.")]
    assert [each.turn for each in utterances_in(parts)] == [0, 0, 1, 1]


def test_a_piece_of_a_cut_utterance_is_its_speakers() -> None:
    parts = record("Jo: One.\nAl: It began", "Al (continued): and went on.\nJo: Well.")
    assert said(*parts)[1:] == [
        ("user", "Al", "It began"),
        ("user", "Al", "and went on."),
        ("assistant", "Jo", "Well."),
    ]


def test_a_session_has_its_own_date_and_without_one_that_of_its_message() -> None:
    dated, plain = utterances_in(record("[Sunday, 7 May 2023, 13:56]\nAl: Hi.", "Al: Hi."))
    assert (dated.at, plain.at) == (datetime(2023, 5, 7, 13, 56, tzinfo=UTC), turn(1, "").message.at)


def test_what_an_agent_itself_said_to_a_session_is_kept() -> None:
    [part] = record("1. The mayor is Ada.")
    assert said(part) == [("user", "User", "1. The mayor is Ada.")]
    assert said(replace(part, answered="agent"))[1:] == [("assistant", "Assistant", "Noted.")]
