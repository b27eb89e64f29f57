"""What every memory product gets from the toolkit: a core that answers, and a memory that agrees with the log."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import Memory, Reply, Turn, Usage
from ltm_bench.adapters import ConfigError, Endpoint, MemoryProduct
from ltm_bench.adapters.testing import Provider

if TYPE_CHECKING:
    from tests.memories import START, Conversation, model, turn
else:
    from memories import START, Conversation, model, turn

TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]


class Shelf(MemoryProduct):
    """Keeps every message; its shelf outlives the agent, as a server does."""

    def __init__(self, shelf: dict[int, str], url: str, *, memories: int = 5, recent: int = 0) -> None:
        endpoint = Endpoint.openai("shelf", base_url="http://shelf/v1", timeout=1, max_retries=0)
        super().__init__(
            endpoint,
            core="openai_chat:some-model",
            core_settings={"base_url": url, "max_retries": None},
            memories=memories,
            recent=recent,
            window=2048,
        )
        self.shelf = shelf
        self.asked: list[tuple[str, int, str | None]] = []
        self.breaks_at = -1
        self.cuts = 0

    async def hear(self, turn: Turn) -> None:
        self._ledger.begin(turn.message.turn)
        self.shelf[turn.message.turn] = turn.message.text
        if turn.message.turn == self.breaks_at:
            raise RuntimeError("torn away")
        self._ledger.finish(turn)

    async def cut_back(self, turns: Sequence[Turn]) -> int:
        self.cuts += 1
        for number in set(self.shelf) - {each.message.turn for each in turns}:
            del self.shelf[number]
        self._ledger.cut(len(turns))
        return len(turns)

    async def find(self, query: str, limit: int, user: str | None) -> list[Memory]:
        self.asked.append((query, limit, user))
        return [Memory(text, START, number) for number, text in self.shelf.items()][:limit]


class Counting(Shelf):
    """Its own calls use ten tokens a turn, a hundred a lookup; it takes whole sessions."""

    async def hear(self, turn: Turn) -> None:
        await super().hear(turn)
        self._tally.add(Usage(uncached=10, output=1))
        self._tally.turn()

    async def hear_session(self, turns: Sequence[Turn]) -> None:
        self.asked.append(("session", len(turns), turns[0].message.user))
        for each in turns:
            await self.hear(each)

    async def find(self, query: str, limit: int, user: str | None) -> list[Memory]:
        self._tally.add(Usage(uncached=100, output=1))
        return await super().find(query, limit, user)

    def billed(self, usage: Usage | None) -> Usage | None:
        return self._tally.settle(usage)

    def billed_apart(self) -> Callable[[Usage | None], Usage | None]:
        return self._tally.apart()


@pytest.fixture
def product(server: Provider, key: str) -> Shelf:
    server.answer = model
    return Shelf({}, server.openai_url)


def test_the_core_answers_from_what_the_product_recalls(product: Shelf, tmp_path: Path) -> None:
    talk = Conversation(product, tmp_path)
    talk.observe(*(turn(number, text) for number, text in enumerate(TOLD)))
    assert "Zebedee" in talk.say(3, "What is my parrot called?").reply.text
    assert product.shelf[3] == "What is my parrot called?"
    talk.close()


def test_it_looks_for_the_message_and_recalls_for_no_particular_user(product: Shelf, tmp_path: Path) -> None:
    talk = Conversation(product, tmp_path)
    talk.observe(turn(0, TOLD[0]))
    asked = replace(turn(1, "What is my parrot called?").message, user="Ada")
    talk.runner.run(product.reply(asked))
    assert talk.recall("parrot", 3) == [(TOLD[0], 0), ("What is my parrot called?", 1)]
    assert product.asked == [("What is my parrot called?", 5, "Ada"), ("parrot", 3, None)]
    talk.close()


def test_it_is_searched_by_the_question_and_the_core_is_told_how_to_answer(
    product: Shelf, server: Provider, tmp_path: Path
) -> None:
    async def scene() -> None:
        await product.open(tmp_path)
        asked = turn(0, "Be brief.\nWhere do I live?").message
        await product.reply(replace(asked, search_by="Where do I live?"))
        await (await product.fork(replace(asked, turn=1, search_by="Where do I live?")))()
        await product.close()

    asyncio.run(scene())
    assert [query for query, _, _ in product.asked] == ["Where do I live?"] * 2
    prompts = [request.body["messages"][-1]["content"] for request in server.requests]
    assert all("Be brief.\nWhere do I live?" in prompt for prompt in prompts)
    assert len(prompts) == 2


@pytest.mark.parametrize("apart", [True, False])
def test_the_core_sees_the_newest_turns_of_whoever_speaks(
    server: Provider, key: str, tmp_path: Path, apart: bool
) -> None:
    server.answer = model
    product = Shelf({}, server.openai_url, recent=2)
    product.keeps_users = apart
    talk = Conversation(product, tmp_path)
    for number, user in enumerate(("Ada", "Ben", "Ada")):
        said = turn(number, f"Sentence {number} of {user}.")
        talk.observe(replace(said, message=replace(said.message, user=user)))
    product.shelf.clear()  # so that only what is recent can be seen
    talk.runner.run(product.reply(replace(turn(3, "Well?").message, user="Ben")))
    prompt = str(server.chats[-1])
    assert "Sentence 0" not in prompt  # only the two newest
    assert "Sentence 1 of Ben" in prompt
    assert ("Sentence 2 of Ada" in prompt) == (not apart)
    talk.close()


def test_a_forked_reply_is_told_to_nobody(product: Shelf, tmp_path: Path) -> None:
    talk = Conversation(product, tmp_path)
    talk.observe(turn(0, TOLD[0]))
    reply = talk.ask_apart(1, "What is my parrot called?")
    assert "Zebedee" in reply.text
    assert reply.usage is not None
    assert product.shelf == {0: TOLD[0]}
    talk.close()


def test_the_products_calls_are_billed_once_with_the_next_reply(
    server: Provider, key: str, tmp_path: Path
) -> None:
    server.answer = model
    product = Counting({}, server.openai_url)
    talk = Conversation(product, tmp_path)
    core: list[int] = []

    def note(body: dict[str, Any]) -> dict[str, Any]:
        core.append(body["usage"]["prompt_tokens"])
        return body

    def more(reply: Reply) -> int:
        """Return what a reply cost besides the core's prompt."""
        assert reply.usage is not None
        return reply.usage.prompt - core[-1]

    server.edit = note

    talk.fill(0, TOLD[0])
    talk.fill(1, TOLD[1])
    assert more(talk.ask_apart(2, "Hello?")) == 100  # its own lookup
    assert more(talk.say(2, "Hello?").reply) == 10 + 10 + 100 + 10  # what was heard, its lookup, its own turn
    assert more(talk.say(3, "Hello?").reply) == 100 + 10
    talk.fill(4, TOLD[2])
    talk.observe(turn(5, "Hello!"))  # a resumed run: its reply was billed with all that came before
    assert more(talk.say(6, "Hello?").reply) == 100 + 10
    talk.close()


def test_a_session_that_comes_first_is_not_forgotten_when_a_message_follows(
    server: Provider, key: str, tmp_path: Path
) -> None:
    server.answer = model
    product = Counting({}, server.openai_url)
    talk = Conversation(product, tmp_path)
    talk.runner.run(product.observe_session([turn(0, TOLD[0]), turn(1, TOLD[1])]))
    assert "Zebedee" in talk.say(2, "What is my parrot called?").reply.text
    assert sorted(product.shelf) == [0, 1, 2]
    assert [name for name, *_ in product.asked] == ["session", "What is my parrot called?"]
    talk.close()


def test_a_session_is_told_in_one_call_per_user(server: Provider, key: str, tmp_path: Path) -> None:
    server.answer = model
    product = Counting({}, server.openai_url, recent=5)
    assert product.takes_sessions
    assert not Shelf({}, server.openai_url).takes_sessions
    talk = Conversation(product, tmp_path)
    turns = [
        replace(turn(n, f"Sentence {n}."), answered="script", example="x/0", session="1") for n in range(3)
    ]
    turns[2] = replace(turns[2], message=replace(turns[2].message, user="Ada"))
    last = replace(turn(3, "Sentence 3."), answered="script")
    talk.restore(*turns, last)
    assert product.asked == [("session", 2, None), ("session", 1, "Ada")]
    assert sorted(product.shelf) == [0, 1, 2, 3]
    product.shelf.clear()
    talk.say(4, "Well?")
    assert all(f"Sentence {n}." in str(server.chats[-1]) for n in range(4))
    talk.close()


@pytest.mark.parametrize("name", ["hear", "hear_session", "cut_back", "find"])
def test_a_product_without_one_of_its_methods_is_told_which(product: Shelf, name: str) -> None:
    given: dict[str, tuple[object, ...]] = {"find": ("parrot", 1, None)}
    method = getattr(MemoryProduct, name)
    with pytest.raises(TypeError, match=rf"Shelf does not define {name}\(\)"):
        asyncio.run(method(product, *given.get(name, ((),))))


@pytest.mark.parametrize(("extra", "provider"), [(True, None), (False, "openai")])
def test_a_price_is_unknown_if_the_product_charges_extra(
    product: Shelf, extra: bool, provider: str | None
) -> None:
    assert not product.charges_extra
    product.charges_extra = extra
    usage = Usage(uncached=7, output=1, model="gpt-6-luna", provider="openai")
    for billed in (product.billed, product.billed_apart()):
        assert billed(usage) == replace(usage, provider=provider)
        assert billed(None) is None


def test_a_resumed_run_tells_the_product_only_what_it_has_not_heard(
    product: Shelf, server: Provider, tmp_path: Path
) -> None:
    turns = [turn(number, text) for number, text in enumerate(TOLD)]
    talk = Conversation(product, tmp_path)
    talk.observe(*turns[:2])
    talk.close()
    again = Shelf({0: "as it was", 1: "as it was"}, server.openai_url)
    talk = Conversation(again, tmp_path)
    talk.restore(*turns)
    assert again.shelf == {0: "as it was", 1: "as it was", 2: TOLD[2]}
    assert again.cuts == 0
    talk.close()


@pytest.mark.parametrize("torn", [False, True])
def test_what_the_log_lacks_is_cut_off(product: Shelf, server: Provider, tmp_path: Path, torn: bool) -> None:
    turns = [turn(number, text) for number, text in enumerate(TOLD)]
    product.breaks_at = 2 if torn else -1
    talk = Conversation(product, tmp_path)
    talk.observe(*turns[:2])
    if torn:
        with pytest.raises(RuntimeError, match="torn away"):
            talk.observe(turns[2])
    else:
        talk.observe(turns[2])
    talk.close()
    again = Shelf(product.shelf, server.openai_url)
    talk = Conversation(again, tmp_path)
    talk.restore(*turns[:2])
    assert (sorted(again.shelf), again.cuts) == ([0, 1], 1)
    talk.close()


def test_a_new_conversation_in_an_old_folder_knows_nothing_of_the_old_one(
    product: Shelf, server: Provider, tmp_path: Path
) -> None:
    talk = Conversation(product, tmp_path)
    talk.observe(turn(0, TOLD[0]), turn(1, TOLD[2]))
    talk.close()
    again = Shelf(product.shelf, server.openai_url)
    talk = Conversation(again, tmp_path)
    talk.observe(turn(0, TOLD[1]))
    assert again.shelf == {0: TOLD[1]}
    talk.close()


def test_the_settings_that_all_products_share_are_checked(server: Provider, key: str) -> None:
    with pytest.raises(ConfigError, match="memories = 0, but at least 1 is needed"):
        Shelf({}, server.openai_url, memories=0)
    assert Shelf({}, server.openai_url).connections == "http://shelf/v1"
