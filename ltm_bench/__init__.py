"""ltm-bench measures what a conversational agent remembers.

The names here are all that a scenario or an adapter needs.
"""

from ltm_bench.agent import Agent, Finding, Memory
from ltm_bench.clock import spoken_duration
from ltm_bench.deliveries import Piece, bury, deliver
from ltm_bench.dice import Dice
from ltm_bench.errors import AgentError, CannotResume
from ltm_bench.matchers import (
    answers,
    benchmarked,
    declines,
    decodes,
    displaced,
    follows_route,
    item_counts,
    lists_all,
    names_only,
    notices,
    ordered,
    orders,
    picks,
    retells,
    said_in,
    says,
    star_counts,
    star_sum,
)
from ltm_bench.messages import (
    Ask,
    Buried,
    Chat,
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
from ltm_bench.scenario import Script, scenario

__all__ = [
    "Agent",
    "AgentError",
    "Ask",
    "Buried",
    "CannotResume",
    "Chat",
    "Dice",
    "Finding",
    "Finish",
    "Matcher",
    "Memory",
    "Message",
    "Outcome",
    "Piece",
    "Reply",
    "Script",
    "Tell",
    "Turn",
    "Usage",
    "Verdict",
    "answers",
    "benchmarked",
    "bury",
    "declines",
    "decodes",
    "deliver",
    "displaced",
    "follows_route",
    "item_counts",
    "lists_all",
    "names_only",
    "notices",
    "ordered",
    "orders",
    "picks",
    "retells",
    "said_in",
    "says",
    "scenario",
    "spoken_duration",
    "star_counts",
    "star_sum",
]
