"""Counts tokens. A span is the sum of its messages' counts: exact, incremental, and the same for every agent.

The default is tiktoken's `cl100k_base`, built from a table that ships with the package, so it needs no network and no
environment variable. Building it takes longer than a short run counts: texts of plain characters are counted here, by
the same rules. Other encodings use tiktoken's own loader, under a deadline.
"""

import re
import threading
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ltm_bench.core.errors import ConfigError, check_known

if TYPE_CHECKING:
    from tiktoken import Encoding

DEFAULT = "cl100k_base"
_CL100K_URL = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
_CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The pattern and the special tokens of tiktoken_ext.openai_public.cl100k_base; a test compares the two.
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
_CL100K_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_DOWNLOAD_SECONDS = 5.0
# Characters whose kind no version of Unicode has changed, in words and gaps that are not long: a word that no table
# holds takes a time that grows with the square of its length.
_PLAIN = re.compile(r"(?:[\t\n\r ]{0,64}+[!-~À-ÖØ-öø-ÿ‐-‧★]{1,64}+(?![!-~À-ÖØ-öø-ÿ‐-‧★]))*+[\t\n\r ]{0,64}+")
# `_CL100K_PATTERN` for these characters; a test compares what the two count.
_PLAIN_PIECE = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n0-9A-Za-zÀ-ÖØ-öø-ÿ]?+[A-Za-zÀ-ÖØ-öø-ÿ]++|[0-9]{1,3}+"
    r"| ?[^\s0-9A-Za-zÀ-ÖØ-öø-ÿ]++[\r\n]*+|\s++\Z|\s*[\r\n]|\s+(?!\S)|\s",
    re.ASCII,
)


class Counter(Protocol):
    """Counts the tokens of a text."""

    name: str
    """Recorded in the manifest, because spans are measured with it."""

    def count(self, text: str) -> int:
        """Return the number of tokens; special tokens in the text count as ordinary text."""
        ...

    def ends(self, text: str, head: int, tail: int) -> tuple[str, str]:
        """Return the first `head` and the last `tail` tokens of a text."""
        ...


class TiktokenCounter:
    """Counts with a tiktoken encoding."""

    def __init__(self, name: str) -> None:
        self.name = name

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        if self.name == DEFAULT and _PLAIN.fullmatch(text):
            return sum(map(_tokens, _PLAIN_PIECE.findall(text)))
        return len(_encoding(self.name).encode_ordinary(text))

    def ends(self, text: str, head: int, tail: int) -> tuple[str, str]:
        """Return the first and the last tokens of `text`; a character cut in half is dropped."""
        encoding = _encoding(self.name)
        tokens = encoding.encode_ordinary(text)
        return (
            encoding.decode(tokens[:head], errors="ignore"),
            encoding.decode(tokens[max(head, len(tokens) - tail) :], errors="ignore"),
        )


def counter(name: str = DEFAULT) -> TiktokenCounter:
    """Return the counter with this name; it is built once per process.

    Raises ConfigError for an unknown encoding, a damaged table, or one that cannot be downloaded in time.
    """
    return _counter(name)


@cache  # cached here: on `counter` it would keep `counter()` and `counter(DEFAULT)` apart
def _counter(name: str) -> TiktokenCounter:
    # Here, so that a table which cannot be had is said at once.
    _ranks() if name == DEFAULT else _encoding(name)
    return TiktokenCounter(name)


@cache
def _encoding(name: str) -> "Encoding":
    return _shipped_cl100k() if name == DEFAULT else _downloaded(name)


def knows(text: str) -> bool:
    """Whether a text is one token in the shipped table."""
    return _rank(text.encode("utf-8", "replace")) is not None


@cache
def _tokens(piece: str) -> int:
    """Return the number of tokens of a piece: its neighbours are joined, the most common pair first."""
    encoded = piece.encode()
    parts = [encoded] if _rank(encoded) is not None else [encoded[i : i + 1] for i in range(len(encoded))]
    while joint := [(r, i) for i, (a, b) in enumerate(pairwise(parts)) if (r := _rank(a + b)) is not None]:
        first = min(joint)[1]
        parts[first : first + 2] = [parts[first] + parts[first + 1]]
    return len(parts)


def _shipped_table() -> bytes:
    """Return the shipped table: a line per token, in base64, with its rank. Raises ConfigError if it is damaged."""
    import gzip
    import hashlib
    from importlib.resources import files

    packed = files("ltm_bench.core").joinpath("tables/cl100k_base.tiktoken.gz").read_bytes()
    table = gzip.decompress(packed)
    found = hashlib.sha256(table).hexdigest()
    if found != _CL100K_SHA256:
        raise ConfigError(
            f"the token table ltm_bench/core/tables/cl100k_base.tiktoken.gz is damaged: its SHA-256 is {found}, "
            f"not {_CL100K_SHA256}; reinstall ltm-bench"
        )
    return table


def keep_table(folder: Path) -> None:
    """Write the shipped table where the tiktoken of a process with this TIKTOKEN_CACHE_DIR looks for it."""
    from hashlib import sha1

    folder.mkdir(parents=True, exist_ok=True)
    (folder / sha1(_CL100K_URL.encode(), usedforsecurity=False).hexdigest()).write_bytes(_shipped_table())


@cache
def _ranks() -> Mapping[bytes, int]:
    """Return the rank of every token of the shipped table, the number of its line, by the token in base64.

    A run asks for few tokens, and decoding all of them takes long.
    """
    tokens = _shipped_table().split()[::2]
    return dict(zip(tokens, range(len(tokens)), strict=True))


def _rank(token: bytes) -> int | None:
    return _ranks().get(b2a_base64(token, newline=False))


def _shipped_cl100k() -> "Encoding":
    import tiktoken

    ranks = {a2b_base64(token): rank for token, rank in _ranks().items()}
    return tiktoken.Encoding(
        DEFAULT, pat_str=_CL100K_PATTERN, mergeable_ranks=ranks, special_tokens=_CL100K_SPECIAL
    )


def _downloaded(name: str) -> "Encoding":
    import tiktoken

    known = tiktoken.list_encoding_names()
    check_known(f"--tokenizer {name}: unknown encoding", name, known)
    # tiktoken downloads without a timeout: behind a silent firewall it would hang forever.
    result: list[Encoding | BaseException] = []

    def load() -> None:
        try:
            result.append(tiktoken.get_encoding(name))
        except BaseException as error:  # any error goes to the waiting thread
            result.append(error)

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(_DOWNLOAD_SECONDS)
    outcome = result[0] if result else TimeoutError(f"no answer within {_DOWNLOAD_SECONDS:g} s")
    if isinstance(outcome, BaseException):
        raise ConfigError(
            f"--tokenizer {name}: its table could not be downloaded ({type(outcome).__name__}); set "
            "TIKTOKEN_CACHE_DIR to a folder that holds it (tiktoken fills that folder on a machine with a "
            f"network), or use the shipped {DEFAULT}"
        )
    return outcome
