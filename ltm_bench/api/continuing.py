"""A run goes on as it was asked for when it was begun, but for what is said now, and never less protected unsaid."""

import shlex
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from pydantic import ValidationError

from ltm_bench.adapters.routing import LOOPBACK
from ltm_bench.api.controlling import controls_for
from ltm_bench.api.options import Options
from ltm_bench.core.errors import BudgetReached, ConfigError, check_known
from ltm_bench.core.keys import key_in, scrubbed
from ltm_bench.log.asked import AskedFor, read_asked
from ltm_bench.log.controls import parse_controls
from ltm_bench.log.reader import read_manifest
from ltm_bench.plan.agents import server_of
from ltm_bench.plan.declaring import arguments, spelled
from ltm_bench.plan.folders import REPORTS
from ltm_bench.plan.planning import Plan, check_keys
from ltm_bench.plan.request import UNKEPT, Conduct

if TYPE_CHECKING:
    from ltm_bench.runner.sweep import Job

KEPT = {name: each for name, each in arguments(Conduct).items() if name not in UNKEPT}
"""The options that are kept, by their names in Python."""

SERVER = "server"
"""What `--without` says if a run may go on at another server; the manifest keeps it."""

_WITH = {"gateway": ("upstream", "gateway_port", "gateway_env", "forwards"), "upstream": ("forwards",)}
"""What is left out with an option, since it says nothing without it."""


def continued(options: Options, folder: Path, *, several: bool = False) -> Options:
    """Return options with what they do not say as it was when a run was begun; their budget has its limit.

    Args:
        options: What is said now.
        folder: The run's folder; one without a run changes nothing.
        several: Whether they are for all runs of a sweep or a race.

    Raises:
        ConfigError: The run would be protected less than when it was begun, and they do not say that this is meant.
    """
    kept, passed, budget = _kept(folder, options), set(options.said), options.budget
    if several:  # nobody asked the others for what one of them was asked alone
        alone = KEPT.keys() - {"gateway", "upstream", "max_cost"}
        passed |= {"controls", "ladder"} if kept.together else alone
    taken = kept.model_dump(include=KEPT.keys() - passed, exclude_defaults=True)
    shared, limit = kept.together and not several, taken.get("max_cost")
    if limit is not None:  # a variable can only lower it
        whole = limit + budget.spent
        budget.limit = whole if budget.limit is None else min(whole, budget.limit)
    now, of_all = replace(options, **taken), " for several runs, which the same command continues" * shared
    unlimited = kept.max_cost is not None and budget.limit is None
    # a server of no known provider is kept as one of `None`, and, said alone, is for both protocols: so it comes first
    places = [each.removeprefix("None=") for each in sorted({*kept.forwards.values()})]
    less = {
        f"max-cost {kept.max_cost}{of_all}": unlimited or (shared and limit is not None),
        "gateway": kept.gateway and not now.gateway,
        f"upstream {' --upstream '.join(places)}": kept.forwards.items() - _forwards(now).items(),
    }
    for was, weaker in less.items():
        if weaker:
            raise ConfigError(f"{folder.name} was begun with --{was}: say it, or --without {was.split()[0]}")
    if said := spelled(Conduct, now, options):
        options.notify(f"{folder.name} goes on as it was begun:{said} (--without leaves an option out)")
    return now


def check_server(plan: Plan, folder: Path, options: Options) -> None:
    """Raise ConfigError if a run goes on at another server than it was begun at, and options do not say so.

    A server on this machine may have been started again at another port, if nothing listens at the old one.
    """
    begun = read_manifest(folder).agent.server if (folder / "events.jsonl").exists() else None
    # OPENAI_BASE_URL may have changed since: half a run would come from each of two servers.
    now = server_of(plan.agents.sample)
    if begun in (None, now) or now is None or SERVER in options.without:
        return
    old, new = urlsplit(begun), urlsplit(now)
    if {old.hostname, new.hostname} <= LOOPBACK and old.path == new.path and not _listens(old):
        return
    raise ConfigError(
        f"{folder.name} was begun at {begun}, and its agent is at {now} now: set the server as it was, or say "
        f"--without {SERVER}"
    )


def _listens(address: SplitResult) -> bool:
    with suppress(OSError), socket.create_connection((address.hostname, address.port or 80), timeout=1):
        return True
    return False


def _kept(folder: Path, options: Options) -> AskedFor:
    """Return what was asked of a run that has begun, but for what is left out now. Raises ConfigError."""
    begun = read_asked(folder) if (folder / "events.jsonl").exists() else None
    left = dict(begun or AskedFor())
    names = {each.flag.removeprefix("--"): name for name, each in KEPT.items()} | {SERVER: SERVER}
    for each in options.without:
        check_known(f"--without {each}: not kept", each, names)
        gone = (names[each], *_WITH.get(each, ()))
        left = {name: value for name, value in left.items() if name not in gone}
    return AskedFor(**left)


def _forwards(options: Options) -> dict[str, str]:
    if not options.gateway:
        return {}
    from ltm_bench.adapters.gateway.upstreams import upstreams

    found = upstreams(options.upstream)
    return {name: f"{each.provider}={scrubbed(each.url)}" for name, each in found.items()}


def asking(plan: Plan, folder: Path, options: Options, *, together: bool = False) -> Plan:
    """Return a run's plan with what is asked of it, for whoever continues it; its agents are called as options say.

    Controls and ladder that were asked for before are asked for still.

    Args:
        plan: The plan.
        folder: The run's folder.
        options: How it is carried out.
        together: Whether it is one of several runs, for which the limit is.
    """
    named: dict[str, object] = {"--name": folder.name, "--tag": options.tags}
    check_keys({**named, "--reader": options.reader, "--judge": options.judges})
    before, limit = _kept(folder, options), options.budget.limit
    given = {name: getattr(options, name) for name in KEPT} | {
        "max_cost": None if limit is None else max(limit - options.budget.spent, Decimal()),
        "controls": parse_controls([*controls_for(plan, options), *before.controls]),
        "ladder": options.ladder or before.ladder,
        "upstream": [each for each in options.upstream if key_in(each) is None],
    }
    try:
        asked = AskedFor(**given, forwards=_forwards(options), together=together)
    except ValidationError as error:
        raise ConfigError(f"an option cannot be kept, since it cannot be used: {error}") from error
    agents = plan.agents.calling(options.calls) if options.calls else plan.agents
    return replace(plan, asked=asked, agents=agents)


def resuming(folder: Path, options: Options, failure: BaseException | None = None) -> str:
    """Return the command that continues a run; if its limit stopped it, with another one. No key is in it."""
    said, limit = options.beside, (read_asked(folder) or AskedFor()).max_cost
    if isinstance(failure, BudgetReached) and limit is not None:
        least = max(limit, options.budget.spent)  # which a limit that is said later can be below
        # A larger limit does not help where a price is unknown.
        unknown = options.budget.unknown or "cannot be guaranteed" in str(failure)
        said += " --without max-cost" if unknown else f" --max-cost {least * 2 or 1:f}"
    return f"ltm-bench resume {shlex.quote(folder.name if folder.parent == REPORTS else str(folder))}{said}"


def together(jobs: "Sequence[Job]", options: Options) -> "tuple[list[Job], Options]":
    """Return the runs of a sweep or a race with what is asked of them, and the options for all. Raises ConfigError."""
    for job in jobs:
        options = continued(options, job.folder, several=True)
    plans = [asking(each.plan, each.folder, options, together=len(jobs) > 1) for each in jobs]
    return [replace(job, plan=plan) for job, plan in zip(jobs, plans, strict=True)], options
