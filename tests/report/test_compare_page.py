"""The page of a comparison is complete, stays small, and trusts no name."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.report.compare_page import (
    LABEL,
    WIDTH,
    costs,
    curve,
    picture,
    render_comparison,
    spread_out,
)
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.made import Made, Page

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), packages=("chromium",))

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG

Make = Callable[..., Scored]
Read = Callable[[str], "Page"]


@pytest.fixture
def make(made: "Made") -> Make:
    return made.run


def test_the_page_shows_all_of_it_and_stays_small(make: Make, read: Read) -> None:
    runs = [
        make(f"agent-{i}", [RIGHT] * i + [WRONG] * (14 - i), span=span)
        for i in range(14)
        for span in (2_000, 32_000, 120_000, 200_000, 500_000)
    ]
    comparison = compare(runs)
    html = render_comparison(
        comparison, {run.results.run: f"../{run.results.run}/report.html" for run in runs}
    )
    page = read(html)
    assert len(html.encode()) < 2_000_000
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert page.headings[0] == 1
    assert page.tables_without_caption == 0
    assert page.tags["script"] == 0
    assert "../agent-3-2000-0/report.html#e-colours-0" in page.links
    assert page.words.count("no difference shown") > 5
    assert render_comparison(comparison, {}) == render_comparison(comparison, {})


def test_names_of_agents_are_text_in_the_page(make: Make, read: Read) -> None:
    name = "<script>alert(1)</script>\u202e\x1b"
    page = read(render_comparison(compare([make(name), make("b", [WRONG])]), {}))
    assert page.tags["script"] == 0
    assert "<script>alert(1)</script>⟨U+202E⟩␛" in page.words


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_page_fits_loads_nothing_and_logs_no_problem(
    make: Make, browser: "Browser", tmp_path: Path, width: int, dark: bool
) -> None:
    runs = [
        make(name, kind, span=span)
        for name, kind in (("a" * 90, [RIGHT]), ("b", [WRONG, RIGHT]))
        for span in (2_000, 500_000)
    ]
    runs += [
        make(f"agent number {i} of very many", [WRONG] * i + [RIGHT], each=2, span=2_000) for i in range(12)
    ]
    runs.append(make("c", [Outcome.NOT_REACHED], manifest={"tokenizer": "other"}))
    file = tmp_path / "compare.html"
    file.write_text(render_comparison(compare(runs), {}), "utf-8")
    browser.open(file.as_uri(), width=width, dark=dark, scripts=True)
    browser.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.problems == []
    assert {each for each in browser.requests if not each.startswith("data:")} == {file.as_uri()}


def test_several_seeds_are_shown_one_by_one_with_their_spread(make: Make, read: Read) -> None:
    runs = [make("a", [RIGHT], seed=0), make("a", [RIGHT, WRONG], seed=1)]
    words = read(render_comparison(compare(runs), {})).words
    assert "the scores of 2 runs have a standard deviation of 1.77." in words
    assert "seed 0 5.00" in words.replace("\xa0", " ")


def test_a_curve_goes_through_the_scores_and_leaves_incomplete_runs_out(make: Make) -> None:
    comparison = compare(
        [make("a", span=2_000), make("a", [WRONG], span=500_000), make("b", [Outcome.NOT_REACHED])]
    )
    points = curve(comparison, "a").points
    assert [point.y for point in points] == [0.0, 130.0]
    assert 0 < points[0].x < points[1].x < WIDTH
    assert curve(comparison, "a").line.count("L") == 1
    empty = curve(comparison, "b")
    assert (empty.line, empty.band, empty.words) == ("", "", "no complete run")


def test_free_agents_are_at_the_left_edge_and_unknown_costs_nowhere(make: Make) -> None:
    def priced(agent: str, dollars: float | None) -> Scored:
        run = make(agent)
        costs = run.results.costs.model_copy(update={"dollars": dollars})
        return Scored(run.manifest, run.results.model_copy(update={"costs": costs}))

    prices = {"free": 0.0, "cheap": 0.1, "dear": 10.0, "unknown": None}
    comparison = compare([priced(agent, dollars) for agent, dollars in prices.items()])
    places = {dot.cell.entrant: dot.x for dot in costs(comparison, 120_000)}
    assert places == {"free": 5.0, "cheap": 15.0, "dear": 95.0}
    assert costs(compare([priced("free", 0.0), priced("unknown", None)]), 120_000) == []


def test_the_page_says_what_an_undecided_comparison_would_take(make: Make, read: Read) -> None:
    runs = [make("a", [RIGHT, WRONG]), make("b", [RIGHT, WRONG, RIGHT, WRONG, WRONG]), make("c", [WRONG])]
    comparison = compare(runs)
    told = {(pair.first, pair.second): pair for pair in comparison.pairs}
    assert told["a", "c"].needed == told["b", "c"].needed == ""
    close = told["a", "b"]
    assert close.seeds_needed is not None
    assert close.seeds_needed > 1
    assert close.detectable is not None
    assert close.detectable > abs(close.paired.difference)
    words = read(render_comparison(comparison, {})).words
    assert (
        f"a against b : it would probably show a difference of {close.detectable:.2f} points or more; "
        f"to tell these two apart you would need about {close.seeds_needed:,} seeds of 6 examples"
    ) in words
    apart = told["a", "c"]
    assert apart.detectable is not None
    assert (
        f"a against c : it would probably show a difference of {apart.detectable:.2f} points or more."
        in words
    )
    same = compare([make("a"), make("b")])
    assert same.pairs[0].seeds_needed is None
    assert "; these two scored the same" in read(render_comparison(same, {})).words


def rows_of_scenarios(html: str) -> list[tuple[str, ...]]:
    table = html.partition('<table class="by-scenario">')[2].partition("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(?:<bdi>)?([^ <]+)", row) for row in table.split("<tr>")[2:]]
    return [tuple(each) for each in cells]


def test_scenarios_on_which_agents_differ_most_come_first_and_those_without_points_are_a_sentence(
    make: Make, read: Read
) -> None:
    html = render_comparison(
        compare([make("a", [RIGHT] * 2 + [WRONG]), make("b", [WRONG, RIGHT, WRONG])]), {}
    )
    rows = rows_of_scenarios(html)
    gaps = [abs(float(first) - float(second)) for _, first, second in rows]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 0
    none = compare([make("a", [WRONG]), make("b", [WRONG])])
    html = render_comparison(none, {})
    assert rows_of_scenarios(html) == []
    high = max(none.cells[0].scenario_intervals.values(), key=lambda each: each.high).high
    assert f"0.00 for all (intervals up to {high:.2f}): colours, shopping_list, jokes" in read(html).words


def test_the_page_leads_with_its_sentence_then_the_picture_the_pairs_and_the_scenarios(make: Make) -> None:
    runs = [
        make(name, outcomes, span=span)
        for name, outcomes in (("a", [RIGHT]), ("b", [RIGHT, WRONG]), ("perfect", [RIGHT]))
        for span in (2_000, 8_000)
    ]
    html = render_comparison(compare(runs), {})
    marks = ("<h1>", 'class="chart"', 'id="numbers"', 'id="better"', 'id="scenarios"', 'id="everything"')
    places = [html.index(mark) for mark in marks]
    assert places == sorted(places)
    assert "<h1><bdi>a is better than b over 8k tokens" in html
    shown = html[: html.index('id="everything"')]
    assert "Differences between 2 agents at a span of 8000" in shown
    assert "Differences between 3 agents at a span of 8000" in html[len(shown) :]
    assert "Differences between 2 agents at a span of 2000" in html[len(shown) :]


def test_every_pair_is_shown_once_the_better_agent_first(make: Make, read: Read) -> None:
    many = [make(f"agent {i}", [RIGHT] * (9 - 3 * i) + [WRONG] * (3 * i), each=9) for i in range(3)]
    comparison = compare(many)
    html = render_comparison(comparison, {})
    table = html.partition('<table class="matrix">')[2].partition("</table>")[0]
    pairs = re.findall(r'data-pair="([^"]+)"', table)
    assert pairs == ["agent 0 than agent 1", "agent 0 than agent 2", "agent 1 than agent 2"]
    assert table.count("▲ better") == sum(pair.separated for pair in comparison.pairs) > 0
    assert table.count("△ perhaps better") == sum(p.shown and not p.separated for p in comparison.pairs)


def test_labels_beside_the_picture_do_not_hide_each_other() -> None:
    assert spread_out([10.0, 50.0, 90.0]) == [10.0, 50.0, 90.0]
    assert spread_out([50.0, 50.0, 49.0]) == [49 + LABEL, 49 + 2 * LABEL, 49.0]
    assert spread_out([100.0, 99.0]) == [100.0, 100 - LABEL]


@pytest.mark.parametrize(("agents", "drawn"), [(2, 1), (6, 1), (7, 0)])
def test_up_to_six_agents_share_one_picture(make: Make, agents: int, drawn: int) -> None:
    runs = [make(f"agent {i}", [RIGHT, WRONG], span=span) for i in range(agents) for span in (2_000, 8_000)]
    html = render_comparison(compare(runs), {})
    assert html.count('<div class="chart">') == drawn
    assert html.count('<ul class="panels">') == 1 - drawn
    lines = picture(compare(runs), [f"agent {i}" for i in range(agents)]).lines
    assert len({spot.x for line in lines for spot in line.spots}) == 2 * agents


def test_replies_are_side_by_side_only_where_agents_disagree(make: Make, read: Read) -> None:
    shouting = '<script>alert("x")</script>'
    other = make("b", [RIGHT, WRONG])
    examples = [
        replace(e, questions=[replace(q, reply=shouting) for q in e.questions])
        for e in other.results.examples
    ]
    other = other._replace(results=other.results.model_copy(update={"examples": examples}))
    comparison = compare([make("a", [RIGHT]), other])
    apart = [row for row in comparison.rows if row.disagree]
    assert 0 < len(apart) < len(comparison.rows)
    assert all(row.question and row.expected for row in apart)
    assert {row.marks["b"].reply for row in apart} == {shouting}
    assert {mark.reply for row in comparison.rows if not row.disagree for mark in row.marks.values()} == {
        None
    }
    html = render_comparison(comparison, {})
    page = read(html)
    assert html.count('<details class="beside">') == len(apart)
    assert page.tags["script"] == 0
    assert shouting in page.words


def test_the_examples_can_be_filtered_to_those_where_agents_disagree(
    make: Make, browser: "Browser", tmp_path: Path
) -> None:
    comparison = compare([make("a", [RIGHT]), make("b", [RIGHT, WRONG])])
    file = tmp_path / "compare.html"
    file.write_text(render_comparison(comparison, {}), "utf-8")
    browser.open(file.as_uri())
    browser.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    shown = (
        "[...document.querySelectorAll('.grid-table tbody th')].filter(e => e.checkVisibility())"
        ".map(e => e.textContent.trim()).filter(each => each.includes('/'))"
    )
    assert browser.ask(shown) == [row.example for row in comparison.rows]
    browser.ask("document.querySelector('.only-disagreeing').click()")
    assert browser.ask(shown) == [row.example for row in comparison.rows if row.disagree]


def test_differences_between_runs_stand_below_the_picture(make: Make) -> None:
    runs = [make("a", [RIGHT]), make("b", [RIGHT], manifest={"tokenizer": "other"})]
    html = render_comparison(compare(runs), {})
    assert html.count('<details class="warnings"') == 1
    assert html.index("Bar: 95 % interval") < html.index('<details class="warnings"') < html.index("<nav")


def test_what_qualifies_a_score_is_in_sight(make: Make, read: Read) -> None:
    runs = [
        make("a", [RIGHT], span=2_000),
        make("b", [RIGHT, Outcome.UNDECIDED, WRONG], span=2_000),
        make("c", [Outcome.NOT_REACHED], span=2_000),
    ]
    for span in ((), (8_000,)):
        more = [make("a", [RIGHT], span=each) for each in span]
        comparison = compare([*runs, *more])
        html = render_comparison(comparison, {})
        shown = read(html.partition('<h2 class="everything"')[0] + "</main></body></html>").words
        for words in ("if all undecided are right", "incomplete", f"n = {comparison.cells[0].n}"):
            assert words in shown.replace("\xa0", " ")
