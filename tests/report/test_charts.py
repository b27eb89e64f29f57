"""Pictures for papers."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.report.charts import RECIPES, draw, known
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.results.scoring import narrowed
from ltm_bench.score.statistics.intervals import amount_interval

if TYPE_CHECKING:
    from tests.made import Made

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

from ltm_bench.report.charts import frontier
from ltm_bench.report.plotting import CHANCE, PALETTE, agent_colour, agent_shape

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

Make = Callable[..., Scored]


@pytest.fixture
def make(made: "Made") -> Make:
    def run(agent: str, **changes: Any) -> Scored:
        results = made.results(made.many(), agent=agent, run=f"{agent}-{changes.get('span', 0)}", **changes)
        return Scored(made.manifest(results), results)

    return run


@pytest.mark.parametrize("kind", known())
def test_every_kind_of_picture_is_drawn_and_loads_nothing(make: Make, kind: str) -> None:
    runs = [make(agent, span=span) for agent in ("gpt-4o", "goldfish") for span in (32_000, 120_000)]
    picture = draw(kind, runs, "svg").decode()
    root = ElementTree.fromstring(picture)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {text for element in root.iter() for text in [element.text] if text}
    assert any("gpt-4o" in text for text in texts)
    assert set(re.findall(r"https?://[^\"'\s]+", picture)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "<script" not in picture


@pytest.mark.parametrize(("form", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF-")])
def test_pictures_have_three_forms(make: Make, form: str, begins: bytes) -> None:
    assert draw("scenarios", [make("a")], form).startswith(begins)


def test_names_of_agents_are_text_in_a_picture(make: Make) -> None:
    picture = draw(
        "scenarios", [make('</text><script>alert("x")</script>\u202e\x1b'), make("b")], "svg"
    ).decode()
    ElementTree.fromstring(picture)
    assert "<script" not in picture
    assert "⟨U+202E⟩␛" in picture


def test_each_score_is_drawn_at_its_span(made: "Made") -> None:
    right = made.results(made.many([Outcome.CORRECT]), agent="right")
    wrong = made.results(made.many([Outcome.WRONG]), agent="wrong")
    picture = draw("spans", [Scored(made.manifest(each), each) for each in (right, wrong)], "svg").decode()
    described = set(re.findall(r"span in tokens: 120000; score, as a share: (\d)", picture))
    assert described == {"0", "1"}


@pytest.mark.parametrize(
    ("kind", "form", "complaint"),
    [
        ("spam", "svg", "--kind spam: unknown; did you mean 'spans'?"),
        ("spans", "jpg", "the file must end in .svg, .png, .pdf, not in 'jpg'"),
        ("distance", "svg", "--kind distance: these runs have nothing to draw"),
        *((each, "svg", f"--kind {each}: no longer drawn; docs/charts.md has it") for each in RECIPES),
    ],
)
def test_what_cannot_be_drawn_is_explained(made: "Made", kind: str, form: str, complaint: str) -> None:
    results = made.results([made.example("colours/0", Outcome.CORRECT, 0, 9_000)])
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        draw(kind, [Scored(made.manifest(results), results)], form)


def test_twenty_four_agents_are_told_apart_and_named_in_full() -> None:
    names = [
        f"an agent with quite a long name, as those with many settings have, number {i}" for i in range(24)
    ]
    colours = json.loads(agent_colour(names).to_json())["scale"]["range"]
    shapes = json.loads(agent_shape(names).to_json())["scale"]["range"]
    assert len({(colours[i % len(colours)], shapes[i]) for i in range(24)}) == 24


def read(picture: bytes) -> set[str]:
    return {element.text for element in ElementTree.fromstring(picture).iter() if element.text}


def test_the_frontier_has_intervals_in_both_directions_for_cost_context_and_latency(make: Make) -> None:
    runs = [make(agent) for agent in ("gpt-4o", "goldfish")]
    known = amount_interval([1.0, 1.2, 1.4, 1.6])
    assert known is not None
    chart = frontier.drawn(
        [
            cell.model_copy(
                update={
                    "dollars": 1.3,
                    "dollars_interval": known,
                    "context": 900.0,
                    "latency": 2.0,
                    "latency_interval": known,
                }
            )
            if cell.entrant == "gpt-4o"
            else cell.model_copy(update={"dollars": None, "latency": 0.5, "latency_interval": None})
            for cell in compare(runs).cells
        ]
    ).to_dict()
    [values] = chart["datasets"].values()
    rows = {(row["against"], row["agent"]): row for row in values}
    assert set(rows) == {
        ("US dollars per run", "gpt-4o"),
        ("context tokens per question", "gpt-4o"),
        ("median seconds per reply", "gpt-4o"),
        ("median seconds per reply", "goldfish"),
    }
    paid = rows["US dollars per run", "gpt-4o"]
    assert (paid["low"], paid["x"], paid["high"]) == (known.low, 1.3, known.high)
    assert paid["worst"] < paid["share"] < paid["most"]
    free = rows["median seconds per reply", "goldfish"]
    assert (free["low"], free["high"]) == (0.5, 0.5)
    assert "cost unknown: goldfish" in json.dumps(chart["title"])


@pytest.mark.parametrize("kind", ["scenarios", "spans", "distance"])
def test_the_chance_level_is_drawn_and_stated(make: Make, kind: str) -> None:
    picture = draw(kind, [make(agent, span=8_000) for agent in ("a", "b")], "svg")
    assert any("orange: score of guessing" in text for text in read(picture))
    assert picture.decode().count("#d55e00") >= 2


def test_the_floor_is_drawn_where_goldfish_scores(make: Make) -> None:
    run = make("a", span=8_000)
    share = run.results.references["goldfish"] / run.results.out_of
    picture = draw("spans", [run], "svg").decode()
    drawn = re.findall(r"score, as a share: ([\d.]+)", picture)
    assert any(abs(float(each) - share) < 1e-6 for each in drawn)


def test_a_picture_is_as_wide_as_asked(make: Make) -> None:
    narrow, wide = (
        float(ElementTree.fromstring(draw("scenarios", [make("a")], "svg", width)).attrib["width"])
        for width in (200, 700)
    )
    assert wide - narrow == pytest.approx(500, abs=2)


def test_every_row_of_a_forest_has_room_for_all_agents(make: Make) -> None:
    heights = [
        float(
            ElementTree.fromstring(
                draw("scenarios", [make(f"agent {i}") for i in range(count)], "svg")
            ).attrib["height"]
        )
        for count in (1, 12)
    ]
    assert heights[1] > 4 * heights[0]


def test_results_limited_to_scenarios_equal_those_of_a_smaller_run(make: Make, made: "Made") -> None:
    run = make("a")
    few = narrowed(run.results, ["colours", "jokes"])
    alone = made.results(
        [e for e in run.results.examples if e.scenario in ("colours", "jokes")],
        agent="a",
        run=run.results.run,
    )
    for field in (
        "complete",
        "score",
        "out_of",
        "interval",
        "chance",
        "outcomes",
        "skills",
        "distances",
        "examples",
    ):
        assert getattr(few, field) == getattr(alone, field), field
    assert few.smallest_difference == alone.smallest_difference


def test_guessing_has_a_colour_that_only_an_eighth_agent_has() -> None:
    assert PALETTE.index(CHANCE) == len(PALETTE) - 1
    assert len(set(PALETTE)) == len(PALETTE)


def test_free_agents_have_no_axis_of_costs(make: Make) -> None:
    cells = compare([make("a"), make("b")]).cells
    for dollars, axes in ((0.0, 1), (2.0, 2)):
        drawn = frontier.drawn(
            [cell.model_copy(update={"dollars": dollars, "latency": 1.5}) for cell in cells]
        )
        [values] = drawn.to_dict()["datasets"].values()
        assert len({row["against"] for row in values}) == axes
