"""ltm-bench measures what a conversational agent remembers.

The names here are everything that a scenario or an adapter needs, and the functions that run the benchmark from Python:

    from ltm_bench import run

    result = run(agent="vector_memory", span="32k", scenarios=["colours"], examples=20)
    result.score, result.interval, result.verdict

All of them are below, and each is imported on its first use: the program catches Ctrl-C as soon as this is read.
"""

TYPE_CHECKING = False  # which type checkers take for true; importing `typing` takes longer than all else here

if TYPE_CHECKING:
    # What is public; `python -m tests.test_house` adds the matchers that `ltm_bench.plugins.matchers` finds.
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
    from ltm_bench.script.deliveries import Piece as Piece
    from ltm_bench.script.deliveries import bury as bury
    from ltm_bench.script.deliveries import deliver as deliver
    from ltm_bench.script.scenario import Script as Script
    from ltm_bench.script.scenario import content as content
    from ltm_bench.script.scenario import scenario as scenario
else:

    def __getattr__(name: str) -> object:
        from ltm_bench.core.late import given

        return given(__name__, name)

    def __dir__() -> list[str]:
        from ltm_bench.core.late import modules_of

        return sorted({*globals(), *modules_of(__name__)} - {"TYPE_CHECKING"})
