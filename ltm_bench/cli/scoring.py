"""Scores files and runs of one public set: reads each, asks a judge, keeps it as a run, and prints the figures."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import typer

from ltm_bench.api import load_run, publish
from ltm_bench.cli.console import complain, err
from ltm_bench.cli.judging import Grading
from ltm_bench.cli.options import Scoring
from ltm_bench.cli.sheets import print_recounts, print_replies, print_rows
from ltm_bench.core.errors import CannotCombine, ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.errata import audited
from ltm_bench.datasets.imported import imported, run_name, write_log
from ltm_bench.datasets.locomo.predictions import recalled
from ltm_bench.datasets.marks import SetReplies
from ltm_bench.datasets.predictions import Prediction, PredictionFiles, counted, replies_of
from ltm_bench.datasets.public import public_sets
from ltm_bench.datasets.recounting import (
    PublishedFile,
    explaining,
    has_known_kinds,
    known_file,
    learn,
    read_published,
)
from ltm_bench.judge.vague import FalseAccepts
from ltm_bench.log.events import Event
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.folders import REPORTS
from ltm_bench.score.audits import judgements
from ltm_bench.score.results.published_runs import predictions_in, verdicts_in
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.recounts import recount

G = TypeVar("G")
T = TypeVar("T")


@contextmanager
def usable(given: Sequence[G], function: Callable[[G], T]) -> Iterator[list[T]]:
    """Call a function with each of what is given, for a block that prints what it returned.

    What cannot be used is named and hides nothing else, but the command fails; without the block if nothing is left.
    """
    found: list[T] = []
    for each in given:
        try:
            found.append(function(each))
        except ConfigError as error:
            complain(str(error))
    if found:
        yield found
    if len(found) < len(given):
        raise typer.Exit(1)


def say(line: str) -> None:
    """Print a line about what was read."""
    err().print(line)


def score_files(name: str, set_files: PredictionFiles, files: Sequence[Path], how: Scoring) -> None:
    """Score prediction files of a set, or runs that ask its questions, and count what else is published of it."""
    scorer = _Scorer(name, set_files, files, how)
    passed = scorer.passed(how.wrong) if how.wrong else None
    with usable(files, scorer.read) as found:
        scored = [each for each in found if isinstance(each, SetReplies)]
        counted = [each for each in found if isinstance(each, PublishedFile)]
        if scored and counted:
            raise CannotCombine(
                f"{counted[0].path}: {counted[0].shape.about}: it holds no replies; score it apart from files that do"
            )
        if counted:
            print_counted(counted, how.data, as_json=how.as_json)
        elif set_files.rows is not None:
            print_rows(set_files.rows(scorer.said, scorer.asked), as_json=how.as_json)
        else:
            judged = set_files.matcher.judged
            print_replies(scored, as_json=how.as_json, judged=judged, passed=passed or scorer.vaguely(scored))


def count_files(files: Sequence[Path], data: Path | None, *, as_json: bool) -> None:
    """Count figures of published files of any kind, as `print_counted`."""
    with usable(files, read_published) as read:
        print_counted(read, data, as_json=as_json)


def print_counted(files: Sequence[PublishedFile], data: Path | None, *, as_json: bool) -> None:
    """Count figures of published files again from their rows, and print them; files explain each other."""
    known = learn([*(explaining(data) if data else ()), *files])
    with usable(files, lambda file: recount(file, known)) as found:
        print_recounts(found, as_json=as_json)


class _Scorer:
    """Reads the files of one command."""

    def __init__(self, name: str, set_files: PredictionFiles, files: Sequence[Path], how: Scoring) -> None:
        for option, path, works in (
            ("--wrong", how.wrong, "judge" in set_files.matcher.columns),
            ("--errors", how.errors, set_files.rows is None),
        ):
            if path and not works:
                raise CannotCombine(
                    f"{option} {path}: the figures of {name} have no use for it; leave it out"
                )
        self._name, self._files, self._how = name, set_files, how
        self._named = Counter(map(_stem, files))
        self._asker = how.judge if set_files.asks else None
        if how.judge != self._asker:  # the environment may name one for runs
            say(f"--judge {how.judge}: nobody is asked: the program of {name} asks no judge")
        self._errors = audited(how.errors) if how.errors else None
        self._grading = Grading(self._asker, how.max_cost, say)
        self.asked = list(set_files.questions(how.data, say)) if how.data else []
        """The questions of the set's own file."""
        kinds = has_known_kinds(name)
        self._published = {path: _published(name, path) for path in files if kinds and not path.is_dir()}
        self._known = learn([each for each in self._published.values() if isinstance(each, PublishedFile)])
        self.said: dict[str, Sequence[Prediction]] = {}
        """The replies that count, by file."""

    def read(self, path: Path) -> SetReplies | PublishedFile:
        """Return the scores of a file or a run, or a file without replies as it is. Raises ConfigError."""
        if path.is_dir():
            return self._scored(path)
        file = self._published.get(path)
        if isinstance(file, PublishedFile) and not file.holds_replies:
            return recalled(path) if file.holds_retrieved else file
        scored = self._scored(path)
        for line in self._odd(file):
            say(line if line.startswith(str(path)) else f"{path}: {line}")
        if self._how.keep:
            parent = f"{path.resolve().parent.name}-" if self._named[_stem(path)] > 1 else ""
            _keep(self._name, self.said[str(path)], self._how.data, parent + _stem(path))
        return scored

    def _odd(self, file: PublishedFile | str | None) -> Sequence[str]:
        """Return what does not follow from a file's rows, or why they cannot be counted again."""
        if not isinstance(file, PublishedFile):
            return [file] if file else ()
        try:
            return list(recount(file, self._known).odd)
        except ConfigError as error:
            return [str(error)]

    def passed(self, wrong: Path) -> FalseAccepts | None:
        """Return how often the judge passes wrong answers, from its votes in a file of them. Raises ConfigError."""
        replies = self._scored(wrong, graded=False)
        votes = [of.scores["judge"] for _, of in replies.overall if "judge" in of.scores]
        return FalseAccepts(len(votes), sum(votes) / len(votes), f"in {wrong.name}") if votes else None

    def vaguely(self, scored: Sequence[SetReplies]) -> FalseAccepts | None:
        """Return how often the judge that is asked passes vague wrong answers to the questions of these files."""
        expected = {each.expect.id: each for file in scored for each in self.said.get(file.file, ())}
        told = [expected[each.id] for _, each in self.asked if each.id in expected]
        first = Path(scored[0].file)
        return self._grading.vaguely(first, [(each.expect, each.question) for each in told])

    def _scored(self, path: Path, *, graded: bool = True) -> SetReplies:
        """Return the scores of a file's or a run's replies, those that a judge gives now among them if `graded`."""
        files = self._files
        found = _run(path, files) if path.is_dir() else list(files.read(path, self.asked, say))
        if self._asker is not None and graded:
            open_ones = (each.inquiry for each in found if each.is_open)
            heard = self._grading.asked(path, self._how.data, open_ones)
            found = [each.heard(self._asker, heard.get(each.expect.id)) for each in found]
        found = list(counted(path, found, say))
        if not found or files.rows is None:
            scored = replies_of(files, path, found, self.asked, self._errors)
        else:  # its table is made of the replies themselves
            scored = SetReplies(str(path), (), ())
        self.said[str(path)] = found
        return scored


def _published(name: str, path: Path) -> PublishedFile | str | None:
    """Return a file that is of a known kind of this set; or why it cannot be counted again, if that is damage.

    The set's own reader then says whether it can be scored all the same.
    """
    try:
        file = known_file(path)
    except ConfigError as error:
        return str(error)
    return file if isinstance(file, PublishedFile) and file.shape.dataset == name else None


def _run(path: Path, files: PredictionFiles) -> list[Prediction]:
    """Return the replies of a run to a set's questions. Raises ConfigError if it has none."""
    found = list(predictions_in(path, load_run(path).results, files.matcher))
    if not found:
        raise ConfigError(f"{path}: no question of that run is one of {files.matcher.dataset}")
    return found


def _stem(path: Path) -> str:
    return re.sub(r"(?:\.jsonl?|\.csv|\.gz)+$", "", path.name)


def _keep(name: str, predictions: Sequence[Prediction], data: Path | None, agent: str) -> None:
    """Write a file's replies as a run, unless there is one; of the set whose file the data is, if it is known."""
    known = {(each.dataset, each.file): each.name for each in public_sets().values()}
    suite = known.get((name, data.name if data else ""), name)
    log = list(imported(suite, agent, predictions, counter()))
    run = run_name(name, agent)
    if keep_run(run, log, lambda draft: judgements.append(draft, list(verdicts_in(log, predictions)))):
        say(f"{REPORTS / run} is written")


def keep_run(
    name: str, log: Iterable[Manifest | Event], add: Callable[[Path], None] = lambda draft: None
) -> Results | None:
    """Write replies of others as a run, unless there is one or the log is empty, and return its results.

    Args:
        name: The run's.
        log: Its log.
        add: Called with the folder that becomes the run, to write what belongs beside the log.
    """
    run = REPORTS / name
    if run.exists():
        say(f"{run} exists already and is left as it is; delete it to import it again")
        return None
    return asyncio.run(publish(run)).results if write_log(run, log, add) else None
