"""Prediction files of GateMem, and the published figures by domain, with and without the gate."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.errata import wrong_keys
from ltm_bench.datasets.gatemem.files import Checkpoint, questions_of
from ltm_bench.datasets.gatemem.matcher import Gated, acting, gated, output_in
from ltm_bench.datasets.gatemem.scorer import MODES, figures
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles
from ltm_bench.datasets.streaming import OnBad, read_predictions

ALL, SOUND = "ALL", "without known errors"
"""The names of the rows over every domain, and over the questions whose key is sound."""


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file, as a run would hold them. Raises ConfigError without the data, whose rules count."""
    known = {each.id: each for _, each in data if isinstance(each, Checkpoint)}
    if not known:
        raise ConfigError(f"{path}: its rules are in the data; name its folder with --data")
    for number, row in read_predictions(path, on_bad):
        if not isinstance(row, Mapping) or not row.get("checkpoint_id"):
            on_bad(f"{path}:{number}: skipped: it has no checkpoint_id")
            continue
        output = row.get("output", row)
        if not isinstance(output, Mapping) or not {"action", "answer"} & output.keys():
            on_bad(f"{path}:{number}: skipped: it has neither action nor answer")
            continue
        name = str(row["checkpoint_id"])
        if (asked := known.get(name)) is None:
            on_bad(f"{path}: {name[:120]}: skipped: the data has no such question")
            continue
        kind, action, patterns, named = asked.rule
        expect = gated(kind, action, patterns, named, name)
        yield Prediction(asked.domain, asked.text, expect, json.dumps({"action": "", **output}))


def rows_of(replies: Mapping[str, Iterable[Prediction]], data: Data) -> list[dict[str, Any]]:
    """Return the figures of files or runs, by domain and in all.

    Those that answer different questions, such as one for each domain, also have a row together.
    """
    domains = {each.id: each.domain for _, each in data if isinstance(each, Checkpoint)}
    kept = {file: {each.expect.id: each for each in said} for file, said in replies.items()}
    rows = [row for file, said in kept.items() for row in _rows(file, said, domains)]
    together = {name: each for said in kept.values() for name, each in said.items()}
    if len(kept) > 1 and len(together) == sum(map(len, kept.values())):
        rows += (row for row in _rows(ALL, together, domains) if row["domain"] in (ALL, SOUND))
    return rows


def _rows(file: str, said: Mapping[str, Prediction], domains: Mapping[str, str]) -> list[dict[str, Any]]:
    told: dict[str, list[Prediction]] = {}
    for name, each in said.items():
        told.setdefault(domains.get(name, ""), []).append(each)
    if len(told) > 1:
        told[ALL] = list(said.values())
    wrong = wrong_keys("gatemem")
    if any(name in wrong for name in said):
        told[SOUND] = [each for name, each in said.items() if name not in wrong]
    found = {
        name: [
            (each.expect.rule, output_in(each.reply or "")) for each in of if isinstance(each.expect, Gated)
        ]
        for name, of in told.items()
    }
    return [
        {"file": file, "domain": domain, "scorer": mode, "gate": gate}
        | figures(
            [(rule, out if mode == MODES[0] else acting(out, rule)) for rule, out in of], mode, gate=gate
        )
        for domain, of in found.items()
        for mode in MODES
        for gate in (False, True)
    ]


FILES = PredictionFiles(
    Gated,
    _read,
    lambda path, on_bad: (("", each) for each in questions_of(path, on_bad)),
    "it answers no question of the data; name its folder with --data",
    rows=rows_of,
)
