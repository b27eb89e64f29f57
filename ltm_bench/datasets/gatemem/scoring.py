"""Scores prediction files of GateMem, and runs: the published figures by domain, with and without the gate."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.errata import wrong_keys
from ltm_bench.datasets.gatemem.files import Checkpoint
from ltm_bench.datasets.gatemem.matcher import acting, output_of
from ltm_bench.datasets.gatemem.scorer import MODES, Output, Rule, figures
from ltm_bench.datasets.streaming import OnBad, read_predictions

ALL, SOUND = "ALL", "without known errors"
"""The names of the rows over every domain, and over the questions whose key is sound."""


def predicted(path: Path, on_bad: OnBad) -> Iterator[tuple[str, Output]]:
    """Yield a prediction file's replies by the question's id. Raises ConfigError if it cannot be read."""
    for number, row in read_predictions(path, on_bad):
        if not isinstance(row, Mapping) or not row.get("checkpoint_id"):
            on_bad(f"{path}:{number}: skipped: it has no checkpoint_id")
            continue
        output = row.get("output", row)
        if not isinstance(output, Mapping) or not {"action", "answer"} & output.keys():
            on_bad(f"{path}:{number}: skipped: it has neither action nor answer")
            continue
        yield str(row["checkpoint_id"]), output_of(output)


def rows_of(
    files: Mapping[Path, Iterator[tuple[str, Output]]], questions: Sequence[Checkpoint], on_bad: OnBad
) -> list[dict[str, Any]]:
    """Return the figures of files, by domain and in all.

    Files that answer different questions, such as one for each domain, also have a row together.

    Args:
        files: Their replies.
        questions: Those of the data.
        on_bad: Called with each reply that cannot be scored.

    Raises:
        ConfigError: A file holds no answer to a question of the data.
    """
    known = {question.id: question for question in questions}
    kept: dict[Path, dict[str, Output]] = {}
    for path, replies in files.items():
        kept[path] = {}
        for name, said in replies:
            if name not in known:
                on_bad(f"{path}: {name[:120]}: skipped: the data has no such question")
            elif name in kept[path]:
                on_bad(f"{path}: {name[:120]}: answered twice; the first answer counts")
            else:
                kept[path][name] = said
        if not kept[path]:
            raise ConfigError(f"{path}: it answers no question of the data; name its folder with --data")
    rows = [row for path, replies in kept.items() for row in _rows(str(path), replies, known)]
    together = {name: said for replies in kept.values() for name, said in replies.items()}
    if len(kept) > 1 and len(together) == sum(map(len, kept.values())):
        rows += (row for row in _rows(ALL, together, known) if row["domain"] in (ALL, SOUND))
    return rows


def _rows(file: str, replies: Mapping[str, Output], known: Mapping[str, Checkpoint]) -> list[dict[str, Any]]:
    told: dict[str, dict[str, Output]] = {}
    for name, said in replies.items():
        told.setdefault(known[name].domain, {})[name] = said
    if len(told) > 1:
        told[ALL] = dict(replies)
    wrong = wrong_keys("gatemem")
    if any(name in wrong for name in replies):
        told[SOUND] = {name: said for name, said in replies.items() if name not in wrong}

    def read(rule: Rule, said: Output, mode: str) -> tuple[Rule, Output]:
        return rule, said if mode == "official" else acting(said, rule)

    return [
        {"file": file, "domain": domain, "scorer": mode, "gate": gate}
        | figures([read(known[name].rule, said, mode) for name, said in of.items()], mode, gate=gate)
        for domain, of in told.items()
        for mode in MODES
        for gate in (False, True)
    ]
