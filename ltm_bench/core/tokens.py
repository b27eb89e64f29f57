"""Counts tokens. A span is the sum of its messages' counts: exact, incremental, and the same for every agent.

The default is tiktoken's `cl100k_base`, built from a table that ships with the package, so it needs no network and no
environment variable. Other encodings use tiktoken's own loader, under a deadline.
"""

import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ltm_bench.core.errors import ConfigError, nearest

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

    def __init__(self, name: str, encoding: "Encoding") -> None:
        self.name = name
        self._encode = encoding.encode_ordinary
        self._decode = encoding.decode

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        return len(self._encode(text))

    def ends(self, text: str, head: int, tail: int) -> tuple[str, str]:
        """Return the first and the last tokens of `text`; a character cut in half is dropped."""
        tokens = self._encode(text)
        return (
            self._decode(tokens[:head], errors="ignore"),
            self._decode(tokens[max(head, len(tokens) - tail) :], errors="ignore"),
        )


def counter(name: str = DEFAULT) -> TiktokenCounter:
    """Return the counter with this name; it is built once per process.

    Raises ConfigError for an unknown encoding, a damaged table, or one that cannot be downloaded in time.
    """
    return _counter(name)


@cache  # cached here: on `counter` it would keep `counter()` and `counter(DEFAULT)` apart
def _counter(name: str) -> TiktokenCounter:
    return TiktokenCounter(name, _shipped_cl100k() if name == DEFAULT else _downloaded(name))


def knows(text: str) -> bool:
    """Whether a text is one token in the shipped table. Does not build the counter, which takes longer."""
    from binascii import b2a_base64

    return b"\n%b " % b2a_base64(text.encode("utf-8", "replace"), newline=False) in _shipped_table()


@cache
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
    return b"\n" + table


def keep_table(folder: Path) -> None:
    """Write the shipped table where the tiktoken of a process with this TIKTOKEN_CACHE_DIR looks for it."""
    from hashlib import sha1

    folder.mkdir(parents=True, exist_ok=True)
    (folder / sha1(_CL100K_URL.encode(), usedforsecurity=False).hexdigest()).write_bytes(_shipped_table()[1:])


def _shipped_cl100k() -> "Encoding":
    from binascii import a2b_base64

    import tiktoken

    tokens = _shipped_table().split()[::2]  # a token's rank equals the number of its line
    ranks = dict(zip(map(a2b_base64, tokens), range(len(tokens)), strict=True))
    return tiktoken.Encoding(
        DEFAULT, pat_str=_CL100K_PATTERN, mergeable_ranks=ranks, special_tokens=_CL100K_SPECIAL
    )


def _downloaded(name: str) -> "Encoding":
    import tiktoken

    known = tiktoken.list_encoding_names()
    if name not in known:
        raise ConfigError(
            f"--tokenizer {name}: unknown encoding{nearest(name, known)} (known: {', '.join(known)})"
        )
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
