#!/usr/bin/env bash
# faiss-cpu 1.15.1: asked for more than it holds, the index answers -1, and Python's texts[-1] is the newest memory.
#
# Guess:     three vectors and k = 5 are three results, or an error.
# Behaviour: `search` always returns k columns; what is missing has the id -1 and the lowest float as its score. The same
#            happens to an IVF index whose probed lists hold less than k. Used as an index, -1 is the last text.
# Output:    ids [0, 2, 1, -1, -1]; as texts, the newest memory comes three times
# Matters:   early in a conversation, or behind a filter, the agent is handed its newest memory again and again. It looks like
#            a preference for what is recent, and an early question's answer may be right for that reason alone.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check faiss-cpu==1.15.1 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import faiss
import numpy as np

texts = ["the boat is Zebedee", "the cat is Tom", "the tea is cold"]
vectors = np.array([[1.0, 0.0], [0.2, 1.0], [0.4, 0.9]], dtype="float32")
index = faiss.IndexFlatIP(2)
index.add(vectors)
scores, ids = index.search(vectors[:1], 5)
named = [texts[number] for number in ids[0]]
print(f"ids {ids[0].tolist()}, scores {scores[0].tolist()}, texts {named}")
assert ids[0].tolist() == [0, 2, 1, -1, -1], "changed"
assert named.count("the tea is cold") == 3
PYTHON
