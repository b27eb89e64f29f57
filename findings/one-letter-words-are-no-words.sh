#!/usr/bin/env bash
# scikit-learn 1.9.1 and bm25s 0.3.16: "locker 7" and "locker 4" are the same text.
#
# Guess:     a keyword index can tell two memories apart that differ in one word.
# Behaviour: the default pattern of TfidfVectorizer, CountVectorizer and bm25s.tokenize is a word of two characters or more.
#            Digits and letters that stand alone (room 7, plan B, vitamin C, blood group O) are not in the vocabulary, of the
#            memories or of the question.
# Output:    scikit-learn: vectors equal; bm25s: both memories have the score 0.356
# Matters:   counts, codes and options are what a benchmark asks for, since they are easy to score. The keyword baseline
#            picks among such memories by their order, and "vectors beat keywords" is said of a pattern.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check scikit-learn==1.9.1 bm25s==0.3.16
"$folder/venv/bin/python" - <<'PYTHON'
import bm25s
from sklearn.feature_extraction.text import TfidfVectorizer

memories = ["My locker is number 7.", "My locker is number 4.", "I like cats."]
seven, four, _ = TfidfVectorizer().fit_transform(memories).toarray().tolist()
print(f"scikit-learn: vectors {'equal' if seven == four else 'differ'}")
assert seven == four, "changed: scikit-learn tells them apart"
index = bm25s.BM25()
index.index(bm25s.tokenize(memories, show_progress=False), show_progress=False)
question = bm25s.tokenize("Which locker has number 4?", show_progress=False)
found = index.retrieve(question, k=2, show_progress=False)
scores = [round(float(score), 3) for score in found.scores[0]]
print(f"bm25s: scores {scores} of memories {sorted(found.documents[0].tolist())}")
assert sorted(found.documents[0].tolist()) == [0, 1] and scores[0] == scores[1], "changed: bm25s tells them apart"
PYTHON
