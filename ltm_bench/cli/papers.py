"""What can be typed about other benchmarks: InfiniteBench, Counting-Stars, SWiM, and GoodAI's published results."""

import math
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.options import (
    AgentName,
    BaseUrl,
    Json,
    Judges,
    MaxCost,
    RunName,
    Settings,
    Span,
    examples_of,
    group,
    whole,
)
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import DEFAULT

swimming = group("Questions about your own documents, after SWiM: generate, validate, run, show.")
infinitebench = group("Get the public files of InfiniteBench.")
scoring = group("Score prediction files of other benchmarks, in their own formats.")
importing = group("Import what others have published.")


@infinitebench.callback()
def _infinitebench() -> None:
    """Get the public files of InfiniteBench."""


@infinitebench.command(
    "fetch", epilog=examples_of("infinitebench fetch longbook_qa_eng", "run --suite infinitebench-files")
)
def fetch_infinitebench(
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK...", help="Which tasks; all twelve (2.5 GB) if left out."),
    ] = None,
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", envvar="LTM_BENCH_INTO", help="Where to put the files.")
    ] = Path("data/infinitebench"),
    url: Annotated[
        str | None, typer.Option(metavar="URL", envvar="LTM_BENCH_URL", help="A mirror of the files.")
    ] = None,
) -> None:
    """Download public files of InfiniteBench (MIT), and write down what they were."""
    from ltm_bench.cli.fetching import INFINITEBENCH, fetch_infinitebench

    fetch_infinitebench(tasks or (), into, url or INFINITEBENCH)


@importing.callback()
def _import() -> None:
    """Import what others have published."""


@importing.command("goodai", epilog=examples_of("import goodai goodai-ltm-benchmark/data/tests", "list runs"))
def import_goodai(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Their definitions and results (v1 to v3, MIT licence).")
    ],
) -> None:
    """Import GoodAI's published results: a run for every agent and span, scored by us, with their scores beside it."""
    from ltm_bench.cli.importing import import_goodai

    import_goodai(folder)


Predictions = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Prediction files, JSON lines or lists, gzipped or not."),
]


@scoring.command("infinitebench", epilog=examples_of("score infinitebench results/gpt4/preds_*.jsonl"))
def score_infinitebench(
    files: Predictions,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            envvar="LTM_BENCH_MODE",
            help="official-2024-06, official-newest, or strict (ours); all if left out.",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TASK", envvar="LTM_BENCH_TASK", help="The task, if the file's name does not say."
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_MODEL",
            help="Whose predictions; the folder's name if left out. For gpt4 math_calc skips a number, as theirs does.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Score prediction files of InfiniteBench, exactly as its two published programs do, and strictly."""
    from ltm_bench.cli.scoring import score_infinitebench

    score_infinitebench(files, mode, task, model, as_json=as_json)


@scoring.command(
    "counting-stars",
    epilog=examples_of(
        "score counting-stars results/*.jsonl", "score counting-stars reports/counting-stars-*"
    ),
)
def score_counting_stars(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE|RUN...", help="Prediction files (searching), and folders of runs of ours."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Score prediction files or runs of Counting-Stars, by length, with an order-aware figure beside."""
    from ltm_bench.cli.scoring import score_counting_stars

    score_counting_stars(files, as_json=as_json)


def _shares(option: str, text: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(0 <= value <= 1 for value in values):
        raise ConfigError(f"{option} {text}: write numbers from 0 to 1, such as 0,0.25,0.5,0.75,1")
    return values


TasksFile = Annotated[Path, typer.Argument(metavar="FILE", help="The tasks, as JSON; SWiM's own files work.")]
Documents = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The documents: text, Markdown, PDF, HTML (extra documents).")
]


@swimming.command("generate", epilog=examples_of("swim generate docs/ --agent gpt-4o -o tasks.json"))
def swim_generate(
    documents: Documents,
    agent: AgentName,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", envvar="LTM_BENCH_OUTPUT", help="Where the tasks go."),
    ] = Path("tasks.json"),
    each: Annotated[
        int,
        typer.Option(
            metavar="N", parser=whole("--each", 1), envvar="LTM_BENCH_EACH", help="Tasks per document."
        ),
    ] = 1,
    setting: Settings = None,
    max_cost: MaxCost = None,
) -> None:
    """Have a model write questions and answers, document by document. Goes on where it stopped."""
    from ltm_bench.cli.swimming import generate

    generate(documents, output, agent, setting or (), each, max_cost)


@swimming.command(
    "validate",
    epilog=examples_of(
        "swim validate tasks.json docs/ --validator Ada", "swim validate tasks.json docs/ --agent gpt-4o"
    ),
)
def swim_validate(
    tasks: TasksFile,
    documents: Documents,
    validator: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="LTM_BENCH_VALIDATOR", help="Who decides; your user name if left out."
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_CHECKER",
            help="A model that checks all tasks; a person still has to look at them.",
        ),
    ] = None,
    max_cost: MaxCost = None,
) -> None:
    """Accept, edit or reject tasks, one by one. Goes on where it stopped."""
    from ltm_bench.cli.swimming import validate

    validate(tasks, documents, validator, agent, max_cost)


@swimming.command(
    "run",
    epilog=examples_of(
        "swim run tasks.json docs/ --agent gpt-4o --span 128k --judge gpt-4o",
        "swim run tasks.json docs/ --agent gpt-4o --agent vector_memory --test position --delivery chunked",
        "swim run tasks.json docs/ --agent gpt-4o --test voting --test control --runs 5",
    ),
)
def swim_run(
    tasks: TasksFile,
    documents: Documents,
    agent: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_AGENT",
            help="Who is asked; may be given several times, to have them side by side.",
        ),
    ],
    span: Span = "32k",
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_TEST",
            help="position, size, absent, voting or control; may be given several times; position if left out.",
        ),
    ] = None,
    depths: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            envvar="LTM_BENCH_DEPTHS",
            help="Where the answer's document stands.",
        ),
    ] = "0,0.25,0.5,0.75,1",
    shares: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            envvar="LTM_BENCH_SHARES",
            help="How much of the span other documents take.",
        ),
    ] = "0,0.25,0.5,0.75,1",
    runs: Annotated[
        int,
        typer.Option(
            metavar="K",
            parser=whole("--runs", 1),
            envvar="LTM_BENCH_RUNS",
            help="Conversations per question of voting and control.",
        ),
    ] = 5,
    control: Annotated[
        str,
        typer.Option(
            metavar="DEPTH",
            envvar="LTM_BENCH_CONTROL",
            help="The depth of the control.",
        ),
    ] = "0.25",
    delivery: Annotated[
        str,
        typer.Option(metavar="KIND", envvar="LTM_BENCH_DELIVERY", help="one_shot, chunked, or scattered."),
    ] = "one_shot",
    questions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=whole("--questions", 1),
            envvar="LTM_BENCH_QUESTIONS",
            help="Only so many questions.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="The same seed gives the same order of documents.",
        ),
    ] = 0,
    setting: Settings = None,
    base_url: BaseUrl = None,
    judge: Judges = None,
    max_cost: MaxCost = None,
) -> None:
    """Ask about documents: at every depth, among more and more others, without the one that counts, several times."""
    from ltm_bench.cli.swimming import Tests, run
    from ltm_bench.plan.request import Wish

    run(
        tasks,
        documents,
        Wish(
            span=span,
            agent=agent[0],
            suite="swim",
            scenarios=(),
            examples=None,
            seed=seed,
            isolated=True,
            filler="scripted",
            tokenizer=DEFAULT,
            settings=setting or (),
            base_url=base_url,
        ),
        agent,
        Tests(
            tuple(dict.fromkeys(test or ["position"])),
            _shares("--depths", depths),
            _shares("--shares", shares),
            runs,
            delivery,
            _shares("--control", control)[0],
        ),
        questions,
        max_cost,
        judge or (),
    )


@swimming.command(
    "show", epilog=examples_of("swim show", "swim show swim-32k-gpt-4o-seed0-isolated --embedder local")
)
def swim_show(
    run: RunName = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_EMBEDDER",
            help="For votes: local, python:module:callable, or a model at --base-url.",
        ),
    ] = "local",
    base_url: BaseUrl = None,
    as_json: Json = False,
) -> None:
    """Print accuracy over depth and size, what was invented, and what voting makes of several runs."""
    from ltm_bench.cli.swimming import show

    show(run, embedder, base_url, as_json=as_json)
