"""Input is bounded in size, in depth, and in the length of numbers; anything beyond raises only ValueError."""

import gzip
import json
import os
import time
from pathlib import Path

import pytest

from ltm_bench.core import limits
from ltm_bench.core.limits import content_of, json_of, toml_of, unpacked

DEEP = 100_000


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', '{"a":[', '{"\\ud800":'])
@pytest.mark.parametrize("depth", [limits.JSON_DEPTH + 1, 250, DEEP])
def test_json_that_is_too_deep_is_a_value_error(opening: str, depth: int) -> None:
    closing = "".join({"[": "]", "{": "}"}[each] for each in reversed(opening) if each in "[{")
    for text in (opening * depth, opening * depth + "1" + closing * depth):
        with pytest.raises(ValueError, match=r"."):
            json_of(text)


@pytest.mark.parametrize("number", ["9" * 301, "-" + "9" * 5_000, "9" * 1_000_000])
def test_a_number_that_is_too_long_is_a_value_error(number: str) -> None:
    for text in (number, f"[{number}]", f'{{"a": [{number}]}}', f'{{"a\\ud800": {number}}}'):
        with pytest.raises(ValueError, match=r"."):
            json_of(text)


VALUES: tuple[object, ...] = (
    None, True, 0, -1, 10**299, 0.1, 1e308, "", "é", "\ud800", "7" * 1_000, [], {}, [[1, {"a": [None]}]],
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=ascii)
def test_all_other_json_is_read_as_before(value: object) -> None:
    for text in (json.dumps(value), f" {json.dumps(value, indent=1)}\n"):
        assert json_of(text) == value
        assert json_of(text.encode()) == value


@pytest.mark.parametrize("text", ["", "{", "nul", "[1,]", '{"a" 1}', "\x00", "{'a': 1}"])
def test_invalid_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * DEEP, "a = " + "{a=" * 900, "a = " + "[" * 900 + "]" * 900, "a = " + "9" * 50_000,
        ".".join(["a"] * 50_000) + " = 1", '"a b".' * 50_000 + "c = 1", "[" + "a." * 40 + "a]", "[" * 900,
        'a = "' + "x" * (1 << 20) + '"', "a = '''" + "[" * 10, "a = 1\na = 2", "\x00", "a = {" + "b.c={" * 100,
    ],
    ids=lambda text: ascii(text[:12]),
)  # fmt: skip
def test_toml_beyond_the_limits_is_a_value_error_at_once(text: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        toml_of(text)
    assert time.process_time() - begun < 1


def test_brackets_in_strings_do_not_count_towards_the_depth_of_toml() -> None:
    brackets = "[" * 500 + "{" * 500 + "." * 500
    text = f"a = '{brackets}'\nb = \"{brackets}\"\nc = '''{brackets}'''  # {brackets}\nx.y = 1\n"
    assert toml_of(text)["a"] == brackets


def test_a_packed_file_unpacks_to_no_more_than_the_limit() -> None:
    packed = gzip.compress(b"x" * 1_000_000)
    assert len(unpacked(packed, 1_000_000)) == 1_000_000
    for bad in (packed, packed[:100], packed[:-4], b"\x1f\x8bxxxx"):
        with pytest.raises(ValueError, match=r"."):
            unpacked(bad, 999_999)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="makes a pipe")
def test_only_regular_files_of_a_bearable_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert content_of(tmp_path / "x", 5) == b"12345"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, most in (("x", 4), ("pipe", 5), ("zero", 5)):
        with pytest.raises(ValueError, match="it "):
            content_of(tmp_path / name, most)
    (tmp_path / "loop").symlink_to("loop")
    for name in ("nothing", "loop", "."):
        with pytest.raises(OSError, match=r"."):
            content_of(tmp_path / name)
