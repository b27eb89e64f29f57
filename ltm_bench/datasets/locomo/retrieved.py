"""What memories retrieved for LoCoMo's questions: the recall of the sessions or turns that hold the evidence."""

from collections import Counter
from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.datasets.errata import errata, question_digest
from ltm_bench.datasets.marks import AnswerMark, Sheet
from ltm_bench.datasets.recounting import counts_of, read_published
from ltm_bench.datasets.shapes import retrieved

COLUMNS = ("recall", "all found", "none found")


def sheet_of(path: Path) -> Sheet:
    """Return the marks of a file. Raises ConfigError if it cannot be read or holds nothing retrieved.

    Questions without cited evidence count as found, as in the published figures. The evidence of some is known to be
    wrong: their figures stand apart.
    """
    file = read_published(path)
    if file.shape.count is not retrieved:
        raise ConfigError(
            f"{path}: it holds {file.shape.about}; score retrieval reads what was retrieved for LoCoMo"
        )
    wrong = {each.digest for each in errata("locomo").values() if each.kind == "evidence"}
    marks, times = list[AnswerMark](), Counter[str]()
    for row, count in zip(file.rows, counts_of(file, {}), strict=True):
        digest = question_digest(str(row.get("question")))
        times[digest] += 1
        scores = {name: float(count.amounts[name][0]) for name in COLUMNS}
        name, history = f"{digest}/{times[digest]}", str(row["sample_id"])
        marks.append(AnswerMark(name, str(row.get("category")), history, scores, wrong_key=digest in wrong))
    return Sheet(path, COLUMNS, tuple(marks))
