"""Asks a judge the prompts of published scorers, and keeps its answers, so that none is paid for twice."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from ltm_bench.core.budget import Budget
from ltm_bench.core.limits import json_of
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.saying import CONCURRENT, say


class Grader:
    """A judge with a file of its answers.

    Args:
        judge: The judge.
        store: A JSON Lines file to append to.
        budget: What may be spent.
        on_bad: Called with each question that the judge failed to answer.
    """

    def __init__(self, judge: Judge, store: Path, budget: Budget, on_bad: Callable[[str], None]) -> None:
        self.judge = judge
        self._store = store
        self._budget = budget
        self._on_bad = on_bad
        self._places = asyncio.Semaphore(CONCURRENT)
        self._who = hashlib.sha256(
            json.dumps(judge.description, sort_keys=True, default=str).encode()
        ).hexdigest()
        self._known: dict[str, str] = {}
        if store.exists():
            for line in store.read_text("utf-8").splitlines():
                try:
                    entry = json_of(line)
                    self._known[entry["key"]] = entry["answer"]
                except (ValueError, LookupError, TypeError):
                    continue  # cut off while being written: asked again

    async def ask(self, text: str) -> str | None:
        """Return the judge's answer; None if it fails. Raises BudgetReached."""
        key = hashlib.sha256(f"{self._who}\n{text}".encode()).hexdigest()[:24]
        async with self._places:
            if key not in self._known:
                said = await say(self.judge, text, self._budget)
                if said.failed:
                    self._on_bad(f"{self.judge.name} failed: {said.text}"[:300])
                    return None
                self._known[key] = said.text
                with self._store.open("a", encoding="utf-8") as file:
                    entry = {"key": key, "judge": self.judge.name, "asked": text, "answer": said.text}
                    file.write(json.dumps(entry) + "\n")
        return self._known[key]
