"""Score prediction files of other benchmarks, in their own formats."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_bench.cli.console import err, out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json, check_output, output_option
from ltm_bench.cli.scored_rows import print_rows, print_set_rows, row_of_file, rows_of_run, usable, without
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import CannotCombine, ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltm_bench.datasets.marks import SetReplies
    from ltm_bench.datasets.predictions import Prediction, PredictionFiles
    from ltm_bench.judge.vague import FalseAccepts

app = group("Score prediction files of other benchmarks, in their own formats.")


def _files(what: str, metavar: str = "FILE...") -> Any:
    return typer.Argument(metavar=metavar, help=what)


_Files = Annotated[
    list[Path],
    _files("Prediction files, JSON or JSON lines, gzipped or not; or runs of ltm-bench.", "FILE|RUN..."),
]


@command(app, "score infinitebench results/gpt4/preds_*.jsonl", name="infinitebench")
def score_infinitebench(
    files: Annotated[list[Path], _files("Prediction files, JSON lines or lists, gzipped or not.")],
    mode: Annotated[
        str | None, Option("official-2024-06, official-newest, or strict (ours); all by default.", "MODE")
    ] = None,
    task: Annotated[str | None, Option("The task, if it is not in the file's name.", "TASK")] = None,
    model: Annotated[
        str | None,
        Option(
            "The model; by default, the folder's name. For gpt4, math_calc skips a number, as the official "
            "program does.",
            "NAME",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of InfiniteBench, exactly as its two published programs do, and strictly."""
    from ltm_bench.datasets.infinitebench.scoring import modes_of, score_file

    one = partial(score_file, modes=modes_of(mode), task=task, model=model, on_bad=_complain)
    with usable(files, one) as rows:
        print_rows(rows, as_json=as_json)


@command(
    app,
    "score counting-stars results/*.jsonl",
    "score counting-stars reports/counting-stars-*",
    name="counting-stars",
)
def score_counting_stars(files: _Files, as_json: Json = False) -> None:
    """Score prediction files (searching or reasoning) or runs of Counting-Stars by length, and by order besides."""

    def scored(path: Path) -> tuple[Path, list[dict[str, Any]]]:
        return path, rows_of_run(path) if path.is_dir() else [row_of_file(path, _complain)]

    with usable(files, scored) as found:
        of_files = [row for path, rows in found if as_json or not path.is_dir() for row in rows]
        if of_files:
            print_rows(of_files, as_json=as_json)
        for path, rows in found if not as_json else ():
            if path.is_dir():
                out().print(path.name)
                print_rows([without(row, "file") for row in rows], as_json=False)


_Judge = Annotated[
    str | None,
    Option("An agent that judges answers without a label; its verdicts are kept beside the file.", "NAME"),
]
_Published = Annotated[list[Path], _files("Published files, in any form, gzipped or not.")]
_Wrong = Annotated[
    Path | None,
    Option("Deliberately wrong answers with the same judge's votes, to see how many it passes.", "FILE"),
]


def _data(what: str) -> Any:
    return Option(f"The set itself: {what}; see datasets list.", "PATH")


_Data = Annotated[Path | None, _data("its file, or its folder")]
_Keep = Annotated[
    bool, Option("Write each file as a run too, for report, compare, judges, audit and export.")
]
_Errors = Annotated[
    Path | None,
    Option("An audit's list of wrong keys; if left out, those that are known: see datasets errata.", "FILE"),
]


def _score(name: str, about: str, *examples: str) -> None:
    """Add the command that scores prediction files of a set, or runs that ask its questions."""

    def score(
        files: _Files,
        data: _Data = None,
        errors: _Errors = None,
        wrong: _Wrong = None,
        judge: _Judge = None,
        max_cost: MaxCost = None,
        keep: _Keep = False,
        as_json: Json = False,
    ) -> None:
        from ltm_bench.cli.judging import Grading
        from ltm_bench.cli.sheets import print_replies
        from ltm_bench.datasets.errata import audited
        from ltm_bench.datasets.predictions import counted, prediction_files, replies_of

        set_files, known = prediction_files(name), audited(errors) if errors else None
        asker = judge if set_files.asks else None
        if judge != asker:  # the environment may name one for runs
            _complain(f"--judge {judge}: nobody is asked: the program of {name} asks no judge")
        for option, path, works in (
            ("--wrong", wrong, "judge" in set_files.matcher.columns),
            ("--errors", errors, set_files.rows is None),
        ):
            if path and not works:
                raise CannotCombine(
                    f"{option} {path}: the figures of {name} have no use for it; leave it out"
                )
        asked = list(set_files.questions(data, _complain)) if data else []
        grading = Grading(asker, max_cost, _complain)
        said: dict[str, Sequence[Prediction]] = {}

        def replies(path: Path, *, graded: bool = True) -> SetReplies:
            found = list(_run(path, set_files) if path.is_dir() else set_files.read(path, asked, _complain))
            if asker is not None and graded:
                heard = grading.asked(path, data, (each.inquiry for each in found if each.is_open))
                found = [each.heard(asker, heard.get(each.expect.id)) for each in found]
            found = list(counted(path, found, _complain))
            scored = replies_of(set_files, path, found, asked, known)
            said[str(path)] = found
            if keep and graded and not path.is_dir():
                named = Counter(_stem(each) for each in files)
                parent = f"{path.resolve().parent.name}-" if named[_stem(path)] > 1 else ""
                _keep(name, found, data, parent + _stem(path))
            return scored

        passed = _passed(wrong, replies(wrong, graded=False)) if wrong else None
        with usable(files, replies) as scored:
            if set_files.rows is not None:
                print_set_rows(set_files.rows(said, asked), as_json=as_json)
                return
            expected = {each.expect.id: each for path in files for each in said.get(str(path), ())}
            told = [expected[each.id] for _, each in asked if each.id in expected]
            passed = passed or grading.vaguely(files[0], [(each.expect, each.question) for each in told])
            print_replies(scored, as_json=as_json, judged=set_files.matcher.judged, passed=passed)

    score.__doc__ = about
    command(app, *examples, name=name)(score)


def _run(path: Path, files: PredictionFiles) -> Sequence[Prediction]:
    """Return the replies of a run to a set's questions. Raises ConfigError if it has none."""
    from ltm_bench.api import load_run
    from ltm_bench.score.results.published_runs import predictions_in

    found = list(predictions_in(path, load_run(path).results, files.matcher))
    if not found:
        raise ConfigError(f"{path}: no question of that run is one of {files.matcher.dataset}")
    return found


def _stem(path: Path) -> str:
    return re.sub(r"(?:\.jsonl?|\.gz)+$", "", path.name)


def _keep(name: str, predictions: Sequence[Prediction], data: Path | None, agent: str) -> None:
    """Write a file's replies as a run, unless there is one; of the set whose file the data is, if it is known."""
    import asyncio

    from ltm_bench.api import publish
    from ltm_bench.core.tokens import counter
    from ltm_bench.datasets.imported import imported, run_name, write_log
    from ltm_bench.datasets.public import public_sets
    from ltm_bench.plan.folders import REPORTS
    from ltm_bench.score.audits.judgements import append
    from ltm_bench.score.results.published_runs import verdicts_in

    run = REPORTS / run_name(name, agent)
    if run.exists():
        _complain(f"{run} exists already and is left as it is; delete it to import it again")
        return
    known = {(each.dataset, each.file): each.name for each in public_sets().values()}
    suite = known.get((name, data.name if data else ""), name)
    log = list(imported(suite, agent, predictions, counter()))
    draft = run.with_name(f".{run.name}.new")  # so that a run is whole, or is not there
    shutil.rmtree(draft, ignore_errors=True)
    if not write_log(draft, log):
        return
    append(draft, list(verdicts_in(log, predictions)))
    draft.rename(run)
    asyncio.run(publish(run))
    _complain(f"{run} is written")


_score(
    "locomo",
    "Score prediction files of LoCoMo: the official F1 by category, a strict score, and the votes stored in them.",
    "score locomo results/*.jsonl",
    "score locomo mine.json --data locomo10.json --wrong vague.jsonl",
)
_score(
    "longmemeval",
    "Score prediction files of LongMemEval: a judge's labels by type, on average, and on abstentions.",
    "score longmemeval mine.jsonl --data longmemeval_oracle.json",
)
_score(
    "beam",
    "Score prediction files of BEAM by ability, with a judge's scores, as in its program and its paper.",
    "score beam evaluation-mine.json --data chats/100K/1",
)
_score(
    "factconsolidation",
    "Score prediction files of FactConsolidation: the published substring match, exact match, and a strict score.",
    "score factconsolidation results.json --data Conflict_Resolution.json",
)
_score(
    "gatemem",
    "Score prediction files of GateMem as its rule scorer does, with and without its gate, and strictly.",
    "score gatemem mine/*.jsonl --data bench/data",
)


@command(
    app,
    "score published retrieval-report-mem0.json --data precisionMemBench/fixtures",
    "score published eval-results-gpt-4o --data longmemeval_oracle.json --json",
    name="published",
)
def score_published(
    files: _Published,
    data: Annotated[Path | None, _data("what the files only name, also in a folder")] = None,
    as_json: Json = False,
) -> None:
    """Say what published files are, count their figures again from their rows, and show what does not follow."""
    from ltm_bench.cli.sheets import print_recounts
    from ltm_bench.datasets.recounting import explaining, learn, read_published, recount

    with usable(files, read_published) as read:
        known = learn([*(explaining(data) if data else ()), *read])
        with usable(read, lambda file: recount(file, known)) as found:
            print_recounts(found, as_json=as_json)


@command(
    app,
    "score panel a.jsonl b.jsonl validation_54.jsonl --wrong vague-wrong.jsonl",
    "score panel hypotheses.jsonl --data longmemeval_oracle.json --judge gpt-6-luna --max-cost 5",
    name="panel",
)
def score_panel(
    files: _Published,
    wrong: _Wrong = None,
    data: Annotated[Path | None, _data("questions that the files only name, also in a folder")] = None,
    judge: _Judge = None,
    max_cost: MaxCost = None,
    output: Annotated[Path | None, output_option("panel", "A page to write besides.")] = None,
    as_json: Json = False,
) -> None:
    """Score the same replies by every published rubric: means, ranks that turn, agreement with people."""
    from ltm_bench.cli.judging import Grading
    from ltm_bench.cli.sheets import print_panel
    from ltm_bench.datasets.recounting import explaining, learn
    from ltm_bench.judge.panel import by_rubrics, panel, people_of, replies_of
    from ltm_bench.report.publishing import replace_file
    from ltm_bench.report.templating import templates

    check_output(output)
    questions = learn(list(explaining(data)) if data else []).get("question", {})
    grading = Grading(judge, max_cost, _complain)

    def marked(path: Path) -> tuple[SetReplies, dict[str, bool]]:
        replies = replies_of(path, questions, _complain)
        asked = (each for reply in replies for each in reply.inquiries())
        texts = (next(inquiry) for reply in replies for _, inquiry in reply.inquiries())
        return by_rubrics(path, replies, grading.graded(path, asked, texts)), people_of(replies)

    with usable(list(dict.fromkeys([*files, *([wrong] if wrong else [])])), marked) as read:
        vague = next((replies for replies, _ in read if replies.file == str(wrong)), None)
        people = {replies.file: said for replies, said in read if said and Path(replies.file) in files}
        found = panel([replies for replies, _ in read if Path(replies.file) in files], vague, people)
        if output is not None:
            page = templates().get_template("panel.html.jinja").render(panel=found)
            replace_file(output, page.encode("utf-8", "replace"))
        print_panel(found, as_json=as_json)


@command(
    app,
    "score precisionmembench --agent vector_memory --data precisionMemBench/fixtures -o mine",
    name="precisionmembench",
)
def score_precisionmembench(
    agent: Annotated[
        str, Option("The agent whose memory is asked: it is told beliefs, and nothing else.", "NAME")
    ],
    data: Annotated[Path, _data("the folder with its beliefs, queries and sessions")],
    output: Annotated[Path, output_option("", "A folder for two reports in the published form.")],
    max_cost: MaxCost = None,
) -> None:
    """Ask an agent's own memory the queries of PrecisionMemBench, through recall(), and score what comes."""
    from ltm_bench.cli.memory_reports import report_on
    from ltm_bench.cli.sheets import print_recounts

    print_recounts(list(report_on(agent, data, output, Budget(max_cost))), as_json=False)


@command(app, "score retrieval results_locomo_raw.json results_locomo_hybrid.json", name="retrieval")
def score_retrieval(files: _Published, as_json: Json = False) -> None:
    """Score what memories retrieved for LoCoMo: recall of the cited evidence, by category, and file against file."""
    from ltm_bench.cli.sheets import print_replies
    from ltm_bench.datasets.locomo.predictions import recalled

    with usable(files, recalled) as replies:
        print_replies(replies, as_json=as_json)


def _passed(wrong: Path, replies: SetReplies) -> FalseAccepts | None:
    """Return how often the judge passes wrong answers, from its votes in a file of them."""
    from ltm_bench.judge.vague import FalseAccepts

    votes = [of.scores["judge"] for _, of in replies.overall if "judge" in of.scores]
    return FalseAccepts(len(votes), sum(votes) / len(votes), f"in {wrong.name}") if votes else None


def _complain(line: str) -> None:
    err().print(line)
