"""Input is bounded in size, in depth, and in the length of numbers; anything beyond raises only ValueError."""

import asyncio
import gzip
import json
import os
import re
import time
from collections.abc import AsyncIterator, Sequence
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.core import limits
from ltm_bench.core.limits import (
    Intake,
    TooLarge,
    check_zip,
    content_of,
    events_in,
    gathered,
    json_of,
    last_read,
    lines_of,
    toml_in,
    toml_of,
)
from tests.pace import cpu, in_proportion

DEEP = 100_000


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', '{"a":[', '{"\\ud800":'])
@pytest.mark.parametrize("depth", [limits.JSON_DEPTH + 1, 250, DEEP])
def test_json_that_is_too_deep_is_a_value_error(opening: str, depth: int) -> None:
    closing = "".join({"[": "]", "{": "}"}[each] for each in reversed(opening) if each in "[{")
    for text in (opening * depth, opening * depth + "1" + closing * depth):
        with pytest.raises(ValueError, match=r"."):
            json_of(text)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_json_may_be_just_as_deep_as_the_limit(opening: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return opening * depth + "1" + closing * depth

    assert json_of(nested(100))
    assert json_of(f"[1, {nested(99)}, {nested(99)}]")
    for text in (nested(101), f"[1, {nested(100)}, 2]"):
        with pytest.raises(ValueError, match="it has more than 100 levels"):
            json_of(text)


def test_numbers_may_have_just_as_many_digits_as_the_limit() -> None:
    most = "9" * 300
    assert json_of(f'[{most}, -{most}, "{most}9", 0.5]')[:2] == [int(most), -int(most)]
    assert toml_of(f"a = [{most[:4]}]") == {"a": [9999]}
    for more in ("1" + "0" * 300, "-1" + "0" * 300):
        with pytest.raises(ValueError, match="it has a number of more than 300 digits"):
            json_of(f'{{"a": [0, {more}]}}')
        with pytest.raises(ValueError, match="it has a number of more than 300 digits"):
            toml_of(f"a = [0, {more}]")


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


def test_toml_may_be_just_as_deep_as_the_limit() -> None:
    def nested(depth: int) -> str:
        return "[" * depth + "]" * depth

    def dotted(parts: int) -> str:
        return ".".join(["a"] * parts)

    for text in (f"a = {nested(32)}", f"{dotted(32)} = 1", f"[{dotted(32)}]"):
        assert toml_of(text)
    beside = f"a = [[1], {nested(32)}]"
    for text in (
        f"a = {nested(33)}",
        beside,
        f"{dotted(33)} = 1",
        f"[{dotted(33)}]",
        f"a = {{b = {nested(32)}}}",
    ):
        with pytest.raises(ValueError, match="it has more than 32 levels"):
            toml_of(text)


def test_levels_of_toml_end_where_they_are_closed() -> None:
    deep = "[" * 32 + "]" * 32
    assert toml_of("\n".join(f"a{i} = {deep}" for i in range(3)))
    assert toml_of(f"a = [{'1.5, ' * 40}]\n" + "\n".join(f"b{i} = {{c.d = 1.5}}" for i in range(40)))
    assert toml_of("\n".join(f"[a.b{i}]\nc.d = 1.5" for i in range(40)))


def test_toml_may_be_just_as_long_as_the_limit() -> None:
    most = "#" * ((1 << 20) - 6) + "\na = 1"
    assert toml_of(most) == {"a": 1}
    with pytest.raises(ValueError, match="it has more than 1,048,576 characters"):
        toml_of(most + " ")


def test_a_toml_file_is_utf_8_and_an_error_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 'caf\xc3\xa9'\n")
    assert toml_in(file) == {"a": "café"}
    for before, line in ((b"", 1), (b"\n", 2), (b"a = 1\n\n", 3)):
        file.write_bytes(before + b"b = 'caf\xe9'\n\n")
        with pytest.raises(
            ValueError, match=f"byte 0xe9 at line {line} is not UTF-8; save the file as UTF-8"
        ):
            toml_in(file)
    file.write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(ValueError, match="it has more than 1,048,576 bytes"):
        toml_in(file)


def test_a_packed_file_unpacks_to_no_more_than_the_limit(tmp_path: Path) -> None:
    packed, file = gzip.compress(b"x" * 1_000_000), tmp_path / "x"
    file.write_bytes(packed)
    assert len(content_of(file, 1_000_000, unpack=True)) == 1_000_000
    assert content_of(file) == packed
    for bad in (packed, packed[:100], packed[:-4], b"\x1f\x8bxxxx"):
        file.write_bytes(bad)
        with pytest.raises(ValueError, match=r"."):
            content_of(file, 999_999, unpack=True)


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


def test_the_file_opened_last_is_known_for_unexpected_errors(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(b"1")
        content_of(tmp_path / name)
        assert last_read() == tmp_path / name


@pytest.mark.parametrize(
    ("sizes", "packed", "problem"),
    [
        ([1 << 30], 1 << 29, None),
        (
            [1 << 29, (1 << 29) + 1],
            1 << 29,
            "it would unpack to 1,073,741,825 bytes, more than 1,073,741,824",
        ),
        ([250 * 4096], 1, None),
        ([250 * 4096 + 1], 8, "it would unpack to 128000 times its size, more than 250"),
        ([250 * 4097], 4097, None),
        ([250 * 4097 + 1], 4097, "it would unpack to 250 times its size, more than 250"),
        ([250 * 4096 + 1], 0, "it would unpack to 1024001 times its size, more than 250"),
        ([0] * 100_000, 4096, None),
        ([0] * 100_001, 4096, "it has 100,001 entries, more than 100,000"),
    ],
    ids=["big", "too big", "small", "too dense", "dense", "denser", "empty", "many", "too many"],
)
def test_a_zip_has_bounds_in_size_density_and_entries(
    sizes: list[int], packed: int, problem: str | None
) -> None:
    file = BytesIO()
    ZipFile(file, "w").close()
    archive = ZipFile(file)
    for number, size in enumerate(sizes):
        entry = ZipInfo(str(number))
        entry.file_size = size
        archive.filelist.append(entry)
    if problem is None:
        check_zip(archive, packed)
    else:
        with pytest.raises(ValueError, match=f"^{problem}$"):
            check_zip(archive, packed)


def test_limits_too_large_to_be_tried_here_do_not_move_by_accident() -> None:
    assert (limits.BODY, limits.FILE) == (64 * 1024**2, 256 * 1024**2)


async def _pieces(parts: Sequence[bytes]) -> AsyncIterator[bytes]:
    for each in parts:
        yield each


def _events(parts: Sequence[bytes], most: int = 1 << 24) -> list[bytes]:
    async def read() -> list[bytes]:
        return [event + end for event, end in [each async for each in events_in(_pieces(parts), most)]]

    return asyncio.run(read())


@given(
    text=st.text("\r\nab", max_size=30).map(str.encode),
    cuts=st.lists(st.integers(0, 30), max_size=6).map(sorted),
)
def test_a_stream_has_the_same_events_however_it_is_cut_into_pieces(text: bytes, cuts: list[int]) -> None:
    ends = [0, *cuts, len(text)]
    parts = [text[begin:end] for begin, end in pairwise(ends)]
    *whole, rest = re.split(rb"\r?\n\r?\n", text)
    assert _events(parts) == [*(each + b"\n\n" for each in whole), rest]


def test_a_stream_without_a_blank_line_takes_time_in_proportion_to_its_length() -> None:
    def took(size: int) -> float:
        return cpu(lambda: _events([b"x" * 16] * size))

    assert in_proportion(took, 20_000)


def test_an_event_may_be_just_as_long_as_the_limit() -> None:
    assert _events([b"x" * 5, b"y" * 5, b"\n\nz"], 10) == [b"xxxxxyyyyy\n\n", b"z"]
    with pytest.raises(TooLarge, match="an event of the stream has more than 9 bytes, the most that is read"):
        _events([b"x" * 5, b"y" * 5, b"\n\nz"], 9)


def test_what_says_that_it_is_too_large_is_refused_before_its_first_byte() -> None:
    with pytest.raises(TooLarge, match="the request has more than 10 bytes, the most that is read: 11"):
        Intake("the request", 10, 11)
    taken = Intake("the request", 10, 10)
    taken.take(b"x" * 10)
    with pytest.raises(TooLarge, match="the request has more than 10 bytes, the most that is read"):
        taken.take(b"x")


def test_others_get_their_turn_while_much_is_read_that_is_there_already() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def both() -> bytes:
        task = asyncio.create_task(other())
        whole = await gathered(_pieces([b"x" * (1 << 20)] * 20), Intake("it", 1 << 25))
        task.cancel()
        return whole

    assert len(asyncio.run(both())) == 20 << 20
    assert turns >= 20


def test_a_line_may_be_just_as_long_as_the_limit() -> None:
    text = b"12345\n\n123456789\n12"
    assert list(lines_of(BytesIO(text), 10)) == text.splitlines(keepends=True)
    with pytest.raises(TooLarge, match="line 3 has more than 9 characters, the most that is read"):
        list(lines_of(BytesIO(text), 9))
    assert list(lines_of(StringIO("ä\nb"), 2)) == ["ä\n", "b"]


@pytest.mark.parametrize("before", [0, 1, 150, 299, 300, 301, 599, 1000])
@pytest.mark.parametrize("digits", [299, 300, 301, 4000])
def test_a_long_number_is_seen_wherever_it_stands(before: int, digits: int) -> None:
    text = f'{{"{"a" * before}": {"7" * digits}, "b": 12}}'
    if digits <= 300:
        assert len(str(max(json_of(text).values()))) == digits
    else:
        with pytest.raises(ValueError, match="a number of more than 300 digits"):
            json_of(text)
