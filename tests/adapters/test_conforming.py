"""A sound agent keeps every rule; an agent that breaks a rule is told which one."""

import asyncio
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ltm_bench import Agent, AgentError, CannotResume, Memory, Message, Reply, Turn, Usage
from ltm_bench.adapters.testing import Conformance, conformance, provider

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

KEY = "a-key-that-nobody-has-0123"


class Sound(Agent):
    """Keeps what it hears in a file, and answers with what shares most words."""

    forks = "snapshot"
    keeps_users = True

    async def open(self, home: Path) -> None:
        self.file = home / "heard.json"
        self.heard: list[Memory] = []
        self.gone = home / "forgotten.jsonl"
        self.gone.touch()

    async def observe(self, turn: Turn) -> None:
        said = turn.message
        if json.dumps(said.text) in self.gone.read_text("utf-8").splitlines():
            return
        self.heard.append(Memory(said.text, said.at, said.turn, id=str(said.turn), user=said.user))
        self.file.write_text(json.dumps([each.text for each in self.heard]), "utf-8")

    async def reply(self, message: Message) -> Reply:
        reply = self.answer(message, self.heard)
        await asyncio.sleep(0)
        await self.observe(Turn(message, reply))
        return reply

    def answer(self, message: Message, heard: Sequence[Memory]) -> Reply:
        found = self.near(message.text, [each for each in heard if each.user == message.user])
        return Reply(found[0].text if found else "I do not know.", Usage(uncached=9, output=3))

    def near(self, query: str, heard: Sequence[Memory]) -> list[Memory]:
        wanted = set(query.lower().rstrip("?").split()) - {"what", "is", "my", "called"}
        return [each for each in heard if wanted & set(each.text.lower().split()) and "?" not in each.text]

    def reserve(self, message: Message) -> Usage | None:
        return Usage(uncached=100, output=100)

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        heard = list(self.heard)

        async def answer() -> Reply:
            return self.answer(message, heard)

        return answer

    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        return self.near(query, self.heard)[:limit]

    async def memories(self) -> AsyncIterator[Memory]:
        for each in self.heard:
            yield each

    async def forget(self, query: str) -> int:
        gone = self.near(query, self.heard)
        self.heard = [each for each in self.heard if each not in gone]
        with self.gone.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(each.text) + "\n" for each in gone)
        return len(gone)


class Archive(Sound):
    async def observe_session(self, turns: Sequence[Turn]) -> None:
        for turn in turns:
            await self.observe(turn)


class LosesMostOfASession(Archive):
    async def observe_session(self, turns: Sequence[Turn]) -> None:
        await self.observe(turns[-1])


class StoresSessionsTwice(Archive):
    async def restore(self, turns: Iterable[Turn]) -> None:
        turns = list(turns)
        await super().restore(turns)
        if turns and turns[0].session is not None:
            await self.observe_session(
                [replace(turn, message=replace(turn.message, turn=9)) for turn in turns[:1]]
            )


class SaysNothing(Sound):
    async def reply(self, message: Message) -> Reply:
        return None  # type: ignore[return-value]  # what it is about


class UsesMoreThanReserved(Sound):
    def reserve(self, message: Message) -> Usage | None:
        return Usage(uncached=5, output=5)


class CountsBackwards(Sound):
    async def reply(self, message: Message) -> Reply:
        return replace(await super().reply(message), usage=Usage(uncached=-1))


class DoesNotListen(Sound):
    async def reply(self, message: Message) -> Reply:
        reply = self.answer(message, self.heard)
        await super().observe(Turn(message, reply))
        return reply

    async def observe(self, turn: Turn) -> None:
        pass

    async def restore(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            await super().observe(turn)


class KeepsWhatTheLogHasNot(Sound):
    async def open(self, home: Path) -> None:
        await super().open(home)
        known = json.loads(self.file.read_text("utf-8")) if self.file.exists() else []
        self.heard = [Memory(text, id=f"old-{n}") for n, text in enumerate(known)]


class LosesItAll(Sound):
    async def restore(self, turns: Iterable[Turn]) -> None:
        pass


class RestoresOnlyWhatItHeard(Sound):
    async def restore(self, turns: Iterable[Turn]) -> None:
        known = self.file.read_text("utf-8") if self.file.exists() else ""
        for turn in turns:
            if turn.message.text in known:
                await self.observe(turn)


class RefusesWhatItHasNotHeard(Sound):
    async def restore(self, turns: Iterable[Turn]) -> None:
        turns = list(turns)
        if turns and not self.file.exists():
            raise CannotResume("the file is gone")
        await super().restore(turns)


class TellsEverybody(Sound):
    everything: ClassVar[list[Memory]] = []

    async def open(self, home: Path) -> None:
        await super().open(home)
        self.heard = self.everything


class CannotBeInterrupted(Sound):
    async def reply(self, message: Message) -> Reply:
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            await asyncio.sleep(30)
        return await super().reply(message)


class WritesKeysDown(Sound):
    async def open(self, home: Path) -> None:
        await super().open(home)
        (home / "settings.json").write_text(json.dumps({"key": os.environ["NOBODYS_API_KEY"]}), "utf-8")


class ListsTwice(Sound):
    async def memories(self) -> AsyncIterator[Memory]:
        for each in self.heard * 2:
            yield each


class RecallsTooMuch(Sound):
    async def recall(self, query: str, limit: int) -> Sequence[Memory]:
        return [Memory("Noted.")] * (limit + 1)


class MixesUsers(Sound):
    def answer(self, message: Message, heard: Sequence[Memory]) -> Reply:
        return super().answer(replace(message, user=None), [replace(each, user=None) for each in heard])


class ForgetsNothing(Sound):
    async def forget(self, query: str) -> int:
        return 1


class ForgetsEverything(Sound):
    async def forget(self, query: str) -> int:
        self.heard = []
        return 2


class ForgetsUntilItIsResumed(Sound):
    async def forget(self, query: str) -> int:
        count = await super().forget(query)
        self.gone.write_text("", "utf-8")
        return count


class ForgetsForOneUser(Sound):
    async def forget(self, query: str) -> int:
        others = [each for each in self.heard if each.user is not None]
        self.heard = [each for each in self.heard if each.user is None]
        count = await super().forget(query)
        self.heard += others
        return count


class RemembersForks(Sound):
    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        answer = await super().fork(message)
        await self.observe(Turn(message, Reply("Noted.")))
        return answer


class ForksTooLate(Sound):
    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        async def answer() -> Reply:
            return self.answer(message, self.heard)

        return answer


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOBODYS_API_KEY", KEY)


def broken(make: Callable[[], Agent], **details: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        conformance(make, **details)
    return str(caught.value)


def test_a_sound_agent_keeps_every_rule(secret: None) -> None:
    found = conformance(Sound)
    missing = [name for name, each in found.findings.items() if each.lacks]
    # No `observe_session`, no server given, and it does not say that it can be opened again.
    assert sorted(missing) == ["reopen", "session", "waiting"]
    assert len(found.kept) == len(found.findings) - 3
    assert "session" in conformance(Archive).kept
    assert "kept   fork" in str(found)


@pytest.mark.unkept
@pytest.mark.parametrize(
    ("agent", "rule", "complaint"),
    [
        (SaysNothing, "answers", "reply() returned NoneType"),
        (UsesMoreThanReserved, "usage", "--max-cost could be exceeded"),
        (CountsBackwards, "usage", "is inconsistent"),
        (DoesNotListen, "observe", "but not what it observed"),
        (
            LosesMostOfASession,
            "session",
            "it knows Zebedee when observed turn by turn, but not when it takes",
        ),
        (StoresSessionsTwice, "session", "its store has 3 memories of a session, but had 2 before"),
        (KeepsWhatTheLogHasNot, "restore", "knows Quillon, which is not in the log"),
        (LosesItAll, "restore", "no longer knows Zebedee, Undine"),
        (RestoresOnlyWhatItHeard, "missed", "it never observes Undine, the end of the log"),
        (RefusesWhatItHasNotHeard, "missed", "cannot be resumed: the file is gone"),
        (TellsEverybody, "namespaces", "which only another conversation was told"),
        (CannotBeInterrupted, "cancellation", "did not end within 0.5 seconds"),
        (WritesKeysDown, "scrubbing", "the key of NOBODYS_API_KEY is in failed/settings.json"),
        (ListsTwice, "memories", "two memories with the same id"),
        (RecallsTooMuch, "recall", "21 memories where 20 were asked for"),
        (MixesUsers, "users", "is told Undine, which only the other user said"),
        (ForgetsNothing, "forget", "Zebedee is still in the store"),
        (ForgetsEverything, "forget", "Undine is gone too"),
        (ForgetsUntilItIsResumed, "forget", "in a run resumed after forget('parrot') Zebedee is still"),
        (ForgetsForOneUser, "forget", "after forget('parrot') Zebedee is still"),
        (RemembersForks, "fork", "what was said beside the conversation is in the store"),
        (ForksTooLate, "fork", "a fork knows what was said after it was made"),
    ],
)
def test_an_agent_that_breaks_a_rule_is_told_which_one(
    agent: type[Agent], rule: str, complaint: str, secret: None
) -> None:
    TellsEverybody.everything.clear()
    said = broken(agent, within=0.5 if agent is CannotBeInterrupted else 10)
    assert rule in said.splitlines()[0]
    line = next(line for line in said.splitlines() if line.startswith(f"BROKEN {rule}"))
    assert complaint in line


class Bare(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Noted.")


class Forgetful(Sound):
    async def restore(self, turns: Iterable[Turn]) -> None:
        raise CannotResume("the store is gone")


def test_what_an_agent_lacks_is_reported_and_is_no_failure() -> None:
    found = conformance(Bare)
    kept = [name for name in found.kept if name != "scrubbing"]  # another test may have left a key
    assert kept == ["answers", "namespaces", "cancellation"]
    assert "cannot be told what was said before" in found.findings["restore"].text
    refused = conformance(Forgetful).findings["restore"]
    assert (refused.ok, refused.lacks) == (True, True)
    assert "the store is gone" in refused.text


class Client(Bare):
    """Asks a server that may fail."""

    def __init__(self, url: str, timeout: float, *, raises: type[Exception] = AgentError) -> None:
        self._url, self._timeout, self._raises = url, timeout, raises

    async def reply(self, message: Message) -> Reply:
        body = {"model": "m", "messages": [{"role": "user", "content": message.text}]}
        request = urllib.request.Request(f"{self._url}/chat/completions", json.dumps(body).encode())
        try:
            await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=self._timeout).close())
        except urllib.error.HTTPError as error:
            said = error.read().decode()
            error.close()
            raise self._raises(said) from None
        except OSError as error:
            raise self._raises(str(error)) from None
        return Reply("Noted.")


@pytest.mark.slow
def test_a_server_is_made_to_hang_and_to_fail(secret: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with provider() as server:
        said = broken(lambda: Client(server.openai_url, 1.0), server=server, within=20)
        assert said.splitlines()[0] == "broken: scrubbing"
        assert "the key of NOBODYS_API_KEY is in an error" in said
        gave_up = re.search(r"gives up after (\d+\.\d) seconds: timed out", said)
        assert gave_up is not None
        assert float(gave_up[1]) >= 1.0  # how much longer depends on the machine
        assert KEY not in said
        said = broken(lambda: Client(server.openai_url, 30), server=server, within=0.5)
        assert "waiting" in said.splitlines()[0]
        said = broken(lambda: Client(server.openai_url, 1.0, raises=KeyError), server=server, within=20)
        assert "raises KeyError, not AgentError" in said


def test_the_report_is_a_table() -> None:
    found = conformance(Bare)
    assert isinstance(found, Conformance)
    assert found.broken == ()
    lines = str(found).splitlines()
    assert len(lines) == len(found.findings)
    assert (
        len({line.index(each.text) for line, each in zip(lines, found.findings.values(), strict=True)}) == 1
    )
