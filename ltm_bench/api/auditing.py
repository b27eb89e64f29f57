"""Audits a run: how often do its matchers err? A judge reads a sample of their confident verdicts."""

from pathlib import Path

from ltm_bench.api.options import Options
from ltm_bench.api.publication import publish
from ltm_bench.api.running import check_price
from ltm_bench.api.runs import Run
from ltm_bench.judge.audit import commission_judge, drawn_from, have_read, unread
from ltm_bench.judge.interview import interviewing
from ltm_bench.judge.judges import find_judges
from ltm_bench.judge.opinions import FILE, OpinionStore
from ltm_bench.judge.rubric import prompt
from ltm_bench.log.calls import read_calls
from ltm_bench.log.reader import read_manifest
from ltm_bench.log.recorder import locked


async def audit(folder: Path, judge: str, options: Options, *, sample: int, seed: int) -> Run:
    """Have a calibrated judge read a sample of a run's confident verdicts, and publish the result.

    Earlier answers of the judge are reused. The audit becomes the last of the run's `results.audits`.

    Args:
        folder: The run folder.
        judge: The judge's name.
        options: Only `budget` and `notify` matter.
        sample: The number of verdicts to draw.
        seed: The same seed draws the same verdicts.

    Raises:
        ConfigError: The judge was never calibrated, or there is nothing to audit.
        BudgetReached: The next call could exceed the budget. Repeat the call to continue.
    """
    manifest = read_manifest(folder)
    [asked] = find_judges([judge])
    with locked(folder):
        with OpinionStore(folder.parent / FILE) as memory:
            by = commission_judge(asked, sample, seed, memory)
        drawn = drawn_from(folder, manifest, by)
        left = unread(folder, by, drawn)
        with interviewing(folder, read_calls(folder), "judge", options.budget) as interview:
            price = interview.quote(asked, ((prompt(each.case), 1) for each in left))
            options.notify(f"{len(drawn)} verdicts are audited by {judge}: {price}")
            check_price(asked.make(), options.budget.limit, judge)
            lost = await have_read(folder, by, left, asked, interview)
        if lost:
            options.notify(f"{lost} answers were missing or unreadable; the same command asks for them again")
        return await publish(folder, None, {})
