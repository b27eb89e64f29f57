"""The tables of adapters on the site: where they stand, and that they explain every setting and show valid commands."""

import ast
import inspect
import re
import tomllib
from pathlib import Path

import pytest

from docs import agents_tables
from docs.agents_tables import TEXTS, meanings
from ltm_bench.plugins.agents import agent_class
from ltm_bench.plugins.driven import driven
from ltm_bench.plugins.files import bundled
from tests.docs.test_blocks import parse

ROOT = Path(__file__).parents[2]
ADAPTERS = sorted(path.stem for path in bundled("agents").glob("[!_.]*.py"))


def test_every_table_stands_on_one_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert [name for name in TEXTS if pages.count(f"<!-- generated: {name} -->") != 1] == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_has_as_many_cells_in_every_row(name: str) -> None:
    rows = [line for line in TEXTS[name]().splitlines() if line.startswith("|")]
    for block in re.split(r"\n\n+", TEXTS[name]()):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) <= 1, rows[:1]


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_setting_of_an_adapter_is_explained(name: str) -> None:
    make = agent_class(name)
    assert set(inspect.signature(make).parameters) <= set(meanings(make))


def test_what_a_subclass_says_of_a_setting_replaces_what_its_base_says() -> None:
    said = {name: meanings(agent_class(name))["timeout"] for name in ("hindsight", "zep")}
    assert "whose model has to extract first" in said["hindsight"]
    assert said["zep"] == "Seconds to wait for one answer."


def test_the_commands_that_start_a_product_are_ones_that_ltm_bench_takes() -> None:
    commands = re.findall(r"^\$ ltm-bench (.*)$", agents_tables.starting(), re.MULTILINE)
    assert len(commands) >= 10
    for command in commands:
        parse(command.split())


SEEN = tomllib.loads((ROOT / "docs/seen.toml").read_text("utf-8"))


def test_every_seen_cell_has_a_probe_that_shows_it_and_every_probe_a_cell() -> None:
    probes = {path.stem.removeprefix("probe_"): path for path in (ROOT / "docs/seen").glob("probe_*.py")}
    shown = {
        (name, each.name)
        for name, path in probes.items()
        for each in ast.parse(path.read_text("utf-8")).body
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("_")
    }
    cells = {
        (name, column) for name, product in SEEN["product"].items() for column in product.get("seen", {})
    }
    assert cells == shown
    assert {column for _, column in cells} == set(SEEN["columns"])


def test_most_of_what_products_do_was_seen_and_no_cell_is_both_seen_and_read() -> None:
    products = SEEN["product"].values()
    seen, read = (sum(len(each.get(way, {})) for each in products) for way in ("seen", "read"))
    assert seen >= 0.6 * len(products) * len(SEEN["columns"])
    assert [each for each in products if set(each.get("seen", {})) & set(each.get("read", {}))] == []
    assert f"{seen} seen, {read} read" in agents_tables.seen()


def test_what_was_seen_of_a_product_is_of_the_version_that_its_adapter_was_tried_with() -> None:
    tried = {name: known.version for name, known in driven().items()}
    both = set(tried) & set(SEEN["product"])
    assert {"adk", "graphiti", "langmem", "mem0"} <= both
    assert {name: SEEN["product"][name]["version"] for name in both if tried[name]} == {
        name: tried[name] for name in both if tried[name]
    }
