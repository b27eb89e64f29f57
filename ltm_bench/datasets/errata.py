"""Known errors in the published keys: `errata.toml` in a dataset's folder, an `[[erratum]]` for each reason.

`ids` names the questions: a list, or a table with the digest of each.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple


class Erratum(NamedTuple):
    """A question whose published key, or what it cites, is wrong."""

    id: str
    why: str
    source: str
    """Who found it, and where."""
    kind: str = "wrong"
    """`wrong`; `arguable`: one of several readings; `evidence`: only what it cites is wrong; `broken`: unanswerable."""
    digest: str = ""
    """`question_digest` of the question, for files that name questions by their text alone."""


def question_digest(text: str) -> str:
    """Return a short hash of a question: the text of some sets must not be shipped. No two dialogues share one."""
    return hashlib.sha256(" ".join(text.split()).casefold().encode()).hexdigest()[:12]


@cache
def errata(dataset: str) -> Mapping[str, Erratum]:
    """Return the known errors of a dataset by the ids of their questions; {} if it has none."""
    found = resources.files("ltm_bench.datasets").joinpath(dataset, "errata.toml")
    if not found.is_file():
        return {}
    errors: dict[str, Erratum] = {}
    for each in tomllib.loads(found.read_text("utf-8"))["erratum"]:
        ids = each["ids"] if isinstance(each["ids"], dict) else dict.fromkeys(each["ids"], "")
        for name, digest in ids.items():
            errors[name] = Erratum(name, each["why"], each["source"], each.get("kind", "wrong"), digest)
    return errors


@cache
def wrong_keys(dataset: str) -> Mapping[str, Erratum]:
    """Return the errors that change what a reply scores: not those of cited evidence alone."""
    return {name: each for name, each in errata(dataset).items() if each.kind != "evidence"}
