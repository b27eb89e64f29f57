"""Clocks that jump, zones that change and nights of daylight saving change no log, no sum and no verdict.

The wall clock is injected, wherever it is asked for; nothing waits.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ltm_bench.core import clock
from ltm_bench.core.messages import Usage
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.viewer.states import Watch

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""Costs by the hour, and falls once, at its twelfth reply."""

from pathlib import Path

from ltm_bench import Agent, Message, Reply, Turn, Usage
from ltm_bench.core import clock

MODEL = {"model": "deepseek-chat", "provider": "deepseek"}


class Hourly(Agent):
    forks = "no"

    async def reply(self, message: Message) -> Reply:
        if message.turn >= 12 and not Path("fell").exists():
            Path("fell").touch()
            raise RuntimeError("it fell")
        return Reply(f"Okay, {message.turn}.", Usage(output=1000, **MODEL))

    async def observe(self, turn: Turn) -> None:
        return

    def reserve(self, message: Message) -> Usage:
        return Usage(output=1000, **MODEL)
'''
SMALL = ("--span", "2k", "--scenario", "colours", "--scenario", "jokes", "--examples", "2")
RUN = ("run", *SMALL, "--acknowledge", "live", "--agent", "hourly", "--max-cost", "1", "--name")
MINUTE, DECADE = timedelta(minutes=1), timedelta(days=3653)
NOW = datetime(2026, 10, 30, 16, 20, tzinfo=UTC)
"""Ten minutes before DeepSeek's cheap hours begin."""


class Clocks(NamedTuple):
    """When a run begins and goes on, how the clock moves between two looks, and in which zones."""

    begun: datetime = NOW
    on: datetime = NOW + timedelta(hours=1)
    steps: tuple[timedelta, ...] = (MINUTE,)
    zones: tuple[str, str] = ("UTC", "UTC")


TABLE = {
    "ten years on in the middle": Clocks(on=NOW + DECADE),
    "ten years back in the middle": Clocks(on=NOW - DECADE),
    "back to the beginning of all clocks": Clocks(on=datetime(1970, 1, 1, tzinfo=UTC)),
    "begun before all clocks": Clocks(begun=datetime(1970, 1, 1, tzinfo=UTC), on=NOW),
    "on to where 32 bits end": Clocks(on=datetime(2038, 1, 19, 3, 14, tzinfo=UTC)),
    "on to where 33 bits end": Clocks(on=datetime(2106, 2, 7, 6, 28, tzinfo=UTC)),
    "a clock that jumps ten years on and back at each look": Clocks(steps=(DECADE, -DECADE + MINUTE)),
    "a clock that goes backwards": Clocks(steps=(-MINUTE,)),
    "a clock that stands still": Clocks(on=NOW, steps=(timedelta(),)),
    "from the first zone to the last": Clocks(zones=("Pacific/Kiritimati", "Pacific/Niue")),
    "from the last zone to the first": Clocks(zones=("Pacific/Niue", "Pacific/Kiritimati")),
    "a zone of a quarter of an hour": Clocks(zones=("Asia/Kathmandu", "America/St_Johns")),
    "the hour that comes twice": Clocks(
        begun=datetime(2026, 10, 25, 0, 55, tzinfo=UTC), on=datetime(2026, 10, 25, 1, 0, tzinfo=UTC),
        zones=("Europe/Berlin", "Europe/Berlin"),
    ),
    "the hour that never comes": Clocks(
        begun=datetime(2026, 3, 29, 0, 55, tzinfo=UTC), on=datetime(2026, 3, 29, 1, 0, tzinfo=UTC),
        zones=("Europe/Berlin", "Europe/London"),
    ),
    "a night of daylight saving on the other half of the world": Clocks(
        begun=datetime(2026, 4, 4, 15, 55, tzinfo=UTC), on=datetime(2026, 4, 4, 16, 5, tzinfo=UTC),
        zones=("Australia/Lord_Howe", "Australia/Lord_Howe"),
    ),
}  # fmt: skip


class Injected:
    """The wall clock of all modules, and the zone of this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patch, self._found = monkeypatch, clock.wall

    def set(self, begun: datetime, steps: tuple[timedelta, ...], zone: str) -> None:
        def looks() -> Iterator[datetime]:
            now = begun
            while True:
                for step in steps:
                    yield now
                    now += step

        times = looks()

        def wall() -> datetime:
            return next(times)

        class Today(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> "Today":
                return cls.fromisoformat(wall().astimezone(tz).isoformat())

        for name, module in list(sys.modules.items()):
            if name.startswith("ltm_bench") and getattr(module, "wall", None) is self._found:
                self._patch.setattr(module, "wall", wall)
        self._found = wall
        for name in ("ltm_bench.runner.outlook",):
            if name in sys.modules:
                self._patch.setattr(sys.modules[name], "datetime", Today)
        self._patch.setenv("TZ", zone)
        time.tzset()


@pytest.fixture
def injected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Injected]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hourly.py").write_text(AGENT, "utf-8")
    yield Injected(monkeypatch)
    monkeypatch.delenv("TZ", raising=False)
    monkeypatch.undo()
    time.tzset()


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("reports", name, "results.json").read_text("utf-8"))
    return found


def decided(example: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        tuple(each[name] for name in ("turn", "reply", "outcome", "score")) for each in example["questions"]
    ]


def calls(name: str) -> list[dict[str, Any]]:
    lines = Path("reports", name, "calls.jsonl").read_text("utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each.get("ending") not in (None, "failed")]


def log(name: str) -> bytes:
    return Path("reports", name, "events.jsonl").read_bytes()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
@pytest.mark.parametrize("name", TABLE)
def test_no_clock_changes_a_log_a_verdict_or_what_calls_cost_at_their_hour(
    injected: Injected, command: "Command", name: str
) -> None:
    row = TABLE[name]
    Path("fell").touch()
    assert command(*RUN, "whole").exit_code == 0
    Path("fell").unlink()
    injected.set(row.begun, row.steps, row.zones[0])
    stopped = command(*RUN, "r")
    assert stopped.exit_code == 3, stopped.output
    made = len(calls("r"))
    assert made > 5
    injected.set(row.on, row.steps, row.zones[1])
    gone_on = command("resume", "r")
    assert gone_on.exit_code == 0, gone_on.output
    assert log("r") == log("whole")
    found, whole = results("r"), results("whole")
    assert [decided(each) for each in found["examples"]] == [decided(each) for each in whole["examples"]]
    assert (found["score"], found["outcomes"]) == (whole["score"], whole["outcomes"])
    started, _ = found["environment"]["started"]
    assert started.startswith(f"{row.begun.year}-")
    said = calls("r")
    assert len(said) > made
    hourly = [
        dollars(Usage(output=1000, model="deepseek-chat", provider="deepseek"), clock.moment(each["at"]))
        for each in said
    ]
    assert [each["dollars"] for each in said if each["ending"] == "stop"] == pytest.approx(
        [float(price or 0) for price, each in zip(hourly, said, strict=True) if each["ending"] == "stop"]
    )
    assert found["costs"]["dollars"] == pytest.approx(sum(each["dollars"] for each in said), abs=1e-6)
    for each in (
        ("verify", "r"),
        ("report", "r"),
        ("rescore", "r"),
        ("compare", "r", "whole", "-o", "c.html"),
    ):
        done = command(*each)
        assert done.exit_code == 0, done.output
    page = Path("reports/r/report.html").read_text("utf-8")
    assert f"started on {started[:10]}" in page
    assert results("r")["costs"] == found["costs"]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows has no zone of a process")
@pytest.mark.parametrize("name", ["ten years back in the middle", "the hour that comes twice",
                                  "a clock that jumps ten years on and back at each look"])  # fmt: skip
def test_a_race_under_any_clock_ends_as_under_another(
    injected: Injected, command: "Command", name: str
) -> None:
    row, race = TABLE[name], ("race", "perfect", "goldfish", *SMALL, "--most", "2", "--json")
    plain = command(*race)
    assert plain.exit_code == 0, plain.output
    logs = {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")}
    last = sorted(logs)[-1]
    for path in sorted(logs)[1:-1]:
        path.unlink()
    last.write_bytes(b"".join(logs[last].splitlines(keepends=True)[:7]))
    injected.set(row.on, row.steps, row.zones[1])
    again = command(*race)
    assert again.exit_code == 0, again.output
    assert {path: path.read_bytes() for path in Path("reports").glob("*/events.jsonl")} == logs
    assert json.loads(again.out) == json.loads(plain.out)


def test_days_of_prices_are_days_of_one_zone_whatever_zone_a_server_names() -> None:
    at = datetime(2026, 10, 31, 23, 30, tzinfo=UTC)
    zones = [at.astimezone(timezone(timedelta(hours=hours))) for hours in (-11, 0, 14)]
    assert price_list(*zones).endswith(", prices of 2026-10-31")
    assert (
        len({dollars(Usage(output=1000, model="deepseek-chat", provider="deepseek", at=at)) for at in zones})
        == 1
    )


@pytest.mark.parametrize(("years", "state"), [(-10, "unfinished"), (0, "running"), (10, "unfinished")])
def test_a_run_that_stopped_is_not_running_for_years_because_the_clock_was_set_back(
    injected: Injected, command: "Command", monkeypatch: pytest.MonkeyPatch, years: int, state: str
) -> None:
    assert command(*RUN, "r").exit_code == 3
    now = 2_000_000_000.0
    for path in Path("reports/r").iterdir():
        if path.is_file():
            os.utime(path, (now, now))
    monkeypatch.setattr(
        "ltm_bench.viewer.states.time.time", lambda: now + years * DECADE.total_seconds() / 10
    )
    found, _ = Watch(Path("reports")).live(Path("reports/r"))
    assert found.state == state
