"""A provider never bills more than is counted, whatever happens to its answers, and the count stays within
`--max-cost`."""

import asyncio
import itertools
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Fault
from ltm_bench.adapters.testing.protocols import Tokens
from ltm_bench.api import Options, execute
from ltm_bench.core.budget import Budget, Halted
from ltm_bench.core.errors import BudgetReached
from ltm_bench.core.messages import Message, Usage
from ltm_bench.plan.folders import find_run
from ltm_bench.plan.planning import plan_of
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.spent import cost_of
from perf import billing

if TYPE_CHECKING:
    from tests import zygote
    from tests.conftest import Command
else:
    import zygote

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

LIMIT = "0.01"
RUN = ("run", "--suite", "smoke", "--span", "2k", "--isolated", "--examples", "2", "--name", "r")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "no-key-at-all")
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "billed.py").write_text(billing.ADAPTER, "utf-8")
    return tmp_path


@pytest.mark.parametrize(("name", "fault"), dict(billing.FAULTS).items(), ids=list(dict(billing.FAULTS)))
def test_whatever_happens_to_its_answers_no_more_is_billed_than_counted(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch, name: str, fault: Fault | None
) -> None:
    monkeypatch.setattr(billing, "FAULTS", (("well", None), (name, fault)))
    with billing.billing(7) as provider:
        words = ("--agent", "billed", "--base-url", provider.openai_url, "--max-cost", LIMIT)
        codes = [command(*RUN, *words).exit_code]
        while codes[-1] == 3 and len(codes) < 20:
            codes.append(command("resume", "r", "--max-cost", LIMIT).exit_code)
        assert codes[-1] == 4
        assert 0 < provider.bill <= billing.counted(Path("reports")) <= Decimal(LIMIT)
        assert command("resume", "r", "--max-cost", LIMIT).exit_code in (3, 4)
        assert provider.bill <= billing.counted(Path("reports")) <= Decimal(LIMIT)


@pytest.mark.unkept
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "gateway", "race"])
def test_killed_with_calls_under_way_no_more_is_billed_than_counted(kind: str) -> None:
    found = billing.trial(7, Decimal("0.12"), 3, kind, zygote.Forked)
    assert found.kills
    assert 0 < found.billed <= found.counted <= found.limit


def test_cached_tokens_of_an_answer_are_billed_at_their_own_price() -> None:
    with billing.billing(7) as provider:
        provider.spent += [
            Tokens(prompt=2000, cached=0, output=0),
            Tokens(prompt=2000, cached=1024, output=0),
        ]
        assert provider.bill == (4000 - 512) * Decimal("2.5e-6")


def test_a_finished_run_counts_what_was_charged_for_answers_that_were_lost(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(billing, "FAULTS", (("well", None), ("cut", Fault(kind="cut"))))
    with billing.billing(7) as provider:
        words = ("--agent", "billed", "--base-url", provider.openai_url, "--max-cost", "1")
        codes = [command(*RUN, *words).exit_code]
        while codes[-1] == 3 and len(codes) < 20:
            codes.append(command("resume", "r", "--max-cost", "1").exit_code)
        assert codes[-1] == 0
        assert cost_of(Path("reports/r")).charged
        options = Options(max_cost=1)
        asyncio.run(execute(plan_of(find_run("r")), find_run("r"), options))
        assert options.budget.spent == billing.counted(Path("reports"))


def test_a_call_that_cannot_connect_costs_nothing(place: Path, command: "Command") -> None:
    words = ("--agent", "billed", "--base-url", "http://127.0.0.1:9/v1", "--max-cost", LIMIT)
    assert command(*RUN, *words).exit_code == 3
    assert billing.counted(Path("reports")) == 0
    resumed = command("resume", "r", "--max-cost", LIMIT)
    assert resumed.exit_code == 3
    assert "sent twice" not in resumed.err


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], "many", 7, {"prompt_tokens": "many", "completion_tokens": 1}]
    + [{"prompt_tokens": 1, "completion_tokens": each} for each in (-1, None, [1], 10**200)],
    ids=lambda usage: str(usage)[:40],
)
def test_a_reply_whose_usage_cannot_be_read_is_charged_its_reserve_and_the_run_continues(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch, usage: object
) -> None:
    monkeypatch.setattr(billing, "FAULTS", (("well", None),))
    with billing.billing(7) as provider:
        provider.edit = lambda body: body | {"usage": usage}
        words = ("--agent", "billed", "--base-url", provider.openai_url, "--max-cost", LIMIT)
        assert command(*RUN, *words).exit_code == 4
        assert len(provider.requests) > 1
        assert 0 < provider.bill <= billing.counted(Path("reports")) <= Decimal(LIMIT)
        asked = len(provider.requests)
        resumed = command("resume", "r", "--max-cost", "0.02")
        assert (resumed.exit_code, len(provider.requests) > asked) == (4, True)
        assert provider.bill <= billing.counted(Path("reports")) <= Decimal("0.02")


def test_a_reply_that_broke_off_is_charged_its_reserve(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(billing, "FAULTS", (("well", None),))
    answers = itertools.count()

    def every_second(body: dict[str, Any]) -> dict[str, Any]:
        choice = body["choices"][0]
        word = "abort" if next(answers) % 2 else choice["finish_reason"]
        return body | {"choices": [choice | {"finish_reason": word}]}

    with billing.billing(7) as provider:
        provider.edit = every_second
        words = ("--agent", "billed", "--base-url", provider.openai_url, "--max-cost", LIMIT)
        assert command(*RUN, *words).exit_code == 4
        assert len(provider.requests) > 2
        assert 0 < provider.bill <= billing.counted(Path("reports")) <= Decimal(LIMIT)


def _payable(price: float) -> Any:
    agent = make_agent("goldfish", {})
    agent.free = False
    usage = Usage(output=round(price * 1e5), model="gpt-4o", provider="openai")  # 10 dollars a million
    agent.reserve = lambda message: usage  # type: ignore[method-assign]  # only this one
    return agent


MESSAGE = Message("Hello", billing.NOW, 0)


def test_every_attempt_after_a_lost_one_makes_a_new_reserve() -> None:
    budget = Budget(Decimal("2.5"))

    def call() -> None:
        with budget.paying(_payable(1), MESSAGE) as payment:
            for _ in range(9):
                payment.begin()
                payment.sending()
                payment.end(refused=False, answered=False)

    with pytest.raises(BudgetReached, match=r"\$2.0000 spent"):
        call()
    assert [budget.spent, budget.held] == [2, 0]


def test_a_refused_attempt_costs_nothing_and_keeps_its_reserve() -> None:
    budget = Budget(Decimal(1))
    with budget.paying(_payable(1), MESSAGE) as payment:
        for _ in range(9):
            payment.begin()
            payment.sending()
            payment.end(refused=True, answered=True)
        payment.begin()
        payment.sending()
        payment.end(refused=False, answered=True)
        payment.settle(Usage(output=10_000, model="gpt-4o", provider="openai"))
    assert [budget.spent, budget.held] == [Decimal("0.1"), 0]


def test_a_call_that_was_answered_and_then_failed_is_charged_in_full() -> None:
    budget = Budget(Decimal(3))

    def call() -> None:
        with budget.paying(_payable(1), MESSAGE) as payment:
            payment.begin()
            payment.sending()
            payment.end(refused=False, answered=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call()
    assert [budget.spent, budget.held] == [1, 0]


def test_running_out_of_money_is_not_an_error_that_a_library_would_retry() -> None:
    assert not issubclass(Halted, Exception)


def test_a_reserve_is_on_file_when_the_attempt_is_sent_and_charged_before_the_next(
    place: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(billing, "FAULTS", (("cut", Fault(kind="cut")),))
    with billing.billing(7) as provider:
        charged: list[Decimal] = []
        receive = provider.receive

        def receive_and_look(request: Any) -> Fault | None:
            charged.append(billing.counted(Path("reports")))
            return receive(request)

        provider.receive = receive_and_look  # type: ignore[method-assign]  # only this one
        words = ("--agent", "billed", "--base-url", provider.openai_url, "--max-cost", "1")
        assert command("run", "--span", "2k", "--scenario", "colours", "--name", "r", *words).exit_code == 3
    one = charged[0]  # its reserve counts while it is pending
    assert one > 0
    assert charged == [one, 2 * one, 3 * one, 4 * one]
    said = [json.loads(line) for line in Path("reports/r/calls.jsonl").read_text("utf-8").splitlines()]
    assert [sum(each.get("ending") == "lost" for each in said), sum("sending" in each for each in said)] == [
        4,
        4,
    ]
