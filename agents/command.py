"""Command: an agent in any language, as a program that speaks JSON lines."""

import asyncio
import json
import shlex
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ltm_bench import Agent, AgentError, Finding, Message, Reply, Turn
from ltm_bench.adapters import end_program, json_of, last_of, program_environment, scrubbed, too_long

_PATIENCE = 5.0
"""Seconds that a program gets to exit once its input is closed."""


class Command(Agent):
    """Starts `command` once, and talks to it line by line over standard input and output.

    Every line that it receives is an object, which it answers with one line:

    - `{"message": "…", "at": "2026-01-05T09:00:00+00:00", "turn": 7}` with `{"reply": "…"}`; where the message also
      says how to answer, `"search_by": "…"` is the text to search a memory by;
    - with `observe=true` also `{"observe": {"message": "…", "reply": "…"}, "at": "…", "turn": 8}` (filler, or a resumed
      run) with `{}`. Otherwise it is asked everything, filler included, and in a resumed run the program has heard
      nothing.
    - with `fork=true` also `{"fork": "…", "at": "…", "turn": 9}` (a question beside the conversation, which it must not
      remember) with `{"reply": "…"}`.

    `at` is the benchmark's time of the message (ISO 8601), `turn` its number. The program's standard error is shown
    only if it fails. At the end, its input is closed.

    With `talk=text` a program that knows nothing of this gets a line for each message, and answers with one.

    Args:
        command: The program and its arguments, as typed in a shell (no shell is used).
        talk: Whether lines are JSON, or plain text: a message, whose own lines become one, and the reply.
        observe: Whether the program understands lines with `observe`.
        fork: Whether the program understands lines with `fork`, for `--questions forked`.
        timeout: Seconds for one answer.
        restarts: How often to restart a program that died and tell it everything again; needs `observe`.
    """

    def __init__(
        self,
        *,
        command: str,
        talk: Literal["json", "text"] = "json",
        observe: bool = False,
        fork: bool = False,
        timeout: float = 120.0,
        restarts: int = 0,
    ) -> None:
        self._words = shlex.split(command)
        if not self._words:
            raise ValueError("command is empty")
        if restarts and not observe:
            raise ValueError(
                f"restarts={restarts} needs observe=true: a restarted program is told the conversation by lines "
                "with `observe`"
            )
        if talk == "text" and (observe or fork):
            raise ValueError("talk=text has messages alone: leave out observe and fork")
        self._plain, self.observes = talk == "text", observe
        if fork:
            self.forks = "barrier"
        self._timeout, self._restarts = timeout, restarts
        self._process: asyncio.subprocess.Process | None = None
        self._home = Path()
        self._heard: list[dict[str, Any]] = []
        self._complaints: asyncio.Task[bytes] | None = None

    async def open(self, home: Path) -> None:
        """Start the program in its own folder inside the run; `LTM_BENCH_HOME` names it."""
        self._home = home
        await self._start()

    async def reply(self, message: Message) -> Reply:
        """Send a message, and wait for the reply."""
        reply = await self._ask("message", message)
        self._remember(message, reply.text)
        return reply

    async def examine(self) -> Sequence[Finding]:
        """Send the program one message, as a run does."""
        reply = await self.reply(Message("Hello, can you hear me?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0))
        return [Finding(True, f"{self._words[0]} answers; it says {reply.text!r:.100}")]

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Return a call that asks a question without leaving a trace; nothing else is sent until it returns."""
        return partial(self._ask, "fork", message)

    async def _ask(self, kind: str, message: Message) -> Reply:
        line = {kind: message.text, "at": message.at.isoformat(), "turn": message.turn}
        if message.search_by is not None:
            line["search_by"] = message.search_by
        answer = await self._exchange(line)
        text = answer.get("reply")
        if not isinstance(text, str):
            raise AgentError(
                f"{self._words[0]} answered without a reply: {scrubbed(json.dumps(answer))[:200]}"
            )
        return Reply(text)

    async def observe(self, turn: Turn) -> None:
        """Tell the program a turn, if it observes."""
        if self.observes:
            self._remember(turn.message, turn.reply.text)
            await self._exchange(_observed(turn.message, turn.reply.text))

    async def close(self) -> None:
        """Close the program's input, and wait briefly for it to end."""
        if self._process is None:
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._process.wait()
                if self._complaints is not None:
                    await self._complaints
        except TimeoutError:
            await end_program(self._process)

    def _remember(self, message: Message, reply: str) -> None:
        if self._restarts:
            self._heard.append(_observed(message, reply))

    async def _start(self) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=self.max_bytes,
                start_new_session=True,  # a shell's own programs end with it
                env={**program_environment(), "LTM_BENCH_HOME": str(self._home.resolve())},
            )
        except OSError as error:
            raise AgentError(f"{self._words[0]} cannot be started: {error.strerror or error}") from error
        assert self._process.stderr is not None
        self._complaints = asyncio.create_task(last_of(self._process.stderr))

    async def _exchange(self, line: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                return await self._once(line)
            except (BrokenPipeError, ConnectionResetError, EOFError):
                if self._restarts <= 0:
                    raise AgentError(await self._obituary()) from None
                self._restarts -= 1
                told = self._heard[:-1] if "observe" in line else list(self._heard)
                await self._start()
                for each in told:
                    await self._once(each)

    async def _once(self, line: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            raise AgentError(f"{self._words[0]} was not started")
        said = " ".join(line["message"].split()) if self._plain else json.dumps(line)
        self._process.stdin.write(f"{said}\n".encode())
        await self._process.stdin.drain()
        try:
            answer = await asyncio.wait_for(self._process.stdout.readline(), self._timeout)
        except TimeoutError:
            await end_program(self._process)
            raise AgentError(f"{self._words[0]} did not answer within {self._timeout:g} s") from None
        except ValueError as error:
            raise AgentError(f"{self._words[0]}: {too_long(self.max_bytes)}") from error
        if not answer.endswith(b"\n"):
            raise EOFError
        if self._plain:
            return {"reply": answer.decode("utf-8", "replace").strip()}
        try:
            content = json_of(answer)
        except ValueError:
            raise AgentError(
                f"{self._words[0]} answered with a line that is not JSON: {_start_of(answer)!r}; "
                "talk=text is for programs that speak plain text"
            ) from None
        if not isinstance(content, dict):
            raise AgentError(
                f"{self._words[0]} answered with a line that is not a JSON object: {_start_of(answer)!r}"
            )
        return content

    async def _obituary(self) -> str:
        assert self._process is not None
        code = await self._process.wait()
        said = (await self._complaints if self._complaints else b"").decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(said) if line.strip()), "")
        return f"{self._words[0]} ended with code {code}{f', saying: {scrubbed(last)[:200]}' if last else ''}"


def _start_of(line: bytes) -> str:
    return scrubbed(line[:4096].decode("utf-8", "replace"))[:120]


def _observed(message: Message, reply: str) -> dict[str, Any]:
    at = message.at.isoformat()
    return {"observe": {"message": message.text, "reply": reply}, "at": at, "turn": message.turn}
