"""Probes of Chroma's client on files: uv run --no-project --with chromadb==1.5.9 docs/seen/probe_chroma.py"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

from probing import again, killed, main, outside_hosts, vector, written

QUIET = {"ANONYMIZED_TELEMETRY": "False"}


def _rows(name: str = "memories") -> Any:
    import chromadb

    return chromadb.PersistentClient("store").get_or_create_collection(name, embedding_function=None)


def _add(rows: Any, *texts: str, first: int = 0) -> None:
    ids = [str(first + number) for number in range(len(texts))]
    rows.add(ids=ids, documents=list(texts), embeddings=[vector(text) for text in texts])


def _found(rows: Any, query: str, count: int = 10) -> list[str]:
    return list(rows.query(query_embeddings=[vector(query)], n_results=count)["ids"][0])


def update() -> str:
    rows = _rows()
    _add(rows, "My boat is called Ariel.")
    _add(rows, "My boat is called Zebedee.")
    rows.update(ids=["7"], documents=["x"], embeddings=[vector("x")])
    kept = rows.get()["documents"]
    assert kept == ["My boat is called Ariel."], kept
    return "add of a known id and update of an unknown one change nothing and say nothing; upsert replaces"


def delete() -> str:
    rows = _rows()
    _add(rows, "My boat is called Ariel.")
    rows.delete(ids=["7"])
    rows.delete(ids=["0"])
    left = b"Ariel" in Path("store/chroma.sqlite3").read_bytes()
    assert rows.count() == 0
    assert left
    return f"an unknown id passes; the text is {'still' if left else 'no longer'} in the file's bytes"


def ties() -> str:
    rows = _rows()
    _add(rows, *["the tea is cold"] * 12)
    before = _found(rows, "the tea is cold", 5)
    after = again("_five")
    return f"equal distances: {', '.join(before)}; reopened: {after}"


def _five() -> str:
    return ", ".join(_found(_rows(), "the tea is cold", 5))


def limit() -> str:
    rows = _rows()
    _add(rows, *(f"fact number {number}" for number in range(30)))
    given, asked = len(_found(rows, "fact")), len(_found(rows, "fact", 100))
    listed = len(rows.get()["ids"])
    assert (given, listed) == (10, 30), (given, asked, listed)
    return f"of 30: {given} unless n_results is given, with n_results=100 {asked}; get() lists {listed}"


def threshold() -> str:
    rows = _rows()
    _add(rows, "the boat is Ariel", "cats sleep")
    found = _found(rows, "zebra")
    assert len(found) == 2, found
    return f"none: {len(found)} of 2 come for a word that neither holds"


def cutoffs() -> str:
    rows, chance = _rows(), random.Random(0)
    for batch in range(24):
        vectors = [[chance.gauss(0, 1) for _ in range(64)] for _ in range(500)]
        rows.add(ids=[f"{batch}/{number}" for number in range(500)], embeddings=vectors)
    found = len(rows.query(query_embeddings=[[0.1] * 64], n_results=12_000)["ids"][0])
    assert found < 12_000, found
    return f"asked for all of 12,000 rows, the index gives {found}"


def files() -> str:
    _add(_rows(), "My boat is called Ariel.")
    found = written(Path("store").resolve())
    assert not found, found
    return f"besides its folder: {found}"


def sends() -> str:
    _add(_rows(), "My boat is called Ariel.")
    time.sleep(8)
    hosts = outside_hosts()
    assert not hosts, hosts
    return f"hosts looked up by default: {hosts}"


def _write() -> str:
    _add(_rows(), "My boat is called Ariel.")
    print("added", flush=True)
    input()
    return ""


def _count() -> str:
    return str(_rows().count())


def kill() -> str:
    return killed("1")


def _more() -> str:
    _add(_rows(), "My cat is Tom.", first=1)
    return "added"


def two() -> str:
    rows = _rows()
    _add(rows, "My boat is called Ariel.")
    said = again("_more")
    counted, found = rows.count(), len(_found(rows, "cat"))
    assert (said, counted, found) == ("added", 2, 2), (said, counted, found)
    return f"a second process: {said}; the first counts {counted} and finds {found} of 2"


main(globals())
