"""Known errors in the published keys: `errata.toml` in a dataset's folder, an `[[erratum]]` for each reason.

`ids` names the questions: a list, or a table with the digest of each, where ids say no more than a place in a file.
"""

import hashlib
import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import ConfigError, wrong_with
from ltm_bench.datasets.streaming import read_value


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


def question_digest(text: str | None) -> str:
    """Return a short hash of a question: the text of some sets must not be shipped. No two dialogues share one.

    It is empty for a question whose text is unknown.
    """
    squeezed = " ".join((text or "").split()).casefold()
    return hashlib.sha256(squeezed.encode("utf-8", "replace")).hexdigest()[:12] if squeezed else ""


@cache
def _file(dataset: str) -> dict[str, Any]:
    found = resources.files("ltm_bench.datasets").joinpath(dataset, "errata.toml")
    return tomllib.loads(found.read_text("utf-8")) if found.is_file() else {}


def asked_twice(dataset: str) -> Collection[str]:
    """Return the digests of the questions that one history of a dataset asks twice."""
    found: list[str] = _file(dataset).get("asked_twice", [])
    return found


@cache
def errata(dataset: str) -> Mapping[str, Erratum]:
    """Return the known errors of a dataset by the ids of their questions; {} if it has none."""
    errors: dict[str, Erratum] = {}
    for each in _file(dataset).get("erratum", ()):
        ids = each["ids"] if isinstance(each["ids"], dict) else dict.fromkeys(each["ids"], "")
        for name, digest in ids.items():
            errors[name] = Erratum(name, each["why"], each["source"], each.get("kind", "wrong"), digest)
    return errors


@cache
def wrong_keys(dataset: str) -> Mapping[str, Erratum]:
    """Return the errors that change what a reply scores: not those of cited evidence alone."""
    return {name: each for name, each in errata(dataset).items() if each.kind != "evidence"}


def audited(path: Path) -> dict[str, Erratum]:
    """Return the wrong keys that an audit lists, by the ids of the questions. Raises ConfigError."""
    try:
        found = [
            Erratum(
                each["question_id"],
                f"an audit: {each['error_type']}",
                str(path),
                digest=question_digest(each.get("question")),
            )
            for each in read_value(path)
            if each["error_type"] != "WRONG_CITATION"
        ]
    except (LookupError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"{path}: not an audit's list of question_id and error_type: {wrong_with(error)}"
        ) from error
    return {each.id: each for each in found}


def error_of(known: Mapping[str, Erratum], name: str, text: str | None) -> Erratum | None:
    """Return the known error of a question, if it is that question: files of one's own may have the same ids.

    Args:
        known: Errors by id. Those with a digest are found by it, whatever the id; others by id.
        name: The question's id.
        text: The question; None if it is unknown, so that the id must do.
    """
    digest = question_digest(text)
    found = next((each for each in known.values() if digest and each.digest == digest), known.get(name))
    return found if found is not None and (not digest or found.digest in ("", digest)) else None
