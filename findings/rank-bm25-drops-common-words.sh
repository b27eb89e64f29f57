#!/usr/bin/env bash
# rank-bm25 0.2.2: what is told in half of the memories cannot be found, and what is told in more comes last.
#
# Guess:     BM25 ranks what contains the asked word above what does not.
# Behaviour: BM25Okapi's weight of a word is log(N - n + .5) - log(n + .5): zero for a word in exactly half of the texts.
#            Below zero it is replaced by a quarter of the mean weight, which is negative itself where most words are
#            common: then texts with the word rank below those without it. bm25s and BM25Plus keep such weights positive.
# Output:    two memories, one of the boat: BM25Okapi [0.0, 0.0], bm25s [0.277, 0.0]
#            three memories, two of Zebedee: BM25Okapi [-0.032, -0.032, 0.0], bm25s [0.181, 0.181, 0.0]
# Matters:   LongMemEval's and others' baselines rank sessions with BM25Okapi. In a short history, or of a user's favourite
#            subject, the keyword baseline fails for a reason that has nothing to do with memory, and a memory that is
#            compared with it looks better than it is.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check rank-bm25==0.2.2 bm25s==0.3.16
"$folder/venv/bin/python" - <<'PYTHON'
import bm25s
from rank_bm25 import BM25Okapi

def both(texts, word):
    texts = [text.lower().split() for text in texts]
    okapi = [round(float(score), 3) for score in BM25Okapi(texts).get_scores([word])]
    other = bm25s.BM25()
    other.index(texts, show_progress=False)
    return okapi, [round(float(score), 3) for score in other.get_scores([word])]

okapi, other = both(["my boat is called Zebedee", "my cat likes the garden"], "boat")
print(f"two memories, one of the boat: BM25Okapi {okapi}, bm25s {other}")
assert okapi == [0, 0] and other[0] > other[1], "changed: it is found"
okapi, other = both(["I told you Zebedee", "I told Zebedee it", "I like cats"], "zebedee")
print(f"three memories, two of Zebedee: BM25Okapi {okapi}, bm25s {other}")
assert max(okapi[:2]) < okapi[2] and min(other[:2]) > other[2], "changed: they come first"
PYTHON
