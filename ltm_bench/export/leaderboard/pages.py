"""Writes a leaderboard's pages: an index, one page per board, the pages of every run, and the data."""

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.export.leaderboard.boards import Board, boards
from ltm_bench.export.leaderboard.entries import BoardEntry, Refusal, read_bundles
from ltm_bench.report.compare_page import HEIGHT, WIDTH, curve, place_of
from ltm_bench.report.templating import templates

INDEX = "index.html"

DATA = "leaderboard.json"
"""The same data as JSON; it also identifies a leaderboard's folder."""

SCHEMA = 1
"""Version of the format of `leaderboard.json`."""


class Built:
    """The contents of a leaderboard."""

    def __init__(self, folder: Path) -> None:
        """Verify and score every bundle in a folder. Raises ConfigError if there is none."""
        self.entries: list[BoardEntry] = []
        self.refusals: list[Refusal] = []
        for each in read_bundles(folder):
            if isinstance(each, BoardEntry):
                self.entries.append(each)
            else:
                self.refusals.append(each)
        self.boards = boards(self.entries)


def write_site(built: Built, target: Path) -> None:
    """Write the pages into a folder, replacing an existing leaderboard. Equal bundles give equal bytes.

    Raises:
        ConfigError: The folder holds something else, or cannot be written.
    """
    if target.exists() and not target.is_dir():
        raise ConfigError(f"{target}: there is a file of this name; name a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / DATA).is_file():
        raise ConfigError(
            f"{target}: it holds other files, which would be lost; name an empty folder, or a new one"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as place:
            draft = Path(place) / "site"
            for name, content in _files(built).items():
                file = draft / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            if target.is_dir():
                shutil.rmtree(target)
            os.replace(draft, target)
    except OSError as error:
        raise ConfigError(
            f"{error.filename or target}: cannot be written: {error.strerror or error}"
        ) from error


def _files(built: Built) -> Mapping[str, bytes]:
    """Return the files of the site, by their paths."""
    files = {INDEX: _rendered("leaderboard.html.jinja", built=built), DATA: _data(built)}
    for board in built.boards:
        files[f"{board.name}.html"] = _rendered(
            "board.html.jinja",
            board=board,
            curves=[curve(board.comparison, entrant) for entrant in board.comparison.entrants],
            places=[(place_of(board.comparison, span), span) for span in board.comparison.spans],
            WIDTH=WIDTH,
            HEIGHT=HEIGHT,
        )
        for entry in board.entries:
            files |= {f"runs/{entry.name}/{name}": content for name, content in entry.pages.items()}
    return files


def _rendered(template: str, **values: Any) -> bytes:
    return templates().get_template(template).render(**values).encode("utf-8", "replace")


def _data(built: Built) -> bytes:
    content = {
        "schema_version": SCHEMA,
        "boards": [_board(board) for board in built.boards],
        "refused": [refusal._asdict() for refusal in built.refusals],
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def _board(board: Board) -> Mapping[str, Any]:
    return {
        "name": board.name,
        "title": board.title,
        "bench_version": board.version,
        "historical": board.historical,
        "spans": [
            {
                "span": table.span,
                "finding": table.finding,
                "groups": [
                    [
                        row.cell.model_dump(mode="json")
                        | {"skills": {skill.name: skill.mean for skill in row.cell.skills}}
                        for row in group
                    ]
                    for group in table.groups
                ],
            }
            for table in board.spans
        ],
        "entries": [_entry(entry) for entry in board.entries],
    }


def _entry(entry: BoardEntry) -> Mapping[str, Any]:
    return {
        "name": entry.name,
        "bundle": entry.file,
        "sha256": entry.digest,
        "log": entry.results.log,
        "agent": entry.results.agent,
        "span": entry.results.span,
        "version": entry.manifest.version,
        "seed": entry.results.seed,
        "seed_drawn_on": entry.drawn_on,
        "siblings": entry.siblings and entry.siblings.model_dump(),
        "score": entry.results.score,
        "stated": entry.stated,
        "run_on": entry.run_on,
        "examples": len(entry.results.examples),
        "told_again": entry.retold,
        "changed_scorers": dict(entry.changed_scorers),
    }


__all__: Sequence[str] = ("Built", "write_site")
