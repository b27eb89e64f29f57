import gzip
import sys
import threading
from base64 import b64decode
from importlib import import_module, resources
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench.core import tokens
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter, knows

PIECES = [
    "<|endoftext|>",
    "hello",
    " world",
    "12345",
    "\n\n",
    "\r\n",
    "   ",
    "🦔",
    "数星星",
    "é",
    "'ll",
    "\ud800",
    "_",
    "\t",
]


ENCODING = tokens._shipped_cl100k()


@given(text=st.text(st.characters(exclude_categories=[])) | st.lists(st.sampled_from(PIECES)).map("".join))
@settings(deadline=None, max_examples=200)
def test_a_count_is_the_number_of_tiktokens_tokens_and_special_tokens_are_ordinary_text(text: str) -> None:
    assert counter().count(text) == len(ENCODING.encode(text, disallowed_special=()))


@given(
    text=st.lists(
        st.sampled_from("abcTs'lLvVeErRdDmM019 \t\n\r.,!-_()[]{}éÀÿß‐’“”…★ſ×\x0b\xa0")
        | st.sampled_from(["'ll", "'VE", "don't", "xqz", " " * 65, "-=" * 40, "naïveté", "\r\n\n", "1234"]),
        max_size=40,
    ).map("".join)
)
@settings(deadline=None, max_examples=500)
def test_a_text_of_plain_characters_has_the_count_that_tiktoken_gives(text: str) -> None:
    assert counter().count(text) == len(ENCODING.encode_ordinary(text))


def test_a_plain_text_is_counted_without_building_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_encoding", None)
    text = "“It’s 12,345 – naïve…”\n\nstars: ★★\n"
    assert counter().count(text) == len(ENCODING.encode_ordinary(text))
    with pytest.raises(TypeError):
        counter().count("x" * 1000)  # its time would grow with the square of its length


def test_the_encoding_is_the_one_that_tiktoken_would_build(monkeypatch: pytest.MonkeyPatch) -> None:
    openai_public = import_module("tiktoken_ext.openai_public")

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, expected_hash: {"hash": expected_hash})
    theirs = openai_public.cl100k_base()
    assert theirs["mergeable_ranks"] == {"hash": tokens._CL100K_SHA256}
    assert theirs["pat_str"] == tokens._CL100K_PATTERN
    assert theirs["special_tokens"] == tokens._CL100K_SPECIAL
    assert theirs["name"] == counter().name == "cl100k_base"

    table = gzip.decompress(
        resources.files("ltm_bench.core").joinpath("tables/cl100k_base.tiktoken.gz").read_bytes()
    )
    ranks = {b64decode(token): int(rank) for token, rank in map(bytes.split, table.splitlines())}
    assert ranks == ENCODING._mergeable_ranks


def test_another_tiktoken_finds_the_cached_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = import_module("tiktoken.load")
    monkeypatch.setattr(load, "read_file", None)  # nothing is downloaded
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tables"))
    tokens.keep_table(tmp_path / "tables")
    theirs = import_module("tiktoken_ext.openai_public").cl100k_base()
    assert theirs["mergeable_ranks"] == ENCODING._mergeable_ranks


@pytest.mark.parametrize(  # figures of OpenAI's cookbook, "How to count tokens with tiktoken"
    ("text", "count"),
    [("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7), ("お誕生日おめでとう", 9), ("", 0)],
)
def test_published_counts_are_met(text: str, count: int) -> None:
    assert counter().count(text) == count


def test_it_is_built_once_however_it_is_asked_for() -> None:
    assert counter() is counter("cl100k_base") is counter(name="cl100k_base")


def test_a_damaged_table_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tables").mkdir()
    packed = resources.files("ltm_bench.core").joinpath("tables/cl100k_base.tiktoken.gz").read_bytes()
    table = gzip.decompress(packed).replace(b"IQ== 0\n", b"IQ== 1\n")
    (tmp_path / "tables/cl100k_base.tiktoken.gz").write_bytes(gzip.compress(table, compresslevel=1))
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    monkeypatch.setattr(tokens, "_ranks", tokens._ranks.__wrapped__)  # not the table read before
    with pytest.raises(ConfigError, match=r"cl100k_base\.tiktoken\.gz is damaged.*reinstall ltm-bench"):
        tokens._counter.__wrapped__("cl100k_base")


def test_an_unknown_encoding_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"o200k_bas: unknown encoding.*o200k_base"):
        counter("o200k_bas")


def test_a_silent_server_is_given_up_on_and_the_error_says_how_to_supply_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_up = threading.Event()
    monkeypatch.setattr(tokens, "_DOWNLOAD_SECONDS", 0.05)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _: given_up.wait(100))
    with pytest.raises(ConfigError, match=r"could not be downloaded \(TimeoutError\).*TIKTOKEN_CACHE_DIR"):
        counter("p50k_base")
    given_up.set()


def test_counting_works_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "requests", None)
    tokens._counter.cache_clear()
    assert counter().count("hello world") == 2


@pytest.mark.parametrize("word", "orange brownie brown creat crate reserves zedebee café naïve x".split())
def test_the_table_knows_a_word_exactly_where_it_counts_as_one(word: str) -> None:
    assert knows(f" {word}") == (counter().count(f" {word}") == 1)
