"""axe finds nothing wrong with the pages, on a desktop or a phone, light or dark."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.report.compare_page import render_comparison
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from tests.finished import copied

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.made import Made, serving
else:
    from made import serving

pytest.importorskip("axe_core_python")

pytestmark = pytest.mark.proof(
    files=("agents/*.*", "configs/*.*"), packages=("chromium", "axe_core_python", "uvicorn")
)

AXE = "axe_core_python"
RUN = """
axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
  .map(each => each.impact + ' ' + each.id + ': ' + each.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')))
"""


def findings(browser: "Browser", address: str, width: int, dark: bool) -> list[str]:
    browser.open(address, width=width, dark=dark, scripts=True)
    browser.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.ask(files(AXE).joinpath("axe.min.js").read_text("utf-8") + "; 0")
    found: list[str] = browser.ask(RUN)
    return found


@pytest.fixture(scope="module")
def served(hostile_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("uvicorn")
    from ltm_bench.viewer.server import application

    place = tmp_path_factory.mktemp("served")
    copied(hostile_run, place / hostile_run.name)
    with serving(application(place)) as port:
        yield f"http://127.0.0.1:{port}/"


SIGHTS = pytest.mark.parametrize(("width", "dark"), [(390, False), (1280, True)], ids=["phone", "desk-dark"])


@SIGHTS
def test_a_run_can_be_read_by_everybody(
    browser: "Browser", hostile_run: Path, width: int, dark: bool
) -> None:
    assert findings(browser, (hostile_run / "report.html").as_uri(), width, dark) == []


@pytest.mark.long
def test_a_transcript_can_be_read_by_everybody(browser: "Browser", hostile_run: Path) -> None:
    assert findings(browser, (hostile_run / "transcript.html").as_uri(), 390, True) == []


@SIGHTS
def test_a_comparison_can_be_read_by_everybody(
    browser: "Browser", made: "Made", tmp_path: Path, width: int, dark: bool
) -> None:
    made_runs = [
        made.results(made.many(), agent=agent, run=f"{agent}-{span}", span=span)
        for agent in ("gpt-4o", "goldfish", "vector_memory")
        for span in (32_000, 120_000)
    ]
    page = tmp_path / "compare.html"
    comparison = compare([Scored(made.manifest(results), results) for results in made_runs])
    page.write_text(render_comparison(comparison, {}), "utf-8")
    assert findings(browser, page.as_uri(), width, dark) == []


@SIGHTS
@pytest.mark.parametrize("path", ["", "live/{run}", "search?q=a", "compare?run={run}"])
def test_the_server_can_be_read_by_everybody(
    browser: "Browser", served: str, hostile_run: Path, path: str, width: int, dark: bool
) -> None:
    assert findings(browser, served + path.format(run=hostile_run.name), width, dark) == []
