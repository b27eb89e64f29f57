"""Every shipped adapter passes the toolkit's conformance checks."""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, conformance
from ltm_bench.plugins.agents import agent_class
from ltm_bench.plugins.driven import driven
from ltm_bench.plugins.files import bundled

if TYPE_CHECKING:
    from tests.memories import conversations
    from tests.stages import Place, staged
else:
    from memories import conversations
    from stages import Place, staged

ADAPTERS = sorted(path.stem for path in bundled("agents").glob("[!_.]*.py"))

ELSEWHERE = {
    name
    for name, known in driven().items()
    if any(way["cost"] in ("unknown", "by the server", "known behind the gateway") for way in known.can)
}
"""Their products call the models, and do not say what all of that uses; the tests' fakes of them call none."""

CALLING = [
    name
    for name in ADAPTERS
    if {"model", "core"} & set(signature(agent_class(name)).parameters) and name not in ELSEWHERE
]

CALLS = {"cognee": 5, "graphiti": 6, "langmem": 3, "mem0": 3}
"""How many calls to a model one observed turn and one reply take if memories are extracted."""

TRIED = {"restore": "restore", "forget": "forget", "two users": "users", "fork": "fork"}
"""What the table of adapters says about each adapter, and the rule that tries it."""


@pytest.mark.long
@pytest.mark.parametrize("name", [*ADAPTERS, "mcp_memory"])
@pytest.mark.filterwarnings("default::DeprecationWarning")  # in the packages of products
def test_a_shipped_adapter_keeps_the_rules(
    name: str,
    tmp_path: Path,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    with staged(name, Place(tmp_path, monkeypatch)) as stage:
        found = conformance(stage.make, server=stage.server, within=stage.within)
    assert len(found.kept) >= 5
    # For the table of adapters at the end of continuous integration (scripts/groups.py).
    record_property(name, f"conformance: {len(found.kept)} rules")
    for column, rule in TRIED.items():
        record_property(name, f"{column}: {'yes' if rule in found.kept else 'no'}")


def tokens(usage: dict[str, Any]) -> tuple[int, int]:
    """Return the prompt and output tokens of an answer in either protocol."""
    kept = ("prompt_tokens", "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    made = ("completion_tokens", "output_tokens")
    return sum(usage.get(key, 0) for key in kept), sum(usage.get(key, 0) for key in made)


@pytest.mark.parametrize("name", [*CALLING, "mcp_memory"])
@pytest.mark.filterwarnings("default::DeprecationWarning")  # in the packages of products
def test_whatever_an_adapter_uses_is_counted_with_its_next_reply(
    name: str, tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[tuple[int, int]] = []

    def note(body: dict[str, Any]) -> dict[str, Any]:
        if "usage" in body:
            spent.append(tokens(body["usage"]))
        return body

    with staged(name, Place(tmp_path, monkeypatch)) as stage:
        server = stage.server
        assert isinstance(server, Provider)
        server.edit = note
        with conversations(tmp_path, stage.adapter, **stage.settings) as start:
            talk = start("counted")
            if talk.agent.observes:
                talk.fill(0, "My parrot is called Zebedee.")
            for number, text in ((1, "Hello!"), (2, "What is my parrot called?")):
                usage = talk.say(number, text).reply.usage
                assert spent
                assert number > 1 or len(spent) == CALLS.get(name, len(spent)) == len(server.chats)
                assert usage is not None
                assert (usage.prompt, usage.output) == tuple(map(sum, zip(*spent, strict=True)))
                assert usage.model == "some-model"
                spent.clear()
            server.edit = lambda body: {**body, "usage": None}
            assert talk.say(3, "And now?").reply.usage is None
