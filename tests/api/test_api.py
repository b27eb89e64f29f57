"""The Python API: the same run from a script, inside an event loop, and in a notebook."""

import ast
import asyncio
import builtins
import gc
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

import ltm_bench
from ltm_bench import Progress, Run, aresume, arun, compare, frame, load_run, plot, resume, run
from ltm_bench.core.errors import BudgetReached, ConfigError, ManifestDiffers, RunIncomplete

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

ROOT = Path(__file__).parents[2]
SMALL: dict[str, Any] = {"span": "2k", "scenarios": ["colours"], "examples": 2}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_returns_score_interval_and_replies_and_prints_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    result = run(agent="perfect", **SMALL)
    assert (result.score, result.out_of, result.complete) == (1.0, 1, True)
    assert result.interval is not None
    assert result.interval.low > result.results.chance
    assert result.verdict == "above chance"
    assert result.examples[0].questions[0].reply
    assert [scenario.name for scenario in result.scenarios] == ["colours"]
    assert (result.folder / "report.html").exists()
    assert capfd.readouterr() == ("", "")


def test_it_works_inside_a_running_event_loop() -> None:
    async def inside() -> tuple[Run, Run]:
        return run(agent="perfect", name="blocking", **SMALL), await arun(
            agent="perfect", name="awaited", **SMALL
        )

    blocking, awaited = asyncio.run(inside())
    assert blocking.score == awaited.score == 1.0
    logs = [(each.folder / "events.jsonl").read_bytes() for each in (blocking, awaited)]
    assert logs[0] == logs[1]


def test_the_same_call_again_finds_the_run_finished_and_asks_nobody() -> None:
    first = run(agent="parrot", **SMALL)
    written = (first.folder / "events.jsonl").stat().st_mtime_ns
    again = run(agent="parrot", **SMALL)
    assert again.score == first.score
    assert (first.folder / "events.jsonl").stat().st_mtime_ns == written


def test_results_can_be_loaded_without_writing_anything() -> None:
    made = run(agent="parrot", **SMALL)
    before = {path: path.stat().st_mtime_ns for path in made.folder.rglob("*")}
    for loaded in (load_run(), load_run(made.name), load_run(made.folder)):
        assert loaded.results.examples == made.results.examples
        assert loaded.score == made.score
    assert {path: path.stat().st_mtime_ns for path in made.folder.rglob("*")} == before


def test_results_are_immutable() -> None:
    made = run(agent="parrot", **SMALL)
    with pytest.raises(ValidationError, match="frozen"):
        made.results.score = 1.0  # type: ignore[misc]  # that is what is tested
    with pytest.raises(AttributeError, match="reply"):
        made.examples[0].questions[0].reply = "x"  # type: ignore[misc]  # as above
    with pytest.raises(AttributeError):
        made.folder = Path()  # type: ignore[misc]  # that is what is tested


def test_progress_is_reported_after_every_turn_and_ends_complete() -> None:
    heard: list[Progress] = []
    made = run(agent="perfect", progress=heard.append, **SMALL)
    assert [each.turns for each in heard] == sorted(each.turns for each in heard)
    last = heard[-1]
    assert (last.done, last.examples, last.score, last.out_of) == (2, 2, 1.0, 1)
    assert last.turns == made.results.turns
    assert 0 < heard[0].fraction < last.fraction <= 1


DIES = '''"""Dies: fails at a turn, and not again."""
from pathlib import Path
from ltm_bench import Agent, AgentError, Message, Reply

class Dies(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        if message.turn == 2 and not Path("alive").exists():
            raise AgentError("gone")
        return Reply("turquoise")
'''


def test_a_run_that_stops_raises_and_resumes_from_where_it_stopped(place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "dies.py").write_text(DIES, "utf-8")
    with pytest.raises(RunIncomplete, match="gone"):
        run(agent="dies", name="r", **SMALL)
    stopped = load_run("r")
    assert (stopped.complete, stopped.score, stopped.verdict) == (False, None, "incomplete")
    Path("alive").touch()
    done = resume("r")
    assert done.complete
    assert done.results.turns > stopped.results.turns
    assert asyncio.run(aresume("r")).score == done.score


@pytest.mark.unkept
def test_runs_can_be_compared_and_drawn_by_value_by_name_or_by_folder(place: Path) -> None:
    perfect, parrot = run(agent="perfect", **SMALL), run(agent="parrot", **SMALL)
    for given in ((perfect, parrot), (perfect.name, parrot.folder)):
        comparison = compare(*given)
        assert comparison.entrants == ["perfect", "parrot"]
        assert comparison.pairs[0].paired.difference == pytest.approx(1.0)
    picture = plot(perfect, parrot, kind="scenarios", path=place / "scenarios.svg")
    assert picture.read_text("utf-8").startswith("<svg")
    with pytest.raises(ConfigError, match="at least one run"):
        compare()


def test_a_page_is_written_where_asked_and_shown_in_a_notebook(place: Path) -> None:
    made = run(agent="parrot", **SMALL)
    page = made.report(place / "page.html")
    assert page.read_bytes() == (made.folder / "report.html").read_bytes()
    shown = made._repr_html_()
    assert shown.startswith("<iframe")
    assert "<script" not in shown  # the page is embedded as text


def test_a_row_holds_everything_known_about_a_question() -> None:
    made = run(agent="parrot", **SMALL)
    rows = made.rows()
    assert len(rows) == sum(len(example.questions) for example in made.examples)
    assert {
        "run",
        "agent",
        "scenario",
        "example",
        "question",
        "expected",
        "reply",
        "outcome",
        "score",
    } <= set(rows[0])
    json.dumps(rows)


def test_a_number_that_no_row_knows_is_none_but_for_a_frame_of_pandas_which_takes_its_type_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, schemas = run(agent="parrot", **SMALL), list[dict[str, Any]]()

    def polars(rows: list[dict[str, Any]], schema: dict[str, Any]) -> list[dict[str, Any]]:
        schemas.append(schema)
        return rows

    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    for row, as_it_is in zip(made.frame(), made.rows(), strict=True):
        for name in ("near", "choices", "stored"):
            assert as_it_is[name] is None
            assert math.isnan(row[name])
        assert row["ladder_lost"] is row["set_type"] is None, "a text has no such value"
        assert {name: each for name, each in as_it_is.items() if each is not None}.items() <= row.items()
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=polars))
    assert made.frame() == made.rows()
    [schema] = schemas
    assert (schema["near"], schema["choices"], schema["tags"]) == (float | None, int | None, list[str])
    assert [*schema] == [*made.rows()[0]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_from_whichever_library_is_installed(
    monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    made = run(agent="parrot", **SMALL)

    class Library:
        @staticmethod
        def DataFrame(rows: list[dict[str, Any]], **_: Any) -> tuple[str, int]:  # their name
            return library, len(rows)

    for name in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, name, Library if name == library else None)
    assert made.frame() == (library, len(made.rows()))
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ConfigError, match="needs pandas or polars"):
        made.frame()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"agent": "perfekt"}, "did you mean 'perfect'"),
        ({"span": "many"}, "--span many"),
        ({"scenarios": ["color"]}, "did you mean 'colours'"),
        ({"settings": {"nonsense": 1}}, "nonsense"),
        ({"parameters": {"jokes": {"told": 3}}}, "jokes is not one of the run's scenarios"),
        ({"judges": ["nobody"]}, "unknown judge 'nobody'"),
        ({"name": "../out"}, "--name ../out"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_written(
    place: Path, wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says.replace(".", r"\.")):
        run(**({"agent": "perfect", **SMALL} | wrong))
    assert not list(place.iterdir())


def test_another_run_of_the_same_name_is_refused() -> None:
    run(agent="parrot", name="r", **SMALL)
    with pytest.raises(ManifestDiffers, match="seed"):
        run(agent="parrot", name="r", seed=1, **SMALL)
    assert run(agent="parrot", name="r", seed=1, fresh=True, **SMALL).name == "r-2"


PRICED = '''"""Priced: costs a dollar a call, as gpt-4o would."""
from ltm_bench import Agent, Message, Reply, Usage

class Priced(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("blue", self.reserve(message))

    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=400_000, model="gpt-4o", provider="openai")
'''


def test_a_limit_is_never_exceeded(place: Path) -> None:
    (place / "agents").mkdir()
    (place / "agents" / "priced.py").write_text(PRICED, "utf-8")
    with pytest.raises(BudgetReached, match="--max-cost 2"):
        run(agent="priced", name="r", max_cost=2, **SMALL)
    assert load_run("r").results.costs.dollars == pytest.approx(2.0)


def test_the_door_and_its_blocking_forms_are_documented() -> None:
    for name in ("run", "arun", "resume", "aresume", "load_run", "compare", "plot"):
        text = getattr(ltm_bench, name).__doc__ or ""
        assert "Args:" in text, name
        assert "Raises:" in text, name
    assert run.__name__ == "run"
    assert resume.__name__ == "resume"


EXAMPLES = ROOT / "docs" / "examples"


@pytest.mark.unkept
def test_the_example_runs_as_a_script(place: Path) -> None:
    script = EXAMPLES / "two_agents.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert "vector_memory against parrot: vector_memory is better than parrot, +" in done.stdout
    assert Path("scenarios.svg").exists()
    lines = [line for line in script.read_text("utf-8").splitlines() if line.strip()]
    assert len(lines) <= 15


@pytest.mark.unkept
def test_the_example_runs_as_a_notebook(place: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    notebook = nbformat.read(EXAMPLES / "two_agents.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute(cwd=str(place))
    shown = json.dumps([cell.get("outputs", []) for cell in notebook.cells])
    assert "vector_memory is better than parrot" in shown
    assert "<iframe" in shown  # a run shows itself


@pytest.mark.unkept
def test_nothing_imports_the_command_line_but_its_own_files_and_the_entry_point() -> None:
    for folder in ("ltm_bench", "perf", "agents", "scenarios"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.is_relative_to(ROOT / "ltm_bench" / "cli") or path.name == "__main__.py":
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.ImportFrom):
                    assert not (node.module or "").startswith("ltm_bench.cli"), path
                elif isinstance(node, ast.Import):
                    assert not any(alias.name.startswith("ltm_bench.cli") for alias in node.names), path


@pytest.mark.unkept
def test_nothing_below_the_command_line_prints() -> None:
    for path in (ROOT / "ltm_bench").rglob("*.py"):
        if path.is_relative_to(ROOT / "ltm_bench" / "cli"):
            continue
        calls = [node for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Call)]
        names = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
        assert not names & {"print", "input"} & set(dir(builtins)), path


# Many runs, and runs behind a URL


@pytest.fixture
def far(place: Path) -> Iterator[str]:
    """The URL of two runs, of whose logs only the first line is there."""
    store = pytest.importorskip("fsspec").filesystem("memory")
    for agent in ("perfect", "goldfish"):
        made = run(agent=agent, name=agent, **SMALL).folder
        first = (made / "events.jsonl").read_bytes().partition(b"\n")[0]
        store.pipe_file(f"/far/{agent}/events.jsonl", first + b"\n")
        for name in ("environment.json", "results.json"):
            store.pipe_file(f"/far/{agent}/{name}", (made / name).read_bytes())
    yield "memory://far"
    store.rm("/", recursive=True)


def test_runs_behind_a_url_are_loaded_and_compared_by_headers_and_results_alone(far: str) -> None:
    loaded = load_run(f"{far}/perfect")
    assert (loaded.name, loaded.score, loaded.url) == ("perfect", 1.0, f"{far}/perfect")
    assert loaded.results == load_run("perfect").results
    assert compare(far) == compare("goldfish", "perfect") == compare("reports")
    with pytest.raises(ConfigError, match="there are several runs"):
        load_run(far)
    with pytest.raises(ConfigError, match=r"memory://nothing: there is no run"):
        load_run("memory://nothing")
    with pytest.raises(ConfigError, match="is no folder here; name a file"):
        loaded.report()
    assert loaded.report("page.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("collects", [True, False])
def test_a_comparison_leaves_garbage_collection_as_it_is(far: str, *, collects: bool) -> None:
    (gc.enable if collects else gc.disable)()
    try:
        compare(far)
        with pytest.raises(ConfigError):
            compare("nothing")
        assert gc.isenabled() == collects
    finally:
        gc.enable()


def test_a_run_behind_a_url_without_results_is_fetched_and_scored(far: str, place: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    store.rm("/far/perfect/results.json")
    store.pipe_file("/far/perfect/events.jsonl", (place / "reports/perfect/events.jsonl").read_bytes())
    assert load_run(f"{far}/perfect").score == 1.0


def test_many_runs_make_one_table(far: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    rows = frame(far)
    assert [(row["run"], row["example"]) for row in rows] == [
        (name, f"colours/{number}") for name in ("goldfish", "perfect") for number in (0, 1)
    ]
    assert rows == frame("goldfish", load_run("perfect"))
