"""Replies of others as logs of runs: nobody can be asked again, and everything else works as on any run."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Finish
from ltm_bench.core.tokens import DEFAULT, Counter
from ltm_bench.datasets.predictions import Prediction
from ltm_bench.log.events import Ended, Event, Finished, Replied, Sent, encode
from ltm_bench.log.manifest import (
    BENCH_VERSION,
    FORMAT,
    IMPORTED,
    MOST_EXAMPLES,
    AgentEntry,
    FillerEntry,
    Manifest,
    ScenarioEntry,
    SuiteEntry,
)
from ltm_bench.matchers.forms import dump

_START = datetime(2000, 1, 1, tzinfo=UTC)
"""When questions are asked whose file has no dates."""


def manifest_of(
    suite: str, agent: str, span: int, start: datetime, scenarios: Iterable[tuple[str, str, int]]
) -> Manifest:
    """Return the manifest of an imported run.

    Args:
        suite: What was asked.
        agent: Who was.
        span: Tokens of an example.
        start: When it began.
        scenarios: The name of each, a hash of its content, and its number of examples.
    """
    return Manifest(
        format=FORMAT,
        version=version("ltm-bench"),
        bench_version=BENCH_VERSION,
        seed=0,
        span=span,
        tokenizer=DEFAULT,
        suite=SuiteEntry(
            name=suite,
            start=start,
            stagger=0.0,
            isolated=False,
            scenarios=[
                ScenarioEntry(name=name, version=0, hash=digest, examples=n, parameters={})
                for name, digest, n in scenarios
            ],
        ),
        agent=AgentEntry(name=agent, adapter=IMPORTED, hash="", settings={}, free=False),
        filler=FillerEntry(source=IMPORTED, digest="", mode="scripted", max_tokens=0),
        scorers={},
    )


def imported(
    dataset: str, agent: str, predictions: Iterable[Prediction], counter: Counter
) -> Iterator[Manifest | Event]:
    """Yield the log of a run in which an agent gave these replies: an example for each history, of questions alone.

    Raises ConfigError if there are too many.
    """
    histories: dict[str, list[tuple[Prediction, int, int]]] = {}
    for each in predictions:
        sizes = counter.count(each.question), counter.count(each.reply or "")
        histories.setdefault(each.history, []).append((each, *sizes))
    if len(histories) > MOST_EXAMPLES:
        raise ConfigError(
            f"{agent}: it is about {len(histories):,} histories; a run has up to {MOST_EXAMPLES:,}"
        )
    # Of the questions alone and in the order of names, so that files with the same questions are compared as equals.
    span = max(sum(asked for _, asked, _ in each) for each in histories.values())
    yield manifest_of(dataset, agent, max(1, span), _START, [(dataset, "", len(histories))])
    turn = tokens = 0
    for index, name in enumerate(sorted(histories)):
        begun = tokens
        for each, size, length in histories[name]:
            yield Sent(
                turn=turn,
                kind="ask",
                example=f"{dataset}/{index}",
                message=each.question,
                tokens=size,
                position=tokens,
                at=_START,
                expect=dump(each.expect),
                search_by=each.question if "\n" in each.question else None,
            )
            yield Replied(turn=turn, reply=each.reply or "", tokens=length, finish=Finish.STOP)
            turn, tokens = turn + 1, tokens + size + length
        yield Ended(example=f"{dataset}/{index}", span=tokens - begun, overrun=0)
    yield Finished(turns=turn, tokens=tokens, at=_START)


def run_name(*parts: str) -> str:
    """Return the name of a run's folder: letters, digits, dots and hyphens only."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(parts)).strip("-.")[:100]


def write_log(
    run: Path, log: Iterable[Manifest | Event], add: Callable[[Path], None] = lambda draft: None
) -> bool:
    """Write an imported run into a new folder, unless its log is empty; return whether it is not.

    Args:
        run: The folder.
        log: The log.
        add: Called with the folder that becomes the run, to write what belongs beside the log.
    """
    lines = b"".join(each.line() if isinstance(each, Manifest) else encode(each) for each in log)
    if lines:
        draft = run.with_name(f".{run.name}.new")  # so that a run is whole, or is not there
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        (draft / "events.jsonl").write_bytes(lines)
        add(draft)
        draft.rename(run)
    return bool(lines)
