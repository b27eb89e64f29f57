"""Calls to an agent: what it is told and when, what its replies come to, and how every failure is reported."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Agent, AgentError, Finish, Message, Reply, Turn, Usage
from ltm_bench.adapters.http import traffic as attempts
from ltm_bench.adapters.http.traffic import Attempt
from ltm_bench.adapters.operations import Done, operating
from ltm_bench.core.agent import Memory
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.keys import read_key
from ltm_bench.log.calls import SideFiles
from ltm_bench.log.recorder import Recorder
from ltm_bench.runner import calls as module
from ltm_bench.runner.calls import Caller
from ltm_bench.runner.outgoing import CallResult
from ltm_bench.runner.tracing import Found, SoughtNeedle

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
PRICED = Usage(uncached=1_000_000, model="gpt-4o", provider="openai")
"""2.50 dollars."""


def message(number: int, text: str = "Hello!") -> Message:
    return Message(text, START + timedelta(minutes=number), number)


def turn(number: int, *, session: str | None = None) -> Turn:
    return Turn(message(number), Reply("Noted."), "tell", "x/0", "script", session=session)


class Plain(Agent):
    """Answers with what `said` holds; an exception is raised."""

    free = True

    def __init__(self, *said: object) -> None:
        self.heard: list[object] = []
        self.said = list(said)

    async def open(self, home: Path) -> None:
        self.heard.append(("open", home.is_dir()))

    async def reply(self, message: Message) -> Reply:
        self.heard.append(message.turn)
        said: Any = self.said.pop(0) if self.said else Reply("Fine.")
        if isinstance(said, BaseException):
            raise said
        return said  # type: ignore[no-any-return]  # of any type, on purpose

    async def close(self) -> None:
        self.heard.append("close")


class Observing(Plain):
    async def observe(self, turn: Turn) -> None:
        self.heard.append([turn.message.turn])

    async def forget(self, query: str) -> int:
        self.heard.append(query)
        return 1

    async def settle(self) -> None:
        self.heard.append("settle")

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        self.heard.append(("recall", query))
        return [Memory("It is red.", turn=0)]


class Sessions(Plain):
    async def observe(self, turn: Turn) -> None:
        self.heard.append([turn.message.turn])

    async def observe_session(self, turns: Sequence[Turn]) -> None:
        self.heard.append([each.message.turn for each in turns])


class Keeping(Observing):
    async def restore(self, turns: Iterable[Turn]) -> None:
        self.heard.append(("restore", [each.message.turn for each in turns]))


class Bench:
    """The calls of one conversation, with a clock that ticks once a look."""

    def __init__(self, folder: Path, agent: Agent, **more: Any) -> None:
        self.doubts: list[str] = []
        ticks = itertools.count()
        self.budget = more.pop("budget", Budget())
        self.file, self.paid = folder / "timings.jsonl", folder / "calls.jsonl"
        self.home = folder / "agents" / "x"
        self.recorder = Recorder(folder / "events.jsonl")
        self.files = SideFiles(folder, lambda: float(next(ticks)))
        self.calls = Caller(
            lambda: agent,
            self.recorder,
            self.files,
            home=self.home,
            budget=self.budget,
            places=more.pop("places", asyncio.Semaphore(1)),
            conversation=more.pop("conversation", None),
            on_doubt=self.doubts.append,
            **more,
        )

    async def ask(
        self, number: int, text: str = "Hello!", *, question: bool = False, doubtful: bool = False
    ) -> CallResult:
        return await self.calls.ask(
            message(number, text), lambda: 7, turns=number, question=question, doubtful=doubtful
        )

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.paid.read_text("utf-8").splitlines()]


Begin = Callable[..., Bench]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Prepare calls; the log holds as many turns as anybody asks for."""

    monkeypatch.setattr(module, "read_turns", lambda path: (turn(n) for n in itertools.count()))
    with ExitStack() as opened:

        def started(agent: Agent, **more: Any) -> Bench:
            bench = Bench(tmp_path, agent, **more)
            opened.enter_context(bench.recorder)
            opened.enter_context(bench.files)
            return bench

        yield started


def test_the_agent_is_opened_once_in_its_folder_and_closed_only_if_it_was_opened(begin: Begin) -> None:
    agent = Plain()
    bench = begin(agent)
    asyncio.run(bench.calls.close())
    assert agent.heard == []

    async def talk() -> None:
        await bench.ask(0)
        await bench.ask(1)
        await bench.calls.close()

    asyncio.run(talk())
    assert agent.heard == [("open", True), 0, 1, "close"]
    assert [note for note in bench.lines if "begun" in note] == [{"turn": 0, "begun": True}]


def test_an_agent_that_does_not_open_fails_at_the_turn_that_it_was_opened_for(begin: Begin) -> None:
    class Shut(Plain):
        async def open(self, home: Path) -> None:
            raise LookupError("no store")

    for ahead, turn_named in ((None, 0), (3, 3)):
        bench = begin(Shut())
        with pytest.raises(AgentError, match=f"the agent failed at turn {turn_named}: LookupError: no store"):
            asyncio.run(bench.calls.open() if ahead is None else bench.ask(ahead))


def test_the_calls_share_the_clock_of_the_journal(begin: Begin) -> None:
    bench = begin(Plain())
    assert (bench.calls.clock(), bench.files.timings.clock()) == (0.0, 1.0)


def test_a_resumed_agent_is_told_the_log_once_and_before_its_first_turn(begin: Begin) -> None:
    agent = Observing()
    bench = begin(agent)

    async def talk() -> None:
        await bench.ask(2)
        await bench.ask(3)

    asyncio.run(talk())
    assert agent.heard == [("open", True), [0], [1], 2, 3]
    assert bench.lines[0] == {"turn": 2, "resumed": True}


def test_an_agent_without_a_restore_of_its_own_can_be_told_the_log_during_the_replay(begin: Begin) -> None:
    assert begin(Observing()).calls.observes_the_replay is True
    assert begin(Keeping()).calls.observes_the_replay is False


def test_an_agent_that_takes_no_sessions_is_told_every_turn_of_one_that_goes_on(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "read_turns", lambda path: iter([turn(0), turn(1, session="a")]))
    agent = Observing()
    bench = begin(agent)
    asyncio.run(bench.calls.catch_up(2, 2, going_on=("x/0", "a")))
    assert agent.heard[1:] == [[0], [1]]


def test_a_message_that_cannot_be_recorded_is_not_sent(begin: Begin) -> None:
    def record() -> int:
        raise OSError("the disk is full")

    agent = Plain()
    bench = begin(agent)
    with pytest.raises(OSError, match="the disk is full"):
        asyncio.run(bench.calls.ask(message(0), record, turns=0, question=False, doubtful=False))
    assert agent.heard == [("open", True)]
    assert bench.notes[-1] == {"turn": 0, "failed_after": 1.0}


def test_an_agent_that_cannot_be_told_the_log_is_noted(begin: Begin) -> None:
    bench = begin(Plain())
    asyncio.run(bench.ask(2))
    assert bench.notes[0] == {"turn": 2, "untold": True}
    assert bench.lines[0] == {"turn": 2, "resumed": True}


def test_a_session_is_told_whole_when_another_turn_comes_or_a_question(begin: Begin) -> None:
    agent = Sessions()
    bench = begin(agent)

    async def talk() -> None:
        await bench.calls.open()
        for number, session in enumerate(["a", "a", "b", None, "c", "c"]):
            await bench.calls.observe(turn(number, session=session))
        assert agent.heard[1:] == [[0, 1], [2], [3]]
        await bench.ask(6)

    asyncio.run(talk())
    assert agent.heard[1:] == [[0, 1], [2], [3], [4, 5], 6]


def test_telling_a_session_counts_as_one_write_at_its_last_turn(begin: Begin) -> None:
    bench = begin(Sessions())

    async def talk() -> None:
        await bench.calls.catch_up(0, 0)
        for number in range(3):
            await bench.calls.observe(turn(number, session="a"))
        await bench.calls.observe(turn(3))

    asyncio.run(talk())
    written = [note for note in bench.notes if "operations" in note]
    assert [note["turn"] for note in written] == [2, 3]


def test_a_session_is_told_before_a_question_is_forked_off(begin: Begin) -> None:
    class Both(Sessions):
        async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
            self.heard.append(("frozen", message.turn))
            return lambda: self.reply(message)

    agent = Both()
    bench = begin(agent)

    async def talk() -> None:
        await bench.calls.open()
        await bench.calls.observe(turn(0, session="a"))
        await bench.calls.fork(message(1), lambda: 7, asyncio.Event(), doubtful=False)

    asyncio.run(talk())
    assert agent.heard[1:] == [[0], ("frozen", 1), 1]


def test_a_session_that_goes_on_after_the_log_is_told_once_it_is_over(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = [turn(0), turn(1, session="a"), turn(2), turn(3, session="a"), turn(4, session="a")]
    monkeypatch.setattr(module, "read_turns", lambda path: iter(logged))
    agent = Sessions()
    bench = begin(agent)

    async def talk() -> None:
        await bench.calls.catch_up(5, 5, going_on=("x/0", "a"))
        assert agent.heard[1:] == [[0], [1], [2]]
        await bench.calls.observe(turn(5, session="a"))
        await bench.ask(6)

    asyncio.run(talk())
    assert agent.heard[1:] == [[0], [1], [2], [3, 4, 5], 6]


def test_only_a_question_waits_for_indexers_and_asks_retrieval(begin: Begin) -> None:
    agent = Observing()
    bench = begin(agent)

    async def talk() -> tuple[CallResult, CallResult]:
        return await bench.ask(0), await bench.ask(1, "Which colour?", question=True)

    told, asked = asyncio.run(talk())
    assert agent.heard[1:] == [0, "settle", ("recall", "Which colour?"), 1]
    assert told.recalled is None
    assert asked.recalled is not None
    assert asked.recalled.used == [Memory("It is red.", turn=0)]
    settled = {"turn": 1, "operations": [["settle", 1.0, []]]}
    assert [note for note in bench.notes if "operations" in note] == [settled]


def test_needles_are_looked_for_again_only_after_the_agent_has_heard_something(begin: Begin) -> None:
    agent = Observing()
    bench = begin(agent)

    async def looked(number: int) -> bool:
        agent.heard.clear()
        await bench.calls.tracing.trace(
            message(number),
            [SoughtNeedle(turn(0), turn(0).message.text, frozenset())],
            Found([], [], None),
            failed=True,
        )
        return bool(agent.heard)

    async def talk() -> list[bool]:
        found = [await looked(2), await looked(2)]
        await bench.ask(2, question=True)
        found.append(await looked(3))
        await bench.ask(3)
        found.append(await looked(4))
        await bench.calls.observe(turn(4))
        found.append(await looked(5))
        await bench.calls.delete(["my parrot"], message(5), turns=5)
        return [*found, await looked(6)]

    assert asyncio.run(talk()) == [True, False, False, True, True, True]
    asyncio.run(bench.calls.close())


def test_retrieval_is_not_asked_when_that_could_cost_money_nobody_reserved(begin: Begin) -> None:
    class Paid(Observing):
        free = False

        def reserve(self, message: Message) -> Usage | None:
            return PRICED

    agent = Paid(Reply("Red.", PRICED))
    bench = begin(agent, budget=Budget(limit=Decimal(100)))
    assert asyncio.run(bench.ask(0, question=True)).recalled is None
    assert agent.heard[1:] == ["settle", 0]
    assert bench.budget.spent == Decimal("2.5")


def test_an_answer_holds_tokens_time_and_the_operations_with_the_rest_as_answering(begin: Begin) -> None:
    class Busy(Plain):
        free = False

        async def reply(self, message: Message) -> Reply:
            with operating("retrieve") as done:
                done.used(PRICED)
            return Reply("Red.", PRICED)

    answer = asyncio.run(begin(Busy()).ask(0))
    assert (answer.tokens_sent, answer.seconds, answer.charged) == (7, 1.0, None)
    [retrieved, answered] = answer.operations
    assert (retrieved.name, retrieved.usage, answered.name, answered.usage) == (
        "retrieve",
        [PRICED],
        "answer",
        [],
    )
    assert answered.seconds == pytest.approx(1.0 - retrieved.seconds)


def test_a_reply_without_operations_counts_as_one_answer_with_its_usage(begin: Begin) -> None:
    class Priced(Plain):
        free = False

    [done] = asyncio.run(begin(Priced(Reply("Red.", PRICED))).ask(0)).operations
    assert done == Done("answer", 1.0, [PRICED])


def test_a_free_reply_is_one_answer_without_calls(begin: Begin) -> None:
    assert asyncio.run(begin(Plain()).ask(0)).operations == [Done("answer", 1.0, [])]


@pytest.mark.parametrize("free", [False, True])
def test_a_reply_is_noted_with_its_time_and_synced_if_it_was_paid_for(
    begin: Begin, free: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Plain()
    agent.free = free
    bench = begin(agent)
    synced: list[Path] = []
    monkeypatch.setattr(bench.recorder, "sync_soon", lambda *paths: synced.extend(paths))

    async def talk() -> None:
        await bench.calls.note(3, await bench.ask(3))

    asyncio.run(talk())
    assert (bench.notes[-1]["turn"], bench.notes[-1]["seconds"]) == (3, 1.0)
    assert synced == ([] if free else [bench.file, bench.paid])


def test_a_paid_reply_lets_its_log_be_synced_before_the_next_call(begin: Begin) -> None:
    agent = Plain()
    agent.free = False
    bench = begin(agent)
    done: list[str] = []

    async def sync() -> None:
        done.append("synced")

    async def talk() -> None:
        answer = await bench.ask(0)
        syncing = asyncio.ensure_future(sync())
        await bench.calls.note(0, answer)
        assert done == ["synced"]
        await syncing

    asyncio.run(talk())


def test_a_result_is_charged_for_its_reply_and_not_again_for_a_lost_attempt(begin: Begin) -> None:
    class Retrying(Plain):
        free = False
        metered = True

        def reserve(self, message: Message) -> Usage | None:
            return PRICED

        async def reply(self, message: Message) -> Reply:
            attempts.begin()
            attempts.tell(Attempt(0.1, error="ReadTimeout"))
            attempts.begin()
            attempts.tell(Attempt(0.1, status=200))
            return Reply("Red.")

    bench = begin(Retrying(), budget=Budget(limit=Decimal(100)))
    assert asyncio.run(bench.ask(0)).charged == Decimal("2.5")
    assert bench.budget.spent == 5


def test_what_is_observed_counts_as_one_write_from_when_the_agent_is_live(begin: Begin) -> None:
    bench = begin(Observing())

    async def talk() -> None:
        await bench.calls.open()
        await bench.calls.observe(turn(0))
        await bench.calls.catch_up(1, 1)
        await bench.calls.observe(turn(1))

    asyncio.run(talk())
    assert [note for note in bench.notes if "operations" in note] == [
        {"turn": 1, "operations": [["write", 1.0, []]]}
    ]


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("Red.", "str, not a Reply"),
        (Reply(5), "a Reply whose text is int, not a string"),  # type: ignore[arg-type]  # wrong on purpose
        (Reply("Red.", finish="stopped"), "a Reply whose finish is 'stopped', not one of Finish (stop, "),  # type: ignore[arg-type]  # wrong on purpose
        (Reply("Red.", Usage(output=-1)), "a Reply whose usage is Usage(uncached=0, "),
        (Reply("Red.", Usage(at="now")), "a Reply whose usage is Usage(uncached=0, "),  # type: ignore[arg-type]  # wrong on purpose
        (
            Reply("Red.", Usage(at=datetime(2026, 1, 5, tzinfo=UTC).replace(tzinfo=None))),
            "a Reply whose usage is Usage(uncached=0, ",
        ),
        (Reply("x" * 4_000_001), "a Reply of 4,000,001 characters: the answer has more than 4,000,000 bytes"),
        (Reply("é" * 2_000_001), "a Reply of 2,000,001 characters: the answer has more than 4,000,000 bytes"),
    ],
)
def test_an_unusable_reply_is_an_error_that_says_why(begin: Begin, returned: object, problem: str) -> None:
    bench = begin(Plain(returned))
    with pytest.raises(AgentError) as raised:
        asyncio.run(bench.ask(3))
    assert str(raised.value).startswith(f"the agent failed at turn 3: reply() returned {problem}")
    assert bench.notes[-1] == {"turn": 3, "failed_after": 1.0}


@pytest.mark.parametrize("finish", list(Finish))
def test_a_reply_may_end_for_every_known_reason(begin: Begin, finish: Finish) -> None:
    assert asyncio.run(begin(Plain(Reply("", finish=finish))).ask(0)).reply.finish is finish


def test_an_exception_of_an_adapter_becomes_an_error_without_keys(begin: Begin, key: str) -> None:
    with pytest.raises(AgentError) as raised:
        asyncio.run(begin(Plain(LookupError(f"no {key}"))).ask(4))
    assert str(raised.value).startswith("the agent failed at turn 4: LookupError: no ")
    assert key not in str(raised.value)


def test_an_error_of_ours_keeps_its_kind_and_loses_its_keys(begin: Begin, key: str) -> None:
    with pytest.raises(BudgetReached, match="spent, ") as raised:
        asyncio.run(begin(Plain(BudgetReached(f"spent, {key}"))).ask(4))
    assert key not in str(raised.value)


def test_a_call_that_is_interrupted_ends_as_interrupted_and_is_noted(begin: Begin) -> None:
    class Endless(Plain):
        async def reply(self, message: Message) -> Reply:
            self.heard.append(message.turn)
            await asyncio.Event().wait()
            raise AssertionError("nobody sets the event")

    agent = Endless()
    bench = begin(agent)

    async def talk() -> None:
        asked = asyncio.ensure_future(bench.ask(0))
        while 0 not in agent.heard:
            await asyncio.sleep(0)
        asked.cancel()
        await asked

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(talk())
    assert bench.notes[-1] == {"turn": 0, "failed_after": 1.0}


def test_a_cancellation_that_only_the_adapter_knows_of_is_its_failure(begin: Begin) -> None:
    with pytest.raises(AgentError, match="the agent failed at turn 0: CancelledError"):
        asyncio.run(begin(Plain(asyncio.CancelledError())).ask(0))


def test_a_reply_loses_the_keys_that_were_read(begin: Begin, key: str) -> None:
    assert read_key("OPENAI_API_KEY") == key
    answer = asyncio.run(begin(Plain(Reply(f"The key is {key}."))).ask(0))
    assert answer.reply.text.startswith("The key is ")
    assert key not in answer.reply.text


@pytest.mark.parametrize(("conversation", "name"), [(None, "turn 3"), ("x/0", "turn 3 of x/0")])
def test_a_turn_that_may_be_heard_twice_is_reported_and_noted(
    begin: Begin, conversation: str | None, name: str
) -> None:
    bench = begin(Keeping(), conversation=conversation)
    asyncio.run(bench.ask(3, doubtful=True))
    assert bench.doubts == [name]
    assert [note["turn"] for note in bench.lines if note.get("doubtful")] == [3]


def test_a_turn_that_went_out_once_is_not_in_doubt(begin: Begin) -> None:
    bench = begin(Keeping())
    asyncio.run(bench.ask(3))
    assert bench.doubts == []


@pytest.mark.parametrize(("ended", "reported"), [("failed", True), ("refused", False)])
def test_a_turn_is_in_doubt_only_if_the_server_may_have_heard_it(
    begin: Begin, ended: str, reported: bool
) -> None:
    bench = begin(Keeping())
    for note in ({"turn": 0, "begun": True}, {"turn": 3, "sending": True}, {"turn": 3, ended: True}):
        bench.files.calls.put(note)
    asyncio.run(bench.ask(3, doubtful=True))
    assert bench.doubts == (["turn 3"] if reported else [])


def test_a_lost_call_is_charged_what_it_may_have_cost(begin: Begin) -> None:
    class Paid(Plain):
        free = False

        def reserve(self, message: Message) -> Usage | None:
            return PRICED

    bench = begin(Paid(Reply("Red.", PRICED)))
    asyncio.run(bench.ask(0, doubtful=True))
    assert bench.budget.spent == Decimal(5)
    assert [note["dollars"] for note in bench.lines if note.get("doubtful")] == [2.5]


def test_what_is_asked_to_be_deleted_is_deleted_for_every_query(begin: Begin) -> None:
    agent = Observing()
    bench = begin(agent)

    async def talk() -> None:
        await bench.calls.open()
        await bench.calls.delete(["my parrot", "my boat"], message(1), turns=2)

    asyncio.run(talk())
    assert agent.heard[1:] == ["my parrot", "my boat"]


def test_what_was_deferred_is_done_once_and_only_after_its_own_turns(begin: Begin) -> None:
    agent = Keeping()
    bench = begin(agent)

    async def talk() -> None:
        for turns, query in ((1, "my boat"), (3, "my parrot"), (5, "my cat")):
            await bench.calls.delete([query], message(turns - 1), turns=turns)
        assert [bench.calls.has_deferred(turns) for turns in (1, 2, 3, 5)] == [True, False, True, True]
        for turns in (3, 3, 4, 5, 5, 1):
            await bench.calls.restore_to(turns)

    asyncio.run(talk())
    assert agent.heard[2:] == ["my parrot", "my cat"]


@pytest.mark.parametrize(("turns", "deleted"), [(3, ["my parrot"]), (4, [])])
def test_a_resumed_run_deletes_again_only_what_the_end_of_its_log_asks_for(
    begin: Begin, turns: int, deleted: list[str]
) -> None:
    agent = Keeping()
    bench = begin(agent)

    async def talk() -> None:
        await bench.calls.delete(["my boat"], message(0), turns=1)
        await bench.calls.delete(["my parrot"], message(2), turns=3)
        await bench.calls.catch_up(turns, turns)

    asyncio.run(talk())
    assert agent.heard == [("open", True), ("restore", list(range(turns))), *deleted]


def test_an_agent_that_decides_while_it_replies_is_not_asked_to_delete(begin: Begin) -> None:
    class Deciding(Observing):
        writes_in_reply = True

    for agent in (Deciding(), Plain()):
        bench = begin(agent)

        async def talk(bench: Bench = bench) -> None:
            await bench.calls.open()
            await bench.calls.delete(["my parrot"], message(1), turns=2)

        asyncio.run(talk())
        assert agent.heard == [("open", True)]


@pytest.mark.parametrize(
    ("usage", "free", "charged", "unknown"),
    [
        (PRICED, False, False, False),
        (None, False, False, True),
        (Usage(output=1), False, False, True),
        (None, True, False, False),
        (None, False, True, False),
    ],
)
def test_a_logged_reply_of_unknown_price_makes_the_sum_a_lower_bound(
    begin: Begin, usage: Usage | None, free: bool, charged: bool, unknown: bool
) -> None:
    agent = Plain()
    agent.free = free
    bench = begin(agent, conversation="x/0", charged={("x/0", 3)} if charged else {("x/0", 2), (None, 3)})
    bench.calls.replayed(3, Reply("Red.", usage))
    assert bench.budget.unknown is unknown
    assert bench.budget.spent == 0


class Forking(Plain):
    forks = "snapshot"

    def __init__(self, *said: object, fails: bool = False) -> None:
        super().__init__(*said)
        self.fails = fails

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        if self.fails:
            raise LookupError("no prompt")
        with operating("retrieve"):
            self.heard.append(("frozen", message.turn))
        return lambda: self.reply(message)


@pytest.mark.parametrize("fails", [False, True])
def test_a_fork_lets_the_conversation_continue_once_its_prompt_is_frozen_or_cannot_be(
    begin: Begin, fails: bool
) -> None:
    agent = Forking(fails=fails)
    bench = begin(agent)
    frozen = asyncio.Event()

    def record() -> int:
        assert frozen.is_set()
        agent.heard.append("recorded")
        return 7

    async def talk() -> CallResult:
        return await bench.calls.fork(message(5), record, frozen, doubtful=False)

    if fails:
        with pytest.raises(AgentError, match="the agent failed at turn 5: LookupError: no prompt"):
            asyncio.run(talk())
        assert agent.heard == []
    else:
        answer = asyncio.run(talk())
        assert agent.heard == [("frozen", 5), "recorded", 5]
        assert [done.name for done in answer.operations] == ["retrieve", "answer"]
    assert frozen.is_set()


def test_a_call_waits_for_money_that_others_of_its_conversation_hold(begin: Begin) -> None:
    class Paid(Forking):
        free = False

        def reserve(self, message: Message) -> Usage | None:
            return PRICED

    cheap = Usage(uncached=1, model="gpt-4o", provider="openai")
    agent = Paid(*[Reply("Red.", cheap)] * 3)
    bench = begin(agent, budget=Budget(limit=Decimal("2.6")), places=asyncio.Semaphore(3))

    async def talk() -> None:
        forks = (bench.calls.fork(message(n), lambda: 7, asyncio.Event(), doubtful=False) for n in range(3))
        await asyncio.gather(*forks)

    asyncio.run(talk())
    assert bench.budget.held == 0
    assert bench.budget.spent == 3 * Decimal("0.0000025")
    agent.said = [Reply("Red.", cheap)]
    bench.budget.spent = Decimal(1)
    with pytest.raises(BudgetReached):
        asyncio.run(bench.ask(9))
