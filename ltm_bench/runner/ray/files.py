"""The user's own files, which travel with a sweep."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ltm_bench.core.errors import ConfigError

_DOORS = ("scenarios", "agents", "configs")
_LARGEST = 64 << 20
"""Maximum total bytes, since they go to every worker."""


@dataclass(frozen=True)
class Files:
    """The user's own scenarios, agents and suites, which every worker must have."""

    here: str
    content: Mapping[str, bytes]

    @classmethod
    def of(cls, here: Path) -> Files:
        """Read a folder's files. Raises ConfigError if they are too large to send around."""
        content, size = {}, 0
        for path in (path for door in _DOORS for path in sorted((here / door).rglob("*"))):
            name = path.relative_to(here).as_posix()
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in name.split("/")):
                size += path.stat().st_size
                if size > _LARGEST:
                    raise ConfigError(
                        f"{path}: {', '.join(_DOORS)} hold more than {_LARGEST >> 20} MiB; "
                        "keep large files elsewhere, where all nodes see them"
                    )
                content[name] = path.read_bytes()
        return cls(str(here), content)

    def stand(self, scratch: Path) -> Path:
        """Return a worker's current directory: the same folder, or one with copies of these files."""
        here = Path(self.here)
        with contextlib.suppress(OSError, ConfigError):
            if here.is_dir() and Files.of(here).content == self.content:
                return here
        for name, content in self.content.items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            (scratch / name).write_bytes(content)
        return scratch
