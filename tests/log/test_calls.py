"""Every call has a line in `calls.jsonl`, and every sum of money is the sum of its lines."""

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.log.calls import CALLS, read_calls
from ltm_bench.log.journal import Journal
from ltm_bench.log.lines import to_line
from ltm_bench.runner.spent import cost_of

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""Reports what it used, of a model whose output costs more from November on; twice it does not."""

from ltm_bench import Agent, Message, Reply, Usage

MODEL = {"model": "deepseek/deepseek-v4.1-flash", "provider": "arcee"}


class Reports(Agent):
    def __init__(self, *, silent: int = 0) -> None:
        self._left = silent

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=1000, output=1_000_000, **MODEL)

    async def reply(self, message: Message) -> Reply:
        self._left -= 1
        beside = Usage(uncached=1000, model="text-embedding-3-small", provider="openai")
        calls = [Usage(output=100_000, **MODEL, besides=(beside,)), Usage(output=200_000, **MODEL)]
        return Reply("Okay.", None if self._left >= 0 else Usage.of(calls))
'''
RUN = ("run", "--span", "2k", "--scenario", "colours", "--acknowledge", "live", "--name", "r")
BESIDE = 1000 * 0.02e-6
BEFORE, AFTER = 300_000 * 0.66e-6 + BESIDE, 300_000 * 1.2e-6 + BESIDE

Begin = Callable[..., dict[str, Any]]


def lines(folder: Path = Path("reports/r")) -> list[dict[str, Any]]:
    said = [json.loads(line) for line in (folder / CALLS).read_text("utf-8").splitlines()]
    return [each for each in said if "ending" in each]


def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("reports/r/results.json").read_text("utf-8"))
    return found


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Begin:
    """Run an agent in whose run the last minute of October ends before the n-th reply; return the results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "reports.py").write_text(AGENT, "utf-8")

    def ran(*words: str, before: int = 0) -> dict[str, Any]:
        november = datetime(2026, 11, 1, tzinfo=UTC)
        times = (november + timedelta(minutes=n - before) for n in itertools.count())
        monkeypatch.setattr("ltm_bench.runner.paying.wall", lambda: next(times))
        assert command(*RUN, "--agent", "reports", *words).exit_code == 0
        return results()

    return ran


def test_each_call_costs_what_it_costs_at_its_own_time(begin: Begin) -> None:
    found = begin(before=3)
    replies = found["costs"]["calls"]
    assert replies > 4
    assert found["costs"]["dollars"] == pytest.approx(3 * BEFORE + (replies - 3) * AFTER, abs=1e-6)
    assert found["costs"]["price_list"].endswith(", prices of 2026-10-31 to 2026-11-01")
    assert [line["dollars"] for line in lines() if line["role"] == "agent"][:8] == pytest.approx(
        [0.066, 0.132] * 3 + [0.12, 0.24]
    )


def test_a_line_says_whose_call_it_was_and_how_it_ended_and_all_lines_make_every_sum(begin: Begin) -> None:
    found = begin()
    said = lines()
    assert [line["role"] for line in said[:3]] == ["agent", "agent", "memory"]
    first = said[0]
    assert {**first, "at": ""} == {
        "turn": 0,
        "role": "agent",
        "ending": "stop",
        "usage": {"output": 100_000, "model": "deepseek/deepseek-v4.1-flash", "provider": "arcee"},
        "dollars": pytest.approx(0.12),
        "at": "",
    }
    total = sum(line["dollars"] for line in said)
    assert found["costs"]["dollars"] == pytest.approx(total, abs=1e-6)
    assert float(cost_of(Path("reports/r")).total) == pytest.approx(total)
    assert sum(each["dollars"] for each in found["costs"]["accounts"]) == pytest.approx(total)
    assert [each["calls"] for each in found["costs"]["accounts"]] == [
        2 * len(said) // 3,
        len(said) // 3,
    ]


def test_calls_whose_usage_is_unknown_are_named_with_their_number_and_charged_what_was_reserved(
    begin: Begin,
) -> None:
    found = begin("-A", "silent=2", "--max-cost", "100")
    unknown = [line["dollars"] for line in lines() if line["usage"] is None]
    assert unknown == pytest.approx([1.2 + 1000 * 0.22e-6] * 2)
    assert found["costs"]["dollars"] == pytest.approx(sum(line["dollars"] for line in lines()), abs=1e-6)
    [remark] = [each for each in found["remarks"] if "no usage" in each]
    assert remark.startswith(f"2 of {len(lines())} calls state no usage, or one that cannot be true: each")
    assert remark in Path("reports/r/report.html").read_text("utf-8")


def test_without_a_limit_a_call_of_unknown_usage_makes_the_sum_unknown(begin: Begin) -> None:
    found = begin("-A", "silent=1")
    assert found["costs"]["dollars"] is None
    assert any(each.startswith("1 of ") and "is unknown" in each for each in found["remarks"])


@pytest.mark.parametrize("kept", [True, False])
def test_a_lost_file_is_said_and_its_sums_are_those_of_the_log(
    begin: Begin, command: "Command", kept: bool
) -> None:
    whole = begin()
    Path("reports/r", CALLS).unlink()
    environment = Path("reports/r/environment.json")
    known = json.loads(environment.read_text("utf-8"))
    assert known.pop("calls_kept") is True
    if not kept:
        environment.write_text(json.dumps(known), "utf-8")
    assert command("report", "r").exit_code == 0
    found = results()
    assert found["costs"]["dollars"] == pytest.approx(whole["costs"]["dollars"])
    assert found["costs"]["calls"] == whole["costs"]["calls"]
    said = "are missing in calls.jsonl" if kept else "are from before each call was kept"
    [remark] = [each for each in found["remarks"] if said in each]
    replies = whole["costs"]["calls"]
    assert remark.startswith(f"the calls of {replies} of {replies} replies")
    assert float(cost_of(Path("reports/r")).total) == pytest.approx(whole["costs"]["dollars"], abs=1e-6)


def test_whoever_resumes_a_run_whose_file_is_lost_is_told(
    begin: Begin, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("--max-cost", "100")
    log, said = Path("reports/r/events.jsonl"), Path("reports/r", CALLS)
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:-8]))
    kept = said.read_bytes()
    assert "lacks the calls" not in command("resume", "r").err
    assert log.read_bytes() == whole
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:-8]))
    said.write_bytes(b"".join(kept.splitlines(keepends=True)[:5]))
    assert "calls.jsonl lacks the calls of" in command("resume", "r").err


def test_the_calls_behind_a_reply_are_written_at_once(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    put = Journal.put

    def counting(self: Journal, *found: Any) -> None:
        written.extend([len(found)] * any("ending" in each for each in found))
        put(self, *found)

    monkeypatch.setattr(Journal, "put", counting)
    begin()
    assert set(written) == {3}


@pytest.mark.parametrize("torn", [b'{"turn":1,"dol', b'\xff\n{"turn":2,"ending":3,"dollars":"much"}\n'])
def test_a_torn_last_line_and_nonsense_are_no_calls(begin: Begin, command: "Command", torn: bytes) -> None:
    whole = begin()
    with Path("reports/r", CALLS).open("ab") as file:
        file.write(torn)
    assert command("report", "r").exit_code == 0
    assert results()["costs"] == whole["costs"]


@pytest.mark.filterwarnings("ignore:.* it cuts prompts")
def test_a_prompt_that_a_server_has_cut_is_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", server: Provider
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "no-key-at-all")

    def few(body: dict[str, Any]) -> dict[str, Any]:
        usage = body["usage"]
        counted = min(usage["prompt_tokens"], 600)
        return body | {
            "usage": {
                "prompt_tokens": counted,
                "completion_tokens": usage["completion_tokens"],
                "total_tokens": counted + usage["completion_tokens"],
            }
        }

    server.edit = few
    words = ("--span", "2k", "--scenario", "colours", "--filler", "live", "--name", "r")
    done = command("run", *words, "--agent", "openai:gpt-6-luna", "--base-url", server.openai_url)
    assert done.exit_code == 0, done.err
    cut = [line for line in lines() if "sent" in line]
    assert cut
    assert all(line["sent"] > 2 * line["usage"]["uncached"] for line in cut)
    [remark] = [each for each in results()["remarks"] if "it cuts prompts" in each]
    assert remark.startswith(
        f"in {len(cut)} of {len(lines())} calls the server counted far fewer tokens than"
    )
    assert {line["server"] for line in lines()} == {server.openai_url}


OBSERVER = (
    AGENT
    + """
    metered = True

    async def observe(self, turn):
        from ltm_bench.adapters.http import traffic

        traffic.begin()
        traffic.tell(traffic.Attempt(0.1, status=200))
"""
)


def test_what_was_reserved_to_tell_the_agent_something_is_no_cost_once_it_is_told(
    begin: Begin, command: "Command"
) -> None:
    Path("agents/reports.py").write_text(OBSERVER, "utf-8")
    found = begin("--max-cost", "100", "--filler", "scripted")
    marks = [json.loads(line) for line in Path("reports/r", CALLS).read_text("utf-8").splitlines()]
    assert any("reserved" in each for each in marks)
    total = sum(line["dollars"] for line in lines())
    assert found["costs"]["dollars"] == pytest.approx(total, abs=1e-6)
    assert float(cost_of(Path("reports/r")).total) == pytest.approx(total)


def test_a_reply_without_a_usage_from_before_the_gateway_came_is_of_unknown_cost(tmp_path: Path) -> None:
    (tmp_path / CALLS).write_bytes(
        to_line({"turn": 5, "opened": True})
        + to_line({"call": "a", "model": "gpt-4o", "turn": 5, "reserved": 20.0})
        + to_line({"call": "a", "status": 200, "dollars": 10.0})
    )
    found = read_calls(tmp_path)
    (before,) = found.take_reply((None, 2), None)
    assert before.price is None
    (passed,) = found.take_reply((None, 5), None)
    assert passed.passed, "the gateway saw it"
    assert found.every == [passed, before]


def test_calls_that_earlier_releases_kept_elsewhere_are_read_as_they_were(tmp_path: Path) -> None:
    used = {"output": 1_000_000, "model": "gpt-4o", "provider": "openai"}
    (tmp_path / "gateway.jsonl").write_bytes(
        to_line({"call": "a", "model": "gpt-4o", "turn": 3, "reserved": 20.0})
        + to_line({"call": "a", "status": 200, "dollars": 10.0, "usage": used})
        + to_line({"call": "b", "model": "gpt-4o", "reserved": 5.0})
    )
    (tmp_path / "timings.jsonl").write_bytes(to_line({"turn": 4, "lost": True, "dollars": 0.5}))
    found = read_calls(tmp_path)
    assert [(each.turn, each.lost, float(each.price or 0)) for each in found.calls] == [
        (3, False, 10.0),
        (None, True, 5.0),
        (4, True, 0.5),
    ]
    assert float(found.spent) == 15.5
