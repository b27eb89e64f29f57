"""Lets a judge answer what a published scorer asks of a prediction file."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.judging import Ask
from ltm_bench.judge.grading import Grader
from ltm_bench.judge.judges import find_judges

T = TypeVar("T")


def asked(
    judge: str | None,
    path: Path,
    data: Path | None,
    budget: Budget,
    grade: Callable[[Ask], Coroutine[Any, Any, T]],
    on_bad: Callable[[str], None],
) -> T | None:
    """Return what a judge says; None without one.

    Args:
        judge: Its name.
        path: The prediction file; the judge's answers are kept beside it, and not asked for again.
        data: The set itself, which a judge needs.
        budget: What may be spent, on this file and on others.
        grade: Puts the questions, and puts the answers together.
        on_bad: Is told of questions that the judge fails to answer.

    Raises:
        ConfigError: If there is no data, or no such judge.
        BudgetReached: When the next question could exceed the budget.
    """
    if judge is None:
        return None
    if data is None:
        raise ConfigError(f"--judge {judge}: a judge needs the gold answers; name the set with --data")
    (found,) = find_judges([judge])
    store = path.with_name(f"{path.name}.{re.sub(r'[^A-Za-z0-9._-]+', '-', judge)}.jsonl")
    on_bad(f"{judge} is asked about {path.name}; its answers are kept in {store}")

    async def ask_all() -> T:
        return await grade(Grader(found, store, budget, on_bad).ask)

    return asyncio.run(ask_all())
