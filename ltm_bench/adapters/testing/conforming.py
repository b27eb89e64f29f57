"""Whether an adapter keeps the rules that the benchmark relies on: one call in a test of yours."""

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ltm_bench.adapters.testing.rules import RULES, Rule
from ltm_bench.adapters.testing.talk import Absent, Broken, Failing, Stage
from ltm_bench.core.agent import Finding
from ltm_bench.core.keys import scrubbed
from ltm_bench.plugins.functions import factory_of


@dataclass(frozen=True)
class Conformance:
    """The findings, rule by rule; `str()` gives a table."""

    findings: Mapping[str, Finding]
    """By the name of the rule. A hook that the agent does not have, or that could not be tried, has `lacks`."""

    @property
    def kept(self) -> tuple[str, ...]:
        """The rules that were tried and kept."""
        return tuple(name for name, found in self.findings.items() if found.ok and not found.lacks)

    @property
    def broken(self) -> tuple[str, ...]:
        """The broken rules."""
        return tuple(name for name, found in self.findings.items() if not found.ok)

    def __str__(self) -> str:
        width = max(map(len, self.findings))
        return "\n".join(
            f"{_mark(found)} {name:<{width}}  {found.text}" for name, found in self.findings.items()
        )


def _mark(found: Finding) -> str:
    return "BROKEN" if not found.ok else "-     " if found.lacks else "kept  "


def conformance(make: object, *, server: Failing | None = None, within: float = 60.0) -> Conformance:
    """Try every rule that an adapter must keep, in short conversations, and return the findings.

    The rules cover restoring, isolation of conversations, cancellation, bounded waiting, usage, keys, users, `forget`,
    `reopen` and `fork`. Hooks that the agent does not have are reported and do not fail. No rule demands a good memory.

        def test_it_keeps_the_rules():
            with provider() as server:
                settings = {"base_url": server.openai_url, "timeout": 1.5, "max_retries": 0}
                conformance(lambda: Ours(model="some-model", **settings), server=server)

    About forty messages are sent in all, so use a model that costs nothing and always answers alike.

    Args:
        make: Makes an agent as for a run; called for every conversation. A class, a function or an object will do.
        server: The server that the agent talks to, if it can fail on demand as `provider()` can. Without it, waiting is
            not tried, and keys are looked for only in files.
        within: Maximum seconds of any one call. With a `server`, give the agent a shorter timeout.

    Raises:
        AssertionError: A rule is broken; the message is the whole table.
    """
    found = Conformance({name: try_rule(name, make, server=server, within=within) for name in RULES})
    if found.broken:
        raise AssertionError(f"broken: {', '.join(found.broken)}\n{found}")
    return found


def try_rule(name: str, make: object, *, server: Failing | None = None, within: float = 60.0) -> Finding:
    """Try one rule, by its name in `RULES`; the other arguments are those of `conformance`."""
    with tempfile.TemporaryDirectory(prefix="ltm-bench-") as folder:
        try:
            stage = Stage(factory_of(make), Path(folder), within, server)
            return Finding(True, asyncio.run(_words(RULES[name], stage)))
        except Absent as absent:
            return Finding(True, str(absent), lacks=True)
        except Broken as broken:
            return Finding(False, str(broken))
        except Exception as error:  # an adapter can raise anything
            return Finding(False, scrubbed(f"{type(error).__name__}: {error}"))


async def _words(rule: Rule, stage: Stage) -> str:
    return await rule(stage)
