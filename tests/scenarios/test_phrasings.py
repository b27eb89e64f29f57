"""What the user says is worded in many ways, as people write to an assistant, and stands in data files."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scenarios.test_scenarios import FILES

OF_OTHERS = {"dialogue", "infinitebench", "niah", "swim"}  # published tasks, in their authors' words
OURS = [path for path in sorted(FILES) if path.stem not in OF_OTHERS]
STIFF = re.compile(
    r"(?i)\b(shall|whom|upon|whilst|thus|hence|at present|would you be so kind|I should like)\b"
)


def lists(content: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the phrasings of every message."""
    if isinstance(content, dict):
        for key, inner in content.items():
            yield from lists(inner, f"{name} {key}".strip())
    else:
        yield name, content


def messages(path: Any) -> list[tuple[str, list[str]]]:
    if path.suffix == ".toml":
        read = tomllib.loads(path.read_text("utf-8"))
        said = ((next(k for k in ("say", "ask", "chat") if k in each), each) for each in read["messages"])
        return [*((kind, each[kind]) for kind, each in said), ("forget", read["forget"])]
    return list(lists(json.loads(path.with_suffix(".json").read_text("utf-8"))["messages"]))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_every_message_has_eight_phrasings_or_more(path: Any) -> None:
    found = messages(path)
    assert found
    for name, phrasings in found:
        assert isinstance(phrasings, list), name
        assert len(set(phrasings)) == len(phrasings) >= 8, name


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_people_chat_in_contractions_and_plain_words(path: Any) -> None:
    texts = [text for _, phrasings in messages(path) for text in phrasings]
    if path.stem == "counting_stars":  # half of it is in Chinese
        texts = [text for text in texts if text.isascii()]
    assert not [text for text in texts if STIFF.search(re.sub(r"{\w+}", "", text))]
    contracted = sum(re.search(r"\w['’](?:s|m|re|ve|ll|d|t)\b", text) is not None for text in texts)
    assert contracted >= 0.2 * len(texts)


@pytest.mark.parametrize(
    "path",
    [path for path in OURS if path.suffix == ".py" and path.stem != "counting_stars"],
    ids=lambda p: p.stem,
)
def test_no_message_stands_in_the_code(path: Any) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    told = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    told |= {id(n) for each in ast.walk(tree) if isinstance(each, ast.Raise) for n in ast.walk(each)}
    strings = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in told
    ]
    assert not [text for text in strings if len(text.split()) > 6 and re.search(r"^[^\\]*[.?!]", text)]
