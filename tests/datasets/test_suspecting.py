"""Odd keys of public sets are found by rule, in files of any set, and left to a person."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.errata import errata
from ltm_bench.datasets.suspecting import set_in, suspects
from tests import sets
from tests.published import shared

if TYPE_CHECKING:
    from tests.conftest import Command


def test_a_file_is_known_by_its_form(tmp_path: Path) -> None:
    assert set_in(sets.locomo(tmp_path / "a")).dataset == "locomo"
    assert set_in(sets.longmemeval(tmp_path / "b")).dataset == "longmemeval"
    assert set_in(sets.beam(tmp_path / "c")).dataset == "beam"
    assert set_in(sets.facts(tmp_path / "d")).dataset == "factconsolidation"
    assert set_in(sets.personamem(tmp_path / "e")).dataset == "personamem"
    (tmp_path / "empty").mkdir()
    for name in ("none", "empty"):
        with pytest.raises(ConfigError, match="the form of no public set"):
            set_in(tmp_path / name)


def test_a_key_without_a_word_in_its_evidence_is_odd(tmp_path: Path) -> None:
    path = sets.locomo(tmp_path / "a.json", histories=1)
    talk = json.loads(path.read_text())
    before = {each.id for each in suspects(path, pytest.fail)}
    talk[0]["qa"][3]["answer"] = "Zeppelin"
    path.write_text(json.dumps(talk))
    (new,) = [each for each in suspects(path, pytest.fail) if each.id not in before]
    assert (new.rule, new.key) == ("the key is not in the evidence", "Zeppelin")


def changed(path: Path, number: int, **parts: object) -> dict[str, str]:
    """Return what is odd about a question of a dialogue with these parts, and was not before."""
    talk = json.loads(path.read_text())
    before = {each.rule for each in suspects(path, pytest.fail) if each.id == f"locomo_0_qa{number}"}
    talk[0]["qa"][number] |= parts
    path.write_text(json.dumps(talk))
    found = [each for each in suspects(path, pytest.fail) if each.id == f"locomo_0_qa{number}"]
    return {each.rule: each.key for each in found if each.rule not in before}


@pytest.mark.parametrize(
    ("number", "parts", "rule"),
    [
        (3, {"evidence": ["D2:1; D2:99"]}, "it cites what does not exist"),
        (3, {"question": "What is Ada's boat called?"}, "the evidence is what another said"),
        (3, {"question": "What is Ben's boat called on 3 June, 2023?"}, "the evidence is of another day"),
        (3, {"question": "What is Ben's boat called in March 2024?"}, "the evidence is of another day"),
        (3, {"answer": "Heron, Zeppelin"}, "a part of the key is not in the evidence"),
    ],
)
def test_a_key_that_its_evidence_cannot_hold_is_odd(
    tmp_path: Path, number: int, parts: dict[str, object], rule: str
) -> None:
    assert rule in changed(sets.locomo(tmp_path / "a.json", histories=1), number, **parts)


@pytest.mark.parametrize(
    ("number", "parts"),
    [
        (3, {"question": "What is Ben's boat called on 2 May, 2023?"}),
        (3, {"question": "What is Ben's boat called in May?"}),
        (3, {"question": "What is the boat called that Ada and Ben spoke of?"}),
        (3, {"question": "Is the boat fast?", "answer": "Likely yes", "evidence": ["D2:3"]}),
        (0, {"answer": "Ben, roses", "evidence": ["D1:1", "D2:1"], "question": "Who sails?"}),
    ],
)
def test_a_key_that_its_evidence_may_hold_is_left_alone(
    tmp_path: Path, number: int, parts: dict[str, object]
) -> None:
    assert not changed(sets.locomo(tmp_path / "a.json", histories=1), number, **parts)


def test_a_day_of_the_week_that_is_not_said_is_odd(tmp_path: Path) -> None:
    path = sets.locomo(tmp_path / "a.json", histories=1)
    talk = json.loads(path.read_text())
    talk[0]["conversation"]["session_3"][0]["text"] = "My sister Clara came last Saturday."
    path.write_text(json.dumps(talk))
    assert "the evidence is of another day" in changed(path, 1, answer="The Sunday before 4 May 2023")
    assert not changed(path, 1, answer="The saturday before 4 May 2023")


def test_a_date_of_the_session_is_part_of_the_evidence(tmp_path: Path) -> None:
    path = sets.locomo(tmp_path / "a.json", histories=1)
    assert "locomo_0_qa1" not in {each.id for each in suspects(path, pytest.fail)}


def test_the_same_question_with_another_key_is_odd(tmp_path: Path) -> None:
    path = sets.locomo(tmp_path / "a.json", histories=1)
    talk = json.loads(path.read_text())
    talk[0]["qa"].append({**talk[0]["qa"][3], "answer": "Ada", "evidence": []})
    path.write_text(json.dumps(talk))
    odd = [each.id for each in suspects(path, pytest.fail) if each.rule.startswith("the same")]
    assert odd == ["locomo_0_qa3", "locomo_0_qa5"]


def test_a_key_against_its_rubric_is_odd_and_the_command_lists_it(tmp_path: Path, command: "Command") -> None:
    chats = sets.beam(tmp_path / "chats")
    found = json.loads(command("datasets", "audit", str(chats), "--json").out)
    assert "the key contradicts its rubric" in {each["rule"] for each in found}
    said = command("datasets", "audit", str(chats)).output
    assert "the key contradicts its rubric: 1" in said
    assert "only a person what is wrong" in said
    assert "no public set" in command("datasets", "audit", str(tmp_path / "none")).err


def test_every_erratum_has_a_class_and_a_source() -> None:
    kinds = {
        name: Counter(each.kind for each in errata(name).values())
        for name in ("locomo", "longmemeval", "beam", "gatemem")
    }
    assert kinds == {
        "locomo": {"wrong": 83, "arguable": 16, "evidence": 57},
        "longmemeval": {"wrong": 4, "arguable": 2, "evidence": 1},
        "beam": {"broken": 2},
        "gatemem": {"arguable": 544, "broken": 1},
    }
    assert all(each.source for name in kinds for each in errata(name).values())


@pytest.mark.long
def test_of_the_errors_that_an_audit_lists_in_locomo_the_rules_find_more_than_half() -> None:
    listed = {
        each["question_id"]
        for each in json.loads(shared("locomo_answers_verdicts/data/locomo_key_errors.json").read_text())
    }
    found = {each.id for each in suspects(shared("locomo/locomo10.json.gz"), pytest.fail)}
    assert (len(listed & found), len(listed), len(found)) == (88, 156, 231)
