"""The documentation site builds without a warning, is complete, and makes no external request."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from ltm_bench.cli.app import panels
from ltm_bench.log.reader import read_events
from tests.browser import Browser, find_browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.proof(
        files=(
            "docs/**/*.*",
            "*.md",
            "*/README.md",
            "tests/golden/*/*/events.jsonl",
            "agents/*.*",
            "configs/*.*",
            "pyproject.toml",
        ),
        packages=("chromium", "sphinx", "furo", "myst_parser", "docutils"),
    ),
]
ROOT = Path(__file__).parents[2]
FOUND = """new Promise(done => setInterval(() => {
    const results = [...document.querySelectorAll("#search-results li a")].map(link => link.href)
    if (results.some(link => link.includes("glossary.html"))) done(results.join(" "))
}, 50))"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, even when several processes run these tests."""
    pytest.importorskip("furo", reason="the site needs Sphinx with furo, which are development tools")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    with FileLock(f"{folder}.lock"):
        if not (folder / "index.html").exists():
            words = [
                sys.executable,
                "-m",
                "sphinx",
                "-W",
                "--keep-going",
                "-q",
                str(ROOT / "docs"),
                str(folder),
            ]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return folder


def pages(site: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(site.rglob("*.html")):
        yield path, path.read_text("utf-8")


def test_every_page_and_every_link_is_in_order(site: Path) -> None:
    written = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    assert {path for path in written if not (site / path.with_suffix(".html")).exists()} == set()


def test_no_page_makes_an_external_request(site: Path) -> None:
    loaded = re.compile(r"<(?:script|img|iframe|source)[^>]+src=\"(https?:)?//|<link[^>]+href=\"(https?:)?//")
    assert [path.name for path, text in pages(site) if loaded.search(text)] == []


def test_every_command_is_in_the_reference(site: Path) -> None:
    text = (site / "reference/cli.html").read_text("utf-8")
    shown = {name for names in panels().values() for name in names}
    assert {name for name in shown if f'<section id="{name}"' not in text} == set()
    assert "LTM_BENCH_MAX_COST" in text


def test_options_keep_their_two_hyphens(site: Path) -> None:
    assert [path.name for path, text in pages(site) if re.search(r"[ (]–[a-z]", text)] == []


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    text = (site / "reference/python.html").read_text("utf-8")
    public = sys.modules["ltm_bench"].__all__  # which type checkers do not know: it is derived
    assert [name for name in public if f'id="ltm_bench.{name}"' not in text] == []


def test_the_schemas_are_those_of_the_files_and_describe_their_fields(site: Path) -> None:
    schema = json.loads((site / "schema/results.json").read_text("utf-8"))
    told = [name for name, of in schema["properties"].items() if of.get("description")]
    assert {"score", "undecided", "heard"} <= set(told)
    event = json.loads((site / "schema/event.json").read_text("utf-8"))
    kinds = {each["$ref"].rpartition("/")[2] for each in event["oneOf"]}
    assert {"Sent", "Replied", "Finished"} <= kinds
    for log in (ROOT / "tests/golden").glob("*/*/events.jsonl"):
        for read in read_events(log):
            assert type(read).__name__ in kinds


@pytest.mark.skipif(find_browser() is None, reason="needs Chromium")
def test_the_site_is_searched_and_turns_dark_without_a_server(site: Path, tmp_path: Path) -> None:
    browser = Browser(find_browser() or "", tmp_path)
    try:
        seen = set()
        for dark in (False, True):
            browser.open((site / "search.html").as_uri() + "?q=acknowledgement", dark=dark, scripts=True)
            seen.add(browser.ask("getComputedStyle(document.body).backgroundColor"))
        assert len(seen) == 2
        found = browser.ask(FOUND)
        assert "glossary.html" in found
        assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []
    finally:
        browser.close()
