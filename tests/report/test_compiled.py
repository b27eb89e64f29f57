"""Compiled templates: cached beside the templates, and never relied on."""

import sys
from pathlib import Path

import jinja2
import pytest

from ltm_bench.report import templating
from ltm_bench.report.compiled import CompiledTemplates


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    (tmp_path / "page.html.jinja").write_text("Hello, {{ name }}!", "utf-8")
    return tmp_path


def rendered(folder: Path) -> str:
    loader = jinja2.FileSystemLoader(folder)
    environment = jinja2.Environment(loader=loader, autoescape=True, bytecode_cache=CompiledTemplates())
    return environment.get_template("page.html.jinja").render(name="Ada")


def kept(folder: Path) -> list[Path]:
    return list((folder / "__pycache__").glob("*"))


def test_a_template_is_compiled_once(folder, monkeypatch):
    rendered(folder)
    monkeypatch.setattr(jinja2.Environment, "compile", None)
    assert rendered(folder) == "Hello, Ada!"


def test_the_name_holds_the_versions_of_python_and_jinja(folder):
    rendered(folder)
    (file,) = kept(folder)
    digits = jinja2.__version__.replace(".", "")
    assert file.name == f"page.html.{sys.implementation.cache_tag}.opt-jinja{digits}.pyc"


def test_an_edited_template_is_compiled_again(folder):
    rendered(folder)
    (folder / "page.html.jinja").write_text("Goodbye, {{ name }}!", "utf-8")
    assert rendered(folder) == "Goodbye, Ada!"


@pytest.mark.parametrize("size", [0, 5, 40])
def test_a_torn_file_is_compiled_again(folder, size):
    rendered(folder)
    (file,) = kept(folder)
    file.write_bytes(file.read_bytes()[:size])
    assert rendered(folder) == "Hello, Ada!"


def test_a_read_only_folder_does_no_harm(folder):
    (folder / "__pycache__").write_text("in the way")
    assert rendered(folder) == "Hello, Ada!"
    assert sorted(path.name for path in folder.iterdir()) == ["__pycache__", "page.html.jinja"]


def test_nothing_is_written_where_python_may_not_write_byte_code(folder, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered(folder) == "Hello, Ada!"
    assert kept(folder) == []


def test_no_filter_is_applied_to_a_constant():
    """Jinja would apply it while compiling, and a cached template would miss a change in the filter."""
    environment = templating.templates()
    for name in environment.list_templates(extensions=["jinja"]):
        assert environment.loader is not None
        tree = environment.parse(environment.loader.get_source(environment, name)[0])
        for each in tree.find_all(jinja2.nodes.Filter):
            with pytest.raises(jinja2.nodes.Impossible):
                each.as_const()
