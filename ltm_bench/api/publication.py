"""Publishes a run: scores it, asks judges, and writes everything that is derived from its log, once."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ltm_bench.api.options import Options
from ltm_bench.api.runs import Run
from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.core.messages import Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.log.environment import record_facts
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.recorder import locked
from ltm_bench.plan.hiding import decoys_of
from ltm_bench.plan.planning import Plan, read_bank, reference_examples
from ltm_bench.plan.scenarios import abouts
from ltm_bench.plugins.agents import agent_class, make_agent
from ltm_bench.runner.references import Played, play, play_alone, total
from ltm_bench.score.results.files import RunFiles
from ltm_bench.script.scenario import Example

if TYPE_CHECKING:
    from ltm_bench.runner.sweep import Job

REFERENCES = ("goldfish", "perfect")
"""The baseline and the oracle, whose scores accompany every run's."""

FILTER = ("reference", {"filters": True, "forgets_after": 16_000})
"""The preset `filter`: what it scores says what is gained by keeping only what looks like a needle."""

FILTERED_SPAN = 500_000
"""Tokens of a span up to which the filter is played beside every run with decoys; it hears all of the conversation."""

ON_DEMAND = ("reciter", "parrot")
"""Optional further references; each needs its own conversation, which makes no calls."""


async def rescore(folder: Path, options: Options) -> Run:
    """Re-score a run from its log, and publish it. Calls no agent; asks a reader and judges if any are named."""
    return await publish(folder, options=options)


async def publish(
    folder: Path,
    plan: Plan | None = None,
    verdicts: Mapping[tuple[str, int], Verdict] | None = None,
    *,
    besides: Sequence[str] = (),
    options: Options | None = None,
) -> Run:
    """Score a run, ask judges, and write everything that is derived from its log.

    Args:
        folder: The run folder.
        plan: The run's plan, if it was just carried out.
        verdicts: Verdicts that the matchers have already given, by example and turn.
        besides: References from `ON_DEMAND` to show beside the score.
        options: The reader, who reads blind what matchers cannot; the judges, who are asked about what they cannot
            decide; what these may spend, and whom to notify. If they fail, the run is published without their
            answers before the error is raised.

    Raises:
        ConfigError: The reference is unknown, or can no longer be played; or there is no such reader or judge.
        RunLocked: Reader or judges are named, and another process is working on the run, or asks its own.
    """
    from ltm_bench.report.publishing import read_to_publish

    for name in besides:
        check_known(f"unknown reference {name!r}", name, ON_DEMAND)
    given, background = options or Options(), None
    asks = given.judges or given.reader is not None
    with ExitStack() as reading:
        if asks:  # from before the calls are read on: nobody else may add any
            reading.enter_context(locked(folder, "another process is working on this run; wait for it"))
        files = reading.enter_context(RunFiles(folder, None if plan is None else plan.manifest))
        manifest = files.manifest
        about, examples = (
            (abouts(manifest), reference_examples(manifest))
            if plan is None or manifest.asks is not None
            else (plan.about, plan.examples)
        )
        if besides and not examples:
            raise ConfigError(
                f"{folder}: its scenarios have changed since, so no other agent can be asked the same"
            )
        references = {
            name: total(await play_alone(examples, agent_class(name), manifest.suite.start))
            for name in (REFERENCES if examples else ())
        }
        if examples and manifest.suite.decoys and manifest.span <= FILTERED_SPAN:
            references["filter"] = total(await _played(manifest, examples, partial(make_agent, *FILTER)))
        for name in besides:
            references[name] = total(await _played(manifest, examples, agent_class(name)))
        if asks:
            from ltm_bench.judge.asking import Background, have_judged
            from ltm_bench.judge.judges import find_judges, find_reader
            from ltm_bench.judge.reading import have_read_blind

            reader, judges = find_reader(given.reader, manifest.agent), find_judges(given.judges)
            background = Background()
        with read_to_publish(files, verdicts=verdicts or {}, background=background) as publication:
            try:
                if background is not None:
                    fold, budget, notify = publication.fold, given.budget, given.notify
                    if reader is not None:
                        await have_read_blind(fold, reader, quoted=bool(judges), budget=budget, notify=notify)
                    if judges:
                        await have_judged(
                            fold, background, judges, budget=budget, notify=notify, read=reader is not None
                        )
            finally:  # a judge that cannot be paid leaves the run as it is, with a page
                results = publication.publish(about, references)
        return Run(folder, manifest, results)


async def publish_job(
    job: "Job", verdicts: Mapping[tuple[str, int], Verdict] | None, options: Options, *, ask: bool = True
) -> Run:
    """Publish a run of many: with its tags, what was foretold of it, and the reader and judges that options name.

    Args:
        job: The run.
        verdicts: Verdicts that the matchers have already given.
        options: How the runs are carried out.
        ask: Whether reader and judges are asked; not if the run is unfinished.
    """
    record_facts(job.folder, tags=options.tags, outlook=job.outlook)
    return await publish(job.folder, job.plan, verdicts, options=options if ask else None)


def publish_at_once(folder: Path, plan: Plan, verdicts: Mapping[tuple[str, int], Verdict]) -> None:
    """Publish a run that was just carried out, where that was."""
    asyncio.run(publish(folder, plan, verdicts))


async def _played(
    manifest: Manifest, examples: Sequence[Example], make_agent: Callable[[], Agent]
) -> list[Played]:
    """Run the conversation with an agent that costs nothing."""
    if manifest.suite.isolated:
        return await play_alone(examples, make_agent, manifest.suite.start)
    return await play(
        examples,
        make_agent(),
        span=manifest.span,
        seed=manifest.seed,
        counter=counter(manifest.tokenizer),
        bank=read_bank(manifest.filler.source),
        start=manifest.suite.start,
        stagger=manifest.suite.stagger,
        max_tokens=manifest.filler.max_tokens,
        decoys=decoys_of(examples, manifest, counter(manifest.tokenizer)),
    )
