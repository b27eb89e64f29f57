"""Prediction files of PersonaMem: tables of the right letter and the predicted one, as its authors publish them."""

from collections.abc import Iterator
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.dialogue import OnBad
from ltm_bench.datasets.personamem.files import histories
from ltm_bench.datasets.personamem.matcher import FittingReply, fitting_reply
from ltm_bench.datasets.personamem.sets import put
from ltm_bench.datasets.predictions import Data, Prediction, PredictionFiles, asked_in
from ltm_bench.datasets.recounting import counts_of, read_published
from ltm_bench.datasets.shapes import letters


def _read(path: Path, data: Data, on_bad: OnBad) -> Iterator[Prediction]:
    """Yield the replies of a file: letters. Raises ConfigError if it is damaged, or holds anything else."""
    asked = {each.id: (home, each) for home, each in data}
    file = read_published(path)
    if file.shape.count is not letters:
        raise ConfigError(f"{path}: it holds {file.shape.about}; score personamem reads predicted letters")
    for row, _ in zip(file.rows, counts_of(file, {}), strict=True):
        name = str(row["question_id"])
        if asked and name not in asked:
            on_bad(f"{path}: {name[:120]}: skipped: the data has no such question")
            continue
        home, question = asked.get(name, (name, None))
        expect = fitting_reply(row["answer"], question.type if question else "unknown type", id=name)
        yield Prediction(home, put(question).text if question else "", expect, row["p"])


FILES = PredictionFiles(FittingReply, _read, asked_in(histories), "it has no predicted letter")
