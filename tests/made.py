"""Hand-made results and manifests, a run with a hostile agent, and a browser, for the tests of the pages."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from ltm_bench.core.messages import Outcome
from ltm_bench.log.manifest import AgentEntry, FillerEntry, Manifest, ScenarioEntry, SuiteEntry
from ltm_bench.score.audits.judgements import Override, reply_hash
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.results.accounts import Costs
from ltm_bench.score.results.examples import ExampleResult, Needle, Question
from ltm_bench.score.results.figures import bins, needle_recall, points, skills
from ltm_bench.score.results.headline import count_outcomes, example_score, retrievals, summarise_scenario
from ltm_bench.score.results.operations import Operation, Stretch
from ltm_bench.score.results.retrieval import lost, ranking
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.timings import Latency
from ltm_bench.score.statistics.intervals import sum_interval

if TYPE_CHECKING:
    from tests.browser import Browser, find_browser
    from tests.finished import Finished
else:
    from browser import Browser, find_browser

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SUMMARIES = {
    "colours": ("A favourite colour changes; only the last one counts.", ("recall", "conflict"), 0.07),
    "shopping_list": (
        "Things are put on a list and taken off it; what is on it in the end?",
        ("recall", "conflict", "aggregation"),
        0.0,
    ),
    "jokes": (
        "Several are told over the hours; which one was it that long ago?",
        ("episodic", "temporal"),
        0.25,
    ),
    "spy_meeting": (
        "Three coded messages mean something only together.",
        ("recall", "inference", "integration"),
        0.2,
    ),
    "counting_stars": (
        "Small counts are scattered over the chat.",
        ("recall", "aggregation", "coverage"),
        0.0,
    ),
}
SCORES = {Outcome.CORRECT: 1.0, Outcome.PARTIAL: 0.5}

Build = Callable[..., Results]

ENVIRONMENT: Mapping[str, Any] = {
    "python": "3.11.2",
    "platform": "Linux-6.1-x86_64",
    "started": "2026-11-20T22:18:00Z",
    "packages": {"openai": "3.50.0", "tiktoken": "0.12.0"},
}


def needle(turn: int, position: int, last: int, text: str) -> Needle:
    return Needle(turn=turn, text=text, position=position, depth=last - position, at=at(position))


def at(position: int) -> datetime:
    return START + timedelta(milliseconds=200 * position)


def question(turn: int, position: int, outcome: Outcome, **changes: Any) -> Question:
    if outcome is Outcome.NOT_REACHED:
        unreached = {"turn": None, "at": None, "position": None, "text": "", "expected": "", "scorer": ""}
        changes = unreached | changes
    asked: dict[str, Any] = {
        "turn": turn,
        "text": "What is my favourite colour? Name just the one.",
        "expected": "turquoise",
        "reply": None if outcome.infrastructure else "Your favourite colour is turquoise.",
        "outcome": outcome,
        "score": None if outcome.infrastructure else SCORES.get(outcome, 0.0),
        "reason": "“turquoise” is the last colour that was told",
        "scorer": "NamesOnly@1",
        "chance": 0.07,
        "position": position,
        "at": at(position),
    }
    return TypeAdapter(Question).validate_python(asked | changes)


def example(name: str, outcome: Outcome, number: int, span: int, **changes: Any) -> ExampleResult:
    """An example with its needles; those of `counting_stars` have a part each."""
    scenario = name.partition("/")[0]
    first, last = number * span // 100, number * span // 100 + int(0.89 * span)
    told = {"counting_stars": 8, "shopping_list": 6}.get(scenario, 3)
    parts: dict[str, Any] = {}
    if scenario == "counting_stars":
        parts = {"parts": tuple(1.0 if i % 3 else 0.25 * (i % 2) for i in range(told))}
    questions = [
        question(
            50 * number + 40,
            last,
            outcome,
            **(parts | {"chance": SUMMARIES.get(scenario, ("", (), 0.1))[2]} | changes),
        )
    ]
    needles = [
        needle(
            50 * number + 3 * i,
            first + i * (last - first) // told,
            last,
            f"Something about me: colour number {i} is my favourite colour.",
        )
        for i in range(told)
    ]
    if outcome is Outcome.NOT_REACHED:
        needles = needles[:1]
    return ExampleResult(
        id=name,
        scenario=scenario,
        score=example_score(questions),
        span=last - first,
        overrun=0,
        needles=needles,
        questions=questions,
    )


def results_from(examples: Sequence[ExampleResult], **changes: Any) -> Results:
    names = list(dict.fromkeys(e.scenario for e in examples))
    scenarios = [
        summarise_scenario(
            name, *SUMMARIES.get(name, ("", ()))[:2], [e for e in examples if e.scenario == name]
        )
        for name in names
    ]
    complete = all(s.score is not None for s in scenarios)
    so_far = sum(s.score_so_far or 0.0 for s in scenarios)
    strata = {n: [e.score for e in examples if e.scenario == n and e.score is not None] for n in names}
    fields: dict[str, Any] = {
        "run": "2026-11-20-gpt-4o-120k-0",
        "agent": "gpt-4o",
        "suite": "standard",
        "span": 120_000,
        "seed": 0,
        "complete": complete,
        "score": so_far if complete else None,
        "score_so_far": so_far,
        "out_of": len(scenarios),
        "interval": sum_interval(strata) if complete else None,
        "chance": sum(s.chance for s in scenarios),
        "references": {"goldfish": 0.51, "perfect": float(len(scenarios))},
        "turns": 431,
        "tokens": 128_204,
        "filler_tokens": 121_377,
        "seconds": 58_320.0,
        "overruns": 0,
        "costs": Costs(
            calls=104,
            usage={
                "uncached": 812_000,
                "cache_read": 5_440_000,
                "cache_write": 0,
                "output": 9_120,
                "reasoning": 0,
            },
            dollars=9.1213,
            price_list="genai-prices 0.2.1",
        ),
        "latency": Latency(
            total=262.5,
            median=1.84,
            p95=6.2,
            calls=104,
            percentiles={50: 1.84, 75: 2.6, 90: 4.4, 95: 6.2, 99: 7.9, 100: 8.3},
        ),
        "operations": [
            Operation(
                name=name,
                calls=40,
                p50=0.2,
                p95=0.9,
                seconds=12.0,
                tokens=5000,
                dollars=0.25,
                along=(
                    Stretch(position=60_000, calls=20, p50=0.2),
                    Stretch(position=120_000, calls=20, p50=0.3),
                ),
            )
            for name in ("write", "retrieve", "answer")
        ],
        "outcomes": count_outcomes(examples),
        "lost": lost(retrievals(examples)),
        "ranking": ranking(retrievals(examples)),
        "scenarios": scenarios,
        "skills": skills(scenarios, examples),
        "distances": bins(list(points(examples))),
        "needle_recall": needle_recall(examples),
        "examples": list(examples),
        "environment": ENVIRONMENT,
    }
    return Results(**(fields | changes))


SOME = (Outcome.CORRECT, Outcome.CORRECT, Outcome.STALE, Outcome.PARTIAL, Outcome.WRONG, Outcome.ABSTAINED)


def many(outcomes: Sequence[Outcome] = SOME, each: int = 3, span: int = 120_000) -> list[ExampleResult]:
    """`each` examples of every scenario, their outcomes in turn."""
    return [
        example(f"{name}/{i}", outcomes[(s * each + i) % len(outcomes)], s * each + i, span)
        for s, name in enumerate(SUMMARIES)
        for i in range(each)
    ]


def manifest_of(results: Results, **suite: Any) -> Manifest:
    return Manifest(
        format=1,
        version="0.1.0",
        seed=results.seed,
        span=results.span,
        tokenizer="cl100k_base",
        suite=SuiteEntry(
            name=results.suite,
            start=START,
            stagger=0.01,
            isolated=suite.get("isolated", False),
            scenarios=[
                ScenarioEntry(
                    name=s.name, version=1, hash="5d41402abc4b2a76", examples=s.n, parameters={"told": 4}
                )
                for s in results.scenarios
            ],
        ),
        agent=AgentEntry(
            name=results.agent,
            adapter="openai_chat",
            free=suite.get("free", False),
            hash="9a0364b9e99bb480",
            settings={"model": "gpt-4o", "window": 128_000},
        ),
        filler=FillerEntry(source="facts", digest="dd25e1f0295c82a1", mode="scripted", max_tokens=1000),
        scorers={"names_only": 1, "star_counts": 1},
    )


def run_of(
    agent: str,
    outcomes: Sequence[Outcome] = (Outcome.CORRECT,),
    *,
    each: int = 6,
    manifest: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Scored:
    """A run by an agent, whose examples have these outcomes in turn."""
    name = f"{agent}-{changes.get('span', 0)}-{changes.get('seed', 0)}"
    results = results_from(many(outcomes, each=each), **({"agent": agent, "run": name} | changes))
    return Scored(manifest_of(results).model_copy(update=manifest or {}), results)


def by_hand(example: str, question: Mapping[str, Any]) -> Override:
    """A reviewer's verdict that a reply is right; the question comes from a results.json."""
    return Override(
        example=example,
        turn=question["turn"],
        reply=reply_hash(question["reply"]),
        outcome=Outcome.CORRECT,
        score=1.0,
        reviewer="Ada",
        reason="it is right",
        was=Outcome(question["outcome"]),
        was_score=question["score"],
    )


class Made:
    """The builders above, as tests find them."""

    outcomes = SOME
    at = staticmethod(at)
    needle = staticmethod(needle)
    question = staticmethod(question)
    example = staticmethod(example)
    results = staticmethod(results_from)
    many = staticmethod(many)
    manifest = staticmethod(manifest_of)
    by_hand = staticmethod(by_hand)
    run = staticmethod(run_of)


@pytest.fixture
def made() -> Made:
    return Made()


VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


class Page(HTMLParser):
    """Reads a page strictly: every element must be closed, in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.headings: list[int] = []
        self.tables_without_caption = 0
        self._open: list[str] = []
        self._previous = ""
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
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self.headings.append(int(tag[1]))
        self.tables_without_caption += self._previous == "table" and tag != "caption"
        self._previous = tag
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


@pytest.fixture
def read() -> Callable[[str], Page]:
    return Page


NASTY = """
from ltm_bench import Agent, Message, Reply

TEXTS = ["<script>alert(1)</script>", "</p></main></body></html><h1>", "\\x00\\x1b[2J", "\\ud800", "", " \\n",
         "\\u202eabc\\u2067", "\\u200fשלום مرحبا", "{{ 7 * 7 }}{% raw %}", "W" * 3000, ("x" * 50 + " ") * 2_200,
         '"><img src=x onerror=alert(1)>', "&lt;b&gt;", "</style><style>*{display:none}"]

class Nasty(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return Reply(TEXTS[message.turn % len(TEXTS)])
"""


ASKED = (
    "colours",
    "jokes",
    "shopping_list",
    "spy_meeting",
    "counting_stars",
    "trigger_response",
    "sally_anne",
)
"""Scenarios of which the hostile run has two examples each: enough turns for each of its texts."""


@pytest.fixture(scope="session")
def hostile_run(tmp_path_factory: pytest.TempPathFactory, finished: "Finished") -> Path:
    """The folder of a real run whose agent says anything that could break a page; to be read alone."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "agents").mkdir()
    (place / "agents" / "nasty.py").write_text(NASTY, "utf-8")
    (place / "configs").mkdir()
    suite = "examples = 2\n" + "".join(f"[scenarios.{name}]\n" for name in ASKED)
    (place / "configs" / "hostile.toml").write_text(suite, "utf-8")
    with chdir(place):
        return finished("nasty", suite="hostile")


@contextmanager
def serving(app: Any) -> Iterator[int]:
    """Serve an application on a free port, and give the port."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("no chromium on this machine")
    running = Browser(program, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()
