"""What can be typed: every command with its flags, their variables and their help.

Nothing is done here. A command imports what it needs when it is called, so that `--help` answers at once.
"""

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.errors import ConfigError
from ltm_bench.tokens import DEFAULT


def _group(about: str) -> typer.Typer:
    return typer.Typer(help=about, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def _examples(*lines: str) -> str:
    return "\n".join(["\b", "Examples:", *(f"  ltm-bench {line}" for line in lines)])


app = typer.Typer(
    name="ltm-bench",
    help="Measure what a conversational agent still remembers after one long, live, seeded conversation.",
    epilog=(
        "\b\nStart here:\n  ltm-bench run                               an agent that needs no key\n"
        "  ltm-bench doctor --agent gpt-4o             would that one work?\n"
        "  ltm-bench run --span 120k --agent gpt-4o\n\n"
        "Exit codes: 0 done, 1 usage or configuration, 2 score below --fail-under or --baseline, 3 run incomplete "
        "(resume it), 4 budget reached (resume it).\n\n"
        "Every option can be set by a variable of the environment; each command's --help names them. Options that "
        "may be given several times take their values from the variable separated by spaces."
    ),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
listing = _group("List what there is.")
filler = _group("Get other filler than the one that ships.")
swimming = _group("Questions about your own documents, after SWiM: generate, validate, run, show.")
papers = _group("Get the public files of InfiniteBench.")
judging = _group("Check the judges.")
scoring = _group("Score prediction files of other benchmarks, in their own formats.")
creating = _group("Write a file to start from.")
importing = _group("Import what others have published.")
app.add_typer(listing, name="list")
app.add_typer(filler, name="filler")
app.add_typer(papers, name="infinitebench")
app.add_typer(swimming, name="swim")
app.add_typer(judging, name="judge")
app.add_typer(scoring, name="score")
app.add_typer(creating, name="new")
app.add_typer(importing, name="import")


def _whole(option: str, least: int | None = None) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ConfigError(f"{option} {text}: write a whole number") from None
        if least is not None and value < least:
            raise ConfigError(f"{option} {text}: write a whole number, {least} or more")
        return value

    return read


def _seconds(option: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value > 0):
            raise ConfigError(f"{option} {text}: write a number of seconds, such as 30")
        return value

    return read


def _score(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"--fail-under {text}: write a score such as 3.5; every scenario adds at most 1")
    return value


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ConfigError(f"--max-drop {text}: write a share from 0 to 1, such as 0.05")
    return value


def _dollars(text: str) -> Decimal:
    try:
        limit = Decimal(text.removeprefix("$"))
    except InvalidOperation:
        limit = Decimal("NaN")
    if not limit.is_finite() or limit < 0:
        raise ConfigError(f"--max-cost {text}: write US dollars, such as 2.50")
    return limit


Span = Annotated[
    str,
    typer.Option(
        metavar="TOKENS",
        envvar="LTM_BENCH_SPAN",
        help="Tokens between what is told and what is asked: 2k 32k 120k 200k 500k 1M 10M, or a number.",
    ),
]
AgentName = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        envvar="LTM_BENCH_AGENT",
        help="Who is asked: a preset or an adapter (see list agents).",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(metavar="ENCODING", envvar="LTM_BENCH_TOKENIZER", help="The encoding that measures spans."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "-A",
        "--setting",
        metavar="KEY=VALUE",
        envvar="LTM_BENCH_SETTING",
        help="A setting of the agent; may be given several times.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "-P",
        "--parameter",
        metavar="SCENARIO.KEY=VALUE",
        envvar="LTM_BENCH_PARAMETER",
        help="A parameter of a scenario, instead of the suite's; may be given several times.",
    ),
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        metavar="URL", envvar="LTM_BENCH_BASE_URL", help="A compatible server for the agent's adapter."
    ),
]
MaxCost = Annotated[
    Decimal | None,
    typer.Option(
        metavar="USD",
        parser=_dollars,
        envvar="LTM_BENCH_MAX_COST",
        help="Stop before spending more in all; the run can be resumed.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        parser=_seconds("--timeout"),
        envvar="LTM_BENCH_TIMEOUT",
        help="How long to wait for one reply, instead of the agent's own setting.",
    ),
]
MaxRetries = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        parser=_whole("--max-retries", 0),
        envvar="LTM_BENCH_MAX_RETRIES",
        help="How often a failed request is sent again, instead of the agent's own setting.",
    ),
]
Cache = Annotated[
    bool,
    typer.Option(
        "--cache",
        envvar="LTM_BENCH_CACHE",
        help="Keep the provider's answers in reports/answers.sqlite, and answer the same requests from there.",
    ),
]
Isolated = Annotated[
    bool,
    typer.Option(
        "--isolated",
        envvar="LTM_BENCH_ISOLATED",
        help="No filler: every example alone, with a fresh agent.",
    ),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        metavar="SCORE",
        parser=_score,
        envvar="LTM_BENCH_FAIL_UNDER",
        help="Exit with 2 if the score is lower. Every scenario adds at most 1.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="NAME",
        envvar="LTM_BENCH_JUDGE",
        help="An agent that decides where text alone cannot tell; may be given several times: the majority counts.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="RUN",
        envvar="LTM_BENCH_BASELINE",
        help="Exit with 2 if the score is further below this run's than --max-drop allows.",
    ),
]
MaxDrop = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        parser=_share,
        envvar="LTM_BENCH_MAX_DROP",
        help="How far below the baseline the score may lie, as a share of the highest one.",
    ),
]
RunName = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="The run's name or folder; the newest if left out.")
]
Json = Annotated[bool, typer.Option("--json", envvar="LTM_BENCH_JSON", help="Print JSON.")]


@app.command(
    epilog=_examples(
        "run",
        "run --span 120k --agent gpt-4o --max-cost 40",
        "run --span 2k --scenario colours --scenario jokes --examples 10",
        "run --span 32k --agent gpt-4o --repeats 3 --baseline standard-32k-gpt-4o-seed0",
        "run --agent openai_chat -A model=my-model --base-url http://localhost:8000/v1",
    )
)
def run(
    span: Span = "32k",
    agent: AgentName = "vector_memory",
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_SUITE",
            help="What is asked (see list suites), or goodai:FOLDER.",
        ),
    ] = "standard",
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_SCENARIO",
            help="Only this scenario (see list scenarios); may be given several times.",
        ),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=_whole("--examples", 1),
            envvar="LTM_BENCH_EXAMPLES",
            help="Examples per scenario, instead of the suite's.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=_whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="The same seed gives the same conversation.",
        ),
    ] = 0,
    repeats: Annotated[
        int,
        typer.Option(
            metavar="R",
            parser=_whole("--repeats", 1),
            envvar="LTM_BENCH_REPEATS",
            help="So many runs, with this seed and the following ones; --max-cost is for all of them.",
        ),
    ] = 1,
    isolated: Isolated = False,
    filler: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            envvar="LTM_BENCH_FILLER",
            help="scripted (the agent only observes filler) or live (it answers); triviaqa:FILE takes the trivia "
            "from a file, and live,triviaqa:FILE is both.",
        ),
    ] = "scripted",
    tokenizer: Tokenizer = DEFAULT,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_NAME",
            help="Name of the folder in reports/; named after suite, span, agent and seed if left out.",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", envvar="LTM_BENCH_FRESH", help="Start beside a run of the same name.")
    ] = False,
    max_cost: MaxCost = None,
    setting: Settings = None,
    parameter: Parameters = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    judge: Judges = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = 0.05,
) -> None:
    """Hold one conversation with an agent, score it, write its page. Resumes a run that was interrupted."""
    from ltm_bench.cli.demands import Demands
    from ltm_bench.cli.planning import Calls, Wish
    from ltm_bench.cli.running import start

    start(
        Wish(
            span=span,
            agent=agent,
            suite=suite,
            scenarios=scenario or (),
            examples=examples,
            seed=seed,
            isolated=isolated,
            filler=filler,
            tokenizer=tokenizer,
            settings=setting or (),
            base_url=base_url,
            parameters=parameter or (),
        ),
        name,
        repeats=repeats,
        fresh=fresh,
        limit=max_cost,
        demands=Demands(fail_under, baseline, max_drop),
        judges=judge or (),
        calls=Calls(timeout, max_retries, cache),
    )


@app.command(
    epilog=_examples(
        "sweep --agent gpt-4o --agent vector_memory --span 32k --span 120k --seed 0 --seed 1",
        "sweep sweep.toml --max-connections 32 --max-cost 100",
        "sweep sweep.toml --on ray --shared s3://bucket/runs --resources num_cpus=1,num_gpus=0.5",
    )
)
def sweep(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A TOML file: agents, spans, seeds, suites, examples, …"),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", envvar="LTM_BENCH_AGENT", help="Who is asked; several times for several."
        ),
    ] = None,
    span: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKENS", envvar="LTM_BENCH_SPAN", help="A span; several times for several."),
    ] = None,
    seed: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            parser=_whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="A seed; several times for several.",
        ),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", envvar="LTM_BENCH_SUITE", help="A suite; several times for several."),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            parser=_whole("--examples", 1),
            envvar="LTM_BENCH_EXAMPLES",
            help="Examples per scenario, instead of the suites'.",
        ),
    ] = None,
    isolated: Isolated = False,
    connections: Annotated[
        int,
        typer.Option(
            "--max-connections",
            metavar="N",
            parser=_whole("--max-connections", 1),
            envvar="LTM_BENCH_MAX_CONNECTIONS",
            help="Calls at a time to one provider.",
        ),
    ] = 16,
    max_cost: MaxCost = None,
    setting: Settings = None,
    parameter: Parameters = None,
    base_url: BaseUrl = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            envvar="LTM_BENCH_OUTPUT",
            help="Where the page of all goes; reports/sweep.html if left out.",
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="CLUSTER",
            envvar="LTM_BENCH_ON",
            help="Who holds the runs, instead of this process: ray, the cluster that is there, or at RAY_ADDRESS.",
        ),
    ] = None,
    resources: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=N,…",
            envvar="LTM_BENCH_RESOURCES",
            help="On a cluster: what a run takes of a node, num_cpus=1,num_gpus=0.5; by agent in FILE.",
        ),
    ] = None,
    shared: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            envvar="LTM_BENCH_SHARED",
            help="On a cluster: where the runs land, a folder that all nodes see or a URL (s3://…); reports/ if left "
            "out.",
        ),
    ] = None,
    checkpoint: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            parser=_seconds("--checkpoint"),
            envvar="LTM_BENCH_CHECKPOINT",
            help="On a cluster: how often a run under way is copied to a URL.",
        ),
    ] = 30.0,
) -> None:
    """Hold many runs at the same time: every agent, span, seed and suite. The same command again goes on."""
    from ltm_bench.cli.planning import PLAIN, Calls
    from ltm_bench.cli.sweeping import Cluster, Grid, read_grid, run_sweep, with_resources

    if on not in (None, "ray"):
        raise ConfigError(f"--on {on}: there is ray, and without --on this process")
    for option, value in (("--resources", resources), ("--shared", shared)):
        if value is not None and on is None:
            raise ConfigError(f"{option} {value}: this is for a cluster; add --on ray")
    calls = Calls(timeout, max_retries, cache)
    if on is not None and calls != PLAIN:
        raise ConfigError(
            f"--on {on}: --timeout, --max-retries and --cache are for calls from this machine; set the agents' own "
            "settings, such as -A timeout=300"
        )
    flags = {
        "agents": agent,
        "spans": span,
        "seeds": seed,
        "suites": suite,
        "examples": examples,
        "isolated": isolated,
        "settings": setting,
        "parameters": parameter,
        "base_url": base_url,
    }
    given = {key: value for key, value in flags.items() if value}
    grid = (Grid() if file is None else read_grid(file)).model_copy(update=given)
    run_sweep(
        with_resources(grid, resources),
        connections=connections,
        limit=max_cost,
        output=output,
        cluster=None if on is None else Cluster(shared, checkpoint),
        calls=calls,
    )


@app.command(epilog=_examples("resume", "resume standard-120k-gpt-4o-seed0 --max-cost 60"))
def resume(
    run: RunName = None,
    max_cost: MaxCost = None,
    timeout: Timeout = None,
    max_retries: MaxRetries = None,
    cache: Cache = False,
    judge: Judges = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    max_drop: MaxDrop = 0.05,
) -> None:
    """Go on with a run that was interrupted, exactly where it stopped."""
    from ltm_bench.cli.demands import Demands
    from ltm_bench.cli.planning import Calls
    from ltm_bench.cli.running import go_on

    go_on(
        run,
        limit=max_cost,
        demands=Demands(fail_under, baseline, max_drop),
        judges=judge or (),
        calls=Calls(timeout, max_retries, cache),
    )


@app.command(epilog=_examples("rescore", "rescore standard-32k-gpt-4o-seed0 --judge gpt-4o"))
def rescore(run: RunName = None, judge: Judges = None, max_cost: MaxCost = None) -> None:
    """Score a run anew from its log, and say what changed. Its agent is not asked."""
    from ltm_bench.cli.showing import score_anew

    score_anew(run, judge or (), max_cost)


@app.command(epilog=_examples("review", "review standard-32k-gpt-4o-seed0 --reviewer Ada"))
def review(
    run: RunName = None,
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", envvar="LTM_BENCH_REVIEWER", help="Who decides; your user name if left out."
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", envvar="LTM_BENCH_REVIEW_ALL", help="Walk through all verdicts.")
    ] = False,
) -> None:
    """Walk through undecided and doubtful verdicts; what you decide is kept beside the original."""
    from ltm_bench.cli.judging import review

    review(run, reviewer, every=every)


@judging.callback()
def _judging() -> None:
    """Check the judges."""


@judging.command("check", epilog=_examples("judge check --judge gpt-4o"))
def judge_check(
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="NAME", envvar="LTM_BENCH_JUDGE", help="An agent, as for --agent."),
    ],
    cases: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=_whole("--cases", 10),
            envvar="LTM_BENCH_CASES",
            help="How many cases at most.",
        ),
    ] = 120,
    max_cost: MaxCost = None,
) -> None:
    """Put replies before a judge of which it is known whether they are right, and say whether to believe it."""
    from ltm_bench.cli.judging import check_judge

    check_judge(judge, cases, max_cost)


@app.command(epilog=_examples("report", "report standard-32k-gpt-4o-seed0"))
def report(run: RunName = None) -> None:
    """Write a run's page anew from its log."""
    from ltm_bench.cli.showing import write_page

    write_page(run)


@app.command(epilog=_examples("show", "show --example colours/1", "show standard-32k-gpt-4o-seed0 --filler"))
def show(
    run: RunName = None,
    example: Annotated[
        str | None,
        typer.Option(metavar="ID", envvar="LTM_BENCH_EXAMPLE", help="Only this example, e.g. colours/0."),
    ] = None,
    filler: Annotated[
        bool, typer.Option("--filler", envvar="LTM_BENCH_SHOW_FILLER", help="Show filler in full as well.")
    ] = False,
) -> None:
    """Print the transcript of a run or of one example."""
    from ltm_bench.cli.showing import print_transcript

    print_transcript(run, example, filler=filler)


@app.command(
    epilog=_examples("compare gpt-4o-120k gpt-6-luna-120k -o compare.html", "compare --json > all.json")
)
def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Names or folders of runs; all in reports/ if left out."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", envvar="LTM_BENCH_OUTPUT", help="Write a page to this file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Put runs side by side: scores over spans, differences by example, what sets them apart. No agent is asked."""
    from ltm_bench.cli.comparing import compare_runs

    compare_runs(runs or [], output, as_json=as_json)


@app.command(
    epilog=_examples("plot --kind distance -o distance.svg", "plot RUN RUN RUN --kind spans -o spans.pdf")
)
def plot(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Names or folders of runs; all in reports/ if left out."),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            envvar="LTM_BENCH_KIND",
            help="spans, scenarios, skills, distance, outcomes, cost, needles, stars or depth.",
        ),
    ] = "scenarios",
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            envvar="LTM_BENCH_OUTPUT",
            help="The picture; its ending says the form: .svg, .png or .pdf.",
        ),
    ] = Path("plot.svg"),
) -> None:
    """Draw a picture of one or more runs. Needs the extra `plot`."""
    from ltm_bench.cli.comparing import plot_runs

    plot_runs(runs or [], kind, output)


@app.command(
    epilog=_examples("export --format csv", "export standard-32k-gpt-4o-seed0 --format junit -o junit.xml")
)
def export(
    run: RunName = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            envvar="LTM_BENCH_FORMAT",
            help="csv, jsonl or parquet (a row for every question), junit (XML), or inspect (Inspect's log).",
        ),
    ] = "csv",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            envvar="LTM_BENCH_OUTPUT",
            help="Where to write it, - for standard output; into the run's folder exports/ if left out.",
        ),
    ] = None,
) -> None:
    """Write a run's results in a form that other programs read."""
    from ltm_bench.cli.exporting import export_run

    export_run(run, form, output)


@app.command(epilog=_examples("bundle", "bundle standard-32k-gpt-4o-seed0 -o gpt-4o.zip"))
def bundle(
    run: RunName = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            envvar="LTM_BENCH_OUTPUT",
            help="The zip to write; into the run's folder if left out.",
        ),
    ] = None,
) -> None:
    """Put a run into one file that can be passed on and verified; what looks like a secret is removed."""
    from ltm_bench.cli.exporting import bundle_run

    bundle_run(run, output)


@app.command(epilog=_examples("verify gpt-4o.zip", "verify standard-32k-gpt-4o-seed0"))
def verify(
    run: Annotated[
        str, typer.Argument(metavar="BUNDLE_OR_RUN", help="A bundle's file, or a run's name or folder.")
    ],
) -> None:
    """Recompute every score of a bundle or a run, and say whether it agrees. No agent is asked."""
    from ltm_bench.cli.exporting import verify_run

    verify_run(run)


@app.command(epilog=_examples("view", "view --port 8001"))
def view(
    port: Annotated[
        int,
        typer.Option(metavar="N", parser=_whole("--port", 1), envvar="LTM_BENCH_PORT", help="The port."),
    ] = 7700,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            envvar="LTM_BENCH_HOST",
            help="The address to listen on; one that others can reach needs --token.",
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            envvar="LTM_BENCH_TOKEN",
            help="What visitors must bring, as ?token=TEXT; best given through the variable.",
        ),
    ] = None,
) -> None:
    """Show the runs in reports/ in a browser, with live progress and search. Needs the extra `view`."""
    from ltm_bench.cli.viewing import view as serve

    serve(host, port, token)


@listing.command("agents")
def list_agents(as_json: Json = False) -> None:
    """List agents: presets and adapters, yours included."""
    from ltm_bench.cli.listing import agents, print_rows

    print_rows(agents(), as_json=as_json)


@listing.command("scenarios")
def list_scenarios(as_json: Json = False) -> None:
    """List scenarios, yours included."""
    from ltm_bench.cli.listing import print_rows, scenarios

    print_rows(scenarios(), as_json=as_json)


@listing.command("suites")
def list_suites(as_json: Json = False) -> None:
    """List suites, yours included."""
    from ltm_bench.cli.listing import print_rows, suites

    print_rows(suites(), as_json=as_json)


@listing.command("runs")
def list_runs(as_json: Json = False) -> None:
    """List the runs in reports/."""
    from ltm_bench.cli.listing import print_rows, runs

    print_rows(runs(), as_json=as_json)


@app.command(epilog=_examples("check scenarios/parking.py", "check agents/notebook.py -A pages=50"))
def check(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A scenario (scenarios/*.py) or an adapter (agents/*.py)."),
    ],
    setting: Settings = None,
) -> None:
    """Check a scenario or an adapter. The file is executed; an adapter is talked to for three turns."""
    from ltm_bench.cli.checking import check_file

    check_file(file, setting or [])


@app.command(epilog=_examples("doctor", "doctor --agent gpt-4o --span 120k"))
def doctor(
    agent: AgentName = "vector_memory",
    span: Span = "32k",
    tokenizer: Tokenizer = DEFAULT,
    setting: Settings = None,
    base_url: BaseUrl = None,
) -> None:
    """Say whether a run would work, before it costs anything. Asks the provider, but makes no paid call."""
    from ltm_bench.cli.doctor import examine

    examine(agent, span, tokenizer, setting or [], base_url)


@filler.callback()
def _filler() -> None:
    """Get other filler than the one that ships."""


@filler.command(epilog=_examples("filler fetch", "run --filler triviaqa:triviaqa/unfiltered-web-dev.json"))
def fetch(
    into: Annotated[
        Path, typer.Option(metavar="FOLDER", envvar="LTM_BENCH_INTO", help="Where to put the file.")
    ] = Path("triviaqa"),
    url: Annotated[
        str | None, typer.Option(metavar="URL", envvar="LTM_BENCH_URL", help="A mirror of the archive.")
    ] = None,
    sha256: Annotated[
        str | None,
        typer.Option(metavar="HEX", envvar="LTM_BENCH_SHA256", help="The checksum of another archive."),
    ] = None,
) -> None:
    """Download TriviaQA (Apache-2.0, 0.6 GB) and unpack its questions for --filler triviaqa:FILE."""
    from ltm_bench.cli.fetching import SHA256, URL, fetch_into

    fetch_into(into, url or URL, sha256 or SHA256)


@papers.callback()
def _papers() -> None:
    """Get the public files of InfiniteBench."""


@papers.command(
    "fetch", epilog=_examples("infinitebench fetch longbook_qa_eng", "run --suite infinitebench-files")
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


@importing.command("goodai", epilog=_examples("import goodai goodai-ltm-benchmark/data/tests", "list runs"))
def import_goodai(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Their definitions and results (v1 to v3, MIT licence).")
    ],
) -> None:
    """Import GoodAI's published results: a run for every agent and span, scored by us, with their scores beside it."""
    from ltm_bench.cli.importing import import_goodai

    import_goodai(folder)


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, and the file's stem.")]


@creating.command("agent", epilog=_examples("new agent notebook"))
def new_agent(name: NewName) -> None:
    """Write agents/NAME.py, a commented adapter that passes the check as it is."""
    from ltm_bench.cli.creating import create

    create("agents", name)


@creating.command("scenario", epilog=_examples("new scenario ladder"))
def new_scenario(name: NewName) -> None:
    """Write scenarios/NAME.py, a commented scenario that passes the check as it is."""
    from ltm_bench.cli.creating import create

    create("scenarios", name)


Predictions = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Prediction files, JSON lines or lists, gzipped or not."),
]


@scoring.command("infinitebench", epilog=_examples("score infinitebench results/gpt4/preds_*.jsonl"))
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
    epilog=_examples("score counting-stars results/*.jsonl", "score counting-stars reports/counting-stars-*"),
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


@swimming.command("generate", epilog=_examples("swim generate docs/ --agent gpt-4o -o tasks.json"))
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
            metavar="N", parser=_whole("--each", 1), envvar="LTM_BENCH_EACH", help="Tasks per document."
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
    epilog=_examples(
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
    epilog=_examples(
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
            parser=_whole("--runs", 1),
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
            parser=_whole("--questions", 1),
            envvar="LTM_BENCH_QUESTIONS",
            help="Only so many questions.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=_whole("--seed"),
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
    from ltm_bench.cli.planning import Wish
    from ltm_bench.cli.swimming import Tests, run

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
    "show", epilog=_examples("swim show", "swim show swim-32k-gpt-4o-seed0-isolated --embedder local")
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


@app.command(epilog=_examples("estimate --span 120k --agent gpt-4o"))
def estimate(
    span: Span = "32k",
    agent: AgentName = "gpt-4o",
    suite: Annotated[
        str, typer.Option(metavar="NAME", envvar="LTM_BENCH_SUITE", help="What is asked (see list suites).")
    ] = "standard",
    seed: Annotated[
        int, typer.Option(metavar="N", parser=_whole("--seed"), envvar="LTM_BENCH_SEED", help="As for run.")
    ] = 0,
    tokenizer: Tokenizer = DEFAULT,
    setting: Settings = None,
    base_url: BaseUrl = None,
) -> None:
    """Say what a run would use and cost, with and without prompt caching. Simulates the schedule; no call is made."""
    from ltm_bench.cli.estimating import print_estimate
    from ltm_bench.cli.planning import Wish

    print_estimate(
        Wish(
            span=span,
            agent=agent,
            suite=suite,
            scenarios=(),
            examples=None,
            seed=seed,
            isolated=False,
            filler="scripted",
            tokenizer=tokenizer,
            settings=setting or (),
            base_url=base_url,
        )
    )
