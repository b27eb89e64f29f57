"""Check that an agent would work here, before it costs anything."""

import asyncio
import re
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from ltm_bench.adapters.gateway.server import Gateway as Endpoint
from ltm_bench.adapters.gateway.upstreams import upstreams
from ltm_bench.adapters.routing import conversing, serving
from ltm_bench.cli.console import print_finding
from ltm_bench.cli.declared import command, group
from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError, LtmBenchError, described
from ltm_bench.core.messages import Message
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.core.tokens import DEFAULT, counter
from ltm_bench.filler.filler import shipped
from ltm_bench.log.calls import CALLS
from ltm_bench.log.journal import Journal
from ltm_bench.plan.agents import resolve_agent
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.request import AgentName, BaseUrl, Gateway, Settings, Span, Tokenizer
from ltm_bench.plan.suites import SPAN
from ltm_bench.plan.values import parse_span
from ltm_bench.plugins.functions import FunctionAgent
from ltm_bench.runner.isolation import in_time, said_of, second_conversation

_EMPTY, _BYTES_PER_TOKEN = 4_500_000, 140
"""Bytes of a run folder, and for each token: log, page, and a store such as Chroma's, which is most of it."""
_ROUNDS = 3


app = group()


@command(app, "doctor", "doctor --agent gpt-6-luna --span 120k")
def doctor(
    agent: AgentName = "vector_memory",
    span: Span = None,
    tokenizer: Tokenizer = DEFAULT,
    settings: Settings = None,
    base_url: BaseUrl = None,
    gateway: Gateway = False,
) -> None:
    """Check that a run would work, before it costs anything. Asks the provider, but makes no paid call.

    An agent that runs on this machine, or is code or a program of yours, is also told and asked something. With
    --gateway, any agent is: the gateway forwards none of its calls, and says whether they arrive.
    """
    tokens = parse_span(span or SPAN)
    failed = False
    for finding in _findings(agent, tokens, tokenizer, settings or {}, base_url, gateway=gateway):
        failed = failed or not finding.ok
        print_finding(finding)
    if gateway:
        arrives = asyncio.run(_arriving(agent, settings or {}, base_url))
        failed = failed or not arrives.ok
        print_finding(arrives)
    if failed:
        raise ConfigError(f"agent {agent} cannot run here as it stands; see the lines marked FAIL")


_RESUME = re.compile(r"[;,] then resume the run")


def _findings(
    agent: str,
    span: int,
    tokenizer: str,
    settings: Mapping[str, Any],
    base_url: str | None,
    *,
    gateway: bool,
) -> Iterator[Finding]:
    try:
        counter(tokenizer)
        yield Finding(True, f"tokenizer {tokenizer} can be used")
    except LtmBenchError as error:
        yield Finding(False, str(error))
    yield Finding(True, f"filler: {len(shipped().items):,} questions ship with ltm-bench")
    yield _disk(span)
    try:
        entry, source, _ = resolve_agent(agent, settings, base_url)
    except LtmBenchError as error:
        yield Finding(False, str(error))
        return
    shown = ", ".join(f"{key}={value}" for key, value in entry.settings.items()) or "defaults"
    yield Finding(True, f"agent {agent}: adapter {entry.adapter}, {shown}")
    asyncio.run(source.find_window())
    made = source()
    yield _price(made)
    window = source.window or entry.settings.get("window")
    if isinstance(window, int):
        needed = int(_ROUNDS * span * 0.95)
        fits = "holds" if window >= needed else "does not hold (old turns will be dropped)"
        yield Finding(
            True, f"its window of {window:,} tokens {fits} a whole conversation of about {needed:,}"
        )
    if gateway and not made.metered:  # past the gateway, its calls would be paid for
        return
    with TemporaryDirectory(prefix="ltm-bench-") as folder:
        found = asyncio.run(_examine(made, Path(folder) / "agent"))
        yours = made.free or isinstance(made, FunctionAgent)
        if yours and not made.interactive and all(each.ok for each in found):
            found.append(asyncio.run(second_conversation(source, Path(folder))))
    for each in found:  # adapters' errors mention the run, which does not exist yet
        yield Finding(each.ok, _RESUME.sub("", each.text), each.lacks)


async def _arriving(agent: str, settings: Mapping[str, Any], base_url: str | None) -> Finding:
    """Ask an agent something behind a gateway without any money, and return whether a call arrives there."""
    source = resolve_agent(agent, settings, base_url).source
    hello = Message("Hello, can you hear me?", datetime(2026, 1, 5, 9, tzinfo=UTC), 0)
    through, said = Endpoint(upstreams(), Budget(Decimal())), ""
    with (
        TemporaryDirectory(prefix="ltm-bench-") as folder,
        serving(through),
        Journal(Path(folder) / CALLS, perf_counter) as journal,
    ):
        async with conversing(journal) as found:
            made = source()
            try:
                await in_time(made.open(Path(folder)))
                await in_time(made.reply(hello))
            except Exception as error:  # its call was refused, and an adapter can raise anything
                said = f"; it says: {described(error)}"
            finally:
                await made.close()
    if found is None or not found.arrived:
        return Finding(False, f"no call of it arrives at the gateway{said}; see docs/gateway.md")
    return Finding(True, "its calls arrive at the gateway")


async def _examine(agent: Agent, home: Path) -> list[Finding]:
    home.mkdir()
    found: list[Finding] = []
    try:
        await in_time(agent.open(home))
        found += await in_time(agent.examine())
    except Exception as error:  # an adapter can raise anything
        found.append(Finding(False, said_of(error)))
    try:
        await agent.close()
    except Exception as error:  # likewise
        found.append(Finding(False, said_of(error)))
    return found


def bytes_of(span: int) -> int:
    """Return the bytes that a run of this span may take, with a store on this machine."""
    return _EMPTY + _ROUNDS * span * _BYTES_PER_TOKEN


def _disk(span: int) -> Finding:
    place = next(p for p in (REPORTS, Path()) if p.exists())
    free = shutil.disk_usage(place).free
    needed = bytes_of(span)
    return Finding(free > needed, f"disk: {free / 1e9:.1f} GB free, a run may take {needed / 1e9:.2f} GB")


def _price(agent: Agent) -> Finding:
    if agent.free:
        return Finding(True, "price: free, it runs on this machine")
    most = agent.reserve(Message("Hello", datetime(2026, 1, 1, tzinfo=UTC), 0))
    if most is None:
        return Finding(
            True,
            "price: the adapter does not say what a reply uses at most (reserve), so --max-cost cannot be used",
            lacks=True,
        )
    if dollars(most) is None:
        return Finding(
            True, f"price: unknown to {price_list()}; cost will show as unknown, --max-cost cannot be used"
        )
    return Finding(True, f"price: known to {price_list()}")
