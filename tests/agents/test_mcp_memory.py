"""The preset mcp_memory with MCP's reference memory server (npm), used freely by a scripted core.

The server is found through the environment variable LTM_BENCH_MCP_MEMORY; CONTRIBUTING.md says how to get it.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import Provider
from ltm_bench.plan.suites import presets
from ltm_bench.plan.tables import config_folders

if TYPE_CHECKING:
    from tests.memories import Conversation, Open, conversations, keep_graph
else:
    from memories import Conversation, Open, conversations, keep_graph

PROGRAM = os.environ.get("LTM_BENCH_MCP_MEMORY")
TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]
STORED = {"User person: User says: I moved to Ribe.", "User person: User says: My parrot is called Zebedee."}

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="no MCP memory server: set LTM_BENCH_MCP_MEMORY (CONTRIBUTING.md, Groups)"
)


@pytest.fixture
def open_in(tmp_path: Path, server: Provider, key: str) -> Iterator[Open]:
    server.answer = keep_graph
    usual = presets(config_folders())["mcp_memory"].settings
    own = {"core": "openai:some-model", "base_url": server.openai_url, "command": PROGRAM}
    with conversations(tmp_path, "mcp", **{**usual, **own}) as start:
        yield start


def stored(talk: Conversation) -> set[str]:
    return {memory.text for memory in talk.memories()}


def test_what_the_core_stores_is_listed_and_answered_from(open_in: Open) -> None:
    talk = open_in()
    for number, text in enumerate(TOLD):
        talk.say(number, text)
    assert stored(talk) == STORED
    assert talk.say(3, "What is my parrot called?").reply.text == "User says: My parrot is called Zebedee."
    lines = (talk.home / "server" / "memory.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 1  # the server's own file, in the run's folder


def test_what_is_forgotten_stays_forgotten(open_in: Open) -> None:
    talk = open_in()
    turns = [talk.say(number, text) for number, text in enumerate(TOLD)]
    assert talk.runner.run(talk.agent.forget("parrot")) == 1
    assert stored(talk) == {"User person: User says: I moved to Ribe."}
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert stored(again) == {"User person: User says: I moved to Ribe."}


def test_a_resumed_run_has_what_its_log_says(open_in: Open) -> None:
    talk = open_in()
    turns = [talk.say(number, text) for number, text in enumerate(TOLD)]
    talk.say(3, "My parrot is called Archibald now.")  # not in the log
    assert len(stored(talk)) == 3
    talk.close()
    again = open_in()
    again.restore(*turns)
    assert stored(again) == STORED
