"""PersonaMem: its folder, and what an agent is told and asked."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.personamem.files import histories
from ltm_bench.datasets.public import contents, public_set
from tests import sets
from tests.published import shared


def test_a_history_is_what_was_told_up_to_a_point_and_the_questions_asked_there(tmp_path: Path) -> None:
    early, late, *_ = histories(sets.personamem(tmp_path / "32k"), pytest.fail)
    assert [len(each.sessions) for each in (early, late)] == [1, 2]
    assert [[question.id for question in each.questions] for each in (early, late)] == [
        ["q0_0"],
        ["q0_1", "q0_2"],
    ]
    said = late.sessions[1].utterances
    assert [(each.role, each.speaker, each.text) for each in said] == [
        ("user", "System", "Name: Person 0"),
        ("user", "User", "I like tulips."),
        ("assistant", "Assistant", "Good."),
    ]


def test_the_four_replies_are_asked_in_the_order_of_their_letters_and_not_searched_by(tmp_path: Path) -> None:
    which = public_set("personamem-32k")
    (first, *_) = histories(sets.personamem(tmp_path / "32k"), pytest.fail)
    (question,) = first.questions
    assert question.text == "User: Person 0\n\nWhat shall I plant, on day 0?"
    put = which.put(question, "official", Dice("x"))
    assert put.text.endswith(
        "\n(a) What about reply a?\n(b) What about reply b?\n(c) What about reply c?\n(d) What about reply d?"
    )
    assert which.expect(put, "official").right()[0] == "(a)"


def test_a_query_that_cannot_be_asked_is_named_and_skipped(tmp_path: Path) -> None:
    folder = sets.personamem(tmp_path / "32k", histories=1)
    queries = json.loads((folder / "queries.json").read_text())
    queries[0]["gold_ids"] = ["gone"]
    queries[1]["query"] = "only (a) one"
    (folder / "queries.json").write_text(json.dumps([*queries, 5]))
    bad: list[str] = []
    assert [each.id for history in histories(folder, bad.append) for each in history.questions] == ["q0_2"]
    assert [line.partition(": skipped: ")[2] for line in bad] == [
        "there is no document gone",
        "it does not have four replies, (a) to (d)",
        "it lacks one of id, query, gold_answers, gold_ids, meta",
    ]
    (folder / "documents.json").unlink()
    with pytest.raises(ConfigError, match=r"there is no documents\.json in it"):
        list(histories(folder, bad.append))


def test_the_published_questions_are_all_there() -> None:
    held = contents(public_set("personamem-32k"), shared("personamem_32k/data"), pytest.fail)
    assert (held.histories, sum(held.questions.values()), held.skipped) == (37, 589, 0)
    assert held.questions["track_full_preference_evolution"] == 139
    keys = Counter(
        question.gold[0]
        for history in histories(shared("personamem_32k/data"), pytest.fail)
        for question in history.questions
    )
    assert keys == {"(a)": 143, "(b)": 146, "(c)": 158, "(d)": 142}
