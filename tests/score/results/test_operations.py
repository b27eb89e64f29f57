"""The cost of every operation of a memory."""

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.core.messages import Usage
from ltm_bench.log import lines
from ltm_bench.log.calls import Call
from ltm_bench.score.results.operations import judging, operations
from ltm_bench.score.results.timings import Timings

if TYPE_CHECKING:
    from tests.conftest import Command

PRICED = {"model": "gpt-4o", "provider": "openai"}


def of(tmp_path: Path, *records: dict[str, Any], **more: Any) -> Any:
    path = tmp_path / "timings.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    defaults: dict[str, Any] = {"positions": {}, "judged": (), "free": False, "on": None}
    given = defaults | more
    timings = Timings(lines.records(path), given["on"])
    found = [
        *operations(timings.samples, given["positions"], free=given["free"]),
        *judging(given["judged"]),
    ]
    return {each.name: each for each in found}


def row(turn: int, *done: list[Any]) -> dict[str, Any]:
    return {"turn": turn, "operations": list(done)}


def test_operations_have_calls_quantiles_tokens_and_dollars(tmp_path: Path) -> None:
    usage = {"uncached": 1000, "output": 100, **PRICED}
    records = [
        row(i, ["retrieve", i / 10, []], ["answer", 1.0, [usage | {"uncached": 1000 * (i + 1)}]])
        for i in range(20)
    ]
    found = of(tmp_path, *records)
    assert list(found) == ["retrieve", "answer"]
    retrieve, answer = found["retrieve"], found["answer"]
    assert (retrieve.calls, retrieve.p50, retrieve.p95) == (20, 0.9, 1.8)
    assert retrieve.p50_interval.low < 0.9 < retrieve.p50_interval.high
    assert retrieve.dollars == 0
    assert answer.tokens == sum(1000 * (i + 1) + 100 for i in range(20))
    assert answer.dollars == pytest.approx(answer.tokens and 210_000 * 2.5e-6 + 2000 * 10e-6)
    assert answer.dollars_interval.low < answer.dollars < answer.dollars_interval.high


def test_operations_are_tracked_along_the_conversation(tmp_path: Path) -> None:
    records = [row(i, ["retrieve", float(i), []]) for i in range(100)]
    along = of(tmp_path, *records, positions={i: 100 * i for i in range(100)})["retrieve"].along
    assert [each.calls for each in along] == [10] * 9 + [10]
    assert [each.p50 for each in along] == sorted(each.p50 for each in along)
    assert along[-1].position == 9900


def test_an_unknown_price_is_unknown_unless_the_agent_is_free(tmp_path: Path) -> None:
    unknown = row(0, ["write", 0.1, [None]])
    assert of(tmp_path, unknown)["write"].dollars is None
    assert of(tmp_path, unknown, free=True)["write"].dollars == 0


def test_judges_are_counted_beside_the_agent(tmp_path: Path) -> None:
    used = Usage(uncached=10, output=2)
    calls = [Call(dollars=Decimal(price), usage=used, role="judge") for price in ("0.01", "0.03")]
    found = of(tmp_path, judged=calls)["judge"]
    assert (found.calls, found.tokens, found.p50) == (2, 24, None)
    assert found.dollars == pytest.approx(0.04)


@pytest.mark.parametrize(
    "noise", [{"operations": 3}, {"operations": [["write", "long", []]]}, {"operations": [["sing", 1, []]]}]
)
def test_nonsense_in_the_side_file_is_ignored(tmp_path: Path, noise: dict[str, Any]) -> None:
    assert of(tmp_path, noise) == {}


def test_the_results_of_a_run_hold_its_operations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("run", "--span", "2k", "--suite", "smoke", "--agent", "vector_memory")
    assert command(*words, "--name", "a").exit_code == 0
    assert command(*words, "--name", "b", "--quick").exit_code == 0
    for name in ("a", "b"):
        results = json.loads((tmp_path / "reports" / name / "results.json").read_text("utf-8"))
        done = {each["name"]: each for each in results["operations"]}
        assert list(done) == ["write", "retrieve", "answer"]
        assert done["answer"]["calls"] == results["costs"]["calls"]
        assert "Median along the conversation" in (tmp_path / "reports" / name / "report.html").read_text(
            "utf-8"
        )
    compared = json.loads(command("compare", "a", "b", "--json").out)
    assert [each["name"] for each in compared["cells"][0]["operations"]] == ["write", "retrieve", "answer"]
    assert command("export", "a", "--format", "operations", "-o", "o.csv").exit_code == 0
    assert (tmp_path / "o.csv").read_text("utf-8").startswith("run,operation,position,calls,p50")
