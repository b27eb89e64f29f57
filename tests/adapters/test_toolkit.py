"""The toolkit as a whole: what it exports, and that the shipped adapters use nothing else."""

import ast
import asyncio
import importlib
import re
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import ltm_bench.adapters as toolkit
from ltm_bench import AgentError, Message, Reply
from ltm_bench.adapters.testing import Provider
from ltm_bench.plugins.agents import make_agent

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "ltm_bench" / "adapters" / "__init__.py"


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Give the module and the name of every import; of a whole module, an empty name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)


def test_every_name_of_the_toolkit_is_what_type_checkers_see() -> None:
    declared = {
        name: module
        for module, name in imports(ast.parse(SOURCE.read_bytes()))
        if module.startswith("ltm_bench") and module != "ltm_bench.core.late"  # which finds the others
    }
    assert set(declared) == set(toolkit.__all__) == set(dir(toolkit)) & set(declared)
    for name, module in declared.items():
        found = getattr(toolkit, name)
        if module == toolkit.__name__:
            assert found is importlib.import_module(f"{module}.{name}")
        else:
            assert found is getattr(importlib.import_module(module), name)


def test_an_unknown_name_of_the_toolkit_is_an_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'Windw'"):
        exec("from ltm_bench.adapters import Windw")


def test_every_module_of_the_toolkit_is_in_its_guide() -> None:
    guide = toolkit.__doc__ or ""
    modules = {path.stem for path in SOURCE.parent.iterdir() if path.stem[0] != "_"}
    assert {name for name in modules if f"`{name}`" not in guide} == set()


ITS_PAGE = {"human": ("ltm_bench.viewer.desk", "ltm_bench.core.extras")}
"""A person answers at a page of the viewer, which no agent of others needs."""


@pytest.mark.parametrize("path", sorted((ROOT / "agents").glob("*.py")), ids=lambda path: path.stem)
def test_a_shipped_adapter_imports_only_the_public_package_and_the_toolkit(
    path: Path,
) -> None:
    tree = ast.parse(path.read_bytes())
    for module, name in imports(tree):
        if module.partition(".")[0] == "ltm_bench":
            public = module in ("ltm_bench", "ltm_bench.adapters") or module.startswith("ltm_bench.adapters.")
            assert public or module in ITS_PAGE.get(path.stem, ()), f"{path.name}: {module}"
            assert not name.startswith("_"), f"{path.name}: {module}.{name}"


def test_the_adapter_in_the_guide_works(
    server: Provider, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = re.search(r"\n\n(    \"\"\"Echo model.*?)\n\nBy module:", toolkit.__doc__ or "", re.DOTALL)
    assert code is not None
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "ours.py").write_text(textwrap.dedent(code[1]), "utf-8")
    monkeypatch.chdir(tmp_path)
    agent = make_agent("ours", {"model": "some-model", "base_url": server.openai_url})

    async def talk() -> Reply:
        await agent.open(tmp_path)
        at = datetime(2026, 1, 5, tzinfo=UTC)
        server.fail(status=404)
        with pytest.raises(AgentError, match="HTTP 404, no such model or address"):
            await agent.reply(Message("Hello!", at, 0))
        await agent.reply(Message("My boat is called Undine.", at, 0))
        reply = await agent.reply(Message("What is my boat called?", at, 1))
        await agent.close()
        return reply

    reply = asyncio.run(talk())
    assert "Undine" in reply.text
    assert reply.usage is not None
    assert reply.usage.prompt > reply.usage.output > 0
    assert agent.connections == server.openai_url
