"""Opinions and manual verdicts beside a log: what is read back, and which of them decide."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Outcome, Usage
from ltm_bench.score.audits.judgements import (
    Judgement,
    Opinion,
    Override,
    VagueTrial,
    append,
    judgements,
    majority,
    overrides,
    ratings,
    reply_hash,
    settle,
    vague_trials,
)

RIGHT, PARTIAL, WRONG, STALE = Outcome.CORRECT, Outcome.PARTIAL, Outcome.WRONG, Outcome.STALE
UNREAD = Outcome.JUDGE_ERROR


def opinion(outcome: Outcome, judge: str = "one", **more: Any) -> Opinion:
    fields = {"key": "k", "rubric": "r", "prompt": "p", "answer": "a", "reason": f"{judge} says so"}
    return Opinion.model_validate(fields | {"judge": judge, "outcome": outcome} | more)


def judged(outcome: Outcome, example: str = "colours/0", turn: int = 1) -> Judgement:
    return Judgement(example=example, turn=turn, reply="ab", opinions=(opinion(outcome),))


def rated(outcome: Outcome, reviewer: str, reply: str = "ab", turn: int = 1) -> Override:
    return Override(
        example="colours/0",
        turn=turn,
        reply=reply,
        outcome=outcome,
        score=float(outcome is RIGHT),
        reviewer=reviewer,
        reason="so",
        was=Outcome.UNDECIDED,
        was_score=0.0,
    )


def test_the_newest_judgement_of_each_reply_is_read_back(tmp_path: Path) -> None:
    assert judgements(tmp_path) == {}
    append(tmp_path, [judged(RIGHT), judged(WRONG, turn=2), judged(STALE, "jokes/0")])
    append(tmp_path, [judged(STALE)])
    assert judgements(tmp_path) == {
        ("colours/0", 1): judged(STALE),
        ("colours/0", 2): judged(WRONG, turn=2),
        ("jokes/0", 1): judged(STALE, "jokes/0"),
    }


def test_a_torn_line_does_not_count_and_is_cut_off_by_the_next_one(tmp_path: Path) -> None:
    append(tmp_path, [judged(RIGHT), judged(WRONG, turn=2)])
    file = tmp_path / "judgements.jsonl"
    whole = file.read_bytes()
    for lost in (1, 2, 30):
        file.write_bytes(whole[:-lost])
        assert list(judgements(tmp_path)) == [("colours/0", 1)]
        append(tmp_path, [judged(WRONG, turn=2)])
        assert file.read_bytes() == whole
    file.write_bytes(whole[:20])
    append(tmp_path, [judged(STALE)])
    assert judgements(tmp_path) == {("colours/0", 1): judged(STALE)}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{oops}", r"judgements\.jsonl:2: not JSON: "),
        (b'{"example": "colours/0", "turn": "x", "reply": "ab", "opinions": []}', r"jsonl:2: turn: "),
        (
            b'{"example": "colours/0", "turn": 1, "reply": "ab", "opinions": [{}]}',
            r"jsonl:2: opinions\.0\.judge: ",
        ),
    ],
)
def test_a_damaged_line_is_named_with_its_number_and_its_field(
    tmp_path: Path, line: bytes, complaint: str
) -> None:
    append(tmp_path, [judged(RIGHT)])
    with (tmp_path / "judgements.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(LogError, match=complaint):
        judgements(tmp_path)


def test_each_reviewers_last_rating_is_kept_with_the_newest_reviewer_last(tmp_path: Path) -> None:
    append(
        tmp_path, [rated(RIGHT, "Ada"), rated(WRONG, "Ben"), rated(WRONG, "Ada"), rated(RIGHT, "Ada", turn=2)]
    )
    found = ratings(tmp_path)
    assert list(found[("colours/0", 1)].items()) == [
        ("Ben", rated(WRONG, "Ben")),
        ("Ada", rated(WRONG, "Ada")),
    ]
    assert list(found[("colours/0", 2)]) == ["Ada"]
    append(tmp_path, [rated(WRONG, "Ben", turn=2)])
    assert overrides(ratings(tmp_path)) == {("colours/0", 1): rated(WRONG, "Ada")}


@pytest.mark.parametrize("score", [-0.01, 1.01])
def test_a_manual_verdict_with_an_impossible_score_is_named(tmp_path: Path, score: float) -> None:
    content = rated(WRONG, "Ada").model_dump_json().replace('"score":0.0', f'"score":{score}')
    (tmp_path / "overrides.jsonl").write_text(content + "\n", "utf-8")
    with pytest.raises(LogError, match=r"overrides\.jsonl:1: score: "):
        overrides(ratings(tmp_path))


def test_ratings_of_an_earlier_reply_do_not_count() -> None:
    old = [rated(WRONG, "Ada", "old"), rated(WRONG, "Ben", "old")]
    assert settle([*old, rated(RIGHT, "Cleo")]) == rated(RIGHT, "Cleo")
    assert settle([rated(RIGHT, "Cleo"), *old]) == old[-1]


def test_an_opinion_on_a_vague_reply_passes_by_its_score_or_else_by_its_verdict(tmp_path: Path) -> None:
    def trial(**more: Any) -> VagueTrial:
        return VagueTrial(question="q", reply="Well.", opinion=opinion(**more))

    assert trial(outcome=RIGHT).passed == 1.0
    assert trial(outcome=WRONG).passed == 0.0
    assert trial(outcome=WRONG, score=0.5).passed == 0.5
    assert trial(outcome=RIGHT, score=0.0).passed == 0.0
    append(tmp_path, [trial(outcome=RIGHT), trial(outcome=WRONG), trial(outcome=RIGHT, key="other")])
    assert vague_trials(tmp_path) == [trial(outcome=WRONG), trial(outcome=RIGHT, key="other")]


def test_an_opinion_tells_its_usage_or_that_it_is_unknown() -> None:
    assert opinion(RIGHT).used is None
    figures = {"uncached": 1, "cache_read": 2, "cache_write": 3, "output": 4, "reasoning": 5}
    assert opinion(RIGHT, usage=figures, model="m").used == Usage(
        uncached=1, cache_read=2, cache_write=3, output=4, reasoning=5, model="m"
    )
    assert opinion(RIGHT, usage={"output": 4}).used == Usage(output=4)


def test_a_reply_is_known_by_the_beginning_of_its_hash_even_with_half_a_surrogate_pair() -> None:
    assert reply_hash("Red.") == hashlib.sha256(b"Red.").hexdigest()[:16]
    assert reply_hash("\ud800") != reply_hash("\ud801")


@pytest.mark.parametrize(
    ("said", "outcome", "score", "reason"),
    [
        ([RIGHT], RIGHT, 1.0, "one: one says so"),
        ([WRONG], WRONG, 0.0, "one: one says so"),
        ([RIGHT, WRONG, RIGHT], RIGHT, 1.0, "2 of 3 judges: one says so"),
        ([RIGHT, STALE, WRONG], STALE, 0.0, "2 of 3 judges: two says so"),
        ([RIGHT, UNREAD], RIGHT, 1.0, "1 of 2 judges: one says so"),
        ([UNREAD, STALE], STALE, 0.0, "1 of 2 judges: two says so"),
        ([RIGHT, WRONG], UNREAD, None, "the judges disagree, 1 to 1"),
        ([UNREAD, UNREAD], UNREAD, None, "no judge gave a readable answer: one says so"),
        ([], UNREAD, None, "no judge gave a readable answer: nobody was asked"),
    ],
)
def test_the_majority_of_readable_opinions_decides(
    said: list[Outcome], outcome: Outcome, score: float | None, reason: str
) -> None:
    opinions = [opinion(each, judge) for each, judge in zip(said, ("one", "two", "three"), strict=False)]
    verdict = majority(opinions)
    assert (verdict.outcome, verdict.score, verdict.reason) == (outcome, score, reason)


def test_a_majority_without_a_reason_says_so() -> None:
    assert majority([opinion(RIGHT, reason="")]).reason == "one: no reason given"


@pytest.mark.parametrize(
    ("scores", "outcome", "score", "voices"),
    [
        ([1.0], RIGHT, 1.0, "one"),
        ([0.5], PARTIAL, 0.5, "one"),
        ([0.0], WRONG, 0.0, "one"),
        ([1.0, 1.0], RIGHT, 1.0, "the mean of 2 judges"),
        ([1.0, 0.0], PARTIAL, 0.5, "the mean of 2 judges"),
        ([1.0, 1.0, 0.0], PARTIAL, 0.666667, "the mean of 3 judges"),
    ],
)
def test_judges_that_give_scores_are_averaged(
    scores: list[float], outcome: Outcome, score: float, voices: str
) -> None:
    opinions = [
        opinion(RIGHT if each == 1 else WRONG, judge, score=each)
        for each, judge in zip(scores, ("one", "two", "three"), strict=False)
    ]
    verdict = majority(opinions)
    assert (verdict.outcome, verdict.score, verdict.reason) == (outcome, score, f"{voices}: one says so")


def test_judges_who_disagree_decide_nothing_even_if_only_one_gives_a_score() -> None:
    scored, plain = opinion(RIGHT, "one", score=1.0), opinion(WRONG, "two")
    for said in ([scored, plain], [plain, scored]):
        assert majority(said).reason == "the judges disagree, 1 to 1"
