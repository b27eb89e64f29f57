"""The preset mcp_memory with MCP's reference memory server (npm), which a scripted core uses as it likes.

The server is found through the environment variable LTM_BENCH_MCP_MEMORY; CONTRIBUTING.md says how to get it.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.memories import Conversation
    from tests.stages import Place, Stage, staged
else:
    from memories import Conversation
    from stages import Place, Stage, staged

TOLD = ["My parrot is called Zebedee.", "I moved to Ribe.", "It rained all day."]
STORED = {"User person: User says: I moved to Ribe.", "User person: User says: My parrot is called Zebedee."}


@pytest.fixture
def stage(tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with staged("mcp_memory", Place(tmp_path, monkeypatch)) as found:
        yield found


@pytest.fixture
def open_in(stage: Stage, tmp_path: Path) -> Iterator[Callable[[str], Conversation]]:
    with contextlib.ExitStack() as stack:

        def start(name: str) -> Conversation:
            talk = Conversation(stage.make(), tmp_path / name)
            stack.callback(talk.close)
            return talk

        yield start


def stored(talk: Conversation) -> set[str]:
    return {memory.text for memory in talk.memories()}


def test_what_the_core_stores_is_listed_and_answered_from(open_in: Callable[[str], Conversation]) -> None:
    talk = open_in("home")
    for number, text in enumerate(TOLD):
        talk.say(number, text)
    assert stored(talk) == STORED
    assert talk.say(3, "What is my parrot called?").reply.text == "User says: My parrot is called Zebedee."
    lines = (talk.home / "server" / "memory.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == 1  # the server's own file, in the run's folder


def test_what_is_forgotten_stays_forgotten(open_in: Callable[[str], Conversation]) -> None:
    talk = open_in("home")
    turns = [talk.say(number, text) for number, text in enumerate(TOLD)]
    assert talk.runner.run(talk.agent.forget("parrot")) == 1
    assert stored(talk) == {"User person: User says: I moved to Ribe."}
    talk.close()
    again = open_in("home")
    again.restore(*turns)
    assert stored(again) == {"User person: User says: I moved to Ribe."}


def test_a_run_that_is_resumed_has_what_its_log_says(open_in: Callable[[str], Conversation]) -> None:
    talk = open_in("home")
    turns = [talk.say(number, text) for number, text in enumerate(TOLD)]
    talk.say(3, "My parrot is called Archibald now.")  # not in the log
    assert len(stored(talk)) == 3
    talk.close()
    again = open_in("home")
    again.restore(*turns)
    assert stored(again) == STORED
