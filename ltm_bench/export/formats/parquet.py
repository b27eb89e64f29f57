"""A Parquet file with a row for every question."""

from collections.abc import Iterable
from itertools import islice
from types import NoneType
from typing import Any, BinaryIO, get_args, get_origin

from ltm_bench.core.extras import extra
from ltm_bench.export.rows import COLUMNS, rows
from ltm_bench.export.source import Source
from ltm_bench.report.text import visible

FILE = "export.parquet"

_TYPES = {bool: "bool_", str: "string", int: "int64", float: "float64"}


_ROWS = 20_000
"""Rows that are held before they are written, as a group of the file."""


def write_all(sources: Iterable[Source], file: BinaryIO) -> None:
    """Write the file. Raises ConfigError if pyarrow is not installed."""
    with extra("parquet", wanted_by="--format parquet"):
        import pyarrow
        import pyarrow.parquet

    def typed(of: Any) -> Any:
        if get_origin(of) in (list, tuple):
            return pyarrow.list_(typed(get_args(of)[0]))
        [kind] = set(get_args(of) or (of,)) - {NoneType}
        return getattr(pyarrow, next(name for base, name in _TYPES.items() if issubclass(kind, base)))()

    schema = pyarrow.schema([(name, typed(of)) for name, of in COLUMNS.items()])
    found = ({key: _shown(value) for key, value in row.items()} for of in sources for row in rows(of.results))
    with pyarrow.parquet.ParquetWriter(file, schema) as writer:
        while some := list(islice(found, _ROWS)):
            writer.write_table(pyarrow.Table.from_pylist(some, schema))


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(each) for each in value]
    return visible(value) if isinstance(value, str) else value
