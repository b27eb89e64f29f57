"""A product in a process of its own, with a Python that can import it: commands and questions, as lines of JSON.

The process first writes a line about itself. It gets one command at a time, `{"do": "find", "with": {…}}`, and ends it
with `{"done": …}` or `{"error": "…"}`. Before that it may ask any number of questions at once, `{"ask": 1, …}`; each is
answered with a line of the same number under `answer`, or with the kind of an error under `failed`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from ltm_bench.core.keys import scrubbed
from ltm_bench.core.limits import json_of

_PATIENCE = 300.0
"""Seconds for the process to do something while it waits for no answer from here."""

_LONGEST = 1 << 26
"""Maximum bytes of a line."""


class ProcessFailed(Exception):
    """The product, or its process, failed."""


class ProductProcess:
    """The process, and the line to it."""

    def __init__(
        self,
        python: str,
        script: Path,
        environment: Mapping[str, str],
        log: Path | None,
        answer: Callable[[Mapping[str, Any]], Awaitable[Any]],
    ) -> None:
        """Set up; nothing is started yet.

        Args:
            python: The Python that has the product.
            script: What it runs.
            environment: All of the process's environment.
            log: The file for what it prints; None discards that.
            answer: Answers a question of the product's.
        """
        self._command, self._environment = (python, script), environment
        self._log, self._answer_to = log, answer
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._answers = set[asyncio.Task[None]]()
        self.busy = False
        """Whether the product may have its files open."""
        self.failure: Exception | None = None
        """Why the first question of the last command that could not be answered was not."""

    async def start(self, folder: Path | None) -> dict[str, Any]:
        """Start it in a folder, and return what it writes first. Raises ProcessFailed."""
        log = None if self._log is None else self._log.open("ab")
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log or asyncio.subprocess.DEVNULL,
                cwd=folder,
                env=self._environment,
                limit=_LONGEST,
                start_new_session=True,  # a typed Control-C is for this process, which then ends the other one
            )
        except OSError as error:
            raise ProcessFailed(error.strerror or str(error)) from error
        finally:
            if log is not None:
                log.close()
        return await self.read()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Send a command, answer the product's questions, and return the result. Raises ProcessFailed."""
        async with self._turn:
            self.busy, self.failure = True, None
            try:
                await self._write({"do": name, "with": arguments})
                while "ask" in (said := await self.read()):
                    task = asyncio.create_task(self._answer(said))
                    self._answers.add(task)
                    task.add_done_callback(self._answers.discard)
            except (asyncio.CancelledError, ProcessFailed):
                await self.close()  # what it was doing is unknown
                raise
        if "error" in said:
            raise ProcessFailed(said["error"])
        return said["done"]

    async def _answer(self, question: Mapping[str, Any]) -> None:
        try:
            answer = {"answer": await self._answer_to(question)}
        except Exception as error:  # from an SDK or an embedder; the product does not get its text
            self.failure = self.failure or error
            answer = {"failed": type(error).__name__}
        try:
            await self._write({"ask": question["ask"], **answer})
        except ProcessFailed:  # it has ended, which reading its next line will show
            return

    async def _write(self, content: Mapping[str, Any]) -> None:
        if self._process is None or self._process.stdin is None or self._process.stdin.is_closing():
            raise ProcessFailed("its process has ended")
        try:
            self._process.stdin.write(json.dumps(content).encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise ProcessFailed("its process has ended") from error

    async def read(self) -> dict[str, Any]:
        """Read a line. While answers to it are under way, the product may take its time. Raises ProcessFailed."""
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            try:
                line = await asyncio.wait_for(self._process.stdout.readline(), _PATIENCE)
            except TimeoutError:
                if self._answers:
                    continue
                raise ProcessFailed(f"its process did nothing for {_PATIENCE:g} seconds") from None
            if not line.endswith(b"\n"):
                code = await self._process.wait()
                raise ProcessFailed(f"its process ended with code {code}{self._last_words()}")
            content: dict[str, Any] = json_of(line)
            return content

    def _last_words(self) -> str:
        text = self._log.read_text("utf-8", "replace") if self._log and self._log.exists() else ""
        said = [line.strip() for line in text.splitlines() if line.strip()]
        return f", saying: {scrubbed(said[-1])[:200]}" if said else ""

    async def close(self) -> None:
        """End the process. Every command that it has answered is done."""
        process, self._process = self._process, None
        answers = list(self._answers)
        for task in answers:
            task.cancel()
        await asyncio.gather(*answers, return_exceptions=True)
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        await process.wait()
        if process.stdin is not None:
            process.stdin.close()
