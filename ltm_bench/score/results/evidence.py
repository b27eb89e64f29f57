"""What the side files of a conversation say about the agent's store: what retrieval found, and what was written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ltm_bench.log.lines import records
from ltm_bench.score.results.retrieval import NeedleTrace, Retrieval, Retrieved
from ltm_bench.score.results.written import Examined, Written


def traces(path: Path) -> dict[int, Retrieval]:
    """Return what retrieval found, by the turn of the question."""
    found = {}
    for record in records(path):
        needles, turn = record.get("needles"), record.get("turn")
        valid = isinstance(needles, list) and all(isinstance(n, list) and len(n) == 3 for n in needles)
        if valid and needles and isinstance(turn, int):
            found[turn] = _retrieval(needles, record)
    return found


def writings(path: Path) -> dict[str, Examined]:
    """Return which of each example's facts an agent's store held; the last record counts."""
    found = {}
    for record in records(path):
        name, users = record.get("example"), record.get("users")
        with suppress(ValidationError):
            written = Written.model_validate({key: record.get(key) for key in ("memories", "facts")})
            if isinstance(name, str):
                found[name] = Examined(written, isinstance(users, int) and users > 1)
    return found


def changes(path: Path) -> dict[str, dict[tuple[str, str], bool]]:
    """Return what an agent's store had just before facts were replaced or deleted, by example."""
    found: dict[str, dict[tuple[str, str], bool]] = {}
    for record in records(path):
        name, before = record.get("example"), record.get("before")
        for each in before if isinstance(before, list) else ():
            match each:
                case [str(about), str(value), bool(had)] if isinstance(name, str):
                    found.setdefault(name, {})[about, value] = had
    return found


def _retrieval(needles: Sequence[Sequence[Any]], record: Mapping[str, Any]) -> Retrieval:
    """Return a record's retrieval. Version 0.1.0 recorded whether a needle was retrieved, not its rank."""
    # Not isinstance(): True is an int, too, and is what version 0.1.0 recorded.
    ranked = all(rank is None or type(rank) is int for _, _, rank in needles)
    known = [bool(stored) for _, stored, _ in needles if stored is not None]
    k, used, instead, empty = (record.get(name) for name in ("k", "used", "instead", "empty"))
    cut = used if type(k) is int and isinstance(used, list) else None
    retrieved = [bool(rank) if cut is None else turn in cut for turn, _, rank in needles]
    return Retrieval(
        needles=len(needles),
        stored=sum(known) if len(known) == len(needles) else None,
        retrieved=sum(retrieved),
        k=None if cut is None else k,
        traces=tuple(
            NeedleTrace(
                turn=turn,
                stored=None if stored is None else bool(stored),
                rank=rank,
                used=None if cut is None else turn in cut,
                empty=isinstance(empty, list) and turn in empty,
            )
            for turn, stored, rank in needles
            if ranked and isinstance(turn, int)
        ),
        instead=tuple(_memories(instead if isinstance(instead, list) else [])),
    )


def _memories(instead: Sequence[Any]) -> Iterator[Retrieved]:
    for each in instead:
        with suppress(ValidationError):
            yield Retrieved.model_validate(each)
