"""Score prediction files of other benchmarks, in their own formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json, Judge, Scoring, Wrong, check_output, data_option, output_option
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option
from ltm_bench.plan.request import MaxCost

if TYPE_CHECKING:
    from ltm_bench.datasets.marks import SetReplies

app = group("Score prediction files of other benchmarks, in their own formats.")


def _files(what: str, metavar: str = "FILE...") -> Any:
    return typer.Argument(metavar=metavar, help=what)


_Files = Annotated[
    list[Path],
    _files("Prediction files, JSON or JSON lines, gzipped or not; or runs of ltm-bench.", "FILE|RUN..."),
]
_Published = Annotated[list[Path], _files("Published files, in any form, gzipped or not.")]


def _score(name: str, about: str, *examples: str) -> None:
    """Add the command that scores prediction files of a set, or runs that ask its questions."""

    def score(files: _Files, how: Scoring) -> None:
        from ltm_bench.cli.scoring import score_files
        from ltm_bench.datasets.predictions import prediction_files

        score_files(name, prediction_files(name), files, how)

    score.__doc__ = about
    command(app, *examples, name=name)(score)


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
_score(
    "counting-stars",
    "Score prediction files (searching or reasoning) or runs of Counting-Stars by length, and by order besides.",
    "score counting-stars results/*.jsonl",
    "score counting-stars reports/counting-stars-*",
)
_score(
    "personamem",
    "Score prediction files of PersonaMem: the letters as its program reads them, and strictly, by type.",
    "score personamem pred_32k_gpt-4o.csv --data personamem/32k",
)


@command(app, "score infinitebench results/gpt4/preds_*.jsonl", name="infinitebench")
def score_infinitebench(
    files: _Files,
    how: Scoring,
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
) -> None:
    """Score prediction files of InfiniteBench, exactly as its two published programs do, and strictly."""
    from ltm_bench.cli.scoring import score_files
    from ltm_bench.datasets.infinitebench.predictions import files_of

    score_files("infinitebench", files_of(mode, task, model), files, how)


@command(
    app,
    "score precisionmembench retrieval-report-mem0.json --data precisionMemBench/fixtures",
    "score precisionmembench --agent vector_memory --data precisionMemBench/fixtures -o mine",
    name="precisionmembench",
)
def score_precisionmembench(
    files: Annotated[list[Path] | None, _files("Reports on queries or on sessions.", "[FILE]...")] = None,
    data: Annotated[Path | None, data_option("the folder with its beliefs, queries and sessions")] = None,
    agent: Annotated[
        str | None,
        Option("Ask this agent's own memory instead: it is told beliefs, and nothing else.", "NAME"),
    ] = None,
    output: Annotated[
        Path | None, output_option("", "A folder for two reports on the agent, in the published form.")
    ] = None,
    max_cost: MaxCost = None,
    as_json: Json = False,
) -> None:
    """Score reports on memories in the form of PrecisionMemBench, or ask an agent's memory its queries and report."""
    from ltm_bench.cli.memory_reports import report_on
    from ltm_bench.cli.scoring import count_files

    found = list(files or ())
    if agent is not None:
        if data is None or output is None:
            raise ConfigError(
                f"--agent {agent}: to ask its memory, name the set with --data, and a folder with -o"
            )
        found += report_on(agent, data, output, Budget(max_cost))
    if not found:
        raise ConfigError("nothing to score: name reports, or a memory to ask with --agent")
    count_files(found, data, as_json=as_json)


@command(
    app,
    "score published retrieval-report-mem0.json --data precisionMemBench/fixtures",
    "score published eval-results-gpt-4o --data longmemeval_oracle.json --json",
    name="published",
    hidden=True,
)
def score_published(
    files: _Published,
    data: Annotated[Path | None, data_option("what the files only name, also in a folder")] = None,
    as_json: Json = False,
) -> None:
    """Say what published files are, count their figures again from their rows, and show what does not follow."""
    from ltm_bench.cli.scoring import count_files

    count_files(files, data, as_json=as_json)


@command(
    app,
    "score retrieval results_locomo_raw.json results_locomo_hybrid.json",
    name="retrieval",
    hidden=True,
)
def score_retrieval(files: _Published, as_json: Json = False) -> None:
    """Score what memories retrieved for LoCoMo: recall of the cited evidence, by category, and file against file."""
    from ltm_bench.cli.scoring import usable
    from ltm_bench.cli.sheets import print_replies
    from ltm_bench.datasets.locomo.predictions import recalled

    with usable(files, recalled) as replies:
        print_replies(replies, as_json=as_json)


@command(
    app,
    "score panel a.jsonl b.jsonl validation_54.jsonl --wrong vague-wrong.jsonl",
    "score panel hypotheses.jsonl --data longmemeval_oracle.json --judge gpt-6-luna --max-cost 5",
    name="panel",
)
def score_panel(
    files: _Published,
    wrong: Wrong = None,
    data: Annotated[Path | None, data_option("questions that the files only name, also in a folder")] = None,
    judge: Judge = None,
    max_cost: MaxCost = None,
    output: Annotated[Path | None, output_option("panel", "A page to write besides.")] = None,
    as_json: Json = False,
) -> None:
    """Score the same replies by every published rubric: means, ranks that turn, agreement with people."""
    from ltm_bench.cli.judging import Grading
    from ltm_bench.cli.scoring import say, usable
    from ltm_bench.cli.sheets import print_panel
    from ltm_bench.datasets.recounting import explaining, learn
    from ltm_bench.judge.panel import by_rubrics, panel, people_of, replies_of
    from ltm_bench.report.publishing import replace_file
    from ltm_bench.report.templating import templates

    check_output(output)
    questions = learn(list(explaining(data)) if data else []).get("question", {})
    grading = Grading(judge, max_cost, say)

    def marked(path: Path) -> tuple[SetReplies, dict[str, bool]]:
        replies = replies_of(path, questions, say)
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
