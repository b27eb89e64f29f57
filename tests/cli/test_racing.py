"""`race`: rounds of ordinary runs until the data tells agents apart."""

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ltm_bench
from ltm_bench.core.errors import ConfigError

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

RACE = ("race", "perfect", "goldfish", "--span", "2k", "--scenario", "colours", "--scenario", "jokes")

FRAIL = '''
from pathlib import Path
from ltm_bench import Agent, Message, Reply, Usage

class Frail(Agent):
    """Costs a little, forgets everything, and fails once at its third reply of every run."""
    forks = "no"
    async def open(self, home):
        self.failed, self.said = Path(home) / "failed", 0
    async def reply(self, message: Message) -> Reply:
        self.said += 1
        if self.said == 3 and not self.failed.exists():
            self.failed.write_text("once")
            raise RuntimeError("it fell")
        return Reply("I do not know.", Usage(uncached=100, output=1, model="gpt-4o", provider="openai"))
    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=100, output=1, model="gpt-4o", provider="openai")
'''
BROKEN = '''
from ltm_bench import Agent, Message, Reply

class Broken(Agent):
    """Never replies."""
    async def reply(self, message: Message) -> Reply:
        raise RuntimeError("it is down")
'''
SMALL = ("--span", "2k", "--scenario", "colours", "--examples", "2", "--questions", "in-line")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "frail.py").write_text(FRAIL, "utf-8")
    (tmp_path / "agents" / "broken.py").write_text(BROKEN, "utf-8")
    return tmp_path


def logs(place: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in sorted(place.glob("reports/*/events.jsonl"))}


def test_the_sign_is_that_of_the_sentence(command: "Command", place: Path) -> None:
    turned = [{"perfect": "goldfish", "goldfish": "perfect"}.get(each, each) for each in RACE]
    done = command(*turned, "--most", "8")
    assert "perfect is better than goldfish: +2.00 points" in done.out
    page = (place / "reports" / "race.html").read_text("utf-8")
    assert "perfect is better than goldfish: +2.00 points" in page
    assert "<bdi>goldfish</bdi> minus <bdi>perfect</bdi>" in page


def test_a_race_ends_when_one_is_better_and_says_what_it_saved(command: "Command", place: Path) -> None:
    done = command(*RACE, "--most", "8")
    assert done.exit_code == 0, done.output
    assert "perfect is better than goldfish: +2.00 points" in done.out
    assert "of at most 8: everything is decided" in done.out
    assert "plan-size would plan" in done.out
    assert "the first round that could decide is number" in done.err
    page = (place / "reports" / "race.html").read_text("utf-8")
    assert "<bdi>perfect</bdi> minus <bdi>goldfish</bdi>" in page
    assert page.count("/report.html") == len(logs(place))
    assert (
        "<h1>Race: <bdi>perfect</bdi>, <bdi>goldfish</bdi> · <bdi>colours, jokes over 2k tokens</bdi></h1>"
        in page
    )
    assert "<title>Race: perfect, goldfish · colours, jokes over 2k tokens · ltm-bench</title>" in page


def test_a_race_without_filler_has_no_span_in_its_heading(command: "Command", place: Path) -> None:
    assert command(*RACE[:3], "--scenario", "colours", "--isolated", "--most", "2").exit_code == 0
    assert "<bdi>colours, isolated</bdi></h1>" in (place / "reports" / "race.html").read_text("utf-8")


def test_a_race_continues_where_it_was_stopped_and_asks_nothing_again(
    command: "Command", place: Path
) -> None:
    first = command(*RACE, "--json")
    before = logs(place)
    last = place / "reports" / sorted(before)[-1] / "events.jsonl"
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:7]))
    again = command(*RACE, "--json")
    assert logs(place) == before
    assert json.loads(first.out) == json.loads(again.out)


def test_equal_agents_have_no_difference_that_matters(command: "Command") -> None:
    done = command("race", "goldfish", "parrot", *SMALL, "--acknowledge", "live", "--least", "0.9")
    assert done.exit_code == 0, done.output
    assert "goldfish and parrot: no difference that matters" in done.out


def test_a_round_with_an_agents_error_is_repeated_and_paid_for_once(command: "Command", place: Path) -> None:
    done = command("race", "perfect", "frail", *SMALL, "--most", "2", "--json", "--max-cost", "1")
    assert done.exit_code == 0, done.output
    assert "it fell" in done.err
    found = json.loads(done.out)
    assert found["rounds"] == 2
    costs = [json.loads((place / "reports" / name / "results.json").read_text("utf-8"))["costs"]["dollars"]
             for name in found["runs"]["frail"]]  # fmt: skip
    assert found["dollars"] == pytest.approx(sum(costs), rel=0.2)


def test_an_agent_that_never_replies_leaves_the_race_incomplete(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ltm_bench.runner.sweep.pause", lambda tries: 0.0)
    done = command("race", "perfect", "broken", *SMALL)
    assert done.exit_code == 3
    assert done.err.count("it is down") >= 3


def test_one_budget_covers_all_and_a_larger_one_continues(command: "Command", place: Path) -> None:
    words = ("race", "perfect", "frail", *SMALL, "--most", "4", "--least", "0.01")
    done = command(*words, "--max-cost", "0.008")
    assert done.exit_code == 4, done.output
    assert "--max-cost is reached" in done.out
    spent = json.loads(command(*words, "--max-cost", "0.008", "--json").out)["dollars"]
    assert Decimal(str(spent)) <= Decimal("0.008")
    assert command(*words, "--max-cost", "1").exit_code == 0


def test_a_race_that_is_repeated_without_a_limit_says_what_all_its_runs_have_cost(command: "Command") -> None:
    words = ("race", "perfect", "frail", *SMALL, "--most", "2", "--json")
    first, again = (json.loads(command(*words).out) for _ in range(2))
    assert first["dollars"] == again["dollars"] > 0


def test_a_command_that_is_told_of_the_end_gets_the_exit_code_of_the_race(
    command: "Command", place: Path
) -> None:
    notify = ("--notify", "echo $LTM_BENCH_EXIT_CODE >> told")
    words = ("race", "perfect", "frail", *SMALL, "--most", "2")
    assert command(*words, "--max-cost", "0.002", *notify).exit_code == 4
    assert command("race", "goldfish", "perfect", *RACE[3:], "--gate", "worse", *notify).exit_code == 2
    assert (place / "told").read_text("utf-8").split() == ["4", "2"]


@pytest.mark.parametrize(
    ("agents", "gate", "code"),
    [
        (("perfect", "goldfish"), "better", 0),
        (("perfect", "goldfish"), "worse", 0),
        (("goldfish", "perfect"), "worse", 2),
        (("goldfish", "perfect"), "better", 2),
    ],
)
def test_a_gate_decides_about_the_first_agent(
    command: "Command", agents: tuple[str, str], gate: str, code: int
) -> None:
    done = command("race", *agents, *RACE[3:], "--gate", gate)
    assert done.exit_code == code, done.output
    if code:
        assert f"--gate {gate}: perfect is better than goldfish" in done.err


def test_a_race_that_can_save_nothing_says_so_before_it_starts(command: "Command") -> None:
    done = command(*RACE, "--most", "2")
    assert "this race can save nothing" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("perfect",), "race perfect: name two different agents, or more"),
        (("perfect", "perfect"), "name two different agents"),
        (("perfect", "goldfish", "--most", "1"), "--most 1: write a whole number"),
        (("perfect", "goldfish", "--least", "0"), "--least 0: "),
        (
            ("perfect", "goldfish", "--least", "5", *RACE[3:]),
            "--least 5: more than the highest possible score, 2",
        ),
        (("perfect", "goldfish", "--gate", "best"), "--gate best: use worse or better"),
        (
            ("perfect", "goldfish", "--control", "blind"),
            "a race asks for neither; `ltm-bench control RUN` does",
        ),
        (("perfect", "goldfish", "--ladder"), "a race asks for neither; `ltm-bench control RUN` does"),
        (("perfect", "nobody"), "nobody"),
        (
            ("perfect", "broken", "--span", "2k", "--scenario", "colours", "--quick"),
            "broken does not observe",
        ),
    ],
)
def test_what_cannot_be_raced_is_one_line_and_nothing_is_written(
    command: "Command", place: Path, words: tuple[str, ...], said: str
) -> None:
    done = command("race", *words)
    assert done.exit_code == 1
    assert said in done.err
    assert not (place / "reports").exists()


class Plain:
    """A bot that takes a message and returns a reply: it can neither observe nor fork."""

    def __call__(self, message: str) -> str:
        return "It is white."


@pytest.mark.unkept  # what names the class opens files of the tests
def test_whoever_cannot_be_asked_quickly_is_raced_in_line_with_all_others(place: Path) -> None:
    race = ltm_bench.race(Plain, "goldfish", span="2k", scenarios=["colours"], most=2)
    assert race.rounds == 2
    for names in race.runs.values():
        for name in names:
            assert ltm_bench.load_run(place / "reports" / name).manifest.questions == "in-line"
    with pytest.raises(ConfigError, match="does not observe"):
        ltm_bench.race(Plain, "goldfish", span="2k", scenarios=["colours"], most=2, quick=True)


def test_python_races_too(place: Path) -> None:
    seen: list[int] = []
    race = ltm_bench.race(
        "perfect",
        "goldfish",
        span="2k",
        scenarios=["colours"],
        progress=lambda each: seen.append(each.rounds),
    )
    assert race.duels[0].verdict == "perfect is better than goldfish"
    assert seen == list(range(1, race.rounds + 1))
    assert (place / "reports" / "race.html").exists()
    with pytest.raises(ConfigError, match=r"race\(spam=…\): unknown; did you mean 'span'"):
        ltm_bench.race("perfect", "goldfish", spam="2k")
