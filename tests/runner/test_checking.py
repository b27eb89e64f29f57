"""What `check` says about an adapter's replies and about what it recalls."""

import ast
import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm_bench import Agent, Message, Reply, Turn
from ltm_bench.core.agent import Memory
from ltm_bench.runner.checking import check_adapter
from ltm_bench.runner.hooks import try_hooks

QUESTION = Message("What is my favourite colour?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0)


class Finds(Agent):
    """Finds one memory, and can say how many of them it uses."""

    free = True

    def __init__(self, uses: int | None) -> None:
        self.uses = uses

    async def reply(self, message: Message) -> Reply:
        return Reply("Red.")

    async def recall(self, query: str, k: int) -> Sequence[Memory]:
        return [Memory("It is red.")]


@pytest.mark.parametrize(
    ("uses", "says"),
    [
        (5, "it uses 5"),
        (None, "it does not say how many it uses (`uses`), so whatever was found counts as retrieved"),
    ],
)
def test_check_says_how_many_memories_an_answer_uses_or_that_this_is_unknown(
    uses: int | None, says: str
) -> None:
    tried = asyncio.run(try_hooks(Finds(uses), [Turn(QUESTION, Reply("Red."))]))
    (recalled,) = [each for each in tried if each.text.startswith("recall: ")]
    assert recalled.ok
    assert recalled.text.endswith(f"the first 'It is red.'; {says}")


@pytest.mark.parametrize(
    ("said", "type_"), [("'Red.'", "str"), ("None", "NoneType"), ("Reply(None)", "Reply")]
)
def test_a_reply_of_the_wrong_type_fails_the_check(tmp_path: Path, said: str, type_: str) -> None:
    code = f'''"""Answers wrongly."""
from ltm_bench import Agent, Reply
class Wrong(Agent):
    free = True
    async def reply(self, message):
        return {said}
'''
    (path := tmp_path / "wrong.py").write_text(code, "utf-8")
    failed = [each.text for each in check_adapter(path, ast.parse(code), {}) if not each.ok]
    assert failed == [f"reply() returned {type_}, not a Reply"]
