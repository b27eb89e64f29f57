"""Scores prediction files of InfiniteBench: one mean for every file and mode."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.datasets.infinitebench.scorer import MODES, SCORERS, Mode, score, task_of
from ltm_bench.datasets.streaming import CUT, OnBad, read_predictions, skipping
from ltm_bench.datasets.values import text_of

_SKIPS_FIRST = "gpt4"
"""The model whose first number the published program skips in math_calc."""


def modes_of(name: str | None) -> Sequence[Mode]:
    """Return the mode of a name, or all modes for None. Raises ConfigError."""
    found = [each for each in MODES if name in (None, each)]
    if not found:
        raise ConfigError(
            f"--mode {name}: there is no such mode{nearest(name or '', MODES)} (known: {', '.join(MODES)})"
        )
    return found


def score_file(
    path: Path, modes: Sequence[Mode], *, task: str | None, model: str | None, on_bad: OnBad
) -> dict[str, Any]:
    """Return file, task, number of lines, and the mean of each mode in per cent.

    Args:
        path: A JSON list or JSON Lines, gzipped or not.
        modes: How to score.
        task: Its task; None to take it from the file's name.
        model: Whose predictions they are; None to take the name of the file's folder.
        on_bad: Called with each line that cannot be scored.

    Raises:
        ConfigError: The task is unknown, or the file cannot be read or holds no prediction.
    """
    if task is not None and task not in SCORERS:
        raise ConfigError(
            f"--task {task}: there is no such task{nearest(task, SCORERS)} (known: {', '.join(SCORERS)})"
        )
    task = task or task_of(path.name)
    if task is None:
        raise ConfigError(f"{path}: its name does not include the task; give it with --task")
    skip_first = (model or path.resolve().parent.name) == _SKIPS_FIRST
    scores: list[list[float]] = []
    for number, line in read_predictions(path, on_bad, keep_cut=True):
        if line is CUT:
            scores.append([0.0] * len(modes))
            continue
        with skipping(f"{path}:{number}", on_bad):
            said = text_of(line["prediction"] if "prediction" in line else line["pred"])
            label = line["ground_truth"] if "ground_truth" in line else line["label"]
            scores.append([score(task, said, label, mode, skip_first=skip_first) for mode in modes])
    if not scores:
        raise ConfigError(f"{path}: it has no line with a prediction and a ground_truth")
    sums = map(sum, zip(*scores, strict=True))
    means: dict[str, float] = {
        mode: round(100 * total / len(scores), 4) for mode, total in zip(modes, sums, strict=True)
    }
    return {"file": str(path), "task": task, "lines": len(scores), **means}
