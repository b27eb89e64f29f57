"""Long-term memory in a vector store: everything that was said, in passages, in Chroma; the nearest ones are recalled.

Works without a network and without keys: a local embedder, and an extractive core that answers by quoting what it
recalled. With `core="openai_chat:gpt-4o"` a model answers instead, from one bounded prompt per turn. Replies depend on
the conversation alone: Chroma keeps passages and vectors, and the ranking is an exact scan, because its own index is
approximate (a graph search missed a true neighbour in one query of eight, even with `ef_search` as large as the store).

What embedding costs is not part of a reply's usage where a core model answers; it is about a hundredth of that.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ltm_bench import embedding
from ltm_bench.agent import Agent, Memory
from ltm_bench.clock import spoken_duration, stamp
from ltm_bench.dropins import make_agent
from ltm_bench.errors import CannotResume, ConfigError
from ltm_bench.messages import Message, Reply, Turn, Usage
from ltm_bench.remote import Endpoint
from ltm_bench.tokens import counter

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection
    from openai import AsyncOpenAI

    from ltm_bench.embedding import Vectors

_PASSAGE_CHARACTERS = 240
_WRITE_AT_ONCE = 256
"""Passages per write: a write costs about 15 ms, however small. What a crash loses, `restore` is given again."""

_EMBED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a turn, small enough to be about one thing."""

    turn: int
    part: int
    speaker: str
    at: datetime
    text: str

    @property
    def key(self) -> str:
        """Return its name in the store."""
        return f"{self.turn:08}.{self.part:04}"


class VectorMemory(Agent):
    """Remembers everything in a vector store, and answers from what is near to the question."""

    free = True

    def __init__(
        self,
        *,
        embedder: str = "local",
        core: str = "extractive",
        base_url: str | None = None,
        memories: int = 50,
        recent: int = 4,
        window: int = 8192,
    ) -> None:
        """Set up.

        Args:
            embedder: `local`, or `openai:` and the name of an embedding model.
            core: `extractive`, or another adapter and its model, e.g. `openai_chat:gpt-4o`.
            base_url: where the API of the embedder and of the core is, if not at the provider's.
            memories: how many passages are recalled for a message.
            recent: how many of the newest turns the core sees word for word.
            window: tokens of the prompt that the core gets, its reply not counted.
        """
        for name, value, least in (("memories", memories, 1), ("recent", recent, 0), ("window", window, 256)):
            if value < least:
                raise ConfigError(f"vector_memory: {name} = {value}, but at least {least} is needed")
        provider, _, model = embedder.partition(":")
        if embedder != "local" and (provider != "openai" or not model):
            raise ConfigError(
                f"vector_memory: embedder = {embedder!r} is not known; use 'local', or 'openai:' and a model, "
                "e.g. 'openai:text-embedding-3-small'"
            )
        self._embedder = embedder
        self._remote = None if embedder == "local" else OpenAIEmbedder(model, base_url)
        self._core = None if core == "extractive" else Core(core, base_url, window)
        # The runner asks the instance; a model of anybody's is not free.
        vars(self)["free"] = self._remote is None and self._core is None
        self._limit = memories
        self._recent: deque[Turn] = deque(maxlen=recent)
        self._store = Store(embedding.NAME if embedder == "local" else embedder)
        self._restored = False

    async def open(self, home: Path) -> None:
        """Open the store in `home`."""
        self._store.open(home)
        self._home = home

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Keep what these turns vouch for, drop what they do not, and add what is missing."""
        stored = self._store.load()
        passages: list[Passage] = []
        for turn in turns:
            passages += split_turn(turn)
            self._recent.append(turn)
        missing = self._store.keep(stored, passages)
        vectors = await self._embed([passage.text for passage in missing])
        self._store.adopt(passages, stored, dict(zip((p.key for p in missing), vectors, strict=True)))
        self._restored = True

    async def observe(self, turn: Turn) -> None:
        """Remember a turn."""
        if not self._restored:  # a new conversation in a folder where an older one was broken off
            await self.restore(())
        passages = split_turn(turn)
        self._store.add(passages, await self._embed([passage.text for passage in passages]))
        self._recent.append(turn)

    async def reply(self, message: Message) -> Reply:
        """Answer from memory, and remember the turn."""
        if not self._restored:
            await self.restore(())
        if self._core is None:
            usage = None if self._remote is None else self._remote.settle()
            reply = Reply(await self._extract(message), usage)
        else:
            found = await self._search(question_in(message.text) or message.text, self._limit)
            prompt = self._core.prompt(message, [passage for passage, _ in found], self._recent)
            reply = await self._core.reply(self._home / "core", replace(message, text=prompt))
        await self.observe(Turn(message, reply))
        return reply

    async def _extract(self, message: Message) -> str:
        question = question_in(message.text)
        if not question:
            return "Noted."
        found = await self._search(question, self._limit)
        spoken_of = time_spoken_of(question, message.at)
        if spoken_of is not None:
            known = {passage for passage, _ in found}
            around = self._store.around(spoken_of, self._limit)
            found += [(passage, 0.0) for passage in around if passage not in known]
        return extract(message, [passage for passage, _ in found])

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        """Return the passages nearest to `query`, the nearest first."""
        found = await self._search(query, limit)
        return [Memory(passage.text, passage.at, passage.turn, score) for passage, score in found]

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that a reply could use: a full window, and the longest reply of the core."""
        if self._core is not None:
            return self._core.reserve(message)
        return None if self._remote is None else self._remote.usage(more=2 * len(message.text))

    async def close(self) -> None:
        """Write what is not yet written, and let go of the files."""
        try:
            self._store.close()
        finally:
            if self._remote is not None:
                await self._remote.close()

    async def _search(self, query: str, limit: int) -> list[tuple[Passage, float]]:
        return self._store.nearest((await self._embed([query]))[0], limit)

    async def _embed(self, texts: list[str]) -> Vectors:
        if self._remote is None or not texts:
            return embedding.embed(texts)
        return await self._remote.embed(texts)


# What is stored


def split_turn(turn: Turn) -> list[Passage]:
    """Cut a turn into passages, those of the message first."""
    said = [("user", text) for text in split(turn.message.text)]
    said += [("agent", text) for text in split(turn.reply.text)]
    return [
        Passage(turn.message.turn, part, speaker, turn.message.at, text)
        for part, (speaker, text) in enumerate(said)
    ]


def split(text: str) -> Iterator[str]:
    """Cut a text into passages: its lines, and long lines between sentences. JSON stays in one piece."""
    text = text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be stored
    if text.lstrip().startswith(("[", "{")):
        yield text.strip()
        return
    for line in text.splitlines():
        passage = ""
        for sentence in sentences(line):
            if passage and len(passage) + len(sentence) >= _PASSAGE_CHARACTERS:
                yield passage
                passage = sentence
            else:
                passage = f"{passage} {sentence}".strip()
        if passage:
            yield passage


Stored = dict[str, tuple[str, str, Any]]
"""Passages on disk by key: the text, when and by whom it was said, the vector."""


class Store:
    """Passages in Chroma, and their vectors once more in memory, where they can be ranked exactly."""

    def __init__(self, embedder: str) -> None:
        self._name = embedder
        self._client: Any = None  # Chroma's own type hides close()
        self._unwritten: list[int] = []
        self._passages: list[Passage] = []

    def open(self, home: Path) -> None:
        """Open or create the collection. A collection of another embedder's is of no use, and goes."""
        import chromadb
        import numpy as np
        from chromadb.config import Settings

        path = home.resolve() / "chroma"
        self._where = path
        self._vectors: Vectors = np.zeros((0, 0), dtype=np.float32)
        self._client = chromadb.PersistentClient(
            path=str(path), settings=Settings(anonymized_telemetry=False)
        )
        self._collection = self._open_collection(self._client)

    def _open_collection(self, client: Any) -> Collection:
        for known in client.list_collections():
            if known.name == "passages" and (known.metadata or {}).get("embedder") != self._name:
                client.delete_collection("passages")
        # The graph index is not asked anything, so it is kept as small as it can be: that halves a write. Without
        # embedding_function=None Chroma would fetch a model.
        collection: Collection = client.get_or_create_collection(
            "passages",
            metadata={"embedder": self._name},
            embedding_function=None,
            configuration={
                "hnsw": {"space": "ip", "max_neighbors": 4, "ef_construction": 8, "num_threads": 1}
            },
        )
        return collection

    def load(self) -> Stored:
        """Return what is on disk."""
        stored: Stored = {}
        try:
            for offset in range(0, self._collection.count(), 1000):
                page: Any = self._collection.get(
                    limit=1000, offset=offset, include=["metadatas", "embeddings"]
                )
                rows = zip(page["ids"], page["metadatas"], page["embeddings"], strict=True)
                stored.update({key: (data["text"], data["said"], vector) for key, data, vector in rows})
        except Exception as error:  # Chroma has no base class for what its core raises
            raise CannotResume(
                f"the vector store in {self._where} cannot be read ({type(error).__name__}: {error}); delete that "
                "folder and resume: it will be rebuilt from the log"
            ) from error
        return stored

    def keep(self, stored: Stored, passages: Sequence[Passage]) -> list[Passage]:
        """Delete from disk whatever is not exactly one of these passages; return those that are missing."""
        wanted = {p.key: (p.text, _said(p)) for p in passages}
        gone = [key for key, (text, said, _) in stored.items() if wanted.get(key) != (text, said)]
        for start in range(0, len(gone), 1000):
            self._collection.delete(ids=gone[start : start + 1000])
        for key in gone:
            del stored[key]
        return [passage for passage in passages if passage.key not in stored]

    def adopt(
        self,
        passages: Sequence[Passage],
        stored: Stored,
        added: dict[str, Any],
    ) -> None:
        """Hold exactly these passages from now on; those in `added` are written."""
        import numpy as np

        self._passages = []
        self._unwritten = []
        self._vectors = np.zeros((0, 0), dtype=np.float32)
        vectors = [added[p.key] if p.key in added else stored[p.key][2] for p in passages]
        if vectors:
            self._append(passages, np.array(vectors, dtype=np.float32))
        self._unwritten = [i for i, passage in enumerate(passages) if passage.key in added]
        self.write()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Take up a turn's passages. They are on disk after some more turns, or after `close`."""
        if passages:
            self._append(passages, vectors)
            self._unwritten += range(len(self._passages) - len(passages), len(self._passages))
            if len(self._unwritten) >= _WRITE_AT_ONCE:
                self.write()

    def _append(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        import numpy as np

        before, after = len(self._passages), len(self._passages) + len(passages)
        if after > len(self._vectors):
            grown = np.zeros((max(1024, 2 * after), vectors.shape[1]), dtype=np.float32)
            grown[:before] = self._vectors[:before] if before else 0
            self._vectors = grown
        self._vectors[before:after] = vectors
        self._passages += passages

    def write(self) -> None:
        """Bring what is not yet on disk there."""
        for start in range(0, len(self._unwritten), 1000):
            rows = self._unwritten[start : start + 1000]
            chosen = [self._passages[row] for row in rows]
            self._collection.upsert(
                ids=[p.key for p in chosen],
                embeddings=self._vectors[rows],
                # Not as documents: Chroma would index every three letters of them, which doubles the time.
                metadatas=[{"text": p.text, "said": _said(p)} for p in chosen],
            )
        self._unwritten = []

    def nearest(self, query: Any, limit: int) -> list[tuple[Passage, float]]:
        """Return the passages nearest to a vector, the nearest first, equals in the order in which they were said."""
        import numpy as np

        count = len(self._passages)
        if not count:
            return []
        scores = self._vectors[:count] @ query
        best = np.arange(count)
        if limit < count:  # whatever scores as much as the last one that fits must be there to be compared
            best = np.flatnonzero(scores >= np.partition(scores, count - limit)[count - limit])
        best = best[np.argsort(-scores[best], kind="stable")][:limit]
        return [(self._passages[row], float(scores[row])) for row in best]

    def around(self, at: datetime, limit: int) -> list[Passage]:
        """Return the passages that were stored next to a time, in order."""
        middle = bisect_left(self._passages, at, key=lambda passage: passage.at)
        return self._passages[max(0, middle - limit // 2) : middle + (limit + 1) // 2]

    def close(self) -> None:
        """Write the rest and let go of the files."""
        if self._client is not None:
            client, self._client = self._client, None
            try:
                self.write()
            finally:
                client.close()


def _said(passage: Passage) -> str:
    return f"{passage.at.isoformat()} {passage.speaker}"


class OpenAIEmbedder:
    """Embeds through OpenAI's API, or another server that speaks its language."""

    def __init__(self, model: str, base_url: str | None) -> None:
        self._endpoint = Endpoint(
            model=model,
            base_url=base_url,
            url_variable="OPENAI_BASE_URL",
            vendor_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            timeout=60,
            max_retries=4,
        )
        self._client: AsyncOpenAI | None = None
        self._spent = 0

    def usage(self, more: int = 0) -> Usage:
        """Return what was embedded since the last reply, and so many tokens more."""
        vendor = "openai" if self._endpoint.is_list_priced else None
        return Usage(uncached=self._spent + more, model=self._endpoint.model, provider=vendor)

    def settle(self) -> Usage:
        """Return what was embedded since the last reply, and count anew."""
        usage, self._spent = self.usage(), 0
        return usage

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text."""
        import openai

        if self._client is None:
            place = self._endpoint
            self._client = openai.AsyncOpenAI(
                api_key=place.key, base_url=place.url, timeout=place.timeout, max_retries=place.max_retries
            )
        rows: list[list[float]] = []
        try:
            for start in range(0, len(texts), _EMBED_AT_ONCE):
                batch = list(texts[start : start + _EMBED_AT_ONCE])
                answer = await self._client.embeddings.create(
                    input=batch, model=self._endpoint.model, encoding_format="float"
                )
                rows += [item.embedding for item in sorted(answer.data, key=lambda item: item.index)]
                self._spent += answer.usage.prompt_tokens
            if len(rows) != len(texts):
                raise ValueError(f"{len(rows)} vectors for {len(texts)} texts")
            return embedding.whole(rows)
        except openai.APIStatusError as error:
            raise self._endpoint.rejected(error.status_code, error.message) from error
        except openai.APITimeoutError as error:
            raise self._endpoint.timed_out() from error
        except openai.APIConnectionError as error:
            raise self._endpoint.unreachable(error.__cause__ or error) from error
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
            raise self._endpoint.unreadable(str(error)) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()


# A model as the core

_INSTRUCTIONS = (
    "You are in one long conversation with a user. You do not see all of it: below are passages from it that may "
    "matter now, oldest first, each with its time, then the latest turns, then the user's new message. Where passages "
    "contradict each other, the latest one holds. Answer the new message, and it alone, as the conversation demands."
)


class Core:
    """Another adapter that answers from a prompt. It is made anew for every turn, so that it remembers nothing."""

    def __init__(self, name: str, base_url: str | None, window: int) -> None:
        self._adapter, _, model = name.partition(":")
        self._settings = {"model": model} if model else {}
        if base_url is not None:
            self._settings["base_url"] = base_url
        self._window = window
        self._count = counter().count
        self._new()  # a wrong setting shows at once

    def _new(self) -> Agent:
        return make_agent(self._adapter, self._settings)

    async def reply(self, home: Path, prompt: Message) -> Reply:
        """Answer one prompt."""
        agent = self._new()
        home.mkdir(parents=True, exist_ok=True)
        await agent.open(home)
        try:
            return await agent.reply(prompt)
        finally:
            await agent.close()

    def reserve(self, message: Message) -> Usage | None:
        """Return the most that a prompt which fills the window and its reply could use."""
        return self._new().reserve(replace(message, text=" a" * max(self._window, self._count(message.text))))

    def prompt(self, message: Message, memories: Sequence[Passage], recent: Iterable[Turn]) -> str:
        """Compose what the model sees, within the window: half of what is left for the newest turns, then memories."""
        asked = f"# The new message, {stamp(message.at)}\n{message.text}"
        left = self._window - self._count(_INSTRUCTIONS) - self._count(asked) - 40
        latest: list[str] = []
        shown: set[int] = set()
        for turn in reversed(list(recent)):
            said = f"User: {turn.message.text}\nYou: {turn.reply.text}"
            if (cost := self._count(said) + 1) > left // 2:
                break
            left -= cost
            latest.insert(0, said)
            shown.add(turn.message.turn)
        lines: list[tuple[Passage, str]] = []
        for passage in memories:
            if passage.turn in shown:
                continue
            age = spoken_duration(message.at - passage.at)
            who = "User" if passage.speaker == "user" else "You"
            line = f"[{stamp(passage.at)}, {age} ago] {who}: {passage.text}"
            if (cost := self._count(line) + 1) <= left:
                left -= cost
                lines.append((passage, line))
        lines.sort(key=lambda pair: pair[0].key)
        blocks = [_INSTRUCTIONS]
        if lines:
            blocks.append("# From earlier in the conversation\n" + "\n".join(line for _, line in lines))
        if latest:
            blocks.append("# The latest turns\n" + "\n".join(latest))
        return "\n\n".join([*blocks, asked])


# The extractive core: no model, only what was said. It knows English a little, and nothing else.

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9¡¿])")
_ABBREVIATED = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e)|\b[A-Z])\.$|^[QA]:.*\?$")
_REQUESTS = frozenset(
    "answer describe enumerate express give list name provide quote recall remind repeat reply respond return say "
    "send show state summarise summarize tell write".split()
)
_BEFORE_REQUEST = frozenset("please now then so and ok okay well first finally next kindly".split())
_POLITE = re.compile(r"^(?:can|could|would|will) you (?:please |kindly )?(\w+)")
_INSTRUCTION = re.compile(
    r"^(?:(?:please|kindly|now|also|and|can you|could you|would you|will you),? )*"
    r"(?:add|bring|buy|change|get|include|note|put|remember|set|take)\b",
    re.IGNORECASE,
)
# What a question says about the asking and about the form of its answer, not about what is asked.
_ABOUT_ASKING = frozenset(
    map(
        embedding.stem,
        "tell told say said talk mention mentioned remember recall recalled remind repeat know give list json array "
        "string strings format order chronological answer answers reply respond express ago minute minutes hour hours "
        "day days week weeks month months earlier before conversation all every each exactly single element key "
        "object provide question told quote".split(),
    )
)
_PERSONAL = frozenset("i i'm i've i'd i'll me my mine myself we we're we've us our ours".split())
_UNITS = {"minute": 1, "hour": 60, "day": 1440, "week": 10080, "month": 43200}
_NUMBERS = {
    name: value
    for value, names in enumerate(
        "zero,a an one,two couple,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,"
        "sixteen,seventeen,eighteen,nineteen,twenty".split(",")
    )
    for name in names.split()
}
_AMOUNT = re.compile(rf"\b(\d+|{'|'.join(_NUMBERS)})\s+(?:of\s+)?({'|'.join(_UNITS)})s?\b")
_UNKNOWN = "I do not remember that."


def sentences(text: str) -> list[str]:
    """Cut a line into sentences; `Q: … A: …` stays together."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text.strip()):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {piece}"
        elif piece:
            found.append(piece)
    return found


def asks(sentence: str) -> bool:
    """Say whether a sentence wants an answer: a question, or a request to say something."""
    lowered = sentence.lower().strip(" \"'“”‘’()*-")
    if lowered.startswith(("q:", "a:")):
        return False
    if polite := _POLITE.match(lowered):
        return polite[1] in _REQUESTS
    if lowered.endswith("?"):
        return True
    said = [word for word in embedding.words(lowered) if word not in _BEFORE_REQUEST]
    return bool(said) and said[0] in _REQUESTS and not lowered.endswith(":")


def question_in(text: str) -> str:
    """Return the sentences of a message that want an answer; an empty string if it only states something.

    A question between statements is part of what is told (a joke, a story), unless it is about the speaker.
    """
    said = [sentence for line in text.splitlines() for sentence in sentences(line)]
    wanting = [asks(sentence) for sentence in said]
    found = []
    for i, sentence in enumerate(said):
        told = ": " in sentence or not all(wanting[:i])
        rhetorical = sentence.rstrip("\"'”’)* ").endswith("?") and told and not all(wanting[i:])
        if wanting[i] and not (rhetorical and not is_personal(sentence)):
            found.append(sentence)
    return " ".join(found)


def statement_in(passage: str) -> str:
    """Return a passage without the questions and requests at its end, which say nothing themselves."""
    said = sentences(passage)
    while said and asks(said[-1]):
        said.pop()
    return " ".join(said)


def time_spoken_of(question: str, now: datetime) -> datetime | None:
    """Return the time that `3 hours and 5 minutes ago` or `yesterday` means; None if no such thing is said."""
    lowered = question.lower()
    before, ago, _ = lowered.partition(" ago")
    if ago:
        said = _AMOUNT.findall(before)
        minutes = sum((int(n) if n.isdigit() else _NUMBERS[n]) * _UNITS[unit] for n, unit in said)
        return now - timedelta(minutes=minutes) if said else None
    return now - timedelta(days=1) if "yesterday" in lowered else None


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that was said and may answer the question."""

    passage: Passage
    said: str
    matched: frozenset[str]
    worth: float


def extract(message: Message, passages: Sequence[Passage]) -> str:
    """Answer a message that asks something from these passages, the nearest first."""
    question = question_in(message.text)
    asked = set(embedding.words(question))
    as_json = not asked.isdisjoint({"json", "array"})
    own = [line.rpartition("A: ")[2].strip() for line in message.text.splitlines() if "A: " in line]
    if own:  # the message brings what it asks for
        return json.dumps(own, ensure_ascii=False) if as_json else "\n".join(own)
    focus = focus_of(question)
    spoken_of = time_spoken_of(question, message.at)
    candidates = list(candidates_for(question, focus, passages))
    if spoken_of is None or any(each.matched for each in candidates):
        candidates = [each for each in candidates if each.matched]
    best = max((each.worth for each in candidates), default=0.0)
    if not candidates or (best < 0.34 and spoken_of is None):
        return _UNKNOWN
    in_order = sorted(candidates, key=lambda each: each.passage.key)
    if spoken_of is not None:
        alike = [each for each in in_order if each.worth >= best / 2]
        return _quoted(min(alike, key=lambda each: abs(each.passage.at - spoken_of)), message.at, question)
    if as_json or not asked.isdisjoint({"list", "all", "every", "each", "everything"}):
        alike = [each for each in in_order if each.worth >= 0.75 * best]
        if as_json:
            numbers = not asked.isdisjoint({"many", "numbers", "count", "counts", "quantities", "amounts"})
            values = [number_in(each.said) if numbers else phrase(each.said, focus) for each in alike]
            return json.dumps(list(dict.fromkeys(v for v in values if v is not None)), ensure_ascii=False)
        return "You told me: " + "; ".join(f"“{said}”" for said in dict.fromkeys(each.said for each in alike))
    first = next(each for each in candidates if each.worth == best)
    # What was said later about the same thing replaces what was said before, unless the question wants the old.
    same = [each for each in in_order if each.matched >= first.matched and each.worth >= 0.9 * best]
    old = not asked.isdisjoint({"first", "original", "originally", "initially"})
    return _quoted(same[0 if old else -1], message.at, question)


def focus_of(question: str) -> dict[str, float]:
    """Return the words of a question that say what it is about, each with its weight."""
    said = sentences(question)
    about = [each for each in said if not re.search(r"\bjson\b|\bformat\b", each, re.IGNORECASE)] or said
    found = [word for each in about for word in embedding.content_words(each) if word not in _ABOUT_ASKING]
    return {word: embedding.weight(word) for word in dict.fromkeys(found)}


def candidates_for(
    question: str, focus: dict[str, float], passages: Sequence[Passage]
) -> Iterator[Candidate]:
    """Give each passage's statement with its worth: the share of the question's weight that it speaks of."""
    lowered = question.lower()
    of_agent = re.search(r"\byou (?:\w+ )?(?:say|said|tell|told|answer|recommend|suggest|reply)", lowered)
    speaker = "agent" if of_agent and not re.search(r"\bi (?:\w+ )?t(?:ell|old) you", lowered) else "user"
    personal = is_personal(question)
    whole = sum(focus.values())
    for passage in passages:
        if passage.speaker != speaker or not (said := statement_in(passage.text)):
            continue
        spoken = set(embedding.content_words(said))
        matched = frozenset(word for word in focus if any(_akin(word, other) for other in spoken))
        worth = sum(focus[word] for word in focus if word in matched) / whole if whole else 0.0
        if matched and personal and is_personal(said):
            worth += 0.4
        yield Candidate(passage, said, matched, round(worth, 6))


def is_personal(text: str) -> bool:
    """Say whether a text is about its speaker; `tell me` alone does not make it so."""
    text = re.sub(
        r"\b(?:tell|told|remind|give|show|send) me\b|\bi (?:\w+ )?(?:told|tell) you\b", " ", text.lower()
    )
    return not _PERSONAL.isdisjoint(embedding.words(text))


def _akin(word: str, other: str) -> bool:
    """Say whether two stems are one word's: `allergi` and `allergic`, not `port` and `portrait`."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    return shorter >= 5 and abs(len(word) - len(other)) <= 3 and word[: shorter - 1] == other[: shorter - 1]


def phrase(said: str, focus: dict[str, float]) -> str:
    """Return what a statement says about the focus: what is quoted, or follows the verb, or is left over."""
    if quoted := re.search(r"[\"“]([^\"”]+)[\"”]", said):
        return quoted[1]
    best = next((each for each in sentences(said) if set(focus) & set(embedding.content_words(each))), said)
    best = _INSTRUCTION.sub("", best)
    after = re.search(r"(?:\b(?:is|are|was|were|be|called|named|became|becomes)\b|:|=)\s*(.+)", best)
    rest = re.split(r"[;,.!?]\s|[.!?]+$", after[1])[0] if after else best
    pieces: list[list[str]] = [[]]
    for word in re.findall(r"[\w'’-]+|[^\w\s]", rest):
        if embedding.stem(word.casefold()) in focus or not re.search(r"\w", word):
            pieces.append([])
        elif pieces[-1] or word.casefold() not in embedding.STOP_WORDS:
            pieces[-1].append(word)
    for piece in pieces:
        while piece and piece[-1].casefold() in embedding.STOP_WORDS:
            piece.pop()
    return " ".join(max(pieces, key=lambda piece: len(" ".join(piece)))) or rest


def number_in(said: str) -> int | float | None:
    """Return the first number of a statement, in figures or as a word; articles do not count."""
    for word in re.findall(r"\d+(?:\.\d+)?|[a-z]+", said.lower()):
        if word[0].isdigit():
            return float(word) if "." in word else int(word)
        if word in _NUMBERS and word not in ("a", "an", "couple"):
            return _NUMBERS[word]
    return None


def _quoted(chosen: Candidate, now: datetime, question: str) -> str:
    who = "You told me" if chosen.passage.speaker == "user" else "I told you"
    if re.search(r"\bwhen did\b|\bhow long ago\b", question.lower()):
        who += f" {spoken_duration(now - chosen.passage.at)} ago, on {stamp(chosen.passage.at)}"
    return f"{who}: “{chosen.said}”"
