"""The manifest: what a run is. It is the first line of the event log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ltm_bench.log.lines import LARGEST, to_line

FORMAT = 1
"""Version of the form of events.jsonl."""

IMPORTED = "imported"
"""The adapter of an imported run: there is nobody who could be asked again."""

MOST_EXAMPLES = 1_000_000
"""Most examples that a scenario may have in one run."""


IN_LINE = "in-line"
"""The mode of a run in which the agent answers everything, in one conversation."""

Questions = Literal["in-line", "forked"]
"""Whether questions are part of the conversation, or are asked beside it, each on a fork."""

Acknowledge = Literal["live", "scripted"]
"""Who replies to needles: the agent, or a script, so that the agent only observes them."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScenarioEntry(_Frozen):
    """A scenario as it was run."""

    name: str
    """Of the suite's row."""
    scenario: str | None = None
    """The scenario that is played, where the row has a name of its own."""
    version: int
    hash: str
    """Of the content of its file."""
    examples: int = Field(ge=1, le=MOST_EXAMPLES)
    parameters: dict[str, Any]


class SuiteEntry(_Frozen):
    """The suite as it was resolved from its file and the flags."""

    name: str
    start: datetime
    """The benchmark's time of the first message."""
    stagger: float = Field(ge=0, le=1)
    isolated: bool
    scenarios: list[ScenarioEntry]


class AgentEntry(_Frozen):
    """The agent as it was configured. Keys are never among the settings."""

    name: str
    adapter: str
    hash: str
    settings: dict[str, Any]
    free: bool
    """Whether it costs nothing; otherwise a missing usage is an unknown cost."""


class FillerEntry(_Frozen):
    """Where filler came from, and who answered it."""

    source: str
    digest: str
    mode: str
    max_tokens: int = Field(ge=0, le=LARGEST)


class Manifest(_Frozen):
    """What a run is: equal manifests and equal replies give equal logs."""

    format: int
    version: str
    """Of ltm-bench."""
    seed: int
    span: int = Field(ge=0, le=LARGEST)
    tokenizer: str
    suite: SuiteEntry
    agent: AgentEntry
    filler: FillerEntry
    questions: Questions = "in-line"
    """Where questions are asked."""
    acknowledge: Acknowledge = "live"
    """Who replies to needles."""
    scorers: dict[str, int]
    """The version of every matcher at the time of the run."""

    @property
    def mode(self) -> str:
        """How the conversation was held; scores of different modes stand side by side only with this word."""
        return self.questions + (", scripted acknowledgements" if self.acknowledge == "scripted" else "")

    def line(self) -> bytes:
        """Return the first line of a log."""
        return to_line({"event": "manifest", **self.model_dump(mode="json", exclude_none=True)})

    def identity(self) -> dict[str, Any]:
        """Return what determines the conversation, as JSON values; versions are kept as provenance alone."""
        return self.model_dump(mode="json", exclude={"version", "scorers"})


def differences(old: Mapping[str, Any], new: Mapping[str, Any], where: str = "") -> list[str]:
    """Return a line for each place in which two manifests differ."""
    found = []
    for key in dict.fromkeys((*old, *new)):
        a, b, path = old.get(key), new.get(key), f"{where}{key}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{path}.")
        elif (
            isinstance(a, Sequence)
            and isinstance(b, Sequence)
            and not isinstance(a, str)
            and len(a) == len(b)
        ):
            found += differences(dict(enumerate(a)), dict(enumerate(b)), f"{path}.")  # type: ignore[arg-type]  # places as keys
        elif a != b:
            found.append(f"{path}: {json.dumps(a)} there, {json.dumps(b)} now")
    return found
