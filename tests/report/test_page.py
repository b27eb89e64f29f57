import re
import shutil
import subprocess
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.messages import Outcome
from ltm_bench.report.page import render_page, visible
from ltm_bench.scoring import Results

if TYPE_CHECKING:
    from tests.report.conftest import Made

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
CHROMIUM = shutil.which("chromium")


class Page(HTMLParser):
    """Reads a page strictly: every element that is opened must be closed, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids[str(value)] += 1
            elif name in ("href", "src"):
                self.links.append(str(value))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def page_of(made: "Made", results: Results, *, isolated: bool = False) -> str:
    return render_page(results, made.manifest(results, isolated=isolated), made.environment)


def test_a_page_is_well_formed_and_complete_in_itself(made: "Made") -> None:
    html = page_of(made, made.results(made.many()))
    page = Page(html)
    assert page.tags["h1"] == page.tags["main"] == html.partition("</head>")[0].count("<title>") == 1
    assert page.tags["script"] == page.tags["iframe"] == page.tags["img"] == 0
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert not [name for name in page.attributes if name.startswith("on")]
    outside = [link for link in page.links if not link.startswith(("#", "transcript.html", "data:"))]
    assert outside == []
    assert all(link[1:] in page.ids for link in page.links if link.startswith("#"))
    assert "url(" not in html
    assert "@import" not in html


def test_the_figures_on_the_page_are_those_of_the_results(made: "Made") -> None:
    results = made.results(made.many())
    words = Page(page_of(made, results)).words
    assert results.score is not None
    assert f"{results.score:.1f}" in words
    assert f"/ {results.out_of}" in words
    assert results.interval is not None
    assert f"{results.interval.low:.1f}–{results.interval.high:.1f}" in words
    assert "$9.12" in words
    for scenario in results.scenarios:
        assert scenario.score is not None
        assert f"{scenario.name}" in words
        assert f"n = {scenario.n}" in words
    for example in results.examples:
        assert example.id in words
        for needle in example.needles:
            assert needle.text in words
        for question in example.questions:
            assert question.text in words
            assert question.reason in words
            assert question.reply is not None
            assert question.reply in words


def test_an_incomplete_run_has_no_headline(made: "Made") -> None:
    for outcome in Outcome:
        results = made.results(made.many([*made.outcomes, outcome], each=7))
        words = Page(page_of(made, results)).words.lower()
        assert ("incomplete" in words.partition("scores of the scenarios")[0]) == outcome.infrastructure


def test_what_is_unknown_is_said_to_be_unknown(made: "Made") -> None:
    results = made.results(made.many())
    unknown = results.model_copy(update={"costs": results.costs.model_copy(update={"dollars": None})})
    assert re.search(r"Cost unknown", Page(page_of(made, unknown)).words)
    alone = made.results(made.many(each=1))
    assert alone.interval is None
    assert "0.0–0.0" not in Page(page_of(made, alone)).words


HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table></main></body></html>",
    "</style><style>*{display:none}</style>",
    '" onload="alert(1)" x="',
    "{{ results.__class__ }} {% include 'x' %}",
    "<!-- <![CDATA[ ]]> &lt;b&gt; &#0; &amp;amp;",
    "javascript:alert(1)",
    "\x00\x07\x1b[31m\x7f",
    "\ud800 half a pair \udfff",
    "\u202etxet esrever\u2066",
    "مرحبا שלום 你好 🦔",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_said_is_text_and_nothing_else(made: "Made", text: str) -> None:
    plain = page_of(made, made.results([made.example("colours/0", Outcome.WRONG, 0, 2000)]))
    said = {"reply": text, "text": text, "expected": text, "reason": text}
    html = page_of(made, made.results([made.example("colours/0", Outcome.WRONG, 0, 2000, **said)]))
    html.encode()  # no lone surrogates are left
    before, page = Page(plain), Page(html)
    assert page.tags == before.tags
    assert page.attributes == before.attributes
    assert page.words.count(" ".join(visible(text).split())) >= 4


def test_names_are_as_untrusted_as_replies(made: "Made") -> None:
    bad = "<b>x</b>/../&"
    results = made.results(
        [made.example(f"{bad}/0", Outcome.CORRECT, 0, 2000)], agent=bad, run=bad, suite=bad
    )
    page = Page(page_of(made, results))
    assert page.tags["b"] == Page(page_of(made, made.results(made.many()))).tags["b"]
    assert bad in page.words


def test_a_reply_of_ten_megabytes_is_cut_and_the_page_says_so(made: "Made") -> None:
    results = made.results([made.example("colours/0", Outcome.WRONG, 0, 2000, reply="long " * 2_000_000)])
    html = page_of(made, results)
    assert len(html) < 200_000
    assert "characters more, see the transcript" in html


def test_a_page_of_a_120k_run_stays_under_a_megabyte(made: "Made") -> None:
    examples = made.many(each=10)
    assert len(page_of(made, made.results(examples)).encode()) < 1_000_000


def test_the_same_results_give_the_same_bytes(made: "Made") -> None:
    assert page_of(made, made.results(made.many())) == page_of(made, made.results(made.many()))


def test_a_run_without_examples_and_an_isolated_one_are_pages_too(made: "Made") -> None:
    Page(page_of(made, made.results([])))
    assert "colours-0-turn-" in page_of(made, made.results(made.many(each=1)), isolated=True)


PROBE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const page = document.querySelector("iframe").contentDocument;
  const seen = page.defaultView.getComputedStyle(page.body);
  document.title = "probe " + page.documentElement.scrollWidth + " " + seen.backgroundColor + " " + seen.color;
}, 300));
</script>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize(("width", "scheme"), [(390, 0), (390, 1), (1280, 0)])
def test_in_a_browser_nothing_scrolls_sideways_in_light_and_in_dark(
    made: "Made", tmp_path: Path, width: int, scheme: int
) -> None:
    (tmp_path / "report.html").write_text(page_of(made, made.results(made.many())), "utf-8")
    frame = f'<iframe src="report.html" style="border:0;width:{width}px;height:900px"></iframe>'
    (tmp_path / "probe.html").write_text(f"<!doctype html><body style='margin:0'>{frame}{PROBE}", "utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--blink-settings=preferredColorScheme={scheme}"]
    command += ["--virtual-time-budget=3000", "--dump-dom", (tmp_path / "probe.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    probed = re.search(r"<title>probe (\d+) rgb\((\d+),[^)]*\) rgb\((\d+),", done.stdout)
    assert probed is not None, done.stderr[-2000:]
    wide, paper, ink = map(int, probed.groups())
    assert wide <= width
    dark = scheme == 0  # Chromium's enumeration: 0 is dark, 1 is light
    assert (paper < 80 and ink > 180) if dark else (paper > 230 and ink < 80)
