"""What can be typed: every command with its flags, their variables and their help.

Nothing is done here. A command imports what it needs when it is called, so that `--help` answers at once.
"""

from pathlib import Path
from typing import Annotated

import typer

from ltm_bench.cli.options import (
    AgentName,
    Baseline,
    BaseUrl,
    Cache,
    FailUnder,
    Isolated,
    Json,
    Judges,
    MaxCost,
    MaxDrop,
    MaxRetries,
    Parameters,
    RunName,
    Settings,
    Span,
    Timeout,
    Tokenizer,
    examples_of,
    group,
    seconds,
    whole,
)
from ltm_bench.cli.papers import importing, infinitebench, scoring, swimming
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.plugins.members import described

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
listing = group("List what there is.")
filler = group("Get other filler than the one that ships.")
judging = group("Check the judges.")
creating = group("Write a file to start from.")
app.add_typer(listing, name="list")
app.add_typer(filler, name="filler")
app.add_typer(infinitebench, name="infinitebench")
app.add_typer(swimming, name="swim")
app.add_typer(judging, name="judge")
app.add_typer(scoring, name="score")
app.add_typer(creating, name="new")
app.add_typer(importing, name="import")


@app.command(
    epilog=examples_of(
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
            parser=whole("--examples", 1),
            envvar="LTM_BENCH_EXAMPLES",
            help="Examples per scenario, instead of the suite's.",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole("--seed"),
            envvar="LTM_BENCH_SEED",
            help="The same seed gives the same conversation.",
        ),
    ] = 0,
    repeats: Annotated[
        int,
        typer.Option(
            metavar="R",
            parser=whole("--repeats", 1),
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
    from ltm_bench.cli.running import start
    from ltm_bench.plan.planning import Calls, Wish

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
    epilog=examples_of(
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
            parser=whole("--seed"),
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
            parser=whole("--examples", 1),
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
            parser=whole("--max-connections", 1),
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
            parser=seconds("--checkpoint"),
            envvar="LTM_BENCH_CHECKPOINT",
            help="On a cluster: how often a run under way is copied to a URL.",
        ),
    ] = 30.0,
) -> None:
    """Hold many runs at the same time: every agent, span, seed and suite. The same command again goes on."""
    from ltm_bench.cli.sweeping import Cluster, Grid, read_grid, run_sweep, with_resources
    from ltm_bench.plan.planning import PLAIN, Calls

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


@app.command(epilog=examples_of("resume", "resume standard-120k-gpt-4o-seed0 --max-cost 60"))
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
    from ltm_bench.cli.running import go_on
    from ltm_bench.plan.planning import Calls

    go_on(
        run,
        limit=max_cost,
        demands=Demands(fail_under, baseline, max_drop),
        judges=judge or (),
        calls=Calls(timeout, max_retries, cache),
    )


@app.command(epilog=examples_of("rescore", "rescore standard-32k-gpt-4o-seed0 --judge gpt-4o"))
def rescore(run: RunName = None, judge: Judges = None, max_cost: MaxCost = None) -> None:
    """Score a run anew from its log, and say what changed. Its agent is not asked."""
    from ltm_bench.cli.showing import score_anew

    score_anew(run, judge or (), max_cost)


@app.command(epilog=examples_of("review", "review standard-32k-gpt-4o-seed0 --reviewer Ada"))
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


@judging.command("check", epilog=examples_of("judge check --judge gpt-4o"))
def judge_check(
    judge: Annotated[
        list[str],
        typer.Option("--judge", metavar="NAME", envvar="LTM_BENCH_JUDGE", help="An agent, as for --agent."),
    ],
    cases: Annotated[
        int,
        typer.Option(
            metavar="N",
            parser=whole("--cases", 10),
            envvar="LTM_BENCH_CASES",
            help="How many cases at most.",
        ),
    ] = 120,
    max_cost: MaxCost = None,
) -> None:
    """Put replies before a judge of which it is known whether they are right, and say whether to believe it."""
    from ltm_bench.cli.judging import check_judge

    check_judge(judge, cases, max_cost)


@app.command(epilog=examples_of("report", "report standard-32k-gpt-4o-seed0"))
def report(run: RunName = None) -> None:
    """Write a run's page anew from its log."""
    from ltm_bench.cli.showing import write_page

    write_page(run)


@app.command(
    epilog=examples_of("show", "show --example colours/1", "show standard-32k-gpt-4o-seed0 --filler")
)
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
    epilog=examples_of("compare gpt-4o-120k gpt-6-luna-120k -o compare.html", "compare --json > all.json")
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
    epilog=examples_of("plot --kind distance -o distance.svg", "plot RUN RUN RUN --kind spans -o spans.pdf")
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
            help=described("ltm_bench.report.charts"),
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
    epilog=examples_of("export --format csv", "export standard-32k-gpt-4o-seed0 --format junit -o junit.xml")
)
def export(
    run: RunName = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            envvar="LTM_BENCH_FORMAT",
            help=described("ltm_bench.export.formats"),
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
    """Write a run's results in a format that other programs read."""
    from ltm_bench.cli.exporting import export_run

    export_run(run, form, output)


@app.command(epilog=examples_of("bundle", "bundle standard-32k-gpt-4o-seed0 -o gpt-4o.zip"))
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


@app.command(epilog=examples_of("verify gpt-4o.zip", "verify standard-32k-gpt-4o-seed0"))
def verify(
    run: Annotated[
        str, typer.Argument(metavar="BUNDLE_OR_RUN", help="A bundle's file, or a run's name or folder.")
    ],
) -> None:
    """Check that a bundle or a run is complete and agrees with itself. Nothing is scored again."""
    from ltm_bench.cli.exporting import verify_run

    verify_run(run)


@app.command(epilog=examples_of("view", "view --port 8001"))
def view(
    port: Annotated[
        int,
        typer.Option(metavar="N", parser=whole("--port", 1), envvar="LTM_BENCH_PORT", help="The port."),
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


@app.command(epilog=examples_of("check scenarios/parking.py", "check agents/notebook.py -A pages=50"))
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


@app.command(epilog=examples_of("doctor", "doctor --agent gpt-4o --span 120k"))
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


@filler.command(epilog=examples_of("filler fetch", "run --filler triviaqa:triviaqa/unfiltered-web-dev.json"))
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


NewName = Annotated[str, typer.Argument(metavar="NAME", help="Its name, and the file's stem.")]


@creating.command("agent", epilog=examples_of("new agent notebook"))
def new_agent(name: NewName) -> None:
    """Write agents/NAME.py, a commented adapter that passes the check as it is."""
    from ltm_bench.cli.creating import create

    create("agents", name)


@creating.command("scenario", epilog=examples_of("new scenario ladder"))
def new_scenario(name: NewName) -> None:
    """Write scenarios/NAME.py, a commented scenario that passes the check as it is."""
    from ltm_bench.cli.creating import create

    create("scenarios", name)


@app.command(epilog=examples_of("estimate --span 120k --agent gpt-4o"))
def estimate(
    span: Span = "32k",
    agent: AgentName = "gpt-4o",
    suite: Annotated[
        str, typer.Option(metavar="NAME", envvar="LTM_BENCH_SUITE", help="What is asked (see list suites).")
    ] = "standard",
    seed: Annotated[
        int, typer.Option(metavar="N", parser=whole("--seed"), envvar="LTM_BENCH_SEED", help="As for run.")
    ] = 0,
    tokenizer: Tokenizer = DEFAULT,
    setting: Settings = None,
    base_url: BaseUrl = None,
) -> None:
    """Say what a run would use and cost, with and without prompt caching. Simulates the schedule; no call is made."""
    from ltm_bench.cli.estimating import print_estimate
    from ltm_bench.plan.planning import Wish

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
