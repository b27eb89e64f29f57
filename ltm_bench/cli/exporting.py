"""`export`, `bundle` and `verify`: runs for other programs, and for other people."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from ltm_bench.cli.console import out
from ltm_bench.cli.showing import check_output, publish, replace
from ltm_bench.core.errors import ConfigError, LogError, nearest
from ltm_bench.export.bundle import files, pack, scrub, unpack, verify
from ltm_bench.export.formats import FORMATS
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.planning import abouts, find_run
from ltm_bench.plugins.agents import looks_secret
from ltm_bench.score.fold import score_run

SHORTEST_SECRET = 8
"""Characters of a secret from the environment: a shorter one would be found in every other word."""


def export_run(name: str | None, form: str, output: Path | None) -> None:
    """Write a run in another form, to a file or, as `-`, to standard output."""
    if form not in FORMATS:
        raise ConfigError(
            f"--format {form}: there is none{nearest(form, FORMATS)} (known: {', '.join(FORMATS)})"
        )
    if output is not None and output != Path("-"):
        check_output(output)
    folder = find_run(name)
    make, default = FORMATS[form]
    content = make(folder, score_run(folder, about=abouts(read_manifest(folder))))
    if output == Path("-"):
        sys.stdout.buffer.write(content)
        return
    target = output or folder / "exports" / default
    target.parent.mkdir(parents=True, exist_ok=True)
    replace(target, content)
    out().print(f"{form}: {target}", markup=False)


def bundle_run(name: str | None, output: Path | None) -> None:
    """Put a run into one file, without secrets; it is scored anew, so that it agrees with what is left."""
    if output is not None:
        check_output(output)
    folder = find_run(name)
    secrets = [v for k, v in os.environ.items() if looks_secret(k) and len(v) >= SHORTEST_SECRET]
    target = output or folder / f"{folder.name}.zip"
    removed = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        for path in files(folder):
            try:
                text, found = scrub(path.read_bytes().decode(), secrets)
            except UnicodeDecodeError as error:
                raise LogError(
                    f"{path}: not text ({error}), so no secret can be found in it; move it away"
                ) from error
            removed += found
            new = copy / path.relative_to(folder)
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(text.encode())
        publish(copy)
        draft = Path(place) / "bundle.zip"
        pack(copy, draft)
        content = draft.read_bytes()
    replace(target, content)
    digest = hashlib.sha256(content).hexdigest()
    out().print(f"bundle: {target} ({len(content):,} bytes, SHA-256 {digest})", markup=False)
    if removed:
        out().print(f"secrets removed: {removed}")


def verify_run(name: str) -> None:
    """Check a bundle or a run: hashes, token counts, and every score."""
    path = Path(name)
    if path.is_file():
        with tempfile.TemporaryDirectory() as place:
            _verify(unpack(path, Path(place)))
    else:
        _verify(find_run(name))


def _verify(run: Path) -> None:
    found = verify(run)
    score = f"{found.results.score_so_far:.2f} / {found.results.out_of}"
    by_hand = f" ({found.results.overridden} by hand)" if found.results.overridden else ""
    out().print(
        f"{run.name} agrees: {found.verdicts} verdicts given again{by_hand}, {found.texts:,} texts counted again, "
        f"{'score' if found.results.complete else 'incomplete, so far'} {score}",
        markup=False,
    )
