"""Imports published results as event logs: the turns, what our matchers expect, and the published score.

The position of a message in their conversation was not published. It is reconstructed from the waits in the definition
and the tokens of the whole example, so depths are approximate. Filler is missing.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.core.messages import Finish, Matcher
from ltm_bench.core.tokens import Counter
from ltm_bench.datasets.goodai.expectations import expectations
from ltm_bench.datasets.goodai.files import (
    Definition,
    OnBad,
    Performance,
    definitions,
    find_definition,
    results,
    span_of,
)
from ltm_bench.datasets.goodai.matcher import Published
from ltm_bench.datasets.imported import manifest_of, run_name
from ltm_bench.log import events
from ltm_bench.log.events import Ended, Event, Finished, Replied, Sent
from ltm_bench.log.manifest import Manifest
from ltm_bench.matchers.forms import dump


def logs_in(
    folder: Path, counter: Counter, on_bad: OnBad
) -> Iterator[tuple[str, int, Iterator[Manifest | Event]]]:
    """Yield a run's name, its number of examples and its log for every benchmark and agent below a folder.

    Args:
        folder: GoodAI's definitions and results.
        counter: Counts the tokens of messages and replies.
        on_bad: Called with each file, or example, that is left out.

    Raises:
        ConfigError: If there are no results in the folder.
    """
    if not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder")
    known = definitions(folder, on_bad)
    grouped = runs(list(results(folder, on_bad)))
    if not grouped:
        raise ConfigError(
            f"{folder}: it has no results (results-*.jsonl, or results/<agent>/<Scenario>/*.json)"
        )
    for (benchmark, agent), published in grouped.items():
        name = run_name("goodai", benchmark, agent)
        yield name, len(published), log_of(published, known, counter, on_bad)


def runs(published: Sequence[Performance]) -> Mapping[tuple[str, str], list[Performance]]:
    """Group published results into runs: by benchmark and agent."""
    found: dict[tuple[str, str], list[Performance]] = defaultdict(list)
    for each in published:
        found[each.benchmark, each.agent].append(each)
    return dict(sorted(found.items()))


def log_of(
    published: Sequence[Performance], known: Sequence[Definition], counter: Counter, on_bad: OnBad
) -> Iterator[Manifest | Event]:
    """Yield the event log of one run; an example that does not match its definition is left out."""
    readable = []
    for each in sorted(published, key=lambda each: (each.scenario, each.example)):
        definition = find_definition(known, each.scenario, each.example, each.benchmark)
        try:
            readable.append((each, definition, _asked(each, definition, known)))
        except (LookupError, ValueError, TypeError) as error:
            where = f"{each.benchmark}, {each.agent}, {each.scenario} {each.example}"
            on_bad(f"{where}: left out: {wrong_with(error)}")
    if not readable:
        return
    names: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = defaultdict(int)
    for each, _, _ in readable:
        names[each.scenario, each.example] = f"{each.scenario}/{counts[each.scenario]}"
        counts[each.scenario] += 1
    first = min(exchange.at for each, _, _ in readable for exchange in each.exchanges)
    yield _manifest([each for each, _, _ in readable], counts, known, first)
    turn = tokens = 0
    base: dict[str, int] = defaultdict(int)
    for each, definition, asked in readable:
        name = names[each.scenario, each.example]
        for i, exchange in enumerate(each.exchanges):
            expect = asked.get(i)
            sent = Sent(
                turn=turn,
                kind="ask" if expect is not None else "tell" if i <= max(asked) else "chat",
                example=name,
                message=exchange.message,
                tokens=counter.count(exchange.message),
                position=base[each.scenario] + _place(i, each, definition),
                at=exchange.at,
                expect=None if expect is None else dump(expect),
            )
            reply = counter.count(exchange.reply)
            yield sent
            yield Replied(turn=turn, reply=exchange.reply, tokens=reply, finish=Finish.STOP)
            tokens += sent.tokens + reply
            turn += 1
        yield events.PublishedScore(
            example=name, score=round(each.score, 6), reason=each.reason, by_hand=each.by_hand
        )
        over = max(0, each.span - span_of(each.benchmark)) if span_of(each.benchmark) else 0
        yield Ended(example=name, span=each.span, overrun=over)
        base[each.scenario] += each.span
    last = max(exchange.at for each, _, _ in readable for exchange in each.exchanges)
    yield Finished(turns=turn, tokens=tokens, at=last)


def _asked(
    published: Performance, definition: Definition | None, known: Sequence[Definition]
) -> dict[int, Matcher]:
    if definition is None:
        raise ValueError("there is no definition of it")
    if published.scenario == "restaurant":
        return {_last_of_the_play(published): Published(published.score)}
    return dict(expectations(published, definition, known))


def _last_of_the_play(published: Performance) -> int:
    spoken = [i for i, exchange in enumerate(published.exchanges) if exchange.message.startswith("Waiter:")]
    return spoken[-1] if spoken else len(published.exchanges) - 1


def _place(i: int, published: Performance, definition: Definition | None) -> int:
    """Return the approximate number of tokens of its example before its i-th message."""
    waits = definition.waits if definition is not None else ()
    shares = [0.0, *(float(wait.get("percentage_finished", 0.0)) / 90.0 for wait in waits)]
    share = max(shares[: i + 1]) if any(shares) else i / max(1, len(published.exchanges) - 1)
    return round(min(share, 1.0) * published.span)


def _manifest(
    published: Sequence[Performance], counts: Mapping[str, int], known: Sequence[Definition], start: datetime
) -> Manifest:
    benchmark, agent = published[0].benchmark, published[0].agent
    span = span_of(benchmark) or max(each.span for each in published)
    scenarios = [(name, digest(known, name), n) for name, n in sorted(counts.items())]
    return manifest_of(f"goodai {benchmark}", agent, span, start, scenarios)


def digest(known: Sequence[Definition], scenario: str) -> str:
    """Return a hash of a scenario's definitions; it is the same at every span."""
    said = sorted({repr((d.example, d.script, d.expected)) for d in known if d.scenario == scenario})
    return hashlib.sha256("\n".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:16]
