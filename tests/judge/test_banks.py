"""Published answers with votes, as a test for judges."""

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.judge.banks import MISKEYED, VAGUE, open_bank
from ltm_bench.judge.rubric import Earlier

if TYPE_CHECKING:
    from tests.conftest import Command

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "locomo"

JUDGE = '''"""{name}: a scripted judge."""

from ltm_bench import Agent, Message, Reply


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply('{{"verdict": "{verdict}"}}')
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two questions of one conversation, the second with a wrong key, in the published format."""
    place = tmp_path / "locomo"
    place.mkdir()
    conversation = {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "I went to Riga."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a dog"},
        ],
    }
    qa = [
        {"question": "Where did Ann go?", "answer": "Riga", "evidence": ["D1:1"], "category": 4},
        {"question": "What did Bo show?", "answer": 2, "evidence": ["D1:2; D9:9"], "category": 4},
    ]
    content = [{"sample_id": "conv-1", "conversation": conversation, "qa": qa}]
    with gzip.open(place / "locomo10.json.gz", "wt") as file:
        json.dump(content, file)
    errors = [
        {"question_id": "locomo_0_qa0", "error_type": "WRONG_CITATION"},
        {"question_id": "locomo_0_qa1", "error_type": "HALLUCINATION"},
    ]
    (place / "errors.json").write_text(json.dumps(errors), "utf-8")
    lines = [
        {"question_id": "locomo_0_qa0", "golden_answer": "Riga", "generated_answer": "Somewhere by the sea",
         "judgments": [True, True, False]},
        {"question_id": "locomo_0_qa1", "golden_answer": "2", "generated_answer": "Some pet",
         "judgments": [False, True, False]},
    ]  # fmt: skip
    with gzip.open(place / "predictions-vague-wrong.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    return place


def test_answers_come_with_their_evidence_and_the_stored_votes(folder: Path) -> None:
    first, second = open_bank(f"locomo-audit:{folder}").cases
    assert (first.kind, first.passed) == (VAGUE, True)
    assert (first.case.question, first.case.expected) == ("Where did Ann go?", "Riga")
    assert first.case.told == (Earlier("1:56 pm on 8 May, 2023", "Ann: I went to Riga."),)
    assert (second.kind, second.passed) == (MISKEYED, False)
    assert second.case.told[0].user == "Bo: Look! [shows a picture: a photo of a dog]"


def test_files_in_another_form_are_refused(folder: Path) -> None:
    (folder / "errors.json").write_text("[1]", "utf-8")
    with pytest.raises(ConfigError, match="not in the form of locomo-audit"):
        open_bank(f"locomo-audit:{folder}")
    (folder / "errors.json").unlink()
    with pytest.raises(ConfigError, match=r"errors\.json: No such file"):
        open_bank(f"locomo-audit:{folder}")
    with pytest.raises(ConfigError, match="unknown bank"):
        open_bank("locomo-audit:")


def test_a_judge_that_accepts_vague_answers_falls_short(
    folder: Path, tmp_path: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").mkdir()
    for name, verdict in {"yes": "right", "no": "wrong"}.items():
        (tmp_path / "agents" / f"{name}.py").write_text(JUDGE.format(name=name, verdict=verdict), "utf-8")
    monkeypatch.chdir(tmp_path)
    yes = command("judge", "check", "--judge", "yes", "--bank", f"locomo-audit:{folder}")
    assert yes.exit_code == 2
    assert "falls short on locomo-audit: specificity 0.000 on answers that are vague and wrong" in yes.err
    assert "2 of 2 answers of locomo-audit before yes: 2 calls, no cost" in yes.err
    no = command("judge", "check", "--judge", "no", "--bank", f"locomo-audit:{folder}")
    assert no.exit_code == 0
    assert "no passed on locomo-audit" in no.out
    assert "vague and wrong" in no.out
    assert "100.0 % of all 1 that are vague and wrong" in no.output


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (
            "raise RuntimeError('down')",
            "gave no answer, so nothing was measured: failed: AgentError: the agent failed: RuntimeError: down",
        ),
        ("return Reply('Well.')", "falls short on locomo-audit: specificity 0.000"),
    ],
)
def test_a_judge_that_says_nothing_of_published_answers_is_told_why(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", body: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    judge = re.sub("return Reply.*", body, JUDGE.format(name="odd", verdict="right"))
    (tmp_path / "agents" / "odd.py").write_text(judge, "utf-8")
    done = command("judge", "check", "--judge", "odd", "--bank", f"locomo-audit:{folder}")
    assert (done.exit_code, why in done.err) == (2, True), done.output
    assert "by the kind of question: single-hop, or multi-hop: 2 of 2" in " ".join(done.out.split())


@pytest.mark.skipif(not PUBLISHED.exists(), reason="the published answers are not here")
def test_the_published_votes_accept_what_is_vague_and_wrong() -> None:
    bank = open_bank(f"locomo-audit:{PUBLISHED}")
    passed = {kind: [each.passed for each in bank.cases if each.kind == kind] for kind in (VAGUE, MISKEYED)}
    assert len(bank.cases) == 1540
    assert sum(map(sum, passed.values())) / 1540 == pytest.approx(0.6273, abs=1e-4)
    assert (sum(passed[MISKEYED]), len(passed[MISKEYED])) == (52, 99)
    assert bank.sample(50) == bank.sample(50)
    assert len(bank.sample(9999)) == 1540
