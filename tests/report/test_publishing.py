"""Derived files are replaced whole, or not at all."""

import errno
import os
from pathlib import Path

import pytest

from ltm_bench.core.errors import ConfigError
from ltm_bench.report.publishing import replacing


def test_a_disk_that_fills_leaves_the_old_file_and_says_what_to_do(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_bytes(b"old")

    def fill() -> None:
        with replacing(page) as file:
            file.write(b"half of the new")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(ConfigError) as raised:
        fill()
    assert str(raised.value) == (
        f"{page}: cannot be written: No space left on device; make room or make it writable"
    )
    assert page.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [page]


def test_a_file_is_new_once_its_block_has_ended(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_bytes(b"old")
    with replacing(page) as file:
        file.write(b"new")
        assert page.read_bytes() == b"old"
    assert page.read_bytes() == b"new"
