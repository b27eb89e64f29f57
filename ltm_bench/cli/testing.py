"""A plug-in for pytest: `memory_run` runs a conversation with an agent, `conforms` tries the rules for adapters.

pytest imports it in every session, so it imports the rest for those tests alone that ask for it. It collects nothing
by itself, and runs nothing that no test asks for.
"""

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ltm_bench.api import Run
    from ltm_bench.score.results.examples import ExampleResult, Question

MOST = 10
"""Maximum number of missed questions that a failed test prints; the run's page has all."""

_LONGEST = 300
"""Characters of a text that it prints."""

_RUNS: pytest.StashKey[list["Run"]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", "memory(**arguments): arguments of every memory_run of a test, such as span and scenarios"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for every rule of each that takes `conforms`."""
    if "conforms" in metafunc.fixturenames:
        from ltm_bench.adapters.testing.rules import RULES

        metafunc.parametrize("conforms", list(RULES), indirect=True)


@pytest.fixture
def memory_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., "Run"]:
    """Run a conversation with an agent, and return the run; a failed test prints what was missed.

    It takes the agent (a name as for `ltm-bench run`, or any object that `ltm_bench.run` takes), and the arguments of
    `ltm_bench.run`, or those of `ltm_bench.Environment` if the agent is an object. The marker `memory` has them too.
    """
    given: dict[str, Any] = {"span": "2k"}
    for marker in reversed(list(request.node.iter_markers("memory"))):  # the nearest one last
        given |= marker.kwargs

    def start(agent: Any, **arguments: Any) -> "Run":
        from ltm_bench.api import load_run
        from ltm_bench.api.calling import run
        from ltm_bench.api.playing import play
        from ltm_bench.core.errors import AgentError

        __tracebackhide__ = True
        place, asked = tmp_path_factory.mktemp("memory"), given | arguments
        runs = request.node.stash.setdefault(_RUNS, [])
        try:
            done = (
                run(agent, **{"reports": place, **asked})
                if isinstance(agent, str)
                else play(agent, place / "run", **asked)
            )
        except AgentError as error:  # it names the agent's line; the way there through ours helps nobody
            runs += [load_run(log.parent) for log in place.glob("*/events.jsonl")]
            raise error.with_traceback(None) from None
        runs.append(done)
        return done

    return start


@pytest.fixture
def conforms(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Try one of the rules for adapters, each in a test of its own: `conforms(make, server=…, within=…)`.

    The arguments are those of `ltm_bench.adapters.testing.conformance`. A hook that the agent lacks is skipped.
    """

    def check(make: Callable[[], Any], *, server: Any = None, within: float = 60.0) -> None:
        from ltm_bench.adapters.testing.conforming import try_rule

        found = try_rule(request.param, make, server=server, within=within)
        if found.lacks:
            pytest.skip(found.text)
        if not found.ok:
            pytest.fail(f"{request.param}: {found.text}", pytrace=False)

    return check


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failed test what its runs missed."""
    report = yield
    if report.when == "call" and report.failed:
        for each in item.stash.get(_RUNS, []):
            report.sections.append((f"ltm-bench: {each.name}", "\n".join(_told(each))))
    return report


def _told(run: "Run") -> Iterator[str]:
    """Yield a run's score, and what it missed."""
    score = "incomplete" if run.score is None else f"{run.score:.2f} of {run.out_of}"
    missed = [(e, q) for e in run.examples for q in e.questions if q.counted != 1.0]
    yield f"score {score}; {len(missed)} of {sum(len(e.questions) for e in run.examples)} questions missed"
    for example, question in missed[:MOST]:
        yield ""
        yield from _missed(example, question)
    if len(missed) > MOST:
        yield f"\n… and {len(missed) - MOST} more"
    yield f"\nall of it: {run.folder}"


def _missed(example: "ExampleResult", question: "Question") -> Iterator[str]:
    """Yield what was told, asked, expected and replied."""
    yield f"{example.id}: {question.outcome.value}: {_short(question.reason)}"
    for needle in example.needles:
        if question.turn is None or needle.turn <= question.turn:
            yield f"  told      {_short(needle.text)}"
    yield f"  asked     {_short(question.text)}"
    yield f"  expected  {_short(question.expected)}"
    yield f"  replied   {'–' if question.reply is None else _short(question.reply)}"


def _short(text: str) -> str:
    """Return a text for a terminal, on one line."""
    from ltm_bench.report.text import visible

    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
