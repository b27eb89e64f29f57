"""The parts of the site that are derived from the adapters, and from agents/driven.toml."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ltm_bench.core.agent import Agent
from ltm_bench.core.servers import KINDS, KNOWN, rows
from ltm_bench.plugins.agents import agent_class
from ltm_bench.plugins.driven import Driven, driven
from ltm_bench.plugins.files import bundled, summary


def _table(*rows: Iterable[str]) -> str:
    head, *rest = [list(row) for row in rows]
    lines = [head, ["---"] * len(head), *rest]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def adapters() -> str:
    """Return every built-in adapter, what it is, and what has to be installed for it."""
    rows = [
        (f"`{path.stem}`", summary(path), _install(driven()[path.stem]) if path.stem in driven() else "")
        for path in sorted(bundled("agents").glob("[!_.]*.py"))
    ]
    return _table(("adapter", "what it is", "extra"), *rows)


def _install(known: Driven) -> str:
    if known.extras:
        return ", ".join(f"`{extra}`" for extra in known.extras)
    return "its own environment" if known.module or "beside" in known.group else "none"


def tried() -> str:
    """Return how every adapter was tried."""
    head = ("adapter", "product, version", "how", "date", "model", "what exactly", "extra", "server or files")
    rows = [
        (
            *(f"`{name}`", known.what, known.how, known.date.isoformat(), known.model or "none"),
            *(known.note or "all of it", _install(known), known.keeps),
        )
        for name, known in driven().items()
    ]
    return _table(head, *rows)


def seen() -> str:
    """Return what products really do: a row for each property, and what was seen, read, or is not known."""
    known = tomllib.loads((Path(__file__).parent / "seen.toml").read_text("utf-8"))
    products: dict[str, Any] = known["product"]
    ways: Counter[str] = Counter()

    def cell(product: Mapping[str, Any], column: str) -> str:
        if column in product.get("seen", {}):
            ways["seen"] += 1
            return str(product["seen"][column])
        if column in product.get("read", {}):
            ways["read"] += 1
            text, source = product["read"][column]
            return f"{text} (read: `{source}`)"
        ways["unknown"] += 1
        return "unknown"

    rows = [
        (name, *(cell(product, column) for product in products.values()))
        for column, name in known["columns"].items()
    ]
    head = ("", *(f"`{name}` {product['version']}" for name, product in products.items()))
    counts = ", ".join(f"{count} {way}" for way, count in ways.items())
    return f"{_table(head, *rows)}\n\nOf {ways.total()} cells: {counts}."


def servers() -> str:
    """Return every row of the table of servers, kind by kind, and how many are known in which way."""
    texts = []
    for kind, needs in KINDS.items():
        known = rows(kind)
        table = [
            (*(_cell(row[name]) for name in needs), row["servers"], row["known"], _cell(row["source"]))
            for row in known
        ]
        counts = ", ".join(f"{sum(row['known'] == way for row in known)} {way}" for way in KNOWN)
        texts += [
            f"`{kind}`: {len(known)} rows ({counts})",
            _table((*needs, "servers", "known", "source"), *table),
        ]
    return "\n\n".join(texts)


def _cell(value: object) -> str:
    said = value if isinstance(value, list) else [value]
    return ", ".join(f"`{each}`".replace("|", "\\|") for each in said)


ABILITIES = ("observe", "recall", "settle", "memories", "forget", "fork", "users", "resumed", "cost")


def abilities() -> str:
    """Return what every memory can do."""
    rows = [
        (f"`{name}`" + (f", {way['way']}" if "way" in way else ""), *able(name, way).values())
        for name, known in driven().items()
        for way in known.can
    ]
    heads = {"users": "users apart", "resumed": "resumed run"}
    return _table(("adapter", *(heads.get(each, each) for each in ABILITIES)), *rows)


def able(name: str, told: Mapping[str, str]) -> dict[str, str]:
    """Return the abilities of an adapter: in the words told, or else as its code has them."""
    kind = agent_class(name)
    assert isinstance(kind, type)
    assert issubclass(kind, Agent)
    found = {
        **{
            hook: "yes" if overrides(kind, hook) else "no"
            for hook in ("observe", "recall", "memories", "forget")
        },
        "settle": "waits" if overrides(kind, "settle") else "not needed",
        "fork": kind.forks,
        "users": "yes" if kind.keeps_users else "no",
        **told,
    }
    return {ability: found[ability] for ability in ABILITIES}


def overrides(kind: type[Agent], hook: str) -> bool:
    """Whether an adapter has a hook of its own."""
    return getattr(kind, hook) is not getattr(Agent, hook)


def products() -> str:
    """Return what runs where, for every memory product."""
    rows = [
        (f"`{name}`", known.runs, known.environment, known.counts)
        for name, known in driven().items()
        if known.runs
    ]
    return _table(("adapter", "what runs where", "environment", "cost"), *rows)


def starting() -> str:
    """Return what to type for every memory product."""
    lines = ["# needs a network and a key"]
    for known in driven().values():
        if known.start and known.extras:
            lines.append(f"$ pip install 'ltm-bench[{','.join(known.extras)}]'")
        lines += [f"$ {each}" for each in known.start]
    return "\n".join(["```console", *lines, "```"])


def settings() -> str:
    """Return the settings of every built-in adapter, with their defaults and meanings."""
    blocks = []
    for path in sorted(bundled("agents").glob("[!_.]*.py")):
        make = agent_class(path.stem)
        told = meanings(make)
        rows = [
            (f"`{name}`", _default(each), told.get(name, ""))
            for name, each in inspect.signature(make).parameters.items()
        ]
        if rows:
            blocks.append(f"### {path.stem}\n\n{_table(('setting', 'default', ''), *rows)}")
    return "\n\n".join(blocks)


def _default(setting: inspect.Parameter) -> str:
    if setting.default is inspect.Parameter.empty:
        return "required"
    if setting.default is None or setting.default == "":
        return ""
    shown = setting.default if isinstance(setting.default, str) else repr(setting.default)
    return f"`{shown}`" if len(shown) <= 60 else "see its file"


def meanings(make: Callable[..., Agent]) -> dict[str, str]:
    """Return what is said of an adapter's settings, in the docstrings of its class and of those it inherits from."""
    kinds = reversed(inspect.getmro(make)) if inspect.isclass(make) else [make]
    texts = [
        each for kind in kinds for each in (kind.__doc__, getattr(vars(kind).get("__init__"), "__doc__", ""))
    ]
    return {name: text for said in texts if said for name, text in _arguments(inspect.cleandoc(said))}


def _arguments(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments that a docstring explains."""
    section = re.search(r"^Args:\n((?: .*\n?|\n)*)", docstring, re.MULTILINE)
    for found in re.finditer(r"^    (\w+): (.*(?:\n     .*)*)", section[1] if section else "", re.MULTILINE):
        yield found[1], " ".join(found[2].split()).replace("|", "\\|")


TEXTS: Mapping[str, Callable[[], str]] = {
    "adapters": adapters,
    "tried": tried,
    "seen": seen,
    "abilities": abilities,
    "products": products,
    "starting": starting,
    "settings": settings,
    "servers": servers,
}
"""The texts, by the names that pages use for them."""
