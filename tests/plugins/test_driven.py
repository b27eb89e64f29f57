"""What is known of adapters agrees with their code, and all that is made from it is complete."""

import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ltm_bench.core.agent import Agent
from ltm_bench.plugins.agents import agent_class
from ltm_bench.plugins.driven import driven
from ltm_bench.plugins.files import bundled

ROOT = Path(__file__).parents[2]
HOOKS = ("observe", "recall", "memories", "forget", "settle")
"""The abilities that an adapter has by writing a method."""
LACKING = ("no", "not needed")
CAN = [(name, way) for name, known in driven().items() for way in known.can if "way" not in way]
"""The memories whose abilities do not depend on their settings."""


def adapters() -> Iterator[tuple[str, type[Agent]]]:
    for path in sorted(bundled("agents").glob("[!_.]*.py")):
        kind = agent_class(path.stem)
        assert isinstance(kind, type)
        assert issubclass(kind, Agent)
        yield path.stem, kind


KINDS = dict(adapters())


def test_every_adapter_that_drives_a_model_or_a_product_says_how_it_was_tried() -> None:
    wanted = {"model", "core", "base_url"}
    assert set(driven()) == {
        name for name, kind in KINDS.items() if wanted & set(inspect.signature(kind).parameters)
    }


@pytest.mark.parametrize("name", driven())
def test_the_table_says_of_users_what_the_adapter_says(name: str) -> None:
    kind = KINDS[name]
    assigned = "keeps_users" in kind.__init__.__code__.co_names  # by its settings
    said = "apart" if kind.keeps_users else "together"
    assert driven()[name].users == ("by settings" if assigned else said)


def test_every_adapter_with_a_memory_that_can_be_listed_says_what_it_can_do() -> None:
    listed = {name for name, kind in KINDS.items() if kind.memories is not Agent.memories}
    assert listed <= {name for name, known in driven().items() if known.can}


@pytest.mark.parametrize(("name", "way"), CAN, ids=[name for name, _ in CAN])
def test_what_an_adapter_is_said_to_do_its_code_does(name: str, way: dict[str, str]) -> None:
    kind = KINDS[name]
    for hook in HOOKS:
        if hook in way:
            assert (way[hook] not in LACKING) == (getattr(kind, hook) is not getattr(Agent, hook)), hook
    assert {"resumed", "cost"} <= set(way)
    assert ("memories" in way) == (kind.memories is not Agent.memories)


@pytest.mark.parametrize("name", [name for name, known in driven().items() if known.runs])
def test_whoever_reads_of_a_product_learns_how_to_start_it(name: str) -> None:
    known = driven()[name]
    assert known.environment
    assert known.counts
    assert any(re.search(rf"ltm-bench run --agent {name}\b", each) for each in known.start)


@pytest.mark.parametrize("name", driven())
def test_the_stated_version_satisfies_the_adapters_extra(name: str) -> None:
    # Not the version installed here: somebody else's release must not fail our tests.
    found = driven()[name]
    project = ROOT / "pyproject.toml"
    if not project.is_file():
        pytest.skip("an installed package has no pyproject.toml")
    table = tomllib.loads(project.read_text("utf-8"))["project"]
    extras = table["optional-dependencies"]
    assert set(found.extras) <= set(extras)
    wanted = [Requirement(each) for extra in (table["dependencies"], *extras.values()) for each in extra]
    allowed = [each.specifier for each in wanted if each.name == found.package]
    assert allowed or not found.package or found.module  # a package of no extra has a group, which pins it
    assert all(specifier.contains(found.version) for specifier in allowed)
