"""Checks the files beside a log, and what results make of them: it cannot be proved, but some of it cannot be true."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from ltm_bench.core.errors import NotVerified
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.export.stored import first_problem
from ltm_bench.log.lines import LARGEST
from ltm_bench.score.audits.judgements import BLIND, JUDGEMENTS, OVERRIDES, VAGUE
from ltm_bench.score.audits.records import AUDIT

_Number = Annotated[float, Field(strict=True)] | None


class _Environment(BaseModel):
    """The content of environment.json."""

    started: list[AwareDatetime] = []
    packages: dict[str, str] = {}
    tags: dict[str, str] = {}
    window: Annotated[int, Field(strict=True, gt=0)] | None = None
    outlook: str = ""


class _Charged(BaseModel):
    """A line of timings.jsonl."""

    turn: Annotated[int, Field(strict=True)] | None = None
    conversation: str | None = None
    seconds: _Number = None
    failed_after: _Number = None
    dollars: _Number = None
    reserved: _Number = None
    attempts: list[dict[str, Any]] = []
    operations: list[tuple[str, _Number, list[Any]]] = []


_FORMS: Mapping[str, TypeAdapter[Any]] = {
    "environment.json": TypeAdapter(_Environment),
    "timings.jsonl": TypeAdapter(_Charged),
    **dict.fromkeys(
        ("results.json", JUDGEMENTS, BLIND, OVERRIDES, VAGUE, AUDIT), TypeAdapter(dict[str, Any])
    ),
}

_DERIVED = ("costs", "latency", "operations", "seconds")
"""What of results.json comes from side files; in the rest, a number can be negative."""


def check_side_files(run: Path) -> None:
    """Check that a run's side files have their form, and that no amount in them is negative or endless.

    Raises:
        NotVerified: One of them is damaged, or says what no run writes.
    """
    for name, form in _FORMS.items():
        path = run / name
        if not path.exists():
            continue
        where = name
        try:
            for number, content in enumerate(_records(path), start=1):
                where = f"{name}:{number}" if path.suffix == ".jsonl" else name
                record = json_of(content)
                form.validate_python(record)
                if name == "results.json":
                    record = {key: record.get(key) for key in _DERIVED}
                for key, value in _numbers("", record):
                    if key != "seed" and not 0 <= value <= LARGEST:
                        raise ValueError(f"{key} is {value:g}, which is impossible")
        except ValidationError as error:
            raise NotVerified(f"{run.name}: {where}: {first_problem(error)}") from error
        except (OSError, ValueError) as error:
            raise NotVerified(f"{run.name}: {where}: {error}") from error


def _records(path: Path) -> list[bytes]:
    """Return a file's lines, without a last one torn by a crash; of a file that is one object, its content."""
    content = content_of(path)
    return content.split(b"\n")[:-1] if path.suffix == ".jsonl" else [content]


def _numbers(key: str, value: Any) -> Iterator[tuple[str, int | float]]:
    """Yield every number in a record, with the key that it stands under."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _numbers(name, each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(key, each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, value
