"""Publishes the runs of a sweep: each while others go on, if nobody else has to be asked about it, or at the end."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from ltm_bench.api import Options, Run, load_run
from ltm_bench.api.controlling import again_for
from ltm_bench.api.publication import publish, publish_job
from ltm_bench.cli.console import err, safe
from ltm_bench.cli.verdicts import check_judged
from ltm_bench.core.errors import BudgetReached, ConfigError, LogError, RunIncomplete, RunLocked
from ltm_bench.log.environment import environment_of, record_facts
from ltm_bench.runner.conversation import Verdicts
from ltm_bench.runner.sweep import Job, JobResult
from ltm_bench.score.comparison.thin import Thinner
from ltm_bench.score.results.stored import PAGES, stored_results


def _begun(done: JobResult) -> bool:
    """Whether this run has begun; a folder with another run does not count."""
    return not isinstance(done.problem, LogError) and (done.job.folder / "events.jsonl").exists()


def _published_there(done: JobResult, options: Options) -> Run | None:
    """Return a run that was published where and when it ended; None if there is more to do."""
    job, known = done.job, environment_of(done.job.folder).get("tags")
    tagged = (options.tags or {}).items() <= (known if isinstance(known, dict) else {}).items()
    asked = options.judges or options.reader or again_for(job.plan, options)
    if done.problem is not None or asked or not tagged or not (job.folder / PAGES[0]).is_file():
        return None
    results = stored_results(job.folder, job.plan.manifest)
    return None if results is None else Run(job.folder, job.plan.manifest, results)


class Press:
    """Publishes runs while others go on, in a process of its own if those make calls, which pages would hold up.

    Runs about which readers, judges or controls have yet to be asked are left for the end. So is whatever fails here.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._process: Popen[bytes] | None = None

    def publish(self, job: Job, verdicts: Verdicts) -> None:
        """Publish a run, and wait until its pages are written."""
        options = self._options
        if options.judges or options.reader or again_for(job.plan, options):
            return
        with suppress(Exception):
            if job.plan.manifest.agent.free:
                asyncio.run(publish_job(job, verdicts, options, ask=False))
                return
            record_facts(job.folder, options.tags, outlook=job.outlook)
            if self._process is None:
                self._begin()
            self._runs.send((job.folder, verdicts))
            self._runs.recv()

    def _begin(self) -> None:
        self._runs, theirs = Pipe()
        program = f"from {__name__} import publish_each; publish_each()"
        words = [sys.executable, "-P", "-c", program, str(theirs.fileno())]
        quiet: Any = dict.fromkeys(("stdin", "stdout", "stderr"), DEVNULL)
        # In a session of its own, so that Ctrl-C reaches the sweep alone.
        self._process = Popen(words, **quiet, pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()

    def close(self) -> None:
        """End the process, which does so by itself if this one is killed."""
        if self._process is not None:
            self._runs.close()
            self._process.wait()


def publish_each() -> None:
    """Publish every run that comes through the pipe that the command line names, until that is closed."""
    runs = Connection(int(sys.argv[1]))
    with suppress(EOFError, OSError):
        while True:
            folder, verdicts = runs.recv()
            with suppress(Exception):
                asyncio.run(publish(folder, None, verdicts))
            runs.send(None)


def publish_all(
    ended: Sequence[JobResult], options: Options, bring: Callable[[Job], None] | None
) -> tuple[list[JobResult], dict[Path, Run]]:
    """Publish all runs that have begun and are not published; return how they ended, and what comparisons need.

    Args:
        ended: How they ended so far.
        options: Who else is asked about them, and their tags.
        bring: Copies the pages of a run that was published here to where its log is.
    """
    results, runs, thinner = list(ended), {}, Thinner()
    for place, each in enumerate(ended):
        if _begun(each):
            run = _published_there(each, options)
            if run is None:
                results[place], run = asyncio.run(_published(each, options))
                if bring is not None:
                    bring(each.job)
            thinned = thinner.thin(run.manifest, run.results)
            runs[each.job.folder] = replace(run, manifest=thinned.manifest, results=thinned.results)
    return results, runs


async def _published(done: JobResult, options: Options) -> tuple[JobResult, Run]:
    """Publish a run, and have reader and judges decide what is undecided. If they cannot go on, it is unfinished.

    So it is if its pages cannot be written; other runs may lie on another disk, or be smaller.
    """
    job = done.job
    try:
        run = await publish_job(job, done.verdicts, options, ask=done.problem is None)
        check_judged([run] if done.problem is None else [])
    except (BudgetReached, RunIncomplete) as error:
        return replace(done, problem=error), load_run(job.folder)
    except RunLocked as error:  # somebody asks judges about it; its verdicts are shown as they are
        run = await publish_job(job, done.verdicts, options, ask=False)
        return replace(done, problem=RunIncomplete(str(error))), run
    except (ConfigError, OSError) as error:
        err().print(safe(f"{job.folder.name}: {error}"))
        return replace(done, problem=done.problem or RunIncomplete(str(error))), load_run(job.folder)
    return done, run
