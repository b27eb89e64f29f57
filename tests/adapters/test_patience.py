"""Pauses between polls grow up to a limit, and end with patience."""

import asyncio
import time

import pytest

from ltm_bench.adapters.memories.product import Patience


def pauses(monkeypatch: pytest.MonkeyPatch, seconds: float, count: int) -> list[float]:
    """Wait this often on a clock that only pauses advance; give the pauses."""
    now, made = [0.0], list[float]()

    async def sleep(pause: float) -> None:
        made.append(pause)
        now[0] += pause

    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(asyncio, "sleep", sleep)

    async def wait() -> None:
        patience = Patience(seconds, first=0.25, longest=1.0)
        for _ in range(count):
            if not await patience.lasts():
                return

    asyncio.run(wait())
    return made


def test_pauses_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pauses(monkeypatch, 100.0, 5) == [0.25, 0.5, 1.0, 1.0, 1.0]


def test_patience_ends_after_its_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pauses(monkeypatch, 1.0, 50) == [0.25, 0.5, 1.0]
