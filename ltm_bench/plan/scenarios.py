"""From a suite's rows to scenarios: each is looked up once, with the hash of its content."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltm_bench.core.errors import (
    ConfigError,
    LtmBenchError,
    ManifestDiffers,
    PluginError,
    check_known,
    nearest,
)
from ltm_bench.core.seeds import Seed
from ltm_bench.log.manifest import Manifest, ScenarioEntry
from ltm_bench.plan.suites import Suite, read_suite, suites
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import spell_span
from ltm_bench.plugins import files as plugins
from ltm_bench.plugins.catalogue import Catalogue
from ltm_bench.plugins.scenarios import scenario as scenario_named
from ltm_bench.script.scenario import Scenario

if TYPE_CHECKING:
    from ltm_bench.datasets.goodai import suite as goodai
    from ltm_bench.datasets.swim.arranging import Own

GOODAI = "goodai:"
"""The prefix of suites that are a folder of GoodAI's definitions."""


class About(NamedTuple):
    """A scenario's description in results."""

    summary: str
    skills: Sequence[str]


class Hashed(NamedTuple):
    """A scenario with its hash."""

    scenario: Scenario
    hash: str
    """Hash of its file's content."""


class Scenarios:
    """The scenarios of one suite; each is looked up once."""

    def __init__(self, suite: str, catalogue: Catalogue | None = None) -> None:
        self._suite = suite
        self._catalogue = catalogue or Catalogue.open()
        self._found: dict[str, Hashed] = {}

    def find(self, name: str, row: str | None = None) -> Hashed:
        """Return a scenario, under the name of its row in the suite if the row has its own.

        Raises ConfigError, with the nearest name, if it is unknown.
        """
        if name not in self._found:
            self._found[name] = self._look_up(name)
        found = self._found[name]
        if row in (None, found.scenario.name):
            return found
        return found._replace(scenario=replace(found.scenario, name=str(row)))

    def hash(self, entry: ScenarioEntry) -> str:
        """Return the hash that the scenario of a manifest's entry has today, or the entry's if its runs go on.

        Executes nothing.

        Raises PluginError if there is none, or if the entry names a file: logs are untrusted, and choose no path.
        """
        name = entry.scenario or entry.name
        if self._suite.startswith(GOODAI):
            return self.find(name).hash
        if not plugins.may_read(name):
            raise PluginError(f"{name}: a log names this file, so it is not read; put it into ./scenarios")
        return self._catalogue.hash(name, was=entry.hash)

    def of(self, entry: ScenarioEntry) -> Hashed:
        """Return the scenario of a manifest's entry, under the name of its row.

        Raises ManifestDiffers, before anything is executed, if its file is not the one that was run.
        """
        if self.hash(entry) != entry.hash:
            raise ManifestDiffers(f"the file of the scenario {entry.name} has changed")
        found = self.find(entry.scenario or entry.name, entry.name)
        if found.hash == entry.hash:
            return found
        path = self._catalogue.find("scenarios", entry.scenario or entry.name)
        former = dict((plugins.formerly(path, entry.hash) or {}).get("parameters", {}))
        build = partial(found.scenario.build, **former)
        return Hashed(replace(found.scenario, build=build), entry.hash)

    def about(self, entry: ScenarioEntry) -> About:
        """Describe the scenario of a manifest's entry; if its file has changed, without executing it."""
        try:
            scenario = self.of(entry).scenario
        except ManifestDiffers:
            path = self._catalogue.find("scenarios", entry.scenario or entry.name)
            return About(plugins.summary(path), plugins.skills(path))
        return About(scenario.summary, scenario.skills)

    def _look_up(self, name: str) -> Hashed:
        if self._suite.startswith(GOODAI):
            known = _definitions(self._suite.removeprefix(GOODAI))
            check_known(f"{self._suite} has no scenario {name!r}", name, known)
            return Hashed(known[name].scenario, known[name].hash)
        return Hashed(self._catalogue.scenario(name), self._catalogue.hash(name))


@cache
def _definitions(folder: str) -> Mapping[str, goodai.Portion]:
    from ltm_bench.datasets.goodai import suite as goodai

    def complain(line: str) -> None:
        warnings.warn(f"skipped: {line}", stacklevel=2)

    if not Path(folder).is_dir():
        raise ConfigError(f"--suite {GOODAI}{folder}: there is no such folder")
    found = goodai.recipes(Path(folder), complain)
    if examples := goodai.plays(Path(folder)):
        # Their only scenario without a script: ours is played instead.
        ours = plugins.find("scenarios", "restaurant")
        found["restaurant"] = goodai.Portion(
            scenario_named("restaurant"), examples, plugins.content_hash(ours)
        )
    return found


def _span_of(folder: str) -> dict[str, Any]:
    """Return the span that definitions were made for, as a suite's setting; empty if they name none."""
    from ltm_bench.datasets.goodai import suite as goodai

    spans = [spell_span(tokens) for tokens in goodai.spans(Path(folder))]
    if len(spans) > 1:
        warnings.warn(
            f"{GOODAI}{folder} holds definitions for spans of {', '.join(spans)}; name the folder of one of them, "
            "or choose one with --span",
            stacklevel=2,
        )
    return {"span": spans[0]} if len(spans) == 1 else {}


def find_suite(name: str, *, data: str | None = None, most: int | None = None, seed: Seed = 0) -> Suite:
    """Return a suite by name. Raises ConfigError with the nearest name.

    Args:
        name: The suite's name.
        data: For suites of public sets, their file; None for where `datasets fetch` puts it.
        most: For those, the number of questions; None for all.
        seed: For those, selects the questions.
    """
    if name.startswith(GOODAI):
        theirs = _definitions(name.removeprefix(GOODAI))
        return Suite(
            about="GoodAI's definitions, all started at once as there",
            stagger=0.0,
            **_span_of(name.removeprefix(GOODAI)),
            scenarios={key: {"examples": recipe.examples} for key, recipe in theirs.items()},
        )
    known = suites(config_folders())
    if name not in known:
        from ltm_bench.plan.dialogues import dialogue_suite, dialogue_suites

        if (public := dialogue_suite(name, data, most, seed)) is not None:
            return public
        near = nearest(name, [*known, *dialogue_suites()])
        raise ConfigError(f"unknown suite {name!r}{near} (known: {', '.join(known)}; see also datasets list)")
    return read_suite(known[name])


def abouts(manifest: Manifest) -> dict[str, About]:
    """Describe a run's scenarios; those whose files are gone are left out."""
    scenarios = Scenarios(manifest.suite.name)
    found = {}
    for entry in manifest.suite.scenarios:
        with suppress(LtmBenchError):
            found[entry.name] = scenarios.about(entry)
    return found


def filled(scenario: Scenario, parameters: Mapping[str, Any], span: int) -> dict[str, Any]:
    """Fill in parameters that only a run can know, if the scenario has them and the suite does not set them.

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
        from ltm_bench.datasets import swim

        try:
            tasks = swim.read_tasks(Path(named["tasks"]))
        except ValueError as error:
            raise ConfigError(f"scenario {scenario.name}: {error}") from error
        filled.setdefault("unvalidated", swim.unvalidated(tasks))
    return filled


def own_tasks(parameters: Mapping[str, Any], span: int) -> Own | None:
    """Return what a row asks about a user's own documents, if it names any. Raises ConfigError if no task fits."""
    if not (parameters.get("data") and parameters.get("tasks")):
        return None
    from ltm_bench.datasets.swim.arranging import own

    try:
        return own(parameters, span)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _digest(scenario: str, places: Sequence[Path]) -> str:
    """Return the first 16 hex digits of the SHA-256 of files, and of all files in folders, names included."""
    from ltm_bench.datasets.dialogue import content_hash

    try:
        return content_hash(*places)[:16]
    except OSError as error:
        what = f"{error.filename or ', '.join(map(str, places))}: {error.strerror or error}"
        raise ConfigError(f"scenario {scenario}: {what}") from error
