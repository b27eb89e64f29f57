"""The arguments of a run, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ltm_bench.core.tokens import DEFAULT


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request for a run."""

    agent: str = "vector_memory"
    """A preset, an adapter, `PROVIDER:MODEL`, a path to an adapter's file, or `python:MODULE:NAME`."""
    span: str | int | None = None
    """Tokens, as `120k`, `1M` or a number; None for the suite's own, usually 32k."""
    suite: str = "standard"
    """The suite's name, or `goodai:FOLDER`."""
    data: str | None = None
    """The file or folder of a public set, if the suite is one; None for where `datasets fetch` puts it."""
    scenarios: Sequence[str] = ()
    """Only these scenarios, instead of all of the suite."""
    examples: int | None = None
    """Examples per scenario, instead of the suite's; for public sets, questions in all."""
    seed: int = 0
    isolated: bool = False
    """Run every example in its own conversation, without filler."""
    filler: str = "scripted"
    """`scripted`, `live`, `triviaqa:PATH`, or `live,triviaqa:PATH`."""
    questions: str = "in-line"
    """`in-line`: part of the conversation; `forked`: each is asked beside it."""
    acknowledge: str = "live"
    """Who replies to needles: `live`, the agent; `scripted`, a script, while the agent observes."""
    quick: bool = False
    """Forked questions, scripted acknowledgements and scripted filler."""
    tokenizer: str = DEFAULT
    """The encoding that measures spans."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The agent's settings."""
    base_url: str | None = None
    """A compatible server for the agent's adapter."""
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Scenario parameters by scenario, instead of the suite's."""
    timeout: float | None = None
    """Seconds to wait for one reply, instead of the agent's own setting. Not part of a run's identity."""
    max_retries: int | None = None
    """Retries of a failed request, instead of the agent's own setting. Not part of a run's identity."""

    @property
    def plain(self) -> Request:
        """The same agent, suite, scenarios, span and seed, without further options."""
        return Request(
            agent=self.agent,
            span=self.span,
            suite=self.suite,
            data=self.data,
            scenarios=self.scenarios,
            seed=self.seed,
        )

    @property
    def calls(self) -> CallSettings:
        """How calls are made."""
        return CallSettings(self.timeout, self.max_retries)


@dataclass(frozen=True)
class CallSettings:
    """How calls are made. Not part of a run's identity: it can be resumed with others."""

    timeout: float | None = None
    """Seconds to wait for one reply; None for the agent's own setting."""
    max_retries: int | None = None
    """Retries of a failed request; None for the agent's own setting."""

    @property
    def settings(self) -> dict[str, Any]:
        """The agent settings that these override."""
        given = {"timeout": self.timeout, "max_retries": self.max_retries}
        return {name: value for name, value in given.items() if value is not None}


PLAIN = CallSettings()
"""Calls according to the agent's own settings."""
