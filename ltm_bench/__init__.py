"""ltm-bench measures what a conversational agent remembers.

The names here are all that a scenario or an adapter needs.
"""

from typing import TYPE_CHECKING

from ltm_bench.agent import Agent, Finding, Memory
from ltm_bench.clock import spoken_duration
from ltm_bench.deliveries import Piece, bury, deliver
from ltm_bench.dice import Dice
from ltm_bench.errors import AgentError, CannotResume
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

if TYPE_CHECKING:
    from ltm_bench.matchers.answers import answers, declines
    from ltm_bench.matchers.benchmarked import benchmarked
    from ltm_bench.matchers.choices import picks
    from ltm_bench.matchers.counts import star_counts, star_sum
    from ltm_bench.matchers.decoding import decodes
    from ltm_bench.matchers.displacement import displaced
    from ltm_bench.matchers.items import item_counts
    from ltm_bench.matchers.lists import lists_all
    from ltm_bench.matchers.names import names_only
    from ltm_bench.matchers.orders import notices, ordered, orders
    from ltm_bench.matchers.phrases import said_in, says
    from ltm_bench.matchers.quotes import retells
    from ltm_bench.matchers.routes import follows_route
else:

    def __getattr__(name: str) -> object:
        """Import the matchers when one is first asked for (PEP 562): they take longer than all the rest together."""
        if name not in (*__all__, "matchers"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        matchers = import_module("ltm_bench.matchers")
        return matchers if name == "matchers" else getattr(matchers, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


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
