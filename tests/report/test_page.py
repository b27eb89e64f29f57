import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.report.anchors import slug
from ltm_bench.report.page import LIMITS, LONGEST, SHORTEST, render_page, samples, started_on
from ltm_bench.report.text import visible
from ltm_bench.report.words import figure
from ltm_bench.score.audits.correction import Measured
from ltm_bench.score.audits.records import Audit, Contradiction, Rate
from ltm_bench.score.results.examples import SAID
from ltm_bench.score.results.guessing import Guessed
from ltm_bench.score.results.retrieval import Retrieval
from ltm_bench.score.results.run import SCHEMA, Results
from ltm_bench.score.statistics.intervals import Interval

if TYPE_CHECKING:
    from tests.made import Made, Page

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

Read = Callable[[str], "Page"]

MEGABYTE = 1_000_000


def page_of(made: "Made", results: Results, *, isolated: bool = False, free: bool = False) -> str:
    return render_page(results, made.manifest(results, isolated=isolated, free=free))


def first_screen(html: str) -> str:
    return html.partition('<nav class="contents"')[0]


def test_a_page_is_well_formed_and_self_contained(made: "Made", read: Read) -> None:
    html = page_of(made, made.results(made.many()))
    page = read(html)
    assert page.tags["h1"] == page.tags["main"] == html.partition("</head>")[0].count("<title>") == 1
    assert page.tags["script"] == 1  # its own, identified by its hash
    assert html.count("<script>") == 1
    script = html.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'\""
        in html
    )
    assert page.tags["iframe"] == page.tags["img"] == 0
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert not [name for name in page.attributes if name.startswith("on")]
    outside = [link for link in page.links if not link.startswith(("#", "transcript.html", "data:"))]
    assert outside == []
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert "url(" not in html
    assert "@import" not in html
    assert '<html lang="en">' in html
    assert 'name="viewport"' in html


def test_headings_skip_no_level_and_every_table_has_a_caption(made: "Made", read: Read) -> None:
    page = read(page_of(made, made.results(made.many())))
    assert page.headings[0] == 1
    assert all(after <= before + 1 for before, after in zip(page.headings, page.headings[1:], strict=False))
    assert page.tags["table"] > len(made.many())
    assert page.tables_without_caption == 0


def test_the_figures_on_the_page_are_those_of_the_results(made: "Made", read: Read) -> None:
    results = made.results(made.many())
    words = read(page_of(made, results)).words
    assert results.score is not None
    assert f"gets {results.score:.1f} of {results.out_of} points" in words
    assert results.interval is not None
    assert f"{results.interval.low:.1f}–{results.interval.high:.1f}" in words
    for shown in (
        "$9.12",
        "128,204 tokens",
        "95 % of the tokens",
        "104 calls",
        "6,252,000 tokens in",
        "9,120 out",
    ):
        assert shown in words
    assert "goldfish (baseline: remembers nothing) 0.5 perfect (oracle: is told the answers) 5.0" in words
    assert f"chance (blind guesses) {results.chance:.1f}" in words
    for scenario in results.scenarios:
        assert scenario.score is not None
        assert scenario.interval is not None
        low, high = scenario.interval.low, scenario.interval.high
        assert f"{figure(scenario.score, digits=2)} {figure(low, digits=2)}–{figure(high, digits=2)}" in words
        assert f"n = {scenario.n}" in words
    for example in results.examples:
        assert example.id in words
        assert f"span {example.span:,}" in words
        for needle in example.needles:
            assert needle.text in words
            assert f"{needle.turn} {needle.depth:,}" in words
        for question in example.questions:
            assert question.text in words
            assert question.reason in words
            assert question.reply is not None
            assert question.reply in words


def test_the_page_of_a_real_run_agrees_with_its_results_json(hostile_run: Path, read: Read) -> None:
    page = read((hostile_run / "report.html").read_text("utf-8"))
    results = json.loads((hostile_run / "results.json").read_text("utf-8"))
    assert results["schema_version"] == SCHEMA
    assert f"{results['score']:.1f} of {results['out_of']} points" in page.words
    assert f"{results['tokens']:,} tokens in {results['turns']} turns" in page.words
    assert f"{results['overruns']} of {len(results['examples'])} examples" in page.words
    for outcome, count in results["outcomes"].items():
        assert f"{outcome} {count}" in page.words
    read_by = [f"by {SAID[who]} {count}" for who, count in results["decided_by"].items()]
    assert ", ".join(read_by) in page.words
    assert f"How the replies were read {' '.join(read_by)}" in page.words
    for example in results["examples"]:
        assert page.ids[f"e-{slug(example['id'])}"] == 1
        for needle in example["needles"]:
            assert f"{needle['turn']} {needle['depth']:,}" in page.words
        for question in example["questions"]:
            at = datetime.fromisoformat(question["at"])
            assert (
                f"turn {question['turn']} · {at:%Y-%m-%d %H:%M} · at {question['position']:,}" in page.words
            )
            assert " ".join(visible(question["expected"]).split()) in page.words


def test_needles_lie_between_the_first_of_them_and_the_last_question(made: "Made", read: Read) -> None:
    example = made.example("jokes/0", Outcome.CORRECT, 0, 120_000)
    words = read(page_of(made, made.results([example]))).words
    placed = re.findall(r"(\d+) % 2026-01-05", words)
    assert placed == ["0", "33", "67"]


@pytest.mark.parametrize("outcome", Outcome)
def test_a_run_without_all_its_verdicts_is_incomplete_and_has_no_headline(
    made: "Made", read: Read, outcome: Outcome
) -> None:
    results = made.results(made.many([*made.outcomes, outcome], each=7))
    html = page_of(made, results)
    words = read(first_screen(html) + "</main></body></html>").words
    title = html.partition("<title>")[2].partition("</title>")[0]
    for text in (title, words):
        assert ("incomplete" in text) == outcome.infrastructure
        assert (f"of {results.out_of} points" in text.partition("So far")[0]) == (not outcome.infrastructure)
    assert ("ltm-bench resume" in words) == (outcome in (Outcome.NOT_REACHED, Outcome.AGENT_ERROR))


def test_unknown_figures_are_called_unknown_and_never_zero(made: "Made", read: Read) -> None:
    results = made.results(made.many())
    costs = results.costs.model_copy(update={"dollars": None, "usage": {}})
    unknown = results.model_copy(update={"costs": costs, "references": {}, "latency": None, "interval": None})
    words = read(page_of(made, unknown)).words
    for text in (
        "Cost unknown",
        "goldfish (baseline: remembers nothing) unknown",
        "perfect (oracle: is told the answers) unknown",
        "tokens in and out: unknown",
        "Latency not measured",
        "no interval, which needs",
    ):
        assert text in words


def test_nothing_is_claimed_about_an_example_that_was_not_reached(made: "Made", read: Read) -> None:
    results = made.results(made.many([Outcome.NOT_REACHED]))
    words = read(page_of(made, results)).words
    assert "chance (blind guesses) unknown" in words
    assert "span unknown" in words
    assert "span 0" not in words
    assert re.search(r"\d+ – – 2026-01-05", words)  # turn, depth, place in its span, time
    assert words.count("incomplete n = 0 of 3") == len(results.scenarios)
    assert "0.00" not in words.partition("Every example")[0]


@pytest.mark.parametrize(("free", "calls", "shown"), [(True, 9, "free"), (False, 0, "$0.00 no call yet")])
def test_zero_cost_is_called_free_only_for_a_free_agent(
    made: "Made", read: Read, free: bool, calls: int, shown: str
) -> None:
    results = made.results(made.many())
    costs = results.costs.model_copy(update={"dollars": 0.0, "calls": calls})
    assert (
        f"Cost {shown}" in read(page_of(made, results.model_copy(update={"costs": costs}), free=free)).words
    )


HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table></main></body></html>",
    "</style><style>*{display:none}</style>",
    '" onload="alert(1)" x="',
    "{{ results.__class__ }} {% include 'x' %}",
    "{{ '' }}%s%n{0}",
    "<!-- <![CDATA[ ]]> &lt;b&gt; &#0; &amp;amp;",
    "javascript:alert(1)",
    "\x00\x07\x1b[31m\x7f",
    "\ud800 half a pair \udfff",
    "\u202etxet esrever\u2066",
    "\u200fمرحبا שלום\u200e 你好 🦔",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_said_is_only_text(made: "Made", read: Read, text: str) -> None:
    plain = page_of(made, made.results([made.example("colours/0", Outcome.WRONG, 0, 2000)]))
    said = {"reply": text, "text": text, "expected": text, "reason": text}
    html = page_of(made, made.results([made.example("colours/0", Outcome.WRONG, 0, 2000, **said)]))
    html.encode()  # without lone surrogates
    before, page = read(plain), read(html)
    assert page.tags == before.tags
    assert page.attributes == before.attributes
    assert page.words.count(" ".join(visible(text).split())) >= 4


@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_as_untrusted_as_replies(made: "Made", read: Read, text: str) -> None:
    plain = read(page_of(made, made.results([made.example("x/0", Outcome.CORRECT, 0, 2000)])))
    results = made.results(
        [made.example(f"{text}/0", Outcome.CORRECT, 0, 2000)], agent=text, run=text, suite=text
    )
    html = page_of(made, results)
    html.encode()
    page = read(html)
    assert page.tags == plain.tags
    assert page.attributes == plain.attributes
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert page.words.count(" ".join(visible(text).split())) >= 8


@pytest.mark.parametrize(
    ("environment", "day"),
    [
        ({"started": ["2026-11-21T23:30:00-02:00", "2026-12-01T00:00:00+00:00"]}, "2026-11-22"),
        ({"started": []}, None),
        ({"started": ["yesterday"]}, None),
        ({"started": "2026"}, None),
        ({}, None),
    ],
)
def test_a_run_is_dated_by_its_start(environment: dict[str, object], day: str | None) -> None:
    assert started_on(environment) == day


def test_answers_lost_in_retrieval_are_counted_by_scenario(made: "Made", read: Read) -> None:
    places = [Retrieval(needles=2, stored=s, retrieved=r) for s, r in ((1, 0), (2, 1), (2, 2), (2, 2))]
    examples = [
        made.example(f"colours/{i}", Outcome.WRONG, i, 2000, retrieval=place)
        for i, place in enumerate(places)
    ]
    words = read(page_of(made, made.results(examples))).words
    assert "1 not stored, 1 not retrieved, 2 retrieved, but not used" in words
    assert "Scenario Not stored Not retrieved Retrieved, but not used colours 1 1 2" in words
    without = read(page_of(made, made.results([made.example("colours/0", Outcome.WRONG, 0, 2000)]))).words
    assert "Where retrieval lost" not in without


def test_a_reply_of_ten_megabytes_is_cut_and_the_page_says_so(made: "Made", read: Read) -> None:
    results = made.results([made.example("colours/0", Outcome.WRONG, 0, 2000, reply="long " * 2_000_000)])
    html = page_of(made, results)
    assert len(html) < 200_000
    assert f"({10_000_000 - LONGEST:,} characters more, see the transcript)" in read(html).words


def test_a_page_of_a_120k_run_stays_under_a_megabyte(made: "Made") -> None:
    examples = made.many(each=20)
    assert sum(len(e.needles) + len(e.questions) for e in examples) >= 500
    assert len(page_of(made, made.results(examples)).encode()) < MEGABYTE


@pytest.mark.parametrize("letter", ["x", "<", "語", "\u202e"])
def test_long_replies_are_cut_shorter_when_there_are_many(made: "Made", read: Read, letter: str) -> None:
    said = {"reply": letter * 8000, "reason": letter * 8000}
    examples = [made.example(f"colours/{i}", Outcome.WRONG, i, 120_000, **said) for i in range(60)]
    html = page_of(made, made.results(examples))
    assert len(html.encode()) < MEGABYTE
    assert visible(letter) * SHORTEST in read(html).words


def test_a_suite_with_a_large_pool_does_not_swell_the_page(made: "Made") -> None:
    results = made.results(made.many())
    manifest = made.manifest(results)
    entries = [
        entry.model_copy(update={"parameters": {"pool": ["word"] * 100_000}})
        for entry in manifest.suite.scenarios
    ]
    manifest = manifest.model_copy(update={"suite": manifest.suite.model_copy(update={"scenarios": entries})})
    html = render_page(results, manifest)
    assert len(html) < MEGABYTE // 2
    assert "see the first line of events.jsonl" in html


RENDER = """
import json, sys
from pathlib import Path
from ltm_bench.log.manifest import Manifest
from ltm_bench.report.page import render_page
from ltm_bench.score.results.run import Results

content = json.loads(Path(sys.argv[1]).read_text("utf-8"))
page = render_page(Results(**content["results"]), Manifest(**content["manifest"]))
sys.stdout.buffer.write(page.encode())
"""


@pytest.mark.unkept
def test_the_same_results_give_the_same_bytes_in_any_process(made: "Made", tmp_path: Path) -> None:
    results = made.results(made.many())
    file = tmp_path / "content.json"
    content = {
        "results": results.model_dump(mode="json"),
        "manifest": made.manifest(results).model_dump(mode="json"),
    }
    file.write_text(json.dumps(content), "utf-8")
    zones = {"1": "Asia/Tokyo", "2": "America/Lima"}
    pages = {
        subprocess.run(
            [sys.executable, "-c", RENDER, str(file)],
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in zones.items()
    }
    assert pages == {page_of(made, results).encode()}


def test_empty_and_isolated_runs_have_pages_too(made: "Made", read: Read) -> None:
    assert "No examples." in read(page_of(made, made.results([]))).words
    page = read(page_of(made, made.results(made.many(each=1)), isolated=True))
    assert "transcript.html#colours-0-turn-0" in page.links
    assert "its own conversation" in page.words


def test_a_question_of_many_parts_shows_which_of_them_were_right(made: "Made", read: Read) -> None:
    html = page_of(made, made.results([made.example("counting_stars/0", Outcome.PARTIAL, 0, 120_000)]))
    assert html.count('<i class="found"') == 5
    assert "5 of 8, from the first needle to the last" in read(html).words


def test_the_manifest_is_on_the_page_in_full(made: "Made", read: Read) -> None:
    results = made.results(made.many())
    words = read(page_of(made, results)).words
    for text in (
        "cl100k_base",
        "dd25e1f0295c82a1",
        "9a0364b9e99bb480",
        "5d41402abc4b2a76",
        '"stagger": 0.01',
    ):
        assert text in words
    assert "Linux-6.1-x86_64" in words


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(2 * d for d in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of the Web Content Accessibility Guidelines, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_have_enough_contrast(made: "Made", scheme: int) -> None:
    style = page_of(made, made.results([])).partition("<style>")[2]
    blocks = re.findall(r":root \{([^}]*)\}", style)
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", blocks[scheme]))
    outcomes = "correct partial stale wrong abstained malformed overflow".split()
    for ground in ("paper", "card"):
        for text in ("ink", "soft", "link"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
        for drawn in (*outcomes, "infra", "edge", "focus", "band"):
            assert contrast(colours[drawn], colours[ground]) >= 3, (drawn, ground)
    assert contrast(colours["ink"], colours["bar"]) >= 4.5


def audited(auditor: str, contradicted: int, measured: Measured | None) -> Audit:
    rate = Rate(
        verdicts=812,
        drawn=300,
        read=300,
        contradicted=contradicted,
        agreement=1 - contradicted / 300,
        error=contradicted / 300,
        interval=Interval(low=0.0, high=0.0312),
    )
    each = Contradiction(
        example="jokes/0",
        turn=3,
        question="<b>Which one?</b>",
        expected="the snail",
        reply="<script>alert(1)</script>",
        outcome=Outcome.CORRECT,
        reason="it says so",
        auditor_outcome=Outcome.WRONG,
        auditor_reason="</table> vague",
    )
    return Audit(
        auditor=auditor,
        key="k" if measured else "",
        model=None,
        seed=0,
        measured=measured,
        total=rate,
        kappa=0.941,
        scenarios={"jokes": rate, "colours": rate},
        contradictions=[each] * contradicted,
    )


def test_audits_are_beside_the_score_and_show_both_readings(made: "Made", read: Read) -> None:
    judge = Measured(right=150, accepted=147, other=150, rejected=146)
    audits = [audited("<i>judge</i>", 3, judge), audited("Ada", 0, None)]
    html = page_of(made, made.results(made.many(), audits=audits))
    page = read(html)
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert "<script>alert" not in html
    assert "<i>judge" not in html
    text = " ".join(" ".join(page.text).split())
    assert "Scorer error 1.0 % (0.0–3.1), audited by <i>judge</i>: 300 of 812 confident verdicts read" in text
    assert "sensitivity 0.980 on 150 right replies, specificity 0.973 on 150 others" in text
    assert "3 contradicted verdicts" in text
    assert "wrong: </table> vague" in text
    assert "300 verdicts without an error still allow an error of 3.1 %" in text
    assert "Ada, a person who is taken at their word" in text
    assert "Scorer error" in first_screen(html)
    assert 'id="audit"' not in page_of(made, made.results(made.many()))


def test_the_top_has_one_sentence_of_finding_and_few_facts(made: "Made") -> None:
    outcomes = [Outcome.CORRECT] * 3 + [Outcome.WRONG] * 12
    results = made.results(made.many(outcomes))
    html = render_page(results, made.manifest(results))
    top = first_screen(html)
    assert top.count("<dt>") <= 6
    words = " ".join(re.sub("<[^>]+>", "", top).split())
    assert f"over 120k tokens; guessing would get {results.chance:.1f}" in words
    assert "; best at colours (1.00), worst at " in words
    for rest in ("Overruns", "Benchmark time", "Version", "Filler"):
        assert f"<dt>{rest}</dt>" in html.partition('id="manifest"')[2]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ((1.0, 0.5, 0.0), "best at a (1.00), worst at c (0.00)"),
        ((1.0, 1.0, 0.0), "best at a and b (1.00), worst at c (0.00)"),
        ((1.0, 0.0, 0.0, 0.0), "best at a (1.00), worst at 3 scenarios (0.00)"),
    ],
)
def test_scenarios_that_score_the_same_are_best_or_worst_together(
    made: "Made", scores: tuple[float, ...], said: str
) -> None:
    results = made.results(made.many([Outcome.CORRECT, Outcome.WRONG]))
    named = zip("abcd", scores, strict=False)
    alike = [results.scenarios[0].model_copy(update={"name": n, "score": score}) for n, score in named]
    results = results.model_copy(update={"scenarios": alike})
    top = first_screen(render_page(results, made.manifest(results)))
    assert f"; {said}." in " ".join(re.sub("<[^>]+>", "", top).split())


def test_there_is_no_best_or_worst_when_all_score_the_same(made: "Made") -> None:
    results = made.results(made.many([Outcome.CORRECT]))
    assert "worst at" not in render_page(results, made.manifest(results))


def test_scenarios_are_in_order_of_their_scores(made: "Made") -> None:
    results = made.results(made.many([Outcome.WRONG] * 3 + [Outcome.CORRECT] * 12))
    html = render_page(results, made.manifest(results)).partition('id="scenarios"')[2].partition("</ul>")[0]
    assert [part.partition("</bdi>")[0] for part in html.split("<bdi>")[1::2]][-1] == "colours"


def test_measured_chance_stands_beside_declared_chance_where_it_is_known(made: "Made") -> None:
    results = made.results(made.many(each=6))
    guessed = Guessed(
        scenario="colours", guesser="first", mean=0.24, interval=Interval(low=0.19, high=0.3), seeds=40
    )
    first, *others = results.scenarios
    known = first.model_copy(update={"guessed": guessed, "chance": 0.25})
    html = render_page(results.model_copy(update={"scenarios": [known, *others]}), made.manifest(results))
    table = html.partition('id="guessing"')[2].partition("</table>")[0]
    assert table.count("<tr><td>") == 1
    assert " ".join(re.sub("<[^>]+>", " ", table).split()).endswith("colours 0.25 0.24 0.19–0.30 first 40")


@pytest.mark.parametrize("section", ["scenarios", "skills", "distance"])
def test_chance_is_marked_wherever_scores_are_shown(made: "Made", section: str) -> None:
    results = made.results(made.many(each=6))
    html = render_page(results, made.manifest(results)).partition(f' id="{section}"')[2]
    html = html.partition("</ul>")[0]
    rows = html.count('role="img"')
    assert rows > 1
    assert html.count('<line class="chance"') >= rows
    assert html.count(", chance ") >= rows


def test_the_shortest_exchange_of_each_kind_is_there_to_read_the_most_frequent_first(made: "Made") -> None:
    lost, unused = (Retrieval(needles=1, stored=1, retrieved=found) for found in (0, 1))
    asked = [
        (Outcome.CORRECT, "a long and winding reply", None),
        (Outcome.WRONG, "an even longer wrong reply", lost),
        (Outcome.WRONG, "short", lost),
        (Outcome.WRONG, "no", unused),
        (Outcome.CORRECT, "brief", None),
        (Outcome.CORRECT, "not so brief", None),
        (Outcome.AGENT_ERROR, None, None),
    ]
    examples = [
        made.example(f"colours/{i}", outcome, i, 2000, reply=reply, retrieval=place)
        for i, (outcome, reply, place) in enumerate(asked)
    ]
    assert [each.example.id for each in samples(made.results(examples))] == [
        "colours/2",
        "colours/3",
        "colours/4",
    ]
    kinds = [o for o in Outcome if not o.infrastructure]
    assert len(kinds) > LIMITS["MOST_KINDS"]
    assert len(samples(made.results(made.many(kinds)))) == LIMITS["MOST_KINDS"]
    assert samples(made.results([])) == []


def test_the_page_names_the_next_commands_where_something_was_missed(made: "Made") -> None:
    missed = made.results(made.many([Outcome.WRONG, Outcome.CORRECT]))
    page = render_page(missed, made.manifest(missed))
    assert f"ltm-bench show {missed.run} --example " in page
    assert f"ltm-bench control {missed.run} --ladder" in page
    assert page.index("Expected:") < page.index("Replied:")
    for outcome in (Outcome.CORRECT, Outcome.NOT_REACHED):
        other = made.results(made.many([outcome]))
        assert "What next" not in render_page(other, made.manifest(other))
