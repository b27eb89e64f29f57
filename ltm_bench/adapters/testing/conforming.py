"""Whether an adapter keeps to what the benchmark relies on: one call in a test of yours."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ltm_bench.adapters.testing.rules import RULES, Rule
from ltm_bench.adapters.testing.talk import Absent, Broken, Failing, Stage
from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.keys import scrubbed


@dataclass(frozen=True)
class Conformance:
    """What was found, rule by rule; `str` of it is a table."""

    findings: Mapping[str, Finding]
    """By the name of the rule. What the agent says it does not have, or what could not be tried, has `lacks`."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The rules that were tried and hold."""
        return tuple(name for name, found in self.findings.items() if found.ok and not found.lacks)

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules that do not hold."""
        return tuple(name for name, found in self.findings.items() if not found.ok)

    def __str__(self) -> str:
        width = max(map(len, self.findings))
        return "\n".join(
            f"{_mark(found)} {name:<{width}}  {found.text}" for name, found in self.findings.items()
        )


def _mark(found: Finding) -> str:
    return "BROKEN" if not found.ok else "-     " if found.lacks else "kept  "


def conformance(
    make: Callable[[], Agent], *, server: Failing | None = None, within: float = 60.0
) -> Conformance:
    """Try every rule that an adapter must keep, in short conversations, and return what was found.

    Restore, conversations that know nothing of each other, cancellation, bounded waiting, usage, keys, users, `forget`
    and `fork`. What the agent says it does not have is reported and does not fail. No rule asks for a good memory.

        def test_it_keeps_the_rules():
            with provider() as server:
                settings = {"base_url": server.openai_url, "timeout": 0.5, "max_retries": 0}
                conformance(lambda: Ours(model="some-model", **settings), server=server)

    About thirty messages are sent in all, so let a model answer that costs nothing, and the same each time.

    Args:
        make: Makes an agent as one run would have it; called anew for every conversation. A class will do.
        server: The server that the agent talks to, if it can be told to fail as `provider()` can. Without it, waiting
            is not tried, and keys are looked for in files alone.
        within: Seconds that any one call may take. With a `server`, give the agent a shorter timeout.

    Raises:
        AssertionError: Some rule is broken; the message is the whole table.
    """
    found = Conformance({name: _tried(rule, make, server, within) for name, rule in RULES.items()})
    if found.broken:
        raise AssertionError(f"broken: {', '.join(found.broken)}\n{found}")
    return found


def _tried(rule: Rule, make: Callable[[], Agent], server: Failing | None, within: float) -> Finding:
    with tempfile.TemporaryDirectory(prefix="ltm-bench-") as folder:
        try:
            return Finding(True, asyncio.run(_words(rule, Stage(make, Path(folder), within, server))))
        except Absent as absent:
            return Finding(True, str(absent), lacks=True)
        except Broken as broken:
            return Finding(False, str(broken))
        except Exception as error:  # an adapter can raise anything
            return Finding(False, scrubbed(f"{type(error).__name__}: {error}"))


async def _words(rule: Rule, stage: Stage) -> str:
    return await rule(stage)
