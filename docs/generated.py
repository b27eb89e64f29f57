"""The parts of the site that are derived from the code: commands, matchers, and the forms of files in a run's folder.

A page says `<!-- generated: commands -->` on its own line, and Sphinx replaces the line with the text of that name.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer
from pydantic import TypeAdapter

from docs import agents_tables
from ltm_bench.cli.app import app
from ltm_bench.log import events
from ltm_bench.log.asked import AskedFor
from ltm_bench.log.manifest import Manifest
from ltm_bench.plan.declaring import arguments
from ltm_bench.plan.request import RUN, UNKEPT, Request
from ltm_bench.plugins.matchers import short_names
from ltm_bench.score.audits.judgements import BlindReading, Judgement, Override
from ltm_bench.score.audits.records import AuditReading, Commission
from ltm_bench.score.comparison.runs import Comparison
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.figures import Figure

MARKER = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)

FORMS: Mapping[str, Any] = {
    "results.json": Results,
    "comparison.json": Comparison,
    "manifest.json": Manifest,
    "event.json": events.Event,
    "asked.json": AskedFor,
    "judgement.json": Judgement,
    "blind.json": BlindReading,
    "override.json": Override,
    "audit.json": Commission | AuditReading,
}
"""The JSON Schemas that the site offers, by file name."""


def setup(sphinx: Any) -> dict[str, bool]:
    """Register with Sphinx: fill in the markers as pages are read, and write the schemas beside the finished site."""
    sphinx.connect("source-read", _fill)
    sphinx.connect("autodoc-process-docstring", _mark_code, priority=400)  # before sections are read
    sphinx.connect("build-finished", _write_schemas)
    return {"parallel_read_safe": True}


def _fill(_sphinx: Any, _name: str, source: list[str]) -> None:
    source[0] = MARKER.sub(lambda found: TEXTS[found[1]](), source[0])


def _mark_code(_sphinx: Any, _kind: str, _name: str, _it: Any, _options: Any, lines: list[str]) -> None:
    """Mark indented text after an empty line as code, as Markdown does."""
    for place in reversed(range(1, len(lines))):
        before, line = lines[place - 1], lines[place]
        depth = len(line) - len(line.lstrip())
        above = next((each for each in reversed(lines[:place]) if each.strip()), "")
        if line.strip() and not before.strip() and depth > len(above) - len(above.lstrip()):
            lines[place:place] = ["::", ""]


def _write_schemas(sphinx: Any, problem: Exception | None) -> None:
    if problem is None and sphinx.builder.format == "html":
        folder = Path(sphinx.outdir, "schema")
        folder.mkdir(exist_ok=True)
        for name in FORMS:
            (folder / name).write_text(json.dumps(schema(name), indent=2) + "\n", "utf-8")


def commands(program: Any = app) -> str:
    """Return every command with its arguments, options, environment variables and examples, as Markdown."""
    top: Any = typer.main.get_command(program)
    context = top.make_context("ltm-bench", [], resilient_parsing=True)
    return "\n".join(line for name in top.list_commands(context) for line in _command(top, context, name))


def _arguments() -> str:
    """Return a table of the arguments of a run: in Python, as an option, as a variable, and where `resume` finds it."""
    lines = ["| | option | variable | default | | where `resume` finds it |", "|---|---|---|---|---|---|"]
    for each in (each for kind in RUN for each in arguments(kind).values() if each.option.terminal):
        flags, variables = ", ".join(map(_code, each.flags)), ", ".join(map(_code, each.variables))
        default = _code(str(each.default)) if each.default not in (None, (), False) else ""
        kept = "in the log" if each.name in arguments(Request) else "in `asked.json`"
        kept = f"not kept: {UNKEPT[each.name]}" if each.name in UNKEPT else kept
        lines.append(
            f"| `{each.name}` | {flags} | {variables} | {default} | {_prose(each.option.help)} | {kept} |"
        )
    return "\n".join(lines)


def _command(parent: Any, context: Any, name: str, level: int = 2) -> Iterator[str]:
    command = parent.get_command(context, name)
    inner = command.make_context(name, [], parent=context, resilient_parsing=True)
    yield f"{'#' * level} {inner.command_path.removeprefix('ltm-bench ')}\n"
    yield f"{_prose(command.help or '')}\n"
    if hasattr(command, "list_commands"):
        for each in command.list_commands(inner):
            if not command.get_command(inner, each).hidden:  # an old name
                yield from _command(command, inner, each, level + 1)
        return
    yield f"```text\n{' '.join([inner.command_path, *command.collect_usage_pieces(inner)])}\n```\n"
    rows = [record for each in command.get_params(inner) if (record := each.get_help_record(inner))]
    if rows:
        yield "| | |\n|---|---|"
        yield from (f"| {_code(names)} | {_prose(' '.join(told.split()))} |" for names, told in rows)
        yield ""
    if command.epilog:
        examples = [line.strip() for line in command.epilog.splitlines() if line.startswith("  ")]
        yield "```console\n" + "\n".join(f"$ {line}" for line in examples) + "\n```\n"


def _matchers() -> str:
    """Return every function that makes a matcher, documented by its docstring."""
    return "\n".join(
        ("```{eval-rst}", *(f".. autofunction:: ltm_bench.{name}" for name in sorted(short_names())), "```")
    )


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _prose(text: str) -> str:
    """Return a help text, with everything escaped that Markdown would take for markup."""
    pieces = text.split("`")  # text between two backticks is code already
    return "`".join(
        piece if place % 2 else re.sub(r"([\\*_{}\[\]<>|#])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a form, described by the docstrings of its fields in the code."""
    form = FORMS[name]
    made = TypeAdapter(form).json_schema(mode="serialization")
    told = {each.__name__: _written(each) for each in _classes(form)}
    for title, part in _parts(made):
        for field, text in told.get(title, {}).items():
            if field in part.get("properties", {}):
                part["properties"][field].setdefault("description", text)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


def _parts(made: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the objects of a schema with their titles: itself first, then its definitions."""
    if "properties" in made:
        yield made["title"], made
    yield from ((name, part) for name, part in made.get("$defs", {}).items() if "properties" in part)


def _classes(form: Any) -> Iterator[type]:
    """Yield every class that a form is made of."""
    waiting, seen = [form], dict[int, Any]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each  # kept: the next annotation could get the id of one that is gone
        waiting += list(getattr(each, "__args__", ()))
        if isinstance(each, type) and each.__module__.startswith("ltm_bench."):
            yield each
            waiting += list(each.__mro__[1:])
            waiting += list(inspect.get_annotations(each, eval_str=True).values())


def _written(each: type) -> dict[str, str]:
    """Return the docstrings of a class's fields; those of a figure are inherited, and stand under the names in JSON."""
    if not issubclass(each, Figure):
        return _told(each)
    bases = [base for base in reversed(each.__mro__) if issubclass(base, Figure)]
    told = {name: text for base in bases for name, text in _told(base).items()}
    return told | {old: told[new] for old, new in each.names().items() if new in told}


def _told(each: type) -> dict[str, str]:
    """Return the docstring of each field, or of a property that is written out with the fields."""
    body = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
    assert isinstance(body, ast.ClassDef)
    told = {}
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                told[node.target.id] = " ".join(str(after.value.value).split())
        elif isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
            told[node.name] = " ".join(text.split())
    return told


def _tables(name: str) -> str:
    """Return a schema as tables, one for each object in it."""
    made = schema(name)
    lines = [f'<a href="../schema/{name}">JSON Schema: {name}</a>\n']
    for title, part in _parts(made):
        about = (part.get("description") or "").partition("\n\n")[0]
        lines += [
            f"### {title}\n",
            f"{_prose(' '.join(about.split()))}\n",
            "| field | type | |",
            "|---|---|---|",
        ]
        for field, of in part["properties"].items():
            lines.append(f"| `{field}` | {_type(of, made)} | {_prose(of.get('description', ''))} |")
        lines.append("")
    return "\n".join(lines)


def _type(of: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    if "$ref" in of:
        title = of["$ref"].rpartition("/")[2]
        return _type(made["$defs"][title], made) if "enum" in made["$defs"][title] else title
    if "enum" in of:
        return ", ".join(f"`{value}`" for value in of["enum"])
    if "const" in of:
        return f"`{json.dumps(of['const'])}`"
    if "anyOf" in of or "oneOf" in of:
        return " or ".join(dict.fromkeys(_type(each, made) for each in of.get("anyOf") or of["oneOf"]))
    match of.get("type"):
        case "array" if "prefixItems" in of:
            return f"list of {len(of['prefixItems'])}: " + ", ".join(
                _type(each, made) for each in of["prefixItems"]
            )
        case "array":
            return f"list of {_type(of.get('items', {}), made)}"
        case "object" if isinstance(of.get("additionalProperties"), dict):
            return f"map to {_type(of['additionalProperties'], made)}"
        case "string" if "format" in of:
            return str(of["format"])
        case str(name):
            return name
        case _:
            return "anything"


def _notes() -> str:
    """Return the navigation entry of the design notes, which only the site has."""
    return "```{toctree}\n:hidden:\n:glob:\n\n*\n```"


TEXTS: Mapping[str, Callable[[], str]] = {
    "arguments": _arguments,
    "commands": commands,
    "matchers": _matchers,
    "notes": _notes,
    **{name.removesuffix(".json"): partial(_tables, name) for name in FORMS},
    **agents_tables.TEXTS,
}
"""The texts, by the names that pages use for them."""
