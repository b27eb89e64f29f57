"""Every adapter that drives something says in one place how it was tried, and the documentation agrees."""

import inspect
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from ltm_bench.core.agent import Agent
from ltm_bench.plugins.agents import agent_class
from ltm_bench.plugins.driven import driven
from ltm_bench.plugins.files import bundled

ROOT = Path(__file__).parents[2]
OWN = {"http"}
"""Takes a user's URL; there is no product."""


def test_every_adapter_that_drives_a_model_or_a_product_says_how_it_was_tried() -> None:
    files = bundled("agents").glob("[!_.]*.py")
    names = {path.stem for path in files} - OWN
    needy = {
        name
        for name in names
        if {"model", "core", "base_url"} & set(inspect.signature(agent_class(name)).parameters)
    }
    assert set(driven()) == needy


@pytest.mark.parametrize("name", driven())
def test_the_table_says_of_users_what_the_adapter_says(name: str) -> None:
    adapter = agent_class(name)
    assert inspect.isclass(adapter)
    assert issubclass(adapter, Agent)
    assigned = "keeps_users" in vars(adapter)["__init__"].__code__.co_names  # by its settings
    said = "apart" if adapter.keeps_users else "together"
    assert driven()[name].users == ("by settings" if assigned else said)


@pytest.mark.parametrize("name", driven())
def test_the_documentation_agrees(name: str) -> None:
    page = ROOT / "docs" / "memories.md"
    if not page.is_file():
        pytest.skip("the source distribution has no documentation")
    found = driven()[name]
    cells = (f"`{name}`", found.what, found.how, found.date, found.model or "none", found.note or "all of it")
    assert f"| {' | '.join(map(str, cells))} |" in page.read_text("utf-8")


@pytest.mark.parametrize("name", [name for name, found in driven().items() if found.package])
def test_the_stated_version_satisfies_the_adapters_extra(name: str) -> None:
    # Not the version installed here: somebody else's release must not fail our tests.
    found = driven()[name]
    project = ROOT / "pyproject.toml"
    if not project.is_file():
        pytest.skip("an installed package has no pyproject.toml")
    table = tomllib.loads(project.read_text("utf-8"))["project"]
    extras = table["optional-dependencies"].values()
    wanted = [Requirement(each) for extra in (table["dependencies"], *extras) for each in extra]
    allowed = [each.specifier for each in wanted if each.name == found.package]
    assert allowed
    assert all(specifier.contains(found.version) for specifier in allowed)
