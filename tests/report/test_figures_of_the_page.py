"""Every figure on the page of a run is in its results.json, or in its manifest."""

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jinja2
import pytest

from ltm_bench.log.reader import read_manifest

if TYPE_CHECKING:
    from tests.conftest import Command

METER = """
from ltm_bench import Agent, Memory, Message, Reply, Usage

class Meter(Agent):
    calls = 0
    async def reply(self, message: Message) -> Reply:
        self.calls += 1
        usage = Usage(uncached=113, cache_read=97 * self.calls, output=7, model="gpt-4o", provider="openai")
        return Reply("Blue, I think; or 3 figs.", usage)

    async def recall(self, query: str, limit: int):
        return [Memory(f"memory {i}", relevance=0.97 - i / 50) for i in range(3)]
"""

_NUMBER = re.compile(r"(?<![\w.])(\d+(?:,\d{3})*(?:\.\d+)?)( %| ms\b| minutes\b|[kM]\b)?")
_ASIDE = re.compile(
    r'<style>.*?</style>|<script>.*?</script>|<pre>.*?</pre>|<div class="axis">.*?</div>', re.S
)
"""Numbers that are not figures of the run: the manifest as it is, and the ticks of axes."""
_SHOWN = re.compile(r'>([^<]+)<|aria-label="([^"]*)"|<title>([^<]*)</title>')


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Path:
    """A run with some of everything: usage, prices, retrieval, skills, distances, needles."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "meter.py").write_text(METER, "utf-8")
    names = ("colours", "spy_meeting", "counting_stars", "shopping_list")
    done = command(
        *("run", "--span", "2k", "--agent", "meter", "--examples", "3", "--name", "r"),
        *(word for name in names for word in ("--scenario", name)),
    )
    assert done.exit_code == 0, done.output
    return tmp_path / "reports" / "r"


class Figure(NamedTuple):
    number: str
    unit: str
    words: str
    """The text around it."""


def figures(page: str) -> Iterator[Figure]:
    """Yield the numbers that a reader or a screen reader meets."""
    for found in _SHOWN.finditer(_ASIDE.sub("", page)):
        text = unescape(next(group for group in found.groups() if group is not None))
        yield from (Figure(n[1], n[2] or "", text.strip()[:90]) for n in _NUMBER.finditer(text))


def written_in_templates() -> set[str]:
    """Return the numbers of the templates' own sentences, and of the texts in their expressions."""
    found: set[str] = set()
    environment = jinja2.Environment()
    for file in resources.files("ltm_bench.report").joinpath("templates").iterdir():
        if file.name.endswith(".jinja"):
            for _, kind, text in environment.lex(file.read_text("utf-8")):
                if kind in ("data", "string"):
                    found.update(n[1] for n in _NUMBER.finditer(text))
    return found


_SCALES = {
    "": (1.0,),
    " %": (1.0, 100.0),
    " ms": (1e3,),
    " minutes": (1.0, 1 / 60),
    "k": (1e-3,),
    "M": (1e-6,),
}


def leaves(value: Any) -> Iterator[float | str]:
    if isinstance(value, dict):
        yield len(value)
        for key, each in value.items():
            yield from leaves(each)
            yield str(key)
    elif isinstance(value, list):
        yield len(value)
        for each in value:
            yield from leaves(each)
    elif isinstance(value, bool) or value is None:
        return
    else:
        yield value


class Known:
    """The values in results.json and the manifest, in every form that a page may use."""

    def __init__(self, *contents: Any) -> None:
        self.numbers: set[float] = set()
        self.texts: set[str] = set()
        for leaf in (leaf for content in contents for leaf in leaves(content)):
            if isinstance(leaf, str):
                self.texts.update(n[1] for n in _NUMBER.finditer(leaf))
            else:
                self.numbers.add(leaf)

    def says(self, figure: Figure) -> bool:
        plain = figure.number.replace(",", "")
        digits, scales = len(plain.partition(".")[2]), _SCALES[figure.unit]
        return figure.number in self.texts or any(
            f"{value * scale:.{digits}f}" == plain for value in self.numbers for scale in scales
        )


SECTIONS = {
    "scenarios": ("scenarios", "examples"),
    "outcomes": ("outcomes", "decided_by", "lost"),
    "memory": ("scenarios", "lost", "ranking"),
    "skills": ("skills",),
    "distance": ("distances",),
    "needles": ("needle_recall", "examples"),
    "course": ("course", "latency"),
    "costs": ("costs",),
    "operations": ("operations",),
}
"""Fields of results.json whose figures a section may show; other sections may show any."""


def strays(page: str, results: Mapping[str, Any], manifest: Mapping[str, Any]) -> list[Figure]:
    """Return the figures of a page that are nowhere else."""
    own, found = written_in_templates(), []
    head, *sections = re.split(r'<h2 id="([\w-]+)-title"', page)
    for name, part in (("", head), *zip(sections[::2], sections[1::2], strict=True)):
        fields = SECTIONS.get(name, tuple(results))
        known = Known({key: results[key] for key in fields if key in results}, manifest)
        found += [each for each in figures(part) if each.number not in own and not known.says(each)]
    return found


def content_of(run: Path) -> tuple[dict[str, Any], dict[str, Any], str]:
    results = json.loads((run / "results.json").read_bytes())
    return results, read_manifest(run).model_dump(mode="json"), (run / "report.html").read_text("utf-8")


def test_every_figure_of_the_page_is_in_results_json_or_the_manifest(run: Path) -> None:
    results, manifest, page = content_of(run)
    assert len(list(figures(page))) > 500
    assert strays(page, results, manifest) == []


def test_a_figure_that_results_json_lacks_is_found(run: Path) -> None:
    results, manifest, page = content_of(run)
    for field in ("skills", "distances", "costs", "scenarios", "course", "examples"):
        without = {key: each for key, each in results.items() if key != field}
        assert strays(page, without, manifest), field
