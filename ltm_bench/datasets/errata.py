"""Known errors in the published keys: `errata.toml` in a dataset's folder, one `[[erratum]]` each."""

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple


class Erratum(NamedTuple):
    """A question whose published key is wrong."""

    id: str
    why: str
    source: str
    """Who found it, and where."""
    kind: str = "wrong"
    """`wrong`; `arguable`: one of several readings; `evidence`: only what it cites is wrong; `broken`: unanswerable."""
    digest: str = ""
    """`question_digest` of the question, for files that name questions by their text alone."""


def question_digest(history: str, text: str) -> str:
    """Return a short hash of a question: the text of some sets must not be shipped."""
    return hashlib.sha256(f"{history}\n{' '.join(text.split()).casefold()}".encode()).hexdigest()[:12]


@cache
def errata(dataset: str) -> Mapping[str, Erratum]:
    """Return the known errors of a dataset by the ids of their questions; {} if it has none."""
    found = resources.files("ltm_bench.datasets").joinpath(dataset, "errata.toml")
    if not found.is_file():
        return {}
    entries = tomllib.loads(found.read_text("utf-8"))["erratum"]
    return {each["id"]: Erratum(**each) for each in entries}
