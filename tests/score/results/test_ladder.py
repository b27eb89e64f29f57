"""What the ladder shows: the loss of each missed question, corrected for guessing, and how far hooks agree."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from ltm_bench import names_only
from ltm_bench.core.messages import Message, Outcome, Reply, Turn, Verdict
from ltm_bench.log.controls import RUNGS, AskedAgain, Scope
from ltm_bench.score.results.examples import Climbed, ControlAnswer, ExampleResult, Question
from ltm_bench.score.results.ladder import LadderResult, climbed, ladder_result
from ltm_bench.score.results.retrieval import NeedleTrace, Retrieval

RIGHT = ControlAnswer(reply="red", outcome=Outcome.CORRECT, score=1, reason="")
WRONG = ControlAnswer(reply="blue", outcome=Outcome.WRONG, score=0, reason="")
SILENT = ControlAnswer(reply="?", outcome=Outcome.ABSTAINED, score=0, reason="")


def climb(rungs: str, choices: int = 4) -> Climbed:
    """Return replies by letters, from the lowest rung: right, wrong, silent, or - for none."""
    replies = [{"r": RIGHT, "w": WRONG, "s": SILENT, "-": None}[letter] for letter in rungs]
    again, cued, recognised, retold = replies
    return Climbed(again=again, cued=cued, recognised=recognised, retold=retold, choices=choices)


def asked(places: Sequence[tuple[str, int]], left_out: Mapping[str, str] | None = None) -> AskedAgain:
    """Return a rung that has a reply at each of these places."""
    turns = {(name, turn): said("again", turn, name) for name, turn in places}
    return AskedAgain(Scope(questions=len(turns), left_out=dict(left_out or {})), turns)


def said(text: str, turn: int, example: str = "colours/0") -> Turn:
    return Turn(Message(text, datetime(2026, 1, 5, tzinfo=UTC), turn), Reply(f"{text}!"), "ask", example)


def shown(climbs: Sequence[Climbed], hooks: Sequence[Retrieval | None] = ()) -> LadderResult:
    questions = [
        Question(
            turn=turn, text="?", expected="red", reply="blue", verdict=Verdict(Outcome.WRONG, 0.0, ""), scorer="X@1",
            chance=0.0, position=0, at=None, ladder=each, retrieval=hooks[turn] if hooks else None,
        )
        for turn, each in enumerate(climbs)
    ]  # fmt: skip
    example = ExampleResult(
        id="colours/0", scenario="colours", score=0, span=0, overrun=0, needles=[], questions=questions
    )
    again = asked([("colours/0", turn) for turn in range(len(climbs))])
    found = ladder_result(dict.fromkeys(RUNGS, again), [example], free=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("rungs", "lost"),
    [
        ("rrrr", "again"),
        ("wrwr", "cued"),
        ("wsrr", "recognised"),
        ("wwwr", "retold"),
        ("wwww", "none"),
        ("w--r", "memory"),  # it may be stored, and could not be cued
        ("ww--", "unknown"),
        ("w-sr", "retold"),
    ],
)
def test_the_first_rung_that_succeeds_names_the_loss(rungs: str, lost: str) -> None:
    assert climb(rungs).lost == lost


def test_for_every_wrong_choice_some_of_the_right_ones_were_guessed() -> None:
    found = shown([climb("wwrr")] * 3 + [climb("wwwr")] * 6, [])
    assert found.lost == {"recognised": pytest.approx(1), "retold": pytest.approx(8)}
    assert found.sentence == "of 9 missed, 1 was stored and recognised (perhaps by chance), 8 not stored"
    assert {each.name: each.mean for each in found.rungs}["recognised"] == pytest.approx(1 / 9)
    silent = shown([climb("wwrr")] * 3 + [climb("wwsr")] * 6)
    assert silent.lost == {"recognised": 3, "retold": 6}, "who does not answer has not guessed"


def test_a_pure_guess_is_no_loss_of_recognition() -> None:
    found = shown([climb("wwrr", 2)] * 5 + [climb("wwwr", 2)] * 5)
    assert found.lost == {"retold": pytest.approx(10)}
    assert not {each.name: each.above for each in found.rungs}["recognised"]


def test_a_rung_is_named_without_doubt_where_it_brings_more_than_asking_again() -> None:
    found = shown([climb("wrrr")] * 9 + [climb("wssr")] * 4 + [climb("rsss")])
    assert found.sentence == (
        "of 14 missed, 1 was right when asked again, 9 stored and not found without a cue, 4 not stored"
    )
    few = shown([climb("wrrr")] * 2 + [climb("rwwr")] * 2)
    assert "2 stored and not found without a cue (perhaps by chance)" in few.sentence


def test_hooks_agree_where_they_name_the_same_loss() -> None:
    def hook(stored: int, retrieved: int) -> Retrieval:
        return Retrieval(needles=2, stored=stored, retrieved=retrieved)

    climbs = [
        climb("wssr"),
        climb("wrrr"),
        climb("wsrr"),
        climb("wwww"),
        climb("wwwr"),
        climb("rrrr"),
        climb("w--r"),
    ]
    found = shown(
        climbs, [hook(1, 0), hook(2, 1), hook(2, 0), hook(2, 2), hook(2, 2), hook(1, 0), hook(1, 0)]
    )
    assert found.agreement is not None
    assert (found.agreement.same, found.agreement.n) == (5, 6)
    assert shown(climbs).agreement is None
    traces = (NeedleTrace(turn=1, stored=False, rank=None), NeedleTrace(turn=2, stored=True, rank=None))
    hooks = Retrieval(needles=2, stored=1, retrieved=0, traces=traces)
    needed = climb("wrrr").model_copy(update={"needed": (2,)})
    agreement = shown([needed], [hooks]).agreement
    assert agreement is not None
    assert agreement.same == 1, "the other needle is not needed"


def test_what_only_telling_it_again_could_help_was_not_stored_or_not_found() -> None:
    assert shown([climb("w--r")] * 9 + [climb("w--w")]).sentence == (
        "of 10 missed, 9 were not stored or not found, 1 missed even when told again"
    )
    assert "not found (perhaps by chance)" in shown([climb("w--r"), climb("w--w")]).sentence


def test_what_is_still_to_be_asked_is_not_in_doubt() -> None:
    found = shown([climb("wwww"), climb("ww--")])
    assert found.sentence == "of 2 missed, 1 was missed even when told again, 1 left in doubt"
    assert found.model_copy(update={"to_go": 2}).sentence == (
        "of 2 missed, 1 was missed even when told again, 1 not placed yet (incomplete: 2 replies to go)"
    )


def test_of_several_questions_of_an_example_each_says_why_it_lacks_a_rung() -> None:
    many, choice = "its set names no wrong answers", "its question is a choice already"
    left_out = {
        "cued": {f"locomo/0#{turn}": "nothing says" for turn in (3, 4, 5)},
        "recognised": {"locomo/0#3": many, "locomo/0#4": many, "locomo/0#5": choice},
        "again": {"restaurant/0#9": "its replies decide"},
    }
    replied = [("locomo/0", turn) for turn in (3, 4, 5)]
    ladder = {rung: asked(replied if rung == "again" else [], left_out.get(rung)) for rung in RUNGS}
    found = ladder_result(ladder, [], free=True)
    assert found is not None
    assert found.left_out == {
        "cued": {"locomo": "nothing says"},
        "recognised": {"locomo": f"2 of 3: {many}; 1 of 3: {choice}"},
        "again": {"restaurant": "its replies decide"},
    }


def test_nothing_missed_is_said_and_not_of_a_ladder_that_has_just_begun() -> None:
    assert shown([]).sentence == "nothing that could be asked again was missed"
    begun = shown([]).model_copy(update={"to_go": 4})
    assert begun.sentence == "no missed question has all its replies (incomplete: 4 replies to go)"


def test_each_reply_is_judged_with_the_words_that_it_answers() -> None:
    scope = Scope(questions=1, left_out={}, choices={"colours-0-3": 4})
    ladder = {rung: AskedAgain(scope, {("colours/0", 3): said(rung, 3)}) for rung in ("again", "recognised")}
    told = [
        Turn(Message(text, datetime(2026, 1, 5, tzinfo=UTC), turn), Reply("Okay."), "tell", "colours/0")
        for turn, text in enumerate(["It is blue.", "Make that red.", "The ferry was late."])
    ]
    expect = names_only("red", among=("red", "blue"))

    def judge(turn: Turn) -> Verdict:
        return Verdict(Outcome.WRONG, 0.0, turn.message.text)

    found = climbed(ladder, ("colours/0", 3), expect, told, judge)
    assert found is not None
    assert found.again is not None
    assert (found.again.reply, found.again.reason, found.cued, found.choices) == ("again!", "again", None, 4)
    assert found.needed == (1,)
    assert climbed(ladder, ("colours/0", 4), expect, told, judge) is None


def test_each_reason_for_a_rung_that_was_not_asked_is_said_once() -> None:
    left = {
        "again": {"restaurant": "its replies decide"},
        "cued": {
            "jokes": "no answer to leave out",
            "name_list": "no answer to leave out",
            "colours": "told in one",
        },
    }
    found = shown([climb("wwww")]).model_copy(update={"left_out": left})
    assert [*found.unasked] == [
        "left out of the ladder: restaurant (its replies decide)",
        "not cued: colours (told in one); jokes, name_list (no answer to leave out)",
    ]
