"""Controls: a run's questions asked again alone, with everything in hand, and without filler."""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from ltm_bench import Agent, Message, Reply, load_run, resume, run
from ltm_bench.core.errors import BudgetReached, CannotCombine, ConfigError, ReplayDiverged
from ltm_bench.core.messages import Ask, Tell, Turn, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.events import Sent
from ltm_bench.log.reader import read_events
from ltm_bench.plan.folders import all_runs, find_run
from ltm_bench.plan.planning import Plan, make_plan, plan_of
from ltm_bench.plan.request import Request
from ltm_bench.runner.controls import _control, rehearsed, rungs_in, said_in

if TYPE_CHECKING:
    from tests import zygote
    from tests.asking import DIARY, PAID, SMALL
    from tests.conftest import Command
else:
    import zygote
    from asking import DIARY, PAID, SMALL

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

KINDS = ["blind", "evidence", "near"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "diary.py").write_text(DIARY.replace("FORKS", "no"), "utf-8")
    (tmp_path / "agents" / "paid.py").write_text(PAID, "utf-8")
    return tmp_path


def logs(folder: Path, kind: str = "*") -> dict[str, bytes]:
    found = (folder / "controls").glob(f"{kind}/isolated/*.jsonl")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def sent(folder: Path, kind: str, name: str) -> list[Sent]:
    log = folder / "controls" / kind / "isolated" / f"{name}.jsonl"
    return [event for event in read_events(log) if isinstance(event, Sent)]


def test_blind_asks_every_question_alone_as_the_log_has_it() -> None:
    done = run(agent="goldfish", **SMALL, controls=["blind"])
    asked = {(e.id, q.turn): q for e in done.examples for q in e.questions}
    assert len(logs(done.folder)) == len(asked) == 8
    for (example, turn), question in asked.items():
        (message,) = sent(done.folder, "blind", f"{example.replace('/', '-')}-{turn}")
        assert (message.message, message.at, message.turn) == (question.text, question.at, turn)


def test_evidence_is_one_message_with_every_needle_its_date_and_the_question() -> None:
    done = run(agent="goldfish", **SMALL, controls=["evidence"])
    for example in done.examples:
        question = example.questions[-1]
        (message,) = sent(done.folder, "evidence", f"{example.id.replace('/', '-')}-{question.turn}")
        places = [message.message.index(f"05 {needle.text}"[3:]) for needle in example.needles]
        assert places == sorted(places)
        assert message.message.endswith(question.text)
        assert all(f"{needle.at:%Y, %H:%M}] {needle.text}" in message.message for needle in example.needles)
        assert "Trivia" not in message.message


def test_near_is_the_example_without_filler_in_its_own_conversation() -> None:
    done = run(agent="goldfish", **SMALL, controls=["near"])
    whole = [event for event in read_events(done.folder / "events.jsonl") if isinstance(event, Sent)]
    for example in done.examples:
        heard = [each.message for each in sent(done.folder, "near", example.id.replace("/", "-"))]
        own = [each.message for each in whole if each.example == example.id]
        assert heard == own[: len(heard)]
        assert heard[-1] == example.questions[-1].text


@pytest.mark.parametrize("mode", [{}, {"questions": "forked", "acknowledge": "scripted"}])
def test_equal_replies_give_equal_bytes_and_nothing_is_asked_twice(mode: dict[str, Any]) -> None:
    first = run(agent="reference", **SMALL, **mode, controls=KINDS)
    before = logs(first.folder)
    second = run(agent="reference", **(SMALL | {"name": "s"}), **mode, controls=["near,evidence", "blind"])
    assert logs(second.folder) == before
    times = {path: path.stat().st_mtime_ns for path in (first.folder / "controls").rglob("*.jsonl")}
    again = resume("r", controls=KINDS)
    assert again.results.controls == first.results.controls
    assert {path: path.stat().st_mtime_ns for path in times} == times


def command(*words: str, dies: int = 0) -> int:
    words = (sys.executable, "-m", "ltm_bench", *words)
    environment = {**os.environ, "DIES": str(dies)}
    return zygote.run(words, env=environment, capture_output=True).returncode


@pytest.mark.unkept
@pytest.mark.parametrize("moments", [(12,), pytest.param(range(1, 31, 3), marks=pytest.mark.long)])
def test_killed_in_a_control_and_repeated_it_ends_with_the_same_bytes(moments: Sequence[int]) -> None:
    done = run(agent="diary", **SMALL)
    Path("calls.txt").unlink()
    asking = ("control", "r", "--control", ",".join(KINDS), "--max-connections", "2")
    assert command(*asking) == 0
    whole, calls = logs(done.folder), Counter(Path("calls.txt").read_text("utf-8").splitlines())
    for dies in moments:
        for path in (done.folder / "controls").rglob("*.jsonl"):
            path.unlink()
        Path("calls.txt").unlink()
        assert command(*asking, dies=dies) == -signal.SIGKILL
        assert command(*asking) == 0
        assert logs(done.folder) == whole
        twice = Counter(Path("calls.txt").read_text("utf-8").splitlines()) - calls
        assert sum(twice.values()) <= 2, "only what was on the way is asked again"


def test_examples_that_no_control_can_ask_are_left_out_and_said_why() -> None:
    left = {"restaurant": "decide", "two_users": "users", "forget_me": "delete"}
    done = run(
        agent="perfect", span="4k", suite="abilities", scenarios=[*left, "tally"], examples=1, controls=KINDS
    )
    controls = done.results.controls
    assert controls is not None
    evidence = controls.left_out.pop("evidence")
    assert {name for name, why in evidence.items() if left[name] in why} == {*left}
    decided = {"restaurant": evidence["restaurant"]}
    assert controls.left_out == {"blind": decided, "near": decided}
    assert [each.name for each in controls.scenarios] == ["tally"]


@pytest.mark.unkept
def test_what_only_the_evidence_leaves_out_is_not_said_to_be_left_out_of_the_others() -> None:
    given: dict[str, Any] = {"agent": "perfect", "span": "4k", "suite": "abilities", "examples": 1}
    done = run(**given, scenarios=["restaurant", "two_users", "tally"], controls=["blind", "evidence"])
    assert done.results.controls is not None
    asked = done.results.controls.remarks
    assert [each.partition(" (")[0] for each in asked] == [
        "left out of blind, evidence, and so of all these figures: restaurant",
        "left out of evidence, and so of all these figures: two_users",
    ]
    for remark in asked:
        assert f"L{remark[1:]}." in (done.folder / "report.html").read_text("utf-8")
    alone = run(**given, scenarios=["two_users", "tally"], controls=["blind"], name="r").results.controls
    assert alone is not None
    assert alone.remarks == []
    assert {each.name for each in alone.scenarios} == {"two_users", "tally"}


def test_perfect_knows_nothing_blind_and_all_with_the_evidence() -> None:
    done = run(agent="perfect", span="4k", suite="smoke", controls=KINDS)
    found = done.results.controls
    assert found is not None
    scores = [figure and figure.mean for figure in (found.blind, found.evidence, found.near)]
    assert scores == [0, found.out_of, found.out_of]


def test_controls_stay_within_the_budget_and_go_on_with_a_larger_one() -> None:
    done = run(agent="paid", **(SMALL | {"scenarios": ["colours"]}))
    spent = Decimal(str(done.results.costs.dollars))
    price = dollars(Usage(uncached=1000, output=100, model="gpt-4o", provider="openai"))
    assert price is not None
    with pytest.raises(BudgetReached):
        resume("r", controls=["blind"], max_cost=spent + price, connections=1)
    partial = load_run("r").results.controls
    assert partial is not None
    assert (partial.n, partial.missing) == (1, 1)
    of_two = partial.model_copy(update={"of": 2})
    assert of_two.sentence.startswith("in the 1 of 2 scenarios that have been asked so far: ")
    whole = of_two.model_copy(update={"missing": 0})
    assert whole.sentence.startswith("in the 1 of 2 scenarios that can be asked so: ")
    again = resume("r", controls=["blind"], max_cost=spent + 2 * price, connections=1)
    controls = again.results.controls
    assert controls is not None
    assert controls.missing == 0
    assert controls.blind is not None
    assert controls.blind.dollars == pytest.approx(float(2 * price))
    assert again.results.costs == done.results.costs


@pytest.mark.unkept
def test_a_sweep_asks_the_controls_of_all_its_runs_and_only_what_is_missing(command: "Command") -> None:
    given = ("--agent", "perfect", "--agent", "diary", "--span", "2k", "--seed", "0", "--seed", "1")
    words = ("sweep", *given, "--scenario", "colours", "--examples", "2", "--control", "blind,evidence")
    done = command(*words, "--notify", "touch ended")
    assert done.exit_code == 0, done.err
    assert Path("ended").exists()
    said = " ".join(done.err.split())
    assert "perfect at 2k: control blind: 2 calls, free, in each of 2 runs" in said
    for seed in (0, 1):
        for agent in ("perfect", "diary"):
            [folder] = Path("reports").glob(f"*-{agent}-seed{seed}")
            controls = load_run(folder.name).results.controls
            assert controls is not None
            assert (controls.n, controls.missing) == (2, 0)
            assert f"{folder.name}: asking again: blind, evidence" in said
    assert "How much of it is memory" in Path("reports/sweep.html").read_text("utf-8")
    calls = Path("calls.txt").read_text("utf-8")
    lost = next(Path("reports").glob("*-diary-seed1/controls/blind/isolated/*.jsonl"))
    whole = lost.read_bytes()
    lost.unlink()
    again = command(*words)
    assert again.exit_code == 0
    said = " ".join(again.err.split())
    assert "diary at 2k: control blind: 2 calls, free" in said
    assert [said.count(each) for each in ("control blind:", "control evidence:", "each of 2 runs")] == [
        1,
        0,
        0,
    ]
    assert said.count(": asking again: ") == said.count("-diary-seed1: asking again: blind") == 1
    assert lost.read_bytes() == whole
    assert len(Path("calls.txt").read_text("utf-8").splitlines()) == len(calls.splitlines()) + 1


@pytest.mark.unkept
def test_a_sweep_stays_within_the_budget_with_its_controls_and_goes_on(command: "Command") -> None:
    seeds = ("--seed", "0", "--seed", "1", "--max-connections", "1")
    words = ("sweep", "--agent", "paid", "--span", "2k", *seeds, "--scenario", "colours", "--examples", "1")
    assert command(*words).exit_code == 0
    runs = [load_run(each.name) for each in sorted(Path("reports").glob("*-paid-seed*"))]
    spent = sum(Decimal(str(each.results.costs.dollars)) for each in runs)
    price = dollars(Usage(uncached=1000, output=100, model="gpt-4o", provider="openai"))
    assert price is not None

    def missing() -> list[int | None]:
        found = [load_run(each.name).results.controls for each in runs]
        return [None if each is None else each.missing for each in found]

    asked = (*words, "--control", "blind")
    stopped = command(*asked, "--max-cost", str(spent + price))
    assert stopped.exit_code == 4, stopped.err
    assert missing() == [0, None]
    assert command(*asked, "--max-cost", str(spent + 2 * price)).exit_code == 0
    assert missing() == [0, 0]


@pytest.mark.unkept
def test_a_suite_can_ask_for_controls(command: "Command") -> None:
    Path("configs").mkdir()
    suite = Path("configs/mine.toml")
    suite.write_text('controls = ["blind", "evidence"]\nexamples = 2\n[scenarios.colours]\n', "utf-8")
    controls = run("perfect", "2k", suite="mine", name="r").results.controls
    assert controls is not None
    assert (controls.blind and controls.blind.mean, controls.near) == (0, None)
    assert controls.evidence is not None
    foreseen = " ".join(
        command("estimate", "--agent", "perfect", "--suite", "mine", "--span", "2k").out.split()
    )
    assert "control evidence: 2 calls, free" in foreseen
    other = run("perfect", "2k", suite="mine", name="s", controls=["near"]).results.controls
    assert other is not None
    assert (other.blind, other.near and other.near.mean) == (None, 1)
    suite.write_text('controls = ["blnd"]\n[scenarios.colours]\n', "utf-8")
    with pytest.raises(ConfigError, match=r"mine.toml: controls = \['blnd'\]: .*did you mean 'blind'"):
        run("perfect", "2k", suite="mine")


def test_a_script_that_says_something_else_today_is_refused() -> None:
    run(agent="goldfish", **SMALL)
    log = Path("reports/r/events.jsonl")
    text = log.read_text("utf-8").replace("favourite colour", "favourite color")
    log.write_text(text, "utf-8")
    with pytest.raises(ReplayDiverged, match="at turn"):
        list(said_in(plan_of(Path("reports/r")), Path("reports/r")))


@pytest.mark.unkept
def test_what_cannot_be_asked_is_an_error_before_anything_is(command: "Command") -> None:
    with pytest.raises(ConfigError, match=r"--control blnd: .*did you mean 'blind'"):
        run(agent="goldfish", **SMALL, controls=["blnd"])
    with pytest.raises(CannotCombine, match="near"):
        run(agent="goldfish", **SMALL, isolated=True, controls=["near"])
    assert not Path("reports/r").exists()
    assert command("control", "r").exit_code == 1
    swept = command(
        "sweep", "--agent", "goldfish", "--control", "blind", "--executor", "ray", "--shared", "s3://b/r"
    )
    assert (swept.exit_code, "are asked from this machine" in " ".join(swept.err.split())) == (1, True)
    Path("reports/r").mkdir(parents=True)
    run(agent="goldfish", **SMALL)
    log = Path("reports/r/events.jsonl")
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
    done = command("control", "r")
    assert done.exit_code == 1
    assert "has not ended; `ltm-bench resume r` continues it" in " ".join(done.err.split())


@pytest.mark.unkept
def test_a_control_that_a_run_refuses_has_no_price(command: "Command") -> None:
    given = ("--agent", "goldfish", "--span", "2k", "--scenario", "colours", "--isolated")
    asked = (*given, "--control", "near")
    refused, priced = command("run", *asked), command("estimate", *asked)
    assert (priced.exit_code, priced.out) == (1, "")
    assert priced.err == refused.err != ""
    assert command("estimate", *given, "--control", "blind").exit_code == 0


def test_a_control_is_a_run_that_commands_know_by_its_name(command: "Command") -> None:
    given = {**SMALL, "span": "4k", "scenarios": ["colours", "restaurant"]}
    done = run(agent="reference", **given, controls=KINDS, ladder=True)
    controls = done.results.controls
    assert controls is not None
    for kind in KINDS:
        name, folder = f"r.{kind}", done.folder / "controls" / kind
        for words in (("rescore", name), ("verify", name), ("report", name), ("bundle", name)):
            ended = command(*words)
            assert ended.exit_code == 0, ended.err
        found = json.loads((folder / "results.json").read_text("utf-8"))
        assert [each["name"] for each in found["scenarios"]] == ["colours"], "restaurant cannot be asked so"
        assert (found["complete"], found["mode"]) == (True, kind)
        figure = controls.figure(kind)
        assert figure is not None
        assert (found["score"], found["references"]) == (figure.mean, {})
    assert "blind" in command("compare", "r", "r.blind", "r.evidence").out
    assert [each.name for each in all_runs(Path("reports"))] == ["r"], "what lists runs does not descend"
    assert find_run("r.retold") == Path("reports/r/rungs/retold")
    twice = command("control", "r.blind")
    assert twice.exit_code == 1
    assert "it asks the questions of r again; `ltm-bench control r`" in " ".join(twice.err.split())
    before = logs(done.folder)
    assert command("resume", "r.blind").exit_code == 0
    assert logs(done.folder) == before
    Path("reports/r/controls/blind/isolated").joinpath(Path(min(before)).name).unlink()
    assert command("resume", "r.blind").exit_code == 0
    assert logs(done.folder) == before


@pytest.mark.unkept
def test_a_damaged_scope_is_named(command: "Command") -> None:
    done = run(agent="goldfish", **SMALL, controls=["blind"])
    (done.folder / "controls" / "blind" / "scope.json").write_text("[]", "utf-8")
    failed = command("report", "r")
    assert failed.exit_code == 1
    assert "scope.json" in failed.err
    assert command("control", "r", "--control", "blind").exit_code == 0
    assert load_run("r").results.controls == done.results.controls


@pytest.mark.unkept
def test_the_terminal_the_page_and_the_frame_lead_with_what_is_memory(command: "Command") -> None:
    given = (
        "--span",
        "2k",
        "--scenario",
        "colours",
        "--examples",
        "4",
        "--agent",
        "reference",
        "--name",
        "r",
    )
    done = command("run", *given, "--control", "blind,evidence")
    said = " ".join(done.output.split())
    results = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    sentence = results["controls"]["sentence"]
    assert sentence.startswith("1.0 of 1; guessing alone 0.0, with everything in hand 1.0: it kept 100 % (")
    assert sentence in said
    assert sentence in Path("reports/r/report.html").read_text("utf-8")
    (row, *_) = load_run("r").rows()
    assert (row["blind"], row["evidence"], row["near"], row["run_memory"]) == (0.0, 1.0, None, 1.0)


def test_what_is_asked_again_is_derived_from_the_log_once_for_all_controls_and_rungs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = list[Path]()

    def counted(plan: Plan, folder: Path) -> Any:
        read.append(folder)
        return said_in(plan, folder)

    monkeypatch.setattr("ltm_bench.runner.controls.said_in", counted)
    done = run(agent="diary", **SMALL, controls=KINDS, ladder=True)
    assert done.results.ladder is not None
    assert len(list(done.folder.glob("rungs/*/scope.json"))) == 4
    assert read == [done.folder]


def test_controls_and_rungs_say_a_needle_without_the_filler_around_it() -> None:
    plan = make_plan(Request(agent="perfect", suite="standard", span="8k", scenarios=["colours"]))
    said = rehearsed(plan.examples[0], plan)
    inside = [each.line for each in said if isinstance(each.line, Tell) and each.line.inside]
    assert inside, "this seed hides some"
    for kind in ("near", "evidence"):
        asked = _control(kind, plan.examples[0], said)
        told = "\n".join(each.sent.message for talk in asked.talks for each in talk.said)
        assert all(line.buried[0].text in told and str(line.text) not in told for line in inside)
    *before, last = said
    heard = [Turn(each.sent.said, each.reply, "tell", plan.examples[0].id) for each in before]
    rungs, _ = rungs_in(said, plan.examples[0], cast(Ask, last.line), last.sent.said, heard)
    texts = {rung.name: rung.message.text for rung in rungs}
    assert all(line.buried[0].text in texts["retold"] for line in inside)
    assert not any(str(line.text) in text for line in inside for text in texts.values())


def test_one_agent_object_cannot_be_asked_again_which_is_said_before_its_conversation(tmp_path: Path) -> None:
    class Mine(Agent):
        free = True
        heard = 0

        async def reply(self, message: Message) -> Reply:
            Mine.heard += 1
            return Reply("Noted.")

    for more in ({"controls": ["blind"]}, {"ladder": True}):
        with pytest.raises(ConfigError, match="one agent, for one conversation, and what is asked again"):
            run(Mine(), span="2k", scenarios=["colours"], reports=tmp_path, **more)
    assert Mine.heard == 0
