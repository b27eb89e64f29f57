"""Checks the files that `-o` names."""

from pathlib import Path

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import is_ordinary
from ltm_bench.score.audits.judgements import BLIND, JUDGEMENTS, OVERRIDES, VAGUE

RECORDS = ("events.jsonl", BLIND, JUDGEMENTS, OVERRIDES, VAGUE)
"""Files of a run that cannot be recovered."""


def check_output(path: Path | None) -> None:
    """Raise ConfigError, before any work is done, if `-o` names a folder, or a file that must not be replaced."""
    if path is None:
        return
    if not path.name or path.is_dir():
        raise ConfigError(f"-o {path}: it is a folder; name a file")
    own = path.is_symlink() and path.absolute().parts[1] in ("dev", "proc")  # such as /dev/stdout
    if path.exists() and (own or not is_ordinary(path)):
        raise ConfigError(f"-o {path}: it is a device or a pipe, which must not be replaced; name a file")
    real = path.resolve()
    in_isolated = real.parent.name == "isolated" and (real.parent.parent / "events.jsonl").exists()
    if real.exists() and (real.name in RECORDS or (in_isolated and real.suffix == ".jsonl")):
        raise ConfigError(
            f"-o {path}: this is a run's own record, which must not be replaced; name another file"
        )
