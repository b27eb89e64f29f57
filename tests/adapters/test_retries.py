"""A call that may succeed later is retried after a pause, within a limit."""

import asyncio
from collections.abc import Callable

import pytest

from ltm_bench.adapters.http.retries import LONGEST_PAUSE, Again, passing, retrying


class Failing:
    """Fails a given number of times, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise OSError(f"failure {self.calls}")
        return "answer"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("ltm_bench.adapters.http.retries.asyncio.sleep", sleep)
    return waited


def run(
    call: Failing, retries: int, again: Callable[[Exception], Again | None] = lambda error: Again()
) -> str:
    return asyncio.run(retrying(call, retries=retries, pause=0.5, again=again))


def test_the_pauses_double(pauses: list[float]) -> None:
    assert run(Failing(3), retries=4) == "answer"
    assert pauses == [0.5, 1.0, 2.0]


def test_the_last_error_is_raised_when_the_retries_are_used_up(pauses: list[float]) -> None:
    call = Failing(9)
    with pytest.raises(OSError, match="failure 3"):
        run(call, retries=2)
    assert (call.calls, pauses) == (3, [0.5, 1.0])


def test_without_retries_there_is_one_call(pauses: list[float]) -> None:
    call = Failing(1)
    with pytest.raises(OSError, match="failure 1"):
        run(call, retries=0)
    assert (call.calls, pauses) == (1, [])


def test_a_permanent_error_is_raised_at_once(pauses: list[float]) -> None:
    call = Failing(1)
    with pytest.raises(OSError, match="failure 1"):
        run(call, retries=4, again=lambda error: None)
    assert (call.calls, pauses) == (1, [])


def test_the_server_says_how_long_to_wait_up_to_a_limit(pauses: list[float]) -> None:
    asked = iter([3.0, 1e6])
    assert run(Failing(2), retries=4, again=lambda error: Again(next(asked))) == "answer"
    assert pauses == [3.0, LONGEST_PAUSE]


def test_a_hook_is_called_before_each_retry(pauses: list[float]) -> None:
    done: list[int] = []
    call = Failing(2)

    async def before() -> None:
        done.append(call.calls)

    asyncio.run(retrying(call, retries=4, pause=0.0, again=lambda error: Again(), before=before))
    assert done == [1, 2]


@pytest.mark.parametrize(
    ("status", "passes"), [(200, False), (400, False), (408, True), (409, True), (429, True), (503, True)]
)
def test_a_status_is_passing_or_permanent(status: int, passes: bool) -> None:
    assert passing(status) == passes
