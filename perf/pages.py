"""The size of the pages, and the time that a browser takes to open them.

    python -m perf.pages                   # 2k, 120k and 500k; a comparison of 14 agents at 5 spans

The runs are of `vector_memory`, which quotes at length. Opening is timed from the request to the load event, in
headless Chromium, the best of three. The agents of the comparison are copies of one run per span, with more and more
replies made wrong, so they need no runs of their own.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ltm_bench import Outcome, Run, Verdict, run
from ltm_bench.api import Options, rescore
from ltm_bench.core.dice import Dice
from ltm_bench.report.compare_page import render_comparison
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.results.examples import ExampleResult
from perf.harness import Arguments, measurement, table
from tests.browser import Browser, find_browser

AGENTS = 14
SPANS = ("2k", "8k", "16k", "32k", "64k")


def opening(browser: Browser | None, page: Path) -> str:
    """Return the seconds from requesting a page to its load event."""
    if browser is None:
        return "no browser"
    took = []
    for _ in range(3):
        begun = time.perf_counter()
        browser.open(page.as_uri())
        browser.ask("document.body.getBoundingClientRect().height")
        took.append(time.perf_counter() - begun)
    return f"{min(took):.2f}"


def variants(whole: Run) -> Iterator[Scored]:
    """Yield copies of a run by other agents, each with fewer right replies than the one before."""
    for index in range(AGENTS):
        dice = Dice(f"pages {index}")
        name = f"agent {index + 1}"
        examples = [
            wrong(example) if dice.fraction() < index / AGENTS else example for example in whole.examples
        ]
        manifest = whole.manifest.model_copy(
            update={"agent": whole.manifest.agent.model_copy(update={"name": name})}
        )
        named = {"agent": name, "run": f"{name}, {whole.results.span}", "examples": examples}
        yield Scored(manifest, whole.results.model_copy(update=named))


def wrong(example: ExampleResult) -> ExampleResult:
    """Return an example as if all its replies had been wrong."""
    verdict = Verdict(Outcome.WRONG, 0.0, "")
    questions = [replace(question, verdict=verdict) for question in example.questions]
    return replace(example, score=0.0, questions=questions)


@measurement(__doc__, spans="2k,120k,500k")
def main(asked: Arguments) -> None:
    """Measure and print."""
    program = find_browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = Browser(program, folder / "profile") if program else None
        row = table("page", "KB", "drawn in s", "opened in s")
        for span in asked.spans.split(","):
            place = run("vector_memory", span, reports=folder).folder
            begun = time.perf_counter()
            asyncio.run(rescore(place, Options()))
            took = time.perf_counter() - begun
            for file in ("report.html", "transcript.html"):
                page = place / file
                row(f"{span} {file}", page.stat().st_size // 1000, f"{took:.2f}", opening(browser, page))
        runs = [each for span in SPANS for each in variants(run("perfect", span, reports=folder))]
        begun = time.perf_counter()
        page = folder / "compare.html"
        page.write_text(render_comparison(compare(runs), {}), "utf-8")
        took = time.perf_counter() - begun
        title = f"comparison, {AGENTS} agents x {len(SPANS)} spans"
        row(title, page.stat().st_size // 1000, f"{took:.2f}", opening(browser, page))
        if browser is not None:
            browser.close()
