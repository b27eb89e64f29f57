#!/usr/bin/env bash
# chromadb 1.5.9: `get(ids=[...])` returns rows in its own order, and leaves out unknown ids without a word.
#
# Guess:     the rows come in the order of the ids, one for each, so that they can be paired with scores or turns.
# Behaviour: rows come as they were stored; an unknown id is no row and no error; `update` of an unknown id and `add` of a
#            known one write nothing and say nothing.
# Output:    asked for boat, cat, none, tea: tea, cat, boat; after add(boat) and update(none): 3 rows, the boat as before
# Matters:   who keeps ids by rank and fetches the texts hands the model the right memories in the wrong order, or pairs each
#            with another's date. An update that wrote nothing looks like a model that ignores the newer fact.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check chromadb==1.5.9
ANONYMIZED_TELEMETRY=False "$folder/venv/bin/python" - <<'PYTHON'
import chromadb

rows = chromadb.EphemeralClient().create_collection("memories", embedding_function=None)
rows.add(ids=["tea", "cat", "boat"], embeddings=[[1, 0], [0, 1], [1, 1]], documents=["cold", "Tom", "Zebedee"])
got = rows.get(ids=["boat", "cat", "none", "tea"])["ids"]
rows.add(ids=["boat"], embeddings=[[1, 1]], documents=["Ariel"])
rows.update(ids=["none"], embeddings=[[1, 1]], documents=["a new one"])
boat = rows.get(ids=["boat"])["documents"]
print(f"asked for boat, cat, none, tea: {got}; after add(boat) and update(none): {rows.count()} rows, boat {boat}")
assert got == ["tea", "cat", "boat"], "changed: the order is the question's"
assert (rows.count(), boat) == (3, ["Zebedee"]), "changed: they write, or raise"
PYTHON
