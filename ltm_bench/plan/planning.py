"""From a request to a plan: every name is resolved once, into a manifest, its examples and an agent factory."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import (
    ConfigError,
    LtmBenchError,
    ManifestDiffers,
    PluginError,
    SpanTooSmall,
    check_known,
)
from ltm_bench.core.keys import key_in
from ltm_bench.core.messages import Ask, Line
from ltm_bench.core.seeds import Seed, checked_seed
from ltm_bench.core.tokens import Counter, counter
from ltm_bench.filler import filler
from ltm_bench.log.asked import AskedFor
from ltm_bench.log.controls import parse_controls
from ltm_bench.log.differences import differences
from ltm_bench.log.manifest import (
    ALONE,
    BENCH_VERSION,
    FORMAT,
    IMPORTED,
    MOST_EXAMPLES,
    AgentEntry,
    FillerEntry,
    Manifest,
    Questions,
    ScenarioEntry,
    SuiteEntry,
)
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.agents import AgentSource, Resolved, named, resolve_agent, source_of
from ltm_bench.plan.hiding import LEAST_SPAN, hidden
from ltm_bench.plan.modes import check_lines, check_mode, lacks, mode_of
from ltm_bench.plan.naming import run_name
from ltm_bench.plan.request import Request
from ltm_bench.plan.scenarios import About, Scenarios, abouts, filled, find_suite, own_tasks
from ltm_bench.plan.suites import Suite
from ltm_bench.plan.values import parse_span, spell_span
from ltm_bench.plugins import files as plugins
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.plugins.matchers import versions
from ltm_bench.plugins.targets import UNKNOWN, target_of
from ltm_bench.plugins.typed import annotations_of, mistyped
from ltm_bench.schedule.fitting import Rehearsals, load_of, rehearse_all
from ltm_bench.script.clashes import spent
from ltm_bench.script.rehearsal import Rehearsed, rehearse
from ltm_bench.script.scenario import Example

_SHIPPED = "shipped"
"""The filler that needs no file."""


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs except its folder."""

    manifest: Manifest
    examples: Sequence[Example]
    counter: Counter
    bank: filler.Bank
    agents: AgentSource
    """Makes the agent of each conversation."""
    about: Mapping[str, About]
    """Descriptions of the scenarios."""
    rehearsals: Rehearsals | None = None
    """Rehearsals of all examples, if they were rehearsed for one conversation."""
    name: str = ""
    """The run's default name; empty for the plan of an existing run."""
    notes: Sequence[str] = ()
    """Single lines that a person should read before it begins."""
    controls: Sequence[str] = ()
    """The controls that its suite asks once it has ended."""
    asked: AskedFor | None = None
    """How it was asked to be carried out, to be kept in its folder."""


def make_plan(request: Request, calls: Mapping[str, Any] | None = None) -> Plan:
    """Resolve a request.

    Args:
        request: What is run.
        calls: Settings of the agent's calls, which override its own and are not recorded.

    Raises:
        CannotCombine: Its parts can be used, but not together.
        ConfigError: One of them cannot be used.
    """
    request = replace(request, seed=checked_seed(request.seed), agent=named(request.agent))
    check_keys({"--agent": request.agent, "--suite": request.suite, "--filler": request.filler})
    suite = find_suite(request.suite, data=request.data, most=request.examples, seed=request.seed)
    if request.data is not None and not suite.public:
        request = _about_own(request, request.data, suite)
    span = parse_span(suite.span if request.span is None else request.span)
    catalogue = Catalogue.open()
    scenarios = Scenarios(request.suite, catalogue)
    chosen = list(dict.fromkeys(request.scenarios)) or suite.fitting(span, pace=request.pace)
    if not chosen:
        raise SpanTooSmall(
            f"--span {spell_span(span)}: no scenario of the suite {request.suite} fits; choose a larger one"
        )
    for name in request.parameters or ():
        check_known(f"-P {name}.…: {name} is not one of the run's scenarios", name, chosen)
    filled_by, source = _parse_filler(request.filler)
    bank = read_bank(source)
    agent = resolve_agent(request.agent, request.settings, request.base_url, calls=calls, catalogue=catalogue)
    sample = agent.source.sample
    observed = suite.public and sample.observes and not sample.writes_in_reply
    each = _asked(suite, sample)
    alone = (request.questions or each) == ALONE and not request.quick
    if alone:
        suite = suite.alone()
    mode = mode_of(request.questions or each, request.acknowledge, quick=request.quick, filler=filled_by)
    mode = mode._replace(acknowledge="scripted") if observed else mode
    isolated = request.isolated or suite.isolated
    _check_several(agent, several=isolated)
    filled_by = _filler_mode(filled_by, agent.entry, suite, isolated=isolated)
    entries = [_entry(name, suite, scenarios, request, span) for name in chosen]
    left_out = _unplayable(entries, suite, scenarios, request, agent)
    manifest = Manifest(
        format=FORMAT,
        version=version("ltm-bench"),
        bench_version=BENCH_VERSION,
        seed=request.seed,
        span=span,
        tokenizer=request.tokenizer,
        suite=SuiteEntry(
            name=request.suite,
            start=suite.start,
            stagger=suite.stagger,
            opening=suite.opening,
            isolated=isolated,
            decoys=_decoys(suite, span, isolated=isolated),
            left_out=left_out or None,
            scenarios=[entry for entry in entries if entry.name not in left_out],
        ),
        agent=agent.entry,
        filler=FillerEntry(source=source, digest=bank.digest, mode=filled_by, max_tokens=filler.MAX_TOKENS),
        questions=mode.questions,
        acknowledge=mode.acknowledge,
        scorers=versions(),
    )
    check_mode(mode, agent.entry.name, sample, public=each != "in-line")
    check_keys(
        {"opening": suite.opening}
        | {f"-P {each.name}.…": each.parameters for each in manifest.suite.scenarios}
    )
    filled_usually = _filler_mode("scripted", agent.entry, suite, isolated=suite.isolated)
    acknowledged = "scripted" if observed else Request.acknowledge
    usual = (Request.tokenizer, suite.isolated, _SHIPPED, filled_usually, each, acknowledged)
    count = counter(request.tokenizer)
    plan = Plan(
        manifest,
        hidden(_examples(manifest, scenarios), manifest, count),
        count,
        bank,
        agent.source,
        _abouts(manifest, scenarios),
        name=run_name(manifest, suite, usual, agent.usual),
        notes=(*_notes(request, suite, span, each), *_unasked(manifest)),
        controls=parse_controls(suite.controls),
    )
    demand = partial(check_lines, mode=mode, name=agent.entry.name, agent=sample, pace=request.pace)
    rehearsals, longest = _rehearsed(plan, demand)
    # Isolated examples rehearse again, each when its turn comes: all of them at once may be large.
    if manifest.suite.isolated:
        return replace(plan, notes=(*plan.notes, *manifest.unfilled(longest)))
    return replace(plan, rehearsals=rehearsals, notes=(*plan.notes, *_spent(plan), *_pauses(rehearsals)))


def reseeded(plan: Plan, seed: Seed) -> Plan:
    """Return the plan of one conversation with another seed. Raises SpanTooSmall or ConfigError as planning does."""
    manifest = plan.manifest.model_copy(update={"seed": seed})
    examples = [replace(each, seed=seed, around=None) for each in plan.examples]
    examples = [*hidden(examples, manifest, plan.counter)]
    changed = replace(plan, manifest=manifest, examples=examples)
    return replace(changed, rehearsals=_rehearsed(changed)[0])


def _decoys(suite: Suite, span: int, *, isolated: bool) -> bool | None:
    """Return whether needles are hidden; None if not, so that the manifests of other runs stay what they were."""
    return (suite.decoys and not isolated and span >= LEAST_SPAN) or None


def _unplayable(
    entries: Sequence[ScenarioEntry],
    suite: Suite,
    scenarios: Scenarios,
    request: Request,
    agent: Resolved,
) -> dict[str, str]:
    """Return the rows of a suite that an agent cannot play, and why; none of those that were asked for by name.

    Also none if it can play none: that is an error, which planning raises for the first of them.
    """
    sample = agent.source.sample
    if request.scenarios or suite.public or (sample.can_reopen and sample.answers_early):
        return {}
    found = {}
    for entry in entries:
        example = Example(scenarios.of(entry).scenario, 0, request.seed, entry.parameters)
        lines = [step.line for step in rehearsal(example, counter(request.tokenizer))]
        if why := lacks(lines, agent.entry.name, sample):
            found[entry.name] = why
    return found if len(found) < len(entries) else {}


def _spent(plan: Plan) -> Iterator[str]:
    """Yield a note on each deck that runs out where nothing says that earlier examples no longer count."""
    last = {each.scenario.name: each for each in plan.examples if each.scenario.forget is None}
    for name, example in last.items():
        for deck, first in spent(example, plan.counter).items():
            yield f"{name}: the deck {deck!r} runs out, so its items come back from example {first} on."


def _pauses(rehearsals: Rehearsals) -> Iterator[str]:
    """Yield a note on how long the run waits in real time, if it does."""
    lines = [step.line for steps in rehearsals.values() for step in steps]
    pauses = [each.after or timedelta() for each in lines if isinstance(each, Ask) and not each.settle]
    if pauses:
        seconds = sum(pauses, timedelta()).total_seconds()
        yield f"Before {len(pauses)} questions it waits in real time, {seconds:,.0f} seconds in all."


def check_keys(given: Mapping[str, object]) -> None:
    """Raise ConfigError if anything that would be logged for good holds a key."""
    for option, value in given.items():
        if key_in(value) is not None:
            raise ConfigError(
                f"{option} holds what looks like a key (not shown here), which would be logged; leave it out"
            )


def _check_several(agent: Resolved, *, several: bool) -> None:
    """Raise ConfigError if several conversations each need an agent, and there is but one."""
    if several and agent.source.single:
        raise ConfigError(
            f"{agent.entry.name} is one agent, for one conversation, and every example alone needs its own; pass its "
            "class, or a function that makes it"
        )


def _asked(suite: Suite, sample: Agent) -> Questions:
    """Return where questions are asked by default; about histories of public sets, as the published programs do."""
    if not (suite.public and suite.isolated):
        return "in-line"
    return "forked" if sample.forks != "no" else "alone"


def _filler_mode(asked: str, agent: AgentEntry, suite: Suite, *, isolated: bool) -> str:
    """Return who answers filler: an agent that does not observe would never receive what it is not asked to answer.

    Isolated examples have none but the opening.
    """
    return asked if agent.observes or (isolated and suite.opening is None) else "live"


def _unasked(manifest: Manifest) -> Sequence[str]:
    """Return a note on each row that the agent cannot play, and on each task of a user's own that is not asked."""
    left_out = [f"{row} is left out: {why}." for row, why in (manifest.suite.left_out or {}).items()]
    kept = [own_tasks(entry.parameters, manifest.span) for entry in manifest.suite.scenarios]
    dropped = {task: why for own in kept if own for task, why in own.kept.dropped.items()}
    return [*left_out, *(f"task {task} is left out: {why}" for task, why in dropped.items())]


def _notes(request: Request, suite: Suite, span: int, usual: Questions) -> Iterator[str]:
    """Yield notes on a plan: how questions are asked, scenarios left out, a span that differs from the suite's.

    `usual` says how the suite's questions are asked by default.
    """
    if usual != "in-line" and request.questions == "in-line":
        yield (
            f"{request.agent} hears the questions about a history in-line, one after the other; the set's program "
            "asks each alone."
        )
    elif usual == ALONE and not request.questions:
        yield (
            f"{request.agent} cannot fork, so each question is put to a new agent that is told the history again: "
            "what is foreseen below counts every telling. --questions in-line tells a history once, and asks one "
            "question after the other."
        )
    if not request.scenarios:
        chosen = suite.fitting(span, pace=request.pace)
        for row in suite.scenarios:
            if row in chosen:
                continue
            if row in suite.fitting(span, pace=True):
                yield f"{row} is left out: it waits in real time, which --pace allows."
            else:
                least = spell_span(suite.least_span(row))
                yield f"{row} is left out: the suite {request.suite} includes it only at spans of {least} and more."
    if "span" in suite.model_fields_set and span != parse_span(suite.span):
        yield f"The suite {request.suite} was made for a span of {suite.span}; this run has {spell_span(span)}."


def _about_own(request: Request, data: str, suite: Suite) -> Request:
    """Return a request whose scenarios read the documents in a folder, and the tasks in `tasks.json` there."""
    # By the suite, not by what was asked for: a mistyped scenario would be blamed on --data.
    if {suite.plays(row) for row in suite.scenarios} != {"swim"}:
        raise ConfigError(
            f"--data {data}: the suite {request.suite} is not a public set (see datasets list); if a "
            "scenario of it reads data, say so with -P SCENARIO.data=PATH"
        )
    tasks = Path(data, "tasks.json")
    if not tasks.is_file():
        raise ConfigError(
            f"--data {data}: there is no tasks.json in it; `ltm-bench datasets swim generate {shlex.quote(data)} "
            f"--agent MODEL -o {shlex.quote(str(tasks))}` writes one"
        )
    own, given = {"data": data, "tasks": str(tasks)}, request.parameters or {}
    asked = {row: own | dict(given.get(row, {})) for row in request.scenarios or suite.scenarios}
    return replace(request, parameters={**given, **asked})


def _entry(name: str, suite: Suite, scenarios: Scenarios, request: Request, span: int) -> ScenarioEntry:
    found = scenarios.find(suite.plays(name))
    parameters = suite.parameters(name) | dict((request.parameters or {}).get(name, {}))
    examples = parameters.pop("examples", None)
    if examples is not None and (not isinstance(examples, int) or examples < 1):
        raise ConfigError(f"-P {name}.examples={examples}: must be a whole number of at least 1")
    types = annotations_of(found.scenario.build)
    for key, value in parameters.items():
        if problem := mistyped("-P", f"{name}.{key}", value, types.get(key, Any)):
            raise ConfigError(f"scenario {found.scenario.name}: {problem}")
    wanted = None if suite.public else request.examples
    own = own_tasks(parameters, span)
    count = examples or wanted or (own.examples if own else suite.count(name))
    if count > MOST_EXAMPLES:
        raise ConfigError(f"{name}: {count} examples are more than a run can have ({MOST_EXAMPLES:,})")
    return ScenarioEntry(
        name=name,
        scenario=found.scenario.name if found.scenario.name != name else None,
        version=found.scenario.version,
        hash=found.hash,
        examples=count,
        parameters=filled(found.scenario, parameters, span),
    )


def read_bank(source: str) -> filler.Bank:
    """Return a filler bank by its name in the manifest: `shipped`, or `triviaqa:PATH`. Raises ConfigError."""
    if source == _SHIPPED:
        return filler.shipped()
    kind, _, path = source.partition(":")
    if kind == "triviaqa" and path:
        return filler.triviaqa(Path(path))
    raise ConfigError(f"--filler {source}: must be scripted, live, triviaqa:PATH, or live,triviaqa:PATH")


def _parse_filler(text: str) -> tuple[str, str]:
    """Parse `--filler`: who answers, and where the trivia comes from."""
    mode, source = "scripted", _SHIPPED
    for part in text.split(","):
        if part in ("scripted", "live"):
            mode = part
        else:
            source = part
    return mode, source


def _examples(manifest: Manifest, scenarios: Scenarios) -> list[Example]:
    suite = manifest.suite
    return [
        Example(scenarios.of(entry).scenario, index, manifest.seed, entry.parameters, suite.isolated)
        for entry in suite.scenarios
        for index in range(entry.examples)
    ]


def _abouts(manifest: Manifest, scenarios: Scenarios) -> dict[str, About]:
    found = {entry.name: scenarios.of(entry).scenario for entry in manifest.suite.scenarios}
    return {name: About(scenario.summary, scenario.skills) for name, scenario in found.items()}


Demand = Callable[[str, list[Line]], None]
"""Takes a scenario's name and the lines of one of its scripts, and raises if this run cannot play them."""


def _rehearsed(plan: Plan, demand: Demand = lambda *_: None) -> tuple[Rehearsals, int]:
    """Rehearse all examples; also return the tokens of the longest of isolated ones, which are not kept.

    Raises PluginError if a script fails or asks nothing, and whatever `demand` raises.
    """
    forked = plan.manifest.questions == "forked"
    if plan.manifest.suite.isolated:  # one by one: all of them at once may be large
        longest = 0
        for example in plan.examples:
            _check_asks(example, steps := rehearsal(example, plan.counter, forked=forked), demand)
            longest = max(longest, load_of(steps))
        return {}, longest
    span = plan.manifest.span
    try:
        rehearsals = rehearse_all(plan.examples, plan.counter, span=span, forked=forked)
    except LtmBenchError:
        raise
    except Exception:  # a script can raise anything: find the example, and blame its file
        for example in plan.examples:
            rehearsal(example, plan.counter, forked=forked)
        raise
    for example in plan.examples:
        _check_asks(example, rehearsals[example.id], demand)
    return rehearsals, 0


def _check_asks(example: Example, steps: Sequence[Rehearsed], demand: Demand) -> None:
    lines = [step.line for step in steps]
    demand(example.scenario.name, lines)
    if not any(isinstance(line, Ask) for line in lines):
        raise PluginError(
            f"{_file_of(example.scenario.name)}: the script of {example.id} asks nothing, so there is nothing to "
            "score; make it yield an Ask"
        )


def rehearsal(example: Example, count: Counter, *, forked: bool = False) -> list[Rehearsed]:
    """Rehearse one example. Raises PluginError, with file and line, if its script fails."""
    try:
        return rehearse(example, count, forked=forked)
    except LtmBenchError:
        raise
    except Exception as error:  # a script can raise anything
        blamed = plugins.blame(error)
        if blamed is None:  # the script works, but yields something invalid
            blamed = PluginError(
                f"{_file_of(example.scenario.name)}: {type(error).__name__}: {error}; "
                "a script yields Tell, Ask or Chat, and an Ask expects a matcher"
            )
        raise blamed from error


def _file_of(scenario: str) -> str:
    """Return the file of a scenario, for an error about it."""
    try:
        return str(plugins.find("scenarios", scenario))
    except PluginError:
        return f"scenario {scenario}"


def plan_of(run: Path, calls: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan of an existing run. Raises ManifestDiffers if its files have changed."""
    manifest = read_manifest(run)
    if manifest.asks is not None:
        whole = plan_of(run.parents[1], calls)
        return replace(whole, manifest=whole.manifest.again(manifest.asks), rehearsals={})
    if manifest.agent.adapter == IMPORTED:
        raise ConfigError(f"{run} was imported: its agent cannot be asked again; rescore and report work")
    bank = read_bank(manifest.filler.source)
    catalogue = Catalogue.open()
    scenarios = Scenarios(manifest.suite.name, catalogue)
    suite = manifest.suite.model_copy(
        update={"scenarios": [_today(scenarios, entry) for entry in manifest.suite.scenarios]}
    )
    adapter = catalogue.find("agents", manifest.agent.adapter)
    target = manifest.agent.target and target_of(adapter, manifest.agent.settings)
    if target == UNKNOWN != manifest.agent.target:
        name = manifest.agent.settings.get("target")
        raise ConfigError(f"{run}: {name!r:.200} cannot be imported here: its module is missing")
    today = manifest.model_copy(
        update={
            "suite": suite,
            "agent": manifest.agent.model_copy(
                update={
                    "hash": catalogue.hash(manifest.agent.adapter, "agents", manifest.agent.hash),
                    "target": target,
                }
            ),
            "filler": manifest.filler
            if suite.isolated  # which has none
            else manifest.filler.model_copy(update={"digest": bank.digest}),
        }
    )
    found = differences(manifest.identity(), today.identity())
    if found:
        raise ManifestDiffers(
            f"{run} was started with other files ({'; '.join(found[:4])}) and cannot continue with these; "
            "restore the old ones, or start again with --fresh"
        )
    count = counter(manifest.tokenizer)
    return Plan(
        manifest,
        hidden(_examples(manifest, scenarios), manifest, count),
        count,
        bank,
        source_of(manifest.agent, calls),
        _abouts(manifest, scenarios),
    )


def _today(scenarios: Scenarios, entry: ScenarioEntry) -> ScenarioEntry:
    """Return an entry as a run started today would have it; of a changed file, which is not executed, only the hash."""
    if (today := scenarios.hash(entry)) != entry.hash:
        return entry.model_copy(update={"hash": today})
    found = scenarios.of(entry)
    parameters = {key: value for key, value in entry.parameters.items() if key != "digest"}
    given = filled(found.scenario, parameters, entry.parameters.get("span", 0))
    return entry.model_copy(update={"parameters": entry.parameters | given})


def reference_examples(manifest: Manifest) -> list[Example]:
    """Return a run's examples, for baseline and oracle; empty if they cannot be played as it says them."""
    if manifest.agent.adapter == IMPORTED or manifest.asks is not None:
        return []
    try:
        examples = _examples(manifest, Scenarios(manifest.suite.name))
        return [*hidden(examples, manifest, counter(manifest.tokenizer))]
    except LtmBenchError:
        return []


__all__ = ["Plan", "abouts", "make_plan", "plan_of", "reference_examples", "reseeded"]
