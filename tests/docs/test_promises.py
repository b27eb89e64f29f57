"""Every test that a document names as the proof of a promise exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMES = re.compile(r"`(test_\w+)`")


@pytest.mark.parametrize("name", ["SECURITY.md", "docs/gateway.md", "docs/design/security.md"])
def test_the_tests_that_a_document_names_exist(name: str) -> None:
    named = set(NAMES.findall((ROOT / name).read_text("utf-8")))
    there = {
        found
        for path in (ROOT / "tests").rglob("test_*.py")
        for found in re.findall(r"^(?:async )?def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named <= there, named - there
    assert named or name == "SECURITY.md"


def test_each_promise_of_the_gateway_names_its_test() -> None:
    _, _, table = (ROOT / "docs/gateway.md").read_text("utf-8").partition("## What it promises")
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    assert [row for row in rows if not NAMES.search(row)] == []


def test_each_promise_of_security_md_has_its_row_with_its_tests() -> None:
    promised = (
        (ROOT / "SECURITY.md").read_text("utf-8").partition("## What we promise")[2].partition("## ")[0]
    )
    bullets = [line for line in promised.splitlines() if line.startswith("- ")]
    _, _, after = (ROOT / "docs/design/security.md").read_text("utf-8").partition("## What is promised")
    rows = [line for line in after.partition("## ")[0].splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(bullets) > 5
    assert [row for row in rows if not NAMES.search(row)] == []
