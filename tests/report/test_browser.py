"""The pages in a real browser, mostly with scripts switched off. Skipped if there is no browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.report.page import LIMITS, render_page

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.made import Made

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), packages=("chromium",))

UNFOLD = "document.querySelectorAll('details').forEach(each => each.open = true)"
WIDE = "document.documentElement.scrollWidth"
GROUND = "getComputedStyle(document.body).backgroundColor"
INK = "getComputedStyle(document.body).color"
STRAY = """
[...document.querySelectorAll('body *')].filter(each => each.checkVisibility()
  && !each.closest('.scroll, .contents, svg, .skip')
  && each.getBoundingClientRect().right > WIDTH + 1).map(each => each.outerHTML.slice(0, 80)).join('; ')
"""


def light(colour: str) -> float:
    """Return how light a colour such as `rgb(1, 2, 3)` is, from 0 to 255."""
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@pytest.mark.parametrize(("width", "dark"), [(320, False), (390, True), (1280, False)])
@pytest.mark.parametrize("file", ["report.html", "transcript.html"])
def test_a_page_fits_loads_nothing_and_logs_no_problem(
    browser: "Browser", hostile_run: Path, file: str, width: int, dark: bool
) -> None:
    address = (hostile_run / file).as_uri()
    browser.open(address, width=width, dark=dark, scripts=True)  # any that got in would be reported
    browser.ask(UNFOLD)
    assert browser.ask(WIDE) <= width
    assert browser.ask(STRAY.replace("WIDTH", str(width))) == ""
    paper, ink = light(browser.ask(GROUND)), light(browser.ask(INK))
    assert (paper < 60 and ink > 200) if dark else (paper > 230 and ink < 60)
    assert browser.problems == []
    assert {each for each in browser.requests if not each.startswith("data:")} == {address}


def test_unbroken_names_do_not_widen_the_page(made: "Made", browser: "Browser", tmp_path: Path) -> None:
    name = "W" * 200
    examples = [made.example(f"{name}{i}/0", outcome, i, 120_000) for i, outcome in enumerate(Outcome)]
    results = made.results(examples, agent=name, run=name, suite=name, environment={name: name})
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    for width in (390, 1280):
        browser.open(page.as_uri(), width=width)
        browser.ask(UNFOLD)
        assert browser.ask(WIDE) <= width
        assert browser.ask(STRAY.replace("WIDTH", str(width))) == ""


def test_a_link_to_an_example_unfolds_it(browser: "Browser", hostile_run: Path) -> None:
    browser.open((hostile_run / "report.html").as_uri() + "#e-jokes-1")
    assert browser.ask("document.querySelectorAll('details[open] #e-jokes-1').length") == 1
    opened = browser.ask("[...document.querySelectorAll('#examples details[open]')].length")
    assert opened <= LIMITS["MOST_OPEN"] + 1


def test_the_transcript_can_show_one_example_alone(browser: "Browser", hostile_run: Path) -> None:
    address = (hostile_run / "transcript.html").as_uri()
    shown = (
        "[...document.querySelectorAll('.turn')].filter(each => each.checkVisibility())"
        ".map(each => each.querySelector('.kind').textContent)"
    )
    browser.open(address)
    everything = browser.ask(shown)
    browser.open(address + "#only-jokes-1")
    alone = browser.ask(shown)
    assert alone == [each for each in everything if each.endswith("jokes/1")]
    assert len(everything) > len(alone) > 3
    notes = "[...document.querySelectorAll('.only')].filter(each => each.checkVisibility()).length"
    assert browser.ask(notes) == 1
    browser.open(address + "#main")
    assert browser.ask(shown) == everything
    assert browser.ask(notes) == 0


def test_the_keyboard_reaches_everything_and_first_the_link_past_the_header(
    browser: "Browser", hostile_run: Path
) -> None:
    browser.open((hostile_run / "report.html").as_uri())
    browser.tab()
    assert browser.ask("document.activeElement.className") == "skip"
    assert browser.ask("document.activeElement.getBoundingClientRect().left") >= 0
    reachable = browser.ask(
        "[...document.querySelectorAll('a[href], summary, [tabindex]')].filter(e => e.checkVisibility()).length"
    )
    outlined = "getComputedStyle(document.activeElement).outlineStyle"
    stops = 0
    while browser.ask("document.activeElement !== document.body"):
        stops += 1
        assert browser.ask(outlined) == "solid"
        assert stops <= reachable
        browser.tab()
    assert stops == reachable > 25


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_paper_everything_is_unfolded_and_dark_on_light(
    browser: "Browser", hostile_run: Path, dark: bool
) -> None:
    browser.open((hostile_run / "report.html").as_uri(), dark=dark, media="print")
    assert light(browser.ask(GROUND)) == 255
    assert light(browser.ask(INK)) < 60
    folded = "[...document.querySelectorAll('.question')].filter(each => !each.getBoundingClientRect().height).length"
    assert browser.ask(folded) == 0


def test_dots_stand_where_the_scores_are_and_bars_are_as_long_as_counts(
    made: "Made", browser: "Browser", tmp_path: Path
) -> None:
    results = made.results(made.many([*Outcome, Outcome.CORRECT], each=4))
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri())
    place = (
        "(({left, width}, row) => (left + width / 2 - row.left) / row.width)"
        "(e.getBoundingClientRect(), e.closest('svg').getBoundingClientRect())"
    )
    drawn = browser.ask(f"[...document.querySelectorAll('.told circle')].map(e => {place})")
    ranked = sorted(results.scenarios, key=lambda each: -(each.score_so_far or 0))
    scores = [each.score_so_far for each in ranked if each.score_so_far is not None]
    assert drawn == pytest.approx(scores, abs=0.01)
    assert len({round(score, 2) for score in scores}) > 2
    share = "e.getBoundingClientRect().width / e.closest('svg').getBoundingClientRect().width"
    drawn = browser.ask(
        f"[...document.querySelectorAll('.counts')[0].querySelectorAll('rect')].map(e => {share})"
    )
    counts = results.outcomes.values()
    assert drawn == pytest.approx([count / sum(counts) for count in counts], abs=0.01)


WORDS = """
[...(function* () {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (walk.currentNode.parentElement.checkVisibility()) yield walk.currentNode.textContent;
})()].join(' ').split(/\\s+/).filter(each => each)
"""


def test_what_is_folded_hides_most_of_the_words_but_nothing_that_qualifies_the_score(
    made: "Made", browser: "Browser", tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    undecided = made.results(made.many([*Outcome][:3]), undecided=3, undecided_worth=1.0)
    missing = made.results(made.many([Outcome.CORRECT, Outcome.NOT_REACHED]))
    for results, said in (
        (undecided, ("Above chance", "95 % interval", "n = 15 examples", "3 questions undecided")),
        (missing, ("incomplete, no score yet", "7 not reached", "So far", "ltm-bench resume")),
    ):
        page.write_text(render_page(results, made.manifest(results)), "utf-8")
        browser.open(page.as_uri())
        shown = browser.ask(WORDS)
        for words in said:
            assert words in " ".join(shown)
        browser.ask(UNFOLD)
        assert len(shown) < 0.25 * len(browser.ask(WORDS))


def test_a_link_to_what_is_folded_unfolds_it(made: "Made", browser: "Browser", tmp_path: Path) -> None:
    results = made.results(made.many())
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    opened = "[...document.querySelectorAll('.fold details[open] > .inside')].map(each => each.id).filter(each => each)"
    for link, folds in (("#main", []), ("#skills", ["skills"]), ("#s-jokes", ["examples"])):
        browser.open(page.as_uri() + link)
        assert [each for each in browser.ask(opened) if not each.startswith("e-")] == folds


SHOWN = """
(() => {
  document.getElementById('examples').closest('details').open = true;
  return [...document.querySelectorAll('#examples details')].filter(e => e.checkVisibility())
    .map(e => e.querySelector('h4').textContent);
})()
"""
SET = """
(() => {{ const form = document.getElementById('filter'); form.elements.{0}.value = {1!r};
  form.dispatchEvent(new Event('input')); }})()
"""
GO = """
new Promise(done => {
  addEventListener('hashchange', () => setTimeout(done, 20));
  location.hash = '#e-colours-1';
})
"""


def test_examples_are_filtered_by_scenario_outcome_and_text(
    made: "Made", browser: "Browser", tmp_path: Path
) -> None:
    examples = [
        made.example(f"colours/{i}", o, i, 9_000)
        for i, o in enumerate([Outcome.CORRECT, Outcome.WRONG, Outcome.CORRECT])
    ]
    examples += [
        made.example(f"jokes/{i}", o, i, 9_000, reply=f"Joke {i}, <b>of course</b>")
        for i, o in enumerate([Outcome.WRONG, Outcome.CORRECT])
    ]
    results = made.results(examples)
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri(), scripts=True)
    everything = [example.id for example in examples]
    assert browser.ask(SHOWN) == everything
    browser.ask(SET.format("scenario", "colours"))
    assert browser.ask(SHOWN) == everything[:3]
    browser.ask(SET.format("outcome", "correct"))
    assert browser.ask(SHOWN) == ["colours/0", "colours/2"]
    assert browser.ask("document.getElementById('shown').textContent") == "2 of 5 shown"
    browser.ask(SET.format("scenario", ""))
    browser.ask(SET.format("outcome", ""))
    browser.ask(SET.format("words", "joke 1, <B>OF"))
    assert browser.ask(SHOWN) == ["jokes/1"]
    assert browser.problems == []


def test_a_link_to_a_hidden_example_shows_it(made: "Made", browser: "Browser", tmp_path: Path) -> None:
    results = made.results(made.many())
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri(), scripts=True)
    browser.ask(SET.format("scenario", "jokes"))
    assert "colours/1" not in browser.ask(SHOWN)
    answer = browser.call("Runtime.evaluate", expression=GO, awaitPromise=True)
    assert "exceptionDetails" not in answer
    assert browser.ask("document.querySelectorAll('details[open] #e-colours-1').length") == 1
    assert len(browser.ask(SHOWN)) == len(results.examples)


def test_without_scripts_everything_is_there_except_the_filter(
    made: "Made", browser: "Browser", tmp_path: Path
) -> None:
    results = made.results(made.many())
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri())
    assert browser.ask(SHOWN) == [example.id for example in results.examples]
    assert browser.ask("document.getElementById('filter').checkVisibility()") is False


def test_failures_are_unfolded_and_right_answers_are_not(
    made: "Made", browser: "Browser", tmp_path: Path
) -> None:
    outcomes = [Outcome.CORRECT, Outcome.WRONG, Outcome.CORRECT, Outcome.PARTIAL]
    results = made.results([made.example(f"colours/{i}", o, i, 9_000) for i, o in enumerate(outcomes)])
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri(), scripts=True)
    opened = "[...document.querySelectorAll('#examples details[open]')].map(e => e.querySelector('h4').textContent)"
    assert browser.ask(opened) == ["colours/1", "colours/3"]
    browser.ask(SET.format("outcome", "failed"))
    assert browser.ask(SHOWN) == ["colours/1", "colours/3"]


@pytest.mark.parametrize("width", [390, 1280])
def test_the_navigation_stays_in_sight_on_one_line(
    made: "Made", browser: "Browser", tmp_path: Path, width: int
) -> None:
    results = made.results(made.many())
    page = tmp_path / "report.html"
    page.write_text(render_page(results, made.manifest(results)), "utf-8")
    browser.open(page.as_uri() + "#manifest", width=width)
    bar = browser.ask(
        "(({top, height}) => [top, height])(document.querySelector('.contents').getBoundingClientRect())"
    )
    assert 0 <= bar[0] < 2
    assert bar[1] < 60
    title = browser.ask("document.getElementById('manifest-title').getBoundingClientRect().top")
    assert title >= bar[0] + bar[1], "the bar covers the target of a link"
