"""A run as a value: its folder, its manifest and its results."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from math import nan
from pathlib import Path
from typing import Any

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.log.manifest import Manifest
from ltm_bench.score.results.examples import ExampleResult, ScenarioResult
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import Interval


def stored_references(folder: Path, results: Results) -> dict[str, float]:
    """Return the scores of baseline and oracle, if they were published from the same log as these results."""
    try:
        stored = json_of(content_of(folder / "results.json"))
        if stored["log"] != results.log:
            return {}
        return {str(name): float(score) for name, score in stored["references"].items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return {}


def framed(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a pandas data frame, or a polars one if pandas is not installed. Raises ConfigError."""
    from ltm_bench.export.rows import COLUMNS

    # Without a type, a column of numbers in which none is known would be one of objects.
    unknown = dict.fromkeys((name for name, of in COLUMNS.items() if of in (int | None, float | None)), nan)
    with suppress(ImportError):
        import pandas

        typed = [
            {key: unknown.get(key) if each is None else each for key, each in row.items()} for row in rows
        ]
        return pandas.DataFrame(typed)
    with suppress(ImportError):
        import polars

        return polars.DataFrame(rows, schema=dict(COLUMNS))
    raise ConfigError("frame() needs pandas or polars, and neither is installed; rows() needs neither")


@dataclass(frozen=True)
class Run:
    """A run: its folder, its manifest and its results."""

    folder: Path
    manifest: Manifest
    results: Results
    url: str | None = None
    """Where it lies, if that is not the folder, of which only the name is known then."""

    def __repr__(self) -> str:
        """Name the run and its score; a failed assertion shows this."""
        score = "incomplete" if self.score is None else f"{self.score:.2f} of {self.out_of}"
        return f"<Run {self.name}: {score}>"

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.name

    @property
    def complete(self) -> bool:
        """Whether every question was asked, answered and judged."""
        return self.results.complete

    @property
    def score(self) -> float | None:
        """Sum over scenarios of their mean scores; None while the run is incomplete."""
        return self.results.score

    @property
    def out_of(self) -> int:
        """The highest score possible: the number of scenarios."""
        return self.results.out_of

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the score; None while the run is incomplete, or with one example per scenario."""
        return self.results.interval

    @property
    def verdict(self) -> str:
        """The headline in words, such as `above chance`."""
        return self.results.verdict

    @property
    def scenarios(self) -> Sequence[ScenarioResult]:
        """Each scenario's score."""
        return self.results.scenarios

    @property
    def examples(self) -> Sequence[ExampleResult]:
        """Each example, with its needles, questions, replies and verdicts."""
        return self.results.examples

    def report(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the run's page, and return its path: in the run's folder by default. Raises ConfigError."""
        if path is None and self.url is not None:
            raise ConfigError(
                f"report(): {self.url} is no folder here; name a file, as in report('page.html')"
            )
        target = self.folder / "report.html" if path is None else Path(path)
        from ltm_bench.report.publishing import replace_file

        replace_file(target, self._page.encode("utf-8", "replace"))
        return target

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row per question, with everything known about it."""
        from ltm_bench.export.rows import rows

        return list(rows(self.results))

    def frame(self) -> Any:
        """Return `rows()` as a pandas data frame, or a polars one if pandas is not installed. Raises ConfigError."""
        return framed(self.rows())

    @cached_property
    def _page(self) -> str:
        from ltm_bench.report.page import render_page

        return render_page(self.results, self.manifest)

    def _repr_html_(self) -> str:
        """Show the run's page in a notebook."""
        from html import escape

        return (
            f'<iframe title="{escape(self.name)}" srcdoc="{escape(self._page)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 40rem; border: 1px solid #ccc"></iframe>'
        )
