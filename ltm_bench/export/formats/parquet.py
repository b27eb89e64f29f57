"""A Parquet file with a row for every question."""

from __future__ import annotations

import io

from ltm_bench.core.errors import ConfigError
from ltm_bench.export.rows import rows
from ltm_bench.export.source import Source
from ltm_bench.report.text import visible

FILE = "export.parquet"

_COLUMNS = {
    **dict.fromkeys(("run", "agent", "suite", "scenario", "example"), "string"),
    **dict.fromkeys(("span", "seed", "number", "turn", "position"), "int64"),
    **dict.fromkeys(("at", "question", "expected", "reply", "outcome", "reason", "scorer"), "string"),
    **dict.fromkeys(("score", "example_score", "chance"), "float64"),
}


def write(source: Source) -> bytes:
    """Return the file. Raises ConfigError where pyarrow is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(
            "--format parquet: pyarrow is not installed; get it with pip install 'ltm-bench[parquet]'"
        ) from error
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in _COLUMNS.items()])
    schema = schema.append(pyarrow.field("needles", pyarrow.list_(pyarrow.int64())))
    found = [
        {key: visible(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows(source.results)
    ]
    target = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(found, schema), target)
    return target.getvalue()
