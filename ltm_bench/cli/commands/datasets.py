"""Public sets, their downloads and imports; questions about your own documents."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ltm_bench.cli.console import err, out, print_records, safe
from ltm_bench.cli.declared import command, group
from ltm_bench.cli.options import Json
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.declaring import Option

app = group("Public sets, their downloads and imports; questions about your own documents.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The set's name; see datasets list.")]


@command(app, "datasets list", name="list")
def list_sets(as_json: Json = False) -> None:
    """List the public sets. Each is a suite of `run`, and so is NAME-woven."""
    from ltm_bench.datasets.public import public_sets

    rows = [
        {"name": each.name, "about": each.about, "licence": each.licence, "here": each.place.exists()}
        for each in public_sets().values()
    ]
    print_records(rows, as_json=as_json)


@command(app, "datasets fetch longmemeval-s", "run --suite longmemeval-s", name="fetch")
def fetch(
    name: _Name,
    into: Annotated[
        Path | None, Option("Where to put it; by default, where run looks for it.", "FOLDER")
    ] = None,
    url: Annotated[str | None, Option("A mirror of the file.", "URL")] = None,
) -> None:
    """Download a public set. Prints its licence and checksum first, and keeps nothing that does not match."""
    from ltm_bench.cli.console import downloads
    from ltm_bench.datasets.fetching import fetch_file
    from ltm_bench.datasets.public import public_set

    each = public_set(name)
    if not each.fetched and url is None:
        raise ConfigError(
            f"{name} cannot be fetched: download it from {each.url}, and use it with run --suite {name} --data PATH"
        )
    out().print(f"from     {url or each.url}")
    out().print(f"licence  {each.licence}")
    out().print(f"SHA-256  {each.sha256 or 'not published; kept from the first download on'}")
    with downloads() as on_progress:
        path = (into or each.place.parent) / each.place.name
        found = fetch_file(url or each.url, path, on_progress, sha256=each.sha256)
    if not found.new:
        out().print(f"{found.path} is there already")
    out().print(f"use it with: ltm-bench run --suite {name}" + (f" --data {found.path}" if into else ""))


@command(app, "datasets show locomo", "datasets show beam-100k --data chats/100K", name="show")
def show(
    name: _Name,
    data: Annotated[
        Path | None, Option("Its file or folder; by default, where fetch puts it.", "PATH")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show a public set and the content of its file: histories, questions by type, wrong keys, bad records, hash."""
    from ltm_bench.datasets.dialogue import content_hash
    from ltm_bench.datasets.public import contents, public_set

    each = public_set(name)
    shown: dict[str, Any] = {
        "name": each.name,
        "about": each.about,
        "licence": each.licence,
        "from": each.url,
        "file": str(data or each.place),
    }
    path = data or each.place
    if data is not None and not data.exists():
        raise ConfigError(f"--data {data}: there is no such file or folder")
    if path.exists():
        held = contents(each, path, err().print)
        shown |= {**held._asdict(), "sha256": content_hash(path)}
        if each.sha256:
            shown["as published"] = shown["sha256"] == each.sha256
    else:
        shown["here"] = False
    if as_json:
        out().print_json(json.dumps(shown))
        return
    width = max(map(len, shown))
    for key, value in shown.items():
        if isinstance(value, dict):
            out().print(f"{key:<{width}}  {sum(v if isinstance(v, int) else 1 for v in value.values()):,}")
            for inner, count in value.items():
                out().print(f"{'':<{width}}    {inner}: {count}")
        else:
            out().print(f"{key:<{width}}  {f'{value:,}' if type(value) is int else value}")


@command(app, "datasets audit locomo10.json", "datasets audit chats/100K --json", name="audit")
def audit(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A public set's file or folder, of any set.")],
    as_json: Json = False,
) -> None:
    """List keys of a public set that may be wrong, found by rule, for a person to decide."""
    from collections import Counter

    from ltm_bench.datasets.suspecting import suspects

    found = list(suspects(path, err().print))
    if as_json:
        out().print_json(json.dumps([each._asdict() for each in found]))
        return
    for each in found:
        known = f" (known: {each.known})" if each.known else ""
        out().print(safe(f"{each.id}: {each.rule}{known}\n  {each.question}\n  {each.key}"))
    for rule, count in Counter(each.rule for each in found).items():
        out().print(f"{rule}: {count}")
    out().print(f"{len(found)} keys to look at; a rule finds what is odd, and only a person what is wrong")
