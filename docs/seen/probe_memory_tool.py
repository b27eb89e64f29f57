"""Probes of the files of Anthropic's memory tool:

uv run --no-project --with anthropic==2.14.0 docs/seen/probe_memory_tool.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probing import again, main, outside_hosts, written

_TEXT = "My boat is called Ariel.\n"


def _tool() -> Any:
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    return BetaLocalFilesystemMemoryTool(base_path="store")


def _do(command: str, **arguments: Any) -> str:
    try:
        return str(_tool().execute(_command(command, **arguments)))
    except Exception as error:
        return str(error)


def _command(command: str, **arguments: Any) -> Any:
    from anthropic.types import beta

    kind = "".join(part.title() for part in command.split("_"))
    return getattr(beta, f"BetaMemoryTool20250818{kind}Command")(command=command, **arguments)


def update() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    again_created = _do("create", path="/memories/boat.md", file_text="My boat is called Zebedee.\n")
    changed = _do("str_replace", path="/memories/boat.md", old_str="ariel", new_str="Zebedee")
    assert "already exists" in again_created and "verbatim" in changed, (again_created, changed)
    return "str_replace, letter by letter; create of a known file is refused"


def delete() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    done, unknown = _do("delete", path="/memories/boat.md"), _do("delete", path="/memories/none.md")
    assert "Successfully" in done and "does not exist" in unknown, (done, unknown)
    return "a file at a time; an unknown one is an error"


def ties() -> str:
    for name in ("tea", "boat", "cat"):
        _do("create", path=f"/memories/{name}.md", file_text=_TEXT)
    lines = [line.rsplit("/", 1)[-1] for line in _do("view", path="/memories").splitlines()[2:]]
    assert lines == ["boat.md", "cat.md", "tea.md"], lines
    return f"no search; files by name: {lines}"


def limit() -> str:
    for number in range(300):
        _do("create", path=f"/memories/{number:03}.md", file_text=_TEXT)
    listed = len(_do("view", path="/memories").splitlines()) - 2
    assert listed == 300, listed
    return f"none: {listed} of 300 files are listed"


def threshold() -> str:
    import inspect

    names = [name for name in dir(type(_tool())) if name in ("search", "query", "find")]
    assert not names and inspect.ismethod(_tool().view)
    return "no search: the model opens files by name"


def cutoffs() -> str:
    _do("create", path="/memories/a/b/c.md", file_text=_TEXT)
    _do("create", path="/memories/.hidden.md", file_text=_TEXT)
    seen = _do("view", path="/memories")
    assert "a/b/" in seen and "c.md" not in seen and ".hidden" not in seen, seen
    return "a listing shows two levels, and no hidden file"


def files() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    found = written(Path("store").resolve())
    assert not found, found
    return "below base_path (./memory unless given); nothing elsewhere"


def sends() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    hosts = outside_hosts()
    assert not hosts, hosts
    return "nothing by itself"


def _write() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    print("added", flush=True)
    input()
    return ""


def _read() -> str:
    return str("Ariel" in _do("view", path="/memories/boat.md"))


def kill() -> str:
    assert again("_write", kill=True) == "added"
    found = again("_read")
    assert found == "True", found
    return "after SIGKILL: 1 of 1 (written with fsync)"


def _insert() -> str:
    return _do("insert", path="/memories/boat.md", insert_line=0, insert_text="My cat is Tom.")


def two() -> str:
    _do("create", path="/memories/boat.md", file_text=_TEXT)
    said = again("_insert")
    text = _do("view", path="/memories/boat.md")
    assert "edited" in said and "Tom" in text and "Ariel" in text, (said, text)
    return "both write, without a lock; one after the other, nothing is lost"


main(globals())
