"""Race agents until the data tells them apart."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.api.options import Options
from ltm_bench.api.racing import MOST, RunningRace
from ltm_bench.cli.console import err, out, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.display import SweepDisplay
from ltm_bench.cli.ending import saying_when_it_ends
from ltm_bench.cli.options import Json, LogLevel, Quiet, check_output, output_option
from ltm_bench.core.errors import BudgetReached, ConfigError, RunIncomplete, ThresholdMissed, nearest
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import Conduct, NewRun, Notify, Request
from ltm_bench.plan.values import number, positive
from ltm_bench.report.race_page import ended, saved, standing
from ltm_bench.report.words import plural
from ltm_bench.score.comparison.racing import End, Preference, Race
from ltm_bench.score.comparison.sizing import assumed
from ltm_bench.score.statistics.power import seeds_in_words, seeds_needed
from ltm_bench.score.statistics.sequential import earliest

GATES = ("worse", "better")

app = group()


@command(
    app,
    "race gpt-6-luna vector_memory --span 32k --max-cost 20",
    "race candidate release --most 10 --least 0.5 --gate worse",
    "race mem0 langmem vector_memory --scenario colours --examples 5",
)
def race(
    request: Request,
    new: NewRun,
    conduct: Conduct,
    names: Annotated[
        list[str], typer.Argument(metavar="AGENT...", help="Two agents or more (see list agents).")
    ],
    agents: Annotated[Sequence[str], Option("Another agent.", "NAME", flags=("--agent",))] = (),
    most: Annotated[
        int, Option("Maximum number of rounds; more decide smaller differences.", "ROUNDS", least=2, most=100)
    ] = MOST,
    least: Annotated[
        float | None,
        Option(
            "The smallest difference that matters, in points; a tenth of all points if left out.",
            "POINTS",
            number("points of the score, such as 0.5", positive),
        ),
    ] = None,
    gate: Annotated[
        str | None,
        Option(
            "Exit with code 2 if the first agent is worse than another, or unless it is better than all.",
            "KIND",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("race", "The page of the race; by default, reports/race.html, or named after --name."),
    ] = None,
    as_json: Json = False,
    notify: Notify = None,
    quiet: Quiet = False,
    log_level: LogLevel = None,
) -> None:
    """Race agents on the same examples, seed by seed, until the data tells them apart. Repeat the command to resume."""
    if gate is not None and gate not in GATES:
        raise ConfigError(f"--gate {gate}: use {' or '.join(GATES)}{nearest(gate, GATES)}")
    if conduct.controls or conduct.ladder:
        raise ConfigError(
            "--control, --ladder: a race asks for neither; `ltm-bench control RUN` does, once its runs have ended"
        )
    check_output(output)
    options = replace(Options.of(conduct), notify=lambda line: err().print(safe(line)))
    course = RunningRace([*names, *agents], request, options, new, most, least)
    for line in foretold(course.race, course.scenarios):
        err().print(safe(line))
    with saying_when_it_ends(notify) as folders:
        try:
            asyncio.run(_watch(course))
        except KeyboardInterrupt:
            raise RunIncomplete("interrupted; nothing is lost: the same command continues") from None
        finally:
            page = course.write(output)
            folders += [options.reports / name for names in course.race.runs.values() for name in names]
        _print(course.race, page, as_json=as_json)
        if course.race.end is End.BUDGET:
            raise BudgetReached(
                f"--max-cost {options.budget.limit} is reached; the same command continues with a larger one"
            )
        check_gate(course.race, gate)


def _print(race: Race, page: Path, *, as_json: bool) -> None:
    lines = (*map(standing, race.duels), ended(race), saved(race), f"page: {page}")
    for line in [race.model_dump_json(indent=1)] if as_json else filter(None, map(safe, lines)):
        out().print(line)


async def _watch(course: RunningRace) -> None:
    async for race in course.rounds(SweepDisplay):
        seed = f"round {race.rounds} of at most {race.rules.most}"
        for duel in race.duels:
            if duel.looks and duel.looks[-1].rounds == race.rounds:
                err().print(safe(f"{seed}: {standing(duel)}"))


def foretold(race: Race, scenarios: Sequence[int]) -> list[str]:
    """Return what is known of a race before it begins: when it can end, and what a fixed plan would take.

    Args:
        race: The race.
        scenarios: The number of examples of each scenario in a round.
    """
    first = earliest(scenarios, race.rules.most, race.error)
    basis = assumed(scenarios)
    plan = seeds_needed(race.rules.least, basis.scenarios, basis.examples, basis.noise)
    lines = [
        f"at most {race.rules.most} rounds of {plural(sum(scenarios), 'example')} for {len(race.agents)} agents; a "
        f"difference of {race.rules.least:.2f} of {len(scenarios)} points matters; plan-size would plan "
        f"{seeds_in_words(plan)} for it, if nothing is known of the agents"
    ]
    if first is None or first >= race.rules.most:
        lines.append(
            "this race can save nothing: no round before the last could decide, however large the difference; raise "
            "--most, or run as many seeds with `ltm-bench sweep --repeats`"
        )
    else:
        lines.append(f"the first round that could decide is number {first}")
    return lines


def check_gate(race: Race, gate: str | None) -> None:
    """Raise ThresholdMissed if the first agent is worse than another, or is not better than all, as the gate asks."""
    mine = [duel for duel in race.duels if duel.first == race.agents[0]]
    lost = [duel for duel in mine if duel.decision is Preference.SECOND]
    unproven = [duel for duel in mine if duel.decision is not Preference.FIRST]
    failed = {"worse": lost, "better": unproven}.get(gate or "", [])
    if failed:
        raise ThresholdMissed(f"--gate {gate}: {'; '.join(duel.verdict for duel in failed)}")
