"""Drafts: marked turns of a transcript become a scenario that asks what was asked, where it was asked."""

import tomllib
from pathlib import Path

import pytest

from ltm_bench import Ask, Outcome, Tell
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.script import toml
from ltm_bench.script.drafts import Asked, Draft, Marks, drafted
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example
from ltm_bench.script.transcripts import StoredTurn

TURNS = [
    StoredTurn(0, "Hi!", "Hello."),
    StoredTurn(1, "My sister lives in Lima.", "Nice."),
    StoredTurn(2, "Now something else entirely, for a long while.", "Of course, at length."),
    StoredTurn(3, "She has moved to Ghent.", "Good for her."),
    StoredTurn(4, "Where does my sister live?", "She lives in Lima."),
    StoredTurn(5, 'And what is {x} in "JSON"?\n\x7f\ud800 Say it.', "Bread \\ {butter}."),
]


def lines(draft: Draft, folder: Path) -> list[Line]:
    path = folder / "mine.toml"
    path.write_text(draft.toml, "utf-8")
    return [step.line for step in rehearse(Example(toml.read(path), 0, 0, {}), counter())]


def test_it_says_what_was_said_at_the_places_where_it_was_said(tmp_path: Path) -> None:
    draft = drafted(TURNS, Marks([3, 1], [Asked(4, ["Ghent"], ["Lima"])]), "chat.json")
    first, second, asked = lines(draft, tmp_path)
    assert [line.text for line in (first, second, asked)] == [TURNS[i].text for i in (1, 3, 4)]
    assert isinstance(first, Tell)
    assert (first.at, asked.at) == (0.0, 1.0)
    assert 0.6 < (second.at or 0) < 0.9
    assert [turn.number for turn in draft.between] == [1, 2, 3, 4]
    assert tomllib.loads(draft.toml)["skills"] == ["recall", "conflict"]


def test_it_says_what_the_transcripts_own_reply_is_worth() -> None:
    draft = drafted(TURNS, Marks([1, 3], [Asked(4, ["Ghent"], ["Lima"])]), "x")
    assert draft.verdicts[4].outcome is Outcome.STALE
    right = drafted(TURNS, Marks([1], [Asked(4, ["Lima"])]), "x")
    assert right.verdicts[4].outcome is Outcome.CORRECT


def test_texts_survive_whatever_stands_in_them(tmp_path: Path) -> None:
    draft = drafted(TURNS, Marks([1], [Asked(5, ['{x} "y"'], ["{z}"])]), "a\nb.json")
    *_, asked = lines(draft, tmp_path)
    assert asked.text == TURNS[5].text.replace("\ud800", "?")
    assert isinstance(asked, Ask)
    assert asked.expect.right()[0].find("{x}") >= 0


@pytest.mark.parametrize(
    ("asked", "reply", "outcome"),
    [
        (Asked(4, ["Ghent"]), "In Ghent, I believe you said. She moved to Ghent.", Outcome.CORRECT),
        (Asked(4, ["Ghent"], ["Lima", "Bruges"]), "Bruges.", Outcome.WRONG),
        (Asked(4, ["Ghent", "Bruges"]), "Ghent, Bruges", Outcome.CORRECT),
        (Asked(4, ["Ghent", "Bruges"]), "Ghent", Outcome.PARTIAL),
        (Asked(4, ["The key is under the mat."]), "The key is under the mat.", Outcome.CORRECT),
    ],
)
def test_a_question_expects_what_was_named(
    tmp_path: Path, asked: Asked, reply: str, outcome: Outcome
) -> None:
    question = lines(drafted(TURNS, Marks([1], [asked]), "x"), tmp_path)[-1]
    assert isinstance(question, Ask)
    assert question.expect.verdict(reply, []).outcome is outcome


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (Marks([9], [Asked(4, ["x"])]), "turn 9 does not exist; the transcript has turns 0 to 5"),
        (Marks([1], [Asked(-1, ["x"])]), "turn -1 does not exist"),
        (Marks([4], [Asked(4, ["x"])]), "turn 4 is marked twice"),
        (Marks([1, 1], [Asked(4, ["x"])]), "turn 1 is marked twice"),
        (Marks([], [Asked(4, ["x"])]), "no turn is marked as told"),
        (Marks([1], []), "no turn is marked as asked"),
        (Marks([3], [Asked(1, ["x"])]), "turn 1 is asked before anything is told"),
        (Marks([1], [Asked(4, [])]), "its right answer is missing"),
        (Marks([1], [Asked(4, [" "])]), "its right answer is missing"),
        (Marks([1], [Asked(4, ["?!"])]), "no matcher takes '\\?!' for right"),
        (
            Marks([1], [Asked(4, ["Ghent"], ["Ghent"])]),
            "no matcher takes 'Ghent' for right and refuses 'Ghent'",
        ),
    ],
)
def test_marks_that_are_no_example_are_named(marks: Marks, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        drafted(TURNS, marks, "x")
