"""What every memory product gets from the toolkit: a core that answers, and a memory that agrees with the log."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import Memory, Turn, Usage
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
        return [Memory(text, START, number) for number, text in self.shelf.items()][:limit]


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


@pytest.mark.parametrize(("extra", "provider"), [(True, None), (False, "openai")])
def test_a_price_is_unknown_if_the_product_charges_extra(
    product: Shelf, extra: bool, provider: str | None
) -> None:
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
    talk.observe(turn(0, TOLD[0]))
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
