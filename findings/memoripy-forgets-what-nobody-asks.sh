#!/usr/bin/env bash
# memoripy 0.1.2: six questions about other things, and a memory is no longer found by its own vector.
#
# Guess:     a memory with the question's own vector is found; a memory that fades does so by time.
# Behaviour: each retrieval multiplies a memory that was not relevant by .9, and again by what has passed since it was told;
#            a fresh memory's best score is ln 2 x 100 = 69.3, and what is below 40 is not returned. So the sixth question
#            about something else is the last one: nothing is deleted, nothing is returned. By time alone it takes 92
#            minutes.
# Output:    asked after 0 other questions: found; 5: found; 6: not found, and still stored
# Matters:   a benchmark that asks fifty questions in a row measures how many were asked before, not the distance to the
#            needle. The order of the questions decides the score.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check memoripy==0.1.2 numpy==1.26.4
"$folder/venv/bin/python" - <<'PYTHON'
import contextlib
import io

import numpy as np
from memoripy import MemoryManager
from memoripy.model import ChatModel, EmbeddingModel

TEXTS = ("My boat is called Zebedee.", "What is the weather like?")

class Vectors(EmbeddingModel):
    def initialize_embedding_dimension(self):
        return len(TEXTS)

    def get_embedding(self, text):
        return np.eye(len(TEXTS), dtype="float32")[TEXTS.index(text)]

class NoConcepts(ChatModel):
    def invoke(self, messages):
        raise AssertionError("nobody asks the model")

    def extract_concepts(self, text):
        return []

def found_after(others):
    with contextlib.redirect_stdout(io.StringIO()):
        memory = MemoryManager(NoConcepts(), Vectors())
        memory.add_interaction(TEXTS[0], "Noted.", memory.get_embedding(TEXTS[0]), [])
        for _ in range(others):
            memory.retrieve_relevant_interactions(TEXTS[1])
        found = memory.retrieve_relevant_interactions(TEXTS[0])
    return bool(found), len(memory.memory_store.short_term_memory)

seen = {others: found_after(others) for others in (0, 5, 6)}
for others, (found, stored) in seen.items():
    print(f"after {others} other questions: {'found' if found else 'not found'}, {stored} stored")
assert seen == {0: (True, 1), 5: (True, 1), 6: (False, 1)}, "changed"
PYTHON
