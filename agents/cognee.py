"""Cognee: a model builds a graph from every turn; a core model gets the passages and facts nearest to a message.

Cognee runs in its own process, with a Python that has it (`python`), since it needs another version of openai. Its
files are in the run's folder, and every user has separate databases. Its requests for a model and for vectors are made
here: with `model`, from an OpenAI-compatible server; the same model answers unless `core` names another. After every
turn the state of the files is recorded; a resumed run goes back to one of the last three states, and tells everything
again if none of them fits.

The tokens of extraction are part of a reply's usage; those of observed turns are part of the next reply's. Embeddings
are reported separately.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, Finding, Memory, Turn, Usage
from ltm_bench.adapters import (
    ConfigError,
    EmbeddingModel,
    Endpoint,
    Heard,
    MemoryProduct,
    Tally,
    at_least,
    dimensions_of,
    embedder_of,
    fingerprint,
    hashing,
    is_about,
    is_local,
    json_of,
    keep_table,
    need,
    scrubbed,
    sdk_client,
    sendable,
    stamp,
    usage_of,
    write_whole,
)

_KNOWN = "1.6."
"""The versions of Cognee that this adapter knows."""

_STATES = 3
"""How many states of the files are kept."""

_PATIENCE = 300.0
"""Seconds for Cognee to do something while it waits for no answer from this process."""

_WORKER = Path(__file__).with_name("_cognee_worker.py")


class Cognee(MemoryProduct):
    """Remembers passages and what Cognee extracts, separately for every user, and answers through another adapter.

    Args:
        model: The model that extracts, as the server knows it; it must write JSON to a schema.
        python: The Python of an environment with cognee 1.6; default: this one.
        core: The adapter that answers, and its model; default: openai and the same model.
        base_url: The OpenAI-compatible server of models and embeddings; default: OPENAI_BASE_URL, else OpenAI's.
        embedder: The name of an embedding model there, `local`, `wordllama`, or `python:module:callable`.
        dimensions: The embedder's dimensions; `local` and `wordllama` know theirs.
        memories: Number of passages and facts recalled per message; half of them are passages.
        recent: Number of newest turns that the core sees verbatim.
        window: Tokens of the core's prompt, without its reply.
        timeout: Seconds to wait for one answer of the extracting model, and of the core.
        max_retries: Retries of a failed request.
    """

    keeps_users = True

    def __init__(
        self,
        *,
        model: str,
        python: str = "",
        core: str = "",
        base_url: str | None = None,
        embedder: str = "text-embedding-3-small",
        dimensions: int = 1536,
        memories: int = 20,
        recent: int = 4,
        window: int = 8192,
        timeout: float = 120.0,
        max_retries: int = 4,
    ) -> None:
        at_least("cognee", dimensions=(dimensions, 1))
        endpoint = Endpoint.openai(model, base_url=base_url, timeout=timeout, max_retries=max_retries)
        patience = {"timeout": timeout, "max_retries": max_retries}
        super().__init__(
            endpoint,
            core=core or f"openai:{model}",
            core_settings={"base_url": base_url, **patience},
            memories=memories,
            recent=recent,
            window=window,
        )
        self._python = python or sys.executable
        self._dimensions = dimensions_of(embedder, dimensions)
        self._models = _Models(endpoint, embedder, self._dimensions, self._tally)
        self._process: _Process | None = None

    # Cognee's process, and its files

    async def open(self, home: Path) -> None:
        """Start Cognee's process, which takes some seconds."""
        await super().open(home)
        self._files = _States(home.resolve() / "cognee", home.resolve() / "states")
        self._forgotten = home / "forgotten.json"
        if self._files.moved():  # Cognee's databases contain the names of their folders
            self._files.clear()
            self._ledger.cut(0)
        self._models.open()
        await self._start()

    async def _start(self) -> None:
        keep_table(self._home / "tokens")
        place = self._files.live
        place.mkdir(parents=True, exist_ok=True)
        (
            self._home / "no.env"
        ).touch()  # otherwise it would read one in the working directory, or in a folder above it
        environment = {
            **{name: value for name, value in os.environ.items() if name in _PASSED_ON},
            **_SETTINGS,
            "COGNEE_ENV_FILE": str(self._home.resolve() / "no.env"),
            "COGNEE_LOGS_DIR": str(place / "logs"),
            "COGNEE_REPOS_DIR": str(place / "repositories"),
            "CACHE_ROOT_DIRECTORY": str(place / "cache"),
            "DATA_ROOT_DIRECTORY": str(place / "data"),
            "EMBEDDING_DIMENSIONS": str(self._dimensions),
            "HOME": str(place),
            "SYSTEM_ROOT_DIRECTORY": str(place / "system"),
            "TIKTOKEN_CACHE_DIR": str(self._home.resolve() / "tokens"),
        }
        self._process = _Process(self._python, environment, self._home / "cognee.log", self._models)
        try:
            await self._process.start(self._home)  # not in `place`, which is removed when a state is restored
            await self._process.ready()
        except BaseException:  # including cancellation
            await self._process.close()
            raise

    async def _call(self, name: str, **arguments: Any) -> Any:
        """Have Cognee do something. Raises AgentError."""
        assert self._process is not None
        try:
            answer = await self._process.call(name, arguments)
        except _Failed as failed:
            if self._models.failure is not None:
                raise self.endpoint.explain(self._models.failure) from failed
            raise AgentError(f"cognee: {name} failed: {_line(str(failed))}; resume the run later") from failed
        if self._models.failure is not None:  # and Cognee continued without the answer
            raise self.endpoint.explain(self._models.failure)
        return answer

    def _left_out(self) -> set[tuple[str, int]]:
        """Return the forgotten halves of turns: a turn's fingerprint, and 0 or 1 for message or reply."""
        text = self._forgotten.read_text("utf-8") if self._forgotten.exists() else "[]"
        return {(str(said), int(half)) for said, half in json_of(text)}

    async def _tell(self, number: int, user: str | None, said: Sequence[str]) -> str | None:
        """Have Cognee store the halves of a turn that are not empty; return the document, if any."""
        text = "\n".join(filter(None, said))
        if not text:
            return None
        document = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._name}/{number}/{text}"))
        await self._call("remember", space=_space(user), document=document, text=text)
        return document

    # The agent

    async def hear(self, turn: Turn) -> None:
        """Have Cognee store a turn, and extract what it says."""
        self._ledger.begin(turn.message.turn)
        message, reply, left_out = turn.message, turn.reply.text.strip(), self._left_out()
        said = [
            f"[{stamp(message.at)}] User: {sendable(message.text)}",
            f"Assistant: {sendable(reply)}" if reply else "",
        ]
        said = ["" if (fingerprint(turn), half) in left_out else text for half, text in enumerate(said)]
        document = await self._tell(message.turn, message.user, said)
        self._files.keep(len(self._ledger.heard) + 1)
        known = {"user": message.user, "at": message.at.isoformat(), "said": said, "document": document}
        self._ledger.finish(turn, {**known, "spent": self._tally.turn()})

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Restore the files as they were after these turns; if that state is not kept, start with none."""
        assert self._process is not None
        busy = self._process.busy
        if busy:
            await self._process.close()
        count = len(turns) if self._files.back_to(len(turns)) else 0
        self._ledger.cut(count)
        if busy:
            await self._start()
        return count

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Restore the usage of extraction since the last reply, which the next reply is billed for."""
        self._tally.owe(turns, [heard.data["spent"] for heard in self._ledger.heard])

    def billed(self, usage: Usage | None) -> Usage | None:
        """Add Cognee's usage since the last reply."""
        return self._tally.settle(usage)

    def billed_apart(self) -> Callable[[Usage | None], Usage | None]:
        """Exclude the lookup just made from the usage of the next reply."""
        return self._tally.apart()

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the passages and facts that Cognee's hybrid search finds for a user."""
        if not (query := sendable(query).strip()) or user not in self._users():
            return []
        found = await self._call("find", space=_space(user), query=query, limit=limit)
        return [self._memory(each, user) for each in found]

    def _users(self) -> list[str | None]:
        """Return the users about whom Cognee has anything."""
        return list(dict.fromkeys(each.data["user"] for each in self._ledger.heard if each.data["document"]))

    def _memory(self, found: dict[str, Any], user: str | None) -> Memory:
        wanted = set(found["documents"])
        first = next((each for each in self._ledger.heard if each.data["document"] in wanted), None)
        at = None if first is None else datetime.fromisoformat(first.data["at"])
        number = None if first is None else first.turn
        distance = found.get("distance")
        near = None if distance is None else 1 - float(distance)
        return Memory(found["text"], at, number, near, id=found["id"], user=user)

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all passages and facts of all users."""
        for user in self._users():
            for each in await self._call("listed", space=_space(user)):
                yield self._memory(each, user)

    async def forget(self, query: str) -> int:
        """Delete the passages and facts about something.

        Cognee deletes whole documents, with everything that it derived from them alone. If only the reply was about it,
        the message is told again.
        """
        count, gone = 0, set[str]()
        spoken = {each.data["document"] for each in self._ledger.heard if _halves_about(each, query)}
        for user in self._users():
            found = await self._call("listed", space=_space(user))
            for each in found:
                if is_about(each["text"], query):
                    count += 1
                    gone |= spoken.intersection(each["documents"]) or set(each["documents"])
        cut = [each for each in self._ledger.heard if each.data["document"] in gone]
        if not cut:
            return count
        halves = {each.said: _halves_about(each, query) or (0, 1) for each in cut}
        left_out = self._left_out() | {(said, half) for said, some in halves.items() for half in some}
        write_whole(self._forgotten, json.dumps(sorted(left_out)))
        # After a kill here, a resumed run tells everything again, except what is left out.
        self._files.drop()
        self._ledger.begin(cut[-1].turn)
        for each in cut:
            user = each.data["user"]
            await self._call("forget", space=_space(user), document=each.data["document"])
            kept = [
                text if half not in halves[each.said] else "" for half, text in enumerate(each.data["said"])
            ]
            each.data["said"], each.data["document"] = kept, await self._tell(each.turn, user, kept)
        self._files.keep(len(self._ledger.heard))
        self._ledger.cut(len(self._ledger.heard))  # rewritten
        return count

    async def examine(self) -> Sequence[Finding]:
        """Check whether Cognee is installed beside `python`."""
        process = _Process(self._python, dict(os.environ), None, self._models)
        try:
            found = await process.start(None)
        except ConfigError as error:
            return [Finding(False, str(error))]
        finally:
            await process.close()
        return [Finding(True, f"cognee {found} is installed for {self._python}")]

    async def close(self) -> None:
        """End Cognee's process, and close the connections."""
        await super().close()
        if self._process is not None:
            await self._process.close()
        await self._models.close()


_PASSED_ON = ("LANG", "LC_ALL", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
"""Environment variables for Cognee's process: neither keys nor settings of other installations of Cognee."""

_SETTINGS = {
    "CACHING": "false",  # of sessions, which this adapter does not use
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "COGNEE_TRACING_ENABLED": "false",
    "EMBEDDING_MODEL": "openai/ours",
    "EMBEDDING_PROVIDER": "openai",
    "GRAPH_DATABASE_SUBPROCESS_ENABLED": "false",  # it already has its own process
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # otherwise it is downloaded
    "LLM_API_KEY": "unused",
    "LLM_MODEL": "openai/ours",
    "LLM_PROVIDER": "openai",
    "LOG_LEVEL": "CRITICAL",
    "PYTHONUTF8": "1",
    "TELEMETRY_DISABLED": "true",
    "VECTOR_DB_SUBPROCESS_ENABLED": "false",
}


class _Failed(Exception):
    """Cognee, or its process, failed."""


class _Process:
    """Cognee's process, and the line to it."""

    def __init__(self, python: str, environment: dict[str, str], log: Path | None, models: _Models) -> None:
        self._python, self._environment, self._log, self._models = python, environment, log, models
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._answers = set[asyncio.Task[None]]()
        self.busy = False
        """Whether Cognee may have its files open."""

    async def start(self, folder: Path | None) -> str:
        """Start it, and return Cognee's version. Raises ConfigError if Cognee is not installed."""
        log = None if self._log is None else self._log.open("ab")
        try:
            self._process = await asyncio.create_subprocess_exec(
                self._python,
                str(_WORKER),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log or asyncio.subprocess.DEVNULL,
                cwd=folder,
                env=self._environment,
                limit=1 << 26,
                start_new_session=True,  # a typed Control-C is for this process, which then ends Cognee's
            )
        except OSError as error:
            raise ConfigError(_absent(self._python, error.strerror or str(error))) from error
        finally:
            if log is not None:
                log.close()
        try:
            said = await self._read(_PATIENCE)
        except _Failed as failed:
            raise ConfigError(_absent(self._python, str(failed))) from failed
        version = str(said.get("version", ""))
        if not version.startswith(_KNOWN):
            raise ConfigError(_absent(self._python, f"has cognee {version}" if version else "has no cognee"))
        return version

    async def ready(self) -> None:
        """Wait until it has imported Cognee. Raises ConfigError."""
        try:
            await self._read(_PATIENCE)
        except _Failed as failed:
            raise ConfigError(_absent(self._python, str(failed))) from failed

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Send a command, answer Cognee's questions, and return the result. Raises _Failed."""
        async with self._turn:
            self.busy = True
            self._models.failure = None
            try:
                await self._write({"do": name, "with": arguments})
                while True:
                    said = await self._read(_PATIENCE)
                    if "ask" not in said:
                        break
                    task = asyncio.create_task(self._answer(said))
                    self._answers.add(task)
                    task.add_done_callback(self._answers.discard)
            except (asyncio.CancelledError, _Failed):
                await self.close()  # what it was doing is unknown
                raise
        if "error" in said:
            raise _Failed(said["error"])
        return said["done"]

    async def _answer(self, question: dict[str, Any]) -> None:
        try:
            answer = {"answer": await self._models.answer(question)}
        except Exception as error:  # from the SDK or an embedder; Cognee does not get its text
            self._models.failure = self._models.failure or error
            answer = {"failed": type(error).__name__}
        try:
            await self._write({"ask": question["ask"], **answer})
        except _Failed:  # it has ended, which reading its next line will show
            return

    async def _write(self, content: dict[str, Any]) -> None:
        if self._process is None or self._process.stdin is None or self._process.stdin.is_closing():
            raise _Failed("its process has ended")
        try:
            self._process.stdin.write(json.dumps(content).encode() + b"\n")
            await self._process.stdin.drain()
        except ConnectionError as error:
            raise _Failed("its process has ended") from error

    async def _read(self, patience: float) -> dict[str, Any]:
        """Read a line. While answers to it are under way, Cognee may take its time."""
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            reading = self._process.stdout.readline()
            try:
                line = await asyncio.wait_for(reading, patience)
            except TimeoutError:
                if self._answers:
                    continue
                raise _Failed(f"its process did nothing for {patience:g} seconds") from None
            if not line.endswith(b"\n"):
                raise _Failed(f"its process ended with code {await self._process.wait()}{self._last_words()}")
            content: dict[str, Any] = json_of(line)
            return content

    def _last_words(self) -> str:
        text = self._log.read_text("utf-8", "replace") if self._log and self._log.exists() else ""
        said = [line.strip() for line in text.splitlines() if line.strip()]
        return f", saying: {scrubbed(said[-1])[:200]}" if said else ""

    async def close(self) -> None:
        """End the process. Nothing is lost, since every command that it has answered is in its files."""
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


class _Models:
    """Answers Cognee's questions with a model's answers and vectors. Counts their usage, and keeps failures."""

    def __init__(self, endpoint: Endpoint, embedder: str, dimensions: int, tally: Tally) -> None:
        self._endpoint, self._dimensions, self._tally = endpoint, dimensions, tally
        self._local = embedder_of(embedder) if is_local(embedder) else None
        self._remote = (
            None
            if is_local(embedder)
            else EmbeddingModel(
                embedder, endpoint.url, timeout=endpoint.timeout, max_retries=endpoint.max_retries
            )
        )
        self._client: Any = None
        self.failure: BaseException | None = None
        """The first question of a command that could not be answered."""

    def open(self) -> None:
        """Make the client."""
        openai = need("cognee", "openai")
        self._client = sdk_client(openai.AsyncOpenAI, openai.DefaultAsyncHttpxClient, self._endpoint)

    async def answer(self, question: dict[str, Any]) -> Any:
        """Answer one question."""
        if "embed" in question:
            return await self._embed(question["embed"])
        answer = await self._client.chat.completions.create(model=self._endpoint.model, **question["chat"])
        spent = answer.usage
        self._tally.add(
            None
            if spent is None
            else usage_of(
                prompt=spent.prompt_tokens,
                output=spent.completion_tokens,
                cache_read=getattr(spent.prompt_tokens_details, "cached_tokens", 0),
                model=answer.model or self._endpoint.model,
                provider="openai" if self._endpoint.is_list_priced else None,
            )
        )
        return answer.model_dump(mode="json")

    async def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of texts, and count their cost; an embedder on this machine costs nothing."""
        if self._remote is None:
            assert self._local is not None
            rows = [list(map(float, row)) for row in hashing.whole(self._local(texts))]
        else:
            before = self._remote.tokens
            rows = await self._remote.embed(texts)
            after = self._remote.tokens
            self._tally.add(None if before is None or after is None else self._remote.usage(after - before))
        if any(len(row) != self._dimensions for row in rows):
            raise AgentError(
                f"cognee: the embedder's vectors have {len(rows[0])} numbers; set dimensions={len(rows[0])}"
            )
        return rows

    async def close(self) -> None:
        """Close the connections."""
        for each in (self._client, self._remote):
            if each is not None:
                await each.close()


class _States:
    """Cognee's files, and how they were after the last turns.

    LanceDB writes most of its files once, never changes them, and deletes them when it no longer needs them. There are
    thousands, so a state has links to these, and copies of all others.
    """

    def __init__(self, live: Path, states: Path) -> None:
        self.live, self._states = live, states
        self._place = states / "place"

    def moved(self) -> bool:
        """Whether the folder was somewhere else when Cognee wrote its files."""
        return self._place.exists() and self._place.read_text("utf-8") != str(self.live)

    def keep(self, count: int) -> None:
        """Keep the files as they are after this many turns, in place of the oldest state."""
        self._states.mkdir(exist_ok=True)
        write_whole(self._place, str(self.live))
        part, kept = self._states / "part", self._kept()
        for number in kept[: max(0, len(kept) - _STATES + 1)]:
            shutil.rmtree(part, ignore_errors=True)
            (self._states / str(number)).rename(part)
        _match(self.live, part)
        shutil.rmtree(self._states / str(count), ignore_errors=True)
        part.rename(self._states / str(count))

    def back_to(self, count: int) -> bool:
        """Restore the files as they were after this many turns; remove all of them if that state is not kept."""
        if count not in self._kept():
            self.clear()
            return False
        # Later states have files whose names will be used again.
        for later in ("part", *(number for number in self._kept() if number > count)):
            shutil.rmtree(self._states / str(later), ignore_errors=True)
        shutil.rmtree(self.live)
        _match(self._states / str(count), self.live)
        return True

    def _kept(self) -> list[int]:
        names = [each.name for each in self._states.iterdir()] if self._states.exists() else []
        return sorted(int(name) for name in names if name.isdecimal())

    def drop(self) -> None:
        """Forget all states."""
        shutil.rmtree(self._states, ignore_errors=True)

    def clear(self) -> None:
        """Remove everything."""
        self.drop()
        shutil.rmtree(self.live, ignore_errors=True)
        self.live.mkdir(parents=True)


def _match(source: Path, target: Path) -> None:
    """Give a folder the files of another, with links to those that are written once; those it already has stay."""
    wanted, there = _names(source), _names(target)
    for name in there - wanted:
        (target / name).unlink()
    for name in sorted(wanted):
        if _is_written_once(name) and name in there:
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        _link_or_copy(source / name, target / name)


def _is_written_once(name: str) -> bool:
    return ".lance.db" in name and not name.endswith(".json")  # a table's latest version, as a hint


def _names(folder: Path) -> set[str]:
    start = len(str(folder)) + 1
    found = ((place, files) for place, _, files in os.walk(folder))
    return {os.path.join(place, name)[start:] for place, files in found for name in files}


def _link_or_copy(source: Path, target: Path) -> None:
    if _is_written_once(str(source)):
        try:
            os.link(source, target)
        except OSError:  # not on every file system
            pass
        else:
            return
    shutil.copyfile(source, target)


def _halves_about(heard: Heard, query: str) -> tuple[int, ...]:
    """Return which halves of a turn to forget: both if the message is about it, the second if only the reply is."""
    about = [bool(text) and is_about(text, query) for text in heard.data["said"]]
    return (0, 1) if about[0] else (1,) if about[1] else ()


def _space(user: str | None) -> str:
    """Return the name of a user's dataset, in which Cognee allows no dots and no spaces."""
    return "everybody" if user is None else f"user_{hashlib.sha256(user.encode()).hexdigest()[:24]}"


def _line(text: str) -> str:
    return scrubbed(" ".join(text.split()))[:200]


def _absent(python: str, why: str) -> str:
    return (
        f"agent cognee: {python}: {_line(why)}; make an environment for it (python3 -m venv cognee-env, then "
        "cognee-env/bin/pip install cognee==1.6.5) and set python=cognee-env/bin/python"
    )
