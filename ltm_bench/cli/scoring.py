"""`score infinitebench` and `score counting-stars`: prediction files of others, in their own formats."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.cli.console import err, out
from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.datasets.counting_stars import scorer as counting_stars
from ltm_bench.datasets.infinitebench import scorer as infinitebench


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
    """Print how many of the counts were found, by length, and how well they were ordered. Raises ConfigError."""
    tests = [test for path in files for test in (_played(path) if path.is_dir() else [_predicted(path)])]
    found = [_figures(path, name, rows) for path, name, rows in tests]
    runs = dict.fromkeys(path for path, name, _ in tests if name)
    for path in runs:
        of = [each for each in found if each["file"] == str(path)]
        if len(of) > 1:  # the published ranking is by the mean over the four official tests
            mean = sum(each["score"] for each in of) / len(of)
            found.append({**dict.fromkeys(found[0], ""), "file": str(path), "test": "mean", "score": mean})
    if as_json:
        out().print_json(json.dumps(found))
        return
    files_alone = [each for each in found if not each["test"]]
    if files_alone:
        _table([{key: value for key, value in each.items() if key != "test"} for each in files_alone])
    for path in runs:
        out().print(path.name, markup=False)
        of = [each for each in found if each["file"] == str(path)]
        _table([{key: value for key, value in each.items() if key != "file"} for each in of])


_Test = tuple[Path, str, Sequence[counting_stars.Row]]

BUCKETS = 4
"""Into so many groups answers are put by length; the column 1/4 is the score of the shortest."""


def _predicted(path: Path) -> _Test:
    try:
        rows = counting_stars.rows(line for _, line in _objects(path))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ConfigError(
            f"{path}: not a prediction file of Counting-Stars: {type(error).__name__}: {error}"
        ) from error
    if not rows:
        raise ConfigError(f"{path}: there is no answer in it")
    return path, "", rows


def _played(run: Path) -> list[_Test]:
    """Return what a run of ours has of Counting-Stars; what its page says is scored in the same way."""
    from ltm_bench.log.reader import read_manifest
    from ltm_bench.plan.scenarios import abouts
    from ltm_bench.score.fold import score_run

    results = score_run(run, about=abouts(read_manifest(run)))
    tests: dict[str, list[counting_stars.Row]] = {}
    for example in results.examples:
        for question in example.questions:
            if question.scorer.startswith("StarCounts") and question.reply is not None:
                counts = json.loads(question.expected)["counts"]
                row = counting_stars.score(question.reply, counts, example.span)
                tests.setdefault(example.scenario, []).append(row._replace(parts=question.parts))
    if not tests:
        raise ConfigError(f"{run}: nobody was asked to count stars in that run")
    return [(run, name, rows) for name, rows in tests.items()]


def _figures(path: Path, name: str, rows: Sequence[counting_stars.Row]) -> dict[str, Any]:
    cells = sum(len(row.parts) for row in rows)
    ordered = sorted(rows, key=lambda row: row.size)
    groups = [ordered[i * len(rows) // BUCKETS : (i + 1) * len(rows) // BUCKETS] for i in range(BUCKETS)]
    lengths = {
        f"{i}/{BUCKETS}": round(_mean(group), 4) if group and rows[0].size else ""
        for i, group in enumerate(groups, start=1)
    }
    return {
        "file": str(path),
        "test": name,
        "n": len(rows),
        "hits": f"{sum(sum(part == 1 for part in row.parts) for row in rows)}/{cells}",
        "score": round(_mean(rows), 4),
        **lengths,
        "placed": round(sum(row.placed for row in rows) / cells, 4),
        "exact": f"{sum(row.exact for row in rows)}/{len(rows)}",
    }


def _mean(rows: Sequence[counting_stars.Row]) -> float:
    return sum(sum(row.parts) for row in rows) / sum(len(row.parts) for row in rows)


def _table(found: Sequence[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in found[0]:
        name = column in ("file", "task", "test")
        table.add_column(
            column,
            justify="left" if name else "right",
            overflow="fold",
            no_wrap=not name,
            min_width=18 if column in ("file", "test") else None,
        )
    for row in found:
        shown = {key: Path(value).name if key == "file" else value for key, value in row.items()}
        table.add_row(
            *(
                f"{value:.{4 if key == 'score' else 2}f}" if isinstance(value, float) else str(value)
                for key, value in shown.items()
            )
        )
    out().print(table)
