"""Asks a judge the prompts of published scorers, and keeps its answers, so that none is paid for twice."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

from ltm_bench.core.budget import Budget
from ltm_bench.core.limits import json_of
from ltm_bench.judge.costs import Quote, quote_texts
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.saying import CONCURRENT, JudgeAnswer, say


class Grader:
    """A judge with a file of its answers.

    Args:
        judge: The judge.
        store: A JSON Lines file to append to.
        budget: What may be spent.
        on_answer: Called after each answer that was not known.
    """

    def __init__(
        self, judge: Judge, store: Path, budget: Budget, on_answer: Callable[[JudgeAnswer], None]
    ) -> None:
        self.judge = judge
        self.heard: list[JudgeAnswer] = []
        """What it answered now, also where it failed."""
        self._store, self._budget, self._on_answer = store, budget, on_answer
        self._places = asyncio.Semaphore(CONCURRENT)
        self._who = hashlib.sha256(
            json.dumps(judge.description, sort_keys=True, default=str).encode()
        ).hexdigest()
        self._known: dict[str, str] = {}
        self._open: dict[str, asyncio.Task[str | None]] = {}
        text = store.read_text("utf-8", "replace") if store.exists() else ""
        for line in text.splitlines():
            try:
                entry = json_of(line)
                self._known[entry["key"]] = entry["answer"]
            except (ValueError, LookupError, TypeError):
                continue  # cut off while being written: asked again
        self._before = "" if text.endswith("\n") or not text else "\n"
        """What ends a line that was cut off, before the next is appended."""

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._who}\n{text}".encode("utf-8", "replace")).hexdigest()[:24]

    def quote(self, texts: Iterable[str]) -> Quote:
        """Quote the cost of asking these prompts, each once."""
        return quote_texts(
            self.judge, ((text, self._key(text) in self._known) for text in dict.fromkeys(texts))
        )

    async def ask(self, text: str) -> str | None:
        """Return the judge's answer; None if it fails. Raises BudgetReached."""
        key = self._key(text)
        if key not in self._known and key not in self._open:  # two replies may be the same
            self._open[key] = asyncio.create_task(self._ask(key, text))
        return self._known[key] if key in self._known else await self._open[key]

    async def _ask(self, key: str, text: str) -> str | None:
        async with self._places:
            said = await say(self.judge, text, self._budget)
        self.heard.append(said)
        self._on_answer(said)
        if said.failed:
            return None
        self._known[key] = said.text
        entry = {
            "key": key,
            "judge": self.judge.name,
            "asked": text,
            "answer": said.text,
            "dollars": said.dollars,
        }
        with self._store.open("a", encoding="utf-8") as file:
            file.write(f"{self._before}{json.dumps(entry)}\n")
        self._before = ""
        return said.text
