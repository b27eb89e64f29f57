"""Supermemory: facts that Supermemory's cloud learns from every turn, and the turns; a core model answers from them.

Each run has its own namespaces, one for every user, and touches no others. A turn is one document. Supermemory
processes documents in the background; the agent waits for this before it searches. Times are the benchmark's. The key
is read from SUPERMEMORY_API_KEY. Supermemory does not say what a call costs: a reply's usage is the core's, with an
unknown price.

What is forgotten is left out of the documents, and stays so in a resumed run (`forgotten.json` in the run's folder).
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ltm_bench import AgentError, Memory, Turn
from ltm_bench.adapters import (
    Forgotten,
    Patience,
    ServedProduct,
    aware_time,
    bounded,
    fingerprint,
    is_about,
    json_of,
    name_in,
    need,
    scrubbed,
    sendable,
    utterances_in,
    write_whole,
)

_PAGE = 100
"""Documents, chunks or facts listed per request."""

_QUERY = 1000
"""Characters of one query."""

_PROMPT = (
    "Answer the question from the memories below, and from nothing else. Read all of them first; use their times to "
    "work out when things happened, and where they contradict each other, prefer the newer ones. Say that you do not "
    "know if they do not suffice. Be clear and concise, and do not mention the memories themselves."
)
"""What Supermemory's own evaluation says to the model that answers (supermemoryai/memorybench,
src/providers/supermemory/prompts.ts), in our words."""

_POLL = 4.0
"""The longest pause between two polls, in seconds."""


class Document(NamedTuple):
    """What Supermemory is told of a turn."""

    name: str
    """Our id for it, which depends on the content: Supermemory ignores a repetition, but appends anything new."""
    content: str


class Supermemory(ServedProduct):
    """Remembers in Supermemory, separately for every user, and answers through another adapter.

    Args:
        dreaming: How facts are formed: `instant`, from each turn by itself and at once, for an additional charge; or
            `dynamic`, Supermemory's default, from related turns together, some minutes later.
        settings: Those of every `ServedProduct`.
    """

    answers_early = True
    keeps_users = True
    vendor_url = "https://api.supermemory.ai"
    package = "supermemory"
    maker_prompt = _PROMPT

    def __init__(self, *, dreaming: Literal["instant", "dynamic"] = "instant", **settings: Any) -> None:
        super().__init__(**settings)
        self._dreaming = dreaming
        self._users: list[str | None] = []
        self._turns: list[Turn] = []
        """Everything that Supermemory has heard."""
        self._pending: dict[str, set[str]] = {}
        """Documents that may not have been processed yet, by namespace."""
        self._package: Any = None
        self._client: Any = None

    async def open(self, home: Path) -> None:
        """Read the run's users, and what was forgotten; nothing is requested yet."""
        self._package = need("supermemory", "supermemory")
        import httpx

        await super().open(home)
        self._kept_users = home / "users.json"
        self._forgotten = Forgotten(home / "forgotten.json")
        if self._kept_users.exists():
            self._users = json_of(self._kept_users.read_text("utf-8"))
        self._http = bounded(httpx.AsyncClient, timeout=self.endpoint.timeout, follow_redirects=True)
        self._client = self._package.AsyncSupermemory(
            api_key=self.endpoint.key,
            base_url=self.endpoint.url,
            timeout=self.endpoint.timeout,
            max_retries=self.endpoint.max_retries,
            http_client=self._http,
        )

    def _namespace(self, user: str | None) -> str:
        """Return a user's namespace. It is recorded before anything is in it, so that a resumed run finds it."""
        if user not in self._users:
            self._users.append(user)
            write_whole(self._kept_users, json.dumps(self._users))
        return f"{self._name}-{self._users.index(user)}"

    # What Supermemory hears

    async def hear(self, turn: Turn) -> None:
        """Add a turn. Supermemory processes it in the background."""
        self._ledger.begin(turn.message.turn)
        with self.endpoint.explaining():
            await self._tell(turn)
        self._ledger.finish(turn)
        self._turns.append(turn)

    def _document(self, turn: Turn) -> Document | None:
        """Return what Supermemory is told of a turn, without what was forgotten; None for nothing."""
        sides = self._sides(turn)
        if not sides:
            return None
        part = "" if len(sides) == len(_sides(turn)) else f"-{''.join(sides)}"
        content = "\n".join(sides.values())
        return Document(f"{self._name}-{turn.message.turn}-{fingerprint(turn)}{part}", content)

    def _sides(self, turn: Turn) -> dict[str, str]:
        """Return what was said in a turn, by who said it, without what was forgotten."""
        said = fingerprint(turn)
        return {who: text for who, text in _sides(turn).items() if (said, who) not in self._forgotten}

    async def _tell(self, turn: Turn) -> None:
        document = self._document(turn)
        if document is None:
            return
        namespace, at = self._namespace(turn.message.user), utterances_in((turn,))[0].at.isoformat()
        await self._client.add(
            namespace,
            id=document.name,
            content=document.content,
            metadata={"document": document.name, "turn": turn.message.turn, "at": at},
            date=at,
            dreaming=self._dreaming,
        )
        self._pending.setdefault(namespace, set()).add(document.name)

    async def settle(self) -> None:
        """Wait until Supermemory has processed everything."""
        patience = self._patiently()
        while self._pending:
            with self.endpoint.explaining():
                await self._poll()
            if self._pending:
                await self._wait(patience)

    def _patiently(self) -> Patience:
        return Patience(self._patience, first=_POLL / 16, longest=_POLL)

    async def _poll(self) -> None:
        """Drop the documents that have been processed; those that are not listed yet remain."""
        for namespace, names in list(self._pending.items()):
            unseen = set(names)
            async with aclosing(self._listed(namespace, "documents", newest=True)) as documents:
                async for document in documents:
                    name = document.metadata.get("document")
                    if name not in unseen:
                        continue
                    if document.system.status == "failed":
                        self._doubt()
                        raise AgentError("Supermemory failed to process a message; resume the run later")
                    if _processed(document):
                        names.remove(name)
                    unseen.remove(name)
                    if not unseen:
                        break
            if not names:
                del self._pending[namespace]

    async def _wait(self, patience: Patience) -> None:
        """Wait until the next poll. Raises AgentError if patience has run out."""
        # Supermemory deletes a document that failed, so one that is never listed may have to be told again.
        if not await patience.lasts():
            self._doubt()
            raise self.impatient("Supermemory did not finish processing")

    def _doubt(self) -> None:
        """Have a resumed run compare what Supermemory holds with the log: it deletes documents that failed, too."""
        if self._ledger.heard:
            self._ledger.begin(self._ledger.heard[-1].turn)

    async def _listed(self, namespace: str, kind: str, *, newest: bool = False) -> AsyncGenerator[Any]:
        """Iterate over the documents, chunks or memories of a namespace; there are none if it does not exist yet."""
        page, pages = 1, 1
        while page <= pages:
            try:
                found = await self._client.list(
                    namespace,
                    kind,
                    page=page,
                    limit=_PAGE,
                    sort="createdAt",
                    order="desc" if newest else "asc",
                )
            except self._package.NotFoundError:
                return
            rows = getattr(found, kind)
            for row in rows:
                yield row
            page, pages = page + 1, found.pagination.total_pages if rows else 0

    # A resumed run

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        """Delete the documents of all other turns, or everything if these have replaced older facts."""
        with self.endpoint.explaining():
            held = {
                namespace: [document async for document in self._listed(namespace, "documents")]
                for namespace in map(self._namespace, list(self._users))
            }
            good = {
                document.metadata.get("document")
                for documents in held.values()
                for document in documents
                if document.system.status != "failed"
            }
            names = [document and document.name for document in map(self._document, turns)]
            kept = next((n for n, name in enumerate(names) if name and name not in good), len(turns))
            wanted = {name for name in names[:kept] if name}
            for namespace, documents in held.items():
                others = [each.id for each in documents if each.metadata.get("document") not in wanted]
                if others and not await self._delete(namespace, others):
                    await self._start_over()
                    kept = 0
                    break
        self._ledger.cut(kept)
        return kept

    async def _delete(self, namespace: str, documents: Sequence[str]) -> bool:
        """Delete documents with their facts; return False if the namespace may not be as it was before them."""
        if self._dreaming != "instant":  # facts are formed from several documents
            return False
        for document in documents:
            facts = await self._facts_of(namespace, document)
            if any(fact.version > 1 for fact in facts):  # nobody says whether the version before it returns
                return False
        return not (await self._client.documents.delete(namespace, ids=documents)).errors

    async def _facts_of(self, namespace: str, name: str) -> Sequence[Any]:
        """Return what Supermemory learnt from a document, once it has been processed."""
        patience = self._patiently()
        while True:
            try:
                document = await self._client.documents.get(namespace, name, include=["memories"])
            except self._package.NotFoundError:  # it failed, and Supermemory has deleted it
                return ()
            if document.system.status == "failed" or _processed(document):
                return document.memories or ()
            await self._wait(patience)

    async def _start_over(self) -> None:
        """Delete everything, and choose a new name: the old namespaces may not be free at once."""
        for user in self._users:
            try:
                await self._client.namespaces.delete(self._namespace(user))
            except self._package.NotFoundError:
                continue
        (self._home / "name").unlink()
        self._name = name_in(self._home)

    async def resumed(self, turns: Sequence[Turn]) -> None:
        """Wait for what was being processed when the run stopped."""
        self._turns = list(turns)
        self._pending = {}
        for turn in turns:
            if (document := self._document(turn)) is not None:
                self._pending.setdefault(self._namespace(turn.message.user), set()).add(document.name)

    # What it knows

    async def find(self, query: str, limit: int, user: str | None) -> Sequence[Memory]:
        """Return the facts and passages that Supermemory finds for a user, nearest first."""
        query = sendable(query).strip()[:_QUERY]
        if not query or user not in self._users:
            return []
        with self.endpoint.explaining():
            try:
                found = await self._client.search(
                    self._namespace(user),
                    query=query,
                    limit=limit,
                    search_mode="hybrid",
                    include={"documents": True},
                )
            except self._package.NotFoundError:  # nothing is there
                return []
            return [_found(result, user) for result in found.results[:limit]]

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over all facts and passages of all users."""
        found: list[Memory] = []
        with self.endpoint.explaining():
            for user in self._users:
                namespace = self._namespace(user)
                about = {each.id: each.metadata async for each in self._listed(namespace, "documents")}
                async for fact in self._listed(namespace, "memories"):
                    found.append(_memory(fact.memory, fact.metadata, fact.id, user))
                async for chunk in self._listed(namespace, "chunks"):
                    known = {**about.get(chunk.document_id, {}), **chunk.metadata}
                    found.append(_memory(chunk.content, known, chunk.id, user))
        for memory in found:
            yield memory

    async def forget(self, query: str) -> int:
        """Forget the facts that mention something, and replace the documents that do by what else they say."""
        await self.settle()
        if not self._ledger.heard:
            return 0
        gone = 0
        self._doubt()  # if we are killed here, a resumed run deletes the rest
        with self.endpoint.explaining():
            for namespace in map(self._namespace, list(self._users)):
                facts = [
                    each.id
                    async for each in self._listed(namespace, "memories")
                    if is_about(each.memory, query)
                ]
                if facts:
                    done = await self._client.memories.forget(namespace, ids=facts)
                    self._check(done.errors)
                    gone += len(facts)
            for turn in self._turns:
                gone += await self._leave_out(turn, query)
        self._ledger.cut(len(self._ledger.heard))
        return gone

    async def _leave_out(self, turn: Turn, query: str) -> int:
        """Replace a turn's document if it is about something; return how many of its two sides are left out."""
        old, said = self._document(turn), fingerprint(turn)
        if old is None or not is_about(old.content, query):
            return 0
        sides = self._sides(turn)
        about = [who for who, text in sides.items() if is_about(text, query)] or list(sides)
        self._forgotten.add((said, who) for who in about)
        await self._tell(turn)  # first, so that nothing else is lost if we are killed here
        done = await self._client.documents.delete(self._namespace(turn.message.user), ids=[old.name])
        self._check(done.errors)
        return len(about)

    def _check(self, errors: Sequence[Any]) -> None:
        """Raise AgentError if something could not be deleted."""
        if errors:
            why = scrubbed(" ".join(errors[0].error.split()), [self.endpoint.key])
            raise AgentError(f"Supermemory did not forget everything ({why}); resume the run to try again")


def _sides(turn: Turn) -> dict[str, str]:
    """Return what was said in a turn, by who said it; a part of a session has one side."""
    spoken = [sendable(each.named) for each in utterances_in((turn,))]
    if turn.session is not None:
        return {"Session": "\n".join(spoken)} if spoken else {}
    return {text.partition(":")[0]: text for text in spoken}


def _processed(document: Any) -> bool:
    """Whether a document can be found, and its facts have been formed."""
    return (document.system.status, document.system.dreaming_status) == ("done", "done")


def _found(result: Any, user: str | None) -> Memory:
    source = result.included and result.included.document
    known = {**(source.metadata if source else {}), **result.metadata}
    memory = _memory(result.chunk if result.memory is None else result.memory, known, result.id, user)
    return replace(memory, relevance=float(result.similarity))


def _memory(text: Any, known: dict[str, Any], name: str, user: str | None) -> Memory:
    if not isinstance(text, str):
        raise ValueError(f"a memory without a text: {text!r}")
    turn, at = known.get("turn"), known.get("at")
    return Memory(
        text,
        aware_time(at if isinstance(at, str) else None),
        int(turn) if isinstance(turn, int | float) else None,
        id=name,
        user=user,
    )
