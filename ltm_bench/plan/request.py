"""The arguments of a run, before anything is looked up: what is run, and how it is carried out.

Commands, environment variables, TOML files, `run()` and the docs follow from these declarations.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from typing import Annotated, Any

from ltm_bench.core.seeds import Seed as SeedValue
from ltm_bench.core.seeds import parse_seed
from ltm_bench.core.tokens import DEFAULT
from ltm_bench.log.controls import parse_controls
from ltm_bench.plan.declaring import Given, Option
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.values import dollars, number, parse_parameters, parse_settings, parse_tags, seconds

_AGENT = Option(
    "A preset or an adapter (see list agents), PROVIDER:MODEL such as openai:gpt-6-luna, an adapter's file, or "
    "python:MODULE:NAME.",
    "NAME",
)
AgentName = Annotated[str, _AGENT]
Span = Annotated[
    str | int | None,
    Option(
        "Tokens between what is told and what is asked: 2k 32k 120k 200k 500k 1M 10M, or a number; the suite's own if "
        "left out, usually 32k.",
        "TOKENS",
    ),
]
Suite = Annotated[str, Option("The suite (see list suites), or goodai:FOLDER.", "NAME")]
Scenarios = Annotated[
    Sequence[str], Option("Only these scenarios (see list scenarios), instead of all of the suite.", "NAME")
]
Seed = Annotated[
    SeedValue,
    Option(
        "The same seed gives the same conversation: a number or, to train an agent, train:17, whose conversations no "
        "test seed has.",
        "N",
        parse_seed,
    ),
]
Tokenizer = Annotated[str, Option("The encoding that measures spans.", "ENCODING")]
Settings = Annotated[
    Mapping[str, Any] | None,
    Option(
        "Settings of the agent.",
        "KEY=VALUE",
        parse_settings,
        flags=("-A", "--agent-arg"),
        variable="SETTING",
    ),
]
BaseUrl = Annotated[str | None, Option("A compatible server for the agent's adapter.", "URL")]
_MAX_COST = Option(
    "Stop before spending more than this many US dollars in total; the run can be resumed.", "USD", dollars
)
MaxCost = Annotated[Decimal | None, _MAX_COST]
Judges = Annotated[
    Sequence[str], Option("Agents that decide, by majority, when text alone cannot tell.", "NAME")
]
Reader = Annotated[
    str | None,
    Option(
        "An agent that copies out what a reply answers, without knowing the right answer, when text alone cannot tell; "
        "self is the agent's own model, without its memory.",
        "NAME",
    ),
]
Controls = Annotated[
    Sequence[str],
    Option(
        "Ask the questions again under another condition, once the run has ended, to tell memory from the model around "
        "it: blind (alone), evidence (with all that was told, in one message), near (without filler); blind,evidence "
        "is both.",
        "NAME",
        parse_controls,
    ),
]
Ladder = Annotated[
    bool,
    Option(
        "Ask missed questions again, each up to four times with more and more help, to tell what was never stored from "
        "what was not found and what was not used."
    ),
]
Connections = Annotated[
    int,
    Option(
        "Concurrent calls to one provider at most: of runs, isolated examples and forked questions.",
        "N",
        least=1,
        flags=("--max-connections",),
    ),
]
Repeats = Annotated[
    int,
    Option(
        "Number of runs, with this seed and the ones after it; --max-cost covers them all.",
        "R",
        least=1,
        most=1000,
    ),
]
Again = Annotated[
    int,
    Option(
        "Run every seed this many times, to see how far the agent moves by itself (test-retest); no reply comes from "
        "reports/answers.sqlite then.",
        "R",
        least=1,
        most=100,
    ),
]

Gateway = Annotated[
    bool,
    Option(
        "Have the agent's own calls to its providers go through an endpoint on this machine: it sees what they cost, "
        "keeps to --max-cost, and keeps the providers' keys from the agent. Needs the extra gateway."
    ),
]
Upstream = Annotated[
    Sequence[str],
    Option(
        "Where the gateway forwards to: a URL, or PROVIDER=URL if that provider's prices apply there; by default "
        "OPENAI_BASE_URL and ANTHROPIC_BASE_URL, or the vendors.",
        "URL",
    ),
]

Notify = Annotated[
    str | None,
    Option(
        "Run this command when it has ended, with LTM_BENCH_EXIT_CODE and LTM_BENCH_FOLDER in its environment. On a "
        "terminal, the bell rings after 30 seconds or more.",
        "COMMAND",
    ),
]


Otel = Annotated[
    str | None,
    Option(
        "Send it as OpenTelemetry spans to this collector (OTLP over HTTP), with the headers of "
        "OTEL_EXPORTER_OTLP_HEADERS.",
        "ENDPOINT",
    ),
]


@dataclass(frozen=True)
class Request:
    """What is run."""

    agent: Annotated[Any, _AGENT] = "vector_memory"
    span: Span = None
    _: KW_ONLY
    suite: Suite = "standard"
    data: Annotated[
        str | None,
        Option(
            "The file or folder of the suite's public set (see datasets list); for the suite swim, the folder of your "
            "documents, with their tasks in its tasks.json.",
            "PATH",
        ),
    ] = None
    scenarios: Scenarios = ()
    examples: Annotated[
        int | None,
        Option(
            "Examples per scenario, instead of the suite's; for a public set, the total number of questions.",
            "N",
            least=1,
        ),
    ] = None
    seed: Seed = 0
    isolated: Annotated[bool, Option("No filler: every example alone, with a fresh agent.")] = False
    filler: Annotated[
        str,
        Option(
            "scripted (the agent observes filler; if it cannot, it is asked) or live (it is asked); triviaqa:FILE "
            "takes the quiz questions from a file, and live,triviaqa:FILE does both.",
            "KIND",
        ),
    ] = "scripted"
    questions: Annotated[
        str | None,
        Option(
            "in-line (questions are part of the conversation), forked (each is asked beside it, all at once) or alone "
            "(public sets: each is put to a new agent that is told the history again); default: in-line, but forked "
            "for the histories of a public set, or alone if the agent cannot fork.",
            "WHERE",
        ),
    ] = None
    acknowledge: Annotated[
        str,
        Option(
            "Who replies to needles: live (the agent) or scripted (a script; the agent observes them).", "WHO"
        ),
    ] = "live"
    quick: Annotated[
        bool,
        Option("Forked questions, scripted acknowledgements, scripted filler: minutes instead of hours."),
    ] = False
    pace: Annotated[
        bool,
        Option("Also ask what waits in real time: how long a thing takes to become readable (too_soon)."),
    ] = False
    tokenizer: Tokenizer = DEFAULT
    settings: Settings = None
    parameters: Annotated[
        Mapping[str, Mapping[str, Any]] | None,
        Option(
            "Parameters by scenario, instead of the suite's.",
            "SCENARIO.KEY=VALUE",
            parse_parameters,
            flags=("-P", "--scenario-arg"),
            variable="PARAMETER",
        ),
    ] = None
    base_url: BaseUrl = None


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """How a run is carried out, started or resumed. None of this is part of its identity."""

    max_cost: Annotated[Decimal | float | None, _MAX_COST] = None
    reader: Reader = None
    judges: Judges = ()
    controls: Controls = ()
    ladder: Ladder = False
    timeout: Annotated[
        float | None,
        Option("Seconds to wait for one reply, instead of the agent's own setting.", "SECONDS", seconds),
    ] = None
    max_retries: Annotated[
        int | None, Option("Retries of a failed request, instead of the agent's own setting.", "N", least=0)
    ] = None
    run_timeout: Annotated[
        float | None,
        Option(
            "Stop a run after this many seconds, from its start or its continuation on; it can be resumed. The runs of "
            "a sweep take turns, so allow for all of them; on a cluster, only for those with the same provider.",
            "SECONDS",
            seconds,
        ),
    ] = None
    cache: Annotated[
        bool,
        Option(
            "Keep the provider's answers in reports/answers.sqlite, and answer the same requests from there."
        ),
    ] = False
    gateway: Gateway = False
    upstream: Upstream = ()
    gateway_port: Annotated[
        int,
        Option(
            "The gateway's port, for an agent that has it and LTM_BENCH_GATEWAY_KEY beforehand; by default a free one.",
            "N",
            least=0,
            most=65535,
        ),
    ] = 0
    gateway_env: Annotated[
        Sequence[str],
        # A variable of ours can protect a run more, never less.
        Option(
            "A variable that the agent's program gets although it looks like a key's.", "NAME", variable=None
        ),
    ] = ()
    connections: Connections = 8
    tags: Annotated[
        Mapping[str, str] | None,
        Option("Notes of your own about the run, kept beside its log.", "KEY=VALUE", parse_tags),
    ] = None
    without: Annotated[
        Sequence[str], Option("Go on without this option of the run's start.", "OPTION", variable=None)
    ] = ()
    reports: Annotated[str | os.PathLike[str], Option("The folder that holds the runs.", terminal=False)] = (
        REPORTS
    )
    said: Given = field(default_factory=Given, repr=False, compare=False)
    """Which of these were given: a run that has begun keeps the others as they were."""

    @property
    def calls(self) -> dict[str, Any]:
        """The agent's settings that these override."""
        given = {"timeout": self.timeout, "max_retries": self.max_retries}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """Which folder a new run gets."""

    name: Annotated[
        str | None,
        Option(
            "Name of the folder in reports/; by default, made from the settings. For several runs, a prefix of their "
            "names.",
            "NAME",
        ),
    ] = None
    fresh: Annotated[bool, Option("Start a new run beside one of the same name.")] = False


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What a score must reach, for continuous integration."""

    fail_under: Annotated[
        float | None,
        Option(
            "Exit with code 2 if the score is lower. Every scenario adds at most 1.",
            "SCORE",
            number("a score such as 3.5; every scenario adds at most 1"),
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Option("Exit with code 2 if the score is further below this run's than --max-drop allows.", "RUN"),
    ] = None
    max_drop: Annotated[
        float,
        Option(
            "Largest drop below the baseline, as a share of the highest possible score.",
            "SHARE",
            number("a share from 0 to 1, such as 0.05", lambda share: 0 <= share <= 1),
        ),
    ] = 0.05


@dataclass(frozen=True, kw_only=True)
class Series(Thresholds):
    """What a terminal adds: several runs together, what their score must reach, and who hears that they have ended."""

    repeats: Repeats = 1
    again: Again = 1
    notify: Notify = None
    otel: Otel = None


RUN = (Request, NewRun, Conduct, Series)
"""The options of a run."""

UNKEPT: Mapping[str, str] = {
    **dict.fromkeys(("name", "fresh", "reports"), "they say where the run lies"),
    "tags": "they stand in environment.json",
    "without": "it says what is kept no longer",
    **dict.fromkeys(
        ("repeats", "again"), "each run is resumed by itself, the same command continues them all"
    ),
    **dict.fromkeys(("fail_under", "baseline", "max_drop"), "they judge a command; its hint repeats them"),
    **dict.fromkeys(("notify", "otel"), "they hear of the end of one command"),
}
"""Why whoever resumes a run says these again; what is run is in its log, all else in `asked.json`."""
