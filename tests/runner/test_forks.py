"""Forked questions are asked beside the conversation and answered in any order, and the log has the same bytes."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Agent, Message, Reply
from ltm_bench.adapters.testing import provider
from ltm_bench.core.budget import Budget
from ltm_bench.core.tokens import counter
from ltm_bench.log.calls import SideFiles
from ltm_bench.log.events import Forked
from ltm_bench.log.forks import ForkFile
from ltm_bench.log.recorder import Recorder
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.forks import Forks

if TYPE_CHECKING:
    from tests.conftest import Command, Done

Run = Callable[..., "Done"]

HEAD = """
import asyncio, os, random
from collections.abc import Awaitable, Callable
from ltm_bench import Agent, AgentError, Message, Reply, Turn, Usage


def note(line: str) -> None:
    with open("calls", "a") as file:
        file.write(line + "\\n")


class Base:
    '''Answers from all that it heard, so that a turn lost, told twice or out of place shows in every later reply.'''

    free = True
    forks = "snapshot"
    observes = True

    def __init__(self) -> None:
        self.heard: list[str] = []

    def said(self) -> str:
        return f"{len(self.heard)} turns, {sum(map(len, self.heard))} letters, {self.heard[-1:]}"[:200]

    async def reply(self, message: Message) -> Reply:
        note(f"reply {message.turn}")
        answer = self.said()
        self.heard.append(message.text + answer)
        return Reply(answer)

    async def observe(self, turn: Turn) -> None:
        self.heard.append(turn.message.text + turn.reply.text)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        frozen = self.said()

        async def answer() -> Reply:
            note(f"fork {message.turn}")
            await self.wait(message.turn)
            return Reply(frozen)

        return answer

    async def wait(self, turn: int) -> None:
        await asyncio.sleep(0)
"""
AGENTS = {
    "diary": """
class Diary(Base, Agent):
    pass
""",
    "shuffles": """
class Shuffles(Base, Agent):
    async def wait(self, turn: int) -> None:
        await asyncio.sleep(random.Random(f"{os.environ['ORDER']}/{turn}").random() / 5)
""",
    "fails": """
class Fails(Base, Agent):
    async def wait(self, turn: int) -> None:
        if os.path.exists(f"broken-{turn}"):
            raise AgentError("the line is dead")
""",
    "keeps": """
class Keeps(Base, Agent):
    '''Is restored as a whole, as durable memories are.'''

    async def restore(self, turns) -> None:
        self.heard = []
        for turn in turns:
            await self.observe(turn)
""",
    "barrier": """
class Barrier(Base, Agent):
    forks = "barrier"

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def reply(self, message: Message) -> Reply:
        assert not self.asked, "something was said while a fork was being answered"
        return await super().reply(message)

    async def observe(self, turn: Turn) -> None:
        assert not self.asked, "something was said while a fork was being answered"
        await super().observe(turn)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        self.asked += 1
        inner = await super().fork(message)

        async def answer() -> Reply:
            await asyncio.sleep(0.001)
            self.asked -= 1
            return await inner()

        return answer
""",
    "window": """
class Window(Base, Agent):
    '''A scripted model: of the needles in its window, it repeats the one that shares most words with the question.'''

    async def reply(self, message: Message) -> Reply:
        return self.answer_to(message.text)

    async def observe(self, turn: Turn) -> None:
        if turn.kind == "tell":
            self.heard.append(turn.message.text)

    def answer_to(self, text: str) -> Reply:
        asked = set(text.lower().split())
        key = lambda each: (len(asked & set(each.lower().split())), each)
        return Reply(max(self.heard[-90:], key=key, default="?"))

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        frozen = self.answer_to(message.text)

        async def answer() -> Reply:
            return frozen

        return answer
""",
    "costs": """
class Costs(Base, Agent):
    free = False
    under_way = most = 0

    async def wait(self, turn: int) -> None:
        type(self).under_way += 1
        type(self).most = max(self.most, self.under_way)
        note(f"under way {self.under_way}")
        await asyncio.sleep(0.01)
        type(self).under_way -= 1

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        inner = await super().fork(message)

        async def answer() -> Reply:
            return Reply((await inner()).text, self.reserve(message))

        return answer

    async def reply(self, message: Message) -> Reply:
        return Reply((await super().reply(message)).text, self.reserve(message))

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=100_000, output=10, model="gpt-4o", provider="openai")
""",
    "whole": """
class Whole(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")
""",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORDER", "0")
    (tmp_path / "agents").mkdir()
    for name, code in AGENTS.items():
        head = HEAD if name != "whole" else "from ltm_bench import Agent, Message, Reply\n"
        (tmp_path / "agents" / f"{name}.py").write_text(f'"""{name.title()}."""\n{head}{code}', "utf-8")
    return tmp_path


@pytest.fixture
def run(command: "Command") -> Run:
    def call(agent: str, *more: str) -> "Done":
        forked = () if "--questions" in more or "--quick" in more else ("--questions", "forked")
        return command(
            "run", "--span", "2k", "--suite", "smoke", "--agent", agent, "--name", "r", *forked, *more
        )

    return call


def log(place: Path, name: str = "r") -> Path:
    return place / "reports" / name / "events.jsonl"


def events(place: Path, name: str = "r") -> list[dict[str, Any]]:
    return [json.loads(line) for line in log(place, name).read_text("utf-8").splitlines()]


def results(place: Path, name: str = "r") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "reports" / name / "results.json").read_text("utf-8"))
    return found


def asked(place: Path) -> list[str]:
    path = place / "calls"
    return path.read_text().splitlines() if path.exists() else []


def outcomes(place: Path, name: str) -> list[tuple[str, str, str]]:
    return [
        (example["id"], question["text"], question["outcome"])
        for example in results(place, name)["examples"]
        for question in example["questions"]
    ]


def test_a_fork_adds_no_turn_token_or_time(place: Path, run: Run) -> None:
    assert run("perfect").exit_code == 0
    said = events(place)
    turns = [each for each in said if each["event"] == "sent"]
    tokens = sum(each["tokens"] for each in said if each["event"] in ("sent", "replied"))
    assert said[-1]["event"] == "finished"
    assert (said[-1]["turns"], said[-1]["tokens"]) == (len(turns), tokens)
    for before, each, after in zip(said, said[1:], said[2:], strict=False):
        if each["event"] == "forked" and after["event"] == "sent":
            assert each["position"] == after["position"]
            assert before["event"] != "forked" or before["position"] == each["position"]
    forks = [each["id"] for each in said if each["event"] == "forked"]
    assert [each["id"] for each in said if each["event"] == "answered"] == forks
    numbers = sorted([*forks, *(each["turn"] for each in turns)])
    assert numbers == list(range(len(numbers)))
    assert results(place)["score"] == results(place)["out_of"]


def test_what_the_script_or_a_later_message_needs_stays_in_the_conversation(place: Path, run: Run) -> None:
    run("perfect", "--scenario", "restaurant")
    kinds = [each.get("kind", each["event"]) for each in events(place) if each["event"] in ("sent", "forked")]
    assert kinds.count("ask") == 3
    assert kinds.count("forked") == 1


def test_a_script_that_reads_a_sealed_reply_fails_before_anything_is_asked(place: Path, run: Run) -> None:
    (place / "scenarios").mkdir()
    (place / "scenarios" / "curious.py").write_text(
        '''"""Curious."""

from ltm_bench import Ask, Script, Tell, names_only, scenario


@scenario(skills={"recall"})
def curious(dice) -> Script:
    yield Tell("It is red.", at=0.0)
    reply = yield Ask("Which one?", expect=names_only("red", among=["red", "blue"]), at=1.0)
    yield Tell(f"You said {reply.text}.")
''',
        "utf-8",
    )
    done = run("diary", "--scenario", "curious")
    assert done.exit_code == 1
    assert "scenario curious" in done.err
    assert "inline=True" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert not asked(place)
    assert run("diary", "--scenario", "curious", "--questions", "in-line").exit_code == 0


def test_the_reciter_recites_beside_the_conversation_too(place: Path, run: Run) -> None:
    assert run("reciter", "--quick").exit_code == 0
    assert results(place)["complete"]


@pytest.mark.parametrize("agent", ["perfect", "goldfish", "window"])
def test_answers_that_depend_on_no_earlier_answer_have_the_same_outcomes(
    place: Path, run: Run, agent: str
) -> None:
    run(agent, "--questions", "in-line", "--acknowledge", "scripted")
    run(agent, "--acknowledge", "scripted", "--fresh")
    assert outcomes(place, "r") == outcomes(place, "r-2")


def test_replies_in_any_order_give_the_same_log(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = set()
    logs = set()
    for order in range(3):
        monkeypatch.setenv("ORDER", str(order))
        run("shuffles", "--fresh")
        name = "r" if not order else f"r-{order + 1}"
        logs.add(log(place, name).read_bytes())
        lines = map(json.loads, (place / "reports" / name / "forks.jsonl").read_text().splitlines())
        orders.add(tuple(each["id"] for each in lines if each["event"] == "answered"))
    assert len(logs) == 1
    assert len(orders) > 1


@pytest.mark.parametrize(
    "agent",
    [
        "diary",
        "keeps",
        "vector_memory",
        "chroma_memory",
    ],
)
def test_a_killed_run_ends_with_the_same_bytes_and_repeats_no_answered_question(
    place: Path, run: Run, command: "Command", agent: str
) -> None:
    run(agent, "--acknowledge", "scripted")
    whole, side = log(place).read_bytes(), (place / "reports" / "r" / "forks.jsonl").read_bytes()
    lines = side.splitlines(keepends=True)
    dice = random.Random(agent)
    for _ in range(4):
        cut = dice.randrange(whole.index(b"\n") + 1, len(whole))
        log(place).write_bytes(whole[:cut])
        kept = [line for line in lines if dice.random() < 0.7]
        forked = {e["id"] for e in events_of(whole[:cut]) if e["event"] == "forked"}
        kept = [line for line in kept if json.loads(line)["id"] in forked]
        (place / "reports" / "r" / "forks.jsonl").write_bytes(b"".join(kept))
        stored = answered_in(kept) | {e["id"] for e in events_of(whole[:cut]) if e["event"] == "answered"}
        (place / "calls").unlink(missing_ok=True)
        assert command("resume", "r").exit_code == 0
        assert log(place).read_bytes() == whole
        again = {int(line.split()[1]) for line in asked(place) if line.startswith("fork")}
        assert not again & answered_in(kept), stored


def events_of(content: bytes) -> list[dict[str, Any]]:
    found = []
    for line in content.split(b"\n")[:-1]:
        found.append(json.loads(line))
    return found


def answered_in(lines: list[bytes]) -> set[int]:
    """Return the forks that are asked, and then answered, in these lines."""
    asked_of, answered = set(), set()
    for each in map(json.loads, lines):
        if each["event"] == "asked":
            asked_of.add(each["id"])
        elif each["id"] in asked_of:
            answered.add(each["id"])
    return answered


def test_a_fork_that_was_under_way_is_named_and_asked_again(
    place: Path, run: Run, command: "Command"
) -> None:
    run("diary")
    whole = log(place).read_bytes()
    end = whole.index(b'{"event":"answered"')
    log(place).write_bytes(whole[:end])
    side = place / "reports" / "r" / "forks.jsonl"
    lines = side.read_bytes().splitlines(keepends=True)
    lost = json.loads(lines[-1])["id"]
    side.write_bytes(
        b"".join(line for line in lines if b'"answered"' not in line or json.loads(line)["id"] != lost)
    )
    (place / "calls").unlink()
    done = command("resume", "r")
    assert f"Forked question {lost} may have been sent twice" in done.output
    assert asked(place) == [f"fork {lost}"]
    assert log(place).read_bytes() == whole
    assert f'{{"turn":{lost},"doubtful":true}}' in (place / "reports" / "r" / "calls.jsonl").read_text()


def test_a_side_file_of_another_question_answers_nothing(place: Path, run: Run, command: "Command") -> None:
    run("diary")
    whole = log(place).read_bytes()
    log(place).write_bytes(whole[: whole.index(b'{"event":"answered"')])
    side = place / "reports" / "r" / "forks.jsonl"
    side.write_bytes(side.read_bytes().replace(b'"of":"', b'"of":"0'))
    assert command("resume", "r").exit_code == 0
    assert log(place).read_bytes() == whole


def test_a_failing_fork_leaves_the_others_running(place: Path, run: Run, command: "Command") -> None:
    run("fails")
    whole = log(place).read_bytes()
    forks = [each["id"] for each in events(place) if each["event"] == "forked"]
    broken = place / f"broken-{forks[1]}"
    broken.touch()
    (place / "calls").unlink()
    done = run("fails", "--fresh")
    assert done.exit_code == 3
    assert "the line is dead" in done.err
    assert results(place, "r-2")["complete"] is False
    assert (
        sum(q["outcome"] == "agent_error" for e in results(place, "r-2")["examples"] for q in e["questions"])
        == 1
    )
    assert {f"fork {each}" for each in forks} <= set(asked(place))
    broken.unlink()
    (place / "calls").unlink()
    assert command("resume", "r-2").exit_code == 0
    assert asked(place) == [f"fork {forks[1]}"]
    assert log(place, "r-2").read_bytes() == whole


def test_nothing_is_said_before_a_barriers_answer(place: Path, run: Run) -> None:
    assert run("barrier").exit_code == 0
    assert results(place)["complete"]


def test_an_agent_that_cannot_be_forked_is_refused_in_one_line(place: Path, run: Run) -> None:
    done = run("whole")
    assert done.exit_code == 1
    assert "--questions forked: whole cannot answer beside the conversation" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_quick_runs_are_forked_with_scripted_acknowledgements(place: Path, run: Run) -> None:
    assert run("diary", "--quick").exit_code == 0
    first = events(place)[0]
    assert (first["questions"], first["acknowledge"], first["filler"]["mode"]) == (
        "forked",
        "scripted",
        "scripted",
    )


def test_the_budget_covers_forks_in_flight(place: Path, run: Run) -> None:
    run("costs", "--name", "free")
    calls = sum(line.startswith(("fork", "reply")) for line in asked(place))
    price = results(place, "free")["costs"]["dollars"] / calls
    for share in (0.3, 0.9):
        limit = price * calls * share
        (place / "calls").unlink(missing_ok=True)
        done = run("costs", "--max-cost", f"{limit:.4f}", "--fresh")
        assert done.exit_code == 4
        paid = sum(line.startswith(("fork", "reply")) for line in asked(place))
        assert price * paid <= limit
        assert price * (paid + 1) > limit, "the run stopped with money left"
    run("costs", "--max-cost", f"{price * calls * 1.0001:.4f}", "--name", "enough")
    assert results(place, "enough")["complete"]


def test_the_limit_on_connections_covers_forks_in_flight(place: Path, command: "Command") -> None:
    words = ("sweep", "--agent", "costs", "--span", "2k", "--suite", "smoke", "--questions", "forked")
    assert command(*words, "--max-connections", "2").exit_code == 0
    under_way = [int(line.split()[-1]) for line in asked(place) if line.startswith("under")]
    assert max(under_way) == 2


def test_isolated_examples_fork_too(place: Path, run: Run, command: "Command") -> None:
    run("perfect", "--isolated")
    assert results(place)["score"] == results(place)["out_of"]
    home = place / "reports" / "r" / "isolated"
    path = home / "colours-0.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b'{"event":"answered"')])
    assert command("resume", "r").exit_code == 0
    assert path.read_bytes() == whole


def test_a_forked_prompt_is_the_conversation_and_the_question_and_leaves_no_trace(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with provider() as server:
        run("openai_chat:any", "--base-url", server.openai_url, "--quick", "--scenario", "colours")
        bodies = [request.body for request in server.chats]
    said = events(place)
    needles = [each["message"] for each in said if each["event"] == "sent" and each["kind"] == "tell"]
    forked = [each["message"] for each in said if each["event"] == "forked"]
    assert len(bodies) == len(forked) > 0
    for body, question in zip(bodies, forked, strict=True):
        texts = [message["content"] for message in body["messages"]]
        assert texts[-1].endswith(question)
        assert all(question not in text for text in texts[:-1])
    assert any(needle in text["content"] for needle in needles for text in bodies[-1]["messages"])


def test_a_forked_run_can_be_shown_exported_verified_and_bundled(
    place: Path, run: Run, command: "Command"
) -> None:
    run("diary")
    assert command("verify", "r").exit_code == 0
    assert "forked" in command("show", "r").out
    assert command("rescore", "r").exit_code == 0
    assert command("bundle", "r", "-o", "b.zip").exit_code == 0
    assert command("verify", "b.zip").exit_code == 0
    transcript = (place / "reports" / "r" / "transcript.html").read_text("utf-8")
    assert "beside the conversation" in transcript
    for form in ("csv", "jsonl", "junit", "inspect"):
        assert command("export", "r", "--format", form, "-o", f"x.{form}").exit_code == 0, form


class Sides(ForkFile):
    """Counts how often it is synced to disk."""

    synced = 0

    def sync(self) -> None:
        self.synced += 1
        super().sync()


@pytest.mark.parametrize(("free", "synced"), [(False, 2), (True, 0)])
def test_every_reply_that_was_paid_for_is_synced_and_a_free_one_is_not(
    tmp_path: Path, free: bool, synced: int
) -> None:
    class Answers(Agent):
        forks = "snapshot"

        async def reply(self, message: Message) -> Reply:
            raise AssertionError("it was asked in the conversation")

        async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
            async def answer() -> Reply:
                return Reply(f"Answer {message.turn}.")

            return answer

    Answers.free = free

    async def asked() -> list[str]:
        log = tmp_path / "events.jsonl"
        with (
            Recorder(log) as recorder,
            SideFiles(tmp_path, lambda: 0.0) as files,
            Sides(log) as file,
        ):
            calls = Caller(
                Answers,
                recorder,
                files,
                home=tmp_path / "agent",
                budget=Budget(),
                places=asyncio.Semaphore(8),
                conversation=None,
                on_doubt=print,
            )
            await calls.catch_up(0, 0)
            forks = Forks(calls, file, counter())
            for number in range(2):
                at = datetime(2026, 1, 5, 9, number, tzinfo=UTC)
                message = Message("Which colour?", at, number)
                forked = Forked(
                    id=number, example="x/0", message=message.text, tokens=3, position=0, at=at, expect={}
                )
                await forks.ask(forked, message, lambda _: None)
            replies = [each.reply for each in await forks.finish()]
            assert file.synced == synced
            return replies

    assert asyncio.run(asked()) == ["Answer 0.", "Answer 1."]
