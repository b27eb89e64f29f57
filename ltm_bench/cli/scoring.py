"""`score infinitebench` and `score counting-stars`: prediction files of others, in their own formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ltm_bench import counting_stars, infinitebench
from ltm_bench.cli.console import err, out
from ltm_bench.errors import ConfigError, nearest


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    """Give the objects of a JSON list or of JSON lines, gzipped or not, with their numbers."""
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if text.lstrip().startswith("["):
        try:
            yield from enumerate(json.loads(text), start=1)
            return
        except ValueError as error:
            raise ConfigError(f"{path}: not JSON: {error}") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                err().print(f"{path}:{number}: skipped, not JSON: {error}", markup=False)


def score_infinitebench(
    files: Sequence[Path], mode: str | None, task: str | None, model: str | None, *, as_json: bool
) -> None:
    """Print the mean score of every file, in per cent, in one mode or in all. Raises ConfigError."""
    modes = [each for each in infinitebench.MODES if mode in (None, each)]
    if not modes:
        known = ", ".join(infinitebench.MODES)
        raise ConfigError(
            f"--mode {mode}: there is none{nearest(mode or '', infinitebench.MODES)} (known: {known})"
        )
    if task is not None and task not in infinitebench.SCORERS:
        known = ", ".join(infinitebench.SCORERS)
        raise ConfigError(
            f"--task {task}: there is none{nearest(task, infinitebench.SCORERS)} (known: {known})"
        )
    found = []
    for path in files:
        name = task or infinitebench.task_of(path.name)
        if name is None:
            raise ConfigError(f"{path}: its name says no task; give it with --task")
        skip = (model or path.resolve().parent.name) == "gpt4"
        scores: dict[str, list[float]] = {each: [] for each in modes}
        for number, line in _objects(path):
            try:
                said = str(line["prediction"] if "prediction" in line else line["pred"])
                label = line["ground_truth"] if "ground_truth" in line else line["label"]
                for each in modes:
                    scores[each].append(infinitebench.score(name, said, label, each, skip_first=skip))
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                err().print(f"{path}:{number}: skipped: {type(error).__name__}: {error}", markup=False)
        lines = len(scores[modes[0]])
        if not lines:
            raise ConfigError(f"{path}: there is no line with a prediction and a ground_truth in it")
        means = {each: round(100 * sum(got) / lines, 4) for each, got in scores.items()}
        found.append({"file": str(path), "task": name, "lines": lines, **means})
    if as_json:
        out().print_json(json.dumps(found))
        return
    _table(found)


def score_counting_stars(files: Sequence[Path], *, as_json: bool) -> None:
    """Print for every file how many of the counts were found, and how well they were ordered. Raises ConfigError."""
    found = []
    for path in files:
        try:
            rows = counting_stars.rows(line for _, line in _objects(path))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(
                f"{path}: not a prediction file of Counting-Stars: {type(error).__name__}: {error}"
            ) from error
        if not rows:
            raise ConfigError(f"{path}: there is no answer in it")
        cells = sum(len(row.found) for row in rows)
        hits = sum(sum(row.found) for row in rows)
        found.append(
            {
                "file": str(path),
                "answers": len(rows),
                "hits": f"{hits}/{cells}",
                "score": round(hits / cells, 4),
                "in place": round(sum(row.placed for row in rows) / cells, 4),
                "exact lists": f"{sum(row.exact for row in rows)}/{len(rows)}",
            }
        )
    if as_json:
        out().print_json(json.dumps(found))
        return
    _table(found)


def _table(found: Sequence[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for column in found[0]:
        table.add_column(column, justify="left" if column in ("file", "task") else "right")
    for row in found:
        shown = {**row, "file": Path(row["file"]).name}
        digits = 4 if "score" in row else 2
        table.add_row(*(f"{v:.{digits}f}" if isinstance(v, float) else str(v) for v in shown.values()))
    out().print(table)
