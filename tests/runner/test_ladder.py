"""The ladder: missed questions asked again with ever more help, of every kind of agent."""

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import load_run, resume, run
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.log.controls import RUNGS
from ltm_bench.log.reader import read_turns
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.score.statistics.intervals import wilson

if TYPE_CHECKING:
    from tests import zygote
    from tests.asking import DIARY, PAID, SMALL
    from tests.conftest import Command
else:
    import zygote
    from asking import DIARY, PAID, SMALL

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*", "tests/frozen/v0_4_0/**/*"))

# Forgets some facts, finds some, and guesses when it is offered a choice.
GUESSES = """
import re, sys
from ltm_bench import Dice
sys.path.insert(0, AGENTS)
from reference import UNKNOWN, Reference
from ltm_bench import Reply


class Guesses(Reference):
    def _answer(self, message):
        reply = super()._answer(message)
        offered = re.findall(r"^- (.*)$", message.text, re.MULTILINE)
        if reply.text == UNKNOWN and offered:
            return Reply(Dice(f"{message.stream} {message.text}").choice(offered))
        return reply
"""
# Keeps what it hears in a file, answers only while it is open, and finds nothing without a cue.
DURABLE = """
from ltm_bench import Agent, Message, Reply, Turn


class Durable(Agent):
    free = True
    forks = "FORKS"
    can_reopen = True
    shut = False
    async def open(self, home):
        self.file = home / "heard.txt"
    async def reopen(self, home, turns, since):
        self.file = home / "heard.txt"
    async def close(self):
        self.shut = True
    def said(self, message):
        assert not self.shut, "asked after it was closed"
        heard = self.file.read_text("utf-8") if self.file.exists() else ""
        place = f"{heard.count(chr(10))} turns"
        value = "ochre" if "my shed" in message.text else "teal"
        cued = [value] if value in heard and ("…" in message.text or value in message.text) else []
        return Reply(f"It is {cued[0]}." if cued else f"I do not know. ({place})")
    def keep(self, text):
        with self.file.open("a", encoding="utf-8") as file:
            file.write(text.replace(chr(10), " ") + chr(10))
    async def reply(self, message: Message) -> Reply:
        reply = self.said(message)
        self.keep(message.text)
        return reply
    async def observe(self, turn: Turn) -> None:
        self.keep(turn.message.text)
    async def fork(self, message):
        shut, reply = self, self.said(message)
        async def answer():
            assert not shut.shut, "asked after it was closed"
            return reply
        return answer
"""
BOT = """
class Bot:
    def __init__(self):
        self.heard = 0

    def __call__(self, message):
        self.heard += 1
        return f"I do not know. ({self.heard} heard)"
"""
PAD = """
from ltm_bench import Agent, Message, Reply, Turn


class Pad(Agent):
    free = True
    writes_in_reply = True

    def __init__(self):
        self.asked = self.observed = 0

    async def reply(self, message: Message) -> Reply:
        self.asked += 1
        return Reply(f"I do not know. ( {self.asked} asked, {self.observed} observed)")

    async def observe(self, turn: Turn) -> None:
        self.observed += 1
"""
REOPENED = '''"""Two things are told; the agent is closed and opened again between the questions about them."""

from ltm_bench import Ask, Script, Tell, names_only, scenario


@scenario(skills={"recall"})
def reopened(dice) -> Script:
    yield Tell("My front door is teal now, by the way.", at=0.0)
    yield Tell("And the shed ended up in ochre, of all colours.", at=0.1)
    among = ("teal", "ochre", "mauve", "beige", "navy")
    yield Ask("Which colour is my front door?", expect=names_only("teal", among=among), at=0.5)
    yield Ask("Which colour is my shed?", expect=names_only("ochre", among=among), at=1.0, restart=True)
'''
FAULTY: dict[str, Any] = {
    "span": "4k",
    "suite": "abilities",
    "scenarios": ["colours", "hinted", "never_told", "jokes"],  # whose answers rest on one fact each
    "quick": True,
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    for forks in ("snapshot", "barrier", "no"):
        (tmp_path / "agents" / f"diary_{forks}.py").write_text(DIARY.replace("FORKS", forks), "utf-8")
    (tmp_path / "agents" / "paid.py").write_text(PAID, "utf-8")
    return tmp_path


def logs(folder: Path) -> dict[str, bytes]:
    found = [path for name in ("isolated/*.jsonl", "scope.json") for path in folder.glob(f"rungs/*/{name}")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize(
    ("forks", "mode"),
    [
        *product(["snapshot", "barrier", "no"], [{}, {"isolated": True}]),
        *product(["snapshot", "barrier"], [{"quick": True}]),  # which takes forks
    ],
)
def test_asked_in_the_run_or_once_it_has_ended_the_rungs_hear_the_same(
    forks: str, mode: dict[str, Any]
) -> None:
    first = run(agent=f"diary_{forks}", **SMALL, **mode, ladder=True)
    plain = run(agent=f"diary_{forks}", **(SMALL | {"name": "s"}), **mode)
    assert (plain.folder / "events.jsonl").read_bytes() == (first.folder / "events.jsonl").read_bytes()
    second = resume("s", ladder=True)
    assert logs(second.folder) == logs(first.folder)
    ladder = first.results.ladder
    assert ladder is not None
    assert ladder == second.results.ladder
    assert not ladder.after
    calls = Path("calls.txt").read_text("utf-8")
    resume("s", ladder=True)
    assert Path("calls.txt").read_text("utf-8") == calls, "nothing is asked twice"


@pytest.mark.unkept
@pytest.mark.parametrize("mode", [{}, {"quick": True}])
def test_a_memory_that_is_told_what_is_right_lacks_the_same_once_the_run_has_ended(
    mode: dict[str, Any],
) -> None:
    given: dict[str, Any] = {"agent": "reference", "settings": {"loses": 0.5}, **SMALL, **mode}
    first = run(**given, ladder=True)
    run(**(given | {"name": "s"}))
    second = resume("s", ladder=True)
    assert logs(second.folder) == logs(first.folder)
    ladder = first.results.ladder
    assert ladder is not None
    assert set(ladder.lost) == {"retold"}
    assert ladder == second.results.ladder


def test_what_is_told_again_helps_where_the_question_stands_in_it() -> None:
    done = run(
        agent="reference", **(SMALL | {"scenarios": ["trigger_response"]}), settings={"loses": 1}, ladder=True
    )
    ladder = done.results.ladder
    assert ladder is not None
    assert set(ladder.lost) == {"retold"}


def test_an_agent_that_forks_is_asked_at_the_place_of_the_question() -> None:
    done = run(agent="diary_snapshot", **SMALL, ladder=True)
    missed = [(e, q) for e in done.examples for q in e.questions if q.ladder is not None]
    assert len(missed) == 8
    for example, question in missed:
        assert question.ladder is not None
        again = question.ladder.again
        assert again is not None
        assert again.reply == question.reply, "the question itself has not been heard"
        logs = done.folder.glob(f"rungs/*/isolated/{example.id.replace('/', '-')}-{question.turn}.jsonl")
        assert {path.parts[-3] for path in logs} == {*RUNGS}


@pytest.mark.parametrize("mode", [{}, {"isolated": True}])
def test_any_other_agent_hears_on_each_rung_what_one_that_forks_has_heard(mode: dict[str, Any]) -> None:
    given = SMALL | mode
    folders = [
        run(agent=f"diary_{forks}", **(given | {"name": forks}), ladder=True).folder
        for forks in ("no", "snapshot")
    ]
    said = [
        {path.relative_to(folder): [turn.reply.text for turn in read_turns(path)] for path in _rungs(folder)}
        for folder in folders
    ]
    assert said[0] == said[1]
    assert len(said[0]) == 8 * len(RUNGS)


def _rungs(folder: Path) -> list[Path]:
    return [*folder.glob("rungs/*/isolated/*.jsonl")]


@pytest.mark.unkept
@pytest.mark.parametrize("forks", ["snapshot", "barrier", "no"])
def test_a_question_after_the_agent_was_closed_and_opened_again_has_its_rungs(forks: str) -> None:
    Path("scenarios").mkdir()
    Path("scenarios/reopened.py").write_text(REOPENED, "utf-8")
    Path("agents/durable.py").write_text(DURABLE.replace("FORKS", forks), "utf-8")
    given = SMALL | {"scenarios": ["reopened"], "examples": 1}
    done = run(agent="durable", **given, ladder=True)
    plain = run(agent="durable", **(given | {"name": "s"}))
    assert (plain.folder / "events.jsonl").read_bytes() == (done.folder / "events.jsonl").read_bytes()
    before, after = done.examples[0].questions
    for question in (before, after):
        assert question.ladder is not None
        assert question.ladder.lost == "cued", "it goes on from what it kept, and finds it with a cue"
        assert question.ladder.again is not None
        assert (question.ladder.again.reply == question.reply) is (forks != "barrier")


@pytest.mark.unkept
def test_what_decides_how_it_goes_on_is_left_out_and_said() -> None:
    given = SMALL | {"span": "4k", "scenarios": ["restaurant", "forget_me"]}
    done = run(agent="goldfish", **given, ladder=True)
    ladder = done.results.ladder
    assert ladder is not None
    assert "decide" in ladder.left_out["again"]["restaurant"]
    assert "delete" in ladder.left_out["retold"]["forget_me"]
    assert [each.name for each in ladder.scenarios] == ["forget_me"]


def killed_at(call: int) -> int:
    words = (sys.executable, "-m", "ltm_bench", "control", "r", "--ladder")
    environment = {**os.environ, "DIES": str(call)}
    return zygote.run(words, env=environment, capture_output=True).returncode


@pytest.mark.unkept
@pytest.mark.parametrize("moments", [(9,), pytest.param(range(1, 31, 3), marks=pytest.mark.long)])
def test_killed_on_the_ladder_and_repeated_it_ends_with_the_same_bytes(moments: Sequence[int]) -> None:
    done = run(agent="diary_snapshot", **SMALL, quick=True)
    Path("calls.txt").unlink()
    resume("r", ladder=True)
    whole, calls = logs(done.folder), Counter(Path("calls.txt").read_text("utf-8").splitlines())
    assert calls.total() >= 30
    for dies in moments:
        for path in (done.folder / "rungs").rglob("*.json*"):
            path.unlink()
        Path("calls.txt").unlink()
        assert killed_at(dies) == -signal.SIGKILL
        resume("r", ladder=True)
        assert logs(done.folder) == whole
        twice = Counter(Path("calls.txt").read_text("utf-8").splitlines()) - calls
        assert twice.total() <= 8, "only what was on the way is asked again"


def test_the_ladder_stays_within_the_budget_and_goes_on_with_a_larger_one() -> None:
    done = run(agent="paid", **(SMALL | {"scenarios": ["colours"]}))
    spent = Decimal(str(done.results.costs.dollars))
    price = dollars(Usage(uncached=1000, output=100, model="gpt-4o", provider="openai"))
    assert price is not None
    with pytest.raises(BudgetReached):
        resume("r", ladder=True, max_cost=spent + 3 * price, connections=1)
    partial = load_run("r").results.ladder
    assert partial is not None
    assert partial.to_go == 5
    assert "incomplete: 5 replies to go" in partial.sentence
    again = resume("r", ladder=True, max_cost=spent + 8 * price, connections=1)
    ladder = again.results.ladder
    assert ladder is not None
    assert ladder.to_go == 0
    assert ladder.dollars == pytest.approx(float(8 * price))
    assert again.results.costs == done.results.costs


def recovered(agent: str, seeds: int, **faults: float) -> dict[str, tuple[float, int]]:
    """Return the share that the ladder finds for each fault, with its number of questions."""
    lost, asked = Counter[str](), 0
    for seed in range(seeds):
        done = run(
            agent=agent,
            **FAULTY,
            seed=seed,
            settings=faults,
            name=f"{agent[:4]}{seed}",
            fresh=True,
            ladder=True,
        )
        ladder = done.results.ladder
        assert ladder is not None
        lost.update(ladder.lost)
        asked += sum(q.expected != "Unknown." for e in done.examples for q in e.questions)
    used, kept = asked - lost["none"], asked - lost["none"] - lost["retold"]
    found = kept - lost["cued"] - lost["recognised"]
    return {
        "missed": (sum(lost.values()) / asked, asked),
        "uses": (used / asked, asked),
        "loses": (lost["retold"] / used, round(used)),
        "finds": (found / kept, round(kept)),
    }


@pytest.mark.parametrize("seeds", [2, pytest.param(20, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "faults",
    [{"loses": 0.3}, {"finds": 0.7}, {"uses": 0.8}, {"loses": 0.2, "finds": 0.7, "uses": 0.8}],
)
def test_without_any_hook_it_recovers_what_is_never_written_not_found_and_not_used(
    faults: dict[str, float], seeds: int
) -> None:
    found = recovered("reference", seeds, **faults)
    missed, _ = found.pop("missed")
    for fault, (share, n) in found.items():
        true = faults.get(fault, 0.0 if fault == "loses" else 1.0)
        if [fault] == [
            *faults
        ]:  # a single fault: all that its dice made the memory miss, which may be rare for them
            true = missed if fault == "loses" else 1 - missed
        interval = wilson(share, n)
        assert interval.low - 1e-9 <= true <= interval.high + 1e-9, (fault, share, n)


def test_right_guesses_at_a_choice_count_as_never_written() -> None:
    folder = Path(__file__).parents[2] / "agents"
    Path("agents/guesses.py").write_text(GUESSES.replace("AGENTS", repr(str(folder))), "utf-8")
    share, n = recovered("guesses", 3, loses=0.5)["loses"]
    assert wilson(share, n).holds(0.5)


@pytest.mark.parametrize("seeds", [3, pytest.param(20, marks=pytest.mark.long)])
def test_chance_alone_brings_no_rung_above_asking_again(seeds: int) -> None:
    Path("agents/fickle.py").write_text(
        "from ltm_bench import Dice, Reply\nimport sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[2] / 'agents')!r})\n"
        "from reference import UNKNOWN, Reference\n"
        "class Fickle(Reference):\n"
        "    def _answer(self, message):\n"
        "        self.calls = getattr(self, 'calls', 0) + 1\n"
        "        lucky = Dice(f'{message.stream} {self.calls} {message.text}').chance(0.4)\n"
        "        return super()._answer(message) if lucky else Reply(UNKNOWN)\n",
        "utf-8",
    )
    for seed in range(seeds):
        done = run(agent="fickle", **FAULTY, seed=seed, ladder=True, name=f"f{seed}")
        ladder = done.results.ladder
        assert ladder is not None
        again, *others = ladder.rungs
        assert again.right > 0
        assert all(rung.interval.low <= again.interval.high for rung in others)
        assert not any(rung.above for rung in others)


@pytest.mark.unkept
def test_the_forecast_prices_it_before_anything_is_asked(command: "Command") -> None:
    done = command("estimate", "--agent", "gpt-4o", "--span", "8k", "--scenario", "colours", "--ladder")
    assert done.exit_code == 0
    assert "ladder, if every question is missed: 12 calls, $" in done.output
    given = ("--span", "2k", "--scenario", "colours", "--examples", "2", "--agent", "reference")
    said = command("run", *given, "--ladder").err
    assert "ladder, if every question is missed: 8 calls, free" in " ".join(said.split())


def test_the_ladder_of_an_earlier_release_opens_and_costs_nothing_again(command: "Command") -> None:
    frozen = Path(__file__).parents[1] / "frozen" / "v0_4_0"
    shutil.copytree(frozen / "asked_again", "reports/r")
    shutil.copy(frozen / "diary_no.txt", "agents/diary_no.py")
    stated = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    assert command("rescore", "r").exit_code == 0
    found = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    for name in ("ladder", "controls"):
        assert stated[name] is not None
        assert found[name] == stated[name]
    assert found["ladder"]["sentence"].startswith("asked after the run, of 1 missed")
    assert command("bundle", "r").exit_code == 0
    log = Path("reports/r/events.jsonl")
    head, *turns = log.read_text("utf-8").splitlines(keepends=True)
    manifest = json.loads(head)
    (now,) = make_plan(
        Request(agent="perfect", suite="abilities", scenarios=["colours"])
    ).manifest.suite.scenarios
    manifest["suite"]["scenarios"][0] |= {
        "version": now.version,
        "hash": now.hash,
    }  # or it could not go on at all
    log.write_text(json.dumps(manifest, separators=(",", ":")) + "\n" + "".join(turns), "utf-8")
    assert command("control", "r", "--ladder").exit_code == 0
    assert not Path("calls.txt").exists()
    (lost, *_) = Path("reports/r/controls/ladder/isolated").iterdir()
    lost.unlink()
    refused = command("control", "r", "--ladder")
    assert (refused.exit_code, "begun by ltm-bench 0.4" in " ".join(refused.err.split())) == (1, True)


def test_an_agent_that_cannot_observe_is_sent_the_run_again_for_every_rung(command: "Command") -> None:
    Path("bot.py").write_text(BOT, "utf-8")
    words = ("--span", "2k", "--scenario", "colours", "--examples", "2", "--agent", "python:bot:Bot")
    done = command("run", *words, "--name", "r", "--ladder")
    assert done.exit_code == 0, done.err
    assert "by a fresh agent that is told the run again" in " ".join(done.err.split())
    run = load_run("r")
    ladder = run.results.ladder
    assert ladder is not None
    assert (ladder.missed, ladder.to_go, ladder.left_out) == (2, 0, {})
    for example in run.examples:
        (question,) = example.questions
        for rung in RUNGS:
            answer = getattr(question.ladder, rung)
            assert answer.reply == f"I do not know. ({(question.turn or 0) + 1} heard)"


def test_an_agent_that_writes_while_it_replies_replies_again_to_what_it_had_replied_to() -> None:
    Path("agents/pad.py").write_text(PAD, "utf-8")
    done = run(agent="pad", **(SMALL | {"scenarios": ["colours"]}), ladder=True)
    for example in done.examples:
        for question in example.questions:
            assert question.ladder is not None
            assert question.ladder.again is not None
            assert question.ladder.again.reply == question.reply
            assert " 0 " not in question.reply


def test_a_rung_killed_while_its_agent_is_told_the_run_begins_with_another_fresh_agent() -> None:
    run(agent="diary_no", **SMALL, ladder=True)
    whole = {path: path.read_bytes() for path in _rungs(Path("reports/r"))}
    for path in (*Path("reports/r/rungs").rglob("*.json*"),):
        path.unlink()
    Path("calls.txt").unlink()
    assert killed_at(3) == -signal.SIGKILL
    left = next(Path("reports/r/rungs/again/agent").iterdir())
    (left / "stale").write_text("of the one that was killed", "utf-8")
    assert killed_at(0) == 0
    assert {path: path.read_bytes() for path in _rungs(Path("reports/r"))} == whole


STUMBLES = """
from pathlib import Path
from ltm_bench import Agent, Reply


class Stumbles(Agent):
    free = True
    forks = "snapshot"
    heard = 0

    async def reply(self, message):
        return Reply("I do not know.")

    async def fork(self, message):
        async def answer():
            return Reply("I do not know.")
        return answer

    async def observe(self, turn):
        self.heard += 1
        if self.heard == 30 and Path("stumbles").exists():
            raise ValueError("lost the thread")
"""


def test_a_ladder_whose_agent_fails_while_it_is_told_the_run_is_not_over(command: "Command") -> None:
    Path("agents").mkdir(exist_ok=True)
    Path("agents/stumbles.py").write_text(STUMBLES, "utf-8")
    run(agent="stumbles", **SMALL, quick=True)
    Path("stumbles").touch()
    assert command("control", "r", "--ladder").exit_code == 3
    partial = load_run("r").results.ladder
    assert partial is not None
    assert partial.to_go > 0
    assert "incomplete" in partial.sentence
    Path("stumbles").unlink()
    assert command("control", "r", "--ladder").exit_code == 0
    ladder = load_run("r").results.ladder
    assert ladder is not None
    wrong = sum(not q.score for e in load_run("r").results.examples for q in e.questions)
    assert (ladder.missed, ladder.to_go) == (wrong, 0)
    assert wrong > partial.missed


DEAR = """
import os, signal
from pathlib import Path
from ltm_bench import Agent, Reply, Usage


class Dear(Agent):
    writes_in_reply = True

    async def reply(self, message):
        with Path("calls.txt").open("a") as file:
            file.write("1")
        if len(Path("calls.txt").read_text()) == int(os.environ.get("DIES", 0)):
            os.kill(os.getpid(), signal.SIGKILL)
        return Reply("Okay.", Usage(uncached=1000, output=10, model="gpt-4o", provider="openai"))

    def reserve(self, message):
        return Usage(uncached=2000, output=1000, model="gpt-4o", provider="openai")
"""


@pytest.mark.unkept
def test_what_a_killed_telling_may_have_cost_is_counted_when_it_is_told_again() -> None:
    Path("agents").mkdir(exist_ok=True)
    Path("agents/dear.py").write_text(DEAR, "utf-8")
    run(agent="dear", span="2k", scenarios=["colours"], examples=1, name="r")
    Path("calls.txt").write_text("", "utf-8")
    assert killed_at(2) == -signal.SIGKILL
    reserved = dollars(Usage(uncached=2000, output=1000, model="gpt-4o", provider="openai"))
    price = dollars(Usage(uncached=1000, output=10, model="gpt-4o", provider="openai"))
    assert reserved is not None
    assert price is not None
    resume("r", ladder=True)
    ladder, calls = load_run("r").results.ladder, len(Path("calls.txt").read_text("utf-8"))
    assert ladder is not None
    assert ladder.dollars == pytest.approx(float((calls - 1) * price + reserved))


def test_a_sweep_asks_the_missed_questions_of_all_its_runs_and_only_what_is_missing(
    command: "Command",
) -> None:
    agents = ("--agent", "diary_no", "--agent", "diary_snapshot")
    words = ("sweep", *agents, "--span", "2k", "--scenario", "colours", "--examples", "2", "--ladder")
    done = command(*words)
    assert done.exit_code == 0, done.err
    for forks in ("no", "snapshot"):
        (folder,) = Path("reports").glob(f"*diary_{forks}*")
        ladder = load_run(folder.name).results.ladder
        assert ladder is not None
        assert (ladder.missed, ladder.to_go) == (2, 0)
    calls = Path("calls.txt").read_text("utf-8")
    assert command(*words).exit_code == 0
    assert Path("calls.txt").read_text("utf-8") == calls


def test_a_damaged_scope_is_named(command: "Command") -> None:
    done = run(agent="goldfish", **SMALL, ladder=True)
    (done.folder / "rungs" / "cued" / "scope.json").write_text("[]", "utf-8")
    failed = command("report", "r")
    assert failed.exit_code == 1
    assert "scope.json" in failed.err
    assert "Traceback" not in failed.err


@pytest.mark.unkept
def test_the_terminal_the_page_the_bundle_and_the_frame_say_what_was_lost_where(command: "Command") -> None:
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
    said = " ".join(command("run", *given, "--ladder", "-A", "loses=1").output.split())
    sentence = json.loads(Path("reports/r/results.json").read_text("utf-8"))["ladder"]["sentence"]
    assert sentence == "of 4 missed, 4 were not stored"
    assert sentence in said
    page = Path("reports/r/report.html").read_text("utf-8")
    assert sentence in page
    assert '<rect class="l-retold" x="0%" width="100%"' in page
    (row, *_) = load_run("r").rows()
    assert (row["again"], row["cued"], row["recognised"], row["retold"]) == (0.0, 0.0, 0.0, 1.0)
    assert (row["choices"], row["ladder_lost"]) == (4, "retold")
    assert command("bundle", "r").exit_code == 0
