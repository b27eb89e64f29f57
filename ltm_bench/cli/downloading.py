"""A progress bar for downloads."""

from collections.abc import Iterator
from contextlib import contextmanager

from ltm_bench.cli.console import err
from ltm_bench.core.download import OnProgress


@contextmanager
def downloads() -> Iterator[OnProgress]:
    """Show a bar for each file that is downloaded; nothing if standard error is not a terminal."""
    from rich.progress import Progress, TaskID

    bars: dict[str, TaskID] = {}
    with Progress(console=err(), disable=not err().is_terminal) as progress:

        def on_progress(name: str, done: int, size: int | None) -> None:
            if name not in bars:
                bars[name] = progress.add_task(name, total=size)
            progress.update(bars[name], completed=done)

        yield on_progress
