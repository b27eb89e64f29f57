"""Say what a run would use and cost; no call is made."""

from __future__ import annotations

import os
from decimal import Decimal

import typer
from rich import box
from rich.table import Table

from ltm_bench.cli.console import err, out
from ltm_bench.cli.options import (
    Acknowledge,
    AgentName,
    BaseUrl,
    Data,
    FillerKind,
    Questions,
    Quick,
    Seed,
    Settings,
    Span,
    Suite,
    Tokenizer,
    examples_of,
)
from ltm_bench.core.pricing import price_list
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plan.values import parse_settings, spell_span
from ltm_bench.runner.estimate import REPLIES
from ltm_bench.runner.estimate import estimate as simulate

_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY")


def estimate(
    span: Span = None,
    agent: AgentName = "gpt-4o",
    suite: Suite = "standard",
    data: Data = None,
    seed: Seed = 0,
    filler: FillerKind = "scripted",
    questions: Questions = "in-line",
    acknowledge: Acknowledge = "live",
    quick: Quick = False,
    tokenizer: Tokenizer = DEFAULT,
    setting: Settings = None,
    base_url: BaseUrl = None,
) -> None:
    """Say what a run would use and cost, with and without prompt caching. Simulates the schedule; no call is made."""
    for key in _KEYS:  # adapters insist on one, and nobody is called
        os.environ.setdefault(key, "estimate")
    plan = make_plan(
        Request(
            span=span,
            agent=agent,
            suite=suite,
            data=data,
            seed=seed,
            filler=filler,
            questions=questions,
            acknowledge=acknowledge,
            quick=quick,
            tokenizer=tokenizer,
            settings=parse_settings(setting or ()),
            base_url=base_url,
        )
    )
    for line in plan.notes:
        err().print(line)
    manifest = plan.manifest
    if manifest.agent.free:
        out().print(f"{manifest.agent.name} runs on this machine and costs nothing.")
        return
    model = plan.agents.sample.usage_model()
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("", *REPLIES):
        table.add_column(column, justify="right" if column else "left")
    found = {name: simulate(plan, model, tokens) for name, tokens in REPLIES.items()}
    rows = {
        "tokens of a reply": [f"{tokens}" for tokens in REPLIES.values()],
        "turns": [f"{each.turns:,}" for each in found.values()],
        "of them asked of the agent": [f"{each.calls:,}" for each in found.values()],
        "of these filler": [f"{each.filler:,}" for each in found.values()],
        "tokens of the conversation": [f"{each.tokens:,}" for each in found.values()],
        "output tokens": [f"{each.output:,}" for each in found.values()],
    }
    of_the_model = {
        "prompt tokens": [f"{each.prompt:,}" for each in found.values()],
        "from the prompt cache": [f"{each.cached / max(each.prompt, 1):.1%}" for each in found.values()],
        "with the prompt cache": [_dollars(each.dollars) for each in found.values()],
        "without it": [_dollars(each.dollars_uncached) for each in found.values()],
        "minutes": [f"{each.minutes:.0f}" for each in found.values()],
    }
    for name, cells in (rows | (of_the_model if model is not None else {})).items():
        table.add_row(name, *cells)
    out().print(
        f"{manifest.agent.name} · {manifest.suite.title} · span {spell_span(manifest.span)} · no call is made"
    )
    out().print(table)
    if model is None:
        out().print(
            f"The price is unknown: only chat models in a window say what they use, not the adapter "
            f"{manifest.agent.adapter}."
        )
        return
    out().print(
        f"Prices: {price_list()}; tokens as {manifest.tokenizer} counts them, the model's own may differ by a few per "
        "cent. Reasoning counts as output and is not in it.",
    )
    if any(each.overflows for each in found.values()):
        out().print("Some messages do not fit into the window at all.")


def _dollars(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"${amount:.2f}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=examples_of("estimate --span 120k --agent gpt-4o"))(estimate)
