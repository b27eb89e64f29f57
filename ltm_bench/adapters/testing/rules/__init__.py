"""The rules for adapters, one function each. Each returns its finding in words.

A rule raises `Broken` if the agent does not keep it, and `Absent` if the agent lacks the hook. An agent that remembers
nothing keeps all of them: no rule demands a good memory, only that the agent keeps knowing what it knows, and does not
know what it must not.
"""

from collections.abc import Awaitable, Callable, Mapping

from ltm_bench.adapters.testing.rules.answering import (
    answers,
    forking,
    namespaces,
    observing,
    scrubbing,
    usage,
    waiting,
)
from ltm_bench.adapters.testing.rules.restoring import cancellation, missed, restoring, sessions
from ltm_bench.adapters.testing.rules.storing import forgetting, listing, reopening, retrieval, users
from ltm_bench.adapters.testing.talk import Stage

Rule = Callable[[Stage], Awaitable[str]]

RULES: Mapping[str, Rule] = {
    "answers": answers,
    "usage": usage,
    "observe": observing,
    "session": sessions,
    "restore": restoring,
    "missed": missed,
    "namespaces": namespaces,
    "cancellation": cancellation,
    "waiting": waiting,
    "scrubbing": scrubbing,
    "recall": retrieval,
    "memories": listing,
    "users": users,
    "forget": forgetting,
    "reopen": reopening,
    "fork": forking,
}
"""All rules, in the order in which they are tried."""
