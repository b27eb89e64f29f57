"""From flags to a plan: resolves the suite, the agent and the filler into a manifest and its examples."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import ConfigError, DropInError, LtmBenchError, ManifestDiffers, nearest
from ltm_bench.core.messages import Ask
from ltm_bench.core.tokens import Counter, counter
from ltm_bench.datasets import goodai, swim
from ltm_bench.filler import filler
from ltm_bench.log.manifest import (
    FORMAT,
    MOST_EXAMPLES,
    AgentEntry,
    FillerEntry,
    Manifest,
    ScenarioEntry,
    SuiteEntry,
    differences,
)
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan import config
from ltm_bench.plugins import agents
from ltm_bench.plugins import files as dropins
from ltm_bench.plugins.matchers import built_in
from ltm_bench.schedule import Rehearsals, rehearse_all
from ltm_bench.script.scenario import Example, Scenario, Step, rehearse

REPORTS = Path("reports")
"""Where runs land, in the folder in which the user stands."""


def config_folders() -> list[Path]:
    """Return the folders in which suites and presets are looked for."""
    return [dropins.bundled("configs"), Path("configs")]


@dataclass(frozen=True)
class Plan:
    """Everything that a run needs but the agent and the folder."""

    manifest: Manifest
    examples: Sequence[Example]
    counter: Counter
    bank: filler.Bank
    rehearsals: Rehearsals | None = None
    """Of all examples, where they have been rehearsed for one conversation."""


class About(NamedTuple):
    """What the results say of a scenario beside its figures."""

    summary: str
    skills: Sequence[str]


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line."""

    span: str
    agent: str
    suite: str
    scenarios: Sequence[str]
    examples: int | None
    seed: int
    isolated: bool
    filler: str
    tokenizer: str
    settings: Sequence[str]
    base_url: str | None
    parameters: Sequence[str] = ()
    """Parameters of scenarios, as `SCENARIO.KEY=VALUE`."""


_PYTHON = "python:"
"""What the name of an agent begins with that is a function or a class of a module."""

_GOODAI = "goodai:"
"""What the name of a suite begins with that is a folder of GoodAI's definitions."""


@cache
def _definitions(folder: str) -> Mapping[str, goodai.Recipe]:
    def complain(line: str) -> None:
        warnings.warn(f"skipped: {line}", stacklevel=2)

    if not Path(folder).is_dir():
        raise ConfigError(f"--suite {_GOODAI}{folder}: there is no such folder")
    found = goodai.recipes(Path(folder), complain)
    if examples := goodai.plays(
        Path(folder)
    ):  # the one scenario of theirs that has no script: ours is played
        ours = dropins.find("scenarios", "restaurant")
        found["restaurant"] = goodai.Recipe(
            dropins.scenario("restaurant"), examples, dropins.content_hash(ours)
        )
    return found


def find_scenario(suite: str, name: str) -> tuple[Scenario, str]:
    """Return a scenario that a suite names, and the hash of its content."""
    if suite.startswith(_GOODAI):
        known = _definitions(suite.removeprefix(_GOODAI))
        if name not in known:
            raise ConfigError(
                f"{suite}: no scenario {name!r}{nearest(name, known)} (it has: {', '.join(known)})"
            )
        return known[name].scenario, known[name].hash
    path = dropins.find("scenarios", name)
    return dropins.scenario_at(path), dropins.content_hash(path)


def find_suite(name: str) -> config.Suite:
    """Return a suite by name. Raises ConfigError with the nearest name."""
    if name.startswith(_GOODAI):
        theirs = _definitions(name.removeprefix(_GOODAI))
        return config.Suite(
            about="GoodAI's definitions, all started at once as there",
            stagger=0.0,
            scenarios={key: {"examples": recipe.examples} for key, recipe in theirs.items()},
        )
    known = config.suites(config_folders())
    if name not in known:
        raise ConfigError(f"--suite {name}: there is none{nearest(name, known)} (known: {', '.join(known)})")
    return config.read_suite(known[name])


def fitting(suite: config.Suite, span: int) -> list[str]:
    """Return the scenarios of a suite that are not left out at this span."""
    return [name for name in suite.scenarios if suite.isolated or span >= suite.least_span(name)]


def left_out(wish: Wish) -> list[str]:
    """Return a line for every scenario of the suite that is left out at this span."""
    if wish.scenarios:
        return []
    suite = find_suite(wish.suite)
    chosen = fitting(suite, config.parse_span(wish.span))
    least = {
        name: config.spell_span(suite.least_span(name)) for name in suite.scenarios if name not in chosen
    }
    return [
        f"{name} is left out: the suite {wish.suite} asks it from a span of {span} on."
        for name, span in least.items()
    ]


def agent_entry(name: str, settings: Sequence[str], base_url: str | None) -> AgentEntry:
    """Resolve an agent's name, preset or adapter, and the settings given as key=value."""
    presets = config.presets(config_folders())
    adapters = dropins.catalogue("agents")
    if name.startswith(_PYTHON):
        adapter, values = "function", {"target": name.removeprefix(_PYTHON)}
    elif name in presets and name in adapters and presets[name].adapter != name:
        raise ConfigError(
            f"--agent {name}: both a preset and {adapters[name]} are called so; rename the file, or the preset"
        )
    elif name in presets:
        adapter, values = presets[name].adapter, presets[name].settings
    elif name in adapters:
        adapter, values = name, {}
    else:
        known = [*presets, *adapters]
        raise ConfigError(
            f"--agent {name}: there is none{nearest(name, known)} (known: {', '.join(known)}; "
            f"or put your own into ./agents/{name}.py)"
        )
    for each in settings:
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"-A {each}: write it as key=value")
        values[key.strip()] = config.parse_value(value.strip())
    if base_url is not None:
        values["base_url"] = base_url
    agent = agents.make_agent(adapter, values)
    return AgentEntry(
        name=name,
        adapter=adapter,
        hash=dropins.content_hash(dropins.find("agents", adapter)),
        settings=values,
        free=agent.free,
    )


@dataclass(frozen=True)
class Calls:
    """How calls are made. Not a part of what a run is: it can be resumed with others."""

    timeout: float | None = None
    """Seconds to wait for one reply; None: the agent's own setting."""
    max_retries: int | None = None
    """How often a failed request is sent again; None: the agent's own setting."""
    cache: bool = False
    """Whether answers are kept, and the same requests answered from there."""

    @property
    def settings(self) -> dict[str, Any]:
        """Return what replaces settings of the agent."""
        given = {"timeout": self.timeout, "max_retries": self.max_retries}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def path(self) -> Path | None:
        """Return where answers are kept."""
        return REPORTS / "answers.sqlite" if self.cache else None


PLAIN = Calls()


def agent_maker(entry: AgentEntry, calls: Calls = PLAIN) -> Callable[[], Agent]:
    """Return what makes a fresh agent of this entry."""
    return lambda: agents.make_agent(entry.adapter, {**entry.settings, **calls.settings})


def read_bank(source: str) -> filler.Bank:
    """Return a bank by its name in the manifest: `shipped`, or `triviaqa:PATH`."""
    if source == "shipped":
        return filler.shipped()
    kind, _, path = source.partition(":")
    if kind == "triviaqa" and path:
        return filler.triviaqa(Path(path))
    raise ConfigError(f"--filler {source}: it is scripted, live, triviaqa:PATH, or live,triviaqa:PATH")


def _parse_filler(text: str) -> tuple[str, str]:
    """Read `--filler`: who answers, and where the trivia comes from."""
    mode, source = "scripted", "shipped"
    for part in text.split(","):
        if part in ("scripted", "live"):
            mode = part
        else:
            source = part
    return mode, source


def make_plan(wish: Wish) -> Plan:
    """Resolve everything that was asked for. Raises ConfigError."""
    suite = find_suite(wish.suite)
    span = config.parse_span(wish.span)
    chosen = list(wish.scenarios) or fitting(suite, span)
    if not chosen:
        raise ConfigError(
            f"--span {wish.span}: no scenario of the suite {wish.suite} fits; take a larger one"
        )
    entries = []
    changed = _parameters(wish.parameters)
    for name in dict.fromkeys(chosen):
        known = name in suite.scenarios
        played, digest = find_scenario(wish.suite, suite.plays(name))
        parameters = (suite.parameters(name) if known else {}) | changed.pop(name, {})
        examples = parameters.pop("examples", None)
        if examples is not None and (not isinstance(examples, int) or examples < 1):
            raise ConfigError(f"-P {name}.examples={examples}: it is a whole number from 1")
        count = examples or wish.examples or (suite.count(name) if known else suite.examples)
        if count > MOST_EXAMPLES:
            raise ConfigError(f"{name}: {count} examples are more than a run can have ({MOST_EXAMPLES:,})")
        entries.append(
            ScenarioEntry(
                name=name,
                scenario=played.name if played.name != name else None,
                version=played.version,
                hash=digest,
                examples=count,
                parameters=_filled(played, parameters, span),
            )
        )
    if changed:
        name = next(iter(changed))
        raise ConfigError(f"-P {name}.…: {name} is not among what is asked{nearest(name, chosen)}")
    mode, source = _parse_filler(wish.filler)
    bank = read_bank(source)
    manifest = Manifest(
        format=FORMAT,
        version=version("ltm-bench"),
        seed=wish.seed,
        span=span,
        tokenizer=wish.tokenizer,
        suite=SuiteEntry(
            name=wish.suite,
            start=suite.start,
            stagger=suite.stagger,
            isolated=wish.isolated or suite.isolated,
            scenarios=entries,
        ),
        agent=agent_entry(wish.agent, wish.settings, wish.base_url),
        filler=FillerEntry(source=source, digest=bank.digest, mode=mode, max_tokens=filler.MAX_TOKENS),
        scorers=_scorers(),
    )
    plan = Plan(manifest, _examples(manifest), counter(wish.tokenizer), bank)
    try:
        rehearsals = rehearse_all(
            plan.examples, plan.counter, span=None if manifest.suite.isolated else manifest.span
        )
    except LtmBenchError:
        raise
    except Exception:
        for example in plan.examples:
            rehearsal(example, plan.counter)
        raise
    for example in plan.examples:
        if not any(isinstance(step.line, Ask) for step in rehearsals[example.id]):
            raise DropInError(
                f"{_file_of(example.scenario.name)}: the script of {example.id} asks nothing, so there is nothing to "
                "score; let it yield an Ask"
            )
    # Isolated examples rehearse again, each when its turn comes: all of them at once may be large.
    return plan if manifest.suite.isolated else replace(plan, rehearsals=rehearsals)


def rehearsal(example: Example, count: Counter) -> list[Step]:
    """Rehearse one example. Raises DropInError, with the file's line, where its script fails."""
    try:
        return rehearse(example, count)
    except LtmBenchError:
        raise
    except Exception as error:
        blamed = dropins.blame(error)
        if blamed is None:  # the script is fine, but not what it yields
            blamed = DropInError(
                f"{_file_of(example.scenario.name)}: {type(error).__name__}: {error}; "
                "a script yields Tell, Ask or Chat, and an Ask expects a matcher"
            )
        raise blamed from error


def _file_of(scenario: str) -> str:
    """Return where a scenario is written, for an error about it."""
    try:
        return str(dropins.find("scenarios", scenario))
    except DropInError:
        return f"scenario {scenario}"


def _scorers() -> dict[str, int]:
    """Return the version of every built-in matcher."""
    return {name: kind.version for name, kind in built_in().items()}


def _parameters(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read `-P SCENARIO.KEY=VALUE`."""
    found: dict[str, dict[str, Any]] = {}
    for each in given:
        place, equals, value = each.partition("=")
        name, dot, key = place.strip().rpartition(".")
        if not (equals and dot and name and key):
            raise ConfigError(f"-P {each}: write it as SCENARIO.KEY=VALUE, such as counting_stars.stars=32")
        found.setdefault(name, {})[key] = config.parse_value(value.strip())
    return found


def _filled(scenario: Scenario, parameters: Mapping[str, Any], span: int) -> dict[str, Any]:
    """Add what only a run can know, where a scenario has a parameter for it and the suite is silent.

    That is `span`; for a scenario that reads files of a user's own (`data`, `tasks`), the `digest` of them; and how
    many of those tasks are still `unvalidated`.
    """
    filled = dict(parameters)
    if "span" in scenario.parameters and span:
        filled.setdefault("span", span)
    named = {key: filled.get(key, scenario.parameters.get(key)) for key in ("data", "tasks")}
    places = [Path(place) for place in named.values() if isinstance(place, str) and place]
    if "digest" in scenario.parameters and places:
        filled.setdefault("digest", _digest(scenario.name, places))
    if "unvalidated" in scenario.parameters and isinstance(named["tasks"], str) and named["tasks"]:
        try:
            tasks = swim.read_tasks(Path(named["tasks"]))
        except ValueError as error:
            raise ConfigError(f"scenario {scenario.name}: {error}") from error
        filled.setdefault("unvalidated", swim.unvalidated(tasks))
    return filled


def _digest(scenario: str, places: Sequence[Path]) -> str:
    """Return the first 16 hex digits of the SHA-256 of files, and of all files in folders with their names."""
    digest = hashlib.sha256()
    for place in places:
        paths = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]
        try:
            for path in paths:
                if place.is_dir():
                    digest.update(f"{path.relative_to(place).as_posix()}\0".encode("utf-8", "replace"))
                with path.open("rb") as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
        except OSError as error:
            what = f"{error.filename or place}: {error.strerror or error}"
            raise ConfigError(f"scenario {scenario}: {what}") from error
    return digest.hexdigest()[:16]


def _played(suite: str, entry: ScenarioEntry) -> tuple[Scenario, str]:
    """Return the scenario of an entry under the name of its row, and the hash of its content."""
    found, digest = find_scenario(suite, entry.scenario or entry.name)
    return (found if found.name == entry.name else replace(found, name=entry.name)), digest


def _today(suite: str, entry: ScenarioEntry) -> ScenarioEntry:
    """Return an entry as it would be if the run began today."""
    found, digest = _played(suite, entry)
    parameters = {key: value for key, value in entry.parameters.items() if key != "digest"}
    return entry.model_copy(
        update={
            "version": found.version,
            "hash": digest,
            "parameters": entry.parameters | _filled(found, parameters, entry.parameters.get("span", 0)),
        }
    )


def _examples(manifest: Manifest) -> list[Example]:
    suite = manifest.suite
    return [
        Example(played, index, manifest.seed, entry.parameters, suite.isolated)
        for entry in suite.scenarios
        for played in (_played(suite.name, entry)[0],)
        for index in range(entry.examples)
    ]


def plan_of(run: Path) -> Plan:
    """Return the plan of an existing run. Raises ManifestDiffers if its files have changed since."""
    manifest = read_manifest(run)
    if manifest.agent.adapter == goodai.ADAPTER:
        raise ConfigError(f"{run} was imported: its agent cannot be asked again; rescore and report work")
    bank = read_bank(manifest.filler.source)
    today = manifest.model_copy(
        update={
            "version": version("ltm-bench"),
            "suite": manifest.suite.model_copy(
                update={"scenarios": [_today(manifest.suite.name, e) for e in manifest.suite.scenarios]}
            ),
            "agent": manifest.agent.model_copy(
                update={"hash": dropins.content_hash(dropins.find("agents", manifest.agent.adapter))}
            ),
            "filler": manifest.filler.model_copy(update={"digest": bank.digest}),
        }
    )
    found = differences(manifest.model_dump(mode="json"), today.model_dump(mode="json"))
    if found:
        raise ManifestDiffers(
            f"{run} was started with other files ({'; '.join(found[:4])}): it cannot go on with these; "
            "bring back the old ones, or start anew with --fresh"
        )
    return Plan(manifest, _examples(manifest), counter(manifest.tokenizer), bank)


def abouts(manifest: Manifest) -> dict[str, About]:
    """Return what there is to say of a run's scenarios; one whose file is gone is left out."""
    found = {}
    for entry in manifest.suite.scenarios:
        if not dropins.may_read(entry.scenario or entry.name):
            continue
        try:
            scenario, _ = _played(manifest.suite.name, entry)
        except LtmBenchError:
            continue
        found[entry.name] = About(scenario.summary, scenario.skills)
    return found


def reference_examples(manifest: Manifest) -> list[Example]:
    """Return a run's examples, for floor and ceiling; none if a scenario has changed since."""
    for entry in manifest.suite.scenarios:
        if not dropins.may_read(entry.scenario or entry.name):
            return []
        try:
            if _played(manifest.suite.name, entry)[1] != entry.hash:
                return []
        except LtmBenchError:
            return []
    return _examples(manifest)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def run_folder(manifest: Manifest, name: str | None, *, fresh: bool) -> Path:
    """Return the folder of a run: by its name, or named after what it is; `fresh` takes the first free one."""
    suite = manifest.suite.name
    if suite.startswith(_GOODAI):
        suite = re.sub(r"[^A-Za-z0-9._-]+", "-", f"goodai-{Path(suite.removeprefix(_GOODAI)).resolve().name}")
    parts = [
        suite,
        config.spell_span(manifest.span),
        re.sub(r"[^A-Za-z0-9._-]+", "-", manifest.agent.name).strip("-."),
        f"seed{manifest.seed}",
    ]
    if manifest.suite.isolated and manifest.suite.name != "isolated":
        parts.append("isolated")
    chosen = "-".join(parts) if name is None else name
    if not _NAME.fullmatch(chosen):
        raise ConfigError(f"--name {chosen}: use letters, digits, '.', '_' and '-', at most 100 of them")
    folder = REPORTS / chosen
    beside = 2
    while fresh and folder.exists():
        folder = REPORTS / f"{chosen}-{beside}"
        beside += 1
    return folder


def find_run(name: str | None) -> Path:
    """Return an existing run by name or path; without a name the newest one. Raises ConfigError."""
    if name is not None:
        for folder in (Path(name), REPORTS / name):
            if (folder / "events.jsonl").is_file():
                return folder
        known = [each.name for each in all_runs()]
        raise ConfigError(
            f"no run is called {name!r}{nearest(name, known)} (runs in {REPORTS}/: {', '.join(known) or 'none'})"
        )
    runs = sorted(all_runs(), key=lambda run: (run / "events.jsonl").stat().st_mtime_ns)
    if not runs:
        raise ConfigError(f"there is no run in {REPORTS.resolve()}; start one with `ltm-bench run`")
    return runs[-1]


def all_runs() -> list[Path]:
    """Return all runs in reports/, by name."""
    return sorted(path.parent for path in REPORTS.glob("*/events.jsonl"))
