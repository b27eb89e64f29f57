"""ltm-bench measures what a conversational agent remembers.

The names here are everything that a scenario or an adapter needs, and the functions that run the benchmark from Python:

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict
"""

from typing import TYPE_CHECKING

from ltm_bench.core.agent import Agent, Finding, Memory
from ltm_bench.core.clock import spoken_duration
from ltm_bench.core.dice import Dice
from ltm_bench.core.errors import AgentError, CannotResume
from ltm_bench.core.messages import (
    Ask,
    Buried,
    Chat,
    Fact,
    Finish,
    Matcher,
    Message,
    Outcome,
    Reply,
    Tell,
    Turn,
    Usage,
    Verdict,
)
from ltm_bench.script.deliveries import Piece, bury, deliver
from ltm_bench.script.scenario import Script, scenario

if TYPE_CHECKING:
    from ltm_bench.api import Run, aresume, arun, compare, load_run, plot, resume, run
    from ltm_bench.datasets.counting_stars.matcher import star_counts, star_sum
    from ltm_bench.datasets.infinitebench.matcher import benchmarked
    from ltm_bench.datasets.swim.matcher import answers, declines
    from ltm_bench.matchers.choices import picks
    from ltm_bench.matchers.contradiction import both_said
    from ltm_bench.matchers.decoding import decodes
    from ltm_bench.matchers.displacement import displaced
    from ltm_bench.matchers.earlier import formerly
    from ltm_bench.matchers.items import item_counts
    from ltm_bench.matchers.lists import lists_all
    from ltm_bench.matchers.names import names_only
    from ltm_bench.matchers.orders import notices, ordered, orders
    from ltm_bench.matchers.phrases import said_in, says
    from ltm_bench.matchers.quotes import retells
    from ltm_bench.matchers.restraint import never_said, withholds
    from ltm_bench.matchers.routes import follows_route
    from ltm_bench.matchers.sequence import in_order
    from ltm_bench.matchers.tallies import tallies
    from ltm_bench.runner.progress import Progress
    from ltm_bench.score.comparison.runs import Comparison
    from ltm_bench.score.results.run import Results
else:
    _RUNNING = frozenset(("Run", "aresume", "arun", "compare", "load_run", "plot", "resume", "run"))
    _VALUES = {
        "Comparison": "ltm_bench.score.comparison.runs",
        "Progress": "ltm_bench.runner.progress",
        "Results": "ltm_bench.score.results.run",
    }

    def __getattr__(name: str) -> object:
        """Import large things on first use (PEP 562): the matchers, and everything that runs the benchmark.

        A new matcher is found without being listed here; type checkers alone need its line above.
        """
        if name in _RUNNING or name in _VALUES:
            from importlib import import_module

            return getattr(import_module(_VALUES.get(name, "ltm_bench.api")), name)
        if name == "ordered":  # for scenarios of 0.1.0 that steer their script by this matcher
            from ltm_bench.matchers.orders import ordered

            return ordered
        if name in __all__ or not (name.startswith("_") or _is_room(name)):
            from ltm_bench.plugins.matchers import short_name

            if (found := short_name(name)) is not None:
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def _is_room(name: str) -> bool:
        """Whether a name is a module of this package, to be imported instead of searched for among the matchers."""
        from pathlib import Path

        return any((Path(place) / each).exists() for place in __path__ for each in (name, f"{name}.py"))

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__all__ = [
    "Agent",
    "AgentError",
    "Ask",
    "Buried",
    "CannotResume",
    "Chat",
    "Comparison",
    "Dice",
    "Fact",
    "Finding",
    "Finish",
    "Matcher",
    "Memory",
    "Message",
    "Outcome",
    "Piece",
    "Progress",
    "Reply",
    "Results",
    "Run",
    "Script",
    "Tell",
    "Turn",
    "Usage",
    "Verdict",
    "answers",
    "aresume",
    "arun",
    "benchmarked",
    "both_said",
    "bury",
    "compare",
    "declines",
    "decodes",
    "deliver",
    "displaced",
    "follows_route",
    "formerly",
    "in_order",
    "item_counts",
    "lists_all",
    "load_run",
    "names_only",
    "never_said",
    "notices",
    "ordered",
    "orders",
    "picks",
    "plot",
    "resume",
    "retells",
    "run",
    "said_in",
    "says",
    "scenario",
    "spoken_duration",
    "star_counts",
    "star_sum",
    "tallies",
    "withholds",
]
