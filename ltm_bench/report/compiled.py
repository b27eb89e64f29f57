"""Caches compiled templates where Python caches compiled modules, since compiling takes longer than rendering."""

import os
import pickle
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

_JINJA = "jinja" + "".join(filter(str.isalnum, jinja2.__version__))


class CompiledTemplates(jinja2.BytecodeCache):
    """One file for each template, whose name changes with the versions of Python and Jinja.

    An edited template, or a damaged file, is compiled again. Nothing is cached in read-only folders, or if Python is
    told not to write bytecode.
    """

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the path of the compiled template."""
        return cache_from_source(filename or name, optimization=_JINJA)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template, if there is one."""
        with suppress(OSError, EOFError, pickle.UnpicklingError), open(bucket.key, "rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write a compiled template atomically."""
        if sys.dont_write_bytecode:
            return
        path = Path(bucket.key)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(bucket.bytecode_to_string())
                os.replace(draft, path)
            finally:
                draft.unlink(missing_ok=True)
