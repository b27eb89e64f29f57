"""Put a run into one file that others can verify."""

import asyncio
import hashlib
import tempfile
from pathlib import Path
from typing import Annotated

from ltm_bench.api import publish
from ltm_bench.cli.console import out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import RunName, check_output, output_option
from ltm_bench.core.errors import LogError
from ltm_bench.export.bundle import FILE, files, pack, siblings_of
from ltm_bench.export.scrub import scrub
from ltm_bench.plan.folders import find_run
from ltm_bench.report.publishing import replace_file

app = group()


@command(app, "bundle", "bundle standard-32k-gpt-6-luna-seed0 -o luna.zip")
def bundle(
    run: RunName = None,
    output: Annotated[
        Path | None, output_option("bundle", "The zip to write; by default, in the run's folder.")
    ] = None,
) -> None:
    """Put a run into one file that others can verify. Removes whatever looks like a secret."""
    check_output(output)
    folder = find_run(run)
    target = output or folder / f"{folder.name}.zip"
    removed = 0
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / folder.name
        for path in files(folder):
            try:
                text, found = scrub(path.read_bytes().decode())
            except UnicodeDecodeError as error:
                raise LogError(
                    f"{path}: not text ({error}), so no secret can be found in it; move it away"
                ) from error
            removed += found
            new = copy / path.relative_to(folder)
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(text.encode())
        beside = siblings_of(folder)
        (copy / FILE).write_text(beside.model_dump_json(), "utf-8")
        asyncio.run(publish(copy))  # so that it matches what is left
        draft = Path(place) / "bundle.zip"
        pack(copy, draft)
        content = draft.read_bytes()
    replace_file(target, content)
    digest = hashlib.sha256(content).hexdigest()
    out().print(f"bundle: {target} ({len(content):,} bytes, SHA-256 {digest})")
    out().print(f"it says: {beside.said}; this proves nothing about runs elsewhere")
    if removed:
        out().print(f"secrets removed: {removed}")
