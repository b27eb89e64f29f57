"""Score prediction files of other benchmarks, in their own formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_bench.cli.console import err, out
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json, output_option
from ltm_bench.cli.outputs import check_output
from ltm_bench.cli.scored_rows import print_rows, row_of_file, rows_of_run, usable, without
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost

if TYPE_CHECKING:
    from ltm_bench.datasets.answers import Answer
    from ltm_bench.datasets.gatemem.scorer import Output
    from ltm_bench.datasets.marks import Sheet
    from ltm_bench.judge.vague import FalseAccepts

app = group("Score prediction files of other benchmarks, in their own formats.")


def _nothing_to_read(name: str) -> None:
    raise ValueError(
        "a blind reader has nothing to read here: programs of other benchmarks score these predictions, no matcher of "
        "ours; of a run, rescore --reader has the replies to ours read"
    )


_Reader = Annotated[
    str | None,
    Option(
        "Only to say that no blind reader can help here: published programs score these files.",
        "NAME",
        _nothing_to_read,
        variable="SCORE_READER",
    ),
]


@command(app, "score infinitebench results/gpt4/preds_*.jsonl", name="infinitebench")
def score_infinitebench(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Prediction files, JSON lines or lists, gzipped or not."),
    ],
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
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of InfiniteBench, exactly as its two published programs do, and strictly."""
    from ltm_bench.datasets.infinitebench.scoring import modes_of, score_file

    modes = modes_of(mode)

    def scored(path: Path) -> dict[str, Any]:
        file = score_file(path, modes, task=task, model=model, on_bad=_complain)
        means = {str(key): mean for key, mean in file.means.items()}
        return {"file": str(path), "task": file.task, "lines": file.lines, **means}

    with usable(files, scored) as rows:
        print_rows(rows, as_json=as_json)


@command(
    app,
    "score counting-stars results/*.jsonl",
    "score counting-stars reports/counting-stars-*",
    name="counting-stars",
)
def score_counting_stars(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|RUN...",
            help="Prediction files (searching or reasoning), or folders of our own runs.",
        ),
    ],
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files or runs of Counting-Stars by length, with an additional order-aware figure."""

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


_Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE|RUN...",
        help="Prediction files, JSON or JSON lines, gzipped or not; or runs of ltm-bench.",
    ),
]
_Judge = Annotated[
    str | None,
    Option(
        "An agent that judges answers without a label; its verdicts are kept beside the file.",
        "NAME",
        flags=("--judge",),
    ),
]


_Published = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Published files, in any form, gzipped or not.")
]
_Wrong = Annotated[
    Path | None,
    Option("Deliberately wrong answers with the same judge's votes, to see how many it passes.", "FILE"),
]


def _data(what: str) -> Any:
    return Option(f"The set itself: {what}; see datasets list.", "PATH", flags=("--data",))


@command(
    app,
    "score locomo results/*.jsonl",
    "score locomo mine.json --data locomo10.json --wrong vague.jsonl",
    name="locomo",
)
def score_locomo(
    files: _Files,
    data: Annotated[Path | None, _data("locomo10.json")] = None,
    errors: Annotated[
        Path | None,
        Option("An audit's list of wrong keys; the one by dial481 (99 keys) if left out.", "FILE"),
    ] = None,
    wrong: _Wrong = None,
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of LoCoMo: the official F1 by category, a strict score, and the votes stored in them."""
    from ltm_bench.cli.sheets import print_sheets
    from ltm_bench.datasets.locomo.files import CATEGORIES
    from ltm_bench.datasets.locomo.scoring import Keys, score_file

    keys = Keys(data, errors, _complain)
    passed = _passed(wrong, score_file(wrong, keys, _complain)) if wrong else None
    with usable(files, lambda path: score_file(path, keys, _complain, answers=_answers_of(path))) as sheets:
        print_sheets(sheets, as_json=as_json, types=CATEGORIES, judged=_JUDGED, passed=passed)


@command(app, "score longmemeval mine.jsonl --data longmemeval_oracle.json", name="longmemeval")
def score_longmemeval(
    files: _Files,
    data: Annotated[Path | None, _data("longmemeval_oracle.json, or another of its files")] = None,
    judge: _Judge = None,
    max_cost: MaxCost = None,
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of LongMemEval: a judge's labels by type, on average, and on abstentions."""
    from ltm_bench.cli.judging import Grading
    from ltm_bench.cli.sheets import print_sheets
    from ltm_bench.datasets.answers import read_answers
    from ltm_bench.datasets.longmemeval.scoring import inquiries, questions_of, score_file

    questions, grading = questions_of(data, _complain), Grading(judge, max_cost, _complain)

    def scored(path: Path) -> Sheet:
        answers = _answers_of(path) or read_answers(path, _complain)
        labels = grading.asked(path, data, inquiries(answers, questions))
        return score_file(path, questions, _complain, answers=answers, labels=labels, judge=judge)

    with usable(files, scored) as sheets:
        passed = grading.vaguely(files[0], "longmemeval-s", questions, sheets)
        print_sheets(sheets, as_json=as_json, judged=_JUDGED, passed=passed)


@command(app, "score beam evaluation-mine.json --data chats/100K/1", name="beam")
def score_beam(
    files: _Files,
    data: Annotated[Path | None, _data("a conversation's folder, or a folder of them")] = None,
    judge: _Judge = None,
    max_cost: MaxCost = None,
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of BEAM by ability, with a judge's scores, as in its program and its paper."""
    from ltm_bench.cli.judging import Grading
    from ltm_bench.cli.sheets import print_sheets
    from ltm_bench.datasets.beam.scoring import inquiries, questions_of, score_file

    questions, grading = questions_of(data, _complain), Grading(judge, max_cost, _complain)

    def scored(path: Path) -> Sheet:
        heard = grading.asked(path, data, inquiries(path, questions))
        return score_file(path, questions, _complain, heard=heard, judge=judge)

    with usable(files, scored) as sheets:
        passed = grading.vaguely(files[0], "beam-100k", questions, sheets)
        print_sheets(sheets, as_json=as_json, judged=_JUDGED, passed=passed)


@command(
    app, "score factconsolidation results.json --data Conflict_Resolution.json", name="factconsolidation"
)
def score_factconsolidation(
    files: _Files,
    data: Annotated[Path | None, _data("Conflict_Resolution.json")] = None,
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of FactConsolidation: the published substring match, exact match, and a strict score."""
    from ltm_bench.cli.sheets import print_sheets
    from ltm_bench.datasets.factconsolidation.scoring import questions_of, score_file

    questions = questions_of(data, _complain)
    with usable(files, lambda p: score_file(p, questions, _complain, answers=_answers_of(p))) as sheets:
        print_sheets(sheets, as_json=as_json)


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
    from ltm_bench.judge.panel import panel, people_of, replies_of, sheet_of
    from ltm_bench.report.publishing import replace_file
    from ltm_bench.report.templating import templates

    check_output(output)
    questions = learn(list(explaining(data)) if data else []).get("question", {})
    grading = Grading(judge, max_cost, _complain)

    def marked(path: Path) -> tuple[Sheet, dict[str, bool]]:
        replies = replies_of(path, questions, _complain)
        asked = (each for reply in replies for each in reply.inquiries())
        texts = (next(inquiry) for reply in replies for _, inquiry in reply.inquiries())
        return sheet_of(path, replies, grading.graded(path, asked, texts)), people_of(replies)

    with usable(list(dict.fromkeys([*files, *([wrong] if wrong else [])])), marked) as read:
        vague = next((sheet for sheet, _ in read if sheet.path == wrong), None)
        people = {sheet.path: said for sheet, said in read if said and sheet.path in files}
        found = panel([sheet for sheet, _ in read if sheet.path in files], vague, people)
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
    from ltm_bench.cli.sheets import print_sheets
    from ltm_bench.datasets.locomo.files import CATEGORIES
    from ltm_bench.datasets.locomo.scoring import sheet_of

    with usable(files, sheet_of) as sheets:
        print_sheets(sheets, as_json=as_json, types=CATEGORIES)


@command(app, "score gatemem mine/*.jsonl --data bench/data", name="gatemem")
def score_gatemem(
    files: _Files,
    data: Annotated[Path, _data("a domain's folder, or the folder bench/data above all of them")],
    reader: _Reader = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of GateMem as its rule scorer does, with and without its gate, and strictly."""
    from ltm_bench.datasets.gatemem.files import questions_of
    from ltm_bench.datasets.gatemem.scoring import answered, known_in, predicted, rows_of
    from ltm_bench.log.reader import read_questions

    questions = {each.id: each for each in questions_of(data, _complain)}

    def told(path: Path) -> tuple[Path, dict[str, Output]]:
        replies = answered(read_questions(path)) if path.is_dir() else predicted(path, _complain)
        return path, known_in(path, replies, questions, _complain)

    with usable(list(dict.fromkeys(files)), told) as found:
        rows = rows_of(dict(found), questions)
        if not as_json:
            letters = {"utility": "U", "privacy_leak": "A", "deletion_leak": "F", "over_refusal": "refused"}
            keys = dict.fromkeys(key for row in rows for key in row if not key.startswith(("n_", "action")))
            rows = [{letters.get(key, key): row.get(key) for key in keys} for row in rows]
        print_rows(rows, as_json=as_json)


def _answers_of(path: Path) -> list[Answer] | None:
    """Return an agent's answers if this is a run's folder; None for a file."""
    if not path.is_dir():
        return None
    from ltm_bench.datasets.answers import said_in_run
    from ltm_bench.log.reader import read_questions

    found = said_in_run(read_questions(path))
    if not found:
        raise ConfigError(f"{path}: no question of that run comes from a public set")
    return found


_JUDGED = frozenset(("judge", "paper"))
"""Columns that only a judge can fill."""


def _passed(wrong: Path, sheet: Sheet) -> FalseAccepts | None:
    """Return how often the judge passes wrong answers, from its votes in a file of them."""
    from ltm_bench.judge.vague import FalseAccepts

    votes = [mark.scores["judge"] for mark in sheet.overall if "judge" in mark.scores]
    return FalseAccepts(len(votes), sum(votes) / len(votes), f"in {wrong.name}") if votes else None


def _complain(line: str) -> None:
    err().print(line)
