"""Judges: asked only if text cannot tell, from the log, cached, counted, and checked before they are trusted."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Finish, Outcome
from ltm_bench.judge.opinions import FILE
from ltm_bench.judge.rubric import prompt
from ltm_bench.judge.trials import KINDS, trials
from ltm_bench.log.calls import CALLS
from ltm_bench.score.audits.judgements import Opinion, majority

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.undecided import SCENARIO
else:
    from undecided import SCENARIO

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))


AGENT = '''"""Vague: tells it in other words."""

from ltm_bench import Agent, Message, Reply


class Vague(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("A dentist, a trombone, that sort of thing." if "Which" in message.text else "Ha!")
'''

JUDGE = '''"""{name}: a scripted judge."""

import json
import re
from pathlib import Path

from ltm_bench import Agent, AgentError, Message, Reply, Usage


class Judge(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        with open("asked.txt", "a") as file:
            file.write("{name}\\n")
        case = json.loads("{{" + message.text.partition("\\n{{")[2])
        {body}
'''
YES = 'return Reply(\'{"reason": "why not", "verdict": "right"}\')'
NO = 'return Reply(\'{"reason": "another", "verdict": "wrong"}\')'
BODIES = {
    "yes": YES,
    "no": NO,
    "garbage": "return Reply('I would say that this is right, more or less.')",
    "silent": "raise AgentError('the judge did not answer within 60 s')",
    "knowing": "return Reply(json.dumps({'verdict': json.loads(Path('answers.json').read_text())[message.text]}))",
    "fickle": """said = json.loads(Path('answers.json').read_text())[message.text]
        with open("heard.txt", "a+") as heard:
            heard.seek(0)
            if repr(message.text) in heard.read():
                said = {"right": "wrong", "wrong": "right"}[said]
            heard.write(repr(message.text) + chr(10))
        return Reply(json.dumps({"verdict": said}))""",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agents").mkdir()
    (tmp_path / "scenarios" / "joke.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "vague.py").write_text(AGENT, "utf-8")
    for name, body in BODIES.items():
        (tmp_path / "agents" / f"{name}.py").write_text(JUDGE.format(name=name, body=body), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(place: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "reports" / "r" / "results.json").read_text("utf-8"))
    return content


RUN = ("run", "--span", "2k", "--scenario", "joke", "--examples", "2", "--agent", "vague", "--name", "r")


def test_without_a_judge_the_headline_says_how_many_are_undecided(place: Path, command: "Command") -> None:
    done = command(*RUN)
    assert done.exit_code == 0, done.output
    found = results(place)
    assert (found["complete"], found["score"], found["undecided"], found["undecided_worth"]) == (
        True,
        0,
        2,
        1,
    )
    assert found["outcomes"] == {"undecided": 2}
    assert "undecided: 2; text alone cannot tell" in done.out
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert "2 questions undecided" in page
    assert not (place / "reports" / "judgements.sqlite").exists()


def test_a_judge_decides_what_the_matcher_cannot_and_everything_is_written_down(
    place: Path, command: "Command"
) -> None:
    done = command(*RUN, "--judge", "yes")
    assert done.exit_code == 0, done.output
    found = results(place)
    assert (found["score"], found["undecided"], found["outcomes"]) == (1.0, 0, {"correct": 2})
    (verdict, _) = [
        json.loads(line) for line in (place / "reports/r/verdicts.jsonl").read_text("utf-8").splitlines()
    ]
    assert verdict["matcher"] == "undecided"
    (opinion,) = verdict["opinions"]
    assert opinion["judge"] == "yes"
    assert opinion["outcome"] == "correct"
    assert "A dentist, a trombone" in opinion["prompt"]
    assert opinion["answer"] == '{"reason": "why not", "verdict": "right"}'
    assert opinion["dollars"] == 0
    assert "judge yes was never calibrated" in done.out
    assert "it was never calibrated, so do not rely on it" in (place / "reports/r/report.html").read_text(
        "utf-8"
    )
    assert found["judges"] == [
        {"name": "yes", "model": None, "key": opinion["key"], "replies": 2, "unreadable": 0,
         "sensitivity": None, "specificity": None, "believed": False, "vague": 0, "false_accepts": None,
         "published": False},
    ]  # fmt: skip


def test_it_says_how_far_the_choice_of_judge_matters(place: Path, command: "Command") -> None:
    (place / "agents" / "another.py").write_text(JUDGE.format(name="another", body=NO), "utf-8")
    said = [word for name in ("yes", "no", "another", "garbage") for word in ("--judge", name)]
    assert command(*RUN, *said).exit_code == 0
    assert results(place)["by_judge"] == {"yes": 1.0, "no": 0.0, "another": 0.0}  # garbage decides nothing
    page = (place / "reports/r/report.html").read_text("utf-8")
    assert "With each judge alone the score would be <bdi>yes</bdi> 1.00, <bdi>no</bdi> 0.00" in page
    assert command("compare", "r", "-o", "c.html").exit_code == 0
    words = (place / "c.html").read_text("utf-8")
    assert "between judges of the same replies the score has a standard deviation of 0.58." in words


PAID = (
    JUDGE.replace("free = True", "free = False")
    + """
    def reserve(self, message: Message) -> Usage:
        return Usage(output=1000, model="gpt-4o", provider="openai")  # a cent
"""
)


def test_what_a_judge_has_cost_counts_towards_the_limit_of_the_same_sweep_again(
    place: Path, command: "Command"
) -> None:
    said = """return Reply('{"reason": "why not", "verdict": "right"}', self.reserve(message))"""
    (place / "agents" / "paid.py").write_text(PAID.format(name="paid", body=said), "utf-8")
    words = ("sweep", *RUN[1:-2], "--seed", "0", "--seed", "1", "--judge", "paid", "--max-cost")
    assert command(*words, "0.02").exit_code == 4
    assert (place / "asked.txt").read_text("utf-8") == "paid\n" * 2
    assert command(*words, "0.02").exit_code == 4
    assert (place / "asked.txt").read_text("utf-8") == "paid\n" * 2
    assert command(*words, "0.04").exit_code == 0  # each answer counts once
    assert (place / "asked.txt").read_text("utf-8") == "paid\n" * 4


SAYS = """return Reply('{"reason": "why not", "verdict": "right"}', self.reserve(message))"""
LATE = f"""if not Path("up.txt").exists():
            raise AgentError("the judge did not answer within 60 s")
        {SAYS}"""


def calls(place: Path) -> list[dict[str, Any]]:
    """Return the lines of calls to judges and readers that have ended."""
    said = (place / "reports/r" / CALLS).read_text("utf-8").splitlines()
    return [
        each for each in map(json.loads, said) if each.get("role") in ("judge", "reader") and "ending" in each
    ]


def test_what_a_judges_lost_calls_may_have_cost_counts_again_and_is_in_its_sum(
    place: Path, command: "Command"
) -> None:
    (place / "agents" / "paid.py").write_text(PAID.format(name="paid", body=LATE), "utf-8")
    command(*RUN, "--judge", "paid", "--max-cost", "0.02")
    assert [(each["ending"], each["dollars"]) for each in calls(place)] == [("lost", 0.01)] * 2
    assert results(place)["costs"]["judge_dollars"] == 0.02
    (place / "up.txt").touch()
    stopped = command("resume", "r")
    assert (stopped.exit_code, len(calls(place))) == (4, 2)
    assert "$0.0200 spent" in stopped.err
    assert command("resume", "r", "--max-cost", "0.04").exit_code == 0
    first, second, *again = calls(place)
    assert [(each["ending"], each["dollars"]) for each in again] == [("stop", 0.01)] * 2
    assert {each["key"] for each in again} == {first["key"], second["key"]}
    found = results(place)
    assert (found["costs"]["judge_dollars"], found["costs"]["dollars"]) == (0.04, 0)
    assert [each for each in found["remarks"] if "no answer" in each] == [
        "2 of the calls to judges and readers got no answer, and may have been billed: each is counted as the most "
        "that was reserved for it"
    ]


CUT = f"""if not Path("up.txt").exists():
            return Reply("I think", self.reserve(message), Finish.LENGTH)
        {SAYS}"""


def test_what_a_judges_cut_answers_cost_stays_in_its_sum_when_others_take_their_place(
    place: Path, command: "Command"
) -> None:
    text = PAID.format(name="paid", body=CUT).replace(
        "import Agent, AgentError,", "import Agent, AgentError, Finish,"
    )
    (place / "agents" / "paid.py").write_text(text, "utf-8")
    command(*RUN, "--judge", "paid")
    assert [(each["ending"], each["dollars"]) for each in calls(place)] == [("length", 0.01)] * 2
    assert results(place)["costs"]["judge_dollars"] == 0.02
    (place / "up.txt").touch()
    assert command("rescore", "r", "--judge", "paid").exit_code == 0
    assert [(each["ending"], each["dollars"]) for each in calls(place)[2:]] == [("stop", 0.01)] * 2
    assert results(place)["costs"]["judge_dollars"] == 0.04


def test_what_a_judges_unreadable_answers_cost_stays_in_its_sum_when_others_take_their_place(
    place: Path, command: "Command"
) -> None:
    said = CUT.replace(", Finish.LENGTH", "")
    (place / "agents" / "paid.py").write_text(PAID.format(name="paid", body=said), "utf-8")
    command(*RUN, "--judge", "paid")
    assert results(place)["costs"]["judge_dollars"] == 0.02
    (place / "up.txt").touch()
    assert command("rescore", "r", "--judge", "paid").exit_code == 0
    assert [(each["ending"], each["dollars"]) for each in calls(place)] == [("stop", 0.01)] * 4
    assert results(place)["costs"]["judge_dollars"] == 0.04
    assert {each["name"] for each in calls(place)} == {"paid"}


MUMBLES = f"""if not Path("up.txt").exists():
            return Reply("hm", self.reserve(message))
        {SAYS}"""


def test_what_unreadable_answers_cost_stays_in_the_sum_however_often_others_take_their_place(
    place: Path, command: "Command"
) -> None:
    for name, body in (("paid", MUMBLES), ("other", SAYS)):
        (place / "agents" / f"{name}.py").write_text(PAID.format(name=name, body=body), "utf-8")
    command(*RUN, "--judge", "paid")
    assert results(place)["costs"]["judge_dollars"] == 0.02
    command("rescore", "r", "--judge", "paid")  # two more, word for word as before
    assert results(place)["costs"]["judge_dollars"] == 0.04
    (place / "up.txt").touch()
    for judge, paid in (("paid", 0.06), ("paid", 0.06), ("other", 0.08)):
        assert command("rescore", "r", "--judge", judge).exit_code == 0
        assert results(place)["costs"]["judge_dollars"] == paid
        assert sum(each["dollars"] for each in calls(place)) == pytest.approx(paid)
        accounts = results(place)["costs"]["accounts"]
        assert sum(each["dollars"] for each in accounts if each["purpose"] != "agent") == pytest.approx(paid)
    assert command("verify", "r").exit_code == 0


def test_a_call_that_was_refused_has_a_line_and_costs_nothing(place: Path, command: "Command") -> None:
    refused = 'async def open(self, home: Path) -> None:\n        raise AgentError("refused")\n\n    async def reply'
    text = PAID.format(name="paid", body=SAYS).replace("async def reply", refused)
    (place / "agents" / "paid.py").write_text(text, "utf-8")
    command(*RUN, "--judge", "paid")
    assert [(each["ending"], each["dollars"]) for each in calls(place)] == [("failed", 0)] * 2
    assert results(place)["costs"]["judge_dollars"] == 0


@pytest.mark.parametrize("recorded", [True, False])
def test_a_kept_answer_counts_once_whether_its_call_is_recorded_or_not(
    place: Path, command: "Command", recorded: bool
) -> None:
    for name in ("paid", "other"):
        (place / "agents" / f"{name}.py").write_text(PAID.format(name=name, body=SAYS), "utf-8")
    assert command(*RUN, "--judge", "paid").exit_code == 0
    costs, remarks = (results(place)[name] for name in ("costs", "remarks"))
    assert (costs["judge_dollars"], costs["dollars"], len(calls(place))) == (0.02, 0, 2)
    file = place / "reports/r" / CALLS
    if not recorded:  # as in a folder of an earlier release
        kept = [line for line in file.read_bytes().splitlines(keepends=True) if b'"judge"' not in line]
        file.write_bytes(b"".join(kept))
        assert command("rescore", "r").exit_code == 0
        as_recorded = "calls.jsonl has no calls to paid: what 2 opinions cost is as it was recorded with them"
        assert (results(place)["costs"], results(place)["remarks"]) == (costs, [*remarks, as_recorded])
    both = ("rescore", "r", "--judge", "paid", "--judge", "other", "--max-cost")
    assert command(*both, "0.03").exit_code == 4
    assert command(*both, "0.04").exit_code == 0
    assert results(place)["costs"]["judge_dollars"] == 0.04


def test_a_judges_answers_are_kept_and_cost_nothing_again(place: Path, command: "Command") -> None:
    assert command(*RUN, "--judge", "yes").exit_code == 0
    asked = (place / "asked.txt").read_text("utf-8")
    log = (place / "reports/r/events.jsonl").read_bytes()
    assert command("rescore", "r", "--judge", "yes").exit_code == 0
    assert command("rescore", "r").exit_code == 0
    assert command("report", "r").exit_code == 0
    assert (place / "asked.txt").read_text("utf-8") == asked
    assert (place / "reports/r/events.jsonl").read_bytes() == log
    assert results(place)["score"] == 1.0


def test_several_judges_decide_by_majority_and_a_tie_is_undecided(place: Path, command: "Command") -> None:
    assert command(*RUN, "--judge", "yes", "--judge", "no", "--judge", "garbage").exit_code == 3
    found = results(place)
    assert found["outcomes"] == {"judge_error": 2}
    assert (found["complete"], found["score"]) == (False, None)
    (place / "agents" / "another.py").write_text(JUDGE.format(name="another", body=YES), "utf-8")
    names = [word for name in ("yes", "no", "another") for word in ("--judge", name)]
    changed = command("rescore", "r", *names)
    assert "was judge_error, now correct 1.00" in changed.out
    assert results(place)["score"] == 1.0


@pytest.mark.parametrize("name", ["garbage", "silent"])
def test_an_unreadable_or_unreachable_judge_never_makes_an_answer_wrong(
    place: Path, command: "Command", name: str
) -> None:
    done = command(*RUN, "--judge", name)
    assert done.exit_code == 3, done.output
    assert results(place)["outcomes"] == {"judge_error": 2}
    assert "were missing or unreadable" in done.err
    assert command("rescore", "r", "--judge", "yes").exit_code == 0
    assert results(place)["outcomes"] == {"correct": 2}


def test_an_unknown_judge_is_refused_before_the_conversation(place: Path, command: "Command") -> None:
    done = command(*RUN, "--judge", "yess")
    assert done.exit_code == 1
    assert "unknown judge 'yess'; did you mean 'yes'?" in done.err
    assert not (place / "reports" / "r").exists()


@pytest.mark.slow
def test_the_check_of_a_judge_says_whether_to_believe_it(place: Path, command: "Command") -> None:
    composed = trials(60)
    assert {trial.kind for trial in composed} == set(KINDS)
    answers = {prompt(trial.case): "right" if trial.right else "wrong" for trial in composed}
    (place / "answers.json").write_text(json.dumps(answers), "utf-8")
    good = command("judge", "check", "--judge", "knowing", "--cases", "60")
    assert good.exit_code == 0, good.output
    assert (
        "60 cases before knowing: 120 calls, no cost" in good.err
    )  # half of the cases are asked three times
    assert "knowing: sensitivity 1.000, specificity 1.000, 0 unparseable, cost $0.0000" in good.out
    assert "30 cases asked 3 times: 0 got different answers (flip rate 0.000)" in good.out
    assert "knowing passed" in good.out
    again = command("judge", "check", "--judge", "knowing", "--cases", "60")
    assert "0 calls, 120 answered earlier, no cost" in again.err
    yes = command("judge", "check", "--judge", "yes", "--cases", "60")
    assert yes.exit_code == 2
    assert "yes: sensitivity 1.000, specificity 0.000" in yes.out
    assert "yes failed calibration" in yes.out
    assert "judge yes falls short: specificity 0.000, needs 0.95, “vague” 0.000, needs 0.8" in yes.err
    garbage = command("judge", "check", "--judge", "garbage", "--cases", "60", "--repeats", "1")
    assert "garbage: sensitivity 0.000, specificity 0.000, 60 unparseable" in garbage.out
    silent = command("judge", "check", "--judge", "silent", "--cases", "60", "--repeats", "1")
    assert silent.exit_code == 2
    assert "silent: sensitivity 0.000, specificity 0.000, 60 unparseable" in silent.out
    assert command(*RUN, "--judge", "yes").exit_code == 0
    page = (place / "reports/r/report.html").read_text("utf-8")
    assert "it failed calibration: sensitivity 1.000, specificity 0.000" in page
    (note,) = results(place)["judges"]
    assert note["vague"] > 3
    assert note["false_accepts"] == 1.0
    assert f"Of {note['vague']} vague wrong answers it passes 100 %" in page


def test_a_check_that_reached_nobody_leaves_what_was_known_of_a_judge(
    place: Path, command: "Command"
) -> None:
    answers = {prompt(trial.case): "right" if trial.right else "wrong" for trial in trials(20)}
    (place / "answers.json").write_text(json.dumps(answers), "utf-8")
    check = ("judge", "check", "--judge", "knowing", "--cases", "20", "--repeats", "1")
    assert command(*check).exit_code == 0
    with closing(
        sqlite3.connect(place / "reports" / FILE)
    ) as database:  # or they would not be asked for again
        database.execute("DELETE FROM answers")
        database.commit()
    (place / "answers.json").unlink()
    lost = command(*check)
    assert (lost.exit_code, "20 unparseable" in lost.out) == (2, True)
    assert command(*RUN, "--judge", "knowing").exit_code == 3
    (note,) = results(place)["judges"]
    assert note["sensitivity"] == 1.0


def test_an_inconsistent_judge_falls_short(place: Path, command: "Command") -> None:
    answers = {prompt(trial.case): "right" if trial.right else "wrong" for trial in trials(60)}
    (place / "answers.json").write_text(json.dumps(answers), "utf-8")
    done = command("judge", "check", "--judge", "fickle", "--cases", "60")
    assert done.exit_code == 2
    assert "30 cases asked 3 times: 30 got different answers (flip rate 1.000)" in done.out
    assert "judge fickle falls short: flip rate 1.000, may be at most 0.05" in done.err


def test_a_reviewer_has_the_last_word_and_the_original_stays(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*RUN).exit_code == 0
    typed = iter(["x", "p", "2", "0.5", "", "half of it", "s"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    done = command("review", "r", "--reviewer", "Ada")
    assert done.exit_code == 0, done.output
    assert "1 verdict by hand" in done.out
    found = results(place)
    question = found["examples"][0]["questions"][0]
    assert (question["outcome"], question["score"], question["matched"]) == ("partial", 0.5, "undecided")
    assert question["override"]["reviewer"] == "Ada"
    assert question["override"]["was"] == "undecided"
    assert (found["overridden"], found["undecided"], found["score"]) == (1, 1, 0.25)
    assert "Ada; the verdict was undecided (0.00). half of it" in (place / "reports/r/report.html").read_text(
        "utf-8"
    )
    assert command("rescore", "r", "--judge", "no").exit_code == 0
    assert results(place)["outcomes"] == {"partial": 1, "wrong": 1}
    monkeypatch.setattr("builtins.input", lambda _: "q")
    assert "2 verdicts to review" in command("review", "r", "--all").out


def test_two_reviewers_decide_independently_and_a_third_settles_their_differences(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    def review(name: str, *keys: str) -> str:
        typed = iter(keys)
        monkeypatch.setattr("builtins.input", lambda _: next(typed))
        return command("review", "r", "--reviewer", name).out

    assert command(*RUN).exit_code == 0
    first = review("Ada", "c", "close enough", "w", "no")
    assert "2 verdicts to review, as Ada" in first
    assert "No doubtful verdict is left for Ada" in review("Ada")
    second = review("Ben", "w", "too vague", "w", "no")
    assert "2 verdicts to review, as Ben" in second
    assert "close enough" not in second.partition("by hand written")[0]
    assert "Ada and Ben read the same 2 replies (review), 1 alike; κ = 0.00" in second
    assert "they differ on joke/0 turn" in second
    found = results(place)
    assert [each["questions"][0]["outcome"] for each in found["examples"]] == ["undecided", "wrong"]
    assert (found["raters"][0]["read"], found["raters"][0]["alike"]) == (2, 1)
    assert "Ada and Ben read the same 2 replies" in (place / "reports/r/report.html").read_text("utf-8")
    assert command("verify", "r").exit_code == 0
    third = review("Cleo", "c", "I would count it")
    assert "1 verdict to review, as Cleo" in third
    assert results(place)["examples"][0]["score"] == 1.0
    assert "No doubtful verdict is left for Dora" in review("Dora")


def opinion(judge: str, outcome: Outcome) -> Opinion:
    return Opinion(judge=judge, key="k", rubric="r", prompt="p", answer="a", outcome=outcome, reason="so")


@pytest.mark.parametrize(
    ("said", "outcome", "score"),
    [
        ((Outcome.CORRECT,), Outcome.CORRECT, 1.0),
        ((Outcome.STALE,), Outcome.STALE, 0.0),
        ((Outcome.CORRECT, Outcome.CORRECT, Outcome.WRONG), Outcome.CORRECT, 1.0),
        ((Outcome.CORRECT, Outcome.ABSTAINED, Outcome.WRONG), Outcome.ABSTAINED, 0.0),
        ((Outcome.CORRECT, Outcome.JUDGE_ERROR), Outcome.CORRECT, 1.0),
        ((Outcome.CORRECT, Outcome.WRONG), Outcome.JUDGE_ERROR, None),
        ((Outcome.JUDGE_ERROR, Outcome.JUDGE_ERROR), Outcome.JUDGE_ERROR, None),
        ((), Outcome.JUDGE_ERROR, None),
    ],
)
def test_the_majority_of_the_judges_that_answer_decides(
    said: tuple[Outcome, ...], outcome: Outcome, score: float | None
) -> None:
    verdict = majority([opinion(f"j{i}", each) for i, each in enumerate(said)])
    assert (verdict.outcome, verdict.score) == (outcome, score)


ENDING = '''"""An agent that ends every answer in one way."""

from ltm_bench import Agent, AgentError, Finish, Message, Reply


class Ending(Agent):
    free = True

    def __init__(self, way: str = "") -> None:
        self.way = way

    async def reply(self, message: Message) -> Reply:
        if self.way == "unreachable":
            raise AgentError("http://127.0.0.1:9 cannot be reached: connection refused")
        if self.way in ("html", "prose"):
            return Reply("<html>Bad gateway</html>" if self.way == "html" else f"Well, {len(message.text)}.")
        return Reply(f"It is {len(message.text)}", finish=Finish(self.way))
'''


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("unreachable", "failed: AgentError: http://127.0.0.1:9 cannot be reached: connection refused"),
        ("html", "unreadable answer"),
        ("prose", "unreadable answer"),
        *(
            (way.value, f"failed: its answer ended with {way.value}")
            for way in Finish
            if way is not Finish.STOP
        ),
    ],
)
def test_a_check_says_by_kind_why_answers_came_to_nothing(
    place: Path, command: "Command", way: str, said: str
) -> None:
    (place / "agents").mkdir(exist_ok=True)
    (place / "agents" / "ending.py").write_text(ENDING, "utf-8")
    (place / "configs").mkdir(exist_ok=True)
    (place / "configs" / "agents.toml").write_text(f'[ends]\nadapter = "ending"\nway = "{way}"\n', "utf-8")
    done = command("judge", "check", "--judge", "ends", "--cases", "14", "--repeats", "1")
    assert done.exit_code == 2
    assert f"14 of its answers came to nothing: {said}" in " ".join(done.out.split())
    measured = "falls short" if said == "unreadable answer" else "gave no answer, so nothing was measured"
    assert measured in done.err
    assert ("failed calibration" in done.out) is (said == "unreadable answer")


CHOOSY = '''"""A judge that answers some questions and not others."""

import json
from pathlib import Path

from ltm_bench import Agent, AgentError, Message, Reply


class Choosy(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.text in json.loads(Path("unasked.json").read_text("utf-8")):
            raise AgentError("it does not want to")
        return Reply('{"verdict": "wrong"}')
'''


def test_a_check_says_about_which_kind_of_question_answers_came_to_nothing(
    place: Path, command: "Command"
) -> None:
    (place / "agents" / "choosy.py").write_text(CHOOSY, "utf-8")
    every = trials(60)
    of = Counter(each.about for each in every)
    assert len(of) > 2
    for shunned in of:
        unasked = [prompt(each.case) for each in every if each.about == shunned]
        (place / "unasked.json").write_text(json.dumps(unasked), "utf-8")
        (place / "reports" / FILE).unlink(missing_ok=True)
        done = command("judge", "check", "--judge", "choosy", "--cases", "60", "--repeats", "1")
        assert done.exit_code == 2
        said = " ".join(done.out.split())
        assert (
            f"{of[shunned]} of its answers came to nothing: failed: AgentError: it does not want to" in said
        )
        assert (
            f"came to nothing, by the kind of question: {shunned}: {of[shunned]} of {of[shunned]} choosy"
            in said
        )
        assert "falls short" in done.err
