"""Prediction files of InfiniteBench: a task each, and the mean over their lines by every mode, in per cent."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError, nearest
from ltm_bench.datasets.infinitebench.matcher import TaskReply, tuples
from ltm_bench.datasets.infinitebench.scorer import MODES, SCORERS, Mode, task_of
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, all_in_files
from ltm_bench.datasets.streaming import CUT, OnBad, read_predictions, skipping
from ltm_bench.datasets.values import text_of

_SKIPS_FIRST = "gpt4"
"""The model whose first number the published program skips in math_calc."""


def _read(
    path: Path, data: Data, on_bad: OnBad, *, task: str | None = None, model: str | None = None
) -> Iterator[Prediction]:
    """Yield the replies of a file. Raises ConfigError if its task is unknown.

    Args:
        path: A JSON list or JSON Lines, gzipped or not.
        data: Not needed.
        on_bad: Called with each line that cannot be scored.
        task: Its task; None to take it from the file's name.
        model: Whose predictions they are; None to take the name of the file's folder.
    """
    if (of := task or task_of(path.name)) is None:
        raise ConfigError(f"{path}: its name does not include the task; give it with --task")
    skips = (model or path.resolve().parent.name) == _SKIPS_FIRST
    for number, line in read_predictions(path, on_bad, keep_cut=True):
        if line is CUT:
            yield Prediction(of, "", TaskReply(of, None, id=f"{of}/{number}"), None)
            continue
        with skipping(f"{path}:{number}", on_bad):
            said = text_of(line["prediction"] if "prediction" in line else line["pred"])
            label = line["ground_truth"] if "ground_truth" in line else line["label"]
            if label is None:
                raise ValueError("its right answer is null")
            expect = TaskReply(of, tuples(label), id=f"{of}/{number}", skips_first=skips)
            expect.scores("1")  # a label that no scorer can read is noticed here, whatever the reply
            yield Prediction(of, "", expect, said)


def _rows(
    said: Mapping[str, Sequence[Prediction]], data: Data, *, modes: Sequence[Mode] = MODES
) -> list[dict[str, Any]]:
    """Return a row for each file, or run that one became, with the modes that were asked for."""
    found: list[dict[str, Any]] = []
    for file, replies in said.items():
        scores = [each.expect.scores(each.reply or "") for each in replies]
        means: dict[str, float] = {
            mode: round(100 * sum(each[mode] for each in scores) / len(scores), 4) for mode in modes
        }
        found.append({"file": file, "task": replies[0].expect.kind, "lines": len(scores), **means})
    return found


FILES = PredictionFiles(
    TaskReply, _read, all_in_files, "it has no line with a prediction and a ground_truth", rows=_rows
)


def files_of(mode: str | None, task: str | None, model: str | None) -> PredictionFiles:
    """Return how files are read and scored, by one mode alone if it is named. Raises ConfigError for unknown names."""
    for option, given, known in (("--mode", mode, MODES), ("--task", task, tuple(SCORERS))):
        if given is not None and given not in known:
            what = option.removeprefix("--")
            raise ConfigError(
                f"{option} {given}: there is no such {what}{nearest(given, known)} (known: {', '.join(known)})"
            )
    modes = [each for each in MODES if mode in (None, each)]
    return FILES._replace(read=partial(_read, task=task, model=model), rows=partial(_rows, modes=modes))
