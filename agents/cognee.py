"""Cognee: a model builds a graph from every turn; a core model gets the passages and facts nearest to a message.

Cognee runs in its own process, with a Python that has it (`python`), since it needs another version of openai. Its
files are in the run's folder, and every user has separate databases. Its requests for a model and for vectors are made
here: with `model`, from an OpenAI-compatible server; the same model answers unless `core` names another. After every
turn the state of the files is recorded; a resumed run goes back to one of the last three states, and tells everything
again if none of them fits.

The tokens of extraction are part of a reply's usage; those of observed turns are part of the next reply's. Embeddings
are reported separately.
"""

import os
import sys
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, Finding, Memory, Turn
from ltm_bench.adapters import (
    ConfigError,
    ExtractingProduct,
    Forgotten,
    KeptFolder,
    ProcessFailed,
    ProductProcess,
    halves_about,
    is_about,
    keep_table,
    scrubbed,
    sendable,
    stamp,
    user_name,
    utterances_in,
)

_KNOWN = "1.6."
"""The versions of Cognee that this adapter knows."""

_WORKER = Path(__file__).with_name("_cognee_worker.py")


class Cognee(ExtractingProduct):
    """Remembers passages and what Cognee extracts, separately for every user, and answers through another adapter.

    Half of what it recalls for a message are passages.

    Args:
        python: The Python of an environment with cognee 1.6; default: this one.
        settings: Those of every `ExtractingProduct`; the model must write JSON to a schema.
    """

    def __init__(self, *, python: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        # The process has a folder of its own. Not resolved: the link in an environment says which one it is.
        self._python = os.path.abspath(python) if python else sys.executable
        self._process: ProductProcess | None = None

    # Cognee's process, and its files

    async def open(self, home: Path) -> None:
        """Start Cognee's process, which takes some seconds."""
        await super().open(home)
        self._files = KeptFolder(home.resolve() / "cognee", home.resolve() / "states", _is_written_once)
        self._forgotten = Forgotten(home / "forgotten.json")
        if self._files.moved():  # Cognee's databases contain the names of their folders
            self._files.clear()
            self._ledger.cut(0)
        self.connect()
        await self._start()

    async def _start(self) -> None:
        keep_table(self._home / "tokens")
        place = self._files.live
        place.mkdir(parents=True, exist_ok=True)
        # otherwise it would read one in the working directory, or in a folder above it
        (self._home / "no.env").touch()
        environment = {
            **{name: value for name, value in os.environ.items() if name in _PASSED_ON},
            **_SETTINGS,
            "COGNEE_ENV_FILE": str(self._home.resolve() / "no.env"),
            "COGNEE_LOGS_DIR": str(place / "logs"),
            "COGNEE_REPOS_DIR": str(place / "repositories"),
            "CACHE_ROOT_DIRECTORY": str(place / "cache"),
            "DATA_ROOT_DIRECTORY": str(place / "data"),
            "EMBEDDING_DIMENSIONS": str(self._embedder.dimensions),
            "HOME": str(place),
            "SYSTEM_ROOT_DIRECTORY": str(place / "system"),
            "TIKTOKEN_CACHE_DIR": str(self._home.resolve() / "tokens"),
        }
        log = self._home / "cognee.log"
        self._process = ProductProcess(self._python, _WORKER, environment, log, self._answered)
        try:
            # Not in `place`, which is removed when a state is restored.
            await self._begin(self._process, self._home)
            with self._absent():
                await self._process.read()  # it has imported Cognee
        except BaseException:  # including cancellation
            await self._process.close()
            raise

    async def _begin(self, process: ProductProcess, folder: Path | None) -> str:
        """Start a process, and return its version of Cognee. Raises ConfigError if this adapter knows none in it."""
        with self._absent():
            version = str((await process.start(folder)).get("version", ""))
            if not version.startswith(_KNOWN):
                raise ProcessFailed(f"has cognee {version}" if version else "has no cognee")
        return version

    @contextmanager
    def _absent(self) -> Iterator[None]:
        """Turn a failure inside the block into a ConfigError that says how to get Cognee."""
        try:
            yield
        except ProcessFailed as failed:
            raise ConfigError(
                f"agent cognee: {self._python}: {_line(str(failed))}; make an environment for it (python3 -m venv "
                "cognee-env, then cognee-env/bin/pip install cognee==1.6.5) and set python=cognee-env/bin/python"
            ) from failed

    async def _answered(self, question: Mapping[str, Any]) -> Any:
        """Answer a question of Cognee's: with vectors, or with a model's answer."""
        if "embed" in question:
            rows = await self._embedder.embed(question["embed"])
            if wrong := self._embedder.misfit(rows):
                raise AgentError(f"cognee: {wrong}")
            return rows
        answer = await self._client.chat.completions.create(model=self.endpoint.model, **question["chat"])
        self.count(answer)
        return answer.model_dump(mode="json")

    async def _call(self, name: str, **arguments: Any) -> Any:
        """Have Cognee do something. Raises AgentError."""
        process = self._process
        assert process is not None
        try:
            answer = await process.call(name, arguments)
        except ProcessFailed as failed:
            if process.failure is not None:
                raise self.endpoint.explain(process.failure) from failed
            raise AgentError(f"cognee: {name} failed: {_line(str(failed))}; resume the run later") from failed
        if process.failure is not None:  # and Cognee continued without the answer
            raise self.endpoint.explain(process.failure)
        return answer

    async def _tell(self, number: int, user: str | None, said: Sequence[str]) -> str | None:
        """Have Cognee store the halves of a turn that are not empty; return the document, if any."""
        text = "\n".join(filter(None, said))
        if not text:
            return None
        document = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self._name}/{number}/{text}"))
        await self._call("remember", space=user_name(user), document=document, text=text)
        return document

    # The agent

    async def hear(self, turn: Turn) -> None:
        """Have Cognee store a turn, and extract what it says."""
        self._ledger.begin(turn.message.turn)
        message, reply = turn.message, turn.reply.text.strip()
        said = [
            f"[{stamp(message.at)}] User: {sendable(message.text)}",
            f"Assistant: {sendable(reply)}" if reply else "",
        ]
        if turn.session is not None:  # as its record has it: with its speakers and dates
            spoken = utterances_in([turn])
            said = ["\n".join(f"[{stamp(each.at)}] {sendable(each.named)}" for each in spoken), ""]
        said = self._forgotten.left(turn, said)
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

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the passages and facts that Cognee's hybrid search finds for a user."""
        if not (query := sendable(query).strip()) or user not in self._users():
            return []
        found = await self._call("find", space=user_name(user), query=query, limit=limit)
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
            for each in await self._call("listed", space=user_name(user)):
                yield self._memory(each, user)

    async def forget(self, query: str) -> int:
        """Delete the passages and facts about something.

        Cognee deletes whole documents, with everything that it derived from them alone. If only the reply was about it,
        the message is told again.
        """
        count, gone = 0, set[str]()
        heard = self._ledger.heard
        spoken = {each.data["document"] for each in heard if halves_about(each.data["said"], query)}
        for user in self._users():
            found = await self._call("listed", space=user_name(user))
            for each in found:
                if is_about(each["text"], query):
                    count += 1
                    gone |= spoken.intersection(each["documents"]) or set(each["documents"])
        cut = [each for each in heard if each.data["document"] in gone]
        if not cut:
            return count
        halves = {each.said: halves_about(each.data["said"], query) or (0, 1) for each in cut}
        self._forgotten.add((said, half) for said, some in halves.items() for half in some)
        # After a kill here, a resumed run tells everything again, except what is left out.
        self._files.drop()
        self._ledger.begin(cut[-1].turn)
        for each in cut:
            user = each.data["user"]
            await self._call("forget", space=user_name(user), document=each.data["document"])
            kept = [
                text if half not in halves[each.said] else "" for half, text in enumerate(each.data["said"])
            ]
            each.data["said"], each.data["document"] = kept, await self._tell(each.turn, user, kept)
        self._files.keep(len(heard))
        self._ledger.cut(len(heard))  # rewritten
        return count

    async def examine(self) -> Sequence[Finding]:
        """Check whether Cognee is installed beside `python`."""
        process = ProductProcess(self._python, _WORKER, os.environ, None, self._answered)
        try:
            found = await self._begin(process, None)
        except ConfigError as error:
            return [Finding(False, str(error))]
        finally:
            await process.close()
        return [Finding(True, f"cognee {found} is installed for {self._python}")]

    async def close(self) -> None:
        """End Cognee's process, and close the connections."""
        if self._process is not None:
            await self._process.close()
        await super().close()


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


def _is_written_once(name: str) -> bool:
    """Whether LanceDB never changes a file once it has been written."""
    return ".lance.db" in name and not name.endswith(".json")  # a table's latest version, as a hint


def _line(text: str) -> str:
    return scrubbed(" ".join(text.split()))[:200]
