"""ltm-bench measures what a conversational agent remembers.

The names here are everything that a scenario or an adapter needs, and the functions that run the benchmark from Python:

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict

What is imported here is public, and so is every matcher that `ltm_bench.plugins.matchers` finds: no list names them.
"""

import typing

from ltm_bench.core.agent import Agent as Agent
from ltm_bench.core.agent import Finding as Finding
from ltm_bench.core.agent import Memory as Memory
from ltm_bench.core.clock import Worded as Worded
from ltm_bench.core.clock import spoken_duration as spoken_duration
from ltm_bench.core.dice import Dice as Dice
from ltm_bench.core.errors import AgentError as AgentError
from ltm_bench.core.errors import CannotResume as CannotResume
from ltm_bench.core.messages import Ask as Ask
from ltm_bench.core.messages import Buried as Buried
from ltm_bench.core.messages import Chat as Chat
from ltm_bench.core.messages import Fact as Fact
from ltm_bench.core.messages import Finish as Finish
from ltm_bench.core.messages import Matcher as Matcher
from ltm_bench.core.messages import Message as Message
from ltm_bench.core.messages import Outcome as Outcome
from ltm_bench.core.messages import Reply as Reply
from ltm_bench.core.messages import ReplyForm as ReplyForm
from ltm_bench.core.messages import Tell as Tell
from ltm_bench.core.messages import Turn as Turn
from ltm_bench.core.messages import Usage as Usage
from ltm_bench.core.messages import Verdict as Verdict
from ltm_bench.script.deliveries import Piece as Piece
from ltm_bench.script.deliveries import bury as bury
from ltm_bench.script.deliveries import deliver as deliver
from ltm_bench.script.scenario import Script as Script
from ltm_bench.script.scenario import content as content
from ltm_bench.script.scenario import scenario as scenario

_LATE = {
    **dict.fromkeys(("Run", "compare", "frame", "load_run", "plot"), "ltm_bench.api"),
    **dict.fromkeys(("aresume", "arun", "resume", "run"), "ltm_bench.api.calling"),
    **dict.fromkeys(("arace", "race"), "ltm_bench.api.racing"),
    "Comparison": "ltm_bench.score.comparison.runs",
    "Environment": "ltm_bench.api.environment",
    "Progress": "ltm_bench.runner.progress",
    "Race": "ltm_bench.score.comparison.racing",
    "Results": "ltm_bench.score.results.run",
    "make_agent": "ltm_bench.plugins.agents",
    "ordered": "ltm_bench.matchers.orders",  # no matcher, but scenarios of 0.1.0 steer their script by it
}
"""Large things that are imported on first use, besides the matchers."""

if typing.TYPE_CHECKING:
    # What is imported late, for type checkers alone: written by `python -m tests.test_house`.
    from ltm_bench.api import Run as Run
    from ltm_bench.api import compare as compare
    from ltm_bench.api import frame as frame
    from ltm_bench.api import load_run as load_run
    from ltm_bench.api import plot as plot
    from ltm_bench.api.calling import aresume as aresume
    from ltm_bench.api.calling import arun as arun
    from ltm_bench.api.calling import resume as resume
    from ltm_bench.api.calling import run as run
    from ltm_bench.api.environment import Environment as Environment
    from ltm_bench.api.racing import arace as arace
    from ltm_bench.api.racing import race as race
    from ltm_bench.datasets.beam.matcher import meets as meets
    from ltm_bench.datasets.counting_stars.matcher import star_counts as star_counts
    from ltm_bench.datasets.counting_stars.matcher import star_sum as star_sum
    from ltm_bench.datasets.factconsolidation.matcher import newest_fact as newest_fact
    from ltm_bench.datasets.gatemem.matcher import gated as gated
    from ltm_bench.datasets.infinitebench.matcher import benchmarked as benchmarked
    from ltm_bench.datasets.locomo.matcher import locomo_answer as locomo_answer
    from ltm_bench.datasets.longmemeval.matcher import remembered as remembered
    from ltm_bench.datasets.personamem.matcher import fitting_reply as fitting_reply
    from ltm_bench.datasets.swim.matcher import answers as answers
    from ltm_bench.datasets.swim.matcher import declines as declines
    from ltm_bench.matchers.choices import picks as picks
    from ltm_bench.matchers.consequences import corrects as corrects
    from ltm_bench.matchers.consequences import follows as follows
    from ltm_bench.matchers.consequences import no_longer as no_longer
    from ltm_bench.matchers.contradiction import both_said as both_said
    from ltm_bench.matchers.decoding import decodes as decodes
    from ltm_bench.matchers.displacement import displaced as displaced
    from ltm_bench.matchers.earlier import formerly as formerly
    from ltm_bench.matchers.items import item_counts as item_counts
    from ltm_bench.matchers.lists import lists_all as lists_all
    from ltm_bench.matchers.names import names_only as names_only
    from ltm_bench.matchers.orders import notices as notices
    from ltm_bench.matchers.orders import ordered as ordered
    from ltm_bench.matchers.orders import orders as orders
    from ltm_bench.matchers.phrases import said_in as said_in
    from ltm_bench.matchers.phrases import says as says
    from ltm_bench.matchers.planted import unmoved as unmoved
    from ltm_bench.matchers.quotes import retells as retells
    from ltm_bench.matchers.restraint import never_said as never_said
    from ltm_bench.matchers.restraint import withholds as withholds
    from ltm_bench.matchers.routes import follows_route as follows_route
    from ltm_bench.matchers.sequence import in_order as in_order
    from ltm_bench.matchers.tallies import tallies as tallies
    from ltm_bench.plugins.agents import make_agent as make_agent
    from ltm_bench.runner.progress import Progress as Progress
    from ltm_bench.score.comparison.racing import Race as Race
    from ltm_bench.score.comparison.runs import Comparison as Comparison
    from ltm_bench.score.results.run import Results as Results
else:

    def __getattr__(name: str) -> object:
        """Import large things on first use (PEP 562); `__all__`, which few ask for, imports every matcher."""
        from importlib import import_module

        if name == "__all__":
            return _public()
        if name in _LATE:
            return getattr(import_module(_LATE[name]), name)
        if not (name.startswith("_") or _is_room(name)):
            from ltm_bench.plugins.matchers import short_name

            if (found := short_name(name)) is not None:
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def _public() -> list[str]:
        from inspect import ismodule

        from ltm_bench.plugins.matchers import short_names

        imported = [name for name, each in globals().items() if not (name.startswith("_") or ismodule(each))]
        return sorted({*imported, *_LATE, *short_names()})

    def _is_room(name: str) -> bool:
        """Whether a name is a module of this package, to be imported instead of searched for among the matchers."""
        from pathlib import Path

        return any((Path(place) / each).exists() for place in __path__ for each in (name, f"{name}.py"))

    def __dir__() -> list[str]:
        return sorted({*globals(), *_public()})
