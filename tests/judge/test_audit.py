"""Audits: a judge or a person checks confident verdicts without seeing them, corrected for the judge's own error."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.judge.rubric import prompt
from ltm_bench.judge.trials import trials
from ltm_bench.log.calls import read_calls

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

SCENARIO = '''"""Town: a home town is told and asked for."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

TOWNS = ("Lima", "Oslo", "Riga", "Bern")


@scenario(skills={"recall"})
def town(dice: Dice) -> Script:
    home = dice.choice(TOWNS)
    yield Tell(f"I live in {home}. My lucky number is {dice.integer(1, 10**9)}.", at=0.0)
    yield Ask("Where do I live? Name the town alone.", expect=names_only(home, among=TOWNS), at=1.0)
'''

AGENT = '''"""Lima: always says the same."""

from ltm_bench import Agent, Message, Reply


class Lima(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Lima" if "Where" in message.text else "I see.")
'''

JUDGE = '''"""{name}: a scripted judge, which knows the cases of its calibration."""

import json
from functools import cache
from pathlib import Path

from ltm_bench import Agent, AgentError, Message, Reply, Usage


class Judge(Agent):
    free = {free}

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=1000, output=500, model="gpt-4o", provider="openai")

    async def reply(self, message: Message) -> Reply:
        known = json.loads(Path("answers.json").read_text())
        said = known.get(message.text)
        if said is None:
            with open("asked.txt", "a") as file:
                file.write(message.text + chr(0))
            case = json.loads("{{" + message.text.partition("\\n{{")[2])
            home = case["told"][0]["user"].split("live in ")[1].split(".")[0]
            said = "right" if {test} else "wrong"
        used = Usage(uncached=800, output=20, model="gpt-4o", provider="openai")
        return Reply(json.dumps({{"verdict": said, "reason": "so it is"}}), used)
'''
TESTS = {
    "fair": "case['reply'] == home",
    "strict": "False",
    "broken": "1 / 0",
}


@cache
def answers() -> str:
    """Return what the judges know, as JSON."""
    known = {prompt(trial.case): "right" if trial.right else "wrong" for trial in trials(CASES)}
    return json.dumps(known)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "agents").mkdir()
    (tmp_path / "scenarios" / "town.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "lima.py").write_text(AGENT, "utf-8")
    for name, test in TESTS.items():
        (tmp_path / "agents" / f"{name}.py").write_text(
            JUDGE.format(name=name, test=test, free=True), "utf-8"
        )
    (tmp_path / "agents" / "paid.py").write_text(
        JUDGE.format(name="paid", test=TESTS["fair"], free=False), "utf-8"
    )
    (tmp_path / "answers.json").write_text(answers(), "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CASES = 60
RUN = ("run", "--span", "2k", "--scenario", "town", "--examples", "12", "--agent", "lima", "--name", "r")


def checked(command: "Command", judge: str) -> None:
    assert command("judge", "check", "--judge", judge, "--cases", str(CASES), "--repeats", "1").exit_code == 0


def results(place: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((place / "reports/r/results.json").read_text("utf-8"))
    return content


def asked(place: Path) -> list[str]:
    path = place / "asked.txt"
    return path.read_text("utf-8").split("\0")[:-1] if path.exists() else []


def test_a_calibrated_judge_reads_a_sample_without_seeing_the_verdicts(
    place: Path, command: "Command"
) -> None:
    assert command(*RUN).exit_code == 0
    outcomes = results(place)["outcomes"]
    assert set(outcomes) == {"correct", "wrong"}  # both sides are in the sample
    checked(command, "fair")
    done = command("audit", "r", "--judge", "fair")
    assert done.exit_code == 0, done.output
    assert "12 verdicts are audited by fair: 12 calls, no cost" in done.err
    [found] = results(place)["audits"]
    assert (found["auditor"], found["total"]["verdicts"], found["total"]["read"]) == ("fair", 12, 12)
    assert (found["total"]["contradicted"], found["total"]["agreement"], found["kappa"]) == (0, 1.0, 1.0)
    assert found["total"]["error"] == 0
    assert 0.05 < found["total"]["interval"]["high"] < 0.35  # 12 cases say little
    assert list(found["scenarios"]) == ["town"]
    assert "Scorer error 0.0 % (0.0–" in done.out
    assert "audited by fair: 12 of 12 confident verdicts read, 0 contradicted" in done.out
    assert "12 verdicts without an error still allow an error of" in done.out
    page = (place / "reports/r/report.html").read_text("utf-8")
    assert "Scorer error 0.0 %" in page
    assert "12 verdicts without an error still allow" in page
    assert "Scorer error 0.0 %" in command("rescore", "r").out
    for message in asked(place):
        case = json.loads(message[message.index("\n{") + 1 :])
        assert set(case) == {"told", "asked at", "question", "right", "reply"}  # our verdict is not shown
        assert case["told"][0]["user"].startswith("I live in ")


def test_contradicted_verdicts_are_listed_with_both_readings(place: Path, command: "Command") -> None:
    assert command(*RUN).exit_code == 0
    right = results(place)["outcomes"]["correct"]
    checked(command, "strict")
    done = command("audit", "r", "--judge", "strict")
    [found] = results(place)["audits"]
    assert found["total"]["contradicted"] == right == len(found["contradictions"])
    assert found["total"]["agreement"] == pytest.approx(1 - right / 12)
    assert found["total"]["error"] == pytest.approx(right / 12)  # this judge made no error in its calibration
    each = found["contradictions"][0]
    assert (each["outcome"], each["auditor_outcome"], each["reply"]) == ("correct", "wrong", "Lima")
    assert "scorer    correct:" in done.out
    assert "auditor   wrong: so it is" in done.out
    page = (place / "reports/r/report.html").read_text("utf-8")
    assert f"{right} contradicted verdict" in page
    assert "wrong: so it is" in page


def test_nothing_is_asked_twice_and_a_smaller_sample_is_part_of_what_was_read(
    place: Path, command: "Command"
) -> None:
    assert command(*RUN).exit_code == 0
    checked(command, "fair")
    assert command("audit", "r", "--judge", "fair", "--sample", "5").exit_code == 0
    assert len(asked(place)) == 5
    again = command("audit", "r", "--judge", "fair", "--sample", "5")
    assert "5 verdicts are audited by fair: 0 calls, no cost" in again.err
    assert len(asked(place)) == 5
    assert command("audit", "r", "--judge", "fair", "--sample", "12").exit_code == 0
    assert len(asked(place)) == len(set(asked(place))) == 12
    assert len(results(place)["audits"]) == 1  # the newest of this auditor


def test_a_budget_stops_before_it_is_exceeded_and_a_larger_one_continues(
    place: Path, command: "Command"
) -> None:
    assert command(*RUN).exit_code == 0
    checked(command, "paid")
    short = command("audit", "r", "--judge", "paid", "--max-cost", "0.02")
    assert short.exit_code == 4
    assert "12 calls, about $0.0372, at most $0.0900" in short.err
    some = len(asked(place))
    assert 1 < some < 11
    enough = command("audit", "r", "--judge", "paid", "--max-cost", "5")
    assert enough.exit_code == 0, enough.output
    assert f"{12 - some} calls, {some} answered earlier" in enough.err
    assert len(asked(place)) == 12
    calls = read_calls(place / "reports/r").asked
    assert [(each.role, each.ending) for each in calls] == [("judge", "stop")] * 12


def test_an_uncalibrated_or_worthless_judge_is_refused_before_it_is_asked(
    place: Path, command: "Command"
) -> None:
    assert command(*RUN).exit_code == 0
    never = command("audit", "r", "--judge", "fair")
    assert never.exit_code == 1
    assert "never calibrated with this rubric" in never.err
    assert "ltm-bench judge check --judge fair" in never.err
    (place / "answers.json").write_text(
        json.dumps({prompt(trial.case): "right" for trial in trials(CASES)}), "utf-8"
    )
    assert command("judge", "check", "--judge", "strict", "--cases", str(CASES)).exit_code == 2
    worthless = command("audit", "r", "--judge", "strict")
    assert worthless.exit_code == 1
    assert "sensitivity 1.000 and specificity 0.000 are too low for an audit" in worthless.err
    assert not asked(place)
    assert not (place / "reports/r/audit.jsonl").exists()


def test_answers_that_cannot_be_obtained_are_missing_not_wrong(place: Path, command: "Command") -> None:
    assert command(*RUN).exit_code == 0
    checked(command, "broken")
    done = command("audit", "r", "--judge", "broken")
    assert done.exit_code == 0, done.output
    assert "12 answers were missing or unreadable" in done.err
    assert "Scorer error unknown: broken has read none of 12 verdicts" in done.out
    [found] = results(place)["audits"]
    assert (found["total"]["read"], found["total"]["error"], found["kappa"]) == (0, None, None)


def test_a_person_reads_blind_quits_and_continues_where_they_stopped(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command(*RUN).exit_code == 0
    typed = iter(["x", "r surely", "s", "w", "q"])
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    first = command("audit", "r", "--person", "--reviewer", "Ada")
    assert first.exit_code == 0, first.output
    assert "12 of 12 replies to read, as Ada; their verdicts are not shown" in first.out
    shown = first.out.partition("1 of 12")[2].partition("Ada, a person")[0].partition("scenario")[0]
    assert "said      I live in" in shown
    assert "reply     Lima" in shown
    assert "correct" not in shown.replace("r right", "")
    assert "audited by Ada: 2 of 12 confident verdicts read (12 were drawn)" in first.out
    typed = iter(["r"] * 10)
    second = command("audit", "r", "--person", "--reviewer", "Ada")
    assert "10 of 12 replies to read" in second.out
    [found] = results(place)["audits"]
    assert (found["total"]["read"], found["measured"], found["key"]) == (12, None, "")
    assert "a person who is taken at their word" in second.out
    third = command("audit", "r", "--person", "--reviewer", "Ada")
    assert "0 of 12 replies to read" in third.out
    monkeypatch.setattr("builtins.input", lambda _: (_ for _ in ()).throw(EOFError))
    other = command("audit", "r", "--person", "--reviewer", "Bob")
    assert other.exit_code == 0
    assert [each["auditor"] for each in results(place)["audits"]] == ["Ada", "Bob"]


def test_a_reading_lost_to_a_crash_is_repeated(place: Path, command: "Command") -> None:
    assert command(*RUN).exit_code == 0
    checked(command, "fair")
    assert command("audit", "r", "--judge", "fair").exit_code == 0
    path = place / "reports/r/audit.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    done = command("audit", "r", "--judge", "fair")
    assert done.exit_code == 0
    assert "0 calls, 1 answered earlier" in done.err
    assert path.read_bytes() == whole


def test_a_judge_that_also_scores_is_kept_apart_from_the_auditor(place: Path, command: "Command") -> None:
    assert command(*RUN, "--judge", "fair").exit_code == 0
    checked(command, "fair")
    assert command("audit", "r", "--judge", "fair").exit_code == 0
    assert results(place)["judges"] == []  # nothing was undecided
    assert command("verify", "r").exit_code == 0
    forged = results(place)
    forged["audits"][0]["total"]["read"] = 11
    (place / "reports/r/results.json").write_text(json.dumps(forged), "utf-8")
    assert "the audit by fair in results.json is not that of audit.jsonl" in command("verify", "r").err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["audit", "r"], "name a judge (--judge NAME), or read the replies yourself (--person)"),
        (["audit", "r", "--judge", "fair", "--person"], "name a judge (--judge NAME), or read"),
        (["audit", "r", "--judge", "fairr"], "unknown judge 'fairr'; did you mean 'fair'?"),
        (["audit", "r", "--judge", "fair", "--sample", "0"], "--sample 0: write a whole number, 1 or more"),
        (["audit", "r", "--judge", "fair", "--seed", "x"], "--seed x: write a whole number"),
        (["audit", "nowhere", "--judge", "fair"], "no run is called 'nowhere'"),
        (["judge", "check", "--judge", "fair", "--repeats", "0"], "--repeats 0: write a whole number, 1"),
        (["judge", "check", "--judge", "fair", "--bank", "locomo:x"], "'locomo:x'; did you mean 'locomo-audit'?"),
        (["judge", "check", "--judge", "fair", "--bank", "locomo-audit:nowhere"], "locomo10.json: No such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_mistakes_are_reported_in_one_line(
    place: Path, command: "Command", words: list[str], complaint: str
) -> None:
    assert command(*RUN).exit_code == 0
    done = command(*words)
    assert done.exit_code == 1
    assert done.err.startswith("ltm-bench: ")
    assert done.err.count("\n") == 1
    assert complaint in done.err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"line": "reading"}\n', "audit.jsonl:1: reading.auditor"),
        (b'{"line": "song"}\n', "audit.jsonl:1: "),
        (b"[]\n", "audit.jsonl:1: "),
        (b"\xff\n", "audit.jsonl:1: not JSON"),
        (b"[" * 100_000 + b"\n", "audit.jsonl:1: not JSON"),
    ],
)
def test_damaged_records_are_named(place: Path, command: "Command", content: bytes, complaint: str) -> None:
    assert command(*RUN).exit_code == 0
    (place / "reports/r/audit.jsonl").write_bytes(content)
    done = command("rescore", "r")
    assert done.exit_code == 1
    assert complaint in done.err
    assert "Traceback" not in done.output
