"""Reads a user's documents: text and Markdown as they are, PDF and HTML through pypdf and markdownify (an extra)."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import described
from ltm_bench.core.limits import content_of, json_of

TEXTS = (".txt", ".md", ".markdown", ".rst", "")
PAGES = (".pdf",)
MARKUP = (".html", ".htm")

MOST_TEXT = 16 << 20
"""Maximum characters of a PDF."""

_EXTRA = "needs an extra: pip install 'ltm-bench[documents]'"


class Document(NamedTuple):
    """A document, under the name that tasks use for it: its file's name."""

    name: str
    text: str


def paths_of(place: Path) -> list[Path]:
    """Return the files of a folder that can be read, by name, or the file itself."""
    if place.is_file():
        return [place]
    known = (*TEXTS, *PAGES, *MARKUP)
    root = place.resolve()
    return sorted(
        path
        for path in place.rglob("*")
        if path.suffix.lower() in known
        and not path.name.startswith(".")
        and path.is_file()
        and path.resolve().is_relative_to(root)  # a link in an untrusted folder may lead anywhere
    )


def read_document(path: Path) -> Document:
    """Return a document. Raises ValueError if it cannot be read or holds no text."""
    try:
        text = _text(path)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    text = text.replace("\r\n", "\n").replace("\x00", "").strip()
    if not text:
        raise ValueError(f"{path}: it has no text")
    return Document(path.name, text)


def _text(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in PAGES:
        return _pdf(path)
    content = content_of(path).decode("utf-8", "replace")
    if suffix in MARKUP:
        return _html(content, path)
    if content[:1] == '"':  # SWiM's own data: every document is a JSON string
        try:
            value = json_of(content)
        except ValueError:
            return content
        return value if isinstance(value, str) else content
    return content


def _pdf(path: Path) -> str:
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise ValueError(f"{path}: a PDF {_EXTRA}") from error
    try:
        found, left = list[str](), MOST_TEXT
        for page in PdfReader(path).pages:
            found.append(page.extract_text())
            left -= len(found[-1])
            if left < 0:  # a small file can name one page any number of times
                raise ValueError(f"it has more than {MOST_TEXT:,} characters")
        return "\n\n".join(found)
    except Exception as error:  # a damaged file can lead pypdf to any
        raise ValueError(f"{path}: the PDF cannot be read: {described(error)}") from error


def _html(content: str, path: Path) -> str:
    try:
        from bs4 import BeautifulSoup
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise ValueError(f"{path}: HTML {_EXTRA}") from error
    try:
        soup = BeautifulSoup(_whole_tags(content), "html.parser")
        for element in soup(["script", "style", "template", "noscript"]):
            element.decompose()
        return str(MarkdownConverter(strip=["img", "a"], heading_style="ATX").convert_soup(soup))
    except (RecursionError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: the HTML cannot be read: {error}") from error


_MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<[a-zA-Z/!?][^<>]{0,5000}>|<", re.DOTALL)


def _whole_tags(content: str) -> str:
    """Return HTML without comments, and with `<` escaped unless it begins a complete tag.

    The parser searches for the end of each tag again and again: if none has an end, it takes quadratic time.
    """

    def kept(found: re.Match[str]) -> str:
        return "&lt;" if len(found[0]) == 1 else "" if found[0].startswith("<!--") else found[0]

    return _MARKUP.sub(kept, content)


@cache
def read_documents(place: str) -> tuple[Document, ...]:
    """Return the documents of a folder, by name. Raises ValueError if there is none, or one cannot be read."""
    path = Path(place)
    if not path.exists():
        raise ValueError(f"data = {place!r}: there is no such folder")
    found = [read_document(each) for each in paths_of(path)]
    if not found:
        endings = ", ".join(filter(None, (*TEXTS, *PAGES, *MARKUP)))
        raise ValueError(f"data = {place!r}: it has no document ({endings})")
    return tuple(found)
