"""How large the pages are, and how long a browser takes to open them.

    python -m perf.pages                   # 2k, 120k and 500k; a comparison of 14 agents at 5 spans

The runs are of `vector_memory`, which quotes at length. Opening is timed from the request to the load event, in
headless Chromium, the best of three. The agents of the comparison are copies of one run per span, with more and more
replies made wrong, so they need no runs of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ltm_bench.cli.comparing import read_run
from ltm_bench.cli.showing import publish

from ltm_bench.core.budget import Budget
from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Outcome
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.agents import agent_maker
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Wish
from ltm_bench.report.compare_page import render_comparison
from ltm_bench.runner.runs import run_conversations
from ltm_bench.score.comparison import Run, compare
from tests.browser import Browser, find_browser

AGENTS = 14
SPANS = ("2k", "8k", "16k", "32k", "64k")


class _Nobody:
    def turn(self, *_: object, **__: object) -> None: ...

    def verdict(self, *_: object) -> None: ...

    def ended(self, *_: object) -> None: ...


def held(agent: str, span: str, folder: Path) -> Path:
    """Hold a run and return its folder."""
    plan = make_plan(
        Wish(
            span=span,
            agent=agent,
            suite="standard",
            scenarios=(),
            examples=None,
            seed=0,
            isolated=False,
            filler="scripted",
            tokenizer="cl100k_base",
            settings=(),
            base_url=None,
        )
    )
    place = folder / f"{agent}-{span}"
    place.mkdir()
    start_run(place, plan.manifest)
    make = agent_maker(plan.manifest.agent)
    asyncio.run(
        run_conversations(plan, make, place, budget=Budget(), observer=_Nobody(), clock=time.perf_counter)
    )
    return place


def opening(browser: Browser | None, page: Path) -> str:
    """Return the seconds from asking for a page to its load event."""
    if browser is None:
        return "no browser"
    took = []
    for _ in range(3):
        begun = time.perf_counter()
        browser.open(page.as_uri())
        browser.ask("document.body.getBoundingClientRect().height")
        took.append(time.perf_counter() - begun)
    return f"{min(took):.2f}"


def variants(whole: Run) -> Iterator[Run]:
    """Give copies of a run by other agents, of which each got less right than the one before."""
    for index in range(AGENTS):
        dice = Dice(f"pages {index}")
        results = whole.results.model_copy(deep=True)
        results.agent = f"agent {index + 1}"
        results.run = f"{results.agent}, {results.span}"
        for example in results.examples:
            if dice.fraction() < index / AGENTS:
                example.score = 0.0
                for question in example.questions:
                    question.outcome, question.score = Outcome.WRONG, 0.0
        named = whole.manifest.agent.model_copy(update={"name": results.agent})
        yield Run(whole.manifest.model_copy(update={"agent": named}), results)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--spans", default="2k,120k,500k")
    asked = parser.parse_args()
    program = find_browser()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        browser = Browser(program, folder / "profile") if program else None
        print(f"{'page':<34} {'KB':>7} {'drawn in s':>10} {'opened in s':>11}")
        for span in asked.spans.split(","):
            place = held("vector_memory", span, folder)
            begun = time.perf_counter()
            publish(place)
            took = time.perf_counter() - begun
            for file in ("report.html", "transcript.html"):
                page = place / file
                kilobytes = page.stat().st_size / 1000
                print(f"{span + ' ' + file:<34} {kilobytes:>7.0f} {took:>10.2f} {opening(browser, page):>11}")
        runs = [each for span in SPANS for each in variants(read_run(held("perfect", span, folder)))]
        begun = time.perf_counter()
        page = folder / "compare.html"
        page.write_text(render_comparison(compare(runs), {}), "utf-8")
        took = time.perf_counter() - begun
        title = f"comparison, {AGENTS} agents x {len(SPANS)} spans"
        print(f"{title:<34} {page.stat().st_size / 1000:>7.0f} {took:>10.2f} {opening(browser, page):>11}")
        if browser is not None:
            browser.close()


if __name__ == "__main__":
    main()
