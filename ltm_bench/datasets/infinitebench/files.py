"""Reads the twelve public files of InfiniteBench: JSON lines of `id, context, input, answer, options`.

The files are large (up to 0.9 GB), so contexts stay on disk until they are needed. Items about the same context share a
delivery. A line that cannot be read is reported and skipped.
"""

import hashlib
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.download import Fetched, OnProgress
from ltm_bench.core.errors import check_known, wrong_with
from ltm_bench.core.limits import TooLarge, json_of, lines_of, opened
from ltm_bench.datasets.fetching import fetch_file
from ltm_bench.datasets.infinitebench.records import Posed, Record
from ltm_bench.datasets.infinitebench.scorer import SCORERS
from ltm_bench.datasets.values import golds_of, text_of
from ltm_bench.script.deliveries import Piece

_WITH_OPTIONS = ("longbook_choice_eng", "code_debug")
_MASK = "$$MASK$$"
_MOST_EVIDENCE = 50
"""Maximum number of pieces with the answer; if there are more, it does not show where the evidence is."""


class _Material(NamedTuple):
    path: str
    offset: int
    """Byte offset of the first line with this context."""
    task: str
    asked: tuple[Posed, ...]

    def record(self) -> Record:
        """Return it with its context."""
        lines = _context(self.path, self.offset).split("\n")
        evidence = _evidence(self.task, lines, self.asked)
        pieces = (Piece(line, "needle" if i in evidence else "matter") for i, line in enumerate(lines))
        return Record(tuple(pieces), self.asked)


@lru_cache(maxsize=4)
def _context(path: str, offset: int) -> str:
    with opened(Path(path)) as file:
        file.seek(offset)
        return text_of(json_of(next(lines_of(file)))["context"])


def _evidence(task: str, lines: Sequence[str], asked: Sequence[Posed]) -> set[int]:
    """Return the lines that contain an answer word for word, if they are few enough to be evidence."""
    if task == "longdialogue_qa_eng":
        wanted = [re.escape(_MASK)]
    elif task in ("passkey", "number_string", "kv_retrieval", "longbook_qa_eng", "longbook_qa_chn"):
        names = [str(name) for each in asked for name in _as_list(each.label) if len(str(name)) > 1]
        wanted = [re.escape(name) for name in names]
    elif task == "code_debug":
        wanted = [rf"def {re.escape(str(each.label[0]).rpartition('.')[2])}\b" for each in asked]
    else:
        return set()
    pattern = re.compile("|".join(wanted), re.IGNORECASE) if wanted else None
    found = {i for i, line in enumerate(lines) if pattern and pattern.search(line)}
    return found if len(found) <= _MOST_EVIDENCE else set()


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def label_of(task: str, answer: Any, options: Sequence[str]) -> Any:
    """Return an answer in the form that the scorers read. Raises ValueError.

    For the two tasks with options, that is text and letter; the files hold a text, a list of one, or both.
    """
    if task not in _WITH_OPTIONS:
        golds_of(answer)
        return [each for each in _as_list(answer) if each is not None]
    text = golds_of(answer)[0]
    if len(options) != 4:
        raise ValueError(f"there are {len(options)} options, not 4")
    if text in options:
        return [text, "ABCD"[options.index(text)]]
    if text in "ABCD" and len(text) == 1:
        return [options["ABCD".index(text)], text]
    raise ValueError(f"the answer {text!r:.60} is not one of the options")


@cache
def read_tasks(path: str, task: str, digest: str) -> tuple[_Material, ...]:
    """Return the documents of a file with their questions, in the order of the file.

    Args:
        path: A JSON lines file.
        task: The name of the task, one of `ltm_bench.datasets.infinitebench.scorer.SCORERS`.
        digest: The first 16 hex digits of the SHA-256 that the file must have; empty if it is unknown.

    Raises ValueError if the file cannot be read, has changed, or is empty. Warns of every line that is skipped.
    """
    found: dict[bytes, tuple[int, list[Posed]]] = {}
    whole = hashlib.sha256()
    offset = 0
    try:
        with opened(Path(path)) as file:
            for number, line in enumerate(lines_of(file), start=1):
                whole.update(line)
                begun, offset = offset, offset + len(line)
                if not line.strip():
                    continue
                try:
                    entry = json_of(line)
                    context, options = (
                        text_of(entry["context"]),
                        list(map(text_of, entry.get("options") or ())),
                    )
                    label = label_of(task, entry["answer"], options)
                except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                    warnings.warn(f"{path}:{number}: skipped: {wrong_with(error)}", stacklevel=2)
                    continue
                key = hashlib.sha256(context.encode("utf-8", "replace")).digest()
                text = _input(task, entry)
                found.setdefault(key, (begun, []))[1].append(
                    Posed(text, label, tuple(options), text_of(entry.get("input")))
                )
    except OSError as error:
        raise ValueError(f"data = {path!r}: {error.strerror or error}") from error
    except TooLarge as error:
        raise ValueError(f"data = {path!r}: {error}") from error
    if digest and whole.hexdigest()[: len(digest)] != digest:
        raise ValueError(f"data = {path!r}: the file has changed: its SHA-256 no longer begins with {digest}")
    if not found:
        raise ValueError(f"data = {path!r}: it has no item of InfiniteBench")
    return tuple(_Material(path, begun, task, tuple(asked)) for begun, asked in found.values())


def _input(task: str, entry: Any) -> str:
    """Return the bare target of a question: a key, a target, a call, a question."""
    text = text_of(entry.get("input")).strip()
    if task == "kv_retrieval":
        held = re.search(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)
    elif task == "code_run":
        held = re.search(r"func_\d{1,9}\(-?\d{1,9}\)", text)
    elif task == "math_find":
        held = re.search(r"(?<=The )[\w ]{1,60}?(?= of\b)", text)
    else:
        return text
    return held.group(0) if held else text


URL = "https://huggingface.co/datasets/xinrongzhang2022/InfiniteBench/resolve/main"


def fetch_tasks(tasks: Sequence[str], into: Path, *, url: str, on_progress: OnProgress) -> Iterator[Fetched]:
    """Put the public files of tasks into a folder, and yield each.

    There are no published checksums. Those of the first download are kept, and a different file is refused later.

    Args:
        tasks: Names of tasks; all twelve if empty.
        into: The folder; it is created.
        url: Where the files are: `URL`, or a mirror.
        on_progress: Called with every block.

    Raises:
        ConfigError: A task is unknown, a download failed, or a file has been replaced.
    """
    for task in tasks:
        check_known(f"{task}: there is no such task", task, SCORERS)
    for task in tasks or SCORERS:
        path = into / f"{task}.jsonl"
        yield fetch_file(f"{url.rstrip('/')}/{path.name}", path, on_progress)
