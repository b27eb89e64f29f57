"""Reads a user's documents: text and Markdown as they are, PDF and HTML through pypdf and markdownify (an extra)."""

import re
import warnings
from collections import Counter
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from ltm_bench.core.errors import described
from ltm_bench.core.extras import pip
from ltm_bench.core.limits import BODY, charset_of, content_of, json_of

TEXTS = (".txt", ".md", ".markdown", ".rst", "")
PAGES = (".pdf",)
MARKUP = (".html", ".htm")

MOST_TEXT = 16 << 20
"""Maximum characters of a PDF, and bytes of a page of HTML."""

MOST_DRAWN = 24 << 20
"""Maximum bytes of a PDF's pages, unpacked: reading a megabyte takes a second, whether or not it holds text."""

MOST_TAGS = 1 << 19
"""Maximum tags and the like of a page of HTML: each takes a kilobyte of memory."""


class Document(NamedTuple):
    """A document, under the name that tasks use for it: its file's, or its path if another folder has one like it."""

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
    try:
        content = content_of(path, MOST_TEXT if suffix in MARKUP else BODY)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if suffix in MARKUP:
        return _html(content, path)
    text = _decoded(content, path)
    if text[:1] == '"':  # SWiM's own data: every document is a JSON string
        with suppress(ValueError):
            value = json_of(text)
            return value if isinstance(value, str) else text
    return text


_CHARSET = re.compile(
    r"(?:ascii|big5|cp|euc|gb|iso|johab|koi|latin|mac|shift|tis|us|utf|windows|x-mac)[\w.:-]{0,20}", re.I
)
"""Names of character sets in documents; Python knows codecs that are none."""


def _decoded(content: bytes, path: Path, declared: str | None = None) -> str:
    """Return a text in the character set that its first bytes name, or that it declares, or else in UTF-8."""
    charset = charset_of(content, declared or "utf-8")
    try:
        if _CHARSET.fullmatch(charset) is None:
            raise LookupError
        return content.decode(charset)
    except LookupError:
        raise ValueError(
            f"{path}: it declares the unknown character set {charset!r:.40}; save it as UTF-8"
        ) from None
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else len(content) - 1
        line = content.count(b"\n", 0, at) + 1
        raise ValueError(
            f"{path}: byte {content[at]:#04x} at line {line} is not {charset.upper()}; save the file as UTF-8"
        ) from error


def _pdf(path: Path) -> str:
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise ValueError(f"{path}: a PDF needs an extra: {pip('documents')}") from error
    try:
        found, left, drawn = list[str](), MOST_TEXT, 0

        def draw(size: int) -> None:
            nonlocal drawn
            drawn += size
            if drawn > MOST_DRAWN:
                raise ValueError(f"its pages unpack to more than {MOST_DRAWN:,} bytes, the most that is read")

        for page in PdfReader(BytesIO(content_of(path))).pages:
            draw(0 if (held := page.get_contents()) is None else len(held.get_data()))
            # What a page draws of other objects is not among its contents, and can be drawn any number of times.
            found.append(page.extract_text(visitor_operand_before=lambda *_: draw(1)))
            left -= len(found[-1])
            if left < 0:  # a small file can name one page any number of times
                raise ValueError(f"it has more than {MOST_TEXT:,} characters")
        return "\n\n".join(found)
    except Exception as error:  # a damaged file can lead pypdf to any
        raise ValueError(f"{path}: the PDF cannot be read: {described(error)}") from error


def _html(content: bytes, path: Path) -> str:
    try:
        from bs4 import BeautifulSoup
        from bs4.dammit import EncodingDetector
        from markdownify import MarkdownConverter
    except ImportError as error:
        raise ValueError(f"{path}: HTML needs an extra: {pip('documents')}") from error
    try:
        declared = EncodingDetector.find_declared_encoding(content[:2048], is_html=True)
        soup = BeautifulSoup(_whole_tags(_decoded(content, path, declared)), "html.parser")
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

    text, tags = _MARKUP.subn(kept, content)
    if tags > MOST_TAGS:
        raise ValueError(f"it has {tags:,} tags, more than {MOST_TAGS:,}, the most that are read")
    return text


@cache
def read_documents(place: str) -> tuple[Document, ...]:
    """Return the documents of a folder, by path, with a warning for each that cannot be read. Raises ValueError."""
    path = Path(place)
    if not path.exists():
        raise ValueError(f"data = {place!r}: there is no such folder")
    paths = paths_of(path)
    if not paths:
        endings = ", ".join(filter(None, (*TEXTS, *PAGES, *MARKUP)))
        raise ValueError(f"data = {place!r}: it has no document ({endings})")
    names, found, bad = Counter(each.name for each in paths), list[Document](), list[str]()
    for each in paths:
        try:
            document = read_document(each)
        except ValueError as error:
            bad.append(str(error))
        else:
            several = names[each.name] > 1
            found.append(document._replace(name=each.relative_to(path).as_posix()) if several else document)
    if not found:
        raise ValueError(
            f"data = {place!r}: none of its {len(bad)} documents can be read: {'; '.join(bad[:20])}"
        )
    for why in bad:
        warnings.warn(f"{why}; the others are asked about without it", stacklevel=2)
    return tuple(found)
