"""Reads the project's Markdown: its fenced blocks, the files that they contain, and the commands that they show."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r"`([\w./-]+)`:\s*\Z")


class Shown(NamedTuple):
    """A command, and the lines that a page shows below it."""

    command: str
    output: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """The words of the command, without a comment at its end."""
        return shlex.split(self.command, comments=True)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    language: str
    text: str
    before: str
    """The text before it on the page."""

    @property
    def file(self) -> str | None:
        """Its file: the text before it ends with the name in backticks and a colon."""
        named = _NAMED.search(self.before)
        return named[1] if named and self.language != "console" else None

    @property
    def needs(self) -> str | None:
        """What it needs that a test lacks, from a first line such as `# needs a network`."""
        first = self.text.partition("\n")[0]
        return first.removeprefix("# needs ") if first.startswith("# needs ") else None

    def commands(self) -> Iterator[Shown]:
        """Yield the commands of a console block, each with what is shown below it."""
        command, output = "", list[str]()
        for line in self.text.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                if command:
                    yield Shown(command, tuple(output))
                command, output = line.removeprefix("$ ").strip(), []
            elif command and line.strip():
                output.append(line.strip())
        if command:
            yield Shown(command, tuple(output))


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text("utf-8")
    return [Block(found[1], found[2], text[: found.start()]) for found in _FENCE.finditer(text)]
