"""Estimate what a run would use and cost, without any call."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Annotated

from rich.table import Table

from ltm_bench.cli.console import err, out, print_table, safe, table_of
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.forecasting import duration, forecast_lines
from ltm_bench.cli.options import Config, LogLevel, Quiet
from ltm_bench.core.pricing import price_list
from ltm_bench.judge.interview import quote
from ltm_bench.judge.judges import find_reader
from ltm_bench.judge.reading import foreseen, prompts_of
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.planning import Plan, make_plan
from ltm_bench.plan.request import RUN, Controls, Judges, Ladder, MaxCost, Reader, Repeats, Request
from ltm_bench.plan.values import seconds, spell_span
from ltm_bench.report.words import plural
from ltm_bench.runner.control_costs import control_lines, ladder_line
from ltm_bench.runner.controls import check_controls
from ltm_bench.runner.estimate import REPLIES, Estimate
from ltm_bench.runner.estimate import estimate as simulate
from ltm_bench.runner.measured import seconds_per_reply

_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


app = group()


@contextmanager
def _standing_in() -> Iterator[None]:
    """Set a key wherever there is none: adapters require one, but nothing is called."""
    # For this call alone: left there, the word would be removed from later replies of the process as a key.
    missing = [key for key in _KEYS if key not in os.environ]
    os.environ.update(dict.fromkeys(missing, "none"))
    try:
        yield
    finally:
        for key in missing:
            del os.environ[key]


@command(
    app,
    "estimate --span 120k --agent gpt-6-luna",
    "estimate --span 32k --agent http -A url=https://host/chat --scenario colours --latency 2.5",
    idle=RUN,
)
@_standing_in()
def estimate(
    request: Request,
    repeats: Repeats = 1,
    latency: Annotated[
        float | None,
        Option(
            "How long a reply takes; by default, as measured in earlier runs of this agent.",
            "SECONDS",
            seconds,
        ),
    ] = None,
    reader: Reader = None,
    judges: Judges = (),
    controls: Controls = (),
    ladder: Ladder = False,
    max_cost: MaxCost = None,
    config: Config = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Estimate what a run would use and cost. Takes the options of `run`, simulates its schedule, and makes no call."""
    plan = make_plan(request)
    manifest, kinds = plan.manifest, controls or plan.controls
    check_controls(kinds, isolated=manifest.suite.isolated)
    measured = seconds_per_reply(manifest.agent, manifest.span) if latency is None else latency
    found = {reply: simulate(plan, tokens, measured) for reply, tokens in REPLIES.items()}
    likely = found["likely"]
    for line in plan.notes:
        err().print(line)
    out().print(
        f"{manifest.agent.name} · {manifest.suite.title} · span {spell_span(manifest.span)} · "
        f"{plural(len(plan.examples), 'example')} · no call is made"
    )
    for line in forecast_lines(plan, likely):
        out().print(safe(line))
    print_table(_table(plan, found))
    if repeats > 1:
        time = duration(None if likely.minutes is None else repeats * likely.minutes)
        out().print(
            f"{repeats} runs: {repeats * likely.calls:,} calls, {_dollars(plan, likely, repeats)}"
            + (f", {time}" if time else "")
        )
    for line in _notes(plan, likely, measured, latency is not None):
        out().print(line)
    if any(each.overflows for each in found.values()):
        out().print("Some messages do not fit into the window at all.")
    if (asked := find_reader(reader, manifest.agent)) is not None:
        every = quote(asked, ((text, False) for text, _ in prompts_of(foreseen(plan.examples))))
        out().print(
            safe(f"Reader {asked.name}: asked about some 5 % of the replies; about all of them: {every}")
        )
    for line in asyncio.run(control_lines(plan, kinds)):
        out().print(line)
    if ladder:
        out().print(asyncio.run(ladder_line(plan)))
    if judges:
        out().print("Judges are asked only about undecided replies; their cost is not included.")
    if max_cost is not None and likely.dollars is not None and repeats * likely.dollars > max_cost:
        out().print(
            f"That is more than --max-cost {max_cost}: the run would stop there, and could be resumed."
        )


def _table(plan: Plan, found: Mapping[str, Estimate]) -> Table:
    table = table_of("", *found)
    every = list(found.values())
    rows = {
        "tokens of a reply": [f"{tokens}" for tokens in REPLIES.values()],
        "turns": [f"{each.turns:,}" for each in every],
        "of them asked of the agent": [f"{each.calls:,}" for each in every],
        "of these filler": [f"{each.filler:,}" for each in every],
        "examples that overrun": [f"{each.overruns:,}" for each in every],
        "tokens of the conversation": [f"{each.tokens:,}" for each in every],
        "output tokens": [f"{each.output:,}" for each in every],
    }
    if plan.agents.sample.usage_model() is not None:
        rows |= {
            "prompt tokens": [f"{each.prompt:,}" for each in every],
            "from the prompt cache": [f"{each.cached / max(each.prompt, 1):.1%}" for each in every],
            "with the prompt cache": [_dollars(plan, each) for each in every],
            "without it": [_money(each.dollars_uncached) for each in every],
        }
    else:
        rows["cost"] = [_dollars(plan, each) for each in every]
    rows["minutes"] = ["unknown" if each.minutes is None else f"{each.minutes:.0f}" for each in every]
    for name, cells in rows.items():
        table.add_row(name, *cells)
    return table


def _notes(plan: Plan, found: Estimate, latency: float | None, given: bool) -> list[str]:
    """Explain where the figures come from."""
    manifest = plan.manifest
    notes = []
    if not manifest.agent.free:
        model = plan.agents.sample.usage_model() is not None
        if found.dollars is None and not model:
            notes.append(
                f"The price is unknown: the adapter {manifest.agent.adapter} states neither what a reply uses "
                "(usage_model) nor what it costs at most (reserve)."
            )
        elif found.bounded:
            notes.append(
                "The cost is the agent's maximum for the longest message, times the most calls there can be."
            )
        notes.append(
            f"Prices: {price_list()}; tokens are counted with {manifest.tokenizer}, the model's own count may "
            "differ by a few per cent. Reasoning counts as output and is not included."
        )
    if latency is not None:
        source = "--latency" if given else "measured in an earlier run"
        notes.append(f"Minutes: {latency:.2g} seconds a reply ({source}).")
    elif found.seconds is not None:
        notes.append("Minutes: at a provider's usual speed; --latency SECONDS says how long a reply takes.")
    else:
        notes.append(
            "Minutes: unknown until a run has measured them; --latency SECONDS says how long a reply takes."
        )
    return notes


def _dollars(plan: Plan, found: Estimate, times: int = 1) -> str:
    if plan.manifest.agent.free:
        return "free"
    most = "at most " if found.bounded and found.dollars is not None and times == 1 else ""
    return most + _money(None if found.dollars is None else times * found.dollars)


def _money(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"${amount:.2f}"
